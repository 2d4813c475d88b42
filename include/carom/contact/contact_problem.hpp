// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

#include "carom/contact/block_sequence.hpp"
#include "carom/contact/detail/block_reading.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One time step of compliant frictional contact: min ½‖v − v*‖²_A + ½‖P(y(v))‖²_R.
///
/// The problem consists of bodies and blocks. A block is one to six rows J of one or two bodies,
/// with a law that bounds their impulses. Examples: a friction contact with rows (t₁, t₂, n), whose
/// normal velocity is positive if it separates; a contact with rolling resistance; a joint limit; a
/// motor. Nothing here iterates.
///
/// ```
/// carom::ContactProblem<double> problem(0.01);
/// const auto ball = problem.add_body(mass * Eigen::Matrix3d::Identity(), free_velocity);
/// problem.add_contact(ball, Eigen::Matrix3d::Identity(), {.gap = 0, .stiffness = 1e5});
/// ```
/// @note  Cold: add_ functions may allocate and throw std::invalid_argument, naming the item; a
///        rejected item does not change the problem. reset() does not free memory: a problem that
///        is not larger than an earlier one is built without allocation.
template <RealScalar Scalar>
class ContactProblem : public BlockSequence<Scalar> {
 public:
  using scalar_type = Scalar;

  /// @param time_step  δt [s], > 0.
  explicit ContactProblem(Scalar time_step) { reset(time_step); }

  /// Removes all bodies and blocks. The memory stays allocated.
  void reset(Scalar time_step);

  /// Adds a contact of one body with the immobile world.
  /// @param jacobian  J [-, m], 3×n, rows (t₁, t₂, n); the count of rows is that of the law.
  /// @param law       CompliantContact, RigidContact, HuntCrossleyContact, WeightedContact;
  ///                  WrenchContact with 3 to 6 rows.
  /// @return  index of the block.
  template <typename MatrixType, typename Law = CompliantContact<Scalar>>
  Index add_contact(Index body, const Eigen::MatrixBase<MatrixType>& jacobian, const Law& law) {
    return add_block("contact ", law, given(body, jacobian));
  }
  /// Adds a contact between two bodies, each with its own Jacobian block.
  template <typename FirstType, typename SecondType, typename Law = CompliantContact<Scalar>>
  Index add_contact(Index first_body, const Eigen::MatrixBase<FirstType>& first_jacobian,
                    Index second_body, const Eigen::MatrixBase<SecondType>& second_jacobian,
                    const Law& law) {
    return add_block("contact ", law, given(first_body, first_jacobian),
                     given(second_body, second_jacobian));
  }
  /// Adds a block that is not a contact, on one body.
  /// @param jacobian  J, m×n, 1 ≤ m ≤ 6.
  /// @param law       JointLimit, DryFriction, Motor, Tendon, Bilateral, WeightedBlock.
  /// @return  index of the block.
  template <typename MatrixType, typename Law>
  Index add_constraint(Index body, const Eigen::MatrixBase<MatrixType>& jacobian, const Law& law) {
    return add_block("constraint ", law, given(body, jacobian));
  }
  /// Adds a block that is not a contact between two bodies, each with its own Jacobian block.
  template <typename FirstType, typename SecondType, typename Law>
  Index add_constraint(Index first_body, const Eigen::MatrixBase<FirstType>& first_jacobian,
                       Index second_body, const Eigen::MatrixBase<SecondType>& second_jacobian,
                       const Law& law) {
    return add_block("constraint ", law, given(first_body, first_jacobian),
                     given(second_body, second_jacobian));
  }

  /// The fault for which add_contact() would throw; empty if there is none. Does not change the
  /// problem.
  template <typename MatrixType, typename Law = CompliantContact<Scalar>>
  [[nodiscard]] Fault check_contact(Index body, const Eigen::MatrixBase<MatrixType>& jacobian,
                                    const Law& law) const {
    return block_fault("contact ", law, given(body, jacobian));
  }
  template <typename FirstType, typename SecondType, typename Law = CompliantContact<Scalar>>
  [[nodiscard]] Fault check_contact(Index first_body,
                                    const Eigen::MatrixBase<FirstType>& first_jacobian,
                                    Index second_body,
                                    const Eigen::MatrixBase<SecondType>& second_jacobian,
                                    const Law& law) const {
    return block_fault("contact ", law, given(first_body, first_jacobian),
                       given(second_body, second_jacobian));
  }
  /// The fault for which add_constraint() would throw; empty if there is none. Does not change the
  /// problem.
  template <typename MatrixType, typename Law>
  [[nodiscard]] Fault check_constraint(Index body, const Eigen::MatrixBase<MatrixType>& jacobian,
                                       const Law& law) const {
    return block_fault("constraint ", law, given(body, jacobian));
  }
  template <typename FirstType, typename SecondType, typename Law>
  [[nodiscard]] Fault check_constraint(Index first_body,
                                       const Eigen::MatrixBase<FirstType>& first_jacobian,
                                       Index second_body,
                                       const Eigen::MatrixBase<SecondType>& second_jacobian,
                                       const Law& law) const {
    return block_fault("constraint ", law, given(first_body, first_jacobian),
                       given(second_body, second_jacobian));
  }

  [[nodiscard]] Scalar time_step() const noexcept { return time_step_; }

 private:
  template <typename MatrixType>
  [[nodiscard]] static detail::GivenSide<MatrixType> given(
      Index body, const Eigen::MatrixBase<MatrixType>& jacobian) noexcept {
    return {body, jacobian};
  }
  template <typename Law, typename... Sides>
  Index add_block(const char* door, const Law& law, const Sides&... sides);
  template <typename Law, typename... Sides>
  [[nodiscard]] Fault block_fault(const char* door, const Law& law, const Sides&... sides) const;
  template <typename... Sides>
  [[nodiscard]] static detail::BlockSizes sizes_of(const Sides&... sides) noexcept {
    return {int(sizeof...(sides)),
            {sides.body...},
            {sides.jacobian.rows()...},
            {sides.jacobian.cols()...},
            {sides.is_column...}};
  }
  Scalar time_step_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
void ContactProblem<Scalar>::reset(Scalar time_step) {
  detail::reject_if(detail::is_positive(time_step)
                        ? Fault{}
                        : detail::fault("time step", "a finite number > 0", time_step));
  time_step_ = time_step;
  this->clear();
}

/// The fault of a block that is not in the problem; empty if there is none.
template <RealScalar Scalar>
template <typename Law, typename... Sides>
Fault ContactProblem<Scalar>::block_fault(const char* door, const Law& law,
                                          const Sides&... sides) const {
  const detail::ItemName item{door, this->block_count()};
  const detail::BlockSizes sizes = sizes_of(sides...);
  Fault broken = detail::block_size_fault(*this, item, detail::is_friction_law<Law, Scalar>, sizes);
  if (!broken.empty()) return broken;
  detail::BlockRoom<Scalar> room(*this, sizes);
  int s = 0;
  (detail::write_entries(sides.jacobian, sides.jacobian.cols(), 1, room.jacobian(s++)), ...);
  broken = detail::jacobian_fault(item, sizes, room.sides());
  if (!broken.empty()) return broken;
  room.whiten(*this);
  detail::LawNumbers<Law, Scalar> numbers;
  return detail::read_law(*this, time_step_, item, room.sides(), law, numbers);
}

template <RealScalar Scalar>
template <typename Law, typename... Sides>
Index ContactProblem<Scalar>::add_block(const char* door, const Law& law, const Sides&... sides) {
  const detail::ItemName item{door, this->block_count()};
  const detail::BlockSizes sizes = sizes_of(sides...);
  detail::reject_if(
      detail::block_size_fault(*this, item, detail::is_friction_law<Law, Scalar>, sizes));
  this->begin_block();
  detail::Rollback rollback([this] { this->drop_block(); });
  (detail::write_entries(sides.jacobian, sides.jacobian.cols(), 1,
                         this->append_side(sides.body, sizes.rows[0])),
   ...);
  const Index block = this->block_count() - 1;
  const detail::BlockSides<Scalar> own{sizes.count, sizes.rows[0], this->sides(block)};
  detail::LawNumbers<Law, Scalar> numbers;
  Fault broken = detail::jacobian_fault(item, sizes, own);
  if (broken.empty()) {
    this->whiten_sides(own.rows);
    broken = detail::read_law(*this, time_step_, item, own, law, numbers);
  }
  detail::reject_if(broken);
  this->append_law(numbers);
  rollback.keep();
  return block;
}

}  // namespace CAROM_ABI
}  // namespace carom
