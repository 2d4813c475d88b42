// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/step_curvature.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "carom/variational/planar_tree.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace step_curvature_test {

using namespace carom::testing;
using carom::Index, carom::MatrixX, carom::MechanicalState, carom::PlanarBody, carom::PlanarTree;
using carom::Quadrature, carom::FirstOrder, carom::StepCurvature, carom::StepDerivative;

namespace {

using Number = FirstOrder<double>;

/// Largest difference between the second derivative and central differences of the first, and the
/// largest difference between ∂²/∂x_k∂x_c and ∂²/∂x_c∂x_k.
struct Errors {
  double differences = 0, symmetry = 0, size = 0;
};

template <typename System, typename Lifted>
Errors compare(const System& system, const Lifted& lifted, const MechanicalState<double>& state,
               const Quadrature<double>& rule) {
  const Index n = system.size();
  const double h = 0.1, step = 1e-5;
  StepCurvature<System, Lifted> curvature({rule});
  curvature.prepare(system, lifted);
  std::vector<MatrixX<double>> second(std::size_t(2 * n), MatrixX<double>::Zero(2 * n, 2 * n));
  REQUIRE(curvature.evaluate(system, lifted, state, h, state.q, second).converged());
  StepDerivative<System> derivative({rule});
  derivative.prepare(system);
  MatrixX<double> y(2 * n, 2 * n);
  REQUIRE(derivative.evaluate(system, state, h, state.q, y).converged());
  CHECK(y == curvature.first());
  Errors errors;
  for (Index k = 0; k < 2 * n; ++k) {
    const auto moved = [&](double by) {
      auto start = state;
      (k < n ? start.q(k) : start.momentum(k - n)) += by;
      REQUIRE(derivative.evaluate(system, start, h, start.q, y).converged());
      return y;
    };
    const MatrixX<double> ahead = moved(step), behind = moved(-step);
    const MatrixX<double>& at = second[std::size_t(k)];
    errors.differences =
        std::max(errors.differences, (at - (ahead - behind) / (2 * step)).cwiseAbs().maxCoeff());
    errors.size = std::max(errors.size, at.cwiseAbs().maxCoeff());
    for (Index c = 0; c < 2 * n; ++c) {
      const double other = (at.col(c) - second[std::size_t(c)].col(k)).cwiseAbs().maxCoeff();
      errors.symmetry = std::max(errors.symmetry, other);
    }
  }
  return errors;
}

template <typename Scalar>
PlanarTree<Scalar> three_links() {
  std::vector<PlanarBody<Scalar>> bodies(3);
  for (Index i = 0; i < 3; ++i) {
    PlanarBody<Scalar>& body = bodies[std::size_t(i)];
    body.parent = i - 1;
    if (i > 0) body.hinge = {Scalar(1.0), Scalar(0.2)};
    body.centre = {Scalar(0.5), Scalar(-0.1)};
    body.mass = Scalar(1.0 + 0.5 * double(i));
    body.inertia = Scalar(0.3);
  }
  return PlanarTree<Scalar>(bodies, {{Scalar(0.0), Scalar(-9.81)}, false, true});
}

}  // namespace

TEST_CASE("step_curvature: differences of the first derivative, and symmetry",
          "[variational][derivative]") {
  const MechanicalState<double> state{0, numbers<double>({1, 2}), numbers<double>({0.5, -1})};
  for (const auto& rule : {Quadrature<double>::midpoint(), Quadrature<double>::verlet(),
                           Quadrature<double>::rectangle(0.3)}) {
    const Errors errors = compare(DoublePendulum<double>{}, DoublePendulum<Number>{}, state, rule);
    CAPTURE(errors.differences, errors.symmetry, errors.size);
    CHECK(errors.size > 0.01);
    // What the differences are good for.
    CHECK(errors.differences <= by_differences(1e-8));
    CHECK(errors.symmetry <= rounding(8192, 1.0));
  }
}

TEST_CASE("step_curvature: trees, forces and constraints", "[variational][derivative]") {
  const auto midpoint = Quadrature<double>::midpoint();
  const Errors tree =
      compare(three_links<double>(), three_links<Number>(),
              {0, numbers<double>({-1, 0.4, 0.7}), numbers<double>({2, 1, -0.5})}, midpoint);
  CAPTURE(tree.differences, tree.symmetry, tree.size);
  CHECK(tree.size > 0.01);
  // What the differences are good for.
  CHECK(tree.differences <= by_differences(1e-7) * std::max(1.0, tree.size));
  CHECK(tree.symmetry <= rounding(65536, std::max(1.0, tree.size)));

  const Errors rod =
      compare(RodPendulum<double>{}, RodPendulum<Number>{},
              {0, numbers<double>({0.6, -0.8}), numbers<double>({0.32, 0.24})}, midpoint);
  CAPTURE(rod.differences, rod.symmetry, rod.size);
  CHECK(rod.size > 0.01);
  // What the differences are good for.
  CHECK(rod.differences <= by_differences(1e-8) * std::max(1.0, rod.size));
  CHECK(rod.symmetry <= rounding(65536, std::max(1.0, rod.size)));

  // Linear in the state: nothing to bend.
  const Errors driven = compare(DrivenOscillator<double>{}, DrivenOscillator<Number>{},
                                {0.4, numbers<double>({1}), numbers<double>({0.2})}, midpoint);
  CHECK(driven.size <= rounding(64, 1.0));
}

TEST_CASE("step_curvature: a step that does not converge says so", "[variational][edge]") {
  StepCurvature<DoublePendulum<double>, DoublePendulum<Number>> curvature;
  const DoublePendulum<double> system;
  const DoublePendulum<Number> lifted;
  curvature.prepare(system, lifted);
  std::vector<MatrixX<double>> second(4, MatrixX<double>::Zero(4, 4));
  const MechanicalState<double> state{0, numbers<double>({1, 2}), numbers<double>({NAN, -1})};
  CHECK_FALSE(curvature.evaluate(system, lifted, state, 0.1, state.q, second).converged());
}

}  // namespace step_curvature_test
