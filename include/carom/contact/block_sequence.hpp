// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>

#include <Eigen/Core>

#include "carom/contact/block_view.hpp"
#include "carom/contact/bodies.hpp"
#include "carom/contact/weighted_block.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Bodies and a sequence of blocks on them. Each block has one or two bodies, rows J and a law.
/// ContactProblem adds blocks; solvers read them.
///
/// Most blocks are friction contacts. Their numbers are in a separate array. visit() passes them
/// with the same type as any other block, visit_by_kind() with a type of their own.
/// @note  Only the functions with which ContactProblem adds blocks allocate or throw.
template <RealScalar Scalar>
class BlockSequence : public Bodies<Scalar> {
 public:
  using FrictionContactView = BlockView<Scalar, 3>;
  using OtherBlockView = BlockView<Scalar>;

  /// Sets new numbers of a friction contact, μ ≥ 0 and R > 0. They are not checked. Real-time safe:
  /// no allocation, no exception.
  /// @pre  is_friction_contact(block).
  void set_law(Index block, const WeightedContact<Scalar>& law) noexcept;
  /// Sets new numbers of a block with the same count of rows. They are not checked. Real-time safe.
  /// @pre  a friction contact stays a friction contact.
  void set_law(Index block, const WeightedBlock<Scalar>& law) noexcept;
  /// Sets a new J of one side of a block. Its entries are not checked. The law does not change,
  /// also where its numbers were computed from the old J. Real-time safe: no allocation, no
  /// exception.
  /// @param jacobian  J, rows(block) × size of the body, finite, not zero.
  template <typename MatrixType>
  void set_jacobian(Index block, int side, const Eigen::MatrixBase<MatrixType>& jacobian) noexcept;
  /// Makes all contacts (blocks whose set is a cone) rigid. μ, R and v̂ do not change. Real-time
  /// safe.
  void make_rigid() noexcept;

  [[nodiscard]] Index block_count() const noexcept { return blocks_.size(); }
  /// Length of the stacked impulses: the rows of all blocks.
  [[nodiscard]] Index impulse_count() const noexcept { return row_count_; }
  /// Count of parts of all blocks. A block has one part, or two if it has more than three rows.
  [[nodiscard]] Index part_count() const noexcept { return part_count_; }
  /// Where the rows of a block begin in the stacked impulses.
  [[nodiscard]] Index first_row(Index block) const noexcept { return at(block).first_row; }
  [[nodiscard]] int rows(Index block) const noexcept {
    return is_friction_contact(block) ? 3 : other(block).set.rows;
  }
  /// Count of bodies of a block: 1 or 2.
  [[nodiscard]] int side_count(Index block) const noexcept {
    return at(block).bodies[1] < 0 ? 1 : 2;
  }
  /// Body on one side of a block.
  [[nodiscard]] Index side_body(Index block, int side) const noexcept {
    return at(block).bodies[std::size_t(side)];
  }
  /// The kind of set of its impulses.
  [[nodiscard]] ImpulseShape shape(Index block) const noexcept {
    return is_friction_contact(block) ? ImpulseShape::friction : other(block).set.shape;
  }
  /// v̂ of one of its rows.
  [[nodiscard]] const Scalar& bias_velocity(Index block, int row) const noexcept {
    return is_friction_contact(block) ? friction_contact_law(block).bias_velocity(row)
                                      : other(block).bias_velocity(row);
  }
  /// J of one side, rows × size.
  [[nodiscard]] auto jacobian(Index block, int side) const noexcept {
    return Columns(jacobian_.data() + at(block).jacobians[std::size_t(side)],
                   this->body(side_body(block, side)).size, rows(block))
        .transpose();
  }
  /// The numbers of a block, as in the argument of set_law().
  [[nodiscard]] WeightedBlock<Scalar> law(Index block) const noexcept {
    return is_friction_contact(block) ? as_block(friction_contact_law(block)) : other(block);
  }
  /// Whether a block is rigid. The next function: the count of rigid blocks.
  [[nodiscard]] bool is_rigid(Index block) const noexcept {
    return is_friction_contact(block) ? friction_contact_law(block).rigid : other(block).rigid;
  }
  [[nodiscard]] Index rigid_count() const noexcept { return rigid_count_; }
  /// The part of v̂ₙ that removes the overlap of a rigid contact [m/s], ≥ 0; 0 for other blocks.
  [[nodiscard]] Scalar overlap_velocity(Index block) const noexcept {
    if (!is_rigid(block)) return Scalar(0);
    return is_friction_contact(block) ? friction_contact_law(block).overlap_velocity
                                      : other(block).overlap_velocity;
  }
  /// Overlap of the deepest contact [m], ≥ 0, as far as the laws contain it. A contact given by its
  /// numbers only has no overlap.
  [[nodiscard]] Scalar deepest_overlap() const noexcept {
    Scalar deepest(0);
    const auto see = [&](const auto& laws) {
      for (const auto& law : laws) deepest = (std::max)(deepest, law.overlap);
    };
    see(contacts_);
    see(others_);
    return deepest;
  }

  /// Whether a block is a friction contact without adhesion, independent of the way it was added.
  /// It has three rows and the law of most blocks, and it is stored separately from the others.
  [[nodiscard]] bool is_friction_contact(Index block) const noexcept { return at(block).law >= 0; }
  [[nodiscard]] Index friction_contact_count() const noexcept { return contacts_.size(); }
  /// Its index among the friction contacts, or among the other blocks, in the order of addition.
  [[nodiscard]] Index number_of_kind(Index block) const noexcept {
    return is_friction_contact(block) ? at(block).law : -1 - at(block).law;
  }
  /// Numbers of a friction contact.
  [[nodiscard]] const WeightedContact<Scalar>& friction_contact_law(Index block) const noexcept {
    return contacts_[at(block).law];
  }
  /// One of its bodies, with the numbers that the block stores for it.
  [[nodiscard]] BlockSide<Scalar> side(Index block, int side) const noexcept;
  /// Its one or two bodies. The second body of a block with the world is −1.
  [[nodiscard]] std::array<BlockSide<Scalar>, 2> sides(Index block) const noexcept;
  /// A friction contact as a view of its own type.
  /// @pre  is_friction_contact(block).
  [[nodiscard]] FrictionContactView friction_contact(Index block) const noexcept {
    return {block, first_row(block), friction_contact_law(block), side_count(block), sides(block)};
  }
  /// @pre  !is_friction_contact(block).
  [[nodiscard]] OtherBlockView other_block(Index block) const noexcept {
    return view(block, other(block));
  }
  /// Calls visit(view) with a BlockView of a block. The type is the same for all blocks. The view
  /// is valid during the call.
  template <typename Visit>
  decltype(auto) visit(Index block, Visit&& visit) const {
    if (!is_friction_contact(block)) return visit(other_block(block));
    const WeightedBlock<Scalar> law = as_block(friction_contact_law(block));
    return visit(view(block, law));
  }
  /// The same for all blocks in their order.
  template <typename Visit>
  void for_each_block(Visit&& visit) const {
    for (Index i = 0; i < block_count(); ++i) this->visit(i, visit);
  }
  /// Calls visit(view) with a friction contact or another block by its own type. This is faster in
  /// a long loop, and has twice the code.
  template <typename Visit>
  decltype(auto) visit_by_kind(Index block, Visit&& visit) const {
    return is_friction_contact(block) ? visit(friction_contact(block)) : visit(other_block(block));
  }
  /// The same for all blocks in their order.
  template <typename Visit>
  void for_each_block_by_kind(Visit&& visit) const {
    for (Index i = 0; i < block_count(); ++i) visit_by_kind(i, visit);
  }

 protected:
  /// Removes all bodies and blocks. The memory stays allocated.
  void clear() noexcept {
    this->clear_bodies();
    blocks_.clear();
    contacts_.clear();
    others_.clear();
    jacobian_.clear();
    whitened_jacobian_.clear();
    row_count_ = part_count_ = rigid_count_ = 0;
  }
  /// Starts a new block. Its one or two sides are added next, then its law. All of them are already
  /// checked.
  void begin_block() { blocks_.push_back({{-1, -1}, {jacobian_.size(), 0}, row_count_, 0}); }
  /// Removes the last block, which has no law yet, with the sides that it has.
  void drop_block() noexcept {
    jacobian_.resize(blocks_.back().jacobians[0]);
    whitened_jacobian_.resize(jacobian_.size());
    blocks_.resize(block_count() - 1);
  }
  /// Memory for J of a side, entry (r, c) at [r size + c]. The caller writes it.
  [[nodiscard]] Scalar* append_side(Index body, Index rows);
  /// Writes Ĵ = J L⁻ᵀ of the sides of the last block, which has `rows` rows.
  void whiten_sides(Index rows) noexcept {
    for (std::size_t s = 0; s < 2 && blocks_.back().bodies[s] >= 0; ++s) {
      whiten_side(blocks_.back().bodies[s], blocks_.back().jacobians[s], rows);
    }
  }
  void append_law(const WeightedContact<Scalar>& law);
  void append_law(const WeightedBlock<Scalar>& law);

 private:
  using Columns = Eigen::Map<const MatrixX<Scalar>>;
  struct Block {
    std::array<Index, 2> bodies;     ///< second −1 for the world
    std::array<Index, 2> jacobians;  ///< where the Jacobian blocks start
    Index first_row;
    Index law;  ///< index among the friction contacts, or −1 minus the index among the others
  };
  [[nodiscard]] const Block& at(Index block) const noexcept { return blocks_[block]; }
  [[nodiscard]] const WeightedBlock<Scalar>& other(Index block) const noexcept {
    return others_[-1 - at(block).law];
  }
  [[nodiscard]] BlockView<Scalar> view(Index block,
                                       const WeightedBlock<Scalar>& law) const noexcept {
    return {block, first_row(block), law, side_count(block), sides(block)};
  }
  /// Writes Ĵ = J L⁻ᵀ of a side whose J begins at `start`.
  void whiten_side(Index body, Index start, Index rows) noexcept {
    const Index size = this->body(body).size;
    Scalar* const whitened = whitened_jacobian_.data() + start;
    std::copy_n(jacobian_.data() + start, size * rows, whitened);
    this->whiten_rows(body, whitened, rows);
  }

  Sequence<Block> blocks_;
  Sequence<WeightedContact<Scalar>> contacts_;
  Sequence<WeightedBlock<Scalar>> others_;
  Sequence<Scalar> jacobian_, whitened_jacobian_;
  Index row_count_ = 0, part_count_ = 0, rigid_count_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
void BlockSequence<Scalar>::set_law(Index block, const WeightedContact<Scalar>& law) noexcept {
  CAROM_EXPECTS(is_friction_contact(block));
  WeightedContact<Scalar>& kept = contacts_[at(block).law];
  rigid_count_ += Index(law.rigid) - Index(kept.rigid);
  kept = law;
}

template <RealScalar Scalar>
void BlockSequence<Scalar>::set_law(Index block, const WeightedBlock<Scalar>& law) noexcept {
  CAROM_EXPECTS(law.set.rows == rows(block));
  if (is_friction_contact(block)) return set_law(block, as_friction_contact(law));
  WeightedBlock<Scalar>& kept = others_[-1 - at(block).law];
  rigid_count_ += Index(law.rigid) - Index(kept.rigid);
  kept = law;
  detail::clear_unused(kept);
}

template <RealScalar Scalar>
void BlockSequence<Scalar>::make_rigid() noexcept {
  rigid_count_ = 0;
  for (auto& law : contacts_) law.rigid = true;
  for (auto& law : others_) {
    law.rigid = law.rigid || law.set.shape != ImpulseShape::intervals;
    rigid_count_ += Index(law.rigid);
  }
  rigid_count_ += friction_contact_count();
}

template <RealScalar Scalar>
std::array<BlockSide<Scalar>, 2> BlockSequence<Scalar>::sides(Index block) const noexcept {
  return {side(block, 0), side(block, 1)};
}

template <RealScalar Scalar>
BlockSide<Scalar> BlockSequence<Scalar>::side(Index block, int side) const noexcept {
  const Index body = side_body(block, side);
  if (body < 0) return {-1, {0, 0}, nullptr, nullptr};
  const Index start = at(block).jacobians[std::size_t(side)];
  return {body, this->body(body), jacobian_.data() + start, whitened_jacobian_.data() + start};
}

template <RealScalar Scalar>
Scalar* BlockSequence<Scalar>::append_side(Index body, Index rows) {
  const Index start = jacobian_.size();
  Block& block = blocks_.back();
  const std::size_t side = block.bodies[0] < 0 ? 0 : 1;
  jacobian_.resize(start + this->body(body).size * rows);
  whitened_jacobian_.resize(jacobian_.size());
  block.bodies[side] = body;
  block.jacobians[side] = start;
  return jacobian_.data() + start;
}

template <RealScalar Scalar>
template <typename MatrixType>
void BlockSequence<Scalar>::set_jacobian(Index block, int side,
                                         const Eigen::MatrixBase<MatrixType>& jacobian) noexcept {
  CAROM_EXPECTS(side >= 0 && side < side_count(block));
  CAROM_EXPECTS(jacobian.rows() == rows(block));
  CAROM_EXPECTS(jacobian.cols() == this->body(side_body(block, side)).size);
  const Index body = side_body(block, side), start = at(block).jacobians[std::size_t(side)];
  detail::write_entries(jacobian, jacobian.cols(), 1, jacobian_.data() + start);
  whiten_side(body, start, jacobian.rows());
}

/// Stores the law of the last block.
template <RealScalar Scalar>
void BlockSequence<Scalar>::append_law(const WeightedContact<Scalar>& law) {
  blocks_.back().law = friction_contact_count();
  contacts_.push_back(law);
  row_count_ += 3;
  part_count_ += 1;
  rigid_count_ += Index(law.rigid);
}
template <RealScalar Scalar>
void BlockSequence<Scalar>::append_law(const WeightedBlock<Scalar>& law) {
  if (carom::is_friction_contact(law)) return append_law(as_friction_contact(law));
  blocks_.back().law = -1 - others_.size();
  others_.push_back(law);
  detail::clear_unused(others_.back());
  row_count_ += law.set.rows;
  part_count_ += (law.set.rows + 2) / 3;
  rigid_count_ += Index(law.rigid);
}

}  // namespace CAROM_ABI
}  // namespace carom
