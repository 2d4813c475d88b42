// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// W as a function, for a W that is too large to write down: DelassusProblem::set_operator().
///
/// Numbers are in parts, three to a contact of friction in space, (t₁, t₂, n). Other contacts fill
/// them as DelassusProblem says: a planar one the first and last of three, one of four to six rows
/// six; what a contact lacks is zero in γ and must be zero in the product.
template <RealScalar Scalar>
struct DelassusOperator {
  /// Writes W γ, without R. Both spans have 3 part_count() numbers.
  using Multiply = void (*)(void* context, std::span<const Scalar> impulse,
                            std::span<Scalar> product) noexcept;

  void* context = nullptr;  ///< Whatever the function needs.
  Multiply multiply = nullptr;
};

}  // namespace CAROM_ABI
}  // namespace carom
