// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/variational/mechanical_state.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Guesses where a flight ends, q₁ ≈ q + h v + ½ h² a, with the acceleration of the flight before
/// if the state continues that flight, and a = 0 if not.
/// @note  Real-time safe once prepared: no allocation, no exception.
template <RealScalar Scalar>
class FlightGuess {
 public:
  using State = MechanicalState<Scalar>;

  /// Cold: allocates.
  void prepare(Index size) {
    end_ = State{Scalar(0), VectorX<Scalar>::Zero(size), VectorX<Scalar>::Zero(size)};
    velocity_.setZero(size);
    span_ = 0;
  }

  /// Remembers a flight: its velocity at the start [m/s, rad/s], its end, its span [s].
  void remember(const VectorX<Scalar>& velocity, const State& end, const Scalar& span) noexcept {
    velocity_ = velocity;
    end_ = end;
    span_ = span;
  }

  /// @param velocity  of the state.
  /// @param span      of the flight that starts here [s].
  /// @param guess     written: configuration at its end.
  void write(const State& state, const VectorX<Scalar>& velocity, const Scalar& span,
             VectorX<Scalar>& guess) const noexcept {
    guess = state.q + span * velocity;
    if (span_ == Scalar(0) || state.q != end_.q || state.momentum != end_.momentum) return;
    guess += (span * span / (2 * span_)) * (velocity - velocity_);
  }

 private:
  State end_;
  VectorX<Scalar> velocity_;
  Scalar span_ = 0;
};

}  // namespace CAROM_ABI
}  // namespace carom
