// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/projection_batch_view.hpp"

#include <string>

#include "support/catch.hpp"

namespace projection_batch_view_test {

using carom::ImpulseShape, carom::ProjectionBatchView, carom::ProjectionFault;

TEST_CASE("projection_batch_view: rows of a shape are those of its set",
          "[projection_batch_view]") {
  ProjectionBatchView<double> view;
  view.shape = ImpulseShape::intervals;
  view.interval_rows = 4;
  CHECK(view.rows() == 4);
  for (const ImpulseShape shape :
       {ImpulseShape::friction, ImpulseShape::planar, ImpulseShape::elliptic,
        ImpulseShape::torsional, ImpulseShape::rolling, ImpulseShape::ellipsoidal_torsional,
        ImpulseShape::ellipsoidal_rolling, ImpulseShape::spinless_rolling}) {
    view.shape = shape;
    CHECK(view.rows() == carom::cone_impulses<double>(shape, {0.5, 0.5, 0.5}).rows);
  }
}

TEST_CASE("projection_batch_view: faults have names", "[projection_batch_view]") {
  CHECK(to_string(ProjectionFault::none) == std::string("none"));
  CHECK(to_string(ProjectionFault::bounds) == std::string("bounds"));
}

}  // namespace projection_batch_view_test
