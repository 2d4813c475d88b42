// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>

#include <Eigen/Core>

#include "carom/cones/friction_cone.hpp"

#ifdef EIGEN_VECTORIZE_AVX512
#include <immintrin.h>
#endif

namespace carom {
inline namespace CAROM_ABI {

/// Contact triples as three arrays, one per component (structure of arrays).
template <typename Scalar>
struct TripleArrays {
  Scalar* tangent1;
  Scalar* tangent2;
  Scalar* normal;
};

/// One number per contact, or one number for all of them.
template <RealScalar Scalar>
struct PerContact {
  const Scalar* data;   ///< first of `count` numbers, or the only one.
  bool shared = false;  ///< whether every contact uses data[0].
};

/// Many weighted friction-cone projections at once.
template <RealScalar Scalar>
struct FrictionConeBatch {
  Index count;                         ///< number of contacts, ≥ 0.
  TripleArrays<const Scalar> impulse;  ///< y, trial impulses.
  PerContact<Scalar> friction;         ///< μ, ≥ 0.
  PerContact<Scalar> tangent_weight;   ///< Rₜ, > 0.
  PerContact<Scalar> normal_weight;    ///< Rₙ, > 0.
  Scalar softness = 0;                 ///< ε of FrictionCone, ≥ 0.
};

namespace detail {

/// As many numbers as one register contains under the caller's compiler flags; one number if Eigen
/// does not vectorise. Arithmetic on it uses Eigen's functions (padd, pmul, ...). The two functions
/// below are exceptions, because Eigen's version is slower than the processor's instruction.
template <RealScalar Scalar>
using WholeRegister = typename Eigen::internal::packet_traits<Scalar>::type;

template <RealScalar Scalar>
inline constexpr Index register_size = Eigen::internal::packet_traits<Scalar>::size;

/// √x of each number, correctly rounded if the processor has the instruction.
template <RealScalar Scalar>
[[nodiscard]] WholeRegister<Scalar> square_root(const WholeRegister<Scalar>& x) noexcept {
#ifdef EIGEN_VECTORIZE_AVX512
  if constexpr (std::same_as<Scalar, double>) return _mm512_maskz_sqrt_pd(0xff, x);
  if constexpr (std::same_as<Scalar, float>) return _mm512_maskz_sqrt_ps(0xffff, x);
#endif
  return Eigen::internal::psqrt(x);
}

/// Whether low ≤ smallest and largest ≤ high for all numbers; false if a number is NaN.
template <RealScalar Scalar>
[[nodiscard]] bool all_within(const WholeRegister<Scalar>& smallest,
                              const WholeRegister<Scalar>& largest, Scalar low,
                              Scalar high) noexcept {
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
  const WholeRegister<Scalar> within = pand(pcmp_le(pset1<WholeRegister<Scalar>>(low), smallest),
                                            pcmp_le(largest, pset1<WholeRegister<Scalar>>(high)));
  return !predux_any(pandnot(ptrue(within), within));
}

/// The projections of one register of contacts, without branches.
///
/// With k = max(s/(r d), 0) in the notation of ConeNumbers, the three regions are one clamp:
/// γₜ = min(μ k, 1) yₜ, γₙ = max(yₙ, k r). Inside the cone μ k ≥ 1 and k r ≤ yₙ; outside it both
/// inequalities are reversed.
template <typename Scalar>
struct RegisterProjection {
  WholeRegister<Scalar> tangent1, tangent2, normal;
  bool safe;  ///< whether squares and products of all contacts stayed in range.

  /// Inputs of one register of contacts.
  struct Inputs {
    WholeRegister<Scalar> y1, y2, yn, mu, tangent_weight, normal_weight, softness_squared;
  };

  explicit RegisterProjection(const Inputs& inputs) noexcept {
    using namespace Eigen::internal;  // padd, pmul, ... on registers
    const auto& [y1, y2, yn, mu, tangent_weight, normal_weight, softness_squared] = inputs;
    const auto zero = pset1<WholeRegister<Scalar>>(Scalar(0));
    const auto one = pset1<WholeRegister<Scalar>>(Scalar(1));
    const auto tangent_squared = pmadd(y1, y1, pmadd(y2, y2, softness_squared));
    const auto tangent_norm = square_root<Scalar>(tangent_squared);
    const auto pull = pmul(mu, tangent_weight);
    const auto resistance = pmadd(mu, pull, normal_weight);
    const auto drive = pmadd(pull, tangent_norm, pmul(normal_weight, yn));
    const auto product = pmul(tangent_norm, resistance);
    const auto signed_ratio = pdiv(drive, product);
    const auto ratio = pmax(signed_ratio, zero);
    const auto scale = pmin(pmul(mu, ratio), one);
    tangent1 = pmul(scale, y1);
    tangent2 = pmul(scale, y2);
    normal = pmax(yn, pmul(ratio, tangent_norm));
    // The sum propagates NaN and the overflow of each product and of the quotient.
    safe = all_within<Scalar>(pmin(tangent_squared, product), padd(product, signed_ratio),
                              safe_low<Scalar>, 1 / safe_low<Scalar>);
  }
};

/// Reads numbers per contact into a register. Whether one number is shared is known at compile
/// time.
template <bool Shared, typename Scalar>
[[nodiscard]] WholeRegister<Scalar> load_register(const Scalar* data, Index i) noexcept {
  if constexpr (Shared) {
    return Eigen::internal::pset1<WholeRegister<Scalar>>(*data);
  } else {
    return Eigen::internal::ploadu<WholeRegister<Scalar>>(data + i);
  }
}

/// Projects the contacts [begin, end) of a batch one by one: the last ones, and numbers out of
/// range.
template <RealScalar Scalar>
void project_one_by_one(const FrictionConeBatch<Scalar>& batch, const TripleArrays<Scalar>& point,
                        Index begin, Index end) noexcept {
  const auto at = [](const PerContact<Scalar>& value, Index i) {
    return value.data[value.shared ? 0 : i];
  };
  for (Index i = begin; i < end; ++i) {
    const Vector3<Scalar> y(batch.impulse.tangent1[i], batch.impulse.tangent2[i],
                            batch.impulse.normal[i]);
    const Vector3<Scalar> projected =
        project(FrictionCone<Scalar>{at(batch.friction, i), batch.softness},
                ContactWeights<Scalar>{at(batch.tangent_weight, i), at(batch.normal_weight, i)}, y)
            .point;
    point.tangent1[i] = projected.x();
    point.tangent2[i] = projected.y();
    point.normal[i] = projected.z();
  }
}

template <bool SharedFriction, bool SharedWeights, RealScalar Scalar>
void project_registers(const FrictionConeBatch<Scalar>& batch,
                       const TripleArrays<Scalar>& point) noexcept {
  using Eigen::internal::ploadu, Eigen::internal::pset1, Eigen::internal::pstoreu;
  // Register stores may alias any memory: without these copies each pass reads the pointers again.
  const TripleArrays<const Scalar> y = batch.impulse;
  const TripleArrays<Scalar> out = point;
  const Scalar* const mu = batch.friction.data;
  const Scalar* const tangent_weight = batch.tangent_weight.data;
  const Scalar* const normal_weight = batch.normal_weight.data;
  const Index whole = batch.count - batch.count % register_size<Scalar>;
  const auto softness_squared = pset1<WholeRegister<Scalar>>(batch.softness * batch.softness);
  for (Index i = 0; i < whole; i += register_size<Scalar>) {
    const RegisterProjection<Scalar> projected(
        {ploadu<WholeRegister<Scalar>>(y.tangent1 + i),
         ploadu<WholeRegister<Scalar>>(y.tangent2 + i), ploadu<WholeRegister<Scalar>>(y.normal + i),
         load_register<SharedFriction>(mu, i), load_register<SharedWeights>(tangent_weight, i),
         load_register<SharedWeights>(normal_weight, i), softness_squared});
    if (!projected.safe) [[unlikely]] {
      project_one_by_one(batch, point, i, i + register_size<Scalar>);
      continue;
    }
    pstoreu(out.tangent1 + i, projected.tangent1);
    pstoreu(out.tangent2 + i, projected.tangent2);
    pstoreu(out.normal + i, projected.normal);
  }
  project_one_by_one(batch, point, whole, batch.count);
}

}  // namespace detail

/// Projects every trial impulse of a batch onto its friction cone, several per instruction.
///
/// The result agrees with project(cone, weights, y) up to a few roundings. Eigen chooses the vector
/// width from the caller's compiler flags.
/// @param batch  inputs; arrays hold `count` numbers, any alignment.
/// @param point  written: the projections. It may be exactly the arrays of batch.impulse, but must
///               not overlap them with a shift.
/// @pre   friction ≥ 0, softness ≥ 0, weights > 0 and not subnormal, impulses finite.
/// @note  Real-time safe: no allocation, no exception, constant work per contact.
template <RealScalar Scalar>
void project(const FrictionConeBatch<Scalar>& batch, const TripleArrays<Scalar>& point) noexcept {
  CAROM_EXPECTS(batch.count >= 0);
  CAROM_EXPECTS(batch.tangent_weight.shared == batch.normal_weight.shared);
  const bool shared_friction = batch.friction.shared;
  const bool shared_weights = batch.tangent_weight.shared;
  if (shared_friction && shared_weights) return detail::project_registers<true, true>(batch, point);
  if (shared_friction) return detail::project_registers<true, false>(batch, point);
  if (shared_weights) return detail::project_registers<false, true>(batch, point);
  return detail::project_registers<false, false>(batch, point);
}

}  // namespace CAROM_ABI
}  // namespace carom
