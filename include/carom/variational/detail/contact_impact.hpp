// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "carom/core/scalar.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/impact/resolve_impact.hpp"
#include "carom/variational/detail/legendre.hpp"
#include "carom/variational/detail/step_solver.hpp"
#include "carom/variational/impact_step_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Detects chatter: impacts of one contact at decreasing intervals, each with a loss of energy.
///
/// A contact chatters if its last `required` intervals each decreased, each impact lost energy, and
/// the geometric series of the last two intervals ends within a step. Lossless sequences never
/// count as chatter, for any frequency.
template <RealScalar Scalar>
class ChatterWatch {
 public:
  static constexpr int required = 3;  ///< decreasing intervals of a chattering contact

  /// Cold: allocates.
  void prepare(Index contact_count) { contacts_.assign(std::size_t(contact_count), {}); }

  /// Records an impact.
  /// @param time  of the impact [s].
  /// @param lost  whether it lost energy.
  /// @param step  time step [s], > 0.
  /// @return  whether the contact chatters and must be brought to rest.
  bool see(Index contact, const Scalar& time, bool lost, const Scalar& step) noexcept {
    History& h = contacts_[std::size_t(contact)];
    const Scalar interval = time - h.time;
    const bool shrinks = lost && h.impacts > 1 && interval < h.interval;
    const Scalar ratio = shrinks ? interval / h.interval : Scalar(1);
    h.shrinking = shrinks ? h.shrinking + 1 : 0;
    h.impacts = lost ? (h.impacts < 2 ? h.impacts + 1 : 2) : 0;
    h.time = time;
    h.interval = interval;
    return h.shrinking >= required && interval * ratio < step * (1 - ratio);
  }

  void forget(Index contact) noexcept { contacts_[std::size_t(contact)] = {}; }
  void forget_all() noexcept {
    for (History& h : contacts_) h = {};
  }

 private:
  struct History {
    Scalar time = 0;
    Scalar interval = 0;
    int impacts = 0;    ///< impacts that lost energy, counted up to two: an interval needs two
    int shrinking = 0;  ///< count of consecutive decreasing intervals
  };
  std::vector<History> contacts_;
};

/// An instant of a motion: the system, the solver of its steps, and its velocity.
template <LagrangianSystemLike System>
struct Instant {
  using Scalar = typename System::scalar_type;
  const System& system;
  StepSolver<System>& solver;
  LegendreMap<System>& legendre;  ///< its last call was for this instant
  MatrixX<Scalar>& rows;  ///< gradients of the constraints, then of the constrained contacts
  VectorX<Scalar>& velocity;
};

/// The impact of all contacts that are closed at an instant. From earlier impacts it stores which
/// contacts chatter, and the closing rate of the last impact.
/// @note  Real-time safe once grown: the first impacts allocate. Later impacts with no more
///        contacts do not, if the law reuses its memory as the laws of the impact room do.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
class ContactImpact {
 public:
  using Scalar = typename System::scalar_type;
  using State = MechanicalState<Scalar>;
  using Report = ImpactStepReport<Scalar>;
  using Event = ImpactEvent<Scalar>;

  ContactImpact(Law law, const ImpactStepOptions<Scalar>& options)
      : law_(std::move(law)), options_(options) {}

  /// @param rows  count of the constraints and of all contacts. Cold: allocates.
  void prepare(const System& system, Index rows) {
    const Index n = system.size(), gaps = StepSolver<System>::Gaps::count(system);
    mass_.prepare(n, rows);
    chatter_.prepare(gaps);
    plastic_.grow(gaps);
    earlier_ = chatter_;
    events_.reserve(std::size_t(options_.recorded_events));
    closed_.reserve(std::size_t(gaps));
    chatters_.assign(std::size_t(gaps), 0);
    gradient_.setZero(n);
    momentum_.setZero(n);
  }

  [[nodiscard]] std::span<const Event> events() const noexcept { return events_; }
  [[nodiscard]] ChatterWatch<Scalar>& chatter() noexcept { return chatter_; }
  [[nodiscard]] const Law& law() const noexcept { return law_; }
  /// Of the last resolve(): the contacts of the impact problem, in its order.
  [[nodiscard]] std::span<const Index> closed() const noexcept { return closed_; }
  /// Of the last resolve(): the momentum before the impact.
  [[nodiscard]] const VectorX<Scalar>& momentum_before() const noexcept { return momentum_; }
  /// Of the last resolve(): whether it was plastic because of chatter.
  [[nodiscard]] bool rested() const noexcept { return rested_; }
  void restart() noexcept {
    chatter_.forget_all();
    fastest_ = 0;
  }
  /// Marks the start of a step. go_back() returns to it.
  void start_step() noexcept {
    events_.clear();
    changed_ = false;
  }
  void go_back() noexcept {
    events_.clear();
    if (changed_) chatter_ = earlier_;
    changed_ = false;
  }

  /// Rate at which a gap opens.
  [[nodiscard]] static Scalar rate(const MatrixX<Scalar>& gradients, const VectorX<Scalar>& v,
                                   Index contact) noexcept {
    Scalar sum = 0;
    for (Index j = 0; j < v.size(); ++j) sum += gradients(contact, j) * v(j);
    return sum;
  }
  /// Whether a contact closes faster than the apparent rate of a resting contact from rounding.
  /// @param h  time step [s].
  [[nodiscard]] bool approaches(const MatrixX<Scalar>& gradients, const VectorX<Scalar>& v,
                                Index contact, const Scalar& h) const noexcept {
    Scalar scale = fastest_;
    for (Index j = 0; j < v.size(); ++j) {
      using std::abs;
      scale = (std::max)(scale, Scalar(abs(gradients(contact, j) * v(j))));
    }
    const Scalar rest = options_.gap_tolerance * Scalar(resting_share) / h;
    return rate(gradients, v, contact) <
           -(rate_roundings * std::numeric_limits<Scalar>::epsilon() * scale + rest);
  }

  /// Maps the momentum across the impact. Chattering contacts come to rest. Constrained contacts
  /// that separate after the impact are released.
  /// @return  false if the mass matrix is singular or a number is not finite.
  // NOLINTNEXTLINE(bugprone-exception-escape): laws throw before prepare() alone, which is done
  [[nodiscard]] bool resolve(const Instant<System>& now, State& state, const Scalar& h,
                             Report& report) noexcept;

 private:
  /// A contact rests if it closes in one step by less than this share of the gap tolerance: a
  /// million steps would be needed to leave the tolerance.
  static constexpr double resting_share = 1e-6;
  /// Rates within this count of roundings of their terms are zero [ε]. They contain the rounding of
  /// positions and of the solve for the velocity, and that of the sum. With fewer, contacts at rest
  /// collide or separate. With many more, slow contacts are missed. Other values were not measured.
  static constexpr int rate_roundings = 256;
  /// An impact loses energy if the loss is more than this count of roundings of the energy [ε].
  /// With fewer, an elastic impact counts as lossy, and therefore as chatter. Other values were not
  /// measured.
  static constexpr int energy_roundings = 1024;

  [[nodiscard]] const ConstrainedMass<Scalar>* factor_mass(const Instant<System>& now) noexcept;
  [[nodiscard]] bool collect(const Instant<System>& now, const ConstrainedMass<Scalar>& mass,
                             const VectorX<Scalar>& q) noexcept;
  [[nodiscard]] bool note_closing(const Instant<System>& now, const Scalar& time, bool lost,
                                  const Scalar& h) noexcept;
  void release_thrown(StepSolver<System>& solver, const VectorX<Scalar>& momentum) noexcept;

  Law law_;
  ImpactStepOptions<Scalar> options_;
  /// of the system without constrained contacts, if there are such contacts
  ConstrainedMass<Scalar> mass_;
  ImpactProblem<Scalar> problem_;
  PlasticImpact<Scalar> plastic_;
  ChatterWatch<Scalar> chatter_, earlier_;
  std::vector<Event> events_;
  std::vector<Index> closed_;
  std::vector<char> chatters_;
  VectorX<Scalar> gradient_, momentum_;
  Scalar fastest_ = 0;  ///< largest closing rate of the last impact
  bool changed_ = false, rested_ = false;
};

// --- implementation ---

/// Mass matrix of the system with its constraints only. Legendre's map has just factored it, unless
/// contacts are constrained. Null if it is singular.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
const ConstrainedMass<typename System::scalar_type>* ContactImpact<System, Law>::factor_mass(
    const Instant<System>& now) noexcept {
  const Index fixed = StepSolver<System>::Constraints::count(now.system);
  const ConstrainedMass<Scalar>& known = now.legendre.factored_mass();
  if (known.rows() == fixed) return &known;
  return mass_.factor(now.legendre.mass(), now.rows, fixed) ? &mass_ : nullptr;
}

/// Adds each closed contact to the impact problem, except those that constraints prevent from
/// moving. Returns false if a gap or a gradient is not a number.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool ContactImpact<System, Law>::collect(const Instant<System>& now,
                                         const ConstrainedMass<Scalar>& mass,
                                         const VectorX<Scalar>& q) noexcept {
  auto& gaps = now.solver.gaps();
  gaps.write_gradients(now.system, q);
  problem_.reset(now.system.size());
  closed_.clear();
  for (Index i = 0; i < gaps.values.size(); ++i) {
    if (gaps.values(i) > options_.gap_tolerance && !now.solver.holds(i)) continue;
    gradient_ = gaps.gradients.row(i).transpose();
    if (!gradient_.allFinite()) return false;
    if (problem_.try_add_contact(mass, gradient_)) closed_.push_back(i);
  }
  problem_.prepare();
  return gaps.values.allFinite();
}

/// Records which contacts close. Returns true if one of them chatters.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool ContactImpact<System, Law>::note_closing(const Instant<System>& now, const Scalar& time,
                                              bool lost, const Scalar& h) noexcept {
  const MatrixX<Scalar>& gradients = now.solver.gaps().gradients;
  if (!changed_) earlier_ = chatter_;
  changed_ = true;
  fastest_ = 0;
  for (const Index i : closed_) {
    fastest_ = (std::max)(fastest_, Scalar(-rate(gradients, now.velocity, i)));
  }
  bool any = false;
  for (const Index i : closed_) {
    chatters_[std::size_t(i)] = 0;
    if (!approaches(gradients, now.velocity, i, h)) continue;
    chatters_[std::size_t(i)] = chatter_.see(i, time, lost, h);
    any = any || chatters_[std::size_t(i)];
    if (events_.size() < events_.capacity()) events_.push_back({time, i});
  }
  return any;
}

template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
bool ContactImpact<System, Law>::resolve(const Instant<System>& now, State& state, const Scalar& h,
                                         Report& report) noexcept {
  const ConstrainedMass<Scalar>* const mass = factor_mass(now);
  if (mass == nullptr) {
    report.status = SolveStatus::no_progress;
    return false;
  }
  if (!collect(now, *mass, state.q)) {
    report.status = SolveStatus::not_finite;
    return false;
  }
  const Scalar energy = state.momentum.dot(now.velocity) / 2;
  momentum_ = state.momentum;
  law_.prepare(problem_);
  const ImpactReport<Scalar> impact = law_.resolve(problem_, state.momentum);
  ++report.impacts;
  report.reflections += impact.reflections;
  if (impact.status != ImpactStatus::resolved) report.impact_status = impact.status;
  const bool lost =
      impact.energy_gain < -energy_roundings * std::numeric_limits<Scalar>::epsilon() * energy;
  rested_ = note_closing(now, state.time, lost, h);
  if (rested_) {
    state.momentum = momentum_;
    plastic_.prepare(problem_);
    static_cast<void>(plastic_.resolve(problem_, state.momentum));
    report.plastic = true;
  }
  release_thrown(now.solver, state.momentum);
  return true;
}

/// Releases the constrained contacts that separate after the impact.
template <LagrangianSystemLike System, ImpactLawFor<typename System::scalar_type> Law>
void ContactImpact<System, Law>::release_thrown(StepSolver<System>& solver,
                                                const VectorX<Scalar>& momentum) noexcept {
  for (std::size_t k = 0; k < closed_.size(); ++k) {
    Scalar scale = 0;
    for (const auto& e : problem_.response(Index(k))) {
      using std::abs;
      scale += abs(e.value * momentum(e.index));
    }
    const Scalar leaves = problem_.rate(Index(k), momentum);
    if (leaves > rate_roundings * std::numeric_limits<Scalar>::epsilon() * scale)
      solver.release(closed_[k]);
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
