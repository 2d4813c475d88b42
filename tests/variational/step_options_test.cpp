// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/step_options.hpp"

#include <limits>

#include "support/catch.hpp"

namespace step_options_test {

using carom::Quadrature, carom::StepOptions;

TEST_CASE("step_options: the quadratures are those of their names", "[variational][example]") {
  using Scalar = double;
  CHECK(Quadrature<Scalar>::midpoint().alpha == Scalar(0.5));
  CHECK_FALSE(Quadrature<Scalar>::midpoint().symmetric);
  CHECK(Quadrature<Scalar>::rectangle(Scalar(0.25)).alpha == Scalar(0.25));
  CHECK_FALSE(Quadrature<Scalar>::rectangle(Scalar(0.25)).symmetric);
  CHECK(Quadrature<Scalar>::verlet().alpha == 0);
  CHECK(Quadrature<Scalar>::verlet().symmetric);
  CHECK(Quadrature<Scalar>::symmetric_rectangle(Scalar(0.25)).alpha == Scalar(0.25));
  CHECK(Quadrature<Scalar>::symmetric_rectangle(Scalar(0.25)).symmetric);
}

TEMPLATE_TEST_CASE("step_options: by default the midpoint, solved to some roundings",
                   "[variational][example]", float, double) {
  const StepOptions<TestType> options;
  CHECK(options.quadrature.alpha == TestType(0.5));
  CHECK(options.tolerance > std::numeric_limits<TestType>::epsilon());
  CHECK(options.tolerance < 16 * std::numeric_limits<TestType>::epsilon());
  CHECK(options.iteration_limit >= 3);
}

}  // namespace step_options_test
