// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <utility>

#include "carom/contact/contact_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Compares two numbers: −1 where a < b, 1 where b < a, else 0.
template <typename T>
[[nodiscard]] int order_of(const T& a, const T& b) noexcept {
  return a < b ? -1 : b < a ? 1 : 0;
}

/// Compares the laws of two friction contacts by their numbers.
template <RealScalar Scalar>
[[nodiscard]] int compare_laws(const WeightedContact<Scalar>& a,
                               const WeightedContact<Scalar>& b) noexcept {
  const auto numbers = [](const WeightedContact<Scalar>& law) {
    return std::array<Scalar, 6>{law.bias_velocity.z(),      law.regularization.normal,
                                 law.regularization.tangent, law.bias_velocity.x(),
                                 law.bias_velocity.y(),      law.friction};
  };
  const auto first = numbers(a), second = numbers(b);
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (const int order = order_of(first[k], second[k]); order != 0) return order;
  }
  return 0;
}

template <RealScalar Scalar>
[[nodiscard]] int compare_laws(const WeightedBlock<Scalar>& a,
                               const WeightedBlock<Scalar>& b) noexcept {
  if (const int order = order_of(a.set.rows, b.set.rows); order != 0) return order;
  if (const int order = order_of(a.set.shape, b.set.shape); order != 0) return order;
  for (int i = 0; i < 3; ++i) {
    if (const int order = order_of(a.set.friction(i), b.set.friction(i)); order != 0) return order;
  }
  using Rows = RowNumbers<Scalar>;
  for (const auto& [x, y] : {std::pair<const Rows&, const Rows&>(a.set.lower, b.set.lower),
                             {a.set.upper, b.set.upper},
                             {a.set.shift, b.set.shift},
                             {a.regularization, b.regularization},
                             {a.bias_velocity, b.bias_velocity}}) {
    for (int i = 0; i < a.set.rows; ++i) {
      if (const int order = order_of(x(i), y(i)); order != 0) return order;
    }
  }
  return 0;
}

/// Compares the Jacobians of two blocks between the same bodies. Blocks whose laws compare equal as
/// well are interchangeable.
template <typename View>
[[nodiscard]] int compare_jacobians(const View& a, const View& b) noexcept {
  const auto low_side = [](const View& block) {
    return block.side_count() == 2 && block.side(1).body < block.side(0).body ? 1 : 0;
  };
  for (int s = 0; s < a.side_count(); ++s) {
    const auto &first = a.side(s ^ low_side(a)), &second = b.side(s ^ low_side(b));
    for (Index k = 0; k < first.range.size * a.rows(); ++k) {
      if (!(first.jacobian[k] == second.jacobian[k])) {
        return order_of(first.jacobian[k], second.jacobian[k]);
      }
    }
  }
  return 0;
}

/// Whether a friction contact comes before another between the same bodies, by their numbers.
template <RealScalar Scalar>
[[nodiscard]] bool friction_contact_precedes(const ContactProblem<Scalar>& problem, Index a,
                                             Index b) noexcept {
  const int order = compare_laws(problem.friction_contact_law(a), problem.friction_contact_law(b));
  if (order != 0) return order < 0;
  return compare_jacobians(problem.friction_contact(a), problem.friction_contact(b)) < 0;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
