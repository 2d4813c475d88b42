// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/batch_view.hpp"
#include "carom/contact/impulse_set.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Points to be projected onto sets of one shape, in plain arrays: the contents of ImpulseSet,
/// weights and a trial impulse. A view.
template <RealScalar Scalar>
struct ProjectionBatchView {
  Index count = 0;  ///< points, ≥ 0
  ImpulseShape shape = ImpulseShape::friction;
  int interval_rows = 1;  ///< of intervals, 1 to 6; cones have a fixed count.

  BatchArray<const Scalar> point{};     ///< y [N·s, N·m·s], one for each row.
  BatchArray<const Scalar> weights{};   ///< R [1/kg, 1/(kg·m²)], > 0, one for each row.
  BatchArray<const Scalar> friction{};  ///< μ [-, m], ≥ 0, friction_count(shape).
  /// For intervals, the lower bounds and then the upper bounds, which may be infinite; for a cone,
  /// the shift. Null data: a cone without shift.
  BatchArray<const Scalar> bounds{};

  [[nodiscard]] CAROM_DEVICE int rows() const noexcept {
    return shape == ImpulseShape::intervals ? interval_rows : cone_row_count(shape);
  }
};

/// The fault of the numbers of a point.
enum class ProjectionFault {
  none,
  point,    ///< y or R y is not finite, or too large for its square; item: row
  weights,  ///< not positive, not finite, or not equal in rows that are bounded together; item: row
  friction,  ///< negative, or not finite; item: coefficient
  bounds,    ///< empty interval, or a shift that is not finite; item: row
};

/// The fault as a word for messages.
[[nodiscard]] constexpr const char* to_string(ProjectionFault fault) noexcept {
  constexpr const char* words[] = {"none", "point", "weights", "friction", "bounds"};
  return words[static_cast<int>(fault)];
}

/// A fault and its place.
struct ProjectionDiagnosis {
  ProjectionFault fault = ProjectionFault::none;
  int item = -1;
};

/// Arrays for the answers. For a point with a fault, NaN is written.
template <RealScalar Scalar>
struct ProjectionBatchAnswers {
  BatchArray<Scalar> nearest{};  ///< γ [N·s, N·m·s], one for each row.
  /// ∂γ/∂y [-], rows × rows, row by row; on a boundary one generalised derivative. Null data: not
  /// written.
  BatchArray<Scalar> derivative{};
  ProjectionDiagnosis* faults = nullptr;  ///< One for each point.
};

/// Result of a batch of points.
struct ProjectionBatchReport {
  Index projected = 0;   ///< points
  Index first_bad = -1;  ///< first point with a fault; −1: none.
};

}  // namespace CAROM_ABI
}  // namespace carom
