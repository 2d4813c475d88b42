// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/outcome/contact_cells.hpp"

#include "support/catch.hpp"
#include "support/planar_touches.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace {

using carom::Index, carom::MatrixX, carom::VectorX;
using carom::detail::ContactCells, carom::detail::KineticContacts;
using carom::testing::planar_touch, carom::testing::rounding, carom::testing::TouchedBody,
    carom::testing::VectorSource;
using Cell = ContactCells<double>::Cell;

TouchedBody body_with(std::vector<carom::detail::PlanarRows<double>> contacts) {
  return {Eigen::Vector3d(1, 1, 0.1).asDiagonal(), std::move(contacts), Eigen::Vector3d(1, -1, 0)};
}

TEST_CASE("contact_cells: planes that coincide are one", "[impact][example]") {
  const double right = std::acos(-1.0) / 2;
  const auto planes = [](const TouchedBody& body) {
    const KineticContacts<double> contacts(body.mass, body.contacts, body.velocity);
    return ContactCells<double>(contacts).plane_count();
  };
  CHECK(planes(body_with({planar_touch(0.5, 0, 0, 0.3)})) == 2);
  CHECK(planes(body_with({planar_touch(0.5, 0, 0, 0)})) == 1);  // no friction, no slip
  // Two feet on one floor slip together, two walls close in turn.
  CHECK(planes(body_with({planar_touch(0.5, 0, 0, 0.3), planar_touch(-0.5, 0, 0, 0.3)})) == 3);
  CHECK(planes(body_with({planar_touch(0.5, 0, right, 0), planar_touch(-0.5, 0, -right, 0)})) == 1);
}

TEST_CASE("contact_cells: who acts, who goes on, and which slips matter", "[impact][example]") {
  const auto body = body_with({planar_touch(0.5, 0, 0, 0.3), planar_touch(-0.5, 0, 0.4, 0.3)});
  const KineticContacts<double> contacts(body.mass, body.contacts, body.velocity);
  const ContactCells<double> cells(contacts);
  REQUIRE(cells.plane_count() == 4);  // gap and slip of the first, then of the second
  for (const Index p : {0, 2}) CHECK(cells.is_gap(p));
  for (const Index p : {1, 3}) CHECK(!cells.is_gap(p));
  const Cell both{-1, 1, -1, -1}, first{-1, 0, 1, 2}, none{1, 2, 1, 2}, resting{0, 1, 0, 1};
  CHECK(cells.goes_on(both));
  CHECK(cells.goes_on(first));
  CHECK(!cells.goes_on(none));
  CHECK(!cells.goes_on(resting));
  CHECK(cells.matters(first, 1));
  CHECK(!cells.matters(first, 3));
  CHECK(cells.motions(both, true).cols() == 2);
  CHECK(cells.motions(first, true).cols() == 1);
  CHECK(cells.motions(none, true).cols() == 0);
}

TEST_CASE("contact_cells: motions are those of impulses against the slip, and keep what sticks",
          "[impact][law]") {
  VectorSource<double> source(112u);
  const double few = rounding(2000, 1.0);
  for (int sample = 0; sample < 100; ++sample) {
    const TouchedBody body = carom::testing::draw_touched_body(source, 1 + sample % 3);
    const KineticContacts<double> contacts(body.mass, body.contacts, body.velocity);
    const ContactCells<double> cells(contacts);
    Cell cell;
    for (Index p = 0; p < cells.plane_count(); ++p) {
      cell.push_back(int(source.pick({-1.0, 0.0, 1.0})));
    }
    const MatrixX<double> motions = cells.motions(cell, true);
    const Index r = contacts.dimension();
    for (Index k = 0; k < motions.cols(); ++k) {
      VectorX<double> x = VectorX<double>::Zero(r);
      for (Index i = 0; i < contacts.count(); ++i) {
        const double normal = motions(r + 2 * i, k), friction = motions(r + 2 * i + 1, k);
        x += normal * contacts.normal(i) + friction * contacts.tangent(i);
        CHECK(normal >= 0);
        CHECK((cells.gap_sign(cell, i) <= 0 || normal == 0));
        CHECK(std::abs(friction) <= contacts.friction(i) * normal + few);
        // Against the slip: by the speed of a velocity inside of the cell.
        for (Index p = 0; p < cells.plane_count(); ++p) {
          const double along = cells.plane(p).dot(contacts.tangent(i).normalized());
          if (std::abs(std::abs(along) - 1) > few || cell[std::size_t(p)] == 0) continue;
          const double slip = along * cell[std::size_t(p)];
          CHECK(std::abs(friction + slip * contacts.friction(i) * normal) <= few);
        }
      }
      CHECK((x - motions.col(k).head(r)).norm() <= few);
      CHECK(std::abs(x.norm() - 1) <= few);
      for (Index p = 0; p < cells.plane_count(); ++p) {
        if (cell[std::size_t(p)] == 0) CHECK(std::abs(cells.plane(p).dot(x)) <= few);
      }
    }
  }
}

}  // namespace
