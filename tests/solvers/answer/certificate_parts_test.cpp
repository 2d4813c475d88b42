// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/answer/certificate_parts.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include <Eigen/Cholesky>

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/wide_float.hpp"
#include "support/worst_case.hpp"

#include "io/text_problem.hpp"

namespace certificate_parts_test {

using carom::certify, carom::ContactProblem, carom::Index, carom::MatrixX, carom::VectorX;
using carom::testing::assemble, carom::testing::build, carom::testing::by_digits;
using carom::testing::convert_vector;
using carom::testing::DenseProblem, carom::testing::draw_problem, carom::testing::inner;
using carom::testing::multiply, carom::testing::multiply_transposed, carom::testing::RawProblem;
using carom::testing::read_back, carom::testing::see_wide, carom::testing::VectorSource;
using carom::testing::Wide, carom::testing::WideVector, carom::testing::WorstCase;

using Long = long double;
using LongVector = VectorX<Long>;

namespace {

/// The measures of answers to a problem in fifty digits, by their definitions.
class Oracle {
 public:
  template <typename Scalar>
  explicit Oracle(const ContactProblem<Scalar>& problem)
      : dense_(assemble<Wide>(read_back(problem))),
        rough_(assemble<Long>(read_back(problem))),
        plain_(dense_),
        matrix_(dense_.delassus()),
        load_(dense_.load()) {
    Wide trace = 0;
    for (Index i = 0; i < matrix_.rows(); ++i) trace += matrix_(i, i) += dense_.weights(i);
    mean_ = trace / double(matrix_.rows());
    plain_.weights.setOnes();
  }

  [[nodiscard]] const DenseProblem<Wide>& dense() const { return dense_; }
  [[nodiscard]] const DenseProblem<Long>& rough() const { return rough_; }

  /// ‖∇ℓ(v)‖_{A⁻¹}.
  [[nodiscard]] Wide slope(const WideVector& v) const {
    return dense_.momentum_norm(dense_.gradient(v));
  }
  /// ½‖A(v − v*) − Jᵀγ‖²_{A⁻¹} + Σ ½‖γ − P‖²_R + (γ − P)ᵀR(P − y), the gap without cancellation.
  [[nodiscard]] Wide gap(const WideVector& v, const WideVector& gamma) const {
    const WideVector miss = multiply<Wide>(dense_.momentum, v - dense_.free_velocity) -
                            multiply_transposed(dense_.jacobian, gamma);
    const WideVector y = dense_.trial(v), nearest = dense_.project(y), change = gamma - nearest;
    return inner(miss, multiply(dense_.inverse_momentum, miss)) / 2 +
           inner(change, dense_.weigh(change)) / 2 +
           inner(change, dense_.weigh(WideVector(nearest - y)));
  }
  /// ‖r − P(r − u)‖ relative to the scale.
  [[nodiscard]] Wide natural_map(const WideVector& gamma) const {
    const WideVector u = multiply(matrix_, gamma) + load_, pull = u / mean_;
    const WideVector miss = gamma - plain_.project(WideVector(gamma - pull));
    const auto norm = [](const WideVector& x) { return Wide(sqrt(inner(x, x))); };
    const Wide scale = std::max({norm(load_), Wide(norm(gamma) * mean_), norm(u)});
    return scale > 0 ? Wide(norm(miss) * mean_ / scale) : Wide(norm(miss) * mean_);
  }
  /// What rounding one number in each step can do to ‖∇ℓ‖, by the sizes of the numbers, which do
  /// not cancel, and by how the impulses follow each entry of the trial point.
  /// @param unit  the rounding of a number of one.
  [[nodiscard]] Long noise(const LongVector& v, Long unit) const {
    const LongVector pull = speeds(v).cwiseQuotient(rough_.weights);
    const LongVector y = rough_.trial(v), nearest = rough_.project(y);
    LongVector doubt = nearest.cwiseAbs();
    for (Index row = 0; row < y.size(); ++row) {
      LongVector change = LongVector::Zero(y.size());
      for (const Long step : {-20 * unit, 20 * unit}) {  // a kink may be some roundings away
        LongVector moved = y;
        moved(row) += step * pull(row);
        moved = (rough_.project(moved) - nearest).cwiseAbs();
        change = change.cwiseMax(moved / std::abs(step));
      }
      doubt += change;
    }
    const LongVector sizes = multiply<Long>(MatrixX<Long>(rough_.momentum.cwiseAbs()),
                                            (v - rough_.free_velocity).cwiseAbs()) +
                             multiply_transposed(MatrixX<Long>(rough_.jacobian.cwiseAbs()), doubt);
    const MatrixX<Long> inverse = rough_.inverse_momentum.cwiseAbs();
    return unit * std::sqrt(sizes.dot(multiply(inverse, sizes)));
  }
  /// |γ|ᵀ(|J| |v| + |v̂|), the work of the impulses without cancellation.
  [[nodiscard]] Long work(const LongVector& v, const LongVector& gamma) const {
    return gamma.cwiseAbs().dot(speeds(v));
  }

 private:
  [[nodiscard]] LongVector speeds(const LongVector& v) const {
    return multiply<Long>(rough_.jacobian.cwiseAbs(), v.cwiseAbs()) + rough_.bias.cwiseAbs();
  }

  DenseProblem<Wide> dense_;
  DenseProblem<Long> rough_;
  DenseProblem<Wide> plain_;  ///< with R = 1
  MatrixX<Wide> matrix_;      ///< W + R
  WideVector load_;
  Wide mean_;
};

/// The exact answer: Newton's steps on the dense formulas, halved until the cost falls, in long
/// double, and then with gradients of fifty digits. The Hessians may be rounded; they only point
/// the way.
template <typename Scalar>
WideVector settle(const ContactProblem<Scalar>& problem, const Oracle& oracle, LongVector v) {
  const DenseProblem<Long>& rough = oracle.rough();
  MatrixX<Scalar> hessian;
  MatrixX<Long> inverse;
  Long size = rough.momentum_norm(rough.gradient(v));
  for (int k = 0; k < 60; ++k) {
    write_hessian(problem, convert_vector<Scalar>(v), hessian);
    inverse = carom::testing::invert(MatrixX<Long>(hessian.template cast<Long>()));
    const LongVector step = multiply(inverse, rough.gradient(v));
    Long share = 1;
    const Long cost = rough.cost(v);
    for (int halved = 0; halved < 30 && !(rough.cost(v - share * step) <= cost); ++halved) {
      share /= 2;
    }
    const LongVector next = v - share * step;
    const Long next_size = rough.momentum_norm(rough.gradient(next));
    if (k > 8 && !(next_size < size)) break;
    v = next;
    size = next_size;
  }
  WideVector best = convert_vector<Wide>(v);
  WideVector slope = oracle.dense().gradient(best);
  Wide left = oracle.dense().momentum_norm(slope);
  for (int k = 0; k < 24; ++k) {
    const LongVector step = multiply(inverse, convert_vector<Long>(slope));
    const WideVector next = best - convert_vector<Wide>(step);
    slope = oracle.dense().gradient(next);
    const Wide next_left = oracle.dense().momentum_norm(slope);
    if (!(next_left < left)) break;
    best = next;
    left = next_left;
  }
  return best;
}

struct Laws {
  WorstCase gradient{"|grad l|_{A^-1} <= bound"}, distance{"|v - v_opt|_A <= bound"};
  WorstCase gap{"duality gap"}, map{"natural map error"};
  WorstCase tight{"bound <= 1.5 |grad l|, far above rounding"};

  /// Judges an answer, of which the exact measures are known.
  template <typename Scalar>
  void see(const ContactProblem<Scalar>& problem, const Oracle& oracle,
           const VectorX<Scalar>& velocity, const VectorX<Scalar>& impulse) {
    const WideVector v = convert_vector<Wide>(velocity), gamma = convert_vector<Wide>(impulse);
    const auto c = certify(problem, velocity, impulse);
    const Wide exact = oracle.slope(v);
    see_wide(gradient, exact, c.velocity_error_bound, velocity);
    see_wide(gap, oracle.gap(v, gamma), c.duality_gap, velocity, impulse);
    see_wide(map, oracle.natural_map(gamma), c.natural_map_error, impulse);
    const Long unit = carom::testing::rounding(1, Scalar(1));
    const Long noise = oracle.noise(convert_vector<Long>(velocity), unit);
    if (exact > 1000 * noise) tight.see(c.velocity_error_bound, 1.5L * Long(exact), noise);
  }
  template <typename Scalar>
  void see_distance(const ContactProblem<Scalar>& problem, const Oracle& oracle,
                    const VectorX<Scalar>& velocity, const WideVector& exact) {
    const Wide own = oracle.slope(exact);  // how far that is off, at most
    const WideVector miss = convert_vector<Wide>(velocity) - exact;
    const auto c = certify(problem, velocity);
    see_wide(distance, oracle.dense().energy_norm(miss), c.velocity_error_bound + own, velocity);
    settled += own <= by_digits(Wide(1e-25)) * (1 + oracle.dense().energy_norm(exact)) ? 1 : 0;
  }
  void check(long least) const {
    for (const WorstCase* law : {&gradient, &gap, &map}) law->check(least);
    tight.check(least / 10);
    CHECK(settled >= 8 * distance.count() / 10);  // a Hessian in float may lead nowhere
  }
  long settled = 0;  ///< answers that are exact to 25 digits
};

}  // namespace

TEMPLATE_TEST_CASE("certificate_parts: the bounds hold to the last bit, at any magnitudes",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(4010u);
  Laws laws;
  const int count = carom::testing::sweep(40, 5000);
  for (int sample = 0; sample < count; ++sample) {
    carom::testing::RawShape shape{.sizes = {6, 1 + int(source.unit() * 7)}};
    shape.contact_count = 1 + int(source.unit() * 4);
    shape.mass_decades = source.pick({1, 4, 8});
    shape.stiffness_decades = source.pick({1, 4, 8});
    const RawProblem raw = draw_problem(source, shape);
    const auto problem = build<Scalar>(raw);
    const Oracle oracle(problem);
    VectorX<Scalar> velocity = convert_vector<Scalar>(carom::testing::draw_velocity(source, raw));
    VectorX<Scalar> impulse;
    write_impulse(problem, velocity, impulse);
    laws.see(problem, oracle, velocity, impulse);
    VectorX<Scalar> other =
        carom::testing::draw_matrix(source, impulse.size(), 1).template cast<Scalar>();
    laws.see(problem, oracle, velocity, other);
    const WideVector exact = settle(problem, oracle, convert_vector<Long>(velocity));
    velocity = convert_vector<Scalar>(exact);
    write_impulse(problem, velocity, impulse);
    laws.see(problem, oracle, velocity, impulse);
    other = impulse + Scalar(source.pick({1e-6, 1e-3})) * other;
    laws.see(problem, oracle, velocity, other);
    laws.see_distance(problem, oracle, velocity, exact);
  }
  laws.check(4 * count);
  laws.distance.check(count / 2);
}

TEST_CASE("certificate_parts: the bounds hold on the bundled problems, solved to rounding",
          "[solvers][oracle]") {
  Laws laws;
  WorstCase close("bound, beyond |grad l|"), small("gap, beyond the exact one");
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CAROM_SOURCE_DIR "/examples/data")) {
    if (entry.path().extension() != ".txt") continue;
    const auto given = carom::files::read_text_problem(entry.path().string());
    if (given.guess.size() > 100) continue;
    CAPTURE(entry.path().string());
    const Oracle oracle(given.problem);
    VectorX<double> velocity = given.guess;
    carom::SapSolver<double> solver({.tolerance = 1e-13});
    CHECK(solver.solve(given.problem, velocity).converged());
    const WideVector exact = settle(given.problem, oracle, convert_vector<Long>(velocity));
    velocity = convert_vector<double>(exact);
    VectorX<double> impulse;
    write_impulse(given.problem, velocity, impulse);
    laws.see(given.problem, oracle, velocity, impulse);
    laws.see_distance(given.problem, oracle, velocity, exact);
    const auto c = certify(given.problem, velocity, impulse);
    const LongVector v = convert_vector<Long>(velocity), gamma = convert_vector<Long>(impulse);
    const Long unit = carom::testing::rounding(1, 1.0), noise = 100 * oracle.noise(v, unit);
    const Long slope = Long(oracle.slope(convert_vector<Wide>(velocity)));
    const Long gap =
        Long(oracle.gap(convert_vector<Wide>(velocity), convert_vector<Wide>(impulse)));
    close.see(c.velocity_error_bound, 1.01L * slope + noise);
    small.see(c.duality_gap, 1.01L * gap + noise * noise + 100 * unit * oracle.work(v, gamma));
    ++seen;
  }
  laws.check(seen);
  laws.distance.check(seen);
  close.check(seen);
  small.check(seen);
  CHECK(seen >= 4);
}

TEMPLATE_TEST_CASE("certificate_parts: the bound holds where A (v - v*) nearly cancels",
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
    // A soft contact that is closed, whose own rounding is small, pushes along the directions in
    // which A is least.
    const MatrixX<Scalar> jacobian = carom::testing::draw_matrix(source, 3, 6).cast<Scalar>();
    const MatrixX<Scalar> inverse = given.llt().solve(MatrixX<Scalar>::Identity(6, 6));
    const Scalar soft = 100 * (jacobian * inverse * jacobian.transpose()).trace();
    problem.add_contact(
        0, jacobian,
        carom::WeightedContact<Scalar>{2, {soft, soft}, carom::Vector3<Scalar>(0, 0, 1)});
    const Oracle oracle(problem);
    const VectorX<Scalar> v =
        convert_vector<Scalar>(settle(problem, oracle, LongVector(LongVector::Zero(6))));
    const Scalar bound = certify(problem, v).velocity_error_bound;
    // Where rounding has made A singular or worse, no bound is claimed.
    if (!(bound < std::numeric_limits<Scalar>::infinity())) continue;
    see_wide(holds, oracle.slope(convert_vector<Wide>(v)), bound, v);
  }
  holds.check(count / 2);
}

TEST_CASE("certificate_parts: a body that is singular but for rounding has an infinite bound",
          "[solvers][example]") {
  ContactProblem<double> problem(0.01);
  Eigen::Matrix2d matrix;
  matrix << 1, 1, 1, 1 + std::numeric_limits<double>::epsilon();
  problem.add_body(matrix, Eigen::Vector2d(1, 2));
  const auto c = certify(problem, Eigen::VectorXd(Eigen::Vector2d(1, 1)), Eigen::VectorXd(0));
  CHECK(c.velocity_error_bound == std::numeric_limits<double>::infinity());
  CHECK(c.residual < 2);
}

}  // namespace certificate_parts_test
