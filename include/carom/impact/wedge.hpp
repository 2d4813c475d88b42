// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/impact/impact_problem.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/nonnegative_least_squares.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// G x without contacts that repeat others.
template <RealScalar Scalar, typename X, typename Result>
void multiply_gram(const ImpactProblem<Scalar>& problem, const Eigen::MatrixBase<X>& x,
                   Eigen::MatrixBase<Result>& result) noexcept {
  for (Index i = 0; i < problem.contact_count(); ++i) {
    result(i) = x(i);
    for (const auto& [other, product] : problem.neighbours(i)) result(i) += product * x(other);
  }
}

}  // namespace detail

/// Tests whether a problem is wedged. The memory is reused.
template <RealScalar Scalar>
class WedgeTest {
 public:
  /// Whether some motion opens all contacts at once: a w with ⟨w, u_i⟩ > 0 for all i.
  ///
  /// Then each admissible sequence of reflections is finite. Otherwise Σ c_i u_i = 0 for some
  /// c ≥ 0, c ≠ 0 (Gordan): the body is wedged, and reflections never end. First, conjugate
  /// gradients search a w of the form Σ x_i u_i with G x = 1; they end as soon as G x > 0. If they
  /// fail, non-negative least squares of the normals decides.
  /// @note  Allocates until the memory has grown; throws std::invalid_argument for a problem that
  ///        is not prepared().
  [[nodiscard]] bool has_interior(const ImpactProblem<Scalar>& problem) {
    problem.require_prepared();
    return opens(problem);
  }

 private:
  using Vector = Growing<VectorX<Scalar>>;

  void grow(Index count) {
    for (Vector* vector : {&x_, &residual_, &product_, &direction_}) vector->grow(count);
    weighted_.grow(count, count);
    squares_.prepare(count);
  }
  [[nodiscard]] bool opens(const ImpactProblem<Scalar>& problem);

  Vector x_, residual_, product_, direction_;
  Growing<MatrixX<Scalar>> weighted_;
  NonnegativeLeastSquares<Scalar> squares_;
};

/// WedgeTest in one call. Cold: allocates, throws as WedgeTest does.
template <RealScalar Scalar>
[[nodiscard]] bool has_interior(const ImpactProblem<Scalar>& problem) {
  return WedgeTest<Scalar>().has_interior(problem);
}

// --- implementation ---

template <RealScalar Scalar>
bool WedgeTest<Scalar>::opens(const ImpactProblem<Scalar>& problem) {
  using std::sqrt;
  const Index count = problem.contact_count();
  if (count == 0) return true;
  constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
  const Scalar margin = sqrt(rounding);
  const Scalar product_error = (64 + Scalar(count)) * rounding;  // of G x, in units of max |x|
  grow(count);
  Vector &x = x_, &residual = residual_, &product = product_, &direction = direction_;
  x.setZero();
  residual.setOnes();
  direction.setOnes();
  Scalar rest = residual.squaredNorm();
  for (Index iteration = 0; iteration < 2 * count + 10 && rest > Scalar(0); ++iteration) {
    detail::multiply_gram(problem, direction, product);
    const Scalar curvature = direction.dot(product);
    if (!(curvature > rounding * direction.squaredNorm())) break;
    const Scalar step = rest / curvature;
    x += step * direction;
    residual -= step * product;
    if (residual.maxCoeff() < Scalar(1) - margin) {  // G x = 1 − residual > 0: checked again
      detail::multiply_gram(problem, x, product);
      if (product.minCoeff() > product_error * x.cwiseAbs().maxCoeff()) return true;
    }
    const Scalar next = residual.squaredNorm();
    direction = residual + (next / rest) * direction;
    rest = next;
  }
  // Distance of the origin from the convex hull of the normals: min ½‖Σ c_i u_i‖² − Σ c_i over
  // c ≥ 0 is −½/distance², and has no minimum if the origin is inside. A unit weight on the sum
  // makes it bounded: min ½ cᵀ(G + 11ᵀ)c − 1ᵀc has Σ c_i u_i = 0 exactly if the body is wedged.
  problem.write_gram(weighted_);
  weighted_.array() += Scalar(1);
  residual.setConstant(Scalar(-1));
  static_cast<void>(squares_.solve(weighted_, residual, x));
  detail::multiply_gram(problem, x, product);
  return x.dot(product) > 64 * rounding * x.squaredNorm();
}

}  // namespace CAROM_ABI
}  // namespace carom
