// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include <Eigen/Core>

#include "carom/contact/block_view.hpp"
#include "carom/contact/bodies.hpp"
#include "carom/contact/detail/block_reading.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One time step of compliant frictional contact: min ½‖v − v*‖²_A + ½‖P(y(v))‖²_R.
///
/// It is made of bodies and of blocks. A block is one to six rows J of one or two bodies, with a
/// law that bounds their impulses: a friction contact, whose rows are (t₁, t₂, n) and whose normal
/// velocity is positive where it separates, a contact that also resists rolling, a joint limit, a
/// motor. Nothing in here iterates.
///
/// ```
/// carom::ContactProblem<double> problem(0.01);
/// const auto ball = problem.add_body(mass * Eigen::Matrix3d::Identity(), free_velocity);
/// problem.add_contact(ball, Eigen::Matrix3d::Identity(), {.gap = 0, .stiffness = 1e5});
/// ```
/// @note  Cold: add_ functions may allocate and throw std::invalid_argument, naming the item; a
///        refused item leaves the problem as it was. After reset() the memory is kept, so that a
///        problem no larger than an earlier one is built without allocation.
template <RealScalar Scalar>
class ContactProblem : public Bodies<Scalar> {
 public:
  using scalar_type = Scalar;
  using FrictionContactView = BlockView<Scalar, 3>;
  using OtherBlockView = BlockView<Scalar, 6>;

  /// @param time_step  δt [s], > 0.
  explicit ContactProblem(Scalar time_step) { reset(time_step); }

  /// Forgets all bodies and blocks, keeps their memory.
  void reset(Scalar time_step);

  /// Adds a contact of one body with the immobile world.
  /// @param jacobian  J [-, m], 3×n, rows (t₁, t₂, n); as many rows as the law has.
  /// @param law       CompliantContact, RigidContact, HuntCrossleyContact, WeightedContact;
  ///                  WrenchContact of 3 to 6 rows.
  /// @return  number of the block.
  template <typename MatrixType, typename Law = CompliantContact<Scalar>>
  Index add_contact(Index body, const Eigen::MatrixBase<MatrixType>& jacobian, const Law& law) {
    return add_block("contact ", law, side(body, jacobian));
  }
  /// Adds a contact between two bodies, each with its own Jacobian block.
  template <typename FirstType, typename SecondType, typename Law = CompliantContact<Scalar>>
  Index add_contact(Index first_body, const Eigen::MatrixBase<FirstType>& first_jacobian,
                    Index second_body, const Eigen::MatrixBase<SecondType>& second_jacobian,
                    const Law& law) {
    return add_block("contact ", law, side(first_body, first_jacobian),
                     side(second_body, second_jacobian));
  }
  /// Adds a block that is not a contact, on one body.
  /// @param jacobian  J, m×n, 1 ≤ m ≤ 6.
  /// @param law       JointLimit, DryFriction, Motor, Tendon, Bilateral, WeightedBlock.
  /// @return  number of the block.
  template <typename MatrixType, typename Law>
  Index add_constraint(Index body, const Eigen::MatrixBase<MatrixType>& jacobian, const Law& law) {
    return add_block("constraint ", law, side(body, jacobian));
  }
  /// Adds a block that is not a contact between two bodies, each with its own Jacobian block.
  template <typename FirstType, typename SecondType, typename Law>
  Index add_constraint(Index first_body, const Eigen::MatrixBase<FirstType>& first_jacobian,
                       Index second_body, const Eigen::MatrixBase<SecondType>& second_jacobian,
                       const Law& law) {
    return add_block("constraint ", law, side(first_body, first_jacobian),
                     side(second_body, second_jacobian));
  }

  /// What add_contact() would object to, or nothing. Does not change the problem.
  template <typename MatrixType, typename Law = CompliantContact<Scalar>>
  [[nodiscard]] Fault check_contact(Index body, const Eigen::MatrixBase<MatrixType>& jacobian,
                                    const Law& law) const {
    return block_fault("contact ", law, side(body, jacobian));
  }
  template <typename FirstType, typename SecondType, typename Law = CompliantContact<Scalar>>
  [[nodiscard]] Fault check_contact(Index first_body,
                                    const Eigen::MatrixBase<FirstType>& first_jacobian,
                                    Index second_body,
                                    const Eigen::MatrixBase<SecondType>& second_jacobian,
                                    const Law& law) const {
    return block_fault("contact ", law, side(first_body, first_jacobian),
                       side(second_body, second_jacobian));
  }
  /// What add_constraint() would object to, or nothing. Does not change the problem.
  template <typename MatrixType, typename Law>
  [[nodiscard]] Fault check_constraint(Index body, const Eigen::MatrixBase<MatrixType>& jacobian,
                                       const Law& law) const {
    return block_fault("constraint ", law, side(body, jacobian));
  }
  template <typename FirstType, typename SecondType, typename Law>
  [[nodiscard]] Fault check_constraint(Index first_body,
                                       const Eigen::MatrixBase<FirstType>& first_jacobian,
                                       Index second_body,
                                       const Eigen::MatrixBase<SecondType>& second_jacobian,
                                       const Law& law) const {
    return block_fault("constraint ", law, side(first_body, first_jacobian),
                       side(second_body, second_jacobian));
  }

  /// Gives a friction contact other numbers, μ ≥ 0 and R > 0, which are not checked. Real-time
  /// safe: no allocation, no exception.
  /// @pre  is_friction_contact(block).
  void set_law(Index block, const WeightedContact<Scalar>& law) noexcept;
  /// Gives a block other numbers, as many rows, which are not checked. Real-time safe.
  /// @pre  a friction contact stays one.
  void set_law(Index block, const WeightedBlock<Scalar>& law) noexcept;
  /// Makes every contact rigid, all blocks whose set is a cone; μ, R and v̂ stay. Real-time safe.
  void make_rigid() noexcept;

  [[nodiscard]] Scalar time_step() const noexcept { return time_step_; }
  [[nodiscard]] Index block_count() const noexcept { return Index(blocks_.size()); }
  /// Length of the stacked impulses: the rows of all blocks.
  [[nodiscard]] Index impulse_count() const noexcept { return row_count_; }
  /// Parts of all blocks: a friction contact is one, any other block one for each three rows begun.
  [[nodiscard]] Index part_count() const noexcept { return part_count_; }
  /// Where the rows of a block begin in the stacked impulses.
  [[nodiscard]] Index first_row(Index block) const noexcept { return at(block).first_row; }
  [[nodiscard]] int rows(Index block) const noexcept {
    return is_friction_contact(block) ? 3 : other(block).set.rows;
  }
  /// Bodies a block joins: 1 or 2.
  [[nodiscard]] int side_count(Index block) const noexcept {
    return at(block).bodies[1] < 0 ? 1 : 2;
  }
  /// Body on one side of a block.
  [[nodiscard]] Index side_body(Index block, int side) const noexcept {
    return at(block).bodies[std::size_t(side)];
  }
  /// J of one side, rows × size.
  [[nodiscard]] auto jacobian(Index block, int side) const noexcept {
    return Columns(jacobian_.data() + at(block).jacobians[std::size_t(side)],
                   this->body(side_body(block, side)).size, rows(block))
        .transpose();
  }
  /// The numbers of a block, as set_law() takes them.
  [[nodiscard]] WeightedBlock<Scalar> law(Index block) const noexcept {
    return is_friction_contact(block) ? as_block(friction_contact_law(block)) : other(block);
  }
  /// Whether a block does not give way, and how many do not.
  [[nodiscard]] bool is_rigid(Index block) const noexcept {
    return is_friction_contact(block) ? friction_contact_law(block).rigid : other(block).rigid;
  }
  [[nodiscard]] Index rigid_count() const noexcept { return rigid_count_; }

  /// Whether a block is a friction contact without adhesion, whichever way it was added: three rows
  /// and the laws of most blocks, kept apart from the others.
  [[nodiscard]] bool is_friction_contact(Index block) const noexcept { return at(block).law >= 0; }
  [[nodiscard]] Index friction_contact_count() const noexcept { return Index(contacts_.size()); }
  /// Numbers of a friction contact.
  [[nodiscard]] const WeightedContact<Scalar>& friction_contact_law(Index block) const noexcept {
    return contacts_[std::size_t(at(block).law)];
  }
  /// A block with its own type.
  /// @pre  is_friction_contact(block).
  [[nodiscard]] FrictionContactView friction_contact(Index block) const noexcept {
    return {block, first_row(block), friction_contact_law(block), side_count(block),
            sides<FrictionContactView>(block)};
  }
  /// @pre  !is_friction_contact(block).
  [[nodiscard]] OtherBlockView other_block(Index block) const noexcept {
    return {block, first_row(block), other(block), side_count(block), sides<OtherBlockView>(block)};
  }
  /// Calls visit(view) with the BlockView of a block.
  template <typename Visit>
  decltype(auto) visit(Index block, Visit&& visit) const {
    return is_friction_contact(block) ? visit(friction_contact(block)) : visit(other_block(block));
  }
  /// The same for all blocks in their order.
  template <typename Visit>
  void for_each_block(Visit&& visit) const {
    for (Index i = 0; i < block_count(); ++i) this->visit(i, visit);
  }

 private:
  using Columns = Eigen::Map<const MatrixX<Scalar>>;
  struct Block {
    std::array<Index, 2> bodies;     ///< second −1 for the world
    std::array<Index, 2> jacobians;  ///< where the Jacobian blocks start
    Index first_row;
    Index law;  ///< number among the friction contacts, or −1 less that among the others
  };
  template <typename MatrixType>
  [[nodiscard]] static detail::BlockSide<MatrixType> side(
      Index body, const Eigen::MatrixBase<MatrixType>& jacobian) noexcept {
    return {body, jacobian};
  }
  [[nodiscard]] const Block& at(Index block) const noexcept { return blocks_[std::size_t(block)]; }
  [[nodiscard]] const WeightedBlock<Scalar>& other(Index block) const noexcept {
    return others_[std::size_t(-1 - at(block).law)];
  }
  template <typename View>
  [[nodiscard]] std::array<typename View::Side, 2> sides(Index block) const noexcept;

  template <typename Law, typename... Sides>
  Index add_block(const char* door, const Law& law, const Sides&... sides);
  template <typename Law, typename... Sides>
  [[nodiscard]] Fault block_fault(const char* door, const Law& law, const Sides&... sides) const {
    detail::LawNumbers<Law, Scalar> numbers;
    return read_block(door, law, numbers, sides...);
  }
  template <typename Law, typename... Sides>
  [[nodiscard]] Fault read_block(const char* door, const Law& law,
                                 detail::LawNumbers<Law, Scalar>& numbers,
                                 const Sides&... sides) const;
  void append_law(const WeightedContact<Scalar>& law);
  void append_law(const WeightedBlock<Scalar>& law);

  Scalar time_step_ = 0;
  std::vector<Block> blocks_;
  std::vector<WeightedContact<Scalar>> contacts_;
  std::vector<WeightedBlock<Scalar>> others_;
  std::vector<Scalar> jacobian_, whitened_jacobian_;
  Index row_count_ = 0, part_count_ = 0, rigid_count_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
void ContactProblem<Scalar>::reset(Scalar time_step) {
  detail::reject_if(detail::is_positive(time_step)
                        ? Fault{}
                        : detail::fault("time step", "a finite number > 0", time_step));
  time_step_ = time_step;
  this->clear_bodies();
  blocks_.clear();
  contacts_.clear();
  others_.clear();
  jacobian_.clear();
  whitened_jacobian_.clear();
  row_count_ = part_count_ = rigid_count_ = 0;
}

template <RealScalar Scalar>
void ContactProblem<Scalar>::set_law(Index block, const WeightedContact<Scalar>& law) noexcept {
  CAROM_EXPECTS(is_friction_contact(block));
  WeightedContact<Scalar>& kept = contacts_[std::size_t(at(block).law)];
  rigid_count_ += Index(law.rigid) - Index(kept.rigid);
  kept = law;
}

template <RealScalar Scalar>
void ContactProblem<Scalar>::set_law(Index block, const WeightedBlock<Scalar>& law) noexcept {
  CAROM_EXPECTS(law.set.rows == rows(block));
  if (is_friction_contact(block)) return set_law(block, as_friction_contact(law));
  WeightedBlock<Scalar>& kept = others_[std::size_t(-1 - at(block).law)];
  rigid_count_ += Index(law.rigid) - Index(kept.rigid);
  kept = law;
  detail::clear_unused(kept);
}

template <RealScalar Scalar>
void ContactProblem<Scalar>::make_rigid() noexcept {
  rigid_count_ = 0;
  for (auto& law : contacts_) law.rigid = true;
  for (auto& law : others_) {
    law.rigid = law.rigid || law.set.shape != ImpulseShape::intervals;
    rigid_count_ += Index(law.rigid);
  }
  rigid_count_ += friction_contact_count();
}

template <RealScalar Scalar>
template <typename View>
std::array<typename View::Side, 2> ContactProblem<Scalar>::sides(Index block) const noexcept {
  const auto one = [&](std::size_t s) -> typename View::Side {
    const Index body = at(block).bodies[s];
    if (body < 0) return {-1, {0, 0}, nullptr, nullptr};
    const Index start = at(block).jacobians[s];
    return {body, this->body(body), jacobian_.data() + start, whitened_jacobian_.data() + start};
  };
  return {one(0), one(1)};
}

/// What is wrong with a block, or nothing, and the numbers of its law.
template <RealScalar Scalar>
template <typename Law, typename... Sides>
Fault ContactProblem<Scalar>::read_block(const char* door, const Law& law,
                                         detail::LawNumbers<Law, Scalar>& numbers,
                                         const Sides&... sides) const {
  static_assert(FrictionContactLaw<Law, Scalar> || BlockLaw<Law, Scalar>,
                "a law has make_weighted(law, time_step, inverse_mass), which gives a "
                "WeightedContact or a WeightedBlock");
  const std::string item = door + std::to_string(block_count());
  const detail::BlockSizes given{int(sizeof...(sides)),
                                 {sides.body...},
                                 {sides.jacobian.rows()...},
                                 {sides.jacobian.cols()...}};
  Fault sizes = detail::block_size_fault(*this, item, FrictionContactLaw<Law, Scalar>, given);
  if (!sizes.empty()) return sizes;
  return detail::read_law(*this, time_step_, item, law, numbers, sides...);
}

template <RealScalar Scalar>
template <typename Law, typename... Sides>
Index ContactProblem<Scalar>::add_block(const char* door, const Law& law, const Sides&... sides) {
  detail::LawNumbers<Law, Scalar> numbers;
  detail::reject_if(read_block(door, law, numbers, sides...));
  Block block{{-1, -1}, {0, 0}, row_count_, 0};
  std::size_t place = 0;
  const auto append = [&](const auto& given) {
    const Index size = given.jacobian.cols(), rows = given.jacobian.rows();
    const std::size_t start = jacobian_.size();
    block.bodies[place] = given.body;
    block.jacobians[place++] = Index(start);
    jacobian_.resize(start + std::size_t(size * rows));
    whitened_jacobian_.resize(jacobian_.size());
    using Kept = Eigen::Map<MatrixX<Scalar>>;
    Scalar* const whitened = whitened_jacobian_.data() + start;
    Kept(jacobian_.data() + start, size, rows) = given.jacobian.transpose();
    Kept(whitened, size, rows) = given.jacobian.transpose();
    solve_lower(this->momentum_factor(given.body).data(), size, size, whitened, rows);
  };
  (append(sides), ...);
  blocks_.push_back(block);
  append_law(numbers);
  return block_count() - 1;
}

/// Of the block last added.
template <RealScalar Scalar>
void ContactProblem<Scalar>::append_law(const WeightedContact<Scalar>& law) {
  blocks_.back().law = friction_contact_count();
  contacts_.push_back(law);
  row_count_ += 3;
  part_count_ += 1;
  rigid_count_ += Index(law.rigid);
}
template <RealScalar Scalar>
void ContactProblem<Scalar>::append_law(const WeightedBlock<Scalar>& law) {
  if (carom::is_friction_contact(law)) return append_law(as_friction_contact(law));
  blocks_.back().law = -1 - Index(others_.size());
  others_.push_back(law);
  detail::clear_unused(others_.back());
  row_count_ += law.set.rows;
  part_count_ += (law.set.rows + 2) / 3;
  rigid_count_ += Index(law.rigid);
}

}  // namespace CAROM_ABI
}  // namespace carom
