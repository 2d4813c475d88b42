// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_matrices.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The columns of a block's Jacobian that belong to one body and may not be zero.
struct LaneSide {
  int column;    ///< the first one, a velocity of the island
  int count;     ///< columns; 0: the block has no such side
  int jacobian;  ///< place of the first column among the Jacobians, a number for each row
};

struct LaneSides {
  LaneSide low, high;  ///< those of `high` come after those of `low`
};

struct LaneBlock;

/// Where the numbers of an island are in the memory of a lane solver, in cells. Plain numbers and
/// pointers, so that a graphics processor reads it too.
struct LaneLayout {
  enum VectorName {
    free,
    velocity,  ///< relative to the frame, as all velocities below
    frame,     ///< how fast the frame moves
    best,
    momentum,
    gradient,
    direction,
    scratch,
    vector_count,
    // Coulomb's law needs three more.
    kept = vector_count,
    start,
    law_direction,
    coulomb_vector_count
  };
  enum ContactName {
    friction,
    tangent,
    normal,
    inverse_tangent,
    inverse_normal,
    inverse_sliding,              ///< 1/(Rₙ + μ² Rₜ)
    opening,                      ///< (μ Rₜ/Rₙ)²
    bias,                         ///< three components, as all below but the last
    contact_velocity = bias + 3,  ///< J v
    trial = contact_velocity + 3,
    impulse = trial + 3,
    velocity_step = impulse + 3,  ///< J d
    trial_step = velocity_step + 3,
    predicted = trial_step + 3,  ///< ẑ, two components
    lift = predicted + 2,        ///< by how much v̂ₙ is lowered, De Saxcé's lift
    contact_number_count,
    // Islands with rigid blocks need six more.
    multiplier = contact_number_count,  ///< γ of the compliant problem before
    inverse_mass = multiplier + 3,      ///< J A⁻¹ Jᵀ of each row
    rigid_contact_number_count = inverse_mass + 3
  };

  int velocities, contacts, block_count;
  LaneRows mass_rows, matrix_rows;
  const LaneSides* sides;               ///< of the friction contacts
  const LaneBlock* blocks;              ///< all others
  const unsigned char* rigid_contacts;  ///< 1: the contact is rigid
  bool rigid;                           ///< whether some block is
  bool is_coulomb;                      ///< whether the law is Coulomb's
  int mass_at, mass_factor_at, matrix_at, jacobian_at, contacts_at, blocks_at, product_at, sweep_at,
      cell_count;
  int upper_at;  ///< the upper half of a matrix that is not symmetric, under Coulomb's law

  /// Whether a solve begins with sweeps over the contacts: of a single body with friction contacts
  /// only. One contact needs none, as Newton's method takes one step for it.
  [[nodiscard]] CAROM_DEVICE bool has_sweeps() const noexcept {
    return velocities <= 6 && contacts > 1 && block_count == 0 && !rigid;
  }
  /// Three columns for each contact.
  [[nodiscard]] CAROM_DEVICE int sweep_cells() const noexcept {
    return has_sweeps() ? 3 * velocities * contacts : 0;
  }
  [[nodiscard]] CAROM_DEVICE int vector_at(int name) const noexcept { return name * velocities; }
  [[nodiscard]] CAROM_DEVICE int contact_at(int contact) const noexcept {
    return contacts_at + contact * contact_size();
  }
  [[nodiscard]] CAROM_DEVICE int contact_size() const noexcept {
    return rigid ? rigid_contact_number_count : contact_number_count;
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
