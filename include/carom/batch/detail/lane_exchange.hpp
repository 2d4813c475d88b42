// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/batch/batch_view.hpp"
#include "carom/batch/detail/lane_matrices.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Calls visit(place of its numbers in a problem, its cells) for all blocks of an island.
template <typename Cells, typename Visit>
CAROM_DEVICE void for_each_block(const LaneMapView& map, const LaneLayout& layout,
                                 const Cells& cells, const Visit& visit) noexcept {
  using Block = LaneBlockCells<Cells>;
  for (int k = 0; k < map.contact_count; ++k) {
    visit(map.contacts[k], Block::of_contact(layout, cells, k));
  }
  for (int b = 0; b < map.other_count; ++b) {
    visit(map.others[b], Block::of_block(layout, cells, b));
  }
}

/// Copies numbers between the arrays of a batch and the cells of a lane solver. Each lane has an
/// island of one problem.
/// @tparam Number  Lanes<Scalar, Count>
/// @tparam Stride  of the cells
template <typename Number, int Stride = Number::count>
class LaneExchange {
 public:
  using Scalar = typename Number::scalar_type;
  static constexpr int lanes = Number::count;
  using Cells = LaneCells<Number, Stride>;

  CAROM_DEVICE LaneExchange(const LaneMapView& map, const LaneLayout& layout,
                            const Cells& cells) noexcept
      : map_(map), layout_(layout), cells_(cells) {}

  /// Reads the numbers of problems.
  /// @param problems  one for each lane
  /// @return  lanes whose numbers satisfy the pattern's zeros and are in the range of the law.
  [[nodiscard]] CAROM_DEVICE typename Number::Mask read(
      const BatchView<Scalar>& view, const Index (&problems)[lanes]) const noexcept;
  /// Writes the answer of one lane.
  CAROM_DEVICE void write(const BatchAnswers<Scalar>& answers, Index problem,
                          int lane) const noexcept;

 private:
  using Sources = const Scalar* [lanes];

  [[nodiscard]] CAROM_DEVICE Cells vector(int name) const noexcept {
    return cells_.from(layout_.vector_at(name));
  }
  CAROM_DEVICE static void find(const BatchArray<const Scalar>& array,
                                const Index (&problems)[lanes], Sources& sources) noexcept {
    for (int l = 0; l < lanes; ++l) sources[l] = array.of(problems[l]);
  }
  /// One number for each lane.
  [[nodiscard]] CAROM_DEVICE static Number gather(const Sources& sources, int from) noexcept {
    return Number::gather(sources, from);
  }
  CAROM_DEVICE void read_bodies(const BatchView<Scalar>& view,
                                const Index (&problems)[lanes]) const noexcept;
  using Mask = typename Number::Mask;
  [[nodiscard]] CAROM_DEVICE Mask read_jacobian(const Sources& sources, const LaneContact& contact,
                                                const LaneSides& sides) const noexcept;
  [[nodiscard]] CAROM_DEVICE Mask read_contacts(const BatchView<Scalar>& view,
                                                const Index (&problems)[lanes]) const noexcept;
  [[nodiscard]] CAROM_DEVICE Mask read_blocks(const BatchView<Scalar>& view,
                                              const Index (&problems)[lanes]) const noexcept;
  [[nodiscard]] CAROM_DEVICE Mask read_set(const LaneContact& numbers, const LaneBlock& block,
                                           const Sources& friction,
                                           const Sources& bounds) const noexcept;

  LaneMapView map_;
  const LaneLayout& layout_;
  Cells cells_;
};

// --- implementation ---

template <typename Number, int Stride>
CAROM_DEVICE void LaneExchange<Number, Stride>::read_bodies(
    const BatchView<Scalar>& view, const Index (&problems)[lanes]) const noexcept {
  Sources mass, free, guess;
  find(view.mass, problems, mass);
  find(view.free_velocity, problems, free);
  // Bodies without contacts are already solved.
  const bool guessed = view.guess.data != nullptr && map_.is_touched();
  find(guessed ? view.guess : view.free_velocity, problems, guess);
  const Cells to_free = vector(LaneLayout::free), to_velocity = vector(LaneLayout::velocity);
  const Cells to_frame = vector(LaneLayout::frame);
  for (int b = 0; b < map_.body_count; ++b) {
    const auto& [number, first, size, place] = map_.bodies[b];
    const int start = map_.starts[b];
    for (int i = 0; i < size; ++i) {
      to_free.set(start + i, gather(free, first + i));
      to_velocity.set(start + i, gather(guess, first + i));
      to_frame.set(start + i, Number(0));
      const Cells row = cells_.from(layout_.mass_at + layout_.mass_rows.place[start + i] + start);
      for (int j = 0; j <= i; ++j) row.set(j, gather(mass, place + i * size + j));
    }
  }
}

template <typename Number, int Stride>
CAROM_DEVICE typename Number::Mask LaneExchange<Number, Stride>::read_jacobian(
    const Sources& sources, const LaneContact& contact, const LaneSides& sides) const noexcept {
  // Sums of what should be zero.
  Scalar rest[lanes] = {};
  const int rows = contact.rows;
  const auto read = [&](const LaneContactSide& given, const LaneSide& side) {
    if (given.body < 0) return;
    const Cells to = cells_.from(layout_.jacobian_at + side.jacobian);
    const int end = given.first + given.count;
    for (int r = 0; r < rows; ++r) {
      const int row = given.jacobian + r * given.size;
      for (int c = 0; c < side.count; ++c)
        to.set(rows * c + r, gather(sources, row + given.first + c));
      for (int l = 0; l < lanes; ++l) {
        const Scalar* const numbers = sources[l] + row;
        for (int c = 0; c < given.first; ++c) rest[l] += std::abs(numbers[c]);
        for (int c = end; c < given.size; ++c) rest[l] += std::abs(numbers[c]);
      }
    }
  };
  read(contact.sides[contact.low_side], sides.low);
  read(contact.sides[1 - contact.low_side], sides.high);
  return Number::load(rest) <= Number(0);
}

template <typename Number, int Stride>
CAROM_DEVICE typename Number::Mask LaneExchange<Number, Stride>::read_contacts(
    const BatchView<Scalar>& view, const Index (&problems)[lanes]) const noexcept {
  Sources jacobian, friction, weights, bias;
  find(view.jacobian, problems, jacobian);
  find(view.friction, problems, friction);
  find(view.regularization, problems, weights);
  find(view.bias, problems, bias);
  Mask valid = everywhere<Number>(true);
  for (int k = 0; k < map_.contact_count; ++k) {
    const LaneContact& numbers = map_.contacts[k];
    const Cells c = cells_.from(layout_.contact_at(k));
    const Number mu = gather(friction, numbers.friction);
    const Number tangent = gather(weights, numbers.regularization);
    const Number normal = gather(weights, numbers.regularization + 1);
    valid = valid & (mu >= Number(0)) & (tangent > Number(0)) & (normal > Number(0));
    c.set(LaneLayout::friction, mu);
    c.set(LaneLayout::tangent, tangent);
    c.set(LaneLayout::normal, normal);
    for (int r = 0; r < 3; ++r) {
      c.set(LaneLayout::bias + r, gather(bias, numbers.row + r));
      if (layout_.rigid) c.set(LaneLayout::multiplier + r, Number(0));
    }
    valid = valid & read_jacobian(jacobian, numbers, map_.sides[k]);
  }
  return valid;
}

/// The set of a block.
template <typename Number, int Stride>
CAROM_DEVICE typename Number::Mask LaneExchange<Number, Stride>::read_set(
    const LaneContact& numbers, const LaneBlock& block, const Sources& friction,
    const Sources& bounds) const noexcept {
  Mask valid = everywhere<Number>(true);
  const Cells lower = cells_.from(layout_.blocks_at + block.row_at(LaneBlock::lower));
  const Cells upper = cells_.from(layout_.blocks_at + block.row_at(LaneBlock::upper));
  const Cells mu = cells_.from(layout_.blocks_at + block.friction_at());
  const Number largest((std::numeric_limits<Scalar>::max)());
  const bool cone = block.shape.normal >= 0;
  for (int r = 0; r < block.rows; ++r) {
    const Number low = gather(bounds, numbers.bounds + r);
    const Number high = cone ? low : gather(bounds, numbers.bounds + block.rows + r);
    lower.set(r, low);
    upper.set(r, high);
    // A shift must be finite. Bounds may be infinite, but the interval must not be empty.
    valid = valid &
            (cone ? abs(low) <= largest : (low <= high) & (low <= largest) & (high >= -largest));
  }
  for (int i = 0; i < 3; ++i) {
    const bool has = i < friction_count(numbers.shape);
    mu.set(i, has ? gather(friction, numbers.friction + i) : Number(0));
    valid = valid & (mu[i] >= Number(0));
  }
  return valid;
}

template <typename Number, int Stride>
CAROM_DEVICE typename Number::Mask LaneExchange<Number, Stride>::read_blocks(
    const BatchView<Scalar>& view, const Index (&problems)[lanes]) const noexcept {
  Sources jacobian, friction, weights, bias, bounds;
  find(view.jacobian, problems, jacobian);
  find(view.friction, problems, friction);
  find(view.regularization, problems, weights);
  find(view.bias, problems, bias);
  find(view.bounds, problems, bounds);
  Mask valid = everywhere<Number>(true);
  for (int b = 0; b < map_.other_count; ++b) {
    const LaneContact& numbers = map_.others[b];
    const LaneBlock& block = map_.blocks[b];
    const auto rows = [&](int name) { return cells_.from(layout_.blocks_at + block.row_at(name)); };
    const Cells weight = rows(LaneBlock::regularization);
    for (int r = 0; r < block.rows; ++r) {
      weight.set(r, gather(weights, numbers.regularization + r));
      valid = valid & (weight[r] > Number(0));
      rows(LaneBlock::bias).set(r, gather(bias, numbers.row + r));
      rows(LaneBlock::multiplier).set(r, Number(0));
    }
    for (int i = 0; !block.shape.ellipsoidal && i < block.shape.group_count; ++i) {
      const auto& [first, size] = block.shape.groups[i];
      if (size < 2) continue;  // rows that are bounded together have equal weights
      valid = valid & (weight[first] <= weight[first + 1]) & (weight[first + 1] <= weight[first]);
    }
    cells_.from(layout_.blocks_at + block.lift_at()).set(0, Number(0));
    valid = valid & read_set(numbers, block, friction, bounds);
    valid = valid & read_jacobian(jacobian, numbers, block.sides);
  }
  return valid;
}

template <typename Number, int Stride>
CAROM_DEVICE typename Number::Mask LaneExchange<Number, Stride>::read(
    const BatchView<Scalar>& view, const Index (&problems)[lanes]) const noexcept {
  read_bodies(view, problems);
  const Mask valid = read_contacts(view, problems);
  return map_.other_count == 0 ? valid : valid & read_blocks(view, problems);
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneExchange<Number, Stride>::write(const BatchAnswers<Scalar>& answers,
                                                      Index problem, int lane) const noexcept {
  Scalar* const velocity = answers.velocity.of(problem);
  const Cells from = vector(LaneLayout::velocity), frame = vector(LaneLayout::frame);
  for (int b = 0; b < map_.body_count; ++b) {
    const auto& [number, first, size, place] = map_.bodies[b];
    for (int i = 0; i < size; ++i) {
      const int at = map_.starts[b] + i;
      velocity[first + i] = frame.of_lane(at, lane) + from.of_lane(at, lane);
    }
  }
  if (answers.impulse.data == nullptr) return;
  Scalar* const impulse = answers.impulse.of(problem);
  for_each_block(map_, layout_, cells_, [&](const LaneContact& numbers, const auto& block) {
    for (int r = 0; r < numbers.rows; ++r) {
      impulse[numbers.row + r] = block.impulse.of_lane(r, lane);
    }
  });
}

/// Copies gradients between the arrays of a batch and the cells of LanePullBack.
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
    for_each_block(map_, layout_, cells_, [&](const LaneContact& numbers, const Block& block) {
      read(gradients_.by_impulse, block.velocity_step, numbers.row, numbers.rows);
    });
  }
  /// Reads the impulses of rigid blocks, at which the derivative is computed.
  CAROM_DEVICE void read_impulses(const BatchArray<Scalar>& impulse,
                                  const Index (&problems)[lanes]) const noexcept {
    for_each_block(map_, layout_, cells_, [&](const LaneContact& numbers, const Block& block) {
      for (int l = 0; block.rigid && l < lanes; ++l) {
        const Scalar* const given = impulse.of(problems[l]) + numbers.row;
        for (int r = 0; r < numbers.rows; ++r) block.multiplier.of_lane(r, l) = given[r];
      }
    });
  }
  /// Writes the gradients of one lane, and adds its count of blocks on boundaries.
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
  using Block = LaneBlockCells<Cells>;
  [[nodiscard]] CAROM_DEVICE Cells vector(int name) const noexcept {
    return cells_.from(layout_.vector_at(name));
  }
  template <typename Read>
  CAROM_DEVICE void write_numbers(Index problem, const Read& read) const noexcept {
    write_bodies(problem, read);
    for_each_block(map_, layout_, cells_, [&](const LaneContact& numbers, const Block& block) {
      write_law(problem, numbers, block, read);
      if (gradients_.jacobian.data != nullptr) write_jacobian(problem, numbers, block, read);
    });
  }
  template <typename Read>
  CAROM_DEVICE void write_bodies(Index problem, const Read& read) const noexcept;
  template <typename Read>
  CAROM_DEVICE void write_law(Index problem, const LaneContact& numbers, const Block& block,
                              const Read& read) const noexcept;
  template <typename Read>
  CAROM_DEVICE void write_jacobian(Index problem, const LaneContact& numbers, const Block& block,
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

/// ∂c/∂v̂ = p, ∂c/∂R = −γ p (because R acts through v̂ − R γ), and the gradients by μ and bounds. R
/// of a rigid block has no influence.
template <typename Number, int Stride>
template <typename Read>
CAROM_DEVICE void LaneGradientExchange<Number, Stride>::write_law(Index problem,
                                                                  const LaneContact& numbers,
                                                                  const Block& block,
                                                                  const Read& read) const noexcept {
  const int rows = numbers.rows;
  if (gradients_.bias.data != nullptr) {
    Scalar* const bias = gradients_.bias.of(problem) + numbers.row;
    for (int r = 0; r < rows; ++r) bias[r] = read(block.trial_step, r);
  }
  if (gradients_.regularization.data != nullptr) {
    Scalar* const weights = gradients_.regularization.of(problem) + numbers.regularization;
    const auto weighed = [&](int r) {
      if (numbers.rigid) return Scalar(0);
      return -rounded_product(read(block.impulse, r), read(block.trial_step, r));
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
      friction[i] = read(block.friction, i);
    }
  }
  if (gradients_.bounds.data == nullptr || numbers.is_friction_contact) return;
  Scalar* const bounds = gradients_.bounds.of(problem) + numbers.bounds;
  for (int r = 0; r < rows; ++r) bounds[r] = read(block.contact_velocity, r);
  if (numbers.shape != ImpulseShape::intervals) return;
  for (int r = 0; r < rows; ++r) bounds[rows + r] = read(block.inverse, r);
}

/// ∂c/∂J = γ λᵀ − p vᵀ.
template <typename Number, int Stride>
template <typename Read>
CAROM_DEVICE void LaneGradientExchange<Number, Stride>::write_jacobian(
    Index problem, const LaneContact& numbers, const Block& block,
    const Read& read) const noexcept {
  const Cells velocity = vector(LaneLayout::velocity), lambda = vector(LaneLayout::best);
  for (int s = 0; s < 2; ++s) {
    const LaneContactSide& side = numbers.sides[s];
    if (side.body < 0) continue;
    const LaneSide& own = s == numbers.low_side ? block.sides.low : block.sides.high;
    const int start = own.column - side.first;
    Scalar* const jacobian = gradients_.jacobian.of(problem) + side.jacobian;
    for (int r = 0; r < numbers.rows; ++r) {
      const Scalar impulse = read(block.impulse, r), pressed = read(block.trial_step, r);
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
