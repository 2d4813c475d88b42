// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/batch/batch_view.hpp"
#include "carom/batch/detail/lane_cells.hpp"
#include "carom/batch/detail/lane_cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A fault and the body or contact that has it.
struct BatchDiagnosis {
  BatchFault fault = BatchFault::none;
  int item = -1;
};

/// Looks for what is wrong with the numbers of a problem that has not been solved. Every number is
/// looked at, so this is for the few problems where something is.
/// @tparam Stride  of the memory's numbers, as that of LaneCells.
template <RealScalar Scalar, int Stride = 1>
class BatchInspection {
 public:
  CAROM_DEVICE BatchInspection(const BatchView<Scalar>& view, Index problem) noexcept
      : view_(view), problem_(problem) {}

  /// The first fault of a contact of an island, or else of a body.
  /// @param memory  for the lower half of the island's momentum matrix.
  [[nodiscard]] CAROM_DEVICE_CALL BatchDiagnosis find(const LaneMapView& island,
                                                      Scalar* memory) const noexcept {
    for (int k = 0; k < island.contact_count + island.other_count; ++k) {
      const bool other = k >= island.contact_count;
      const LaneContact& contact =
          other ? island.others[k - island.contact_count] : island.contacts[k];
      const BatchFault fault = contact_fault(contact);
      if (fault != BatchFault::none) return {fault, contact.number};
    }
    for (int b = 0; b < island.body_count; ++b) {
      const BatchFault fault = body_fault(island.bodies[b]);
      if (fault != BatchFault::none) return {fault, island.bodies[b].number};
    }
    const int body = indefinite_body(island, memory);
    return body < 0 ? BatchDiagnosis{} : BatchDiagnosis{BatchFault::mass, body};
  }

 private:
  [[nodiscard]] CAROM_DEVICE static bool are_finite(const Scalar* numbers, int count) noexcept {
    bool finite = true;
    for (int i = 0; i < count; ++i) finite = finite && std::isfinite(numbers[i]);
    return finite;
  }
  [[nodiscard]] CAROM_DEVICE BatchFault contact_fault(const LaneContact& contact) const noexcept {
    for (int i = 0; i < friction_count(contact.shape); ++i) {
      const Scalar mu = view_.friction.of(problem_)[contact.friction + i];
      if (!(std::isfinite(mu) && mu >= 0)) return BatchFault::friction;
    }
    const Scalar* const weights = view_.regularization.of(problem_) + contact.regularization;
    const int count = contact.is_friction_contact ? 2 : contact.rows;
    for (int r = 0; r < count; ++r) {
      if (!(std::isfinite(weights[r]) && weights[r] > 0)) return BatchFault::regularization;
    }
    const LaneShape shape = LaneShape::of(contact.shape);
    const bool round = !contact.is_friction_contact && !shape.ellipsoidal;
    for (int b = 0; round && b < shape.group_count; ++b) {
      const auto& [first, size] = shape.groups[b];
      if (size > 1 && weights[first] != weights[first + 1]) return BatchFault::regularization;
    }
    if (!are_finite(view_.bias.of(problem_) + contact.row, contact.rows)) return BatchFault::bias;
    if (!contact.is_friction_contact && !is_set(contact)) return BatchFault::bounds;
    for (const LaneContactSide& side : contact.sides) {
      for (int i = 0; side.body >= 0 && i < contact.rows * side.size; ++i) {
        const Scalar entry = view_.jacobian.of(problem_)[side.jacobian + i];
        const int column = i % side.size;
        const bool may = column >= side.first && column < side.first + side.count;
        if (!std::isfinite(entry) || (entry != 0 && !may)) return BatchFault::jacobian;
      }
    }
    return BatchFault::none;
  }
  /// Whether something is between the bounds of intervals, or the shift of a cone is finite.
  [[nodiscard]] CAROM_DEVICE bool is_set(const LaneContact& contact) const noexcept {
    const Scalar* const bounds = view_.bounds.of(problem_) + contact.bounds;
    if (contact.shape != ImpulseShape::intervals) return are_finite(bounds, contact.rows);
    constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
    for (int r = 0; r < contact.rows; ++r) {
      const Scalar low = bounds[r], high = bounds[contact.rows + r];
      if (!(low <= high && low < infinity && high > -infinity)) return false;
    }
    return true;
  }
  [[nodiscard]] CAROM_DEVICE BatchFault body_fault(const LaneBody& body) const noexcept {
    if (!are_finite(view_.free_velocity.of(problem_) + body.first, body.size)) {
      return BatchFault::free_velocity;
    }
    const bool guessed = view_.guess.data != nullptr;
    if (guessed && !are_finite(view_.guess.of(problem_) + body.first, body.size)) {
      return BatchFault::guess;
    }
    const bool finite = are_finite(view_.mass.of(problem_) + body.mass, body.size * body.size);
    return finite ? BatchFault::none : BatchFault::mass;
  }
  /// The number of the first body whose momentum matrix is not positive definite, or −1.
  [[nodiscard]] CAROM_DEVICE int indefinite_body(const LaneMapView& island,
                                                 Scalar* memory) const noexcept {
    using One = LaneCells<carom::Lanes<Scalar, 1>, Stride>;
    const LaneRows rows = island.mass_rows;
    const One matrix(memory);
    for (int b = 0; b < island.body_count; ++b) {
      const LaneBody& body = island.bodies[b];
      const Scalar* const mass = view_.mass.of(problem_) + body.mass;
      for (int i = 0; i < body.size; ++i) {
        const One row = matrix.from(rows.place[island.starts[b] + i] + island.starts[b]);
        for (int j = 0; j <= i; ++j) row.of_lane(j, 0) = mass[i * body.size + j];
      }
    }
    if (any(factor_lanes(rows, matrix))) return -1;
    for (int b = 0; b < island.body_count; ++b) {
      for (int i = 0; i < island.bodies[b].size; ++i) {
        const int row = island.starts[b] + i;
        const Scalar inverse = matrix.of_lane(rows.place[row] + row, 0);
        if (!(std::isfinite(inverse) && inverse > 0)) return island.bodies[b].number;
      }
    }
    return -1;
  }

  const BatchView<Scalar>& view_;
  Index problem_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
