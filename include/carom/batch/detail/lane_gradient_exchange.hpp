// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/batch_view.hpp"
#include "carom/batch/detail/lane_cells.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// Slopes and gradients between the arrays of a batch and the cells of LanePullBack.
/// @tparam Stride  of the cells
template <typename Number, int Stride = Number::count>
class LaneGradientExchange {
 public:
  using Scalar = typename Number::scalar_type;
  static constexpr int lanes = Number::count;
  using Cells = LaneCells<Number, Stride>;

  CAROM_DEVICE LaneGradientExchange(const LaneMapView& map, const LaneLayout& layout,
                                    const Cells& cells,
                                    const BatchGradients<Scalar>& gradients) noexcept
      : map_(map), layout_(layout), cells_(cells), gradients_(gradients) {}

  CAROM_DEVICE void read_slopes(const Index (&problems)[lanes]) const noexcept {
    const Cells to = vector(LaneLayout::best);
    const auto read = [&](const BatchArray<const Scalar>& array, const Cells& into, int from,
                          int count) {
      for (int l = 0; l < lanes; ++l) {
        const Scalar* const numbers = array.data != nullptr ? array.of(problems[l]) : nullptr;
        for (int i = 0; i < count; ++i) {
          into.of_lane(i, l) = numbers != nullptr ? numbers[from + i] : Scalar(0);
        }
      }
    };
    for (int b = 0; b < map_.body_count; ++b) {
      const LaneBody& body = map_.bodies[b];
      read(gradients_.by_velocity, to.from(map_.starts[b]), body.first, body.size);
    }
    for_each_contact([&](const Contact& contact) {
      read(gradients_.by_impulse, contact.slope, contact.numbers.row, contact.numbers.rows);
    });
  }
  /// Reads the impulses of rigid blocks, about which these are differentiated.
  CAROM_DEVICE void read_impulses(const BatchArray<Scalar>& impulse,
                                  const Index (&problems)[lanes]) const noexcept {
    for_each_contact([&](const Contact& contact) {
      if (!contact.numbers.rigid) return;
      for (int l = 0; l < lanes; ++l) {
        const Scalar* const numbers = impulse.of(problems[l]) + contact.numbers.row;
        for (int r = 0; r < contact.numbers.rows; ++r) {
          contact.multiplier.of_lane(r, l) = numbers[r];
        }
      }
    });
  }
  /// Writes the gradients of one lane, and adds its blocks on boundaries.
  CAROM_DEVICE void write(Index problem, int lane, int on_boundaries) const noexcept {
    if (gradients_.boundary_counts != nullptr) {
      gradients_.boundary_counts[problem] += on_boundaries;
    }
    write_numbers(problem, [lane](const Cells& cells, int i) { return cells.of_lane(i, lane); });
  }
  /// Writes zeros.
  CAROM_DEVICE void clear(Index problem) const noexcept {
    if (gradients_.boundary_counts != nullptr) gradients_.boundary_counts[problem] = 0;
    write_numbers(problem, [](const Cells&, int) { return Scalar(0); });
  }

 private:
  /// A block and its cells.
  struct Contact {
    const LaneContact& numbers;
    LaneSides sides;
    Cells impulse, multiplier, slope, pressed, by_friction, by_lower, by_upper;
  };
  [[nodiscard]] CAROM_DEVICE Cells vector(int name) const noexcept {
    return cells_.from(layout_.vector_at(name));
  }
  template <typename Visit>
  CAROM_DEVICE void for_each_contact(const Visit& visit) const noexcept {
    using Names = LaneLayout;
    for (int k = 0; k < map_.contact_count; ++k) {
      const Cells c = cells_.from(layout_.contact_at(k));
      visit(Contact{map_.contacts[k], map_.sides[k], c.from(Names::impulse),
                    c.from(Names::multiplier), c.from(Names::velocity_step),
                    c.from(Names::trial_step), c.from(Names::lift), c, c});
    }
    for (int b = 0; b < map_.other_count; ++b) {
      const LaneBlock& block = map_.blocks[b];
      const Cells base = cells_.from(layout_.blocks_at);
      const auto rows = [&](int name) { return base.from(block.row_at(name)); };
      visit(Contact{map_.others[b], block.sides, rows(LaneBlock::impulse),
                    rows(LaneBlock::multiplier), rows(LaneBlock::velocity_step),
                    rows(LaneBlock::trial_step), base.from(block.friction_at()),
                    rows(LaneBlock::contact_velocity), rows(LaneBlock::inverse)});
    }
  }
  template <typename Read>
  CAROM_DEVICE void write_numbers(Index problem, const Read& read) const noexcept {
    write_bodies(problem, read);
    for_each_contact([&](const Contact& contact) {
      write_law(problem, contact, read);
      if (gradients_.jacobian.data != nullptr) write_jacobian(problem, contact, read);
    });
  }
  template <typename Read>
  CAROM_DEVICE void write_bodies(Index problem, const Read& read) const noexcept;
  template <typename Read>
  CAROM_DEVICE void write_law(Index problem, const Contact& contact,
                              const Read& read) const noexcept;
  template <typename Read>
  CAROM_DEVICE void write_jacobian(Index problem, const Contact& contact,
                                   const Read& read) const noexcept;

  LaneMapView map_;
  const LaneLayout& layout_;
  Cells cells_;
  const BatchGradients<Scalar>& gradients_;
};

// --- implementation ---

/// ∂c/∂v* = A λ, and ∂c/∂A, the symmetric part of −λ (v − v*)ᵀ.
template <typename Number, int Stride>
template <typename Read>
CAROM_DEVICE void LaneGradientExchange<Number, Stride>::write_bodies(
    Index problem, const Read& read) const noexcept {
  const Cells velocity = vector(LaneLayout::velocity), free = vector(LaneLayout::free);
  const Cells lambda = vector(LaneLayout::best), by_free = vector(LaneLayout::momentum);
  for (int b = 0; b < map_.body_count; ++b) {
    const auto& [number, first, size, place] = map_.bodies[b];
    const int start = map_.starts[b];
    for (int i = 0; gradients_.free_velocity.data != nullptr && i < size; ++i) {
      gradients_.free_velocity.of(problem)[first + i] = read(by_free, start + i);
    }
    if (gradients_.mass.data == nullptr) continue;
    Scalar* const mass = gradients_.mass.of(problem) + place;
    const auto change = [&](int i) { return read(velocity, start + i) - read(free, start + i); };
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j <= i; ++j) {
        const Scalar sum = rounded_product(change(i), read(lambda, start + j)) +
                           rounded_product(read(lambda, start + i), change(j));
        mass[i * size + j] = mass[j * size + i] = sum / Scalar(-2);
      }
    }
  }
}

/// ∂c/∂v̂ = p, ∂c/∂R = −γ p, which is what v̂ − R γ changes by, and those by μ and bounds. R of a
/// rigid block changes nothing.
template <typename Number, int Stride>
template <typename Read>
CAROM_DEVICE void LaneGradientExchange<Number, Stride>::write_law(Index problem,
                                                                  const Contact& contact,
                                                                  const Read& read) const noexcept {
  const LaneContact& numbers = contact.numbers;
  const int rows = numbers.rows;
  if (gradients_.bias.data != nullptr) {
    Scalar* const bias = gradients_.bias.of(problem) + numbers.row;
    for (int r = 0; r < rows; ++r) bias[r] = read(contact.pressed, r);
  }
  if (gradients_.regularization.data != nullptr) {
    Scalar* const weights = gradients_.regularization.of(problem) + numbers.regularization;
    const auto weighed = [&](int r) {
      if (numbers.rigid) return Scalar(0);
      return -rounded_product(read(contact.impulse, r), read(contact.pressed, r));
    };
    if (numbers.is_friction_contact) {
      weights[0] = weighed(0) + weighed(1);
      weights[1] = weighed(2);
    } else {
      for (int r = 0; r < rows; ++r) weights[r] = weighed(r);
    }
  }
  if (gradients_.friction.data != nullptr) {
    Scalar* const friction = gradients_.friction.of(problem) + numbers.friction;
    for (int i = 0; i < friction_count(numbers.shape); ++i) {
      friction[i] = read(contact.by_friction, i);
    }
  }
  if (gradients_.bounds.data == nullptr || numbers.is_friction_contact) return;
  Scalar* const bounds = gradients_.bounds.of(problem) + numbers.bounds;
  for (int r = 0; r < rows; ++r) bounds[r] = read(contact.by_lower, r);
  if (numbers.shape != ImpulseShape::intervals) return;
  for (int r = 0; r < rows; ++r) bounds[rows + r] = read(contact.by_upper, r);
}

/// ∂c/∂J = γ λᵀ − p vᵀ.
template <typename Number, int Stride>
template <typename Read>
CAROM_DEVICE void LaneGradientExchange<Number, Stride>::write_jacobian(
    Index problem, const Contact& contact, const Read& read) const noexcept {
  const Cells velocity = vector(LaneLayout::velocity), lambda = vector(LaneLayout::best);
  const LaneContact& numbers = contact.numbers;
  for (int s = 0; s < 2; ++s) {
    const LaneContactSide& side = numbers.sides[s];
    if (side.body < 0) continue;
    const LaneSide& own = s == numbers.low_side ? contact.sides.low : contact.sides.high;
    const int start = own.column - side.first;
    Scalar* const jacobian = gradients_.jacobian.of(problem) + side.jacobian;
    for (int r = 0; r < numbers.rows; ++r) {
      const Scalar impulse = read(contact.impulse, r), pressed = read(contact.pressed, r);
      for (int c = 0; c < side.size; ++c) {
        jacobian[r * side.size + c] = rounded_product(impulse, read(lambda, start + c)) -
                                      rounded_product(pressed, read(velocity, start + c));
      }
    }
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
