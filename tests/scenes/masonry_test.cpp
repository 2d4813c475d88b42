// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/masonry.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "carom/contact/position_projection.hpp"

#include "support/catch.hpp"
#include "support/reference_solver.hpp"

namespace masonry_test {

using carom::Index, carom::VectorX;
using carom::examples::Arch, carom::examples::CardHouse, carom::examples::make_arch;
using carom::examples::make_card_house, carom::examples::make_stack;
using carom::examples::make_voussoir, carom::examples::RigidWorld;
using carom::testing::ReferenceSolver;

namespace {

/// Fastest block after a step.
double speed_after_step(RigidWorld& world, ReferenceSolver& solve) {
  world.step([&](const auto& p, auto& v, auto& i) { solve(p, v, i); });
  double speed = 0;
  for (const auto& block : world.blocks) speed = std::max(speed, block.velocity.norm());
  return speed;
}

/// Upward impulse that the world gives.
double support_of(const RigidWorld& world) {
  double sum = 0;
  const auto touches = world.find_touches(world.blocks);
  for (std::size_t i = 0; i < touches.size(); ++i) {
    const auto& n = touches[i].normal;
    if (touches[i].second >= 0 || n.z() < 0.9) continue;
    sum += world.impulse(Index(3 * i + 2));
  }
  return sum;
}

}  // namespace

TEST_CASE("masonry: voussoirs add up to a half ring", "[scenes][law]") {
  const Arch arch{.count = 12, .thickness = 0.2};
  const double outer = 1.1, inner = 0.9, pi = std::numbers::pi;
  double mass = 0, moment = 0, polar = 0;
  for (int i = 0; i < arch.count; ++i) {
    const auto block = make_voussoir(arch, i * pi / 12, (i + 1) * pi / 12);
    mass += block.mass;
    moment += block.mass * block.position.z();
    polar += block.inertia.y() + block.mass * block.position.squaredNorm();
  }
  CHECK(mass == Approx(500 * pi / 2 * (outer * outer - inner * inner)));
  CHECK(moment == Approx(500 * 2.0 / 3 * (std::pow(outer, 3) - std::pow(inner, 3))));
  CHECK(polar == Approx(500 * pi / 4 * (std::pow(outer, 4) - std::pow(inner, 4))));
}

TEST_CASE("masonry: an arch stands if it is thick enough", "[scenes][scene]") {
  ReferenceSolver solve{.tolerance = 1e-9, .sweep_limit = 5000};
  for (const double thickness : {0.2, 0.05}) {
    RigidWorld world = make_arch({.count = 9, .thickness = thickness});
    const double speed = speed_after_step(world, solve);
    CAPTURE(thickness, speed, solve.error, solve.sweeps);
    if (thickness > 0.1075) {
      CHECK(speed <= 1e-6);
      double weight = 0;
      for (const auto& block : world.blocks) weight += block.mass * 9.81;
      CHECK(support_of(world) == Approx(weight * world.time_step).epsilon(1e-5));
    } else {
      CHECK(speed > 1e-3);
    }
  }
}

TEST_CASE("masonry: two cards lean on each other while friction at their feet is enough",
          "[scenes][scene]") {
  CardHouse house;
  const double limit = std::tan(house.lean) / 2;
  ReferenceSolver solve{.tolerance = 1e-13};
  for (const double factor : {0.5, 0.99, 1.01, 2.0}) {
    house.friction = factor * limit;
    RigidWorld world = make_card_house(house);
    REQUIRE(world.blocks.size() == 2);
    const double speed = speed_after_step(world, solve);
    CAPTURE(factor, speed, solve.error, solve.sweeps);
    if (factor > 1) CHECK(speed <= 1e-9);
    if (factor < 1) CHECK(speed > 1e-5);
  }
}

TEST_CASE("masonry: a house of cards of three stories", "[scenes][scene]") {
  CardHouse house{.stories = 3, .friction = 1};
  RigidWorld world = make_card_house(house);
  CHECK(world.blocks.size() == 15);  // 3 + 2 + 1 pairs, 2 + 1 across
  ReferenceSolver solve{.tolerance = 1e-8, .sweep_limit = 4000};
  const double speed = speed_after_step(world, solve);
  CAPTURE(speed, solve.error, solve.sweeps);
  CHECK(speed <= 1e-4);
  house.friction = 0.05;
  world = make_card_house(house);
  CHECK(speed_after_step(world, solve) > 1e-3);
}

TEST_CASE("masonry: four legs carry a table together", "[scenes][scene]") {
  ReferenceSolver solve;
  RigidWorld world = make_stack({3});
  CHECK(speed_after_step(world, solve) <= 1e-12);
  CHECK(support_of(world) == Approx(3 * 9.81 * world.time_step).epsilon(1e-12));
}

TEST_CASE("masonry: a stack of masses a million apart stands", "[scenes][scene]") {
  ReferenceSolver solve{.tolerance = 1e-13, .sweep_limit = 3000};
  RigidWorld light = make_stack({1e6, 1});
  const double scale = 1e6 * 9.81 * light.time_step;  // w ‖γ‖: the light one's w, the heavy one's γ
  CHECK(speed_after_step(light, solve) <= 1e-13 * scale);
  CHECK(solve.error <= 1e-12);
  // The heavy one above defeats sweeps, but the answer is known: equal shares.
  const RigidWorld heavy = make_stack({1, 1e6});
  const auto problem = heavy.problem();
  carom::DelassusProblem<double> dual;
  carom::DelassusForm<double>().write(problem, carom::Compliance::rigid, dual);
  VectorX<double> impulse = VectorX<double>::Zero(24);
  for (int i = 0; i < 8; ++i) {
    impulse(3 * i + 2) = (i < 4 ? 1e6 + 1 : 1e6) * 9.81 * heavy.time_step / 4;
  }
  CHECK(certify(dual, impulse, carom::FrictionLaw::coulomb).natural_map_error <= 1e-14);
}

TEST_CASE("masonry: positions move out of penetration, velocities do not know", "[scenes][scene]") {
  RigidWorld world = make_stack({1, 1});
  world.blocks[0].position.z() -= 1e-3;
  world.blocks[1].position.z() -= 5e-3;
  const auto problem = world.problem();
  const auto touches = world.find_touches(world.blocks);
  VectorX<double> gaps(problem.contact_count()), moves, impulse;
  for (std::size_t i = 0; i < touches.size(); ++i) gaps(Index(i)) = touches[i].gap;
  carom::ContactProblem<double> shift(1.0);
  write_position_problem(problem, gaps, 1e-6, shift);
  ReferenceSolver solve;
  solve(shift, moves, impulse);
  CHECK(solve.error <= 1e-13);
  CHECK(moves(5) == Approx(1e-3).epsilon(1e-9));
  CHECK(moves(11) == Approx(5e-3).epsilon(1e-9));
  CHECK(std::abs(moves.sum() - 6e-3) <= 1e-12);
}

}  // namespace masonry_test
