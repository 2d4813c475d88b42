// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/batch_view.hpp"
#include "carom/contact/impulse_set.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Points to be projected onto sets of one shape, in plain arrays: what ImpulseSet, weights and a
/// trial impulse hold. A view.
template <RealScalar Scalar>
struct ProjectionBatchView {
  Index count = 0;  ///< points, ≥ 0
  ImpulseShape shape = ImpulseShape::friction;
  int interval_rows = 1;  ///< of intervals, 1 to 6; cones have their own.

  BatchArray<const Scalar> point{};     ///< y [N·s, N·m·s], one for each row.
  BatchArray<const Scalar> weights{};   ///< R [1/kg, 1/(kg·m²)], > 0, one for each row.
  BatchArray<const Scalar> friction{};  ///< μ [-, m], ≥ 0, friction_count(shape).
  /// Lower bounds and then upper ones of intervals, which may be infinite; the shift of a cone.
  /// Null data: a cone that is not shifted.
  BatchArray<const Scalar> bounds{};

  [[nodiscard]] CAROM_DEVICE int rows() const noexcept {
    return shape == ImpulseShape::intervals ? interval_rows : cone_row_count(shape);
  }
};

/// What is wrong with the numbers of a point.
enum class ProjectionFault {
  none,
  point,     ///< y or R y is not finite, or too large for its square; item: row
  weights,   ///< not positive, not finite, or not the same in rows bounded together; item: row
  friction,  ///< negative, or not finite; item: coefficient
  bounds,    ///< nothing between them, or a shift that is not finite; item: row
};

/// The fault as a word for messages.
[[nodiscard]] constexpr const char* to_string(ProjectionFault fault) noexcept {
  constexpr const char* words[] = {"none", "point", "weights", "friction", "bounds"};
  return words[static_cast<int>(fault)];
}

/// A fault, and where it is.
struct ProjectionDiagnosis {
  ProjectionFault fault = ProjectionFault::none;
  int item = -1;
};

/// Where the answers go. A point with a fault gets NaN.
template <RealScalar Scalar>
struct ProjectionBatchAnswers {
  BatchArray<Scalar> nearest{};  ///< γ [N·s, N·m·s], one for each row.
  /// ∂γ/∂y [-], rows × rows, row by row; on a boundary one generalised derivative. Null data: not
  /// wanted.
  BatchArray<Scalar> derivative{};
  ProjectionDiagnosis* faults = nullptr;  ///< One for each point.
};

/// How many points of a batch were projected.
struct ProjectionBatchReport {
  Index projected = 0;   ///< points
  Index first_bad = -1;  ///< first point with a fault; −1: none.
};

}  // namespace CAROM_ABI
}  // namespace carom
