// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/outcome/kinetic_contacts.hpp"

#include <Eigen/LU>

#include "support/catch.hpp"
#include "support/planar_touches.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace {

using carom::Index, carom::MatrixX, carom::VectorX;
using carom::detail::KineticContacts, carom::detail::PlanarRows;
using carom::testing::planar_touch, carom::testing::rounding, carom::testing::VectorSource;

TEST_CASE("kinetic_contacts: speeds, impulses and energy are those of the velocity",
          "[impact][law]") {
  VectorSource<double> source(111u);
  for (int sample = 0; sample < 100; ++sample) {
    const Index n = 2 + sample % 6;
    const MatrixX<double> root = source.matrix(n, n);
    const MatrixX<double> mass = root * root.transpose() + 0.1 * MatrixX<double>::Identity(n, n);
    std::vector<PlanarRows<double>> rows;
    for (int i = 0; i < 1 + sample % 4; ++i)
      rows.push_back({source.matrix(n, 1), source.matrix(n, 1), 0.5});
    const VectorX<double> velocity = source.matrix(n, 1);
    const KineticContacts<double> contacts(mass, rows, velocity);
    const double few = rounding(1000, 30.0);
    CHECK(contacts.dimension() == std::min(n, 2 * Index(rows.size())));
    CHECK((contacts.velocity(contacts.start()) - velocity).norm() <= few);
    const VectorX<double> x = contacts.start() + source.matrix(contacts.dimension(), 1);
    const VectorX<double> moved = contacts.velocity(x);
    for (Index i = 0; i < contacts.count(); ++i) {
      const auto& given = rows[std::size_t(i)];
      CHECK(std::abs(contacts.normal(i).dot(x) - given.normal.dot(moved)) <= few);
      CHECK(std::abs(contacts.tangent(i).dot(x) - given.tangent.dot(moved)) <= few);
      CHECK(contacts.friction(i) == given.friction);
      const VectorX<double> pushed = contacts.velocity(x + 2 * contacts.normal(i));
      CHECK((pushed - moved - 2 * mass.inverse() * given.normal).norm() <= few);
    }
    const double gained = moved.dot(mass * moved) - velocity.dot(mass * velocity);
    CHECK(std::abs(gained - (x.squaredNorm() - contacts.start().squaredNorm())) <= few);
  }
}

TEST_CASE("kinetic_contacts: directions that no contact sees are left out at any scale",
          "[impact][example]") {
  for (const double scale : {1e-9, 1.0, 1e9}) {
    MatrixX<double> mass = MatrixX<double>::Identity(6, 6) * scale;
    std::vector<PlanarRows<double>> rows{planar_touch(0.5, 0, 0, 0.3),
                                         planar_touch(-0.5, 0, 0, 0.3)};
    for (auto& row : rows) {
      row.normal.conservativeResizeLike(VectorX<double>::Zero(6));
      row.tangent.conservativeResizeLike(VectorX<double>::Zero(6));
    }
    rows[1].normal *= scale;
    const VectorX<double> velocity = VectorX<double>::LinSpaced(6, 1, 6);
    const KineticContacts<double> contacts(mass, rows, velocity);
    CHECK(contacts.dimension() == 3);
    const VectorX<double> moved = contacts.velocity(VectorX<double>::Zero(3));
    CHECK(moved.head(3).norm() <= rounding(100, 6.0));
    CHECK((moved - velocity).tail(3).norm() <= rounding(100, 6.0));
  }
}

}  // namespace
