// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/projection.hpp"

#include <string>
#include <type_traits>

#include "carom/cones/planar_cone.hpp"

#include "support/catch.hpp"

namespace projection_test {

using carom::ConeRegion, carom::PlanarCone;

static_assert(std::is_same_v<carom::SetVector<PlanarCone<float>>, carom::Vector<float, 2>>);
static_assert(std::is_same_v<carom::SetMatrix<PlanarCone<double>>, carom::SquareMatrix<double, 2>>);

TEST_CASE("projection: every region has its word", "[cones][example]") {
  CHECK(to_string(ConeRegion::stick) == std::string("stick"));
  CHECK(to_string(ConeRegion::slide) == std::string("slide"));
  CHECK(to_string(ConeRegion::separate) == std::string("separate"));
  CHECK(to_string(static_cast<ConeRegion>(7)) == std::string("unknown"));
}

}  // namespace projection_test
