// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/sap_tuning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "carom/contact/impulse_set.hpp"
#include "carom/linalg/detail/increasing_root.hpp"

#include "support/catch.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"

namespace sap_tuning_test {

using carom::Index;
using carom::detail::CoulombNewtonTuning, carom::detail::DiagonalRaiseTuning;
using carom::detail::IterativeDirectionsTuning, carom::detail::LineSearchTuning;
using carom::detail::PaddingContact;
using carom::testing::rounding;

TEMPLATE_TEST_CASE("sap_tuning: the first raise is above the rounding of a sum of products",
                   "[solvers][law]", float, double) {
  // J Jᵀ of sixteen columns of equal size, in the type, has too little rank: the least eigenvalue
  // is rounding. As the factor is in long double, the raise alone decides.
  using Scalar = TestType;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  carom::testing::VectorSource<double> source(1);
  int indefinite = 0;
  for (int k = 0; k < 40; ++k) {
    const double size = source.positive(6);
    const Matrix jacobian =
        (size * carom::testing::draw_matrix(source, 30, 16)).template cast<Scalar>();
    Matrix product(30, 30);
    product.noalias() = jacobian.lazyProduct(jacobian.transpose());
    const Scalar raise = DiagonalRaiseTuning::next(Scalar(0), product.diagonal().maxCoeff());
    Long wide = product.template cast<long double>();
    indefinite += Eigen::LLT<Long>(wide).info() != Eigen::Success;
    wide.diagonal().array() += static_cast<long double>(raise);
    CHECK(Eigen::LLT<Long>(wide).info() == Eigen::Success);
    // It is no more than rounding, so that the step stays one of Newton's.
    CHECK(raise <= rounding<Scalar>(16, product.diagonal().maxCoeff()));
  }
  CHECK(indefinite >= 30);
}

TEMPLATE_TEST_CASE("sap_tuning: raises grow a thousand times each, over nine decades",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  for (const Scalar largest : {Scalar(1), Scalar(1e4), Scalar(1e20)}) {
    const Scalar first = DiagonalRaiseTuning::next(Scalar(0), largest);
    CHECK(first > Scalar(0));
    CHECK(first == largest * DiagonalRaiseTuning::next(Scalar(0), Scalar(1)));
    Scalar raise = first;
    for (int attempt = 1; attempt < DiagonalRaiseTuning::attempt_limit; ++attempt) {
      const Scalar next = DiagonalRaiseTuning::next(raise, largest);
      CHECK(std::abs(next - 1000 * raise) <= rounding<Scalar>(1, next));
      raise = next;
    }
    CHECK(std::abs(raise / first - Scalar(1e9)) <= rounding<Scalar>(4, Scalar(1e9)));
  }
}

TEMPLATE_TEST_CASE("sap_tuning: the share that a direction may leave lets Newton's method converge",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  const auto share = [](Scalar residual, Scalar tolerance) {
    return IterativeDirectionsTuning::share_left(residual, tolerance);
  };
  // Far away a tenth is enough; nearer, the root of the residual, faster than linear.
  CHECK(share(Scalar(1e6), Scalar(1e-6)) == Scalar(0.1));
  CHECK(share(Scalar(1), Scalar(1e-6)) == Scalar(0.1));
  CHECK(share(Scalar(1) / 1024, Scalar(1e-12)) == Scalar(1) / 32);
  CHECK(share(Scalar(1) / 65536, Scalar(1e-12)) == Scalar(1) / 256);
  // At the end it leaves a quarter of the target, and no more than a tenth of the gradient.
  const Scalar target = Scalar(1) / 65536;
  CHECK(share(4 * target, target) == Scalar(0.25) / 4);
  CHECK(share(8 * target, target) == Scalar(0.25) / 8);
  CHECK(share(target, target) == Scalar(0.1));
  CHECK(share(target / 1000, target) == Scalar(0.1));
  Scalar before(0);
  for (Scalar residual = Scalar(1e-6); residual < Scalar(10); residual *= 3) {
    const Scalar now = share(residual, Scalar(0));
    CHECK(now >= before);
    CHECK(now <= Scalar(0.1));
    before = now;
  }
}

TEMPLATE_TEST_CASE("sap_tuning: a search for a step ends before its limit of evaluations",
                   "[solvers][law]", float, double) {
  // A sign alone says nothing of the distance: the search has to halve down to neighbours.
  using Scalar = TestType;
  const auto least = double((std::numeric_limits<Scalar>::min)());
  for (double power = std::log10(least) + 1; power < 15; power += 3.7) {
    const auto root = Scalar(std::pow(10.0, power));
    Scalar last(0);
    const auto sign = [&](const Scalar& x) {
      last = x;
      return x < root ? Scalar(-1) : Scalar(1);
    };
    const auto found = carom::find_increasing_root<Scalar>(
        sign, Scalar(-1),
        {.tolerance = Scalar(0.5), .evaluation_limit = LineSearchTuning::evaluation_limit});
    CAPTURE(power);
    CHECK(found.evaluations < LineSearchTuning::evaluation_limit);
    CHECK(std::abs(last - root) <= rounding<Scalar>(2, root));
  }
}

TEST_CASE("sap_tuning: a contact that pads a register is open wherever its body moves",
          "[solvers][example]") {
  // μ, R and v̂ of the first tangent are 1; without a Jacobian its velocity is zero.
  const carom::RowNumbers<double> ones = carom::RowNumbers<double>::Ones();
  carom::RowNumbers<double> trial = carom::RowNumbers<double>::Zero();
  trial.head<3>() << 1, 0, double(PaddingContact::normal_bias);
  CHECK(nearest_impulse(carom::friction_impulses(1.0), ones, trial).isZero(0));
  trial(2) /= 5;  // clearly inside
  CHECK(nearest_impulse(carom::friction_impulses(1.0), ones, trial).isZero(0));
}

TEST_CASE("sap_tuning: the De Saxcé term is neither held still nor thrown past its end",
          "[solvers][example]") {
  using Tuning = CoulombNewtonTuning;
  // Shares fall from above one to a positive end, so that every update moves the term.
  double share = Tuning::first_share;
  int updates = 0;
  while (share > Tuning::least_share && updates < Tuning::lift_limit) {
    share = std::max(share * Tuning::share_decay, Tuning::least_share);
    ++updates;
  }
  CHECK(Tuning::first_share > 1);
  CHECK(Tuning::first_share < 2);  // a step of two or more would not come nearer
  CHECK(share == Tuning::least_share);
  CHECK(share > 0);
  CHECK(updates < Tuning::lift_limit / Tuning::trial_period);
  // A step of any halving may be accepted: what it has to gain is a share of what it can.
  CHECK(Tuning::descent > 0);
  CHECK(Tuning::descent < 0.5);
  CHECK(1 - Tuning::descent * std::pow(0.5, Tuning::halvings) < 1);
  CHECK(Tuning::memory < Tuning::patience);
}

}  // namespace sap_tuning_test
