// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/block_scales.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "carom/contact/rigid_contact.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace block_scales_test {

using carom::ContactProblem, carom::Index, carom::RigidContact, carom::Vector3;
using carom::detail::BlockScales;
using carom::testing::rounding, carom::testing::VectorSource;

namespace {

const Eigen::Matrix3d unit = Eigen::Matrix3d::Identity();

BlockScales<double> scales_of(const ContactProblem<double>& problem) {
  BlockScales<double> scales;
  scales.write(problem);
  return scales;
}

}  // namespace

TEST_CASE("block_scales: a row counts by what its bodies do along it, or a hundredth of the rest",
          "[contact][example]") {
  const double few = rounding(8, 1.0);
  ContactProblem<double> problem(0.01);
  problem.add_body(4 * unit, Vector3<double>(3, 0, -0.1));
  problem.add_contact(0, unit, RigidContact<double>{.friction = 0.5});
  auto scales = scales_of(problem);
  CHECK(std::abs(scales.velocity(2) - 0.1) <= few);
  for (const Index row : {0, 1}) CHECK(std::abs(scales.velocity(row) - 3) <= few);
  for (const Index row : {0, 1, 2}) CHECK(std::abs(scales.inverse_mass(row) - 0.25) <= few);

  // What the contact asks for counts too.
  problem.add_contact(0, unit, RigidContact<double>{.gap = 0.02, .friction = 0.5});
  CHECK(std::abs(scales_of(problem).velocity(5) - 2) <= few);

  // A body that slides without falling is at rest to a hundredth of its speed.
  ContactProblem<double> sliding(0.01);
  sliding.add_body(4 * unit, Vector3<double>(3, 0, 0));
  sliding.add_contact(0, unit, RigidContact<double>{.friction = 0.5});
  CHECK(std::abs(scales_of(sliding).velocity(2) - 0.03) <= few);

  // A body at rest that another runs into counts by a hundredth of the fastest of their island,
  // and alone by nothing.
  sliding.add_body(4 * unit, Vector3<double>(0, 0, 0));
  sliding.add_contact(1, unit, RigidContact<double>{});
  CHECK(scales_of(sliding).velocity(5) == 0);
  sliding.add_contact(0, unit, 1, Eigen::Matrix3d(-unit), RigidContact<double>{});
  scales = scales_of(sliding);
  CHECK(scales.velocity(5) > 0);
  CHECK(scales.velocity(5) <= 0.03 + few);
}

TEST_CASE("block_scales: a contact that is open by much does not make its island coarse",
          "[contact][example]") {
  for (const double gap : {1e-3, 1.0, 1e5}) {
    ContactProblem<double> problem(0.01);
    problem.add_body(4 * unit, Vector3<double>(3, 0, -0.1));
    problem.add_contact(0, unit, RigidContact<double>{.friction = 0.5});
    const auto alone = scales_of(problem);
    problem.add_contact(0, unit, RigidContact<double>{.gap = gap, .friction = 0.5});
    const auto both = scales_of(problem);
    for (const Index row : {0, 1, 2}) CHECK(both.velocity(row) == alone.velocity(row));
  }
}

TEST_CASE("block_scales: units, coordinates and turned tangents do not matter", "[contact][law]") {
  VectorSource<double> source(83u);
  for (int sample = 0; sample < 100; ++sample) {
    const Eigen::Matrix3d root =
        unit + 0.5 * Eigen::Matrix3d::NullaryExpr([&] { return source.unit() - 0.5; });
    const Eigen::Matrix3d mass = root * root.transpose(), change = unit + root;
    const Eigen::Vector3d free = source.vector<3>(1, 0);
    const Eigen::Matrix3d rows = Eigen::Matrix3d::NullaryExpr([&] { return source.unit() - 0.5; });
    const double mu = source.unit() + 0.01, angle = 6 * source.unit();
    // v = C w: J becomes J C, A becomes Cᵀ A C.
    const auto make = [&](const Eigen::Matrix3d& coordinates, double turn, double speed) {
      ContactProblem<double> problem(0.01);
      problem.add_body(coordinates.transpose() * mass * coordinates,
                       speed * coordinates.inverse() * free);
      const Eigen::Matrix3d turned =
          Eigen::AngleAxisd(turn, Eigen::Vector3d::UnitZ()).toRotationMatrix() * rows * coordinates;
      problem.add_contact(0, turned, RigidContact<double>{.friction = mu});
      return scales_of(problem);
    };
    const auto plain = make(unit, 0, 1), other = make(change, angle, 1), fast = make(unit, 0, 1024);
    for (const Index row : {0, 2}) {
      CAPTURE(sample, row);
      CHECK(std::abs(other.velocity(row) - plain.velocity(row)) <=
            rounding(10000, plain.velocity(row)));
      CHECK(fast.velocity(row) == 1024 * plain.velocity(row));
    }
    const auto tangents = [](const auto& scales) {
      return scales.inverse_mass(0) + scales.inverse_mass(1);
    };
    CHECK(std::abs(tangents(other) - tangents(plain)) <= rounding(10000, tangents(plain)));
  }
}

namespace {

/// Rows with one common scale, and their μ.
struct Rows {
  std::vector<int> rows;
  std::vector<double> mu;
  bool is_normal = false;
};

[[nodiscard]] std::vector<Rows> groups_of(const carom::ImpulseSet<double>& set) {
  using carom::ImpulseShape;
  const auto mu = set.friction;
  switch (set.shape) {
    case ImpulseShape::planar:
      return {{{1}, {1}, true}, {{0}, {mu(0)}}};
    case ImpulseShape::friction:
      return {{{2}, {1}, true}, {{0, 1}, {mu(0), mu(0)}}};
    case ImpulseShape::elliptic:
      return {{{2}, {1}, true}, {{0, 1}, {mu(0), mu(1)}}};
    case ImpulseShape::torsional:
      return {{{2}, {1}, true}, {{0, 1}, {mu(0), mu(0)}}, {{3}, {mu(1)}}};
    case ImpulseShape::rolling:
      return {{{2}, {1}, true}, {{0, 1}, {mu(0), mu(0)}}, {{3, 4}, {mu(1), mu(1)}}, {{5}, {mu(2)}}};
    default:
      break;
  }
  std::vector<Rows> each;
  for (int r = 0; r < set.rows; ++r) each.push_back({{r}, {1}});
  return each;
}

/// A block between two bodies, the second of which may be missing.
struct Block {
  int bodies[2];
  Eigen::MatrixXd jacobians[2];
  carom::WeightedBlock<double> law;
};

/// The scales of the rows by their definition, from dense matrices: the motion of a group is the
/// norm of the velocities of its rows, each times its μ. All bodies are one island.
[[nodiscard]] Eigen::VectorXd scales_by_definition(const std::vector<Block>& blocks,
                                                   const std::vector<Eigen::MatrixXd>& masses,
                                                   const std::vector<Eigen::VectorXd>& free) {
  struct Seen {
    Rows rows;
    Index first;
    double motion, squared, to_normal;
    bool cone;
  };
  std::vector<Seen> all;
  Index first = 0;
  double cones = 0, intervals = 0;
  for (const Block& block : blocks) {
    const bool cone = block.law.set.shape != carom::ImpulseShape::intervals;
    double normal = 0;
    for (const Rows& group : groups_of(block.law.set)) {
      const auto count = Index(group.rows.size());
      Eigen::VectorXd bias(count);
      for (Index k = 0; k < count; ++k) {
        bias(k) = group.mu[std::size_t(k)] * block.law.bias_velocity(group.rows[std::size_t(k)]);
      }
      // An open contact asks its own rows for its velocity, and gives the island none.
      const bool pushes = !group.is_normal || bias(0) > 0;
      Seen seen{group, first, bias.norm(), 0, 1, cone};
      double given = pushes ? bias.norm() : 0;
      for (int s = 0; s < 2; ++s) {
        if (block.bodies[s] < 0) continue;
        const auto body = std::size_t(block.bodies[s]);
        Eigen::MatrixXd rows(count, free[body].size());
        for (Index k = 0; k < count; ++k) {
          rows.row(k) =
              group.mu[std::size_t(k)] * block.jacobians[s].row(group.rows[std::size_t(k)]);
        }
        const double squared = (rows * masses[body].inverse() * rows.transpose()).trace();
        const double energy = free[body].dot(masses[body] * free[body]);
        seen.squared += squared;
        given = std::max(
            {given, (rows * free[body]).norm(), 0.01 * std::sqrt(squared) * std::sqrt(energy)});
      }
      seen.motion = std::max(seen.motion, given);
      if (group.is_normal) normal = seen.squared;
      if (cone && seen.squared > 0) seen.to_normal = std::sqrt(normal / seen.squared);
      if (cone) cones = std::max(cones, given * seen.to_normal);
      if (!cone) intervals = std::max(intervals, given / std::sqrt(seen.squared));
      all.push_back(seen);
    }
    first += block.law.set.rows;
  }
  Eigen::VectorXd scales = Eigen::VectorXd::Zero(first);
  for (const Seen& seen : all) {
    const double least =
        seen.cone ? 0.01 * cones / seen.to_normal : 0.01 * std::sqrt(seen.squared) * intervals;
    for (std::size_t k = 0; k < seen.rows.rows.size(); ++k) {
      const double mu = seen.rows.mu[k];
      if (mu > 0) scales(seen.first + seen.rows.rows[k]) = std::max(seen.motion, least) / mu;
    }
  }
  return scales;
}

}  // namespace

TEST_CASE("block_scales: blocks of any shape have the scales of the definition",
          "[contact][oracle]") {
  using carom::ImpulseShape;
  VectorSource<double> source(84u);
  for (int sample = 0; sample < 60; ++sample) {
    std::vector<Eigen::MatrixXd> masses;
    std::vector<Eigen::VectorXd> free;
    ContactProblem<double> problem(0.01);
    for (int b = 0; b < 3; ++b) {
      const Eigen::MatrixXd root =
          Eigen::MatrixXd::NullaryExpr(4, 4, [&] { return source.unit() - 0.5; });
      masses.push_back(source.positive(3) *
                       (root * root.transpose() + 0.1 * Eigen::MatrixXd::Identity(4, 4)));
      // The last body rests, and gets its scales from the others.
      free.push_back(b == 2 ? Eigen::VectorXd::Zero(4)
                            : Eigen::VectorXd(source.positive(2) * source.vector<4>(1, 0)));
      problem.add_body(masses.back(), free.back());
    }
    std::vector<Block> blocks;
    const auto add = [&](ImpulseShape shape, int first, int second) {
      Block block{{first, second}, {}, {}};
      if (shape == ImpulseShape::intervals) {
        block.law.set = carom::free_impulses<double>(2);
      } else {
        block.law.set = carom::cone_impulses<double>(
            shape, {source.pick({0, 0.2, 3}), source.pick({0.5, 2}), source.pick({0, 0.1})});
      }
      const int rows = block.law.set.rows;
      for (int s = 0; s < 2; ++s) {
        block.jacobians[s] =
            Eigen::MatrixXd::NullaryExpr(rows, 4, [&] { return source.unit() - 0.5; });
      }
      for (int r = 0; r < rows; ++r) {
        block.law.bias_velocity(r) = source.pick({0.01, 30}) * (source.unit() - 0.5);
      }
      if (second < 0) problem.add_constraint(first, block.jacobians[0], block.law);
      if (second >= 0) {
        problem.add_constraint(first, block.jacobians[0], second, block.jacobians[1], block.law);
      }
      blocks.push_back(block);
    };
    for (const int b : {0, 1, 2}) add(ImpulseShape::friction, b, (b + 1) % 3);  // one island
    add(ImpulseShape::planar, 2, -1);
    add(ImpulseShape::elliptic, 0, 2);
    add(ImpulseShape::torsional, 2, -1);
    add(ImpulseShape::rolling, 1, -1);
    add(ImpulseShape::intervals, 2, -1);
    add(ImpulseShape::intervals, 0, 1);
    const auto scales = scales_of(problem);
    const Eigen::VectorXd expected = scales_by_definition(blocks, masses, free);
    for (Index row = 0; row < expected.size(); ++row) {
      CAPTURE(sample, row);
      CHECK(std::abs(scales.velocity(row) - expected(row)) <= rounding(10000, expected(row)));
    }
  }
}

}  // namespace block_scales_test
