// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <limits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/core/detail/small_vector.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Sets the size of sequences. Sequences with another size become zero.
/// @note  Allocates only for a size larger than every size before.
template <RealScalar Scalar>
void fit(Index size, std::initializer_list<Sequence<Scalar>*> all) {
  for (Sequence<Scalar>* numbers : all) {
    if (numbers->size() != size) numbers->assign(size, Scalar(0));
  }
}

/// Numbers of one block in parts of three rows.
template <RealScalar Scalar, int Parts>
using PartNumbers = SmallVector<Scalar, 3 * Parts>;
/// A square matrix over them.
template <RealScalar Scalar, int Parts>
using PartMatrix = SmallMatrix<Scalar, 3 * Parts>;

/// Rows of one block with one common bound by its normal, ‖γ_k/μ_k‖ ≤ γₙ, by their places in parts.
/// Rows without friction are omitted: their impulse is fixed.
template <RealScalar Scalar, int Most>
struct FrictionDisc {
  int size = 0;
  int places[Most] = {};
  Scalar friction[Most] = {};
};

/// A friction contact among the blocks: three rows (t₁, t₂, n), a cone with one disc of one μ > 0.
/// @tparam Parts  1; the specialisation for 2 describes blocks of all other kinds.
template <RealScalar Scalar, int Parts>
struct BlockRows {
  static constexpr int parts = 1;
  static constexpr int normal = 2;
  static constexpr int disc_count = 1;
  static constexpr int disc_rows = 2;
  static constexpr int most_discs = 1;
  using Numbers = PartNumbers<Scalar, 1>;

  Index first_part = 0;  ///< among the parts of all blocks
  FrictionDisc<Scalar, 2> disc;
  Numbers shift;
  Numbers regularization;   ///< R [1/kg], ≥ 0
  Scalar inverse_mass = 0;  ///< w, mean diagonal of the block's own W + R [1/kg]; 1 for 0

  [[nodiscard]] static constexpr int size() noexcept { return 3; }
  [[nodiscard]] static constexpr bool is_cone() noexcept { return true; }
  [[nodiscard]] static constexpr bool present(int) noexcept { return true; }
  [[nodiscard]] const FrictionDisc<Scalar, 2>& friction_disc(int) const noexcept { return disc; }
  [[nodiscard]] static constexpr int place(int row) noexcept { return row; }
  [[nodiscard]] ImpulseSet<Scalar> impulse_set() const noexcept {
    auto set = friction_impulses<Scalar>(disc.friction[0]);
    shift.write_to(set.shift.data());
    return set;
  }
};

/// Any block of one to six rows, in two parts: a cone of a normal with up to three discs, or rows
/// between bounds.
template <RealScalar Scalar>
struct BlockRows<Scalar, 2> {
  static constexpr int disc_rows = 5;
  static constexpr int most_discs = 3;
  using Numbers = PartNumbers<Scalar, 2>;

  Index first_part = 0;
  int parts = 1;
  int normal = -1;  ///< place of the normal; −1 for rows between bounds
  int disc_count = 0;
  FrictionDisc<Scalar, 5> discs[most_discs];
  ImpulseSet<Scalar> set;
  Numbers lower, upper;
  Numbers shift;
  Numbers regularization;
  Scalar inverse_mass = 0;

  [[nodiscard]] int size() const noexcept { return 3 * parts; }
  [[nodiscard]] bool is_cone() const noexcept { return normal >= 0; }
  [[nodiscard]] const FrictionDisc<Scalar, 5>& friction_disc(int b) const noexcept {
    return discs[b];
  }
  /// The place of a row of the set.
  [[nodiscard]] int place(int row) const noexcept { return part_place(set.shape, row); }
  /// Whether a place has a row.
  [[nodiscard]] bool present(int place) const noexcept {
    return row_at_place(set.shape, set.rows, place) >= 0;
  }
  [[nodiscard]] const ImpulseSet<Scalar>& impulse_set() const noexcept { return set; }
};

/// Three numbers as a vector of Eigen.
template <RealScalar Scalar>
[[nodiscard]] Vector3<Scalar> as_vector(const SmallVector<Scalar, 3>& x) noexcept {
  return {x(0), x(1), x(2)};
}
/// The numbers of a block from those of all parts; the others are zero.
template <RealScalar Scalar, int Parts>
[[nodiscard]] PartNumbers<Scalar, Parts> read_parts(const BlockRows<Scalar, Parts>& block,
                                                    const Scalar* numbers) noexcept {
  PartNumbers<Scalar, Parts> result;
  for (int k = 0; k < block.size(); ++k) result(k) = numbers[3 * block.first_part + k];
  return result;
}
template <RealScalar Scalar, int Parts>
void write_parts(const BlockRows<Scalar, Parts>& block, const PartNumbers<Scalar, Parts>& numbers,
                 Scalar* target) noexcept {
  for (int k = 0; k < block.size(); ++k) target[3 * block.first_part + k] = numbers(k);
}
/// Rows of the block's set out of its places, and back.
template <RealScalar Scalar, int Parts>
[[nodiscard]] RowNumbers<Scalar> rows_of_parts(const BlockRows<Scalar, Parts>& block,
                                               const PartNumbers<Scalar, Parts>& parts) noexcept {
  RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
  for (int r = 0; r < block.impulse_set().rows; ++r) rows(r) = parts(block.place(r));
  return rows;
}
template <RealScalar Scalar, int Parts>
[[nodiscard]] PartNumbers<Scalar, Parts> parts_of_rows(const BlockRows<Scalar, Parts>& block,
                                                       const RowNumbers<Scalar>& rows) noexcept {
  PartNumbers<Scalar, Parts> parts;
  for (int r = 0; r < block.impulse_set().rows; ++r) parts(block.place(r)) = rows(r);
  return parts;
}

/// Blocks of rows in one sequence. Friction contacts, which are most blocks, have their own array.
/// clear() and reserve() come first, then add() or add_triple() for each block in its order.
template <RealScalar Scalar>
class BlockList {
 public:
  void clear() noexcept {
    triples_.clear();
    others_.clear();
    at_.clear();
  }
  void reserve(Index count) {
    triples_.reserve(count);
    at_.reserve(count);
  }
  [[nodiscard]] Index size() const noexcept { return at_.size(); }
  [[nodiscard]] Index triple_count() const noexcept { return triples_.size(); }
  [[nodiscard]] Index other_count() const noexcept { return others_.size(); }
  [[nodiscard]] bool is_triple(Index i) const noexcept { return at_[i] >= 0; }
  /// Its index among blocks of its type.
  [[nodiscard]] int number(Index i) const noexcept { return is_triple(i) ? at_[i] : -1 - at_[i]; }
  [[nodiscard]] int parts(Index i) const noexcept {
    return is_triple(i) ? 1 : others_[number(i)].parts;
  }
  [[nodiscard]] Index first_part(Index i) const noexcept {
    return is_triple(i) ? triples_[at_[i]].first_part : others_[number(i)].first_part;
  }
  /// @pre  is_triple(i).
  [[nodiscard]] const BlockRows<Scalar, 1>& triple(Index i) const noexcept {
    return triples_[at_[i]];
  }
  /// @pre  !is_triple(i).
  [[nodiscard]] const BlockRows<Scalar, 2>& other(Index i) const noexcept {
    return others_[number(i)];
  }
  /// Calls visit(block) with the block as its own type.
  template <typename Visit>
  decltype(auto) visit(Index i, Visit&& visit) const noexcept {
    return is_triple(i) ? visit(triple(i)) : visit(other(i));
  }
  template <typename Visit>
  decltype(auto) change(Index i, Visit&& visit) noexcept {
    return is_triple(i) ? visit(triples_[at_[i]]) : visit(others_[number(i)]);
  }

  /// Adds a friction contact of μ > 0.
  void add_triple(const Scalar& friction, const PartNumbers<Scalar, 1>& regularization,
                  const PartNumbers<Scalar, 1>& shift, Index first_part) {
    BlockRows<Scalar, 1> block;
    block.first_part = first_part;
    block.disc = {2, {0, 1}, {friction, friction}};
    block.regularization = regularization;
    block.shift = shift;
    at_.push_back(int(triples_.size()));
    triples_.push_back(block);
  }
  /// Adds a block by its set and R, both by rows.
  void add(const ImpulseSet<Scalar>& set, const RowNumbers<Scalar>& regularization,
           Index first_part) {
    if (set.shape == ImpulseShape::friction && set.friction(0) > Scalar(0)) {
      using Three = PartNumbers<Scalar, 1>;
      return add_triple(set.friction(0), Three::at(regularization.data()),
                        Three::at(set.shift.data()), first_part);
    }
    BlockRows<Scalar, 2> block;
    block.set = set;
    block.first_part = first_part;
    block.parts = (set.rows + 2) / 3;
    for (int r = 0; r < set.rows; ++r) {
      const int p = block.place(r);
      block.lower(p) = set.lower(r);
      block.upper(p) = set.upper(r);
      block.shift(p) = set.shift(r);
      block.regularization(p) = regularization(r);
    }
    for (const FrictionBlock<Scalar>& rows : FrictionBlocks<Scalar>(set)) {
      FrictionDisc<Scalar, 5> disc;
      for (int k = 0; k < rows.size; ++k) {
        if (!(rows.mu(k) > Scalar(0))) continue;
        disc.places[disc.size] = block.place(rows.row(k));
        disc.friction[disc.size] = rows.mu(k);
        ++disc.size;
      }
      if (disc.size > 0) block.discs[block.disc_count++] = disc;
    }
    if (const int normal = normal_row(set.shape); normal >= 0) block.normal = block.place(normal);
    at_.push_back(-1 - int(others_.size()));
    others_.push_back(block);
  }

 private:
  Sequence<BlockRows<Scalar, 1>> triples_;
  Sequence<BlockRows<Scalar, 2>> others_;
  Sequence<int> at_;  ///< index of a triple, or −1 minus that of another block
};

/// The blocks of an island: those that influence each other, one after the other.
struct BlockIsland {
  Index first_block, block_end;
  Index first_part, part_end;
};

/// The gain N of every block, minus the change of its impulses per change of its velocities: parts
/// × parts blocks of 3 × 3, row by row of blocks, each column by column. lay_out() makes room for a
/// list of blocks; write() sets one block after the other; then they are read.
template <RealScalar Scalar>
class BlockGains {
 public:
  void lay_out(const BlockList<Scalar>& blocks) {
    starts_.resize(blocks.size());
    Index next = 0;
    for (Index i = 0; i < blocks.size(); ++i) {
      starts_[i] = next;
      next += 9 * blocks.parts(i) * blocks.parts(i);
    }
    values_.resize(next);
  }
  [[nodiscard]] const Scalar* at(Index block, int row, int column, int parts) const noexcept {
    return values_.data() + starts_[block] + 9 * (row * parts + column);
  }
  template <int Size>
  void write(Index block, int parts, const SmallMatrix<Scalar, Size>& gain) noexcept {
    Scalar* to = values_.data() + starts_[block];
    for (int a = 0; a < (Size == 3 ? 1 : parts); ++a) {
      for (int b = 0; b < (Size == 3 ? 1 : parts); ++b) {
        for (int c = 0; c < 3; ++c) {
          for (int r = 0; r < 3; ++r) *to++ = gain(3 * a + r, 3 * b + c);
        }
      }
    }
  }
  /// result −= N u of one block, in parts.
  void subtract_product(Index block, int parts, const Scalar* u, Scalar* result) const noexcept {
    for (int a = 0; a < parts; ++a) {
      for (int b = 0; b < parts; ++b) {
        const Scalar* const n = at(block, a, b, parts);
        const Scalar* const x = u + 3 * b;
        for (int r = 0; r < 3; ++r) {
          result[3 * a + r] -= n[r] * x[0] + n[3 + r] * x[1] + n[6 + r] * x[2];
        }
      }
    }
  }

 private:
  Sequence<Scalar> values_;
  Sequence<Index> starts_;
};

/// The change of the impulses of one block with the velocities du_w = W dγ: dγ = h − N du_w.
template <RealScalar Scalar, int Parts>
struct BlockResponse {
  PartMatrix<Scalar, Parts> gain;     ///< N
  PartNumbers<Scalar, Parts> offset;  ///< h
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
