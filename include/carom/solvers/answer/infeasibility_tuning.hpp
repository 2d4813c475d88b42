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
  /// A demand v̂·r is one where it is more than ε to this power times the speeds at its contacts:
  /// 3.7e-11 of them in double and 2.4e-5 in float. Gaps are differences of positions, whose
  /// rounding over the step is no small number of ε of a speed: 1 m, 1 ms and the 1 cm/s that
  /// gravity gives in it make 1e5 ε. A larger power takes such roundings for overlaps that no
  /// velocity can undo, and so calls bodies that fit their place exactly a contradiction; a smaller
  /// one leaves contradictions unproven that a contact would see at its tolerance.
  static constexpr double demand_power = 2.0 / 3.0;
  /// A contact belongs to the first guess of a ray where its impulse is more than the largest one
  /// divided by this. The others are added as they are needed.
  static constexpr double guess_range = 1000;
  /// Most rounds of a ray; each adds every column along which the slope still falls.
  static constexpr int column_rounds = 100;
  /// A ray is looked at more closely where its own rows leave less than this share of what they
  /// would move. Exact rays leave √ε of it before they are refined, 3e-4 in float.
  static constexpr double near_exact = 0.01;
  /// Steps by which a near ray is made exact, and how often it is looked for anew in units in which
  /// its momenta are alike. Two of each are enough where bodies are alike.
  static constexpr int polish_steps = 4, exact_rounds = 3;
  /// A direction becomes a column where the cost falls along it by more than so many ε times its
  /// own norm: rounding of the sums over the contacts would add columns without end.
  static constexpr int slope_roundings = 64;
  /// Roundings [ε of the sum of the absolute terms] that products of W or momenta, and sums of the
  /// load, may be off by. Roundings grow as the root of the number of terms: these cover some 250
  /// terms and some 60. Many more products would take a small momentum for none, many fewer load
  /// roundings a drive that is rounding for one: both prove too much. The other ways lose proofs.
  static constexpr int product_roundings = 16, load_roundings = 8;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
