// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_layout.hpp"
#include "carom/batch/lanes.hpp"
#include "carom/contact/impulse_set.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Rows of a cone that its normal bounds together.
struct LaneGroup {
  int first, size;
};

/// What the shape of a block says of its rows, the same in every lane.
struct LaneShape {
  int normal;           ///< row of the normal; −1: rows between bounds
  bool ellipsoidal;     ///< one bound for all rows, by ‖(γ_i/μ_i)‖; a group of its own else
  int group_count;      ///< of a cone that is not ellipsoidal
  LaneGroup groups[3];  ///< rows that ‖γ_b‖ ≤ μ_b γₙ bounds
  int friction_of_row[6];  ///< place of the μ of a row among those of the block

  CAROM_DEVICE static constexpr LaneShape of(ImpulseShape shape) noexcept {
    LaneShape s{2, false, 1, {{0, 2}, {3, 2}, {5, 1}}, {0, 0, 0, 1, 1, 2}};
    switch (shape) {
      case ImpulseShape::intervals:
        s.normal = -1;
        s.group_count = 0;
        break;
      case ImpulseShape::friction:
        break;
      case ImpulseShape::planar:
        s.normal = 1;
        s.groups[0].size = 1;
        break;
      case ImpulseShape::elliptic:
        s.ellipsoidal = true;
        s.friction_of_row[1] = 1;
        break;
      case ImpulseShape::torsional:
        s.group_count = 2;
        s.groups[1].size = 1;
        break;
      case ImpulseShape::rolling:
        s.group_count = 3;
        break;
      case ImpulseShape::ellipsoidal_torsional:
      case ImpulseShape::ellipsoidal_rolling:
        s.ellipsoidal = true;
        break;
      case ImpulseShape::spinless_rolling:
        s.group_count = 2;
        break;
    }
    return s;
  }
};

/// A block that is no friction contact, and where its numbers are in the memory of a lane solver.
struct LaneBlock {
  enum RowName {
    regularization,
    inverse,
    bias,
    contact_velocity,  ///< J v
    trial,
    impulse,
    velocity_step,  ///< J d
    trial_step,
    lower,  ///< of intervals; the shift of a cone
    upper,
    multiplier,    ///< of rigid blocks: γ of the problem before
    inverse_mass,  ///< of rigid blocks: J A⁻¹ Jᵀ of the row
    row_name_count
  };

  LaneShape shape;
  int rows;
  bool rigid;
  int at;  ///< of its first number, after that of all blocks
  LaneSides sides;

  [[nodiscard]] static constexpr int cell_count(int rows) noexcept {
    return rows * row_name_count + 4;
  }
  [[nodiscard]] CAROM_DEVICE int row_at(int name) const noexcept { return at + name * rows; }
  [[nodiscard]] CAROM_DEVICE int friction_at() const noexcept { return row_at(row_name_count); }
  [[nodiscard]] CAROM_DEVICE int lift_at() const noexcept { return friction_at() + 3; }
};

/// The rows of a block in every lane: its set, weights and a trial impulse.
template <typename Number>
struct LaneRowsTrial {
  int rows;
  LaneShape shape;
  Number weight[6];           ///< R
  Number y[6];                ///< trial impulse, moved by the set's shift
  Number mu[3];               ///< of a cone, as in ImpulseSet
  Number lower[6], upper[6];  ///< of intervals

  [[nodiscard]] CAROM_DEVICE const Number& mu_of(int row) const noexcept {
    return mu[shape.friction_of_row[row]];
  }
};

/// A small square matrix in every lane.
template <typename Number>
struct LaneBlockMatrix {
  Number entry[6][6];

  CAROM_DEVICE void clear(int rows) noexcept {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < rows; ++j) entry[i][j] = Number(0);
    }
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
