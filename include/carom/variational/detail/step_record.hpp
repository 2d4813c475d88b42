// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "carom/variational/mechanical_state.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The kinds of events in a step of StepMachine.
enum class StepEventKind {
  begin,    ///< A run began: a step, or one of the parts of a halved step.
  project,  ///< The part of the momentum across constraints and constrained contacts was removed.
  flight,   ///< The step's equations were solved over a span.
  impact,   ///< The impact law mapped the momentum.
  cut,      ///< The run ended early, because the remaining time is too short for a flight.
};

/// One event of StepMachine.
template <RealScalar Scalar>
struct StepEvent {
  StepEventKind kind = StepEventKind::begin;
  Scalar time = 0;      ///< at its start [s]
  Scalar span = 0;      ///< of a flight, or of the run that begins [s]
  Scalar whole = 0;     ///< span that a flight had before a gap closed [s]
  Scalar share = 1;     ///< share of the remaining part of the run that `whole` is [-]
  Index closing = -1;   ///< contact whose gap ended a flight, −1 if there is none
  bool rested = false;  ///< the impact was plastic, because of chatter
  Index first = 0;      ///< start of its contacts in the list of the record
  /// constrained contacts of a projection or a flight, closed contacts of an impact
  Index count = 0;
};

/// Events of a step in their order, each with the state at its start, for the derivative of the
/// step. The memory is fixed: a step with more events makes the record incomplete().
template <RealScalar Scalar>
class StepRecord {
 public:
  using State = MechanicalState<Scalar>;
  using Event = StepEvent<Scalar>;

  /// Reserved contacts per event: most events have one or none.
  static constexpr Index contacts_per_event = 4;

  /// @param size      coordinates of the system.
  /// @param capacity  largest count of events. Cold: allocates.
  void prepare(Index size, Index gaps, Index capacity) {
    states_.setZero(2 * size, capacity);
    most_contacts_ = std::size_t(contacts_per_event * capacity + gaps);
    events_.reserve(std::size_t(capacity));
    contacts_.reserve(most_contacts_);
    clear();
  }

  void clear() noexcept {
    events_.clear();
    contacts_.clear();
    incomplete_ = false;
  }

  /// Appends an event that begins at a configuration and a momentum.
  /// @note  Real-time safe: no allocation, no exception.
  void add(Event event, const VectorX<Scalar>& q, const VectorX<Scalar>& momentum,
           std::span<const Index> contacts) noexcept {
    incomplete_ = incomplete_ || Index(events_.size()) == states_.cols() ||
                  contacts_.size() + contacts.size() > most_contacts_;
    if (incomplete_ || repeats(event, contacts)) return;
    event.first = Index(contacts_.size());
    event.count = Index(contacts.size());
    const Index n = q.size(), column = Index(events_.size());
    for (Index i = 0; i < n; ++i) {
      states_(i, column) = q(i);
      states_(n + i, column) = momentum(i);
    }
    for (const Index contact : contacts) contacts_.push_back(contact);
    events_.push_back(event);
  }

  [[nodiscard]] bool incomplete() const noexcept { return incomplete_; }
  [[nodiscard]] std::span<const Event> events() const noexcept { return events_; }
  [[nodiscard]] std::span<const Index> contacts(const Event& event) const noexcept {
    return std::span<const Index>(contacts_).subspan(std::size_t(event.first),
                                                     std::size_t(event.count));
  }
  /// Writes the state at the start of the k-th event.
  void write_state(std::size_t k, State& out) const noexcept {
    const Index n = states_.rows() / 2;
    out.time = events_[k].time;
    for (Index i = 0; i < n; ++i) {
      out.q(i) = states_(i, Index(k));
      out.momentum(i) = states_(n + i, Index(k));
    }
  }

 private:
  /// Whether the event is the same projection as the last event, which changes nothing.
  [[nodiscard]] bool repeats(const Event& event, std::span<const Index> held) const noexcept {
    if (events_.empty() || event.kind != StepEventKind::project) return false;
    if (events_.back().kind != StepEventKind::project) return false;
    const std::span<const Index> before = contacts(events_.back());
    if (before.size() != held.size()) return false;
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (before[i] != held[i]) return false;
    }
    return true;
  }

  std::vector<Event> events_;
  std::vector<Index> contacts_;
  MatrixX<Scalar> states_;  ///< (q, p) of each event; one column per possible event
  std::size_t most_contacts_ = 0;
  bool incomplete_ = false;
};

}  // namespace CAROM_ABI
}  // namespace carom
