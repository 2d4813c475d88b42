// SPDX-License-Identifier: BSD-3-Clause
#include "io/friction_problem.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/friction_problems.hpp"

namespace friction_problem_test {

namespace {

using carom::Index;
using carom::VectorX;
using carom::files::friction_problem_fault;
using carom::files::FrictionProblem;
using carom::files::SparseMatrix;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Two contacts in the plane and a body of one velocity.
FrictionProblem small() {
  FrictionProblem problem;
  problem.dimension = 2;
  problem.contact_count = 2;
  problem.friction = Eigen::Vector2d(0.5, 0);
  SparseMatrix delassus(4, 4);
  delassus.insert(0, 0) = 1;
  delassus.insert(2, 0) = 0.5;
  delassus.insert(2, 2) = 2;
  problem.local = {delassus, Eigen::Vector4d(1, 2, 3, 4)};
  SparseMatrix mass(1, 1), directions(1, 4);
  mass.insert(0, 0) = 3;
  directions.insert(0, 3) = 1;
  problem.global = {mass, directions, VectorX<double>::Ones(1), VectorX<double>::Ones(4)};
  problem.guess = {VectorX<double>::Ones(4), {}, {}};
  problem.solution = {VectorX<double>::Ones(4), VectorX<double>::Ones(4), VectorX<double>::Ones(1)};
  problem.metadata = {{"name", "small"}};
  return problem;
}

}  // namespace

TEST_CASE("friction_problem: nothing is wrong with any part alone", "[io][law]") {
  CHECK(friction_problem_fault(small()).empty());
  carom::testing::VectorSource<double> source(1);
  for (unsigned parts = 1; parts < 16; ++parts) {
    for (const Index dimension : {2, 3}) {
      for (const Index count : {0, 1, 5}) {
        CAPTURE(parts, dimension, count);
        const auto problem = carom::testing::draw_friction_problem(
            source, {(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0, (parts & 8) != 0},
            dimension, count);
        const bool holds_something = (parts & 11) != 0;  // a guess alone is nothing
        CHECK(friction_problem_fault(problem).empty() == holds_something);
      }
    }
  }
}

TEST_CASE("friction_problem: metadata are found by key", "[io][example]") {
  CHECK(small().find("name") == "small");
  CHECK(small().find("family").empty());
  CHECK(small().row_count() == 4);
  CHECK(small().velocity_count() == 1);
}

TEST_CASE("friction_problem: faults name the field, the index and what was expected",
          "[io][example]") {
  using Spoil = std::function<void(FrictionProblem&)>;
  const std::vector<std::pair<Spoil, std::string>> cases{
      {[](auto& p) { p.dimension = 4; }, "dim: expected 2, 3 or 5, got 4"},
      {[](auto& p) { p.contact_count = -1; }, "nc: expected a number in [0, 1073741823], got -1"},
      {[](auto& p) { p.contact_count = Index(1) << 40; },
       "nc: expected a number in [0, 1073741823], got 1099511627776"},
      {[](auto& p) { p.friction(1) = -0.25; },
       "mu entry 1: expected a finite number >= 0, got -0.25"},
      {[](auto& p) { p.friction(0) = nan; }, "mu entry 0: expected a finite number, got nan"},
      {[](auto& p) { p.friction.resize(0); }, "mu: expected 2 entries, got 0"},
      {[](auto& p) { p.local->velocity(3) = -infinity; },
       "q entry 3: expected a finite number, got -inf"},
      {[](auto& p) { p.local->velocity.conservativeResize(3); }, "q: expected 4 entries, got 3"},
      {[](auto& p) { p.local->delassus.coeffRef(2, 0) = nan; },
       "W entry (2, 0): expected a finite number, got nan"},
      {[](auto& p) { p.local->delassus = SparseMatrix(3, 4); }, "W.rows: expected 4, got 3"},
      {[](auto& p) { p.local->delassus = SparseMatrix(4, 5); }, "W.cols: expected 4, got 5"},
      {[](auto& p) {
         p.local->delassus.makeCompressed();
         p.local->delassus.innerIndexPtr()[1] = 0;
       },
       "W.idx: expected ascending row indices in [0, 4) in column 0, got 0"},
      {[](auto& p) {
         p.local->delassus.makeCompressed();
         p.local->delassus.innerIndexPtr()[2] = 4;
       },
       "W.idx: expected ascending row indices in [0, 4) in column 2, got 4"},
      {[](auto& p) {
         p.local->delassus.makeCompressed();
         p.local->delassus.innerIndexPtr()[0] = -1;
       },
       "W.idx: expected ascending row indices in [0, 4) in column 0, got -1"},
      {[](auto& p) { p.global->momentum(0) = nan; },
       "f entry 0: expected a finite number, got nan"},
      {[](auto& p) { p.global->momentum.resize(0); }, "M.rows: expected 0, got 1"},
      {[](auto& p) { p.global->velocity(2) = nan; },
       "b entry 2: expected a finite number, got nan"},
      {[](auto& p) { p.global->velocity.resize(0); }, "b: expected 4 entries, got 0"},
      {[](auto& p) { p.global->mass.coeffRef(0, 0) = infinity; },
       "M entry (0, 0): expected a finite number, got inf"},
      {[](auto& p) { p.global->directions = SparseMatrix(2, 4); }, "H.rows: expected 1, got 2"},
      {[](auto& p) { p.guess->impulse(1) = nan; },
       "guess r entry 1: expected a finite number, got nan"},
      {[](auto& p) { p.guess->impulse.resize(0); }, "guess r: expected 4 entries, got 0"},
      {[](auto& p) { p.solution->contact_velocity(0) = nan; },
       "solution u entry 0: expected a finite number, got nan"},
      {[](auto& p) { p.solution->velocity = VectorX<double>::Ones(2); },
       "solution v: expected 1 entries, got 2"},
      {[](auto& p) { p.local.reset(), p.global.reset(), p.solution.reset(); },
       "problem: expected W and q, or M, H, f and b, or a solution, got none of them"}};
  for (const auto& [spoil, expected] : cases) {
    FrictionProblem problem = small();
    spoil(problem);
    CHECK(friction_problem_fault(problem) == expected);
  }
}

}  // namespace friction_problem_test
