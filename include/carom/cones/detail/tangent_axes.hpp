// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Eigenvalues and axes of a symmetric positive 2×2 matrix; the axes are (c, s) and (−s, c).
template <RealScalar Scalar>
struct TangentAxes {
  Scalar high, low;  ///< high ≥ low > 0; low is at least the rounding of high.
  Scalar cosine, sine;

  TangentAxes() = default;
  CAROM_DEVICE TangentAxes(const Scalar& xx, const Scalar& xy, const Scalar& yy) noexcept {
    using std::abs, std::sqrt;
    const Scalar mean = (xx + yy) / 2, half = (xx - yy) / 2;
    const Scalar spread = sqrt(half * half + xy * xy);
    high = mean + spread;
    low = (xx * yy - xy * xy) / high;
    const Scalar floor = std::numeric_limits<Scalar>::epsilon() * high;
    if (!(low > floor)) low = floor;
    Scalar x = half + spread, y = xy;  // the first axis, by the sum that does not cancel
    if (half < Scalar(0)) {
      x = xy;
      y = spread - half;
    }
    const Scalar length = sqrt(x * x + y * y);
    cosine = length > Scalar(0) ? x / length : Scalar(1);
    sine = length > Scalar(0) ? y / length : Scalar(0);
  }
  CAROM_DEVICE void turn_in(const Scalar& x, const Scalar& y, Scalar (&out)[2]) const noexcept {
    out[0] = cosine * x + sine * y;
    out[1] = cosine * y - sine * x;
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
