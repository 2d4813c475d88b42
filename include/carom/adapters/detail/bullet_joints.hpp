// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "carom/adapters/detail/bullet_bodies.hpp"
#include "carom/contact/contact_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// One row in the form of a btTypedConstraint: J v = error − cfm γ, lower ≤ γ ≤ upper.
struct alignas(16) BulletRow {
  std::array<btVector3, 4> axes;  ///< linear and angular of body A, then of body B
  btScalar error, cfm, lower, upper;

  [[nodiscard]] bool bilateral() const noexcept {
    return lower <= -btScalar(SIMD_INFINITY) && upper >= btScalar(SIMD_INFINITY);
  }
  [[nodiscard]] bool finite() const noexcept {
    bool all = std::isfinite(error) && std::isfinite(cfm) && cfm >= btScalar(0) && lower <= upper;
    for (const btVector3& axis : axes) all = all && from_bullet(axis).allFinite();
    return all;
  }
};

/// Rows of a joint, up to six of them: one block of the problem.
struct JointBlock {
  btTypedConstraint* joint;
  std::array<int, 2> body_slots;
  int first_row, rows;
  double damping;  ///< removed share of the free velocity [-]: that of the joint, or Bullet's
  std::array<CoordinateRows, 2> sides;
  Vector<double, 6> held;    ///< J of the parts that no impulse changes
  Vector<double, 6> weight;  ///< W_ii [1/kg, 1/(kg·m²)]
  Index number = -1;         ///< index of its block in the problem; −1: not yet added
};

/// The joints of one group: reads rows from getInfo2, and writes impulses and feedback.
class BulletJoints {
 public:
  /// Reads all enabled joints' rows.
  /// @note  Cold: allocates only for a group larger than every group before.
  void read(btTypedConstraint** joints, int count, const btContactSolverInfo& info,
            BulletBodies& bodies) {
    rows_.clear();
    blocks_.clear();
    refused_ = 0;
    fault_.clear();
    for (int i = 0; i < count; ++i) read_joint(*joints[i], info, bodies);
  }
  [[nodiscard]] const std::vector<JointBlock>& blocks() const noexcept { return blocks_; }
  [[nodiscard]] const BulletRow& row(const JointBlock& block, int i) const noexcept {
    return rows_[std::size_t(block.first_row) + std::size_t(i)];
  }
  [[nodiscard]] int row_count() const noexcept { return int(rows_.size()); }
  [[nodiscard]] int refused() const noexcept { return refused_; }
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  /// Adds the joints to the problem: v̂ = error and R = cfm W_ii, as in Bullet's own solver.
  /// @param softness  least R relative to W_ii [-], > 0.
  void add_to(ContactProblem<double>& problem, const BulletBodies& bodies, double softness) {
    for (JointBlock& block : blocks_) {
      WeightedBlock<double> law;
      law.set.rows = block.rows;
      for (int i = 0; i < block.rows; ++i) {
        const BulletRow& row = this->row(block, i);
        const auto bound = [](btScalar x) {
          const double wide = std::numeric_limits<double>::infinity();
          return std::abs(x) < btScalar(SIMD_INFINITY) ? double(x) : x > 0 ? wide : -wide;
        };
        law.set.lower(i) = bound(row.lower);
        law.set.upper(i) = bound(row.upper);
        law.regularization(i) = block.weight(i) * std::max(double(row.cfm), softness);
        const double kept = 1 - block.damping;
        const double before = kept == 0 ? 0 : kept * free_velocity(block, i, bodies);
        law.bias_velocity(i) = double(row.error) + before - block.held(i);
      }
      block.number = add_constraint(problem, bodies, block, law);
    }
  }
  /// Adds the rows of a block under any law. Bodies without coordinates are omitted.
  static Index add_constraint(ContactProblem<double>& problem, const BulletBodies& bodies,
                              const JointBlock& block, const WeightedBlock<double>& law) {
    const std::array<Index, 2> index = {bodies[block.body_slots[0]].index,
                                        bodies[block.body_slots[1]].index};
    if (index[0] < 0) return problem.add_constraint(index[1], block.sides[1], law);
    if (index[1] < 0) return problem.add_constraint(index[0], block.sides[0], law);
    return problem.add_constraint(index[0], block.sides[0], index[1], block.sides[1], law);
  }

  /// Writes impulses to the joints: that of the largest row as applied impulse, wrenches as
  /// feedback. A joint with a row at its breaking threshold is disabled.
  void write_back(const ContactProblem<double>& problem, const VectorX<double>& impulse,
                  double time_step) const {
    for (const JointBlock& block : blocks_) {
      if (block.number < 0) continue;
      const Index first = problem.first_row(block.number);
      for (int i = 0; i < block.rows; ++i) apply(block, i, impulse(first + i), time_step);
    }
  }

 private:
  void read_joint(btTypedConstraint& joint, const btContactSolverInfo& info, BulletBodies& bodies) {
    joint.buildJacobian();
    joint.internalSetAppliedImpulse(0);
    if (btJointFeedback* const feedback = joint.getJointFeedback(); feedback != nullptr) {
      for (btVector3* x : {&feedback->m_appliedForceBodyA, &feedback->m_appliedTorqueBodyA,
                           &feedback->m_appliedForceBodyB, &feedback->m_appliedTorqueBodyB}) {
        x->setZero();
      }
    }
    if (!joint.isEnabled()) return;
    const std::array<int, 2> body_slots = {bodies.slot_of(joint.getRigidBodyA(), info),
                                           bodies.slot_of(joint.getRigidBodyB(), info)};
    if (bodies[body_slots[0]].refused || bodies[body_slots[1]].refused ||
        body_slots[0] == body_slots[1])
      return;
    btTypedConstraint::btConstraintInfo1 size = {0, 0};
    joint.getInfo1(&size);
    if (size.m_numConstraintRows <= 0) return;
    const int first = int(rows_.size());
    const double damping = read_rows(joint, info, size.m_numConstraintRows);
    for (int i = 0; i < size.m_numConstraintRows; ++i) {
      if (rows_[std::size_t(first) + std::size_t(i)].finite()) continue;
      refuse(joint, i);
      rows_.resize(std::size_t(first));
      return;
    }
    // Locked degrees of freedom can make a row that no impulse changes. Such a row constrains
    // nothing.
    const auto still = [&](const BulletRow& row) { return !moves(row, body_slots, bodies); };
    rows_.erase(std::remove_if(rows_.begin() + first, rows_.end(), still), rows_.end());
    const int count = int(rows_.size()) - first;
    for (int i = 0; i < count; i += 6) {
      append_block(joint, body_slots, first + i, std::min(6, count - i), bodies);
      blocks_.back().damping = damping;
    }
  }
  void refuse(const btTypedConstraint& joint, int row) {
    ++refused_;
    if (fault_.empty()) {
      fault_ = "joint of type " + std::to_string(int(joint.getConstraintType())) + ": row " +
               std::to_string(row) + ": expected finite numbers and lower <= upper, got others";
    }
  }
  /// Calls the joint, which appends its rows.
  /// @return  its damping.
  [[nodiscard]] double read_rows(btTypedConstraint& joint, const btContactSolverInfo& info,
                                 int count) {
    const std::size_t first = rows_.size();
    BulletRow blank;
    for (btVector3& axis : blank.axes) axis.setValue(0, 0, 0);
    blank.error = 0;
    blank.cfm = info.m_globalCfm;
    blank.lower = -btScalar(SIMD_INFINITY);
    blank.upper = btScalar(SIMD_INFINITY);
    rows_.resize(first + std::size_t(count), blank);
    BulletRow& row = rows_[first];
    btTypedConstraint::btConstraintInfo2 info2;
    info2.fps = 1 / info.m_timeStep;
    info2.erp = info.m_erp;
    info2.m_J1linearAxis = row.axes[0];
    info2.m_J1angularAxis = row.axes[1];
    info2.m_J2linearAxis = row.axes[2];
    info2.m_J2angularAxis = row.axes[3];
    info2.rowskip = int(sizeof(BulletRow) / sizeof(btScalar));
    info2.m_constraintError = &row.error;
    info2.cfm = &row.cfm;
    info2.m_lowerLimit = &row.lower;
    info2.m_upperLimit = &row.upper;
    info2.m_numIterations = info.m_numIterations;
    info2.m_damping = info.m_damping;
    joint.getInfo2(&info2);
    const btScalar breaking = joint.getBreakingImpulseThreshold();
    for (std::size_t i = first; i < rows_.size(); ++i) {
      rows_[i].upper = std::min(rows_[i].upper, breaking);
      rows_[i].lower = std::max(rows_[i].lower, -breaking);
    }
    return double(info2.m_damping);
  }
  /// The part of a row that acts on one of the two bodies.
  [[nodiscard]] static Eigen::Matrix<double, 1, 6> side_of(const BulletRow& row, std::size_t side) {
    Eigen::Matrix<double, 1, 6> part;
    part << from_bullet(row.axes[2 * side]).transpose(),
        from_bullet(row.axes[2 * side + 1]).transpose();
    return part;
  }
  /// Whether an impulse along a row moves a body.
  [[nodiscard]] static bool moves(const BulletRow& row, const std::array<int, 2>& body_slots,
                                  const BulletBodies& bodies) {
    for (std::size_t s = 0; s < 2; ++s) {
      if (body_slots[s] == BulletBodies::world) continue;
      const MovementRows part = side_of(row, s);
      if (!bodies.coordinate_rows(body_slots[s], part).isZero(0)) return true;
    }
    return false;
  }
  void append_block(btTypedConstraint& joint, const std::array<int, 2>& body_slots, int first,
                    int count, const BulletBodies& bodies) {
    JointBlock block;
    block.joint = &joint;
    block.body_slots = body_slots;
    block.first_row = first;
    block.rows = count;
    block.damping = 1;
    block.held.setZero();
    block.weight.setZero();
    for (std::size_t s = 0; s < 2; ++s) {
      MovementRows rows(count, 6);
      for (int i = 0; i < count; ++i) {
        rows.row(i) = side_of(rows_[std::size_t(first) + std::size_t(i)], s);
      }
      const BulletBody& body = bodies[body_slots[s]];
      block.sides[s].resize(count, 0);
      if (body_slots[s] == BulletBodies::world) continue;
      block.sides[s] = bodies.coordinate_rows(body_slots[s], rows);
      block.held.head(count) += rows * body.held;
      for (Index k = 0; k < body.inertia.size(); ++k) {
        block.weight.head(count) += block.sides[s].col(k).cwiseAbs2() / body.inertia(k);
      }
    }
    blocks_.push_back(block);
  }
  [[nodiscard]] static double free_velocity(const JointBlock& block, int row,
                                            const BulletBodies& bodies) {
    double sum = block.held(row);
    for (std::size_t s = 0; s < 2; ++s) {
      const BulletBody& body = bodies[block.body_slots[s]];
      if (block.sides[s].cols() == 0) continue;
      sum += block.sides[s].row(row).dot(body.velocity + body.thrust);
    }
    return sum;
  }
  void apply(const JointBlock& block, int i, double impulse, double time_step) const {
    btTypedConstraint& joint = *block.joint;
    const BulletRow& row = this->row(block, i);
    if (btJointFeedback* const feedback = joint.getJointFeedback(); feedback != nullptr) {
      const btScalar force = btScalar(impulse / time_step);
      feedback->m_appliedForceBodyA += row.axes[0] * force;
      feedback->m_appliedTorqueBodyA += row.axes[1] * force;
      feedback->m_appliedForceBodyB += row.axes[2] * force;
      feedback->m_appliedTorqueBodyB += row.axes[3] * force;
    }
    if (std::abs(impulse) > std::abs(double(joint.internalGetAppliedImpulse()))) {
      joint.internalSetAppliedImpulse(btScalar(impulse));
    }
    const double breaking = double(joint.getBreakingImpulseThreshold());
    if (std::abs(impulse) >= breaking * (1 - 1e-9)) joint.setEnabled(false);
  }

  std::vector<BulletRow> rows_;
  std::vector<JointBlock> blocks_;
  int refused_ = 0;
  std::string fault_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
