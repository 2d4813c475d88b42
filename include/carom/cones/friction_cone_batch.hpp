// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include "carom/cones/detail/lanes.hpp"
#include "carom/cones/friction_cone.hpp"

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

/// The projections of as many contacts as a register holds, without branches.
///
/// With k = s/(r d) in the letters of ConeNumbers, cut at 0, the three regions are one clamp:
/// γₜ = min(μ k, 1) yₜ, γₙ = max(yₙ, k r). Inside the cone μ k ≥ 1 and k r ≤ yₙ; outside it is the
/// reverse.
template <typename Scalar>
struct LaneProjection {
  Lanes<Scalar> tangent1, tangent2, normal;
  bool safe;  ///< whether squares and products stayed in range in every lane.

  /// Inputs of as many contacts as a register holds.
  struct Inputs {
    Lanes<Scalar> y1, y2, yn, mu, tangent_weight, normal_weight, softness_squared;
  };

  explicit LaneProjection(const Inputs& inputs) noexcept {
    using namespace Eigen::internal;  // padd, pmul, ... on registers
    const auto& [y1, y2, yn, mu, tangent_weight, normal_weight, softness_squared] = inputs;
    const auto zero = pset1<Lanes<Scalar>>(Scalar(0));
    const auto one = pset1<Lanes<Scalar>>(Scalar(1));
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
    // The sum carries NaN along and the overflow of every product and of the quotient.
    safe = all_within<Scalar>(pmin(tangent_squared, product), padd(product, signed_ratio),
                              safe_low<Scalar>, 1 / safe_low<Scalar>);
  }
};

/// Reads a per-contact number into every lane; the sharing is known at compile time.
template <bool Shared, typename Scalar>
[[nodiscard]] Lanes<Scalar> load_lanes(const Scalar* data, Index i) noexcept {
  if constexpr (Shared) {
    return Eigen::internal::pset1<Lanes<Scalar>>(*data);
  } else {
    return Eigen::internal::ploadu<Lanes<Scalar>>(data + i);
  }
}

/// The contacts [begin, end) of a batch one by one: the tail, and numbers out of range.
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
void project_lanes(const FrictionConeBatch<Scalar>& batch,
                   const TripleArrays<Scalar>& point) noexcept {
  using Eigen::internal::ploadu, Eigen::internal::pset1, Eigen::internal::pstoreu;
  // Register stores may alias anything: without these copies every pass reads the pointers again.
  const TripleArrays<const Scalar> y = batch.impulse;
  const TripleArrays<Scalar> out = point;
  const Scalar* const mu = batch.friction.data;
  const Scalar* const tangent_weight = batch.tangent_weight.data;
  const Scalar* const normal_weight = batch.normal_weight.data;
  const Index whole = batch.count - batch.count % lane_count<Scalar>;
  const auto softness_squared = pset1<Lanes<Scalar>>(batch.softness * batch.softness);
  for (Index i = 0; i < whole; i += lane_count<Scalar>) {
    const LaneProjection<Scalar> projected(
        {ploadu<Lanes<Scalar>>(y.tangent1 + i), ploadu<Lanes<Scalar>>(y.tangent2 + i),
         ploadu<Lanes<Scalar>>(y.normal + i), load_lanes<SharedFriction>(mu, i),
         load_lanes<SharedWeights>(tangent_weight, i), load_lanes<SharedWeights>(normal_weight, i),
         softness_squared});
    if (!projected.safe) [[unlikely]] {
      project_one_by_one(batch, point, i, i + lane_count<Scalar>);
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
/// Agrees with project(cone, weights, y) to a few roundings; the vector width is what Eigen uses
/// under the caller's compiler flags.
/// @param batch  inputs; arrays hold `count` numbers, any alignment.
/// @param point  where the projections go; may be the very arrays of batch.impulse, but must not
///               overlap them shifted.
/// @pre   friction ≥ 0, softness ≥ 0, weights > 0 and not subnormal, impulses finite.
/// @note  Real-time safe: no allocation, no exception, constant work per contact.
template <RealScalar Scalar>
void project(const FrictionConeBatch<Scalar>& batch, const TripleArrays<Scalar>& point) noexcept {
  CAROM_EXPECTS(batch.count >= 0);
  CAROM_EXPECTS(batch.tangent_weight.shared == batch.normal_weight.shared);
  const bool shared_friction = batch.friction.shared;
  const bool shared_weights = batch.tangent_weight.shared;
  if (shared_friction && shared_weights) return detail::project_lanes<true, true>(batch, point);
  if (shared_friction) return detail::project_lanes<true, false>(batch, point);
  if (shared_weights) return detail::project_lanes<false, true>(batch, point);
  return detail::project_lanes<false, false>(batch, point);
}

}  // namespace CAROM_ABI
}  // namespace carom
