// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/shared_normal_cone.hpp"

#include <array>

#include "support/catch.hpp"
#include "support/cone_laws.hpp"
#include "support/derivative_laws.hpp"
#include "support/projection_oracle.hpp"

// A cone of the reader's own: five blocks of unlike sizes, the normal entry first.
namespace carom {

template <RealScalar Scalar>
struct FiveBlockCone {
  using scalar_type = Scalar;
  static constexpr int dimension = 8;
  static constexpr int normal_index = 0;
  static constexpr std::array<ConeBlock, 5> blocks{{{1, 1}, {2, 2}, {4, 1}, {5, 2}, {7, 1}}};

  std::array<Scalar, 5> friction;
};

template <RealScalar Scalar>
std::array<Scalar, 5> bounds(const FiveBlockCone<Scalar>& cone) noexcept {
  return cone.friction;
}

template <typename To, typename From>
FiveBlockCone<To> convert(const FiveBlockCone<From>& cone) {
  FiveBlockCone<To> result{};
  for (std::size_t b = 0; b < 5; ++b) result.friction[b] = To(cone.friction[b]);
  return result;
}

}  // namespace carom

namespace shared_normal_cone_test {

using carom::FiveBlockCone, carom::SetVector, carom::Vector;
using namespace carom::testing;

namespace {

template <typename Scalar>
FiveBlockCone<Scalar> draw_five(VectorSource<Scalar>& source) {
  FiveBlockCone<Scalar> cone{};
  for (Scalar& mu : cone.friction) mu = source.non_negative(6);
  return cone;
}

}  // namespace

TEST_CASE("shared_normal_cone: five blocks obey the laws of a cone", "[cones][law]") {
  check_cone_laws<FiveBlockCone<double>>(draw_five<double>);
}

TEST_CASE("shared_normal_cone: the derivative obeys its laws", "[cones][derivative]") {
  check_derivative_laws<FiveBlockCone<double>>(draw_five<double>);
}

TEMPLATE_TEST_CASE(
    "shared_normal_cone: any set of blocks may slide, and the nearest point is found",
    "[cones][oracle]", float, double) {
  check_against_oracle<FiveBlockCone<TestType>>(draw_five<TestType>, 400);

  WorstCase worst("blocks of like size");  // so that one, some or all of them slide
  std::array<int, 6> seen{};
  VectorSource<TestType> source(55);
  for (int sample = 0; sample < 600; ++sample) {
    FiveBlockCone<TestType> cone{};
    for (TestType& mu : cone.friction) mu = source.non_negative(1);
    const auto weights = draw_weights(cone, source, 2);
    const Vector<TestType, 8> y = source.template vector<8>(1);
    compare_with_oracle(worst, cone, weights, y);
    const auto p = project(cone, weights, y).point;
    std::size_t sliding = 0;
    for (const auto& block : cone.blocks) {
      sliding += p.segment(block.start, block.size) != y.segment(block.start, block.size);
    }
    ++seen[sliding];
  }
  worst.check(600);
  for (const int count : seen) CHECK(count > 0);
}

TEST_CASE("shared_normal_cone: blocks may come in any order", "[cones][law]") {
  WorstCase order("order of the single entries");
  for_each_sample<FiveBlockCone<double>>(
      draw_five<double>, 400, 56, 12,
      [&](const auto& cone, const auto& weights, const auto& y, auto&) {
        auto swapped_cone = cone;
        std::swap(swapped_cone.friction[0], swapped_cone.friction[4]);
        std::swap(swapped_cone.friction[1], swapped_cone.friction[3]);
        const std::array<int, 8> swap{0, 7, 5, 6, 4, 2, 3, 1};
        const auto reorder = [&](const Vector<double, 8>& x) {
          Vector<double, 8> result;
          for (int i = 0; i < 8; ++i) result(i) = x(swap[std::size_t(i)]);
          return result;
        };
        const auto swapped_weights = reorder(weights);
        order.see(
            distance_in(weights, reorder(project(swapped_cone, swapped_weights, reorder(y)).point),
                        project(cone, weights, y).point),
            projection_allowance(weights, y), cone, weights, y);
      });
  order.check(400);
}

TEMPLATE_TEST_CASE("shared_normal_cone: members satisfy every inequality, dual members their sum",
                   "[cones][example]", float, double) {
  const FiveBlockCone<TestType> cone{{1, 2, TestType(0.5), 0, 3}};
  Vector<TestType, 8> surface, dual;
  surface << 2, -2, 0, 4, 1, 0, 0, -6;
  CHECK(contains(cone, surface));
  for (const auto& block : cone.blocks) {
    Vector<TestType, 8> outside = surface;
    outside(block.start) = outside(block.start) < 0 ? TestType(-7) : TestType(7);
    CHECK_FALSE(contains(cone, outside));
    CHECK(contains(cone, outside, TestType(7)));
  }
  CHECK_FALSE(contains(cone, Vector<TestType, 8>(-surface)));
  dual << 23, 1, 3, -4, 6, 8, 8, 3;  // 1 + 2*5 + 6/2 + 0 + 3*3 = 23
  CHECK(in_dual(cone, dual));
  for (int i = 0; i < 8; ++i) {
    Vector<TestType, 8> outside = dual;
    outside(i) += i == 0 ? TestType(-1) : (dual(i) < 0 ? TestType(-2) : TestType(2));
    const bool frictionless = i == 5 || i == 6;
    CHECK(in_dual(cone, outside) == frictionless);
    CHECK(in_dual(cone, outside, TestType(6)));
  }
}

}  // namespace shared_normal_cone_test
