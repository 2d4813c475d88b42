// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/linalg/detail/growing.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// exp(A) x from products with A alone: Taylor series over equal substeps.
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
  /// Products a substep takes in double, for choosing between this and a dense exponential.
  static constexpr int typical_products = 22;

  /// Makes memory for vectors of n numbers. Cold: allocates beyond the longest so far.
  void prepare(Index size) {
    term_.grow(size);
    next_.grow(size);
  }

  /// Substeps for a matrix of a given norm.
  [[nodiscard]] static Scalar substeps(const Scalar& norm) noexcept {
    using std::ceil;
    return (std::max)(Scalar(1), Scalar(ceil(norm / Scalar(substep_norm))));
  }

  /// x ← exp(A) x.
  /// @param multiply  called as multiply(x, out): out = A x, sizes as prepared.
  /// @param norm      bound on ‖A‖ in any norm that suits the vectors [-], ≥ 0, finite.
  /// @return  products taken.
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
