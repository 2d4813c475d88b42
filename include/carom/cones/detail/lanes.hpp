// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

#ifdef EIGEN_VECTORIZE_AVX512
#include <immintrin.h>
#endif

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// As many numbers as one register holds under the caller's compiler flags; one where Eigen does
/// not vectorise. Arithmetic on it is Eigen's (padd, pmul, ...), but for the two functions below,
/// where Eigen's version costs more than the instruction the processor has.
template <RealScalar Scalar>
using Lanes = typename Eigen::internal::packet_traits<Scalar>::type;

template <RealScalar Scalar>
inline constexpr Index lane_count = Eigen::internal::packet_traits<Scalar>::size;

/// √x in every lane, correctly rounded where the processor has the instruction.
template <RealScalar Scalar>
[[nodiscard]] Lanes<Scalar> square_root(const Lanes<Scalar>& x) noexcept {
#ifdef EIGEN_VECTORIZE_AVX512
  if constexpr (std::same_as<Scalar, double>) return _mm512_maskz_sqrt_pd(0xff, x);
  if constexpr (std::same_as<Scalar, float>) return _mm512_maskz_sqrt_ps(0xffff, x);
#endif
  return Eigen::internal::psqrt(x);
}

/// Whether low ≤ smallest and largest ≤ high in every lane; false where a number is NaN.
template <RealScalar Scalar>
[[nodiscard]] bool all_within(const Lanes<Scalar>& smallest, const Lanes<Scalar>& largest,
                              Scalar low, Scalar high) noexcept {
  using namespace Eigen::internal;
#ifdef EIGEN_VECTORIZE_AVX512
  if constexpr (std::same_as<Scalar, double>) {
    return _mm512_mask_cmp_pd_mask(_mm512_cmp_pd_mask(smallest, _mm512_set1_pd(low), _CMP_GE_OQ),
                                   largest, _mm512_set1_pd(high), _CMP_LE_OQ) == 0xff;
  }
  if constexpr (std::same_as<Scalar, float>) {
    return _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(smallest, _mm512_set1_ps(low), _CMP_GE_OQ),
                                   largest, _mm512_set1_ps(high), _CMP_LE_OQ) == 0xffff;
  }
#endif
  const Lanes<Scalar> within = pand(pcmp_le(pset1<Lanes<Scalar>>(low), smallest),
                                    pcmp_le(largest, pset1<Lanes<Scalar>>(high)));
  return !predux_any(pandnot(ptrue(within), within));
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
