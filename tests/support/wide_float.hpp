// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/eigen.hpp>

#include "carom/core/scalar.hpp"

#include "support/worst_case.hpp"

/// @file
/// Numbers of fifty digits, for oracles whose own rounding must not matter: sums and products of
/// numbers of double are exact in them, or nearly so.
namespace carom::testing {

using Wide = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>,
                                           boost::multiprecision::et_off>;

}  // namespace carom::testing

template <>
inline constexpr bool carom::enable_real_scalar<carom::testing::Wide> = true;

namespace carom::testing {

using WideVector = VectorX<Wide>;

/// The same matrix in fifty digits.
template <typename Derived>
[[nodiscard]] MatrixX<Wide> widen(const Eigen::MatrixBase<Derived>& matrix) {
  MatrixX<Wide> result(matrix.rows(), matrix.cols());
  for (Index c = 0; c < matrix.cols(); ++c) {
    for (Index r = 0; r < matrix.rows(); ++r) result(r, c) = Wide(matrix(r, c));
  }
  return result;
}

/// Notes whether error ≤ allowed, to the last of the fifty digits.
template <typename... Inputs>
void see_wide(WorstCase& law, const Wide& error, const Wide& allowed, const Inputs&... inputs) {
  law.see_holds(error <= allowed, static_cast<long double>(error),
                static_cast<long double>(allowed), inputs...);
}

}  // namespace carom::testing
