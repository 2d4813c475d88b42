// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "carom/core/invalid_input.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/concepts.hpp"
#include "carom/viscoelastic/detail/part_derivative.hpp"
#include "carom/viscoelastic/detail/stepper_inside.hpp"
#include "carom/viscoelastic/stepper.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Derivative of a whole step of ViscoelasticStepper, with the instants at which contacts are made
/// or broken inside of it.
///
/// The state is (q, v, p₀): configuration in coordinates of the tangent, q ⊕ δ; velocity; anchors.
/// Rows are those of the state after the step, n_v + n_v + 3n. Anchors of open contacts and heights
/// of anchors are no variables: their rows and columns are zero. An instant t* moves with the data
/// by the implicit function theorem on what vanishes there: the height of a point that touches, the
/// force of spring and damper of a contact that opens (saltation).
///
/// ```
/// carom::ViscoelasticStepDerivative<carom::FreeBody<double>> derivative(stepper);  // cold
/// derivative.step(stepper, state, 0.005);          // hot: takes the step and differentiates it
/// total = derivative.by_state() * total;           // the chain rule over many steps
/// ```
/// Real-time safe once constructed: no allocation, no exception, if the functions of the mechanism
/// are so. A part of a step costs about 20 (3n)² (3 n_v + 10 n) multiply-adds per unit of ω t.
/// @cite  hammoud2022exponential, for the step; its derivative is ours.
template <DifferentiableMechanism System>
class ViscoelasticStepDerivative {
 public:
  using Scalar = typename System::scalar_type;
  using State = typename System::State;
  using Stepper = ViscoelasticStepper<System>;
  /// A touch or a release within this share of the step from its beginning or end is one-sided [-]:
  /// above what rounding leaves of an instant.
  static constexpr double nearness = 1e-9;

  /// Sizes all memory for the steps of a stepper.
  /// @note  Cold: allocates; throws std::invalid_argument for SlipLaw::radial, which is not
  ///        differentiated.
  explicit ViscoelasticStepDerivative(Stepper& stepper)
      : velocities_(stepper.system().velocity_count()),
        contacts_(stepper.system().contact_count()) {
    if (Inside{stepper}.law() == SlipLaw::radial) {
      detail::reject_if("slip law: expected coulomb, convex or stick, got radial");
    }
    const Index k = velocities_, n = contacts_;
    part_.prepare(n, k);
    inputs_.grow(part_.columns().count(), parameters() + 1);
    crossing_.grow(part_.columns().count());
    for (Matrix* m : {&derivative_, &next_derivative_}) m->grow(2 * k + 3 * n, parameters() + 1);
    points_by_.grow(3 * n, parameters() + 1);
    instant_.grow(parameters() + 1);
    elapsed_.grow(parameters() + 1);
    was_active_.assign(std::size_t(n), 0);
    one_sided_.reserve(std::size_t(n));
    derivative_.setZero();
  }

  /// Takes a step and differentiates it; the step is the same as without the derivative.
  /// @return  the stepper's report, not_finite also when a derivative left the range, or when
  ///          contact was so stiff that a part has more than 2·10⁵ periods of it.
  ViscoelasticReport step(Stepper& stepper, State& state, const Scalar& dt) noexcept {
    CAROM_EXPECTS(stepper.system().contact_count() == contacts_);
    begin(stepper);
    const Inside inside{stepper};
    ViscoelasticReport report = inside.step(
        state, dt, [&](const State& now, const Scalar&, bool cut) noexcept {
          if (finite_) finite_ = take_part(inside, now, cut);
        });
    follow_changes(stepper);
    if (!finite_) report.status = SolveStatus::not_finite;
    return report;
  }

  /// By the state before the step; square.
  [[nodiscard]] auto by_state() const noexcept { return derivative_.leftCols(rows()); }
  /// By a constant generalized force that acts beside those of the mechanism, n_v columns [1/N].
  [[nodiscard]] auto by_force() const noexcept { return block(rows(), velocities_); }
  /// By a constant acceleration added to v̇_free, such as gravity's, n_v columns.
  [[nodiscard]] auto by_acceleration() const noexcept {
    return block(rows() + velocities_, velocities_);
  }
  /// By K of each contact, 3n columns (t₁, t₂, n); contacts of one material add theirs.
  [[nodiscard]] auto by_stiffness() const noexcept { return block(stiffness(), 3 * contacts_); }
  /// By B of each contact, 3n columns.
  [[nodiscard]] auto by_damping() const noexcept { return block(damping(), 3 * contacts_); }
  /// By μ of each contact, n columns.
  [[nodiscard]] auto by_friction() const noexcept { return block(friction(), contacts_); }
  /// By the length of the step, a column.
  [[nodiscard]] auto by_time_step() const noexcept { return derivative_.col(parameters()); }
  /// All of these side by side, in this order.
  [[nodiscard]] const Growing<MatrixX<Scalar>>& matrix() const noexcept { return derivative_; }

  /// out ← matrix() change: of the state after the step, from a change of everything.
  template <typename Values1, typename Values2>
  void push_forward(const Values1& change, Values2& out) const noexcept {
    CAROM_EXPECTS(change.size() == derivative_.cols() && out.size() == rows());
    out.noalias() = derivative_.lazyProduct(change);
  }
  /// gradient ← matrix()ᵀ weights: by everything, from the gradient by the state after the step.
  template <typename Values1, typename Values2>
  void pull_back(const Values1& weights, Values2& gradient) const noexcept {
    CAROM_EXPECTS(weights.size() == rows() && gradient.size() == derivative_.cols());
    gradient.noalias() = derivative_.transpose().lazyProduct(weights);
  }

  /// Contacts at which the step has no two-sided derivative, each once: those on the boundary
  /// between stick, slide and open, that touch or open at the very beginning or end of the step, or
  /// at the same instant as another. There the derivative is that of the case which was computed.
  [[nodiscard]] std::span<const Index> one_sided() const noexcept { return one_sided_; }

 private:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;
  using Inside = detail::StepperInside<Stepper>;

  [[nodiscard]] Index rows() const noexcept { return 2 * velocities_ + 3 * contacts_; }
  [[nodiscard]] Index stiffness() const noexcept { return rows() + 2 * velocities_; }
  [[nodiscard]] Index damping() const noexcept { return stiffness() + 3 * contacts_; }
  [[nodiscard]] Index friction() const noexcept { return damping() + 3 * contacts_; }
  [[nodiscard]] Index parameters() const noexcept { return friction() + contacts_; }
  [[nodiscard]] auto block(Index first, Index count) const noexcept {
    return derivative_.middleCols(first, count);
  }

  void begin(const Stepper& stepper) noexcept {
    const Index k = velocities_;
    derivative_.setZero();
    elapsed_.setZero();
    derivative_.topLeftCorner(2 * k, 2 * k).setIdentity();
    for (Index i = 0; i < contacts_; ++i) {
      was_active_[std::size_t(i)] = stepper.active(i);
      if (!stepper.active(i)) continue;
      const Index r = 2 * k + 3 * i;
      derivative_.template block<2, 2>(r, r).setIdentity();
    }
    one_sided_.clear();
    first_ = finite_ = true;
  }

  void name(Index contact) noexcept {
    const auto end = one_sided_.end();
    if (std::find(one_sided_.begin(), end, contact) == end) one_sided_.push_back(contact);
  }

  /// Gives contacts made since the last look the anchors of their points, and takes away those of
  /// contacts broken.
  void follow_changes(const Stepper& stepper) noexcept {
    for (Index i = 0; i < contacts_; ++i) {
      const bool now = stepper.active(i);
      if (now == (was_active_[std::size_t(i)] != 0)) continue;
      was_active_[std::size_t(i)] = now;
      auto own = derivative_.middleRows(2 * velocities_ + 3 * i, 3);
      own.setZero();
      if (now) own.topRows(2) = points_by_.middleRows(3 * i, 2);
    }
  }

  /// Differentiates a part that is solved and not yet committed, and chains it to those before.
  // NOLINTNEXTLINE(bugprone-exception-escape): memory has grown in the constructor
  [[nodiscard]] bool take_part(const Inside& inside, const State& now, bool cut) noexcept {
    part_.begin(inside.stepper);
    inputs_.grow(part_.columns().count(), parameters() + 1);
    crossing_.grow(part_.columns().count());
    if (first_) touch_points(inside);
    first_ = false;
    follow_changes(inside.stepper);
    if (!part_.evaluate(inside, now)) return false;
    for (Index c = 0; c < Index(part_.active().size()); ++c) {
      if (part_.one_sided(c)) name(part_.active()[std::size_t(c)]);
    }
    write_inputs();
    if (cut) {
      set_instant(inside);
    } else {
      inputs_.row(part_.columns().time()) = -elapsed_.transpose();
      inputs_(part_.columns().time(), parameters()) += Scalar(1);
      judge_end(inside);
    }
    chain();
    return next_derivative_.allFinite();
  }

  /// Derivatives of the points of contacts that the step begins with, and those that touch just
  /// then.
  void touch_points(const Inside& inside) noexcept {
    const auto& data = inside.data();
    points_by_.setZero();
    for (Index c = 0; c < Index(part_.active().size()); ++c) {
      points_by_.middleRows(3 * part_.active()[std::size_t(c)], 3).noalias() =
          data.jacobian.middleRows(3 * c, 3).lazyProduct(derivative_.topRows(velocities_));
    }
    for (Index i = 0; i < contacts_; ++i) {
      if (was_active_[std::size_t(i)] != 0) continue;
      const Scalar height = inside.points()(3 * i + 2);
      const Scalar moved = inside.height(i) - height;
      if (std::abs(height) <= Scalar(nearness) * std::abs(moved)) name(i);
    }
  }

  /// Derivatives of the part's data by those of the step; its time is set by set_instant().
  void write_inputs() noexcept {
    const auto& columns = part_.columns();
    const Index k = velocities_;
    inputs_.setZero();
    inputs_.topRows(2 * k) = derivative_.topRows(2 * k);
    inputs_.block(columns.acceleration(), rows(), k, k) = part_.inverse_mass();
    inputs_.block(columns.acceleration(), rows() + k, k, k).setIdentity();
    for (Index c = 0; c < Index(part_.active().size()); ++c) {
      const Index i = part_.active()[std::size_t(c)];
      inputs_.middleRows(columns.anchors() + 3 * c, 3) = derivative_.middleRows(2 * k + 3 * i, 3);
      for (Index a = 0; a < 3; ++a) {
        inputs_(columns.stiffness() + 3 * c + a, stiffness() + 3 * i + a) = Scalar(1);
        inputs_(columns.damping() + 3 * c + a, damping() + 3 * i + a) = Scalar(1);
      }
      inputs_(columns.friction() + c, friction() + i) = Scalar(1);
    }
  }

  /// Derivatives of the part's length, which ends where a contact is made or broken.
  void set_instant(const Inside& inside) noexcept {
    Index first = -1, count = 0;
    for (Index i = 0; i < contacts_; ++i) {
      if (!(inside.violation(i) > Scalar(0))) continue;
      if (count++ == 0) first = i;
      if (count > 1) name(i);
    }
    if (count > 1) name(first);
    const Index time = part_.columns().time();
    const bool by_height = inside.by_height(first);
    part_.write_crossing(inside, first, by_height, crossing_);
    const Scalar speed = crossing_(time);
    if (!(std::abs(speed) > Scalar(0))) {  // it grazes: the instant has no derivative
      name(first);
      return;
    }
    instant_.noalias() = inputs_.transpose().lazyProduct(crossing_);
    if (!by_height) {  // the force of other springs and dampers at the same place and velocity
      instant_(stiffness() + 3 * first + 2) += inside.height(first);
      instant_(damping() + 3 * first + 2) += inside.rate(first);
    }
    instant_ /= -speed;
    inputs_.row(time) = instant_.transpose();
    elapsed_ += instant_;
  }

  /// Names contacts that would touch or open at the very end.
  void judge_end(const Inside& inside) noexcept {
    const Scalar span = inside.data().time_step;
    for (Index i = 0; i < contacts_; ++i) {
      const bool by_height = inside.by_height(i);
      part_.write_crossing(inside, i, by_height, crossing_);
      const auto& material = inside.material(i);
      const Scalar height = inside.height(i);
      const Scalar value = by_height ? height
                                     : material.stiffness(2) * height +
                                           material.damping(2) * inside.rate(i);
      const Scalar moved = span * std::abs(crossing_(part_.columns().time()));
      if (std::abs(value) < Scalar(nearness) * moved) name(i);
    }
  }

  /// The state's derivatives after the part.
  void chain() noexcept {
    const Index k = velocities_;
    next_derivative_.topRows(k).noalias() = part_.place_by().lazyProduct(inputs_);
    next_derivative_.middleRows(k, k).noalias() = part_.velocity_by().lazyProduct(inputs_);
    next_derivative_.bottomRows(3 * contacts_).setZero();
    for (Index c = 0; c < Index(part_.active().size()); ++c) {
      const Index i = part_.active()[std::size_t(c)];
      next_derivative_.middleRows(2 * k + 3 * i, 3).noalias() =
          part_.anchor_by().middleRows(3 * c, 3).lazyProduct(inputs_);
    }
    points_by_.noalias() = part_.point_by().lazyProduct(inputs_);
    std::swap(derivative_, next_derivative_);
  }

  Index velocities_, contacts_;
  detail::PartDerivative<System> part_;
  Matrix derivative_, next_derivative_, points_by_, inputs_;
  Vector instant_, elapsed_, crossing_;
  std::vector<std::uint8_t> was_active_;
  std::vector<Index> one_sided_;
  bool first_ = true, finite_ = true;
};

}  // namespace CAROM_ABI
}  // namespace carom
