// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/derivative/closed_impulses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "carom/contact/joint_constraints.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/tolerance.hpp"

namespace closed_impulses_test {

using carom::ContactProblem, carom::Index, carom::VectorX, carom::WeightedContact;
using carom::detail::BlockSlopes, carom::detail::BodySystem, carom::detail::ClosedImpulses;
using carom::testing::draw_matrix, carom::testing::rounding, carom::testing::VectorSource;

namespace {

enum class Kind { open, stuck, sliding };

/// Two bodies of 18 and 6 unknowns with contacts of given kinds between them and one with the
/// world, dry friction that holds and dry friction that slides.
struct Scene {
  ContactProblem<double> problem{0.01};
  BodySystem<double> system;
  BlockSlopes<double> slopes;
  ClosedImpulses<double> closed;

  Scene(const std::vector<Kind>& kinds, bool rigid) {
    VectorSource<double> source(3);
    for (const int size : {18, 6}) {
      const Eigen::MatrixXd spread = draw_matrix(source, size, size);
      Eigen::MatrixXd mass = 0.1 * spread * spread.transpose();
      mass.diagonal().array() += 1;
      problem.add_body(mass, draw_matrix(source, size, 1));
    }
    const Eigen::VectorXd velocity = draw_matrix(source, 24, 1);
    std::vector<double> impulse;
    for (const Kind kind : kinds) {
      const Eigen::MatrixXd first = draw_matrix(source, 3, 18), second = draw_matrix(source, 3, 6);
      const Eigen::Vector3d weights(0.1, 0.1, 0.3);
      Eigen::Vector3d u(1, 2, 3), gamma(0, 0, 0);
      if (kind != Kind::open) u.setZero(), gamma << 0.1, 0.1, 1;
      if (kind == Kind::sliding) u << 3, -4, 0, gamma << -0.3, 0.4, 1;
      Eigen::Vector3d moved = first * velocity.head<18>() - u;
      if (!rigid) moved += weights.cwiseProduct(gamma);
      const bool alone = impulse.empty();
      if (!alone) moved += second * velocity.tail<6>();
      WeightedContact<double> law{0.5, {0.1, 0.3}, moved};
      law.rigid = rigid;
      if (alone) {
        problem.add_contact(0, first, law);
      } else {
        problem.add_contact(0, first, 1, second, law);
      }
      impulse.insert(impulse.end(), gamma.begin(), gamma.end());
    }
    for (const double limit : {1e6, 1e-3}) {  // it holds; it slides against the velocity
      const Eigen::MatrixXd row = 100 * velocity.head<18>().transpose();
      problem.add_constraint(
          0, row, carom::DryFriction<double>{.effort_limit = limit, .relative_slip = 1e-3});
      impulse.push_back(limit > 1 ? 0 : -0.01 * limit);
    }
    system.take(problem, false);
    slopes.take(problem, system);
    closed.take(system);
    const VectorX<double> given =
        Eigen::Map<const VectorX<double>>(impulse.data(), Index(impulse.size()));
    carom::Growing<VectorX<double>> v;
    v.grow(24);
    v = velocity;
    REQUIRE(slopes.linearize(problem, system, v, given, {.tolerance = 1e-9}) < 0);
  }
};

/// The largest number that an answer leaves of its two equations, relative to the answer.
template <bool Transposed>
double left_of(Scene& scene) {
  const auto& rows = scene.system.rows();
  VectorSource<double> source(7);
  const Index size = rows.vector_size(), parts = 3 * scene.system.part_count();
  Eigen::VectorXd a = Eigen::VectorXd::Zero(size), b = Eigen::VectorXd::Zero(parts);
  for (Index slot = 0; slot < 2; ++slot) {
    const int unknowns = rows.graph().forest().size(slot);
    a.segment(rows.starts()[slot], unknowns) = draw_matrix(source, unknowns, 1);
  }
  rows.for_each_row([&](Index, Index place) { b(place) = source.unit(); });
  Eigen::VectorXd x(size), answer(parts), answers(parts), moved(parts), rest(size);
  const ClosedImpulses<double>::Numbers numbers{a.data(), b.data(), x.data(), answer.data()};
  if constexpr (Transposed) {
    scene.closed.solve_transposed(scene.system, scene.slopes, 0, numbers);
  } else {
    scene.closed.solve(scene.system, scene.slopes, 0, numbers);
  }
  rows.write_velocities(0, x.data(), moved.data());
  double most = 0;
  answers.setZero();
  for (Index i = 0; i < scene.system.blocks().size(); ++i) {
    scene.slopes.visit(scene.system, i, [&](const auto& block, const auto& slope) {
      using Numbers = typename std::decay_t<decltype(block)>::Numbers;
      const Numbers y = read_parts(block, answer.data()), u = read_parts(block, moved.data());
      const Numbers given = read_parts(block, b.data());
      Numbers equation, pushed = y;
      if constexpr (Transposed) {
        equation = transposed_times(slope.by_impulse, y) - u - given;
        pushed = -transposed_times(slope.by_velocity, y);
        if (block.parts == 1 && Numbers::size() == 3 && !slope.closed()) {
          equation = y - given;
        }
      } else {
        equation = slope.by_impulse * y + slope.by_velocity * u - given;
      }
      for (int r = 0; r < block.size(); ++r) {
        if (block.present(r)) most = (std::max)(most, std::abs(equation(r)));
      }
      write_parts(block, pushed, answers.data());
    });
  }
  rows.write_momentum(0, answers.data(), rest.data());
  most = (std::max)(most, (x - rest - a).lpNorm<Eigen::Infinity>());
  return most / (x.norm() + answer.norm());
}

}  // namespace

TEST_CASE("closed_impulses: an answer obeys the linearised law, and the transposed one",
          "[solvers][law]") {
  for (const std::vector<Kind>& kinds : {std::vector<Kind>{Kind::open, Kind::sliding, Kind::open},
                                         std::vector<Kind>{Kind::stuck, Kind::open, Kind::open},
                                         std::vector<Kind>{Kind::sliding, Kind::stuck, Kind::open},
                                         std::vector<Kind>{Kind::open, Kind::open}}) {
    Scene scene(kinds, false);
    const double ratio = scene.closed.factor(scene.system, scene.slopes, 0);
    CAPTURE(kinds.size(), ratio);
    REQUIRE(ratio >= 1);
    REQUIRE(ratio < 1e6);
    CHECK(left_of<false>(scene) <= rounding(1000, ratio));
    CHECK(left_of<true>(scene) <= rounding(1000, ratio));
  }
}

TEST_CASE("closed_impulses: islands with much that is closed, or softened, are left to others",
          "[solvers][example]") {
  const double refused = std::numeric_limits<double>::infinity();
  Scene many(std::vector<Kind>(6, Kind::stuck), false);
  CHECK(many.closed.factor(many.system, many.slopes, 0) == refused);
  Scene rigid({Kind::open, Kind::stuck}, true);
  CHECK(rigid.closed.factor(rigid.system, rigid.slopes, 0) == refused);
  Scene open({Kind::open, Kind::open}, true);
  CHECK(open.closed.factor(open.system, open.slopes, 0) >= 1);
}

}  // namespace closed_impulses_test
