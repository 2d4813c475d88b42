// SPDX-License-Identifier: BSD-3-Clause
#include "peers/peer_cradle.hpp"

#include <algorithm>
#include <cstddef>

namespace carom::peers {

std::vector<double> ball_positions(const CradleShot& shot) {
  // The second ball stays at the origin: what touches there does so to the last digit.
  std::vector<double> positions(shot.masses.size(), 0.0);
  double second = 0;
  for (std::size_t i = 1; i < positions.size(); ++i) {
    const double approach = std::max(0.0, shot.velocities[i - 1] - shot.velocities[i]);
    positions[i] = positions[i - 1] + 2 * ball_radius - shot.overlap * approach * time_step;
    if (i == 1) second = positions[i];
  }
  for (double& x : positions) x -= second;
  return positions;
}

std::vector<Peer> cradle_peers() {
  std::vector<Peer> peers{
      {"Bullet", "libbullet-dev"}, {"ODE", "libode-dev"}, {"Box2D", "libbox2d-dev"}};
#ifdef CAROM_PEER_BULLET
  peers[0].strike = strike_bullet;
#endif
#ifdef CAROM_PEER_ODE
  peers[1].strike = strike_ode;
#endif
#ifdef CAROM_PEER_BOX2D
  peers[2].strike = strike_box2d;
#endif
  return peers;
}

}  // namespace carom::peers
