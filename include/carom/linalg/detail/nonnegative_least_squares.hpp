// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <vector>

#include <Eigen/Core>

#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Minimises ½ xᵀG x + cᵀx over x ≥ 0 for a symmetric positive semidefinite G with unit diagonal:
/// non-negative least squares in normal-equation form.
///
/// The algorithm is the active-set method of Lawson and Hanson. In each round, the variable with
/// the most negative gradient becomes free. The free variables are solved by Cholesky. The step
/// towards this solution ends at the first bound, and the variable at this bound is fixed at zero.
/// The method ends when no fixed variable has a negative gradient. A variable whose column depends
/// linearly on the columns of the free ones has zero gradient and never becomes free. G may
/// therefore be singular.
/// @cite lawson1974solving, chapter 23
template <RealScalar Scalar>
class NonnegativeLeastSquares {
 public:
  /// Grows memory for problems of up to `count` variables.
  void prepare(Index count) {
    if (factor_.rows() < count) factor_.resize(count, count);
    if (gradient_.size() < count) gradient_.resize(count);
    if (candidate_.size() < count) candidate_.resize(count);
    free_.reserve(std::size_t(count));
    is_free_.reserve(std::size_t(count));
  }

  /// @param gram    G, count×count, both triangles.
  /// @param linear  c.
  /// @param x       written: the minimiser.
  /// @return  residual: the most negative remaining gradient [unit of c]; target: the size below
  ///          which a gradient counts as zero.
  /// @note  Real-time safe once prepared: no allocation, no exception, at most 3·count + 10 solves.
  template <typename Gram, typename Linear, typename X>
  SolveReport<Scalar> solve(const Eigen::MatrixBase<Gram>& gram,
                            const Eigen::MatrixBase<Linear>& linear,
                            Eigen::MatrixBase<X>& x) noexcept {
    return solve(
        gram, linear, [](Index) { return true; }, x);
  }

  /// As above, but the variables for which may_move(i) is false stay zero.
  template <typename Gram, typename Linear, typename MayMove, typename X>
  SolveReport<Scalar> solve(const Eigen::MatrixBase<Gram>& gram,
                            const Eigen::MatrixBase<Linear>& linear, const MayMove& may_move,
                            Eigen::MatrixBase<X>& x) noexcept {
    const Index count = linear.size();
    CAROM_EXPECTS(gram.rows() == count && gram.cols() == count && x.size() == count);
    SolveReport<Scalar> report;
    x.setZero();
    free_.clear();
    is_free_.assign(std::size_t(count), 0);
    const Scalar scale = count > 0 ? linear.cwiseAbs().maxCoeff() : Scalar(0);
    for (; report.iterations <= 3 * count + 10; ++report.iterations) {
      write_gradient(gram, linear, x);
      // Where normals are nearly dependent, x is large, and the round-off of the gradient is large
      // too.
      const Scalar largest = count > 0 ? x.maxCoeff() : Scalar(0);
      report.residual_target =
          64 * std::numeric_limits<Scalar>::epsilon() * (largest > scale ? largest : scale);
      Index entering = -1;
      report.residual = 0;
      for (Index i = 0; i < count; ++i) {
        if (is_free_[std::size_t(i)] || !(-gradient_(i) > report.residual)) continue;
        if (!may_move(i)) continue;
        report.residual = -gradient_(i);
        entering = i;
      }
      if (report.residual <= report.residual_target) {
        report.status = SolveStatus::converged;
        return report;
      }
      free_.push_back(entering);
      is_free_[std::size_t(entering)] = 1;
      if (!move_to_free_minimum(gram, linear, x)) {
        report.status = SolveStatus::no_progress;
        return report;
      }
    }
    report.status = SolveStatus::iteration_limit;
    return report;
  }

 private:
  template <typename Gram, typename Linear, typename X>
  void write_gradient(const Gram& gram, const Linear& linear, const X& x) noexcept {
    gradient_.head(linear.size()) = linear;
    for (const Index j : free_) gradient_.head(linear.size()) += gram.col(j) * x(j);
  }

  /// Minimises over the free variables. Variables that would become negative on the way are fixed
  /// at zero.
  template <typename Gram, typename Linear, typename X>
  [[nodiscard]] bool move_to_free_minimum(const Gram& gram, const Linear& linear, X& x) noexcept {
    while (!free_.empty()) {
      const Index size = Index(free_.size());
      const Index stride = factor_.rows();
      for (Index c = 0; c < size; ++c) {
        candidate_(c) = -linear(free_[std::size_t(c)]);
        for (Index r = c; r < size; ++r) {
          factor_(r, c) = gram(free_[std::size_t(r)], free_[std::size_t(c)]);
        }
      }
      // the newest column depends on the others
      if (!factor_cholesky(factor_.data(), size, stride)) {
        is_free_[std::size_t(free_.back())] = 0;
        free_.pop_back();
        return false;
      }
      solve_lower(factor_.data(), size, stride, candidate_.data());
      solve_lower_transposed(factor_.data(), size, stride, candidate_.data());
      Scalar step = 1;
      for (Index c = 0; c < size; ++c) {
        const Scalar& from = x(free_[std::size_t(c)]);
        if (candidate_(c) > Scalar(0)) continue;
        const Scalar allowed = from / (from - candidate_(c));
        if (allowed < step) step = allowed;
      }
      for (Index c = 0; c < size; ++c) {
        Scalar& value = x(free_[std::size_t(c)]);
        value += step * (candidate_(c) - value);
      }
      if (step == Scalar(1)) return true;
      const Scalar negligible = std::numeric_limits<Scalar>::epsilon() * x.cwiseAbs().maxCoeff();
      std::erase_if(free_, [&](Index j) {
        if (x(j) > negligible) return false;
        x(j) = Scalar(0);
        is_free_[std::size_t(j)] = 0;
        return true;
      });
    }
    return true;
  }

  MatrixX<Scalar> factor_;
  VectorX<Scalar> gradient_, candidate_;
  std::vector<Index> free_;
  std::vector<char> is_free_;
};

}  // namespace CAROM_ABI
}  // namespace carom
