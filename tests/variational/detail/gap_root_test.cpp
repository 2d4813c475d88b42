// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/gap_root.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace gap_root_test {

using namespace carom::testing;
using carom::GapRoot, carom::Index, carom::MatrixX, carom::MechanicalState, carom::VectorX;

namespace {

/// A throw in the plane: a floor and a round post about (0.5, 0) of radius 0.1.
struct Court : Thrown<double> {
  [[nodiscard]] Index gap_count() const { return 2; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    using std::sqrt;
    out(0) = q(1);
    out(1) = sqrt((q(0) - 0.5) * (q(0) - 0.5) + q(1) * q(1)) - 0.1;
  }
};

struct Found {
  Index contact;
  VectorX<double> q;
};

Found first_contact(const VectorX<double>& q, const VectorX<double>& v, double span) {
  const Court system;
  GapRoot<Court> root;
  root.prepare(system);
  const MechanicalState<double> state{0, q, 2 * v};
  auto& solver = root.solver();
  solver.gaps().write_gradients(system, q);
  const VectorX<double> gaps = solver.gaps().values;
  const MatrixX<double> gradients = solver.gaps().gradients;
  REQUIRE(solver.solve(system, state, span, q).converged());
  root.start(state, span, v, gaps, gradients, 1e-9);
  double time = 0;
  const Index contact = root.find_first(system, state, 1e-13, time);
  CHECK_FALSE(root.failed());
  return {contact, solver.q_next()};
}

}  // namespace

TEST_CASE("gap_root: a post crossed between the ends of the step is found", "[variational][edge]") {
  // Past the post in a parabola of this height: over it for heights above 0.1, into it below.
  const auto flight = [](double height, double speed) {
    // Thrown so that the parabola's top is above the post.
    const double rise = 0.5 / speed, v = 9.81 * rise;
    return first_contact(numbers<double>({0, height - v * rise / 2}), numbers<double>({speed, v}),
                         0.95 / speed);
  };
  for (const double speed : {20.0, 50.0}) {
    for (const double height : {0.02, 0.05, 0.09, 0.0999}) {
      const Found hit = flight(height, speed);
      CAPTURE(speed, height);
      CHECK(hit.contact == 1);
      CHECK(std::abs(std::hypot(hit.q(0) - 0.5, hit.q(1)) - 0.1) <= rounding(65536, 1.0));
      CHECK(hit.q(0) < 0.5);
    }
    CHECK(flight(0.1001, speed).contact == -1);
    CHECK(flight(0.2, speed).contact == -1);
  }
}

}  // namespace gap_root_test
