// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "carom/contact/block_sequence.hpp"
#include "carom/contact/detail/block_reading.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One time step of compliant frictional contact: min ½‖v − v*‖²_A + ½‖P(y(v))‖²_R.
///
/// It is made of bodies and of blocks. A block is one to six rows J of one or two bodies, with a
/// law that bounds their impulses: a friction contact, whose rows are (t₁, t₂, n) and whose normal
/// velocity is positive where it separates, a contact that also resists rolling, a joint limit, a
/// motor. Nothing here iterates.
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
class ContactProblem : public BlockSequence<Scalar> {
 public:
  using scalar_type = Scalar;

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

  [[nodiscard]] Scalar time_step() const noexcept { return time_step_; }

 private:
  template <typename MatrixType>
  [[nodiscard]] static detail::GivenSide<MatrixType> side(
      Index body, const Eigen::MatrixBase<MatrixType>& jacobian) noexcept {
    return {body, jacobian};
  }
  template <typename Law, typename... Sides>
  Index add_block(const char* door, const Law& law, const Sides&... sides);
  template <typename Law, typename... Sides>
  [[nodiscard]] Fault block_fault(const char* door, const Law& law, const Sides&... sides) const;
  template <typename Law, typename... Sides>
  [[nodiscard]] Fault sides_fault(const std::string& item, const Sides&... sides) const;
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

/// What is wrong with the bodies and the Jacobians of a block, or nothing.
template <RealScalar Scalar>
template <typename Law, typename... Sides>
Fault ContactProblem<Scalar>::sides_fault(const std::string& item, const Sides&... sides) const {
  static_assert(FrictionContactLaw<Law, Scalar> || BlockLaw<Law, Scalar>,
                "a law has make_weighted(law, time_step, inverse_mass), which gives a "
                "WeightedContact or a WeightedBlock");
  const detail::BlockSizes given{int(sizeof...(sides)),
                                 {sides.body...},
                                 {sides.jacobian.rows()...},
                                 {sides.jacobian.cols()...}};
  Fault broken = detail::block_size_fault(*this, item, FrictionContactLaw<Law, Scalar>, given);
  const auto see = [&](const auto& side) {
    if (!broken.empty() || side.jacobian.allFinite()) return;
    broken = detail::finite_fault(item + ": Jacobian", side.jacobian);
  };
  (see(sides), ...);
  return broken;
}

/// What is wrong with a block that is not there, or nothing.
template <RealScalar Scalar>
template <typename Law, typename... Sides>
Fault ContactProblem<Scalar>::block_fault(const char* door, const Law& law,
                                          const Sides&... sides) const {
  const std::string item = door + std::to_string(this->block_count());
  if (Fault broken = sides_fault<Law>(item, sides...); !broken.empty()) return broken;
  constexpr Index few = 384;  // numbers of J that are kept without allocation, 64 velocities wide
  const Index total = (sides.jacobian.size() + ...);
  std::array<Scalar, std::size_t(2 * few)> room;
  std::vector<Scalar> more(total > few ? std::size_t(2 * total) : 0);
  Scalar* next = total > few ? more.data() : room.data();
  detail::BlockSides<Scalar> own{int(sizeof...(sides)), 0, {}};
  std::size_t s = 0;
  const auto keep = [&](const auto& side) {
    const Index size = side.jacobian.cols();
    own.rows = side.jacobian.rows();
    Scalar* const columns = next;
    Scalar* const whitened = next + size * own.rows;
    next = whitened + size * own.rows;
    for (Scalar* const kept : {columns, whitened}) {
      Eigen::Map<MatrixX<Scalar>>(kept, size, own.rows) = side.jacobian.transpose();
    }
    solve_lower(this->momentum_factor(side.body).data(), size, size, whitened, own.rows);
    own.all[s++] = {side.body, this->body(side.body), columns, whitened};
  };
  (keep(sides), ...);
  detail::LawNumbers<Law, Scalar> numbers;
  return detail::read_law(*this, time_step_, item, own, law, numbers);
}

template <RealScalar Scalar>
template <typename Law, typename... Sides>
Index ContactProblem<Scalar>::add_block(const char* door, const Law& law, const Sides&... sides) {
  const std::string item = door + std::to_string(this->block_count());
  detail::reject_if(sides_fault<Law>(item, sides...));
  this->begin_block();
  (this->append_side(sides.body, sides.jacobian), ...);
  const Index block = this->block_count() - 1;
  const std::array<Index, sizeof...(sides)> rows{sides.jacobian.rows()...};
  detail::LawNumbers<Law, Scalar> numbers;
  Fault broken = detail::read_law(
      *this, time_step_, item,
      detail::BlockSides<Scalar>{int(sizeof...(sides)), rows[0], this->sides(block)}, law, numbers);
  if (!broken.empty()) {
    this->drop_block();
    detail::reject_if(std::move(broken));
  }
  this->append_law(numbers);
  return block;
}

}  // namespace CAROM_ABI
}  // namespace carom
