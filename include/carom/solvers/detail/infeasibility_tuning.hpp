// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of certify_infeasible() and refine_ray(). Each is a pure number [-]; ε is the rounding
/// unit of the scalar type.
///
/// Half and twice of each were measured on the problems of examples/scenes/infeasible.hpp, just
/// before and just beyond the threshold where their answer ends: docs/performance.md.
struct InfeasibilityTuning {
  /// The default velocity bound is the ray's velocity scale times ε to minus this power: 1.8e6
  /// times in double and 6e2 times in float. A larger power asks for more digits than products of W
  /// have, a smaller one calls a nearly closed slot closed.
  static constexpr double bound_power = 0.4;
  /// A contact belongs to the first guess of a ray where its impulse is more than the largest one
  /// divided by this. The others are added as they are needed.
  static constexpr double guess_range = 1000;
  /// Most rounds of a ray; each adds every column along which the slope still falls.
  static constexpr int column_rounds = 100;
  /// A direction becomes a column where the cost falls along it by more than so many ε times its
  /// own norm: rounding of the sums over the contacts would add columns without end.
  static constexpr int slope_roundings = 64;
  /// Roundings [ε of the sum of the absolute terms] that products of W or momenta, and sums of the
  /// load, may be off by. Roundings grow as the root of the number of terms: these cover some 250
  /// terms and some 60. Many more products would take a small momentum for none, many fewer load
  /// roundings a drive that is rounding for one: both prove too much. The other ways lose proofs.
  static constexpr int product_roundings = 16, load_roundings = 8;
  /// Roundings of rows that a sum over the rows of a contact may be off by: of six rows at most,
  /// each weighed by its μ.
  static constexpr int row_roundings = 4;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
