// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/contact_problem.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

/// Whether a contact comes before another between the same bodies, by their numbers: law, then
/// Jacobians.
template <RealScalar Scalar>
[[nodiscard]] bool contact_precedes(const ContactProblem<Scalar>& problem, Index a,
                                    Index b) noexcept {
  const Vector3<Scalar> bias_a = problem.bias_velocity(a), bias_b = problem.bias_velocity(b);
  const auto [tangent_a, normal_a] = problem.regularization(a);
  const auto [tangent_b, normal_b] = problem.regularization(b);
  const Scalar laws_a[] = {bias_a.z(), normal_a,   tangent_a,
                           bias_a.x(), bias_a.y(), problem.cone(a).friction};
  const Scalar laws_b[] = {bias_b.z(), normal_b,   tangent_b,
                           bias_b.x(), bias_b.y(), problem.cone(b).friction};
  for (int k = 0; k < 6; ++k) {
    if (laws_a[k] != laws_b[k]) return laws_a[k] < laws_b[k];
  }
  const auto low_side = [&](Index contact) {
    return problem.side_count(contact) == 2 &&
           problem.side_body(contact, 1) < problem.side_body(contact, 0);
  };
  for (int side = 0; side < problem.side_count(a); ++side) {
    const auto first = problem.jacobian(a, low_side(a) ? 1 - side : side);
    const auto second = problem.jacobian(b, low_side(b) ? 1 - side : side);
    const Scalar* const end = first.data() + first.size();
    const auto [at_a, at_b] = std::mismatch(first.data(), end, second.data());
    if (at_a != end) return *at_a < *at_b;
  }
  return false;
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
