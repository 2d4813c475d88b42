// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/growing.hpp"

namespace carom::cli {

/// A small dense strictly convex quadratic program,
///
///   min ½ xᵀH x + gᵀx   subject to   CEᵀx + ce = 0,   CIᵀx + ci ≥ 0,
///
/// in the form of eiquadprog and QuadProg++: constraints are columns.
template <RealScalar Scalar>
struct QuadraticProblem {
  Growing<MatrixX<Scalar>> hessian;             ///< H, n×n; the lower triangle is read.
  Growing<VectorX<Scalar>> gradient;            ///< g
  Growing<MatrixX<Scalar>> equality_normals;    ///< CE, n×m_e
  Growing<VectorX<Scalar>> equality_offsets;    ///< ce
  Growing<MatrixX<Scalar>> inequality_normals;  ///< CI, n×m_i
  Growing<VectorX<Scalar>> inequality_offsets;  ///< ci

  /// Sets the sizes; the entries are undefined. Cold: allocates only for sizes larger than all
  /// before.
  void resize(Index variables, Index equalities, Index inequalities) {
    hessian.grow(variables, variables);
    gradient.grow(variables);
    equality_normals.grow(variables, equalities);
    equality_offsets.grow(equalities);
    inequality_normals.grow(variables, inequalities);
    inequality_offsets.grow(inequalities);
  }
};

/// How a quadratic program ended.
enum class QuadraticStatus {
  optimal,          ///< x minimises the cost.
  infeasible,       ///< No point satisfies all constraints; x satisfies those added so far.
  not_convex,       ///< H is not positive definite to working precision: no unique minimum.
  iteration_limit,  ///< The limit of steps is reached; x may violate constraints.
  not_finite,       ///< NaN or infinity in the data.
};

[[nodiscard]] constexpr const char* to_string(QuadraticStatus status) noexcept {
  switch (status) {
    case QuadraticStatus::optimal:
      return "optimal";
    case QuadraticStatus::infeasible:
      return "infeasible";
    case QuadraticStatus::not_convex:
      return "not_convex";
    case QuadraticStatus::iteration_limit:
      return "iteration_limit";
    case QuadraticStatus::not_finite:
      return "not_finite";
  }
  return "unknown";
}

/// Dual active-set method. It starts at the unconstrained minimum and adds violated constraints one
/// by one. It removes constraints whose multiplier would become negative.
///
/// Constraints are measured in units of their length in the metric of H⁻¹. They are satisfied to a
/// few roundings of their terms, so that a scaling of the problem by any power does not change its
/// answer.
/// ```
/// carom::cli::QuadraticProgram<double> program;
/// program.prepare(n, equalities, inequalities);   // cold
/// const auto status = program.solve(problem, x);  // hot
/// ```
/// @cite  goldfarb1983numerically
template <RealScalar Scalar>
class QuadraticProgram {
 public:
  /// Allocates memory. Cold: allocates only for sizes larger than all before.
  void prepare(Index variables, Index equalities, Index inequalities) {
    factor_.grow(variables, variables);
    j_.grow(variables, variables);
    r_.grow(variables, variables);
    for (auto* v : {&d_, &z_, &step_, &reach_}) v->grow(variables);
    lengths_.grow(equalities + inequalities);
    multipliers_.grow(equalities + inequalities);
    for (auto* v : {&active_multipliers_, &direction_, &signs_}) v->grow(variables + 1);
    const auto constraints = static_cast<std::size_t>(equalities + inequalities);
    if (active_.size() < static_cast<std::size_t>(variables) + 1) {
      active_.resize(static_cast<std::size_t>(variables) + 1);
    }
    if (is_active_.size() < constraints) is_active_.resize(constraints);
  }

  /// @param x  written: the minimum, or the point described by the status.
  /// @note  Real-time safe once prepared for these sizes: no allocation, no exception, at most
  ///        10 (n + m) steps of n² multiply-adds and m n for the search.
  template <typename Vector>
  QuadraticStatus solve(const QuadraticProblem<Scalar>& problem, Vector& x) noexcept {
    problem_ = &problem;
    CAROM_EXPECTS(d_.size() == size() && x.size() == size());
    CAROM_EXPECTS(lengths_.size() == equality_count() + inequality_count());
    active_count_ = 0;
    iterations_ = 0;
    multipliers_.setZero();
    std::fill(is_active_.begin(), is_active_.end(), false);
    if (!finite()) return QuadraticStatus::not_finite;
    if (!start(x)) return QuadraticStatus::not_convex;
    QuadraticStatus status = QuadraticStatus::optimal;
    for (Index i = 0; i < equality_count() && status == QuadraticStatus::optimal; ++i) {
      const Scalar slack = value(i, x);
      const bool met = std::abs(slack) <= allowance(i);
      if (met && !independent(i)) continue;
      status = enforce(i, slack > Scalar(0) ? Scalar(-1) : Scalar(1), x);
    }
    while (status == QuadraticStatus::optimal) {
      const Index worst = most_violated(x);
      if (worst < 0) break;
      status = enforce(worst, Scalar(1), x);
    }
    for (Index k = 0; k < active_count_; ++k) {
      const Index i = active_[std::size_t(k)];
      multipliers_(i) = active_multipliers_(k) * signs_(k) / lengths_(i);
    }
    return x.allFinite() ? status : QuadraticStatus::not_finite;
  }

  /// Multipliers of the equalities, then of the inequalities: H x + g = CE u_e + CI u_i, u_i ≥ 0.
  [[nodiscard]] const Growing<VectorX<Scalar>>& multipliers() const noexcept {
    return multipliers_;
  }
  [[nodiscard]] int iterations() const noexcept { return iterations_; }

 private:
  static constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();

  [[nodiscard]] Index size() const noexcept { return problem_->hessian.rows(); }
  [[nodiscard]] Index equality_count() const noexcept { return problem_->equality_offsets.size(); }
  [[nodiscard]] Index inequality_count() const noexcept {
    return problem_->inequality_offsets.size();
  }
  [[nodiscard]] const Scalar* normal(Index i) const noexcept {
    const Index m = equality_count();
    return i < m ? problem_->equality_normals.data() + i * size()
                 : problem_->inequality_normals.data() + (i - m) * size();
  }
  [[nodiscard]] Scalar offset(Index i) const noexcept {
    const Index m = equality_count();
    return i < m ? problem_->equality_offsets(i) : problem_->inequality_offsets(i - m);
  }
  [[nodiscard]] bool finite() const noexcept {
    const auto& p = *problem_;
    return p.hessian.allFinite() && p.gradient.allFinite() && p.equality_normals.allFinite() &&
           p.equality_offsets.allFinite() && p.inequality_normals.allFinite() &&
           p.inequality_offsets.allFinite();
  }

  /// aᵢᵀx + bᵢ and its rounding error, including that of the largest x of all iterates.
  template <typename Vector>
  [[nodiscard]] Scalar value(Index i, const Vector& x) const noexcept {
    const Scalar* const a = normal(i);
    Scalar sum = offset(i);
    for (Index k = 0; k < size(); ++k) sum += a[k] * x(k);
    return sum;
  }
  [[nodiscard]] Scalar allowance(Index i) const noexcept {
    const Scalar* const a = normal(i);
    Scalar sum = std::abs(offset(i));
    for (Index k = 0; k < size(); ++k) sum += std::abs(a[k]) * reach_(k);
    return Scalar(16 + 4 * size()) * rounding * sum;
  }

  /// Factors H = L Lᵀ, J = L⁻ᵀ, x = −H⁻¹g, and measures the constraints.
  template <typename Vector>
  [[nodiscard]] bool start(Vector& x) noexcept {
    const Index n = size();
    factor_ = problem_->hessian;
    if (!factor_cholesky(factor_.data(), n, n)) return false;
    for (Index k = 0; k < n; ++k) {  // a pivot that is only a rounding of its diagonal
      const Scalar pivot = factor_(k, k);
      if (!(pivot * pivot > 4 * Scalar(n) * rounding * problem_->hessian(k, k))) return false;
    }
    j_.setIdentity();
    for (Index c = 0; c < n; ++c) solve_lower_transposed(factor_.data(), n, n, j_.data() + c * n);
    x = -problem_->gradient;
    solve_lower(factor_.data(), n, n, x.data());
    solve_lower_transposed(factor_.data(), n, n, x.data());
    reach_ = x.cwiseAbs();
    for (Index i = 0; i < lengths_.size(); ++i) {
      step_ = Eigen::Map<const VectorX<Scalar>>(normal(i), n);
      solve_lower(factor_.data(), n, n, step_.data());
      lengths_(i) = step_.norm();
    }
    return x.allFinite();
  }

  /// The inequality with the largest violation, in units of its length; −1 if all are satisfied.
  template <typename Vector>
  [[nodiscard]] Index most_violated(const Vector& x) const noexcept {
    Index worst = -1;
    Scalar largest(0);
    for (Index i = equality_count(); i < lengths_.size(); ++i) {
      if (is_active_[std::size_t(i)]) continue;
      const Scalar slack = value(i, x);
      if (!(slack < -allowance(i))) continue;
      const Scalar length = lengths_(i);
      if (!(length > Scalar(0))) return i;  // 0·x + b ≥ 0 with b < 0
      if (-slack > largest * length) {
        largest = -slack / length;
        worst = i;
      }
    }
    return worst;
  }

  /// d = Jᵀa/|a|. Returns whether it is outside the span of the active normals.
  [[nodiscard]] bool independent(Index i) noexcept {
    const Index n = size();
    if (!(lengths_(i) > Scalar(0))) return false;
    d_.noalias() = j_.transpose() * Eigen::Map<const VectorX<Scalar>>(normal(i), n);
    d_ /= lengths_(i);
    const Scalar outside = d_.tail(n - active_count_).norm();
    return outside > Scalar(64 + 8 * n) * rounding;
  }

  /// Moves x to the surface of constraint i and removes other constraints where necessary. Sign −1
  /// reverses an equality.
  template <typename Vector>
  [[nodiscard]] QuadraticStatus enforce(Index i, Scalar sign, Vector& x) noexcept {
    const Index n = size(), limit = 10 * (n + lengths_.size()) + 10;
    Scalar multiplier(0);
    while (iterations_ < limit) {
      ++iterations_;
      const bool free = independent(i);
      d_ *= sign;
      write_directions();
      Index drop = -1;
      const Scalar dual_step = longest_dual_step(drop);
      Scalar step = dual_step;
      if (free) {
        const Scalar curvature = d_.tail(n - active_count_).squaredNorm();
        const Scalar primal_step =
            (std::max)(Scalar(0), Scalar(-sign * value(i, x) / (lengths_(i) * curvature)));
        step = (std::min)(step, primal_step);
        if (!(dual_step <= primal_step)) drop = -1;
        x += step * z_;
        reach_ = reach_.cwiseMax(x.cwiseAbs());
      } else if (drop < 0) {
        return QuadraticStatus::infeasible;
      }
      for (Index k = 0; k < active_count_; ++k) active_multipliers_(k) -= step * direction_(k);
      multiplier += step;
      if (drop < 0) {
        add(i, multiplier, sign);
        return QuadraticStatus::optimal;
      }
      remove(drop);
    }
    return QuadraticStatus::iteration_limit;
  }

  /// z, the step in x, and the change of the active multipliers per unit of the new multiplier.
  void write_directions() noexcept {
    const Index n = size(), q = active_count_;
    z_.noalias() = j_.rightCols(n - q) * d_.tail(n - q);
    for (Index k = q - 1; k >= 0; --k) {
      Scalar sum = d_(k);
      for (Index c = k + 1; c < q; ++c) sum -= r_(k, c) * direction_(c);
      direction_(k) = sum / r_(k, k);
    }
  }

  /// The longest step for which the active multipliers of inequalities stay ≥ 0, and the constraint
  /// that limits it.
  [[nodiscard]] Scalar longest_dual_step(Index& drop) const noexcept {
    Scalar longest = std::numeric_limits<Scalar>::infinity();
    for (Index k = 0; k < active_count_; ++k) {
      if (active_[std::size_t(k)] < equality_count() || !(direction_(k) > Scalar(0))) continue;
      const Scalar reach = (std::max)(active_multipliers_(k), Scalar(0)) / direction_(k);
      if (reach < longest) {
        longest = reach;
        drop = k;
      }
    }
    return longest;
  }

  /// Rotates columns a, a + 1 of J such that (x, y) becomes (length, 0).
  void rotate(Scalar& x, Scalar& y, Index a, Scalar& cosine, Scalar& sine) noexcept {
    const Scalar length = std::hypot(x, y);
    cosine = length > Scalar(0) ? x / length : Scalar(1);
    sine = length > Scalar(0) ? y / length : Scalar(0);
    x = length;
    y = Scalar(0);
    for (Index k = 0; k < size(); ++k) {
      const Scalar left = j_(k, a), right = j_(k, a + 1);
      j_(k, a) = cosine * left + sine * right;
      j_(k, a + 1) = cosine * right - sine * left;
    }
  }

  void add(Index i, Scalar multiplier, Scalar sign) noexcept {
    Scalar cosine, sine;
    for (Index k = size() - 2; k >= active_count_; --k) {
      rotate(d_(k), d_(k + 1), k, cosine, sine);
    }
    const Index q = active_count_++;
    r_.col(q).head(q + 1) = d_.head(q + 1);
    active_[std::size_t(q)] = i;
    active_multipliers_(q) = multiplier;
    signs_(q) = sign;
    is_active_[std::size_t(i)] = true;
  }

  void remove(Index k) noexcept {
    is_active_[std::size_t(active_[std::size_t(k)])] = false;
    --active_count_;
    for (Index c = k; c < active_count_; ++c) {
      active_[std::size_t(c)] = active_[std::size_t(c) + 1];
      active_multipliers_(c) = active_multipliers_(c + 1);
      signs_(c) = signs_(c + 1);
      r_.col(c).head(c + 2) = r_.col(c + 1).head(c + 2);
    }
    for (Index c = k; c < active_count_; ++c) {
      Scalar cosine, sine;
      rotate(r_(c, c), r_(c + 1, c), c, cosine, sine);
      for (Index right = c + 1; right < active_count_; ++right) {
        const Scalar upper = r_(c, right), lower = r_(c + 1, right);
        r_(c, right) = cosine * upper + sine * lower;
        r_(c + 1, right) = cosine * lower - sine * upper;
      }
    }
  }

  const QuadraticProblem<Scalar>* problem_ = nullptr;
  Growing<MatrixX<Scalar>> factor_, j_, r_;
  Growing<VectorX<Scalar>> d_, z_, step_, reach_, lengths_, multipliers_, active_multipliers_,
      direction_, signs_;
  std::vector<Index> active_;
  std::vector<bool> is_active_;
  Index active_count_ = 0;
  int iterations_ = 0;
};

}  // namespace carom::cli
