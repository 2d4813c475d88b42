// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/contact/weighted_block.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Rows that are constrained to zero in both directions. Points, welds, distances, couplers, joints
/// and springs are of this kind. The functions below write rows of J for free bodies.
///
/// Without a stiffness the rows are rigid, and each step removes a share s of the error: J v = −s
/// x/δt. The velocity from this correction decreases with the error. Rows may be redundant, and
/// their errors may contradict each other, as with the two hinges of a door. Then an R of 1e-8
/// times the row's inverse mass distributes the load between the rows and leads to an answer
/// between the contradicting ones. With a stiffness the rows are springs with linear dissipation,
/// γ = −δt k ((x + δt J v) + τ_d J v), row by row.
template <RealScalar Scalar>
struct Bilateral {
  int rows = 1;                                           ///< 1 to 6.
  RowNumbers<Scalar> error = RowNumbers<Scalar>::Zero();  ///< x [m, rad] before the step.
  /// k [N/m, N·m/rad], > 0; +∞: rigid.
  Scalar stiffness = std::numeric_limits<Scalar>::infinity();
  Scalar dissipation_time = 0;                    ///< τ_d [s], ≥ 0; with springs.
  Scalar near_rigid = 1;                          ///< β, as in CompliantContact; with springs.
  Compliance compliance = Compliance::stiffness;  ///< As in CompliantContact.
  /// Share of the error that a rigid row removes in one step [-], in [0, 1]. 1 removes the whole
  /// error at once, with a velocity of x/δt. The value 0.2 is gentle where the rows turn with the
  /// bodies, and reduces the error to a hundredth after 20 steps.
  Scalar correction = Scalar(usual_correction);

  static constexpr double usual_correction = 0.2;
};

/// Converts the springs to R and v̂. Each row is softened to a period of β steps.
/// @param time_step     δt [s], > 0.
/// @param inverse_mass  of each row [1/kg, 1/(kg·m²)], the diagonal of the Delassus block.
/// @note  Real-time safe: no allocation, no exception, constant work.
template <RealScalar Scalar>
[[nodiscard]] WeightedBlock<Scalar> make_weighted(const Bilateral<Scalar>& law,
                                                  const Scalar& time_step,
                                                  const RowNumbers<Scalar>& inverse_mass) noexcept {
  WeightedBlock<Scalar> rows;
  rows.set = free_impulses<Scalar>(law.rows);
  for (int i = 0; i < law.rows; ++i) {
    const Scalar gathers = -law.correction * law.error(i) / time_step;
    const detail::SpringRow<Scalar> spring(law, law.error(i), gathers, time_step, inverse_mass(i));
    rows.regularization(i) =
        detail::is_unyielding(law) ? detail::joint_weight(inverse_mass(i)) : spring.regularization;
    rows.bias_velocity(i) = spring.bias_velocity;
  }
  return rows;
}

/// The fault of the springs; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault law_fault(const std::string& item, const Bilateral<Scalar>& law) {
  if (law.rows < 1 || law.rows > 6) {
    return detail::fault(item + ": rows", "a number in [1, 6]", Index(law.rows));
  }
  for (int i = 0; i < law.rows; ++i) {
    if (!detail::is_finite(law.error(i))) {
      return detail::fault(detail::entry(item + ": error", i), "a finite number", law.error(i));
    }
  }
  return detail::yielding_fault(item, law, Scalar(Bilateral<Scalar>::usual_correction));
}

/// Velocity of a point fixed to a free body, J = [−a×, I]. The velocity of a body consists of its
/// angular velocity and the velocity of its origin, both in world axes.
/// @param arm  a [m], from the origin to the point, in world axes.
template <RealScalar Scalar>
[[nodiscard]] Eigen::Matrix<Scalar, 3, 6> point_rows(const Vector3<Scalar>& arm) noexcept {
  Eigen::Matrix<Scalar, 3, 6> rows = Eigen::Matrix<Scalar, 3, 6>::Zero();
  rows(0, 1) = arm.z();
  rows(0, 2) = -arm.y();
  rows(1, 0) = -arm.z();
  rows(1, 2) = arm.x();
  rows(2, 0) = arm.y();
  rows(2, 1) = -arm.x();
  rows.template rightCols<3>().setIdentity();
  return rows;
}

/// Velocities of a point of a free body along three axes, then its angular velocity about them. If
/// these rows are equal on two bodies, the bodies are welded; with some of the rows they form a
/// joint. For axes (t₁, t₂, n) the rows are those of a WrenchContact.
/// @param axes  3 × 3, the axes as rows, in world axes.
template <RealScalar Scalar>
[[nodiscard]] SquareMatrix<Scalar, 6> frame_rows(const SquareMatrix<Scalar, 3>& axes,
                                                 const Vector3<Scalar>& arm) noexcept {
  SquareMatrix<Scalar, 6> rows = SquareMatrix<Scalar, 6>::Zero();
  rows.template topRows<3>() = axes * point_rows(arm);
  rows.template bottomLeftCorner<3, 3>() = axes;
  return rows;
}

/// Velocity of a point of a free body along a direction: the row of a distance, a rod, a rope.
/// @param direction  unit vector in which the distance grows.
template <RealScalar Scalar>
[[nodiscard]] Eigen::Matrix<Scalar, 1, 6> distance_row(const Vector3<Scalar>& direction,
                                                       const Vector3<Scalar>& arm) noexcept {
  return direction.transpose() * point_rows(arm);
}

/// Row of a coupler between two velocities of one body, v_driven − ratio v_driving: a gear, a mimic
/// joint. Between two bodies, its two parts are unit rows on the two bodies.
/// @param size  count of velocities of the body.
/// @note  Cold: allocates.
template <RealScalar Scalar>
[[nodiscard]] Eigen::Matrix<Scalar, 1, Eigen::Dynamic> coupler_row(Index size, Index driven,
                                                                   Index driving,
                                                                   const Scalar& ratio) {
  CAROM_EXPECTS(driven >= 0 && driven < size && driving >= 0 && driving < size);
  Eigen::Matrix<Scalar, 1, Eigen::Dynamic> row =
      Eigen::Matrix<Scalar, 1, Eigen::Dynamic>::Zero(size);
  row(driving) -= ratio;
  row(driven) += Scalar(1);
  return row;
}

}  // namespace CAROM_ABI
}  // namespace carom
