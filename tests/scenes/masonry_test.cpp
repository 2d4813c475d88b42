// SPDX-License-Identifier: BSD-3-Clause
#include "scenes/masonry.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "carom/contact/position_projection.hpp"

#include "support/catch.hpp"
#include "support/reference_solver.hpp"
#include "support/tolerance.hpp"
#include "support/world_solver.hpp"

namespace masonry_test {

using carom::testing::by_solver, carom::testing::clearly, carom::testing::rounding;

using carom::Index, carom::VectorX;
using carom::examples::Arch, carom::examples::BrickWall, carom::examples::CardHouse,
    carom::examples::make_arch, carom::examples::make_brick_wall;
using carom::examples::make_card_house, carom::examples::make_stack;
using carom::examples::make_voussoir, carom::examples::RigidWorld;
using carom::testing::ReferenceSolver, carom::testing::WorldSolver;

namespace {

/// Fastest block after a step.
template <typename Solver>
double speed_after_step(RigidWorld& world, Solver& solver) {
  world.step([&](const auto& p, auto& v, auto& i) { solver(p, v, i); });
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

/// The thickness at which arches of high friction begin to stand, between two that do and do not.
std::pair<double, double> bracket_thickness(int count, double falls, double stands, int halvings) {
  const auto is_standing = [&](double thickness) {
    RigidWorld world = make_arch({.count = count, .thickness = thickness, .friction = 2});
    WorldSolver solver(1e-12);
    const double speed = speed_after_step(world, solver);
    CHECK(solver.worst <= rounding(5000, 1.0));
    return speed <= by_solver(1e-8);
  };
  CHECK(!is_standing(falls));
  CHECK(is_standing(stands));
  for (int halving = 0; halving < halvings; ++halving) {
    const double thickness = (falls + stands) / 2;
    (is_standing(thickness) ? stands : falls) = thickness;
  }
  return {falls, stands};
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
  for (const double thickness : {0.2, 0.05}) {
    RigidWorld world = make_arch({.count = 9, .thickness = thickness});
    RigidWorld swept = world;
    WorldSolver solver(1e-12);
    const double speed = speed_after_step(world, solver);
    CAPTURE(thickness, speed);
    CHECK(solver.worst <= rounding(5000, 1.0));
    if (thickness > 0.1075) {
      CHECK(speed <= by_solver(1e-10));
      double weight = 0;
      for (const auto& block : world.blocks) weight += block.mass * 9.81;
      CHECK(support_of(world) == Approx(weight * world.time_step).epsilon(by_solver(1e-9)));
      ReferenceSolver reference{.tolerance = 1e-9, .sweep_limit = 5000};
      CHECK(speed_after_step(swept, reference) <= by_solver(1e-6));
    } else {
      CHECK(speed > clearly(1e-3));
    }
  }
}

TEST_CASE("masonry: the thinnest arch that stands nears Milankovitch's, 0.1075 of the radius",
          "[scenes][scene]") {
  // Hinges form at joints alone, so few voussoirs stand a little thinner.
  const auto [falls, stands] = bracket_thickness(9, 0.09, 0.11, 4);
  CHECK((falls >= 0.097 && stands <= 0.1078));
  CHECK(bracket_thickness(25, 0.104, 0.108, 1).first >= 0.104);
}

TEST_CASE("masonry: the thinnest arch that stands, of up to a hundred voussoirs", "[.][slow]") {
  for (const int count : {9, 15, 25, 41, 101}) {
    const auto [falls, stands] = bracket_thickness(count, 0.09, 0.12, 10);
    CAPTURE(count, falls, stands);
    CHECK(stands <= 0.1078);
    CHECK(falls >= (count == 9 ? 0.097 : 0.1));
    if (count >= 25) CHECK(falls >= 0.97 * 0.1075);
    if (count >= 101) CHECK(falls >= 0.99 * 0.1075);
  }
}

TEST_CASE("masonry: two cards lean on each other while friction at their feet is enough",
          "[scenes][scene]") {
  CardHouse house;
  const double limit = std::tan(house.lean) / 2;
  for (const double factor : {0.5, 0.99, 1.01, 2.0}) {
    house.friction = factor * limit;
    RigidWorld world = make_card_house(house);
    REQUIRE(world.blocks.size() == 2);
    WorldSolver solver;
    const double speed = speed_after_step(world, solver);
    CAPTURE(factor, speed);
    CHECK(solver.worst <= rounding(500, 1.0));
    if (factor > 1) CHECK(speed <= rounding(50000, 1.0));
    if (factor < 1) CHECK(speed > clearly(1e-5));
  }
}

TEST_CASE("masonry: a house of cards of three stories", "[scenes][scene]") {
  CardHouse house{.stories = 3, .friction = 1};
  RigidWorld world = make_card_house(house);
  CHECK(world.blocks.size() == 15);  // 3 + 2 + 1 pairs, 2 + 1 across
  WorldSolver solver(1e-12);
  CHECK(speed_after_step(world, solver) <= by_solver(1e-10));
  house.friction = 0.05;
  world = make_card_house(house);
  CHECK(speed_after_step(world, solver) > clearly(1e-3));
  CHECK(solver.worst <= rounding(5000, 1.0));
}

TEST_CASE("masonry: four legs carry a table together", "[scenes][scene]") {
  WorldSolver solver;
  RigidWorld world = make_stack({3});
  CHECK(speed_after_step(world, solver) <= rounding(5000, 1.0));
  CHECK(support_of(world) == Approx(3 * 9.81 * world.time_step).epsilon(rounding(5000, 1.0)));
}

TEST_CASE("masonry: a stack of masses a million apart stands", "[scenes][scene]") {
  for (const auto& masses : {std::vector<double>{1e6, 1}, {1, 1e6}, {1, 1e3, 1e6, 1}}) {
    RigidWorld world = make_stack(masses);
    WorldSolver solver;
    const double scale = 1e6 * 9.81 * world.time_step;  // w ‖γ‖: a light one's w, the heavy one's γ
    double weight = 0;
    for (const double mass : masses) weight += 9.81 * mass;
    for (int k = 0; k < 3; ++k) {
      CHECK(speed_after_step(world, solver) <= rounding(500, 1.0) * scale);
      CHECK(support_of(world) == Approx(weight * world.time_step).epsilon(by_solver(1e-7)));
    }
    CHECK(solver.worst <= rounding(500, 1.0));
  }
}

TEST_CASE("masonry: every row of a brick wall carries the rows above, and nothing moves",
          "[scenes][scene]") {
  for (const int rows : {1, 2, 5}) {
    const BrickWall shape{.columns = 4, .rows = rows};
    RigidWorld world = make_brick_wall(shape);
    const auto touches = world.find_touches(world.blocks);
    // Whole bricks lie on two others or on the ground, half bricks on one.
    CHECK(world.blocks.size() == std::size_t(4 * rows + rows / 2));
    CHECK(touches.size() == std::size_t(16 + 32 * (rows - 1)));
    const auto row_of = [&](Index brick) {
      const double z = world.blocks[std::size_t(brick)].position.z();
      return int(std::lround((z / shape.half.z() - 1) / 2));
    };
    const double row_weight = 9.81 * 8 * shape.density * shape.half.prod() * shape.columns;
    WorldSolver solver(1e-12);
    for (int k = 0; k < 3; ++k) {
      CHECK(speed_after_step(world, solver) <= by_solver(1e-10));
      std::vector<double> carried(std::size_t(rows), 0);
      for (std::size_t i = 0; i < touches.size(); ++i) {
        CHECK(std::abs(touches[i].gap) <= rounding(5000, 1.0));
        carried[std::size_t(row_of(touches[i].first))] += world.impulse(Index(3 * i + 2));
      }
      for (int row = 0; row < rows; ++row) {
        const double expected = (rows - row) * row_weight * shape.time_step;
        CHECK(carried[std::size_t(row)] == Approx(expected).epsilon(by_solver(1e-9)));
      }
    }
    CHECK(solver.worst <= rounding(5000, 1.0));
  }
}

TEST_CASE("masonry: positions move out of penetration, velocities do not change",
          "[scenes][scene]") {
  RigidWorld world = make_stack({1, 1});
  world.blocks[0].position.z() -= 1e-3;
  world.blocks[1].position.z() -= 5e-3;
  const auto problem = world.problem();
  const auto touches = world.find_touches(world.blocks);
  VectorX<double> gaps(problem.block_count()), moves, impulse;
  for (std::size_t i = 0; i < touches.size(); ++i) gaps(Index(i)) = touches[i].gap;
  carom::ContactProblem<double> shift(1.0);
  write_position_problem(problem, gaps, 1e-6, shift);
  moves = shift.free_velocity();
  WorldSolver solver(1e-12);
  solver(shift, moves, impulse);
  CHECK(solver.worst <= rounding(5000, 1.0));
  CHECK(moves(5) == Approx(1e-3).epsilon(by_solver(1e-9)));
  CHECK(moves(11) == Approx(5e-3).epsilon(by_solver(1e-9)));
  CHECK(std::abs(moves.sum() - 6e-3) <= rounding(5000, 1.0));
  ReferenceSolver reference;
  VectorX<double> swept;
  reference(shift, swept, impulse);
  CHECK((swept - moves).norm() <= rounding(5000, 1.0));
}

}  // namespace masonry_test
