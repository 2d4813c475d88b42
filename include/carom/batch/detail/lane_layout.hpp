// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "carom/batch/batch_pattern.hpp"
#include "carom/batch/detail/lane_cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// One side of a contact, where a lane solver finds it.
struct LaneSide {
  int column;    ///< first velocity whose column may not be zero
  int count;     ///< columns; 0: there is no such side
  int jacobian;  ///< place of the first column among the Jacobians, three numbers each
};

struct LaneContactSides {
  LaneSide sides[2];  ///< the second one's columns come after the first one's
};

/// Where the numbers of a world are in the memory of a lane solver, in cells. Plain numbers and
/// pointers, so that a graphics processor reads it too.
struct LaneLayout {
  enum VectorName { free, velocity, best, momentum, gradient, direction, scratch, vector_count };
  enum ContactName {
    friction,
    tangent,
    normal,
    inverse_tangent,
    inverse_normal,
    bias,                         ///< three components, as all below but the last
    contact_velocity = bias + 3,  ///< J v
    trial = contact_velocity + 3,
    impulse = trial + 3,
    velocity_step = impulse + 3,  ///< J d
    trial_step = velocity_step + 3,
    predicted = trial_step + 3,  ///< ẑ, two components
    contact_number_count = predicted + 2
  };

  int velocities, contacts;
  LaneRows mass_rows, matrix_rows;
  const LaneContactSides* sides;
  int mass_at, mass_factor_at, matrix_at, jacobian_at, contacts_at, product_at, cell_count;

  [[nodiscard]] CAROM_DEVICE int vector_at(int name) const noexcept { return name * velocities; }
  [[nodiscard]] CAROM_DEVICE int contact_at(int contact) const noexcept {
    return contacts_at + contact * contact_number_count;
  }
};

/// A layout and what it points to.
class LaneMap {
 public:
  explicit LaneMap(const BatchPattern& pattern);
  [[nodiscard]] LaneLayout layout() const noexcept;

 private:
  struct Rows {
    std::vector<int> first_column, place;
    int count = 0;
    void add(int first) {
      const int row = int(place.size());
      first_column.push_back(first);
      place.push_back(count - first);
      count += row - first + 1;
    }
    [[nodiscard]] LaneRows view() const noexcept {
      return {first_column.data(), place.data(), int(place.size())};
    }
  };
  Rows mass_, matrix_;
  std::vector<LaneContactSides> sides_;
  int jacobian_count_ = 0, widest_ = 0;
};

// --- implementation ---

inline LaneMap::LaneMap(const BatchPattern& pattern) {
  for (const auto& body : pattern.bodies()) {
    for (int i = 0; i < body.size; ++i) mass_.add(body.first);
  }
  for (int i = 0; i < pattern.velocity_count(); ++i) matrix_.add(pattern.first_column(i));
  for (const auto& contact : pattern.contacts()) {
    LaneContactSides both{};
    int columns = 0;
    const bool turned = contact.sides[1].body >= 0 &&
                        contact.sides[1].column < contact.sides[0].column;
    for (int s = 0; s < 2; ++s) {
      const auto& side = contact.sides[turned ? 1 - s : s];
      if (side.body < 0) continue;
      both.sides[s] = {side.column + side.first, side.count, jacobian_count_};
      jacobian_count_ += 3 * side.count;
      columns += side.count;
    }
    widest_ = (std::max)(widest_, columns);
    sides_.push_back(both);
  }
}

inline LaneLayout LaneMap::layout() const noexcept {
  LaneLayout l{};
  l.velocities = int(mass_.place.size());
  l.contacts = int(sides_.size());
  l.mass_rows = mass_.view();
  l.matrix_rows = matrix_.view();
  l.sides = sides_.data();
  l.mass_at = LaneLayout::vector_count * l.velocities;
  l.mass_factor_at = l.mass_at + mass_.count;
  l.matrix_at = l.mass_factor_at + mass_.count;
  l.jacobian_at = l.matrix_at + matrix_.count;
  l.contacts_at = l.jacobian_at + jacobian_count_;
  l.product_at = l.contacts_at + l.contacts * LaneLayout::contact_number_count;
  l.cell_count = l.product_at + 3 * widest_;
  return l;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
