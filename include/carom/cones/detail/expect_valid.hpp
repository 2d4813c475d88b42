// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/expects.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Expects weights > 0 and a trial impulse of finite numbers.
template <RealScalar Scalar>
CAROM_DEVICE void expect_positive_and_finite([[maybe_unused]] int size,
                                             [[maybe_unused]] const Scalar* weights,
                                             [[maybe_unused]] const Scalar* y) noexcept {
  for (int i = 0; i < size; ++i) {
    CAROM_EXPECTS(weights[i] > Scalar(0));
    CAROM_EXPECTS(y[i] - y[i] == Scalar(0));
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
