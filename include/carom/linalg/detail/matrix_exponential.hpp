// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include <Eigen/Core>

#include "carom/core/elementary.hpp"
#include "carom/core/invalid_input.hpp"
#include "carom/core/scalar.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/lu.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The functions of exponential integrators for a real number, φ₀ to φ_{Count−1}: φ₀(x) = eˣ,
/// φ_{k+1}(x) = (φ_k(x) − 1/k!)/x, φ_k(0) = 1/k!.
///
/// They are the repeated integrals of an exponential: tᵏ φ_k(r t) is e^{r t} integrated k times
/// from 0. For |x| > 3 the recursion runs upwards. For |x| ≤ 3 the highest function is summed as a
/// series and the recursion runs downwards. No cancellation occurs in either case.
/// @tparam Count  count of functions, ≥ 2.
/// @param x  any finite number [-]; for a large positive one the result overflows as eˣ does.
/// @note  Real-time safe: no allocation, no exception, at most 24 + 2 Count multiply-adds.
/// @cite  hochbruck2010exponential, eq. (2.10), (2.11)
template <int Count, RealScalar Scalar>
[[nodiscard]] std::array<Scalar, std::size_t(Count)> phi_functions(const Scalar& x) noexcept {
  static_assert(Count >= 2, "phi_functions: ask for at least two");
  using elementary::exp, std::abs;
  std::array<Scalar, std::size_t(Count)> phi;
  phi[0] = exp(x);
  const Scalar size = abs(x);
  if (size > Scalar(3)) {
    Scalar inverse_factorial(1);
    for (std::size_t k = 1; k < phi.size(); ++k) {
      phi[k] = (phi[k - 1] - inverse_factorial) / x;
      inverse_factorial /= Scalar(double(k));
    }
    return phi;
  }
  constexpr int top = Count - 1;
  const int terms = size < Scalar(0.05) ? 9 : size < Scalar(0.5) ? 14 : 26;
  Scalar sum(1);  // of top! xʲ/(j + top)!, innermost term first
  for (int j = terms; j > 0; --j) sum = Scalar(1) + x * sum * Scalar(1.0 / (j + top));
  double factorial = 1;
  for (int k = 2; k <= top; ++k) factorial *= k;
  phi[std::size_t(top)] = sum / Scalar(factorial);
  for (int k = top - 1; k > 0; --k) {
    factorial /= k + 1;
    phi[std::size_t(k)] = Scalar(1.0 / factorial) + x * phi[std::size_t(k) + 1];
  }
  return phi;
}

namespace detail {

/// C = A B for square matrices, four columns at a time, without the temporary buffers of a general
/// product.
template <typename Matrix>
void multiply_square(const Matrix& a, const Matrix& b, Matrix& c) noexcept {
  using Scalar = typename Matrix::Scalar;
  const Index n = a.rows();
  Index j = 0;
  for (; j + 4 <= n; j += 4) {
    Scalar* const c0 = c.data() + j * n;
    Scalar *const c1 = c0 + n, *const c2 = c1 + n, *const c3 = c2 + n;
    std::fill(c0, c0 + 4 * n, Scalar(0));
    for (Index k = 0; k < n; ++k) {
      const Scalar* const left = a.data() + k * n;
      const Scalar b0 = b(k, j), b1 = b(k, j + 1), b2 = b(k, j + 2), b3 = b(k, j + 3);
      for (Index i = 0; i < n; ++i) {
        c0[i] += left[i] * b0;
        c1[i] += left[i] * b1;
        c2[i] += left[i] * b2;
        c3[i] += left[i] * b3;
      }
    }
  }
  for (; j < n; ++j) {
    c.col(j).setZero();
    for (Index k = 0; k < n; ++k) c.col(j) += b(k, j) * a.col(k);
  }
}

}  // namespace detail

/// Exponential of a square matrix: balancing by powers of two, scaling, the diagonal Padé
/// approximant of degree 13, repeated squaring.
///
/// ```
/// carom::MatrixExponential<double> exponential;
/// exponential.prepare(n);                              // cold
/// if (exponential.evaluate(a)) use(exponential.result());  // hot
/// ```
/// @cite  higham2005scaling; parlett1969balancing
template <RealScalar Scalar>
class MatrixExponential {
 public:
  /// The cost of evaluate() without the squarings, in products of n×n matrices. One elimination and
  /// its n solutions are included. The number is used to choose between this method and the action
  /// of an exponential.
  static constexpr int typical_products = 8;

  /// Allocates memory for n×n matrices. Cold: allocates only if n is larger than every size before.
  void prepare(Index size) {
    for (auto* matrix : {&a_, &a2_, &a4_, &a6_, &u_, &v_, &result_}) matrix->grow(size, size);
    scales_.grow(size);
    if (dense_.rows() < size) dense_.resize(size, size);
    lu_.prepare(size);
  }

  /// Computes exp(A).
  /// @return  false when an entry of A, the sum of a column or an entry of the result is not
  ///          finite.
  /// @note  Real-time safe once prepared: no allocation, no exception; 8 + log₂‖A‖ products.
  template <typename Matrix>
  [[nodiscard]] bool evaluate(const Matrix& matrix) noexcept {
    CAROM_EXPECTS(matrix.rows() == a_.rows() && matrix.cols() == a_.rows());
    a_ = matrix;
    if (!a_.allFinite()) return false;
    balance();
    if (a_.size() == 0) return true;
    const Scalar norm = a_.cwiseAbs().colwise().sum().maxCoeff();
    if (!detail::is_finite(norm)) return false;
    int squarings = 0;
    for (Scalar rest = norm / Scalar(radius); rest > Scalar(1) && squarings < squaring_limit;
         rest /= 2) {
      ++squarings;
    }
    a_ *= std::ldexp(Scalar(1), -squarings);
    if (!approximate()) return false;
    for (int k = 0; k < squarings; ++k) {
      detail::multiply_square(result_, result_, a2_);
      result_ = a2_;
    }
    const Index n = a_.rows();
    for (Index c = 0; c < n; ++c) {
      for (Index r = 0; r < n; ++r) result_(r, c) *= scales_(r) / scales_(c);
    }
    return result_.allFinite();
  }

  [[nodiscard]] const Growing<MatrixX<Scalar>>& result() const noexcept { return result_; }

 private:
  using Matrix = Growing<MatrixX<Scalar>>;

  /// Largest norm for which the approximant is exact up to the rounding of a double.
  static constexpr double radius = 5.37;
  /// More squarings than a finite norm of a double needs. A sum that overflows ends the loop too.
  static constexpr int squaring_limit = 1100;
  /// The largest count of balancing sweeps, which bounds the work. Every intermediate scaling is
  /// valid, and a sweep without changes ends the balancing earlier.
  static constexpr int sweep_limit = 200;
  /// A row and its column are scaled only if the sum of their norms decreases at least to this
  /// share, as in parlett1969balancing. Smaller gains do not justify a sweep.
  static constexpr double worthwhile = 0.95;
  /// Largest power of two in one scaling, such that its value and its inverse are finite doubles.
  static constexpr int power_limit = 500;

  /// A ← D⁻¹ A D, where D contains powers of two, until each row and its column have about equal
  /// norms.
  void balance() noexcept {
    const Index n = a_.rows();
    scales_.setOnes();
    bool changed = true;
    for (int sweep = 0; changed && sweep < sweep_limit; ++sweep) {
      changed = false;
      for (Index i = 0; i < n; ++i) {
        const Scalar diagonal = std::abs(a_(i, i));
        const Scalar column = a_.col(i).cwiseAbs().sum() - diagonal;
        const Scalar row = a_.row(i).cwiseAbs().sum() - diagonal;
        if (!(column > Scalar(0)) || !(row > Scalar(0))) continue;
        const int power = static_cast<int>(std::lround(elementary::log2(row / column) / 2));
        const Scalar factor = std::ldexp(Scalar(1), std::clamp(power, -power_limit, power_limit));
        if (!(column * factor + row / factor < Scalar(worthwhile) * (column + row))) continue;
        changed = true;
        scales_(i) *= factor;
        a_.col(i) *= factor;
        a_.row(i) /= factor;
      }
    }
  }

  /// result ← (V − U)⁻¹ (V + U), where U is odd in A and V is even.
  [[nodiscard]] bool approximate() noexcept {
    constexpr std::array<double, 14> b{64764752532480000.,
                                       32382376266240000.,
                                       7771770303897600.,
                                       1187353796428800.,
                                       129060195264000.,
                                       10559470521600.,
                                       670442572800.,
                                       33522128640.,
                                       1323241920.,
                                       40840800.,
                                       960960.,
                                       16380.,
                                       182.,
                                       1.};
    const auto s = [&b](std::size_t k) { return Scalar(b[k]); };
    const Index n = a_.rows();
    detail::multiply_square(a_, a_, a2_);
    detail::multiply_square(a2_, a2_, a4_);
    detail::multiply_square(a4_, a2_, a6_);
    result_ = s(13) * a6_ + s(11) * a4_ + s(9) * a2_;
    detail::multiply_square(a6_, result_, v_);
    v_ += s(7) * a6_ + s(5) * a4_ + s(3) * a2_;
    v_.diagonal().array() += s(1);
    detail::multiply_square(a_, v_, u_);
    result_ = s(12) * a6_ + s(10) * a4_ + s(8) * a2_;
    detail::multiply_square(a6_, result_, v_);
    v_ += s(6) * a6_ + s(4) * a4_ + s(2) * a2_;
    v_.diagonal().array() += s(0);
    dense_.topLeftCorner(n, n) = v_ - u_;
    if (!lu_.factor(dense_, n)) return false;
    result_ = v_ + u_;
    for (Index c = 0; c < n; ++c) lu_.solve(result_.data() + c * n);
    return true;
  }

  Matrix a_, a2_, a4_, a6_, u_, v_, result_;
  Growing<VectorX<Scalar>> scales_;
  MatrixX<Scalar> dense_;
  LuFactor<Scalar> lu_;
};

/// exp(A) x from products with A only: Taylor series over equal substeps.
///
/// ```
/// carom::ExponentialAction<double> action;
/// action.prepare(n);                                          // cold
/// action.apply([&](const auto& x, auto& out) { out.noalias() = a * x; }, norm, x);  // hot
/// ```
/// @cite  almohy2011computing
template <RealScalar Scalar>
class ExponentialAction {
 public:
  static constexpr double substep_norm = 2;            ///< Norm of A covered by one series.
  static constexpr int product_limit_of_substep = 40;  ///< More terms than any series needs.
  /// Typical count of products per substep in double. It is used to choose between this method and
  /// a dense exponential.
  static constexpr int typical_products = 22;

  /// Allocates memory for vectors of n numbers. Cold: allocates only if n is larger than every size
  /// before.
  void prepare(Index size) {
    term_.grow(size);
    next_.grow(size);
  }

  /// Count of substeps for a matrix of a given norm.
  [[nodiscard]] static Scalar substeps(const Scalar& norm) noexcept {
    using std::ceil;
    return (std::max)(Scalar(1), Scalar(ceil(norm / Scalar(substep_norm))));
  }

  /// x ← exp(A) x.
  /// @param multiply  called as multiply(x, out): out = A x, sizes as prepared.
  /// @param norm      bound on ‖A‖ in any norm that suits the vectors [-], ≥ 0, finite.
  /// @return  count of products.
  /// @note  Real-time safe once prepared, when the product is: no allocation, at most 40
  ///        products per substep.
  template <typename Multiply, typename Vector>
  int apply(Multiply&& multiply, const Scalar& norm, Vector& x) noexcept {
    CAROM_EXPECTS(x.size() == term_.size());
    CAROM_EXPECTS(norm >= Scalar(0) && norm - norm == Scalar(0));
    const Scalar count = substeps(norm);
    const auto steps = static_cast<long long>(count);
    int products = 0;
    for (long long step = 0; step < steps; ++step) {
      term_ = x;
      Scalar before = std::numeric_limits<Scalar>::infinity();
      for (int k = 1; k <= product_limit_of_substep; ++k) {
        multiply(term_, next_);
        ++products;
        term_ = next_ / (count * Scalar(double(k)));
        x += term_;
        const Scalar size = term_.template lpNorm<Eigen::Infinity>();
        const Scalar whole = x.template lpNorm<Eigen::Infinity>();
        if (size + before <= std::numeric_limits<Scalar>::epsilon() / 2 * whole) break;
        before = size;
      }
    }
    return products;
  }

 private:
  Growing<VectorX<Scalar>> term_, next_;
};

}  // namespace CAROM_ABI
}  // namespace carom
