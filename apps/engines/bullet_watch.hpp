// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <btBulletDynamicsCommon.h>
#include <chrono>
#include <cmath>
#include <limits>

#include "carom/core/solve_limits.hpp"

namespace carom::examples {

/// The clock of the watch [s].
[[nodiscard]] inline double now(void* /*context*/ = nullptr) noexcept {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

[[nodiscard]] inline int count_points(btPersistentManifold** manifolds, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += manifolds[i]->getNumContacts();
  return sum;
}

/// The times of a solver's calls, and the deadline of each.
struct Watch {
  double deadline = std::numeric_limits<double>::infinity();  ///< [s], from the call on
  bool per_contact = false;        ///< whether the deadline is that of each contact [s per contact]
  double begun = 0, solving = 0;   ///< of the current call [s]
  double seconds = 0, posing = 0;  ///< sum of all calls, and of their parts before the solve [s]
  long contacts = 0;
  int calls = 0;

  [[nodiscard]] double mean() const { return seconds / std::max(calls, 1); }
  /// A clock that notes when it is first read in a call: carom does so when the problem is posed.
  static double read(void* context) noexcept {
    auto& watch = *static_cast<Watch*>(context);
    const double time = now();
    if (watch.solving == 0) watch.solving = time;
    return time;
  }
  void begin(int points) {
    begun = now();
    solving = 0;
    contacts += points;
  }
  [[nodiscard]] SolveLimits limits(int points) {
    if (!std::isfinite(deadline)) return {};
    return {.now = read,
            .context = this,
            .deadline = begun + (per_contact ? deadline * points : deadline)};
  }
  void end() {
    seconds += now() - begun;
    if (solving > 0) posing += solving - begun;
    ++calls;
  }
  /// Forgets the calls and keeps the deadline.
  void clear() {
    seconds = posing = 0;
    contacts = calls = 0;
  }
};

/// A solver whose calls are timed, with a deadline if the solver accepts one.
template <typename Solver>
class WatchedSolver : public Solver {
 public:
  using Solver::Solver;
  // NOLINTNEXTLINE(readability-function-size): the parameters are Bullet's
  btScalar solveGroup(btCollisionObject** bodies, int body_count, btPersistentManifold** manifolds,
                      int manifold_count, btTypedConstraint** joints, int joint_count,
                      const btContactSolverInfo& info, btIDebugDraw* drawer,
                      btDispatcher* dispatcher) override {
    const int points = count_points(manifolds, manifold_count);
    watch->begin(points);
    if constexpr (requires(SolveLimits limits) { this->set_limits(limits); }) {
      this->set_limits(watch->limits(points));
    }
    const btScalar left = Solver::solveGroup(bodies, body_count, manifolds, manifold_count, joints,
                                             joint_count, info, drawer, dispatcher);
    watch->end();
    return left;
  }
  Watch* watch = nullptr;
};

}  // namespace carom::examples
