// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <type_traits>

#include <Eigen/Core>

#include "carom/contact/block_sequence.hpp"
#include "carom/contact/concepts.hpp"
#include "carom/contact/detail/faults.hpp"
#include "carom/contact/detail/inverse_mass.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether a law is that of a friction contact.
template <typename Law, typename Scalar>
inline constexpr bool is_friction_law = [] {
  static_assert(FrictionContactLaw<Law, Scalar> || BlockLaw<Law, Scalar>,
                "a law has make_weighted(law, time_step, inverse_mass), which gives a "
                "WeightedContact or a WeightedBlock");
  return FrictionContactLaw<Law, Scalar>;
}();

/// The type of the numbers of a law.
template <typename Law, typename Scalar>
using LawNumbers = std::conditional_t<is_friction_law<Law, Scalar>, WeightedContact<Scalar>,
                                      WeightedBlock<Scalar>>;

/// A body and J, the arguments of the add_ functions.
template <typename MatrixType>
struct GivenSide {
  static constexpr bool is_column = MatrixType::ColsAtCompileTime == 1;
  Index body;
  const Eigen::MatrixBase<MatrixType>& jacobian;
};

/// The sides of a block. The numbers of its law are computed from them.
template <RealScalar Scalar>
struct BlockSides {
  using Columns = Eigen::Map<const MatrixX<Scalar>>;

  int count;  ///< 1 or 2
  Index rows;
  std::array<BlockSide<Scalar>, 2> all;

  [[nodiscard]] Index body(int s) const noexcept { return all[std::size_t(s)].body; }
  /// The row of J of a contact's normal.
  [[nodiscard]] const Scalar* normal(int s) const noexcept {
    const BlockSide<Scalar>& side = all[std::size_t(s)];
    return side.jacobian + 2 * side.range.size;
  }
  /// Jᵀ of one side, size × rows.
  [[nodiscard]] Columns columns(int s) const noexcept {
    return {all[std::size_t(s)].jacobian, all[std::size_t(s)].range.size, rows};
  }
  /// Ĵᵀ = L⁻¹ Jᵀ of one side.
  [[nodiscard]] Columns whitened_columns(int s) const noexcept {
    return {all[std::size_t(s)].whitened, all[std::size_t(s)].range.size, rows};
  }
};

/// The sides of a block of a sequence.
template <RealScalar Scalar>
[[nodiscard]] BlockSides<Scalar> sides_of(const BlockSequence<Scalar>& blocks,
                                          Index block) noexcept {
  return {blocks.side_count(block), blocks.rows(block), blocks.sides(block)};
}

/// W_ii = Σ J A⁻¹ Jᵀ for a block with three rows.
template <RealScalar Scalar>
[[nodiscard]] SquareMatrix<Scalar, 3> own_delassus(const BlockSides<Scalar>& sides) noexcept {
  SquareMatrix<Scalar, 3> sum = SquareMatrix<Scalar, 3>::Zero();
  for (int s = 0; s < sides.count; ++s) {
    const BlockSide<Scalar>& side = sides.all[std::size_t(s)];
    add_own_delassus(side.whitened, side.range.size, 3, sum);
  }
  return sum;
}
/// The diagonal of W_ii for a block with one to six rows.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> own_inverse_masses(const BlockSides<Scalar>& sides) noexcept {
  RowNumbers<Scalar> sum = RowNumbers<Scalar>::Zero();
  for (int s = 0; s < sides.count; ++s) {
    const auto& [body, range, jacobian, whitened] = sides.all[std::size_t(s)];
    for (Index i = 0; i < sides.rows; ++i) {
      const Scalar* const row = whitened + i * range.size;
      sum(i) += long_dot(row, row, range.size);
    }
  }
  return sum;
}
/// w = ‖W_ii‖_F/3 of a contact. It is 1 if J = 0: then no velocity moves the contact, and any R is
/// correct.
template <RealScalar Scalar>
[[nodiscard]] Scalar contact_inverse_mass(const BlockSides<Scalar>& sides) noexcept {
  using std::sqrt;
  bool moved = false;
  for (int s = 0; s < sides.count && !moved; ++s) {
    const BlockSide<Scalar>& side = sides.all[std::size_t(s)];
    for (Index i = 0; i < 3 * side.range.size && !moved; ++i) moved = side.jacobian[i] != Scalar(0);
  }
  if (!moved) return Scalar(1);
  const SquareMatrix<Scalar, 3> own = own_delassus(sides);
  return sqrt(dot(own.data(), own.data(), 9)) / 3;
}

/// The bodies of a block and the sizes of its Jacobians.
struct BlockSizes {
  int count;  ///< count of sides: 1 or 2
  std::array<Index, 2> bodies, rows, columns;
  std::array<bool, 2> is_column;  ///< whether a Jacobian is a vector by its type
};

/// The fault of these sizes; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault block_size_fault(const Bodies<Scalar>& all, const ItemName& item,
                                     bool friction_contact, const BlockSizes& sizes) {
  for (std::size_t s = 0; s < std::size_t(sizes.count); ++s) {
    const Index body = sizes.bodies[s];
    Fault index = body_index_fault(item, body, all.body_count());
    if (!index.empty()) return index;
    Fault size = jacobian_size_fault(item, friction_contact, sizes.rows[s], sizes.columns[s],
                                     all.body(body).size);
    if (!size.empty()) return size;
  }
  if (sizes.count == 1) return {};
  if (sizes.bodies[0] == sizes.bodies[1]) {
    return fault(item.text() + ": second body", "a body other than the first", sizes.bodies[1]);
  }
  if (sizes.rows[0] == sizes.rows[1]) return {};
  return fault(item.text() + ": second Jacobian rows", std::to_string(sizes.rows[0]).c_str(),
               sizes.rows[1]);
}

/// A fault for the first entry of a block's Jacobians that is not finite; empty if all are finite.
template <RealScalar Scalar>
[[nodiscard]] Fault jacobian_fault(const ItemName& item, const BlockSizes& sizes,
                                   const BlockSides<Scalar>& sides) {
  for (std::size_t s = 0; s < std::size_t(sides.count); ++s) {
    const Index size = sizes.columns[s];
    const Scalar* const jacobian = sides.all[s].jacobian;
    if (all_finite(jacobian, sides.rows * size)) continue;
    return finite_fault(
        item.text() + ": Jacobian",
        MatrixEntries<Scalar>{jacobian, sides.rows, size, size, 1, sizes.is_column[s]});
  }
  return {};
}

/// Memory for the Jacobians of a block that is only checked.
template <RealScalar Scalar>
class BlockRoom {
 public:
  BlockRoom(const Bodies<Scalar>& all, const BlockSizes& sizes)
      : sides_{sizes.count, sizes.rows[0], {}} {
    const Index total = sizes.rows[0] * (sizes.columns[0] + sizes.columns[1]);
    if (total > few) more_.resize(2 * total);
    Scalar* next = total > few ? more_.data() : numbers_.data();
    for (std::size_t s = 0; s < std::size_t(sizes.count); ++s) {
      const Index count = sizes.rows[0] * sizes.columns[s];
      sides_.all[s] = {sizes.bodies[s], all.body(sizes.bodies[s]), next, next + count};
      jacobians_[s] = next;
      next += 2 * count;
    }
  }
  BlockRoom(const BlockRoom&) = delete;
  BlockRoom& operator=(const BlockRoom&) = delete;

  /// J of one side, entry (r, c) at [r size + c]. The caller writes it.
  [[nodiscard]] Scalar* jacobian(int s) noexcept { return jacobians_[std::size_t(s)]; }
  /// Writes Ĵ = J L⁻ᵀ.
  void whiten(const Bodies<Scalar>& all) noexcept {
    for (int s = 0; s < sides_.count; ++s) {
      const Index size = sides_.all[std::size_t(s)].range.size, count = sides_.rows * size;
      Scalar* const whitened = jacobian(s) + count;
      std::copy_n(jacobian(s), count, whitened);
      all.whiten_rows(sides_.body(s), whitened, sides_.rows);
    }
  }
  [[nodiscard]] const BlockSides<Scalar>& sides() const noexcept { return sides_; }

 private:
  /// Count of numbers of J without allocation, 64 velocities wide.
  static constexpr Index few = 384;

  BlockSides<Scalar> sides_;
  std::array<Scalar*, 2> jacobians_{};
  std::array<Scalar, std::size_t(2 * few)> numbers_;
  Sequence<Scalar> more_;
};

/// A law with restitution, which needs the closing velocity of its rows before the step.
template <typename Law>
concept BouncingLaw = requires(const Law& law) {
  law.restitution.has_value();
  law.approach.has_value();
  law.surface_velocity;
};

/// Whether the velocities before the step are known for all bodies of a block.
template <RealScalar Scalar>
[[nodiscard]] bool knows_velocities(const Bodies<Scalar>& all,
                                    const BlockSides<Scalar>& sides) noexcept {
  return all.has_velocity_now(sides.body(0)) &&
         (sides.count == 1 || all.has_velocity_now(sides.body(1)));
}

/// The closing velocity of a contact before the step, (v̂ₙ − Jₙ v)₊ with v̂ₙ of the surface [m/s].
/// @pre  knows_velocities().
template <RealScalar Scalar>
[[nodiscard]] Scalar find_approach(const Bodies<Scalar>& all, const BlockSides<Scalar>& sides,
                                   const Vector3<Scalar>& surface_velocity) noexcept {
  Scalar closes = surface_velocity.z();
  for (int s = 0; s < sides.count; ++s) {
    const auto [start, size] = sides.all[std::size_t(s)].range;
    closes -= long_dot(sides.normal(s), all.velocity_now(sides.body(s)).data(), size);
  }
  return (std::max)(closes, Scalar(0));
}

/// A law that removes its overlap by the pressing velocity of its bodies.
template <typename Law>
concept PressedLaw = requires(const Law& law) {
  law.pressing.known;
  law.surface_velocity;
};

/// The pressing velocity of a contact: the largest velocity towards the other body that the step
/// adds to one of the bodies. If the velocity of a body before the step is not known, its free
/// velocity is used instead.
template <RealScalar Scalar>
[[nodiscard]] Pressing<Scalar> find_pressing(const Bodies<Scalar>& all,
                                             const BlockSides<Scalar>& sides) noexcept {
  Pressing<Scalar> pressing{Scalar(0), knows_velocities(all, sides)};
  for (int s = 0; s < sides.count; ++s) {
    const auto [start, size] = all.body(sides.body(s));
    const Scalar* const normal = sides.normal(s);
    Scalar closes = -long_dot(normal, all.free_velocity().data() + start, size);
    if (pressing.known) closes += long_dot(normal, all.velocity_now(sides.body(s)).data(), size);
    pressing.speed = (std::max)(pressing.speed, closes);
  }
  return pressing;
}

/// Gives a contact that overlaps what presses it together; any other law stays as it is.
template <RealScalar Scalar, typename Law>
void read_pressing(const Bodies<Scalar>& all, const BlockSides<Scalar>& sides, Law& law) {
  if constexpr (PressedLaw<Law>) {
    if (law.gap < Scalar(0)) law.pressing = find_pressing(all, sides);
  } else if constexpr (requires { law.contact.pressing; }) {
    read_pressing(all, sides, law.contact);
  }
}

/// Whether a law consists of the numbers of a friction contact, which may have a row that nothing
/// moves, through any function that adds it.
template <RealScalar Scalar, typename Law>
[[nodiscard]] bool is_contact_of_numbers([[maybe_unused]] const Law& law) noexcept {
  if constexpr (std::is_same_v<Law, WeightedBlock<Scalar>>) return is_friction_contact(law);
  return false;
}

/// Computes the numbers of a law from the sides of its block. A friction contact uses
/// w = ‖W_ii‖_F/3, any other block the diagonal of W_ii.
/// @return  the fault of the law, of J or of the computed numbers; empty if there is none.
template <RealScalar Scalar, typename Law>
[[nodiscard]] Fault read_law(const Bodies<Scalar>& all, const Scalar& time_step,
                             const ItemName& item, const BlockSides<Scalar>& sides, const Law& law,
                             LawNumbers<Law, Scalar>& numbers) {
  if constexpr (is_friction_law<Law, Scalar>) {
    if (Fault given = law_fault(item.text(), law); !given.empty()) return given;
    if constexpr (std::is_same_v<Law, WeightedContact<Scalar>>) {
      numbers = law;
      return {};
    }
    Law found = law;
    if constexpr (BouncingLaw<Law>) {
      if (law.restitution && *law.restitution > Scalar(0) && !law.approach) {
        if (!knows_velocities(all, sides)) {
          return item.text() +
                 ": approach: expected a number, or bodies that were added with their velocity "
                 "before the step, as restitution takes the approach from it, got neither";
        }
        found.approach = find_approach(all, sides, law.surface_velocity);
      }
    }
    read_pressing(all, sides, found);
    numbers = make_weighted(found, time_step, contact_inverse_mass(sides));
  } else {
    const RowNumbers<Scalar> diagonal = own_inverse_masses(sides);
    if (!is_contact_of_numbers<Scalar>(law)) {
      for (Index i = 0; i < sides.rows; ++i) {
        if (!(diagonal(i) > Scalar(0))) return zero_row_fault(item.text(), i);
      }
    }
    if (Fault given = law_fault(item.text(), law); !given.empty()) return given;
    Law found = law;
    read_pressing(all, sides, found);
    numbers = make_weighted(found, time_step, diagonal);
    if (numbers.set.rows != sides.rows) {
      return fault(item.text() + ": Jacobian rows", std::to_string(numbers.set.rows).c_str(),
                   sides.rows);
    }
  }
  return law_fault(item.text(), numbers);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
