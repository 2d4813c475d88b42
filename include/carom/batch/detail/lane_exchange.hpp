// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "carom/batch/batch_view.hpp"
#include "carom/batch/detail/lane_cells.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Numbers between the arrays of a batch and the cells of a lane solver, an island of a problem in
/// each lane.
/// @tparam Number  Lanes<Scalar, Count>
template <typename Number>
class LaneExchange {
 public:
  using Scalar = typename Number::scalar_type;
  static constexpr int lanes = Number::count;
  using Cells = LaneCells<Number, lanes>;

  LaneExchange(const LaneMap& map, const LaneLayout& layout, const Cells& cells) noexcept
      : map_(map), layout_(layout), cells_(cells) {}

  /// Reads the numbers of problems.
  /// @param problems  as many as there are lanes
  /// @return  where they obey the pattern's zeros and are in the range of the law.
  [[nodiscard]] typename Number::Mask read(const BatchView<Scalar>& view,
                                           const Index (&problems)[lanes]) const noexcept;
  /// Writes the answer of one lane.
  void write(const BatchAnswers<Scalar>& answers, Index problem, int lane) const noexcept;

 private:
  using Sources = const Scalar* [lanes];

  [[nodiscard]] Cells vector(int name) const noexcept {
    return cells_.from(layout_.vector_at(name));
  }
  static void find(const BatchArray<const Scalar>& array, const Index (&problems)[lanes],
                   Sources& sources) noexcept {
    for (int l = 0; l < lanes; ++l) sources[l] = array.of(problems[l]);
  }
  /// One number of each lane.
  [[nodiscard]] static Number gather(const Sources& sources, int from) noexcept {
    Scalar numbers[lanes];
    for (int l = 0; l < lanes; ++l) numbers[l] = sources[l][from];
    return Number::load(numbers);
  }
  void read_bodies(const BatchView<Scalar>& view, const Index (&problems)[lanes]) const noexcept;
  [[nodiscard]] typename Number::Mask read_jacobian(const Sources& sources,
                                                    std::size_t contact) const noexcept;

  const LaneMap& map_;
  const LaneLayout& layout_;
  Cells cells_;
};

// --- implementation ---

template <typename Number>
void LaneExchange<Number>::read_bodies(const BatchView<Scalar>& view,
                                       const Index (&problems)[lanes]) const noexcept {
  Sources mass, free, guess;
  find(view.mass, problems, mass);
  find(view.free_velocity, problems, free);
  // Bodies that nothing touches have their answer.
  const bool guessed = view.guess.data != nullptr && !map_.contacts().empty();
  find(guessed ? view.guess : view.free_velocity, problems, guess);
  const Cells to_free = vector(LaneLayout::free), to_velocity = vector(LaneLayout::velocity);
  for (std::size_t b = 0; b < map_.bodies().size(); ++b) {
    const auto& [number, first, size, place] = map_.bodies()[b];
    const int start = map_.start(b);
    for (int i = 0; i < size; ++i) {
      to_free.set(start + i, gather(free, first + i));
      to_velocity.set(start + i, gather(guess, first + i));
      const Cells row = cells_.from(layout_.mass_at + layout_.mass_rows.place[start + i] + start);
      for (int j = 0; j <= i; ++j) row.set(j, gather(mass, place + i * size + j));
    }
  }
}

template <typename Number>
typename Number::Mask LaneExchange<Number>::read_jacobian(const Sources& sources,
                                                          std::size_t contact) const noexcept {
  // Sums of what should be zero.
  Scalar rest[lanes] = {};
  const int low = map_.low_side(contact);
  const auto read = [&](const LaneContactSide& given, const LaneSide& side) {
    if (given.body < 0) return;
    const Cells to = cells_.from(layout_.jacobian_at + side.jacobian);
    const int end = given.first + given.count;
    for (int r = 0; r < 3; ++r) {
      const int row = given.jacobian + r * given.size;
      for (int c = 0; c < side.count; ++c)
        to.set(3 * c + r, gather(sources, row + given.first + c));
      for (int l = 0; l < lanes; ++l) {
        const Scalar* const numbers = sources[l] + row;
        for (int c = 0; c < given.first; ++c) rest[l] += std::abs(numbers[c]);
        for (int c = end; c < given.size; ++c) rest[l] += std::abs(numbers[c]);
      }
    }
  };
  const LaneContact& numbers = map_.contacts()[contact];
  read(numbers.sides[low], map_.sides(contact).low);
  read(numbers.sides[1 - low], map_.sides(contact).high);
  return Number::load(rest) <= Number(0);
}

template <typename Number>
typename Number::Mask LaneExchange<Number>::read(const BatchView<Scalar>& view,
                                                 const Index (&problems)[lanes]) const noexcept {
  read_bodies(view, problems);
  Sources jacobian, friction, weights, bias;
  find(view.jacobian, problems, jacobian);
  find(view.friction, problems, friction);
  find(view.regularization, problems, weights);
  find(view.bias, problems, bias);
  typename Number::Mask valid = everywhere<Number>(true);
  for (std::size_t k = 0; k < map_.contacts().size(); ++k) {
    const int number = map_.contacts()[k].number;
    const Cells c = cells_.from(layout_.contact_at(int(k)));
    const Number mu = gather(friction, number);
    const Number tangent = gather(weights, 2 * number), normal = gather(weights, 2 * number + 1);
    valid = valid & (mu >= Number(0)) & (tangent > Number(0)) & (normal > Number(0));
    c.set(LaneLayout::friction, mu);
    c.set(LaneLayout::tangent, tangent);
    c.set(LaneLayout::normal, normal);
    for (int r = 0; r < 3; ++r) c.set(LaneLayout::bias + r, gather(bias, 3 * number + r));
    valid = valid & read_jacobian(jacobian, k);
  }
  return valid;
}

template <typename Number>
void LaneExchange<Number>::write(const BatchAnswers<Scalar>& answers, Index problem,
                                 int lane) const noexcept {
  Scalar* const velocity = answers.velocity.of(problem);
  const Cells from = vector(LaneLayout::velocity);
  for (std::size_t b = 0; b < map_.bodies().size(); ++b) {
    const auto& [number, first, size, place] = map_.bodies()[b];
    for (int i = 0; i < size; ++i) velocity[first + i] = from.of_lane(map_.start(b) + i, lane);
  }
  if (answers.impulse.data == nullptr) return;
  Scalar* const impulse = answers.impulse.of(problem);
  for (std::size_t k = 0; k < map_.contacts().size(); ++k) {
    const Cells c = cells_.from(layout_.contact_at(int(k)) + LaneLayout::impulse);
    for (int r = 0; r < 3; ++r) impulse[3 * map_.contacts()[k].number + r] = c.of_lane(r, lane);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
