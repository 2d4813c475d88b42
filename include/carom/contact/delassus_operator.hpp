// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// W as a function, for a W that is too large to store: DelassusProblem::set_operator().
///
/// Vectors are in parts of three numbers. A friction contact in space has one part, (t₁, t₂, n).
/// For other contacts see DelassusProblem: a planar contact uses the first and last number of a
/// part; a contact with four to six rows has two parts. Unused numbers are zero in γ and must be
/// zero in the product.
template <RealScalar Scalar>
struct DelassusOperator {
  /// Writes W γ, without R. Both spans have 3 part_count() numbers.
  using Multiply = void (*)(void* context, std::span<const Scalar> impulse,
                            std::span<Scalar> product) noexcept;

  void* context = nullptr;  ///< Data for the function.
  Multiply multiply = nullptr;
};

}  // namespace CAROM_ABI
}  // namespace carom
