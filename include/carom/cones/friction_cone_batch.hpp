// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include "carom/cones/friction_cone.hpp"

namespace carom::inline CAROM_ABI {

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

/// One register's worth of projections, without branches.
///
/// With k = s/(r d) as in ConeNumbers, the three regions are one clamp: γₜ = min(μ k, 1) yₜ and
/// γₙ = max(yₙ, k r), k cut at 0. Inside the cone μ k ≥ 1 and k r ≤ yₙ, outside the reverse.
template <typename Scalar>
struct PacketProjection {
  using Packet = typename Eigen::internal::packet_traits<Scalar>::type;
  Packet tangent1, tangent2, normal;
  Packet safe;  ///< lanes whose numbers stayed in the safe range.

  PacketProjection(const Packet& y1, const Packet& y2, const Packet& yn, const Packet& mu,
                   const Packet& tangent_weight, const Packet& normal_weight,
                   const Packet& softness_squared) noexcept {
    using namespace Eigen::internal;  // packet operations
    const Packet zero = pset1<Packet>(Scalar(0));
    const Packet one = pset1<Packet>(Scalar(1));
    const Packet tangent_squared = pmadd(y1, y1, pmadd(y2, y2, softness_squared));
    const Packet tangent_norm = psqrt(tangent_squared);
    const Packet pull = pmul(mu, tangent_weight);
    const Packet resistance = pmadd(mu, pull, normal_weight);
    const Packet drive = pmadd(pull, tangent_norm, pmul(normal_weight, yn));
    const Packet product = pmul(tangent_norm, resistance);
    const Packet ratio = pdiv(pmax(drive, zero), product);
    const Packet scale = pmin(pmul(mu, ratio), one);
    tangent1 = pmul(scale, y1);
    tangent2 = pmul(scale, y2);
    normal = pmax(yn, pmul(ratio, tangent_norm));

    // A sum carries NaN and infinity along, which minima and maxima may drop.
    const Packet drive_size = pabs(drive);
    const Packet largest = padd(padd(tangent_squared, product), drive_size);
    const Packet pull_or_one = pselect(pcmp_eq(mu, zero), one, pull);
    const Packet smallest = pmin(pmin(tangent_squared, product), pmin(drive_size, pull_or_one));
    safe = pand(pcmp_le(pset1<Packet>(safe_low<Scalar>), smallest),
                pcmp_le(largest, pset1<Packet>(1 / safe_low<Scalar>)));
  }
};

/// Reads a per-contact number into every lane; the sharing is known at compile time.
template <bool Shared, typename Scalar>
[[nodiscard]] auto load_lanes(const Scalar* data, Index i) noexcept {
  using Packet = typename Eigen::internal::packet_traits<Scalar>::type;
  if constexpr (Shared) {
    return Eigen::internal::pset1<Packet>(*data);
  } else {
    return Eigen::internal::ploadu<Packet>(data + i);
  }
}

/// The contacts of a batch from `begin` on, one by one: the tail, and numbers out of range.
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
void project_packets(const FrictionConeBatch<Scalar>& batch,
                     const TripleArrays<Scalar>& point) noexcept {
  using namespace Eigen::internal;
  using Packet = typename packet_traits<Scalar>::type;
  constexpr Index lane_count = packet_traits<Scalar>::size;
  const Packet softness_squared = pset1<Packet>(batch.softness * batch.softness);
  const auto project_at = [&](Index i) {
    return PacketProjection<Scalar>(
        ploadu<Packet>(batch.impulse.tangent1 + i), ploadu<Packet>(batch.impulse.tangent2 + i),
        ploadu<Packet>(batch.impulse.normal + i),
        load_lanes<SharedFriction>(batch.friction.data, i),
        load_lanes<SharedWeights>(batch.tangent_weight.data, i),
        load_lanes<SharedWeights>(batch.normal_weight.data, i), softness_squared);
  };
  const auto store_at = [&](Index i, const PacketProjection<Scalar>& projected) {
    pstoreu(point.tangent1 + i, projected.tangent1);
    pstoreu(point.tangent2 + i, projected.tangent2);
    pstoreu(point.normal + i, projected.normal);
  };
  const auto any_unsafe = [](const Packet& safe) { return predux_any(pandnot(ptrue(safe), safe)); };
  Index i = 0;
  for (; i + 2 * lane_count <= batch.count; i += 2 * lane_count) {
    const auto first = project_at(i);
    const auto second = project_at(i + lane_count);
    if (any_unsafe(pand(first.safe, second.safe))) [[unlikely]] {
      project_one_by_one(batch, point, i, i + 2 * lane_count);
    } else {
      store_at(i, first);
      store_at(i + lane_count, second);
    }
  }
  if (i + lane_count <= batch.count) {
    const auto projected = project_at(i);
    if (any_unsafe(projected.safe)) [[unlikely]] {
      project_one_by_one(batch, point, i, i + lane_count);
    } else {
      store_at(i, projected);
    }
    i += lane_count;
  }
  project_one_by_one(batch, point, i, batch.count);
}

}  // namespace detail

/// Projects every trial impulse of a batch onto its friction cone, several per instruction.
///
/// Agrees with project(cone, weights, y) to a few roundings; the vector width is what Eigen uses
/// under the caller's compiler flags.
/// @param batch  inputs; arrays hold `count` numbers, any alignment.
/// @param point  where the projections go; may be the very arrays of batch.impulse, but must not
///               overlap them shifted.
/// @pre   friction ≥ 0, softness ≥ 0, weights > 0, impulses finite.
/// @note  Real-time safe: no allocation, no exception, constant work per contact.
template <RealScalar Scalar>
void project(const FrictionConeBatch<Scalar>& batch, const TripleArrays<Scalar>& point) noexcept {
  CAROM_EXPECTS(batch.count >= 0);
  CAROM_EXPECTS(batch.tangent_weight.shared == batch.normal_weight.shared);
  const bool shared_friction = batch.friction.shared;
  const bool shared_weights = batch.tangent_weight.shared;
  if (shared_friction && shared_weights) return detail::project_packets<true, true>(batch, point);
  if (shared_friction) return detail::project_packets<true, false>(batch, point);
  if (shared_weights) return detail::project_packets<false, true>(batch, point);
  return detail::project_packets<false, false>(batch, point);
}

}  // namespace carom::inline CAROM_ABI
