// SPDX-License-Identifier: BSD-3-Clause
#include <box2d/box2d.h>
#include <cstddef>
#include <numbers>

#include "peers/peer_cradle.hpp"

namespace carom::peers {

// A contact asks for the separating speed e v; overlap is taken out of the positions.
std::vector<double> strike_box2d(const CradleShot& shot) {
  b2World world({0, 0});
  b2CircleShape circle;
  circle.m_radius = static_cast<float>(ball_radius);
  std::vector<b2Body*> balls;
  const std::vector<double> positions = ball_positions(shot);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    b2BodyDef place;
    place.type = b2_dynamicBody;
    place.position.Set(static_cast<float>(positions[i]), 0);
    place.linearVelocity.Set(static_cast<float>(shot.velocities[i]), 0);
    b2FixtureDef matter;
    matter.shape = &circle;
    matter.density =
        static_cast<float>(shot.masses[i] / (std::numbers::pi * ball_radius * ball_radius));
    matter.friction = 0;
    matter.restitution = static_cast<float>(shot.restitution);  // a pair: the larger
    matter.restitutionThreshold = 0;                            // speeds below 1 m/s bounce, too
    balls.push_back(world.CreateBody(&place));
    balls.back()->CreateFixture(&matter);
  }
  world.Step(static_cast<float>(time_step), sweep_count, sweep_count);

  std::vector<double> velocities;
  for (const b2Body* ball : balls) {
    velocities.push_back(static_cast<double>(ball->GetLinearVelocity().x));
  }
  return velocities;
}

}  // namespace carom::peers
