// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/detail/certificate_rounding.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "carom/solvers/contact_certificate.hpp"

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

#include "io/text_problem.hpp"

namespace certificate_rounding_test {

using carom::certify, carom::ContactProblem, carom::Index, carom::MatrixX, carom::VectorX;
using carom::testing::assemble, carom::testing::build, carom::testing::convert_vector;
using carom::testing::DenseProblem, carom::testing::draw_problem, carom::testing::multiply;
using carom::testing::multiply_transposed, carom::testing::RawProblem, carom::testing::read_back;
using carom::testing::VectorSource, carom::testing::WorstCase;

using Long = long double;
using LongVector = VectorX<Long>;

namespace {

/// ½‖A(v − v*) − Jᵀγ‖²_{A⁻¹} + Σ ½‖γ − P‖²_R + (γ − P)ᵀR(P − y), the gap without cancellation.
Long gap_of(const DenseProblem<Long>& dense, const LongVector& v, const LongVector& gamma) {
  const LongVector miss = multiply<Long>(dense.momentum, v - dense.free_velocity) -
                          multiply_transposed(dense.jacobian, gamma);
  const LongVector nearest = dense.impulse(v), change = gamma - nearest;
  return std::pow(dense.momentum_norm(miss), 2) / 2 + change.dot(dense.weigh(change)) / 2 +
         change.dot(dense.weigh(nearest - dense.trial(v)));
}

/// What rounding one number in each step can do to ‖∇ℓ‖, by the sizes of the numbers: nothing in
/// it cancels.
Long noise_of(const DenseProblem<Long>& dense, const LongVector& v) {
  const MatrixX<Long> jacobian = dense.jacobian.cwiseAbs(), momentum = dense.momentum.cwiseAbs();
  LongVector pull = multiply<Long>(jacobian, v.cwiseAbs()) + dense.bias.cwiseAbs();
  pull = pull.cwiseQuotient(dense.weights) + dense.impulse(v).cwiseAbs();
  const LongVector sizes = multiply<Long>(momentum, (v - dense.free_velocity).cwiseAbs()) +
                           multiply_transposed(jacobian, pull);
  return std::sqrt(sizes.dot(multiply(MatrixX<Long>(dense.inverse_momentum.cwiseAbs()), sizes)));
}

/// ‖r − P(r − u)‖ relative to the scale, by its definition.
Long natural_map_of(const DenseProblem<Long>& dense, const LongVector& gamma) {
  MatrixX<Long> w = dense.delassus();
  for (Index i = 0; i < w.rows(); ++i) w(i, i) += dense.weights(i);
  const LongVector q = dense.load(), u = multiply(w, gamma) + q;
  const Long mean = w.trace() / Long(w.rows());
  DenseProblem<Long> plain = dense;
  plain.weights.setOnes();
  const LongVector miss = gamma - plain.project(gamma - u / mean);
  const Long scale = std::max({q.norm(), gamma.norm() * mean, u.norm()});
  return scale > 0 ? miss.norm() * mean / scale : miss.norm() * mean;
}

/// The exact answer but for roundings of long double: Newton's steps on the dense formulas, halved
/// until the cost falls. The Hessians may be rounded; they only point the way.
template <typename Scalar>
LongVector settle(const ContactProblem<Scalar>& problem, const DenseProblem<Long>& dense,
                  LongVector v) {
  MatrixX<Scalar> hessian;
  Long size = dense.momentum_norm(dense.gradient(v));
  for (int k = 0; k < 60; ++k) {
    write_hessian(problem, convert_vector<Scalar>(v), hessian);
    const MatrixX<Long> wide = hessian.template cast<Long>();
    const LongVector step = multiply(carom::testing::invert(wide), dense.gradient(v));
    Long share = 1;
    const Long cost = dense.cost(v);
    for (int halved = 0; halved < 30 && !(dense.cost(v - share * step) <= cost); ++halved) {
      share /= 2;
    }
    const LongVector next = v - share * step;
    const Long next_size = dense.momentum_norm(dense.gradient(next));
    if (k > 8 && !(next_size < size)) break;
    v = next;
    size = next_size;
  }
  return v;
}

struct Laws {
  WorstCase gradient{"|grad l|_{A^-1} <= bound"}, distance{"|v - v_opt|_A <= bound"};
  WorstCase gap{"duality gap"}, map{"natural map error"};
  WorstCase tight{"bound <= 1.5 |grad l|, far above rounding"};

  /// Judges an answer, of which the exact measures are known.
  template <typename Scalar>
  void see(const ContactProblem<Scalar>& problem, const DenseProblem<Long>& dense,
           const VectorX<Scalar>& velocity, const VectorX<Scalar>& impulse) {
    const LongVector v = convert_vector<Long>(velocity), gamma = convert_vector<Long>(impulse);
    const auto c = certify(problem, velocity, impulse);
    const Long exact = dense.momentum_norm(dense.gradient(v));
    gradient.see(exact, c.velocity_error_bound, velocity);
    const Long slack = std::numeric_limits<Long>::min();
    const Long gap_exact = gap_of(dense, v, gamma);
    gap.see_holds(gap_exact <= c.duality_gap, c.duality_gap, double(gap_exact));
    map.see(natural_map_of(dense, gamma), c.natural_map_error + slack, impulse);
    const Long noise = noise_of(dense, v) * Long(carom::testing::rounding(1, Scalar(1)));
    if (exact > 1000 * noise) tight.see(c.velocity_error_bound, 1.5L * exact, noise);
  }
  template <typename Scalar>
  void see_distance(const ContactProblem<Scalar>& problem, const DenseProblem<Long>& dense,
                    const VectorX<Scalar>& velocity, const LongVector& exact) {
    const Long own = dense.momentum_norm(dense.gradient(exact));  // how far that is off, at most
    const LongVector miss = convert_vector<Long>(velocity) - exact;
    const auto c = certify(problem, velocity);
    distance.see(dense.energy_norm(miss), c.velocity_error_bound + own, velocity);
  }
  void check(long least) const {
    for (const WorstCase* law : {&gradient, &gap, &map}) law->check(least);
    tight.check(least / 10);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("certificate_rounding: the bounds hold to the last bit, at any magnitudes",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(4010u);
  Laws laws;
  const int count = carom::testing::sweep(40, 2500);
  for (int sample = 0; sample < count; ++sample) {
    carom::testing::RawShape shape{.sizes = {6, 1 + int(source.unit() * 7)}};
    shape.contact_count = 1 + int(source.unit() * 4);
    shape.mass_decades = source.pick({1, 4, 8});
    shape.stiffness_decades = source.pick({1, 4, 8});
    const RawProblem raw = draw_problem(source, shape);
    const auto problem = build<Scalar>(raw);
    const auto dense = assemble<Long>(read_back(problem));
    VectorX<Scalar> velocity = convert_vector<Scalar>(carom::testing::draw_velocity(source, raw));
    VectorX<Scalar> impulse;
    write_impulse(problem, velocity, impulse);
    laws.see(problem, dense, velocity, impulse);
    VectorX<Scalar> other =
        carom::testing::draw_matrix(source, impulse.size(), 1).template cast<Scalar>();
    laws.see(problem, dense, velocity, other);
    const LongVector exact = settle(problem, dense, convert_vector<Long>(velocity));
    velocity = convert_vector<Scalar>(exact);
    write_impulse(problem, velocity, impulse);
    laws.see(problem, dense, velocity, impulse);
    other = impulse + Scalar(source.pick({1e-6, 1e-3})) * other;
    laws.see(problem, dense, velocity, other);
    laws.see_distance(problem, dense, velocity, exact);
  }
  laws.check(4 * count);
  laws.distance.check(count / 2);
}

TEST_CASE("certificate_rounding: the bounds hold on the bundled problems, solved to rounding",
          "[solvers][oracle]") {
  Laws laws;
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CAROM_SOURCE_DIR "/examples/data")) {
    if (entry.path().extension() != ".txt") continue;
    const auto given = carom::files::read_text_problem(entry.path().string());
    VectorX<double> velocity = given.guess;
    if (velocity.size() > 100) continue;
    CAPTURE(entry.path().string());
    const auto dense = assemble<Long>(read_back(given.problem));
    const LongVector exact = settle(given.problem, dense, convert_vector<Long>(velocity));
    velocity = convert_vector<double>(exact);
    VectorX<double> impulse;
    write_impulse(given.problem, velocity, impulse);
    laws.see(given.problem, dense, velocity, impulse);
    laws.see_distance(given.problem, dense, velocity, exact);
    ++seen;
  }
  laws.check(seen);
  laws.distance.check(seen);
  CHECK(seen >= 4);
}

TEMPLATE_TEST_CASE("certificate_rounding: the bound holds where A (v - v*) nearly cancels",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(4011u);
  WorstCase holds("|v - v*|_A <= bound");
  const int count = carom::testing::sweep(100, 1000);
  for (int sample = 0; sample < count; ++sample) {
    const Eigen::MatrixXd spread = carom::testing::draw_matrix(source, 6, 6);
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(6, 6);
    for (Index k = 0; k < 6; ++k) {
      matrix += std::pow(10.0, -0.6 * double(k)) * spread.col(k) * spread.col(k).transpose();
    }
    const MatrixX<Scalar> given = matrix.cast<Scalar>();
    ContactProblem<Scalar> problem(Scalar(0.01));
    if (!problem.check_body(given, VectorX<Scalar>(VectorX<Scalar>::Zero(6))).empty()) continue;
    problem.add_body(given, VectorX<Scalar>(VectorX<Scalar>::Zero(6)));
    const MatrixX<Long> kept = MatrixX<Scalar>(problem.momentum_matrix(0)).template cast<Long>();
    const LongVector push = carom::testing::draw_matrix(source, 6, 1).cast<Long>();
    // Mostly along the directions in which A is least.
    const VectorX<Scalar> v = convert_vector<Scalar>(multiply(carom::testing::invert(kept), push));
    const LongVector wide = convert_vector<Long>(v);
    const Long exact = std::sqrt(wide.dot(multiply(kept, wide)));
    holds.see(exact, certify(problem, v, VectorX<Scalar>(0)).velocity_error_bound, v);
  }
  holds.check(count / 2);
}

TEST_CASE("certificate_rounding: a body that is singular but for rounding has an infinite bound",
          "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  Eigen::Matrix2d matrix;
  matrix << 1, 1, 1, 1 + std::numeric_limits<double>::epsilon();
  problem.add_body(matrix, Eigen::Vector2d(1, 2));
  const auto c = certify(problem, Eigen::VectorXd(Eigen::Vector2d(1, 1)), Eigen::VectorXd(0));
  CHECK(c.velocity_error_bound == std::numeric_limits<double>::infinity());
  CHECK(c.residual < 2);
}

}  // namespace certificate_rounding_test
