// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/design_sensitivity.hpp"

#include <numbers>

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace design_sensitivity_test {

using namespace carom::testing;
using carom::design_sensitivity, carom::DesignPoint, carom::MassMatrix, carom::VectorX;
using std::numbers::pi;

namespace {

/// Billiards over (theta, m_c), the other balls of mass 1.
DesignPoint<double> billiards_design(const VectorX<double>& x) {
  const double c = std::cos(x(0) / 2), s = std::sin(x(0) / 2);
  DesignPoint<double> point;
  point.mass = MassMatrix<double>::make_diagonal(vector_of({x(1), x(1), 1, 1, 1, 1}));
  point.first_gradient = vector_of({-c, -s, c, s, 0, 0});
  point.second_gradient = vector_of({-c, s, 0, 0, c, -s});
  return point;
}

const VectorX<double> cue = VectorX<double>::Unit(6, 0);

}  // namespace

TEST_CASE("design_sensitivity: the break shot's closed forms", "[impact][derivative]") {
  // THEORY 3: <u_a, u_b> = cos(theta)/(1 + m_c) here; xi of equal balls
  // = sqrt((1 + c)(2 - c)) min(|c|, s^2), of which the first branch holds below 128 degrees.
  WorstCase product("d<u, v>"), xi("d xi"), value("xi");
  for (double degrees = 62; degrees < 127; degrees += 4.9) {
    const double theta = degrees * pi / 180, c = std::cos(theta), s = std::sin(theta);
    const auto result = design_sensitivity<double>(billiards_design, vector_of({theta, 1}), cue);
    const double root = std::sqrt((1 + c) * (2 - c));
    const double slope = -s * ((c < 0 ? -root : root) + std::abs(c) * (1 - 2 * c) / (2 * root));
    value.see(std::abs(result.indeterminacy - root * std::abs(c)), rounding(50, 1.0), degrees);
    product.see(std::abs(result.product - c / 2), rounding(8, 1.0), degrees);
    product.see(std::abs(result.product_gradient(0) + s / 2), by_differences(1e-9), degrees);
    product.see(std::abs(result.product_gradient(1) + c / 4), by_differences(1e-9), degrees);
    xi.see(std::abs(result.indeterminacy_gradient(0) - slope), by_differences(1e-8), degrees);
  }
  value.check(10);
  product.check(20);
  xi.check(10);
}

TEST_CASE("design_sensitivity: at a unique design the ambiguity rises from zero",
          "[impact][derivative]") {
  const auto result = design_sensitivity<double>(billiards_design, vector_of({pi / 2, 1}), cue);
  CHECK(result.indeterminacy <= rounding(8, 1.0));
  CHECK(std::abs(result.product) <= rounding(8, 1.0));
  CHECK(result.product_gradient(0) == Approx(-0.5));
  // |c| sqrt((1 + c)(2 - c)) rises with slope sqrt 2; a heavier cue ball changes nothing.
  CHECK(result.indeterminacy_gradient(0) == Approx(std::sqrt(2.0)).epsilon(by_differences(1e-4)));
  CHECK(std::abs(result.indeterminacy_gradient(1)) <= by_differences(1e-9));
}

TEST_CASE("design_sensitivity: a heavier cue ball makes the break shot less ambiguous",
          "[impact][derivative]") {
  // Two reflections: xi = 4 |c| sqrt(b (1 - c)(1 + cos theta)), b = 1/(1 + m), c = b cos theta.
  const double theta = pi / 3, mass = 4, b = 1 / (1 + mass), c = b * std::cos(theta);
  const auto result = design_sensitivity<double>(billiards_design, vector_of({theta, mass}), cue);
  const double xi = 4 * c * std::sqrt(b * (1 - c) * (1 + std::cos(theta)));
  CHECK(result.indeterminacy == Approx(xi).epsilon(rounding(500, 1.0)));
  // d/dm = -b^2 d/db; log xi = log b + (log b + log(1 - c))/2 + ..., c proportional to b.
  const double slope = -b * b * xi * (1.5 / b - c / b / (2 * (1 - c)));
  CHECK(result.indeterminacy_gradient(1) == Approx(slope).epsilon(by_differences(1e-7)));
}

TEST_CASE("design_sensitivity: a model without a normal is refused", "[impact][example]") {
  const auto broken = [](const VectorX<double>& x) {
    DesignPoint<double> point = billiards_design(x);
    point.second_gradient.setZero();
    return point;
  };
  CHECK(refusal_of([&] {
          static_cast<void>(design_sensitivity<double>(broken, vector_of({1.2, 1}), cue));
        }).substr(0, 10) == "contact 1:");
}

}  // namespace design_sensitivity_test
