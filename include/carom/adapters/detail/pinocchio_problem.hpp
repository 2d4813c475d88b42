// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>
#include <span>
#include <string>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/core/invalid_input.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A contact point of a frame of a Pinocchio model with the world, or with another frame.
///
/// Several points of one frame are several contacts: a foot may have four.
struct PinocchioContact {
  /// Frame on the side to which the normal points, < model.nframes.
  pinocchio::FrameIndex frame = 0;
  pinocchio::FrameIndex other = 0;  ///< Frame at the start of the normal; 0 is the world.
  Eigen::Vector3d normal{0, 0, 1};  ///< n in the world's axes [-], of any length > 0.
  double gap = 0;                   ///< ϕ [m] at the start of the step; negative in penetration.
  double friction = 0;              ///< μ [-], ≥ 0.
  double restitution = 0;           ///< e [-], in [0, 1], Newton's.
  double correction = 0;            ///< Share of a penetration that a step removes, in [0, 1].
  /// World coordinates [m]; by default the frame's origin.
  std::optional<Eigen::Vector3d> point{};
};

/// Configuration and velocity of a Pinocchio model.
struct PinocchioState {
  VectorX<double> configuration;  ///< q, model.nq, with unit quaternions.
  VectorX<double> velocity;       ///< v, model.nv [m/s, rad/s], in Pinocchio's convention.
};

/// Forces of the joints, linear in the change of velocity: τ − δt K v⁺ − D (v⁺ − v).
///
/// A servo with gains K and D is stable for any step if both are given, together with τ = K
/// (q_d − q) − D v at the start of the step. Empty vectors count as zero.
struct PinocchioEffort {
  VectorX<double> torque;     ///< τ, model.nv [N, N·m].
  VectorX<double> stiffness;  ///< Diagonal of K, model.nv [N/m, N·m], ≥ 0.
  VectorX<double> damping;    ///< Diagonal of D, model.nv [N·s/m, N·m·s], ≥ 0.
};

namespace detail {

/// The fault of the numbers of one vector; empty if there is none.
[[nodiscard]] inline Fault pinocchio_vector_fault(const std::string& item,
                                                  const VectorX<double>& numbers, Index size,
                                                  bool nonnegative) {
  if (numbers.size() != size) {
    return fault(item + " entries", std::to_string(size).c_str(), numbers.size());
  }
  for (Index i = 0; i < size; ++i) {
    if (!is_finite(numbers(i))) return fault(entry(item, i), "a finite number", numbers(i));
    if (nonnegative && numbers(i) < 0) return fault(entry(item, i), "a number >= 0", numbers(i));
  }
  return {};
}

/// The law of a contact. The approach velocity is still zero.
[[nodiscard]] inline RigidContact<double> law_of(const PinocchioContact& contact) noexcept {
  return {.gap = contact.gap,
          .friction = contact.friction,
          .restitution = contact.restitution,
          .correction = contact.correction};
}

/// The fault of a contact; empty if there is none. A sentence is composed only if there is a fault.
[[nodiscard]] inline Fault pinocchio_contact_fault(const pinocchio::Model& model, Index number,
                                                   const PinocchioContact& contact) {
  const auto item = [number](const char* part) {
    return "contact " + std::to_string(number) + part;
  };
  const auto frames = pinocchio::FrameIndex(model.nframes);
  const bool first = contact.frame >= frames;
  if (first || contact.other >= frames) {
    const std::string below = "a number below " + std::to_string(frames);
    return fault(item(first ? ": frame" : ": other"), below.c_str(),
                 Index(first ? contact.frame : contact.other));
  }
  if (model.frames[contact.frame].parentJoint == model.frames[contact.other].parentJoint) {
    return fault(item(": other"), "a frame of another joint than that of frame",
                 Index(contact.other));
  }
  if (!contact.normal.allFinite()) return finite_fault(item(": normal"), contact.normal);
  if (!is_positive(contact.normal.norm())) {
    return fault(item(": normal"), "a length > 0", contact.normal.norm());
  }
  if (contact.point && !contact.point->allFinite()) {
    return finite_fault(item(": point"), *contact.point);
  }
  return law_fault(item(""), law_of(contact));
}

/// The kinematic trees of a Pinocchio model, which its mass matrix couples. Each one begins at a
/// joint on the universe.
class PinocchioTrees {
 public:
  static constexpr int none = -1;

  /// @note  Allocates only for a model larger than every model before.
  void read(const pinocchio::Model& model) {
    const Index joints = Index(model.njoints);
    tree_of_.assign(joints, none);
    int trees = 0;
    for (Index j = 1; j < joints; ++j) {
      const Index root = Index(model.supports[std::size_t(j)][1]);
      tree_of_[j] = root == j ? trees++ : tree_of_[root];
    }
    dofs_.resize(model.nv);
    place_of_.resize(model.nv);
    starts_.assign(trees + 1, 0);
    int next = 0;
    for (int t = 0; t < trees; ++t) {
      starts_[t] = next;
      for (Index j = 1; j < joints; ++j) {
        const int first = model.idx_vs[std::size_t(j)];
        for (int k = 0; tree_of_[j] == t && k < model.nvs[std::size_t(j)]; ++k, ++next) {
          dofs_[next] = first + k;
          place_of_[first + k] = next - starts_[t];
        }
      }
    }
    starts_[trees] = next;
  }

  [[nodiscard]] int count() const noexcept { return int(starts_.size()) - 1; }
  /// Tree of a joint; `none` for the universe.
  [[nodiscard]] int of_joint(pinocchio::JointIndex joint) const noexcept {
    return tree_of_[Index(joint)];
  }
  [[nodiscard]] int size(int tree) const noexcept { return starts_[tree + 1] - starts_[tree]; }
  /// Index in the model of a degree of freedom of a tree.
  [[nodiscard]] int dof(int tree, int place) const noexcept { return dofs_[starts_[tree] + place]; }
  /// Place of a degree of freedom in its tree.
  [[nodiscard]] int place(int dof) const noexcept { return place_of_[dof]; }

 private:
  Sequence<int> tree_of_, dofs_, place_of_, starts_;
};

/// A ContactProblem for a state of a Pinocchio model, and the conversion of its answer.
class PinocchioProblem {
 public:
  /// The fault for which write() would throw; empty if there is none. The time step and the mass
  /// matrix are not checked.
  [[nodiscard]] static Fault check(const pinocchio::Model& model, const pinocchio::Data& data,
                                   const PinocchioState& state, const PinocchioEffort& effort,
                                   std::span<const PinocchioContact> contacts) {
    if (!model.mimicking_joints.empty()) {
      return "joint " + std::to_string(model.mimicking_joints.front()) +
             ": expected a joint that moves by itself, got one that mimics another";
    }
    if (Index(data.oMi.size()) != Index(model.njoints) || data.M.rows() != model.nv) {
      return fault("data: rows of M", std::to_string(model.nv).c_str(), data.M.rows());
    }
    Fault found = pinocchio_vector_fault("configuration", state.configuration, model.nq, false);
    if (found.empty()) {
      found = pinocchio_vector_fault("velocity", state.velocity, model.nv, false);
    }
    if (found.empty() && !pinocchio::isNormalized(model, state.configuration, 1e-6)) {
      found = "configuration: expected unit quaternions and unit circles, got another length";
    }
    const VectorX<double>* const efforts[]{&effort.torque, &effort.stiffness, &effort.damping};
    static constexpr const char* names[]{"torque", "stiffness", "damping"};
    for (int k = 0; found.empty() && k < 3; ++k) {
      if (efforts[k]->size() == 0) continue;
      found = pinocchio_vector_fault(names[k], *efforts[k], model.nv, k > 0);
    }
    for (Index i = 0; found.empty() && i < Index(contacts.size()); ++i) {
      found = pinocchio_contact_fault(model, i, contacts[std::size_t(i)]);
    }
    return found;
  }

  /// Writes the problem. M, J, oMi and nle of data are computed; afterwards they are those of the
  /// state.
  /// @note  Cold: throws std::invalid_argument; allocates only for a step larger than every step
  ///        before.
  void write(const pinocchio::Model& model, pinocchio::Data& data, const PinocchioState& state,
             const PinocchioEffort& effort, std::span<const PinocchioContact> contacts,
             double time_step) {
    reject_if(check(model, data, state, effort, contacts));
    problem_.reset(time_step);
    pinocchio::crba(model, data, state.configuration, pinocchio::Convention::WORLD);
    pinocchio::nonLinearEffects(model, data, state.configuration, state.velocity);
    pinocchio::computeJointJacobians(model, data, state.configuration);
    trees_.read(model);
    body_of_.assign(trees_.count(), PinocchioTrees::none);
    for (const PinocchioContact& contact : contacts) {
      for (const auto frame : {contact.frame, contact.other}) {
        const int tree = trees_.of_joint(model.frames[frame].parentJoint);
        if (tree != PinocchioTrees::none) body_of_[tree] = 0;
      }
    }
    free_.grow(model.nv);
    for (int tree = 0; tree < trees_.count(); ++tree) {
      add_tree(data, state.velocity, effort, tree);
    }
    points_.clear();
    for (const PinocchioContact& contact : contacts) {
      add_contact(model, data, state.velocity, contact);
    }
  }

  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return problem_; }
  /// Writes the model's velocities: those of the problem, and the free velocities of trees without
  /// contact.
  void scatter(const VectorX<double>& of_problem, VectorX<double>& velocity) const noexcept {
    velocity = free_;
    for (int tree = 0; tree < trees_.count(); ++tree) {
      if (body_of_[tree] == PinocchioTrees::none) continue;
      const Index start = problem_.body(body_of_[tree]).start;
      for (int place = 0; place < trees_.size(tree); ++place) {
        velocity(trees_.dof(tree, place)) = of_problem(start + place);
      }
    }
  }
  /// Axes of a contact by rows, (t₁, t₂, n) in world axes.
  [[nodiscard]] const Eigen::Matrix3d& axes(Index contact) const noexcept {
    return points_[contact].axes;
  }
  /// Position of a contact [m], in the world.
  [[nodiscard]] const Eigen::Vector3d& point(Index contact) const noexcept {
    return points_[contact].place;
  }

 private:
  struct Point {
    Eigen::Matrix3d axes;
    Eigen::Vector3d place;
  };

  /// A = M + δt D + δt² K and v* = v + A⁻¹ (δt (τ − nle) − δt² K v) of one tree.
  void add_tree(const pinocchio::Data& data, const VectorX<double>& velocity,
                const PinocchioEffort& effort, int tree) {
    const int size = trees_.size(tree);
    const double step = problem_.time_step();
    const auto of = [](const VectorX<double>& numbers, int dof) {
      return numbers.size() == 0 ? 0.0 : numbers(dof);
    };
    mass_.grow(size, size);
    change_.grow(size);
    for (int c = 0; c < size; ++c) {
      const int dof = trees_.dof(tree, c);
      for (int r = 0; r <= c; ++r) {  // Pinocchio writes the upper triangle
        mass_(r, c) = mass_(c, r) = data.M(trees_.dof(tree, r), dof);
      }
      const double stiff = step * step * of(effort.stiffness, dof);
      mass_(c, c) += step * of(effort.damping, dof) + stiff;
      change_(c) = step * (of(effort.torque, dof) - data.nle(dof)) - stiff * velocity(dof);
    }
    factor_.grow(size, size);
    factor_ = mass_;
    if (!factor_cholesky(factor_.data(), Index(size), Index(size)) || !change_.allFinite()) {
      reject_if("tree " + std::to_string(tree) +
                ": expected a positive definite mass matrix and finite forces, got others");
    }
    solve_lower(factor_.data(), Index(size), Index(size), change_.data());
    solve_lower_transposed(factor_.data(), Index(size), Index(size), change_.data());
    for (int place = 0; place < size; ++place) {
      const int dof = trees_.dof(tree, place);
      change_(place) += velocity(dof);
      free_(dof) = change_(place);
    }
    if (body_of_[tree] != PinocchioTrees::none) {
      body_of_[tree] = int(problem_.add_body(mass_, change_));
    }
  }

  void add_contact(const pinocchio::Model& model, const pinocchio::Data& data,
                   const VectorX<double>& velocity, const PinocchioContact& contact) {
    const pinocchio::Frame& frame = model.frames[contact.frame];
    const pinocchio::JointIndex joints[]{frame.parentJoint,
                                         model.frames[contact.other].parentJoint};
    Point point;
    point.place = contact.point ? *contact.point
                                : data.oMi[frame.parentJoint].act(frame.placement.translation());
    point.axes.row(2) = contact.normal.normalized().transpose();
    point.axes.row(0) = point.axes.row(2).unitOrthogonal();
    point.axes.row(1) = point.axes.row(2).cross(point.axes.row(0));
    points_.push_back(point);
    const int trees[]{trees_.of_joint(joints[0]), trees_.of_joint(joints[1])};
    const bool two = trees[0] != PinocchioTrees::none && trees[1] != PinocchioTrees::none &&
                     trees[0] != trees[1];
    approach_ = 0;
    for (int k = 0; k < 2; ++k) {
      if (trees[k] == PinocchioTrees::none) continue;
      const bool begins = two || k == 0 || trees[0] == PinocchioTrees::none;
      Growing<MatrixX<double>>& side = sides_[two ? k : 0];
      if (begins) {
        side.grow(3, trees_.size(trees[k]));
        side.setZero();
      }
      add_motion(model, data, velocity, joints[k], k == 0 ? 1 : -1, side);
    }
    RigidContact<double> law = law_of(contact);
    law.approach = std::max(approach_, 0.0);
    const int own = trees[0] != PinocchioTrees::none ? trees[0] : trees[1];
    if (two) {
      problem_.add_contact(body_of_[trees[0]], sides_[0], body_of_[trees[1]], sides_[1], law);
    } else {
      problem_.add_contact(body_of_[own], sides_[0], law);
    }
  }

  /// Adds the velocity of the last point, which moves with a joint, to the rows of its tree.
  void add_motion(const pinocchio::Model& model, const pinocchio::Data& data,
                  const VectorX<double>& velocity, pinocchio::JointIndex joint, double sign,
                  Growing<MatrixX<double>>& side) noexcept {
    const Point& point = points_.back();
    for (const pinocchio::JointIndex on_path : model.supports[joint]) {
      for (int k = 0; k < model.nvs[on_path]; ++k) {
        const int dof = model.idx_vs[on_path] + k;
        const Eigen::Vector3d turning = data.J.col(dof).tail<3>();
        const Eigen::Vector3d moved = data.J.col(dof).head<3>() + turning.cross(point.place);
        const Eigen::Vector3d rows = sign * (point.axes * moved);
        side.col(trees_.place(dof)) += rows;
        approach_ -= rows(2) * velocity(dof);
      }
    }
  }

  PinocchioTrees trees_;
  ContactProblem<double> problem_{1.0};
  Sequence<int> body_of_;  ///< of each tree; `none` for trees without contact
  Sequence<Point> points_;
  Growing<MatrixX<double>> mass_, factor_, sides_[2];
  Growing<VectorX<double>> change_, free_;
  double approach_ = 0;
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
