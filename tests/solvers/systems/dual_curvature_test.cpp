// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/systems/dual_curvature.hpp"

#include <cmath>

#include <Eigen/Eigenvalues>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace dual_curvature_test {

using carom::cone_impulses, carom::ImpulseShape, carom::Index, carom::RowNumbers;
using carom::SquareMatrix, carom::Vector3, carom::WeightedBlock;
using carom::detail::add_direction_curvature, carom::detail::ContactNumbers;
using carom::detail::current_direction, carom::detail::friction_rows;
using carom::detail::FrictionRows, carom::detail::PackedBlock;
using carom::detail::predict_direction, carom::detail::Symmetric3, carom::detail::Tangent2;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

template <typename Scalar>
Tangent2<Scalar> draw_direction(VectorSource<Scalar>& source) {
  const Scalar angle = 7 * Scalar(source.unit()), size = source.pick({0, 0.3, 0.9, 1});
  return {size * std::cos(angle), size * std::sin(angle)};
}

/// Constraints of the shapes with directions, and trial impulses in every region, both in scaled
/// rows.
template <typename Scalar, typename Visit>
void for_each_sample(int count, const Visit& visit) {
  VectorSource<Scalar> source(2718u);
  for (int sample = 0; sample < count; ++sample) {
    const Scalar mu = source.pick({0, 0.1, 0.5, 1}), patch = source.pick({0, 0.05, 0.5});
    WeightedBlock<Scalar> law;
    law.set = cone_impulses<Scalar>(ImpulseShape::rolling, {mu, patch, Scalar(0.1)});
    if (sample % 3 == 1) law.set = cone_impulses<Scalar>(ImpulseShape::torsional, {mu, patch, 0});
    if (sample % 3 == 2) law.set = cone_impulses<Scalar>(ImpulseShape::friction, {mu, 0, 0});
    if (sample % 5 == 1) law.set.shift(2) = source.positive(1);
    for (int i = 0; i < law.set.rows; ++i) law.regularization(i) = source.positive(3);
    law.regularization(1) = law.regularization(0);
    law.regularization(4) = law.regularization(3);
    const PackedBlock<Scalar> constraint(law, 0, 0);
    RowNumbers<Scalar> trial = RowNumbers<Scalar>::Zero();
    for (int i = 0; i < law.set.rows; ++i) {
      trial(i) = source.pick({0, 1, 1, 1}) * (2 * Scalar(source.unit()) - Scalar(i == 2 ? 0.5 : 1));
    }
    visit(constraint, trial, source);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("dual_curvature: a cone's is the same among contacts and among constraints",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase same("G of the contact");
  int count = 0, slides = 0;
  for_each_sample<Scalar>(3000, [&](const auto& constraint, const auto& trial, auto& source) {
    const auto& set = constraint.set;
    if (set.shape != ImpulseShape::friction || set.shift(2) != Scalar(0)) return;
    const RowNumbers<Scalar> y = constraint.scale.cwiseProduct(trial);
    const ContactNumbers<Scalar> contact{set.friction(0),
                                         constraint.regularization(0),
                                         constraint.regularization(2),
                                         y(0),
                                         y(1),
                                         y(2)};
    const auto z = draw_direction(source);
    Symmetric3<Scalar> g{0, 0, 0, 0, 0, 0};
    const auto region = carom::detail::place_trial(contact).region;
    static_cast<void>(carom::detail::write_dual_curvature(region, contact, z, g));
    slides += region == carom::detail::SettledRegion::unsettled ? 1 : 0;
    SquareMatrix<Scalar, 6> other = constraint.curvature(trial);
    const auto rows = friction_rows(constraint, 0, trial,
                                    constraint.impulse_scaled(carom::FrictionLaw::convex, trial));
    add_direction_curvature(rows, z, 0, other);
    SquareMatrix<Scalar, 3> wanted;
    wanted << g.xx, g.xy, g.xz, g.xy, g.yy, g.yz, g.xz, g.yz, g.zz;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) wanted(i, j) /= constraint.scale(i) * constraint.scale(j);
    }
    const Scalar apart = (other.template topLeftCorner<3, 3>() - wanted).norm();
    same.see(double(apart), double(rounding(30, Scalar(1) + wanted.norm())), double(count));
    ++count;
  });
  CHECK(slides > 200);
  same.check(count);
}

TEMPLATE_TEST_CASE(
    "dual_curvature: no direction in the disc makes it indefinite, and the true one adds nothing",
    "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase least("least eigenvalue"), same("G where z = t");
  int count = 0;
  for_each_sample<Scalar>(carom::testing::sweep(500, 3000), [&](const auto& constraint,
                                                                const auto& trial, auto& source) {
    const auto impulse = constraint.impulse_scaled(carom::FrictionLaw::convex, trial);
    const SquareMatrix<Scalar, 6> exact = constraint.curvature(trial);
    SquareMatrix<Scalar, 6> any = exact, current = exact;
    for (int part = 0; part < constraint.direction_count(); ++part) {
      const auto rows = friction_rows(constraint, part, trial, impulse);
      add_direction_curvature(rows, draw_direction(source), 3 * part, any);
      add_direction_curvature(rows, current_direction(rows), 3 * part, current);
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(any.template cast<double>());
    least.see(-eigen.eigenvalues().minCoeff(), double(rounding(30, Scalar(1))), double(count));
    same.see(double((current - exact).norm()), double(rounding(30, Scalar(1))), double(count));
    ++count;
  });
  least.check(count);
  same.check(count);
}

TEST_CASE("dual_curvature: the predicted direction is right to first order and within the disc",
          "[solvers][law]") {
  VectorSource<double> source(42u);
  WorstCase first_order("direction of y + dy"), inside("‖ẑ‖");
  int count = 0;
  for (int sample = 0; sample < 2000; ++sample) {
    const Tangent2<double> y{2 * source.unit() - 1, 2 * source.unit() - 1};
    const FrictionRows<double> rows{y, source.pick({0, 0.1, 0.5, 3})};
    const double size = 1e-6;
    const Tangent2<double> step{size * (2 * source.unit() - 1), size * (2 * source.unit() - 1)};
    const Tangent2<double> wide{step.x / size, step.y / size};
    const auto far_off = predict_direction(rows, draw_direction(source), wide);
    inside.see(std::hypot(far_off.x, far_off.y), 1, double(sample));
    const double r = std::hypot(y.x, y.y);
    if (rows.limit == 0 || r < 1e-2) continue;
    const auto next = predict_direction(rows, current_direction(rows), step);
    const double norm = r <= rows.limit ? rows.limit : std::hypot(y.x + step.x, y.y + step.y);
    const double apart = std::hypot(next.x - (y.x + step.x) / norm, next.y - (y.y + step.y) / norm);
    first_order.see(apart, 10 * (size / r) * (size / r), double(sample));
    ++count;
  }
  inside.check(2000);
  first_order.check(count);
  CHECK(predict_direction<double>({{1, 2}, 0.0}, {1, 0}, {3, 4}).x == 0);  // open
}

TEST_CASE("dual_curvature: what rounding has put off its region or range has none",
          "[solvers][input]") {
  using carom::detail::SettledRegion, carom::detail::write_dual_curvature;
  Symmetric3<double> g{};
  const ContactNumbers<double> open{0.5, 1e-3, 1e-3, 0, 0, -1};  // stored as one that slides
  CHECK_FALSE(write_dual_curvature(SettledRegion::unsettled, open, {1, 0}, g));
  const FrictionRows<double> narrow{{1, 0}, 1e-300};
  for (const double step : {1e300, -1e300}) {
    const Tangent2<double> next = predict_direction(narrow, {0, 1}, {0, step});
    CHECK(next.x * next.x + next.y * next.y <= 1);
    const Tangent2<double> wide = predict_direction<double>({{0, 0}, 1e-300}, {0, 0}, {step, step});
    CHECK((wide.x == 0 && wide.y == 0));
  }
}

}  // namespace dual_curvature_test
