// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "carom/core/invalid_input.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/concepts.hpp"
#include "carom/viscoelastic/detail/frozen_derivative.hpp"
#include "carom/viscoelastic/detail/part_derivative.hpp"
#include "carom/viscoelastic/stepper.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Derivative of a whole step of ViscoelasticStepper, including the instants within the step at
/// which contacts are made or broken.
///
/// The state is (q, v, p₀): configuration in coordinates of the tangent, q ⊕ δ; velocity; anchors.
/// The rows are those of the state after the step, n_v + n_v + 3n. Anchors of open contacts and
/// heights of anchors are not variables: their rows and columns are zero. An instant t* is a
/// function of the data by the implicit function theorem on the quantity that vanishes there: the
/// height of a point that touches, or the force of spring and damper of a contact that opens
/// (saltation).
///
/// ```
/// carom::ViscoelasticStepDerivative<carom::FreeBody<double>> derivative(stepper);  // cold
/// derivative.step(stepper, state, 0.005); // hot: computes the step and its derivative
/// total = derivative.by_state() * total;           // the chain rule over many steps
/// ```
/// Real-time safe once constructed: no allocation, no exception, if the functions of the mechanism
/// are. A part of a step costs about 20 (3n)² (3 n_v + 10 n) multiply-adds per unit of ω t.
/// @cite  hammoud2022exponential, for the step. Its derivative is not in this source.
template <DifferentiableMechanism System>
class ViscoelasticStepDerivative {
 public:
  using Scalar = typename System::scalar_type;
  using State = typename System::State;
  using Stepper = ViscoelasticStepper<System>;
  /// A touch or release this near to the start or end of a step is one-sided, in shares of the step
  /// [-].
  static constexpr double nearness = 1e-9;

  /// Allocates all memory for the steps of a stepper.
  /// @note  Cold: allocates; throws std::invalid_argument for SlipLaw::radial.
  explicit ViscoelasticStepDerivative(Stepper& stepper)
      : columns_{stepper.system().velocity_count(), stepper.system().contact_count()} {
    if (Inside{stepper}.law() == SlipLaw::radial) {
      detail::reject_if("slip law: expected coulomb, convex or stick, got radial");
    }
    const Index n = columns_.contacts;
    part_.prepare(n, columns_.velocities);
    inputs_.grow(part_.columns().count(), columns_.count());
    crossing_.grow(part_.columns().count());
    for (Matrix* m : {&derivative_, &next_derivative_}) m->grow(columns_.rows(), columns_.count());
    points_by_.grow(3 * n, columns_.count());
    instant_.grow(columns_.count()), elapsed_.grow(columns_.count());
    was_active_.assign(std::size_t(n), 0);
    one_sided_.reserve(std::size_t(n));
    derivative_.setZero();
  }

  /// Computes a step and its derivative. The step is the same as without the derivative.
  /// @return  the stepper's report. It is also not_finite if a derivative left the range of the
  ///          type, or if a contact is so stiff or damped that ω t or the damping rate times t is
  ///          above 2·10⁵. Then all derivatives are NaN.
  ViscoelasticReport step(Stepper& stepper, State& state, const Scalar& dt) noexcept {
    CAROM_EXPECTS(stepper.system().contact_count() == columns_.contacts);
    CAROM_EXPECTS(stepper.system().velocity_count() == columns_.velocities);
    begin(stepper, dt);
    const Inside inside{stepper};
    ViscoelasticReport report =
        inside.step(state, dt, [&](const State& now, const Scalar&, bool cut) noexcept {
          if (finite_) finite_ = take_part(inside, now, cut);
        });
    follow_changes(stepper);
    if (!finite_) report.status = SolveStatus::not_finite;
    constexpr Scalar none = std::numeric_limits<Scalar>::quiet_NaN();
    if (report.status == SolveStatus::not_finite) derivative_.setConstant(none);
    return report;
  }

  /// Derivative by the state before the step; square.
  [[nodiscard]] auto by_state() const noexcept { return derivative_.leftCols(columns_.rows()); }
  /// Derivative by a constant generalized force in addition to those of the mechanism, n_v columns
  /// [1/N].
  [[nodiscard]] auto by_force() const noexcept { return by(columns_.force(), columns_.velocities); }
  /// Derivative by a constant acceleration added to v̇_free, such as gravity, n_v columns.
  [[nodiscard]] auto by_acceleration() const noexcept {
    return by(columns_.acceleration(), columns_.velocities);
  }
  /// Derivative by K of each contact, 3n columns (t₁, t₂, n). For contacts of one material, add
  /// their columns.
  [[nodiscard]] auto by_stiffness() const noexcept {
    return by(columns_.stiffness(), 3 * columns_.contacts);
  }
  /// Derivative by B of each contact, 3n columns.
  [[nodiscard]] auto by_damping() const noexcept {
    return by(columns_.damping(), 3 * columns_.contacts);
  }
  /// Derivative by μ of each contact, n columns.
  [[nodiscard]] auto by_friction() const noexcept {
    return by(columns_.friction(), columns_.contacts);
  }
  /// Derivative by the length of the step, one column.
  [[nodiscard]] auto by_time_step() const noexcept { return derivative_.col(columns_.time_step()); }
  /// All of these in this order.
  [[nodiscard]] const Growing<MatrixX<Scalar>>& matrix() const noexcept { return derivative_; }

  /// out ← matrix() change: the change of the state after the step for a change of all data.
  template <typename Values1, typename Values2>
  void push_forward(const Values1& change, Values2& out) const noexcept {
    CAROM_EXPECTS(change.size() == derivative_.cols() && out.size() == columns_.rows());
    out.noalias() = derivative_.lazyProduct(change);
  }
  /// gradient ← matrix()ᵀ weights: the gradient by all data, from the gradient by the state after
  /// the step.
  template <typename Values1, typename Values2>
  void pull_back(const Values1& weights, Values2& gradient) const noexcept {
    CAROM_EXPECTS(weights.size() == columns_.rows() && gradient.size() == derivative_.cols());
    gradient.noalias() = derivative_.transpose().lazyProduct(weights);
  }

  /// Contacts without a two-sided derivative: those between stick, slide and open, and those that
  /// touch or open exactly at the start or end of the step or at the same instant as another. The
  /// derivative is that of the case that was computed.
  [[nodiscard]] std::span<const Index> one_sided() const noexcept { return one_sided_; }

 private:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;
  using Inside = detail::StepperInside<Stepper>;

  [[nodiscard]] auto by(Index first, Index count) const noexcept {
    return derivative_.middleCols(first, count);
  }

  void begin(const Stepper& stepper, const Scalar& dt) noexcept {
    const Index k = columns_.velocities;
    one_sided_.clear();
    first_ = finite_ = true;
    length_ = rest_ = dt;
    derivative_.setZero();
    elapsed_.setZero();
    derivative_.topLeftCorner(2 * k, 2 * k).setIdentity();
    for (Index i = 0; i < columns_.contacts; ++i) {
      was_active_[std::size_t(i)] = stepper.active(i);
      if (!stepper.active(i)) continue;
      derivative_.template block<2, 2>(2 * k + 3 * i, 2 * k + 3 * i).setIdentity();
    }
  }

  void name(Index contact) noexcept {
    const auto end = one_sided_.end();
    if (std::find(one_sided_.begin(), end, contact) == end) one_sided_.push_back(contact);
  }

  /// Sets the anchors of contacts made since the last call to their points, and removes those of
  /// broken contacts.
  void follow_changes(const Stepper& stepper) noexcept {
    for (Index i = 0; i < columns_.contacts; ++i) {
      const bool now = stepper.active(i);
      if (now == (was_active_[std::size_t(i)] != 0)) continue;
      was_active_[std::size_t(i)] = now;
      auto own = derivative_.middleRows(2 * columns_.velocities + 3 * i, 3);
      own.setZero();
      if (now) own.topRows(2) = points_by_.middleRows(3 * i, 2);
    }
  }

  /// Differentiates a part that is solved and not yet committed, and multiplies the result with the
  /// derivative of the parts before.
  // NOLINTNEXTLINE(bugprone-exception-escape): memory has grown in the constructor
  [[nodiscard]] bool take_part(const Inside& inside, const State& now, bool cut) noexcept {
    part_.begin(inside.stepper);
    inputs_.grow(part_.columns().count(), columns_.count());
    crossing_.grow(part_.columns().count());
    const bool at_start = first_;
    first_ = false;
    if (at_start) touch_points(inside);
    follow_changes(inside.stepper);
    rest_ -= inside.data().time_step;
    if (!part_.evaluate(inside, now)) return false;
    for (std::size_t c = 0; c < part_.active().size(); ++c) {
      if (part_.one_sided(Index(c))) name(part_.active()[c]);
    }
    detail::write_part_inputs(columns_, part_, derivative_, inputs_);
    if (cut) {
      set_instant(inside, at_start);
    } else {
      inputs_.row(part_.columns().time()) = -elapsed_.transpose();
      inputs_(part_.columns().time(), columns_.time_step()) += Scalar(1);
      judge_end(inside);
    }
    chain();
    return next_derivative_.allFinite();
  }

  /// Derivatives of the points of the contacts at the start of the step. It also reports the
  /// contacts that touch or open exactly then.
  void touch_points(const Inside& inside) noexcept {
    const auto& data = inside.data();
    const auto& active = part_.active();
    points_by_.setZero();
    for (Index c = 0; c < Index(active.size()); ++c) {
      const Index i = active[std::size_t(c)];
      const auto rows = data.jacobian.middleRows(3 * c, 3);
      points_by_.middleRows(3 * i, 3).noalias() =
          rows.lazyProduct(derivative_.topRows(columns_.velocities));
      const Scalar pull = inside.pull(i, data.points(3 * c + 2), rows.row(2).dot(data.velocity));
      if (is_near(pull, Scalar(inside.pull(i, inside.height(i), inside.rate(i)) - pull))) name(i);
    }
    for (Index i = 0; i < columns_.contacts; ++i) {
      const Scalar height = inside.points()(3 * i + 2);
      const bool was_open = was_active_[std::size_t(i)] == 0;
      if (was_open && is_near(height, Scalar(inside.height(i) - height))) name(i);
    }
  }

  /// Derivatives of the length of a part, which ends where a contact is made or broken.
  ///
  /// A contact that pulls at the start of the step opens at once, for all neighbouring data. This
  /// case is detected by the quantity that vanished: at the end of the part it is larger than a
  /// change within the part could make it.
  void set_instant(const Inside& inside, bool at_start) noexcept {
    using std::abs;
    const Scalar part = inside.data().time_step;
    Index chosen = -1;
    for (Index i = 0; i < columns_.contacts; ++i) {
      if (!(inside.violation(i) > Scalar(0))) continue;
      const Scalar value = inside.crossing(i);
      part_.write_crossing(inside, i, inside.by_height(i), crossing_);
      const Scalar speed = crossing_(part_.columns().time());
      const bool at_once = abs(value) > part * (value > Scalar(0) ? speed : -speed);
      if (at_once && at_start) continue;
      if (chosen >= 0) name(chosen);
      const Scalar margin = Scalar(nearness) * length_;  // the start, an instant before, or the end
      if (chosen >= 0 || at_once || part < margin || rest_ < margin) name(i);
      if (chosen < 0 && !at_once) chosen = i;
    }
    if (chosen >= 0) move_instant(inside, chosen);
  }

  /// δt* = −δg/ġ for the quantity g that vanishes at a contact.
  void move_instant(const Inside& inside, Index i) noexcept {
    const Index time = part_.columns().time();
    const bool by_height = inside.by_height(i);
    part_.write_crossing(inside, i, by_height, crossing_);
    instant_.noalias() = inputs_.transpose().lazyProduct(crossing_);
    if (!by_height) {  // the force of other springs and dampers at the same position and velocity
      instant_(columns_.stiffness() + 3 * i + 2) += inside.height(i);
      instant_(columns_.damping() + 3 * i + 2) += inside.rate(i);
    }
    instant_ /= -crossing_(time);
    inputs_.row(time) = instant_.transpose();
    elapsed_ += instant_;
  }

  /// Reports contacts that would touch or open exactly at the end.
  void judge_end(const Inside& inside) noexcept {
    for (Index i = 0; i < columns_.contacts; ++i) {
      part_.write_crossing(inside, i, inside.by_height(i), crossing_);
      const Scalar speed = crossing_(part_.columns().time());
      if (is_near(inside.crossing(i), Scalar(length_ * speed))) name(i);
    }
  }
  [[nodiscard]] static bool is_near(const Scalar& value, const Scalar& change) noexcept {
    using std::abs;
    return abs(value) <= Scalar(nearness) * abs(change) && change != Scalar(0);
  }

  /// Computes the state's derivatives after the part.
  void chain() noexcept {
    const Index k = columns_.velocities;
    next_derivative_.topRows(k).noalias() = part_.place_by().lazyProduct(inputs_);
    next_derivative_.middleRows(k, k).noalias() = part_.velocity_by().lazyProduct(inputs_);
    next_derivative_.bottomRows(3 * columns_.contacts).setZero();
    for (Index c = 0; c < Index(part_.active().size()); ++c) {
      const Index i = part_.active()[std::size_t(c)];
      next_derivative_.middleRows(2 * k + 3 * i, 3).noalias() =
          part_.anchor_by().middleRows(3 * c, 3).lazyProduct(inputs_);
    }
    points_by_.noalias() = part_.point_by().lazyProduct(inputs_);
    derivative_ = next_derivative_;
  }

  detail::StepColumns columns_;
  detail::PartDerivative<System> part_;
  Matrix derivative_, next_derivative_, points_by_, inputs_;
  Vector instant_, elapsed_, crossing_;
  std::vector<std::uint8_t> was_active_;
  std::vector<Index> one_sided_;
  Scalar length_ = 0, rest_ = 0;  ///< of the step, and of its remaining part
  bool first_ = true, finite_ = true;
};

}  // namespace CAROM_ABI
}  // namespace carom
