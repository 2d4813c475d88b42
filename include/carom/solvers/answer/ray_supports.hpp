// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/solvers/answer/ray_cone.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The largest z·γ over the impulses of a set, as constant + slope · x, where x is the size of the
/// impulse that the set does not bound.
template <RealScalar Scalar>
struct Support {
  Scalar constant = 0, slope = 0;
};

/// z of the rows of a contact, and the most by which each may be off.
template <RealScalar Scalar>
struct RowProducts {
  RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero(), errors = RowNumbers<Scalar>::Zero();
};

/// The support of a set, for the worst z within its errors. The direction of friction is not known,
/// so every friction block of a cone counts with μ‖z_b‖.
template <RealScalar Scalar>
[[nodiscard]] Support<Scalar> support_of(const ImpulseSet<Scalar>& set,
                                         const RowProducts<Scalar>& z) noexcept {
  using std::abs, std::sqrt;
  Support<Scalar> support;
  if (set.shape == ImpulseShape::intervals) {
    for (int r = 0; r < set.rows; ++r) {
      if (z.rows(r) == Scalar(0)) continue;
      const Scalar& bound = z.rows(r) > Scalar(0) ? set.upper(r) : set.lower(r);
      if (is_finite(bound)) {
        support.constant += z.rows(r) * bound + z.errors(r) * abs(bound);
      } else {
        support.slope += abs(z.rows(r)) + z.errors(r);
      }
    }
    return support;
  }
  const int n = visit_friction_blocks(set, [&](const auto& block) {
    Scalar squared(0);
    for (int k = 0; k < block.size; ++k) {
      const int row = block.row(k);
      const Scalar x = block.mu(k) * (abs(z.rows(row)) + z.errors(row));
      squared += x * x;
    }
    support.slope += sqrt(squared);
  });
  support.slope = (std::max)(Scalar(support.slope + z.rows(n) + z.errors(n)), Scalar(0));
  support.constant = z.errors.dot(set.shift.cwiseAbs()) - z.rows.dot(set.shift);
  return support;
}

/// The support of a contact that slides along t, so that γₜ = −μ γₙ t; t is known up to
/// `deviation`.
template <RealScalar Scalar>
[[nodiscard]] Support<Scalar> support_of_slide(const ImpulseSet<Scalar>& set,
                                               const RowProducts<Scalar>& z,
                                               const Vector<Scalar, 2>& direction,
                                               const Scalar& deviation) noexcept {
  const int tangents = plain_tangents(set), n = normal_row(set.shape);
  RowProducts<Scalar> rest = z;
  rest.rows.head(tangents).setZero();
  rest.errors.head(tangents).setZero();
  const Scalar& mu = set.friction.x();
  const auto across = z.rows.head(tangents);
  rest.rows(n) += mu * (deviation * across.norm() - across.dot(direction.head(tangents)));
  rest.errors(n) += mu * (Scalar(1) + deviation) * z.errors.head(tangents).norm();
  Support<Scalar> support = support_of(set, rest);
  support.constant = z.errors.dot(set.shift.cwiseAbs()) - z.rows.dot(set.shift);
  return support;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
