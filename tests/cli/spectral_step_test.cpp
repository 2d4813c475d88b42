// SPDX-License-Identifier: BSD-3-Clause
#include "peers/spectral_step.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace spectral_step_test {

using carom::detail::SpectralStep;
using carom::testing::rounding, carom::testing::VectorSource;

TEMPLATE_TEST_CASE("spectral step: the curvature of a quadratic lies between its eigenvalues",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(5u);
  for (int sample = 0; sample < 200; ++sample) {
    const double low = source.positive(8), high = low * (1 + 3 * source.unit());
    SpectralStep<Scalar> step;
    for (int k = 0; k < 6; ++k) {
      const double weight = source.positive(4), along = source.entry(2, 0.2);
      const double curvature = low + source.unit() * (high - low);
      step.add(Scalar(weight), Scalar(along), Scalar(curvature * along));
    }
    if (step.curvature() < 0) continue;  // a step of zeros
    CHECK(step.curvature() <= Scalar(high) + rounding(30, Scalar(high)));
    // descent − gradient/2 ≥ gradient/2, and gradient ≥ low
    CHECK(step.curvature() >= Scalar(low / 2) - rounding(30, Scalar(high)));
  }
}

TEST_CASE("spectral step: along one eigenvector it is the eigenvalue, in any metric",
          "[solvers][law]") {
  for (const double weight : {1e-12, 1e-3, 1.0, 1e9}) {
    SpectralStep<double> step;
    step.add(weight, -0.25, -0.25 * 7.5);
    CHECK(step.curvature() == 7.5);
  }
}

TEST_CASE("spectral step: without correlation, or without a step, there is no estimate",
          "[solvers][example]") {
  SpectralStep<double> none;
  CHECK(none.curvature() == -1);
  SpectralStep<double> across;
  across.add(1, 1, 0.1);
  across.add(1, 0, 1);
  CHECK(across.curvature() == -1);
  across.add(1, 2, 3);
  CHECK(across.curvature() > 0);
  SpectralStep<double> concave;
  concave.add(1, 1, -1);
  CHECK(concave.curvature() == -1);
  SpectralStep<double> lost;
  lost.add(1, std::nan(""), 1);
  CHECK(lost.curvature() == -1);
}

TEST_CASE("spectral step: where the two estimates differ much, the larger one is corrected",
          "[solvers][example]") {
  SpectralStep<double> near;
  near.add(1, 1, 1);
  near.add(1, 1, 9);  // gradient 10/2, descent 82/10
  CHECK(near.curvature() == Approx(5.0));
  SpectralStep<double> far;
  far.add(1, 3, 1);
  far.add(1, 1, 9);  // gradient 12/10, descent 82/12
  CHECK(far.curvature() == Approx(82.0 / 12 - 0.6));
}

}  // namespace spectral_step_test
