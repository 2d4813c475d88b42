// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/design.hpp"

#include <numbers>

#include "carom/impact/uniqueness.hpp"

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace design_test {

using namespace carom::testing;
using carom::DesignPoint, carom::find_unique_design, carom::Index, carom::MassMatrix;
using carom::nearest_unique_label, carom::normal_product, carom::VectorX;
using std::numbers::pi;

namespace {

/// Billiards over (theta, log m_c, log m_a, log m_b), without or with a fixed total mass.
DesignPoint<double> billiards_design(const VectorX<double>& parameters, double total_mass = 0) {
  const double half = parameters(0) / 2;
  const VectorX<double> x = parameters.array().exp();
  DesignPoint<double> point;
  point.mass = MassMatrix<double>::make_diagonal(vector_of({x(1), x(1), x(2), x(2), x(3), x(3)}));
  point.first_gradient =
      vector_of({-std::cos(half), -std::sin(half), std::cos(half), std::sin(half), 0, 0});
  point.second_gradient =
      vector_of({-std::cos(half), std::sin(half), 0, 0, std::cos(half), -std::sin(half)});
  if (total_mass > 0) {
    point.constraints = vector_of({x(1) + x(2) + x(3) - total_mass, x(2) - x(3)});
  }
  return point;
}

}  // namespace

TEST_CASE("design: the product of normals is that of the impact problem", "[impact][oracle]") {
  VectorSource<double> source(131u);
  WorstCase same("<u, v>");
  for (int round = 0; round < 100; ++round) {
    const Index size = 2 + round % 5;
    DesignPoint<double> point;
    point.mass = MassMatrix<double>::make_dense(draw_definite(source, size));
    point.first_gradient = draw_vector(source, size);
    point.second_gradient = 1e3 * draw_vector(source, size);
    const ImpactScene scene(point.mass, {point.first_gradient, point.second_gradient});
    same.see(std::abs(normal_product(point) - scene.problem.gram()(0, 1)), rounding(500, 1.0),
             point.first_gradient, point.second_gradient);
  }
  same.check(100);
}

TEST_CASE("design: the nearest product that makes the outcome unique", "[impact][example]") {
  CHECK(nearest_unique_label(0.3) == 2);
  CHECK(nearest_unique_label(-0.2) == 2);
  CHECK(nearest_unique_label(-0.26) == 3);
  CHECK(nearest_unique_label(-0.6) == 3);
  CHECK(nearest_unique_label(-0.61) == 4);
  CHECK(nearest_unique_label(-0.99) == 6);
  CHECK(nearest_unique_label(-0.99, 50) == 22);
  CHECK(nearest_unique_label(-0.99, 2) == 2);
}

TEST_CASE("design: billiards reach a unique outcome in a few steps, any label", "[impact][law]") {
  VectorSource<double> source(132u);
  WorstCase reached("residual"), few("steps"), certified("the certificate");
  for (int m = 2; m <= 6; ++m) {
    for (int round = 0; round < 10; ++round) {
      // Light cue ball: the product comes close to the cosine, which must reach -cos(pi/m).
      VectorX<double> x = vector_of({pi - pi / m + 0.2 * (source.unit() - 0.5), -2, 0, 1});
      const auto report = find_unique_design<double>(
          [](const VectorX<double>& at) { return billiards_design(at); }, x, m);
      reached.see_holds(report.converged(), double(m), double(round));
      reached.see(report.residual, rounding(50, 1.0), double(m), double(round));
      few.see_holds(report.iterations <= 6, double(m), double(report.iterations));
      const auto point = billiards_design(x);
      const ImpactScene scene(point.mass, {point.first_gradient, point.second_gradient});
      certified.see_holds(
          to_string(classify(scene.problem)) ==
              (m == 2 ? std::string("orthogonal") : "dihedral m=" + std::to_string(m)),
          double(m), x);
    }
  }
  reached.check(100);
  few.check(50);
  certified.check(50);
}

TEST_CASE("design: billiards move to a right angle and change their masses little",
          "[impact][example]") {
  VectorX<double> x = vector_of({pi / 2 + 0.4, 0, 0, 0});
  const auto report =
      find_unique_design<double>([](const VectorX<double>& at) { return billiards_design(at); }, x);
  CHECK(report.converged());
  CHECK(report.residual <= rounding(64, 1.0));
  CHECK(x(0) == Approx(pi / 2).epsilon(rounding(50, 1.0)));
  CHECK(x.tail(3).norm() < 0.2);
}

TEST_CASE("design: constraints of the model are kept", "[impact][example]") {
  VectorX<double> x = vector_of({2.0, 0.2, -0.2, -0.1});
  const auto model = [](const VectorX<double>& at) { return billiards_design(at, 3); };
  const auto report = find_unique_design<double>(model, x, 3);
  CHECK(report.converged());
  CHECK(report.residual <= rounding(64, 1.0));
  CHECK(x.tail(3).array().exp().sum() == Approx(3).epsilon(rounding(50, 1.0)));
  CHECK(std::exp(x(2)) == Approx(std::exp(x(3))).epsilon(rounding(500, 1.0)));
  CHECK(normal_product(model(x)) == Approx(-0.5).epsilon(rounding(50, 1.0)));
}

}  // namespace design_test
