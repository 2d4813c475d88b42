// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/derivative/linearized_answer.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "carom/contact/detail/contact_graph.hpp"

#include "support/body_problems.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace linearized_answer_test {

using carom::ContactGraph, carom::ContactProblem, carom::DifferentialParts, carom::Index;
using carom::ProblemDifferential, carom::SolveReport, carom::SolveStatus, carom::VectorX;
using carom::detail::BlockData, carom::detail::LinearizedAnswer;
using carom::testing::build, carom::testing::by_differences, carom::testing::ConstrainedProblem;
using carom::testing::draw_body_problem, carom::testing::draw_matrix, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

template <typename Scalar>
using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename Scalar>
using Dense = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
using Long = long double;
using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;

/// A law whose answer is known: γ = C (v̂ − J v − R γ) + α μ + β ∘ l + δ ∘ h on every block, with R
/// where it is soft. C is not symmetric.
template <typename Number>
struct Dashpots {
  /// C of a block of some rows.
  [[nodiscard]] static Dense<Number> response(Index block, int rows) {
    Dense<Number> c(rows, rows);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) {
        c(i, j) = Number(i == j ? 1.0 : 0.3 * std::sin(double(block + 3 * i - 5 * j)));
      }
    }
    return c;
  }
  [[nodiscard]] static Number share(char of, Index row) {  // α, β and δ
    return Number(std::cos(double(row) + double(of)));
  }
};

/// The law as LinearizedAnswer asks for it, with dense matrices.
template <typename Scalar>
class ToyLaw {
 public:
  using scalar_type = Scalar;

  Index faulty = -1, on_boundary = 0;
  bool regular = true;

  void prepare(const ContactProblem<Scalar>& problem) {
    graph_.analyse(problem, 1e300);
    starts_.clear();
    Index next = 2;  // with room between, where nothing is read
    for (int slot = 0; slot < graph_.slot_count(); ++slot) {
      starts_.push_back(next);
      next += problem.body(graph_.body_at(slot)).size + 1;
    }
    given_.assign(std::size_t(next), Scalar(std::numeric_limits<Scalar>::quiet_NaN()));
    solution_ = given_;
  }
  template <typename Velocity>
  [[nodiscard]] Index linearize(const ContactProblem<Scalar>&, const Velocity&,
                                const VectorX<Scalar>& impulse) noexcept {
    impulse_ = impulse;
    return faulty;
  }
  [[nodiscard]] Index boundary_count() const noexcept { return on_boundary; }
  [[nodiscard]] bool factor(const ContactProblem<Scalar>& problem) noexcept {
    places_.clear();
    unknowns_.clear();
    const Index size = problem.velocity_count();
    std::vector<Index> place(std::size_t(size), -1);
    for (int slot = 0; slot < graph_.slot_count(); ++slot) {
      const auto [start, count] = problem.body(graph_.body_at(slot));
      for (Index k = 0; k < count; ++k) {
        place[std::size_t(start + k)] = Index(places_.size());
        places_.push_back(starts_[std::size_t(slot)] + k);
        unknowns_.push_back(start + k);
      }
    }
    Dense<Scalar> whole = Dense<Scalar>::Identity(size, size), momentum = whole;
    for (Index b = 0; b < problem.body_count(); ++b) {
      const auto [start, count] = problem.body(b);
      momentum.block(start, start, count, count) = problem.momentum_matrix(b);
    }
    const Dense<Scalar> factor = momentum.llt().matrixL();
    push_.setZero(problem.impulse_count());
    gradient_.setZero(problem.impulse_count());
    Dense<Scalar> curvature = Dense<Scalar>::Zero(size, size);
    problem.for_each_block_by_kind([&](const auto& view) {
      const Dense<Scalar> j = jacobian(view, size);
      curvature += j.transpose() * gain(view) * j;
    });
    const Dense<Scalar> left = factor.template triangularView<Eigen::Lower>().solve(curvature);
    const Dense<Scalar> both =
        factor.template triangularView<Eigen::Lower>().solve(left.transpose()).transpose();
    whole += both;
    Dense<Scalar> own(Index(places_.size()), Index(places_.size()));
    for (Index i = 0; i < own.rows(); ++i) {
      for (Index k = 0; k < own.rows(); ++k) {
        own(i, k) = whole(unknowns_[std::size_t(i)], unknowns_[std::size_t(k)]);
      }
    }
    if (own.rows() > 0) matrix_.compute(own), transposed_.compute(own.transpose());
    return regular;
  }

  template <typename View>
  [[nodiscard]] typename View::Rows impulse(const View& view) const noexcept {
    return view.read(impulse_);
  }
  template <typename View>
  [[nodiscard]] static bool is_soft(const View& view) noexcept {
    return !view.law().rigid;
  }
  template <typename View>
  void push(const View& view, const BlockData<typename View::Rows>& change,
            VectorX<Scalar>& momentum) noexcept {
    const int rows = view.rows();
    VectorX<Scalar> h = Dashpots<Scalar>::response(view.number(), rows) * change.excess.head(rows);
    for (int r = 0; r < rows; ++r) {
      const Index row = view.first_row() + r;
      h(r) += Dashpots<Scalar>::share('f', row) * change.friction +
              Dashpots<Scalar>::share('l', row) * change.lower(r) +
              Dashpots<Scalar>::share('u', row) * change.upper(r);
    }
    h = (softened(view) * h).eval();
    push_.segment(view.first_row(), rows) = h;
    momentum += jacobian(view, momentum.size()).transpose() * h;
  }
  template <typename View>
  [[nodiscard]] typename View::Rows impulse_change(const View& view,
                                                   const VectorX<Scalar>& moved) const noexcept {
    typename View::Rows result = View::Rows::Zero();
    const int rows = view.rows();
    result.head(rows) =
        push_.segment(view.first_row(), rows) - gain(view) * (jacobian(view, moved.size()) * moved);
    return result;
  }
  void clear_gradient() noexcept { gradient_.setZero(); }
  template <typename View, typename Momentum>
  void set_gradient(const View& view, const typename View::Rows& by_impulse,
                    Momentum& momentum) noexcept {
    const int rows = view.rows();
    const VectorX<Scalar> g = by_impulse.head(rows);
    gradient_.segment(view.first_row(), rows) = g;
    momentum -= jacobian(view, momentum.size()).transpose() * (gain(view).transpose() * g);
  }
  template <typename View, typename Lambda>
  [[nodiscard]] BlockData<typename View::Rows> pull(const View& view,
                                                    const Lambda& lambda) const noexcept {
    BlockData<typename View::Rows> data;
    const int rows = view.rows();
    const VectorX<Scalar> pressed =
        jacobian(view, lambda.size()) * lambda + gradient_.segment(view.first_row(), rows);
    const VectorX<Scalar> s = softened(view).transpose() * pressed;
    data.excess.head(rows) = Dashpots<Scalar>::response(view.number(), rows).transpose() * s;
    for (int r = 0; r < rows; ++r) {
      const Index row = view.first_row() + r;
      data.friction += Dashpots<Scalar>::share('f', row) * s(r);
      data.lower(r) = Dashpots<Scalar>::share('l', row) * s(r);
      data.upper(r) = Dashpots<Scalar>::share('u', row) * s(r);
    }
    return data;
  }

  [[nodiscard]] const ContactGraph& graph() const noexcept { return graph_; }
  [[nodiscard]] const Index* starts() const noexcept { return starts_.data(); }
  [[nodiscard]] Scalar* given() noexcept { return given_.data(); }
  [[nodiscard]] const Scalar* solution() const noexcept { return solution_.data(); }
  template <bool Transposed>
  SolveReport<Scalar> solve() noexcept {
    VectorX<Scalar> x(Index(places_.size()));
    for (Index k = 0; k < x.size(); ++k) {
      x(k) = given_[std::size_t(places_[std::size_t(k)])];
    }
    if (x.size() > 0) x = (Transposed ? transposed_ : matrix_).solve(x).eval();
    for (Index k = 0; k < x.size(); ++k) {
      solution_[std::size_t(places_[std::size_t(k)])] = x(k);
    }
    SolveReport<Scalar> report;
    report.status = SolveStatus::converged;
    report.iterations = Transposed ? 2 : 1;
    return report;
  }

 private:
  template <typename View>
  [[nodiscard]] static Dense<Scalar> jacobian(const View& view, Index size) {
    Dense<Scalar> j = Dense<Scalar>::Zero(view.rows(), size);
    for (int s = 0; s < view.side_count(); ++s) {
      const auto [start, count] = view.side(s).range;
      j.middleCols(start, count) =
          Eigen::Map<const RowMajor<Scalar>>(view.side(s).jacobian, view.rows(), count);
    }
    return j;
  }
  /// (I + C R)⁻¹
  template <typename View>
  [[nodiscard]] static Dense<Scalar> softened(const View& view) {
    Dense<Scalar> matrix = Dense<Scalar>::Identity(view.rows(), view.rows());
    if (is_soft(view)) {
      const VectorX<Scalar> r = view.regularization().head(view.rows());
      matrix += Dashpots<Scalar>::response(view.number(), view.rows()) * r.asDiagonal();
    }
    return matrix.inverse();
  }
  template <typename View>
  [[nodiscard]] static Dense<Scalar> gain(const View& view) {
    return softened(view) * Dashpots<Scalar>::response(view.number(), view.rows());
  }

  ContactGraph graph_;
  std::vector<Index> starts_, places_, unknowns_;
  std::vector<Scalar> given_, solution_;
  VectorX<Scalar> impulse_, push_, gradient_;
  Eigen::PartialPivLU<Dense<Scalar>> matrix_, transposed_;
};

namespace {

struct Answer {
  LongVector velocity, impulse;
};
/// The answer of the law with all data moved along a change, as dense equations in long double.
template <typename Scalar>
[[nodiscard]] Answer answer_of(const ContactProblem<Scalar>& problem,
                               const ProblemDifferential<Scalar>& change, Long h) {
  const Index n = problem.velocity_count(), m = problem.impulse_count();
  Dense<Long> a = Dense<Long>::Zero(n, n), j = Dense<Long>::Zero(m, n), c = Dense<Long>::Zero(m, m);
  LongVector free = problem.free_velocity().template cast<Long>(), bias(m), more(m), r(m);
  free += h * change.free_velocity.template cast<Long>();
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    Dense<Long> own = problem.momentum_matrix(b).template cast<Long>();
    if (change.has_matrices()) {
      const Dense<Long> slope = change.momentum(b).template cast<Long>();
      own += h / 2 * (slope + slope.transpose());
    }
    a.block(start, start, size, size) = own;
  }
  for (Index i = 0; i < problem.block_count(); ++i) {
    const Index first = problem.first_row(i);
    const int rows = problem.rows(i);
    const auto law = problem.law(i);
    for (int s = 0; s < problem.side_count(i); ++s) {
      const auto [start, size] = problem.body(problem.side_body(i, s));
      Dense<Long> own = problem.jacobian(i, s).template cast<Long>();
      if (change.has_matrices()) own += h * change.jacobian(i, s).template cast<Long>();
      j.block(first, start, rows, size) = own;
    }
    c.block(first, first, rows, rows) = Dashpots<Scalar>::response(i, rows).template cast<Long>();
    for (int k = 0; k < rows; ++k) {
      const Index row = first + k;
      bias(row) = Long(law.bias_velocity(k)) + h * change.bias_velocity(row);
      r(row) = law.rigid ? 0 : Long(law.regularization(k)) + h * change.regularization(row);
      more(row) = h * (Long(Dashpots<Scalar>::share('f', row)) * change.friction(i) +
                       Long(Dashpots<Scalar>::share('l', row)) * change.lower(row) +
                       Long(Dashpots<Scalar>::share('u', row)) * change.upper(row));
    }
  }
  // A (v − v*) = Jᵀγ and (I + C R) γ + C J v = C v̂ + …, in one matrix.
  Dense<Long> matrix = Dense<Long>::Zero(n + m, n + m);
  matrix.topLeftCorner(n, n) = a;
  matrix.topRightCorner(n, m) = -j.transpose();
  matrix.bottomLeftCorner(m, n) = c * j;
  matrix.bottomRightCorner(m, m) = c * r.asDiagonal();
  matrix.bottomRightCorner(m, m).diagonal().array() += 1;
  LongVector right(n + m);
  right << LongVector(a * free), LongVector(c * bias + more);
  const LongVector x = matrix.partialPivLu().solve(right);
  return {x.head(n), x.tail(m)};
}

/// A problem with its answer, linearised.
template <typename Scalar>
struct Case {
  ContactProblem<Scalar> problem;
  VectorX<Scalar> velocity, impulse;
  LinearizedAnswer<ToyLaw<Scalar>> answer;

  explicit Case(const ConstrainedProblem& raw) : problem(build<Scalar>(raw)) {
    ProblemDifferential<Scalar> none;
    none.set_zero(problem);
    const Answer here = answer_of(problem, none, 0);
    velocity = here.velocity.template cast<Scalar>();
    impulse = here.impulse.template cast<Scalar>();
    answer.prepare(problem);
    REQUIRE(answer.linearize(problem, velocity, impulse).usable());
  }
  [[nodiscard]] VectorX<Scalar> draw(VectorSource<double>& source, Index size) const {
    return draw_matrix(source, size, 1).template cast<Scalar>();
  }
  /// A change of all data, or of one kind of them.
  [[nodiscard]] ProblemDifferential<Scalar> draw_change(
      VectorSource<double>& source, int kind = -1,
      DifferentialParts parts = DifferentialParts::all) const {
    ProblemDifferential<Scalar> change;
    change.set_zero(problem, parts);
    const auto wanted = [&](int own) { return kind < 0 || kind == own; };
    const auto fill = [&](auto& numbers, int own) {
      for (Index k = 0; k < numbers.size() && wanted(own); ++k) {
        numbers(k) = Scalar(2 * source.unit() - 1);
      }
    };
    fill(change.free_velocity, 0), fill(change.friction, 1), fill(change.bias_velocity, 2);
    fill(change.regularization, 3), fill(change.lower, 4), fill(change.upper, 5);
    if (parts == DifferentialParts::vectors) return change;
    for (Index b = 0; b < problem.body_count() && wanted(6); ++b) {
      auto own = change.momentum(b);
      const Scalar size = problem.momentum_matrix(b).norm() / Scalar(4 * own.rows());
      for (Index k = 0; k < own.size(); ++k) own(k) = size * Scalar(2 * source.unit() - 1);
    }
    for (Index i = 0; i < problem.block_count() && wanted(7); ++i) {
      for (int s = 0; s < problem.side_count(i); ++s) {
        auto own = change.jacobian(i, s);
        for (Index r = 0; r < own.rows(); ++r) {
          for (Index k = 0; k < own.cols(); ++k) own(r, k) = Scalar(2 * source.unit() - 1);
        }
      }
    }
    return change;
  }
};

/// Problems of no block, of one, and of many on one island and on several, with bodies that
/// nothing touches.
[[nodiscard]] std::vector<ConstrainedProblem> some_problems() {
  VectorSource<double> source(1);
  std::vector<ConstrainedProblem> problems(1);
  problems.push_back(draw_body_problem(source, {6, 6, 3}));
  problems.back().constraints.clear();
  problems.back().contacts.contacts.clear();
  problems.push_back(draw_body_problem(source, {3, 6, 6}));
  problems.back().constraints.clear();
  problems.back().contacts.contacts.resize(1);
  problems.push_back(draw_body_problem(source, {6, 6, 3, 6}));
  problems.push_back(draw_body_problem(source, {1, 2, 3, 6, 7}));
  return problems;
}

}  // namespace

TEMPLATE_TEST_CASE("linearized_answer: each kind of data moves the answer as differences say",
                   "[solvers][derivative]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(2);
  WorstCase velocities("dv"), impulses("dγ"), soft("a rigid block does not feel its R");
  for (const ConstrainedProblem& raw : some_problems()) {
    Case<Scalar> one(raw);
    for (int kind = -1; kind < 8; ++kind) {
      const auto change = one.draw_change(source, kind);
      VectorX<Scalar> dv, dgamma;
      const auto report = one.answer.push_forward(one.problem, change, dv, &dgamma);
      CHECK(report.converged());
      CHECK(report.iterations == 1);
      CHECK(report.error_bound == std::numeric_limits<Scalar>::infinity());
      const Long h = 1e-4L;
      const Answer near_by[] = {
          answer_of(one.problem, change, h), answer_of(one.problem, change, -h),
          answer_of(one.problem, change, 2 * h), answer_of(one.problem, change, -2 * h)};
      const auto rate = [&](auto member) {
        const LongVector inner = near_by[0].*member - near_by[1].*member;
        const LongVector outer = near_by[2].*member - near_by[3].*member;
        return LongVector((8 * inner - outer) / (12 * h));
      };
      const LongVector v = rate(&Answer::velocity), gamma = rate(&Answer::impulse);
      const Long size = 1 + v.norm() + gamma.norm() + one.velocity.norm() + one.impulse.norm();
      const Long allowed = (rounding<Scalar>(30000, 1) + Scalar(by_differences(1e-11))) * size;
      velocities.see((dv.template cast<Long>() - v).norm(), allowed, kind);
      impulses.see((dgamma.template cast<Long>() - gamma).norm(), allowed, kind);
      VectorX<Scalar> same;
      static_cast<void>(one.answer.push_forward(one.problem, change, same, nullptr));
      velocities.see_holds(same == dv);
      if (kind != 3) continue;
      auto rigid_only = change;
      for (Index i = 0; i < one.problem.block_count(); ++i) {
        if (one.problem.is_rigid(i)) continue;
        rigid_only.regularization.segment(one.problem.first_row(i), one.problem.rows(i)).setZero();
      }
      static_cast<void>(one.answer.push_forward(one.problem, rigid_only, dv, &dgamma));
      soft.see_holds(dv.isZero(0) && dgamma.isZero(0));
    }
  }
  velocities.check(80);
  impulses.check(40);
  soft.check(4);
}

TEMPLATE_TEST_CASE("linearized_answer: gradients are the transposed products", "[solvers][law]",
                   float, double) {
  using Scalar = TestType;
  VectorSource<double> source(3);
  WorstCase identity("⟨g, J w⟩ = ⟨Jᵀg, w⟩"), without("without dc/dγ"), symmetric("of A");
  for (const ConstrainedProblem& raw : some_problems()) {
    Case<Scalar> one(raw);
    for (const auto parts : {DifferentialParts::all, DifferentialParts::vectors}) {
      for (int kind = -1; kind < 8; ++kind) {
        const auto change = one.draw_change(source, kind, parts);
        const VectorX<Scalar> u = one.draw(source, one.problem.velocity_count()),
                              g = one.draw(source, one.problem.impulse_count());
        VectorX<Scalar> dv, dgamma;
        static_cast<void>(one.answer.push_forward(one.problem, change, dv, &dgamma));
        ProblemDifferential<Scalar> gradient;
        gradient.set_zero(one.problem, parts);
        const auto report = one.answer.pull_back(one.problem, u, &g, gradient);
        CHECK(report.converged());
        CHECK(report.iterations == 2);
        const Long size = u.norm() * dv.norm() + g.norm() * dgamma.norm() +
                          gradient.free_velocity.norm() + gradient.bias_velocity.norm() +
                          gradient.regularization.norm() + gradient.matrices.norm() +
                          gradient.upper.norm();
        identity.see(std::abs(u.dot(dv) + g.dot(dgamma) - gradient.dot(change)),
                     rounding<Scalar>(3000, Scalar(size)), kind);
        static_cast<void>(one.answer.pull_back(one.problem, u, nullptr, gradient));
        without.see(std::abs(u.dot(dv) - gradient.dot(change)),
                    rounding<Scalar>(3000, Scalar(size)), kind);
        for (Index b = 0; b < one.problem.body_count() && gradient.has_matrices(); ++b) {
          const auto own = gradient.momentum(b);
          symmetric.see((own - own.transpose()).norm(), rounding<Scalar>(8, own.norm()));
        }
      }
    }
  }
  identity.check(80);
  without.check(80);
  symmetric.check(100);
}

TEMPLATE_TEST_CASE("linearized_answer: a body that nothing touches follows its own data",
                   "[solvers][oracle]", float, double) {
  // dv = dv* where v = v*; the momentum A dv* − dA (v − v*) where it does not, and back.
  using Scalar = TestType;
  VectorSource<double> source(4);
  WorstCase momenta("A dv* − dA (v − v*)"), follows("dv = dv*");
  for (const ConstrainedProblem& raw : some_problems()) {
    Case<Scalar> one(raw);
    const auto change = one.draw_change(source);
    VectorX<Scalar> dv, momentum(one.problem.velocity_count());
    static_cast<void>(one.answer.push_forward(one.problem, change, dv, nullptr));
    const VectorX<Scalar> v = one.draw(source, momentum.size());
    carom::detail::push_bodies(one.problem, change, v, momentum);
    for (Index b = 0; b < one.problem.body_count(); ++b) {
      const auto [start, size] = one.problem.body(b);
      const Dense<Long> a = one.problem.momentum_matrix(b).template cast<Long>(),
                        slope = change.momentum(b).template cast<Long>();
      const LongVector speed =
          (v - one.problem.free_velocity()).segment(start, size).template cast<Long>();
      const LongVector wanted =
          a * change.free_velocity.segment(start, size).template cast<Long>() -
          (slope + slope.transpose()) * speed / 2;
      const LongVector found = momentum.segment(start, size).template cast<Long>();
      momenta.see((found - wanted).norm(),
                  rounding<Scalar>(100, Scalar(a.norm() + slope.norm() * (1 + speed.norm()))));
      if (one.answer.law().graph().slot_of(b) >= 0) continue;
      const Long factor = a.norm() * a.inverse().norm();
      follows.see((dv - change.free_velocity).segment(start, size).norm(),
                  rounding<Scalar>(100, Scalar(factor)));
    }
  }
  momenta.check(14);
  follows.check(5);
}

TEST_CASE("linearized_answer: the report says what the law and the numbers say",
          "[solvers][example]") {
  Case<double> one(some_problems().back());
  auto& law = one.answer.law();
  const auto linearize = [&] {
    return one.answer.linearize(one.problem, one.velocity, one.impulse);
  };
  law.on_boundary = 3;
  CHECK(linearize().boundary_count == 3);
  CHECK(linearize().status == SolveStatus::converged);
  CHECK(linearize().faulty_block == -1);
  law.regular = false;
  CHECK(linearize().status == SolveStatus::no_progress);
  CHECK(linearize().boundary_count == 3);
  law.regular = true;
  law.faulty = 2;
  CHECK(linearize().status == SolveStatus::not_finite);
  CHECK(linearize().faulty_block == 2);
  law.faulty = -1;
  const double kept = one.velocity(0);
  for (const double bad :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    one.velocity(0) = bad;
    CHECK(linearize().status == SolveStatus::not_finite);
  }
  one.velocity(0) = kept;
  REQUIRE(linearize().usable());
  // Data that are not finite lead to changes that are not, and leave no trace.
  VectorSource<double> source(5);
  const auto change = one.draw_change(source);
  auto bad = change;
  bad.free_velocity(0) = std::numeric_limits<double>::infinity();
  VectorX<double> before, after;
  CHECK(one.answer.push_forward(one.problem, change, before, nullptr).converged());
  CHECK(one.answer.push_forward(one.problem, bad, after, nullptr).status ==
        SolveStatus::not_finite);
  CHECK(one.answer.push_forward(one.problem, change, after, nullptr).converged());
  CHECK(after == before);
  ProblemDifferential<double> gradient;
  gradient.set_zero(one.problem);
  VectorX<double> by_velocity = VectorX<double>::Ones(one.problem.velocity_count());
  by_velocity(0) = std::numeric_limits<double>::quiet_NaN();
  CHECK(one.answer.pull_back(one.problem, by_velocity, nullptr, gradient).status ==
        SolveStatus::not_finite);
}

}  // namespace linearized_answer_test
