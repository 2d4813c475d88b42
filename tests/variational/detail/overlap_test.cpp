// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/overlap.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace overlap_test {

using namespace carom::testing;
using carom::Index, carom::OverlapProjection, carom::SolveStatus, carom::VectorX;

namespace {

/// A unit mass inside a circle of radius one, which is given as two gaps.
struct InsideTwice {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 2; }
  [[nodiscard]] Index gap_count() const { return 2; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q&, const Q& v, const T&) const {
    return (v(0) * v(0) + v(1) * v(1)) / 2.0;
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = 1.0 - q(0) * q(0) - q(1) * q(1);
    out(1) = out(0) * 2.0;
  }
};

}  // namespace

TEST_CASE("overlap: masses move apart in inverse proportion to their weights",
          "[variational][oracle]") {
  OverlapProjection<MassesOnLine> overlap;
  const MassesOnLine pair{{1, 3}, true};  // and a wall at zero
  overlap.prepare(pair);
  VectorX<double> q = numbers<double>({2, 1.6});
  CHECK(overlap.depth(pair, q) == 2 - 1.6);
  const auto report = overlap.project_out(pair, 0, 1e-12, q);
  CHECK(report.converged());
  CHECK(report.residual <= rounding(8192, 1.0));
  // argmin of 1·dq₀² + 3·dq₁² with dq₁ − dq₀ = 0.4.
  CHECK(std::abs(q(0) - 1.7) <= rounding(8192, 1.0));
  CHECK(std::abs(q(1) - 1.7) <= rounding(8192, 1.0));
}

TEST_CASE("overlap: opening one gap closes no other", "[variational][law]") {
  OverlapProjection<MassesOnLine> overlap;
  const MassesOnLine pair{{1, 3}, true};  // and a wall at zero
  overlap.prepare(pair);
  VectorX<double> q = numbers<double>({0.1, -1.1});
  CHECK(overlap.project_out(pair, 0, 1e-12, q).converged());
  CHECK(overlap.depth(pair, q) <= rounding(8192, 1.0));
  CHECK(q.cwiseAbs().maxCoeff() <
        by_solver(1e-12));  // the wall stops the first, so the second goes all the way
}

TEST_CASE("overlap: curved gaps take Newton steps along the normal", "[variational][oracle]") {
  OverlapProjection<InsideTwice> overlap;
  overlap.prepare({});
  VectorX<double> q = numbers<double>({0.9, -1.2});
  const auto report = overlap.project_out({}, 0, 1e-12, q);
  CHECK(report.converged());
  CHECK(report.iterations > 1);
  // Newton stops where the gaps are closed to 1e-12; the point on the curve may be further off.
  CHECK((q - numbers<double>({0.6, -0.8})).norm() < by_solver(1e-9));
}

TEST_CASE("overlap: constraints are obeyed", "[variational][law]") {
  OverlapProjection<RodWithStop> overlap;
  overlap.prepare({});
  VectorX<double> q = numbers<double>({0.31, -std::sqrt(1 - 0.31 * 0.31)});
  CHECK(overlap.project_out({}, 0, 1e-12, q).converged());
  CHECK(std::abs(q(0) - 0.3) <= rounding(8192, 1.0));
  // What the curvature of the constraint leaves.
  CHECK(std::abs(q.norm() - 1) < by_step(1e-3));
}

TEST_CASE("overlap: open gaps stay as they are, a gap that is not a number is reported",
          "[variational][edge]") {
  OverlapProjection<MassesOnLine> overlap;
  const MassesOnLine pair{{1, 3}, true};
  overlap.prepare(pair);
  VectorX<double> q = numbers<double>({1, 2});
  CHECK(overlap.project_out(pair, 0, 1e-12, q).iterations == 0);
  CHECK(q(0) == 1);
  q(0) = std::nan("");
  CHECK(overlap.project_out(pair, 0, 1e-12, q).status == SolveStatus::not_finite);
  OverlapProjection<MassesOnLine> weightless;
  const MassesOnLine none{{0, 1}, true};
  weightless.prepare(none);
  q = numbers<double>({2, 1});
  CHECK(weightless.project_out(none, 0, 1e-12, q).status == SolveStatus::no_progress);
}

namespace {

/// A gap that never opens: it touches at zero, where its slope vanishes.
struct Tangent : carom::testing::OnLine {
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = -q(0) * q(0);
  }
};

}  // namespace

TEST_CASE("overlap: a double root halves the distance per iteration, until the limit",
          "[variational][edge]") {
  OverlapProjection<Tangent> overlap;
  overlap.prepare({});
  VectorX<double> q = numbers<double>({1});
  const auto report = overlap.project_out({}, 0, 1e-300, q);
  CHECK(report.status == SolveStatus::iteration_limit);
  CHECK(report.iterations == OverlapProjection<Tangent>::iteration_limit);
  CHECK(q(0) == std::ldexp(1.0, -report.iterations));
  CHECK(report.residual == q(0) * q(0));
}

}  // namespace overlap_test
