// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "carom/core/detail/step_parts.hpp"
#include "carom/core/invalid_input.hpp"
#include "carom/core/solve_report.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/concepts.hpp"
#include "carom/viscoelastic/contact_material.hpp"
#include "carom/viscoelastic/contact_step.hpp"
#include "carom/viscoelastic/slip_law.hpp"

namespace carom {
inline namespace CAROM_ABI {
/// Result of a step.
struct ViscoelasticReport {
  SolveStatus status = SolveStatus::not_finite;  ///< the worst status of the parts.
  int parts = 0;                                 ///< count of frozen steps in the step.
  int closed = 0;                                ///< contacts made within the step.
  int opened = 0;                                ///< contacts broken.
  [[nodiscard]] bool converged() const noexcept { return status == SolveStatus::converged; }
};

/// Options of ViscoelasticStepper.
template <RealScalar Scalar>
struct ViscoelasticOptions {
  SlipLaw law = SlipLaw::coulomb;  ///< see SlipLaw; the default is the physical law.
  /// Whether to search the instants at which contacts are made or broken. Otherwise contacts change
  /// only at the ends of steps, which is a first-order error in the step.
  bool events = true;
  /// Largest count of instants in one step, ≥ 0. Undamped stiff contacts that chatter have many.
  int event_limit = 400;
  /// of an instant, relative to the step, > 0. A smaller one costs a few more frozen steps per
  /// event.
  Scalar event_tolerance = Scalar(1e-9);
};

/// Steps a mechanism with contacts of any stiffness. Frozen parts of a step are exact for any
/// length. A step is divided where a contact is made or broken.
///
/// ```
/// carom::ViscoelasticStepper<carom::FreeBody<double>> stepper(body, materials);  // cold
/// stepper.step(state, 0.005);                                                    // hot
/// ```
template <ContactMechanism System>
class ViscoelasticStepper {
 public:
  using Scalar = typename System::scalar_type;
  using State = typename System::State;
  /// Largest count of bisections for an instant, each a frozen step. 30 reach the default
  /// tolerance. After 53 no double remains between the two ends, so the limit only bounds the work.
  static constexpr int search_limit = 60;

  /// @param materials  one per contact point, or one for all.
  /// @note  Cold: throws std::invalid_argument.
  ViscoelasticStepper(System system, const std::vector<ContactMaterial<Scalar>>& materials,
                      const ViscoelasticOptions<Scalar>& options = {})
      : system_(std::move(system)), options_(options) {
    const Index n = system_.contact_count();
    if (materials.size() != 1 && Index(materials.size()) != n) {
      detail::reject_if(
          detail::fault("materials", "one, or one per contact point", Index(materials.size())));
    }
    for (std::size_t i = 0; i < materials.size(); ++i) {
      const Fault found = check(materials[i]);
      if (!found.empty()) detail::reject_if("material " + std::to_string(i) + ": " + found);
    }
    if (!detail::is_positive(options.event_tolerance)) {
      detail::reject_if(detail::fault("event tolerance", "a number > 0", options.event_tolerance));
    }
    if (options.event_limit < 0) {
      detail::reject_if(detail::fault("event limit", "a number >= 0", Index(options.event_limit)));
    }
    for (Index i = 0; i < n; ++i) {
      materials_.push_back(materials[materials.size() == 1 ? 0 : std::size_t(i)]);
    }
    active_.assign(std::size_t(n), 0);
    anchors_.grow(3 * n);
    anchors_.setZero();
    forces_.grow(3 * n);
    forces_.setZero();
    grow(n);
  }

  [[nodiscard]] System& system() noexcept { return system_; }
  [[nodiscard]] const System& system() const noexcept { return system_; }

  /// Advances a state by dt > 0 [s].
  /// @return  status not_finite if numbers left the range of the type; the state is then that
  ///          before the part that failed. iteration_limit if more contacts are made and broken
  ///          than event_limit: the rest of the step is computed in one part, with the contacts at
  ///          its start.
  /// @note  Real-time safe: no allocation, no exception; at most event_limit events are searched,
  ///        each in at most search_limit frozen steps.
  // NOLINTNEXTLINE(bugprone-exception-escape): memory has grown in the constructor
  ViscoelasticReport step(State& state, const Scalar& dt) noexcept {
    return step_watched(state, dt, [](const State&, const Scalar&, bool) noexcept {});
  }

  /// Whether the spring and damper of a contact point act.
  [[nodiscard]] bool active(Index contact) const noexcept {
    return active_[std::size_t(contact)] != 0;
  }
  /// Anchors p₀ of the active contacts, 3n [m].
  [[nodiscard]] const Growing<VectorX<Scalar>>& anchors() const noexcept { return anchors_; }
  /// Average forces of the last part, 3n [N]; zero where open.
  [[nodiscard]] const Growing<VectorX<Scalar>>& forces() const noexcept { return forces_; }

  /// Sets a contact's anchor, which makes the contact active.
  /// @param anchor  p₀ [m]; anchors are on the plane, so its height is set to 0.
  void set_anchor(Index contact, const Vector3<Scalar>& anchor) noexcept {
    active_[std::size_t(contact)] = 1;
    anchors_.template segment<3>(3 * contact) << anchor.x(), anchor.y(), Scalar(0);
  }

 private:
  using Vector = Growing<VectorX<Scalar>>;
  using Matrix = Growing<MatrixX<Scalar>>;
  friend struct detail::StepperInside<ViscoelasticStepper>;

  /// Computes a step. `watch` is called for each part with its first state, its length, and whether
  /// an event ends it.
  template <typename Watch>
  // NOLINTNEXTLINE(bugprone-exception-escape): memory has grown in the constructor
  ViscoelasticReport step_watched(State& state, const Scalar& dt, const Watch& watch) noexcept {
    CAROM_EXPECTS(detail::is_positive(dt));
    ViscoelasticReport report;
    report.status = SolveStatus::converged;
    touch_down(state, report);
    Scalar rest = dt;
    int events = 0;
    while (rest > Scalar(0)) {
      Scalar part = rest;
      set(state);
      SolveReport<Scalar> solved = freeze(state, part);
      const bool lost = solved.status == SolveStatus::not_finite;
      const bool changes = !lost && options_.events && violation() > Scalar(0);
      const bool cut = changes && events < options_.event_limit;
      if (cut) {
        part = first_event(state, rest, dt);
        solved = freeze(state, part);
        ++events;
      } else if (changes) {
        report.status = SolveStatus::iteration_limit;
      }
      detail::add_status(report.status, solved.status);
      if (solved.status == SolveStatus::not_finite) return report;
      watch(std::as_const(state), part, cut);
      commit(state, report);
      ++report.parts;
      rest = part < rest ? rest - part : Scalar(0);
    }
    return report;
  }

  /// Allocates all memory for `count` active contacts.
  void grow(Index count) {
    const Index n = system_.contact_count(), k = system_.velocity_count();
    all_points_.grow(3 * n);
    all_drift_.grow(3 * n);
    all_jacobian_.grow(3 * n, k);
    next_points_.grow(3 * n);
    data_.grow(count, k);
    contact_step_.prepare(count, k);
  }

  /// Makes the contacts of points that are at or below the plane and pressed; the anchors are at
  /// the points.
  void touch_down(const State& state, ViscoelasticReport& report) noexcept {
    system_.write_contacts(state, all_points_, all_jacobian_, all_drift_);
    system_.write_velocity(state, data_.velocity);
    for (Index i = 0; i < system_.contact_count(); ++i) {
      if (active(i) || !(all_points_(3 * i + 2) <= Scalar(0))) continue;
      if (pull(i, all_points_(3 * i + 2), all_jacobian_.row(3 * i + 2).dot(data_.velocity)) >
          Scalar(0)) {
        continue;
      }
      make(i, all_points_);
      ++report.closed;
    }
  }

  /// The pulling force of spring and damper on a point, > 0 if the contact opens [N].
  [[nodiscard]] Scalar pull(Index i, const Scalar& height, const Scalar& rate) const noexcept {
    const auto& material = materials_[std::size_t(i)];
    return material.stiffness(2) * height + material.damping(2) * rate;
  }

  void make(Index i, const Vector& points) noexcept {
    set_anchor(i, {points(3 * i), points(3 * i + 1), Scalar(0)});
  }

  /// Data of the active contacts at a state.
  // NOLINTNEXTLINE(bugprone-exception-escape): memory has grown in the constructor
  void set(const State& state) noexcept {
    const Index n = system_.contact_count();
    const auto count = Index(std::count(active_.begin(), active_.end(), std::uint8_t(1)));
    grow(count);
    system_.write_dynamics(state, data_.mass_matrix, data_.free_acceleration);
    system_.write_velocity(state, data_.velocity);
    system_.write_contacts(state, all_points_, all_jacobian_, all_drift_);
    Index c = 0;
    for (Index i = 0; i < n; ++i) {
      if (!active(i)) continue;
      const auto& material = materials_[std::size_t(i)];
      data_.points.template segment<3>(3 * c) = all_points_.template segment<3>(3 * i);
      data_.drift.template segment<3>(3 * c) = all_drift_.template segment<3>(3 * i);
      data_.anchors.template segment<3>(3 * c) = anchors_.template segment<3>(3 * i);
      data_.stiffness.template segment<3>(3 * c) = material.stiffness;
      data_.damping.template segment<3>(3 * c) = material.damping;
      data_.jacobian.template middleRows<3>(3 * c) = all_jacobian_.template middleRows<3>(3 * i);
      data_.friction(c++) = material.friction;
    }
  }

  /// Computes the frozen system after `time`, in next_ and next_points_.
  SolveReport<Scalar> freeze(const State& state, const Scalar& time) noexcept {
    data_.time_step = time;
    const SolveReport<Scalar> report = contact_step_.solve(data_, options_.law);
    next_ = state;
    if (report.status == SolveStatus::not_finite) return report;
    system_.advance(next_, contact_step_.displacement(), contact_step_.velocity());
    system_.write_contacts(next_, next_points_, all_jacobian_, all_drift_);
    return report;
  }

  /// How far a contact has left its assumed state, > 0 if it has [N]: a closed contact pulls, or an
  /// open one is pressed below the plane.
  [[nodiscard]] Scalar violation(Index i) const noexcept {
    const auto& material = materials_[std::size_t(i)];
    const Scalar height = next_points_(3 * i + 2);
    const Scalar rate = all_jacobian_.row(3 * i + 2).dot(contact_step_.velocity());
    const Scalar force = pull(i, height, rate);
    if (active(i)) return force;
    const Scalar stiff =
        (std::max)(material.stiffness(2), Scalar(material.damping(2) / data_.time_step));
    return (std::min)(Scalar(-stiff * height), Scalar(-force));
  }
  [[nodiscard]] Scalar violation() const noexcept {
    Scalar worst = -std::numeric_limits<Scalar>::infinity();
    for (Index i = 0; i < system_.contact_count(); ++i) worst = (std::max)(worst, violation(i));
    return worst;
  }

  /// An instant just after a contact is made or broken, by bisection. It is the first such instant
  /// if no contact changes back within the step.
  [[nodiscard]] Scalar first_event(const State& state, const Scalar& rest,
                                   const Scalar& dt) noexcept {
    Scalar low(0), high = rest;
    for (int k = 0; k < search_limit && high - low > options_.event_tolerance * dt; ++k) {
      const Scalar middle = low + (high - low) / 2;
      const bool finite = freeze(state, middle).status != SolveStatus::not_finite;
      (!finite || violation() > Scalar(0) ? high : low) = middle;
    }
    return high;
  }

  /// Stores the state of freeze(), moves anchors, makes and breaks contacts.
  void commit(State& state, ViscoelasticReport& report) noexcept {
    Index c = 0;
    forces_.setZero();
    for (Index i = 0; i < system_.contact_count(); ++i) {
      const bool changes = violation(i) > Scalar(0);
      if (!active(i)) {
        if (!changes) continue;
        make(i, next_points_);
        ++report.closed;
        continue;
      }
      for (Index k = 0; k < 3; ++k) {
        anchors_(3 * i + k) = contact_step_.anchor_after(data_, 3 * c + k, next_points_(3 * i + k));
        forces_(3 * i + k) = contact_step_.force()(3 * c + k);
      }
      ++c;
      if (!changes) continue;
      active_[std::size_t(i)] = 0;
      ++report.opened;
    }
    state = next_;
  }

  System system_;
  ViscoelasticOptions<Scalar> options_;
  std::vector<ContactMaterial<Scalar>> materials_;
  std::vector<std::uint8_t> active_;
  Vector anchors_, forces_, all_points_, all_drift_, next_points_;
  Matrix all_jacobian_;
  ContactStepData<Scalar, Matrix, Vector> data_;
  ContactStep<Scalar> contact_step_;
  State next_;
};

}  // namespace CAROM_ABI
}  // namespace carom
