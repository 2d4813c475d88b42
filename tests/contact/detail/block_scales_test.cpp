// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/block_scales.hpp"

#include <cmath>

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

}  // namespace block_scales_test
