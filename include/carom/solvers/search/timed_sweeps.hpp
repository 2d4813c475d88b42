// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/contact_problem.hpp"
#include "carom/core/solve_limits.hpp"
#include "carom/solvers/search/problem_sweep.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of TimedSweeps.
struct TimedSweepsTuning {
  /// Duration of other methods until they improve an answer, in sweeps, if none was measured.
  static constexpr double unknown_methods = 30;
  /// Share of the expected duration that is left after a solve without these methods: a solve that
  /// was long by chance loses its influence.
  static constexpr double remembered = 0.8;
  /// The same for the duration of their first iteration, by which they exceed a deadline.
  static constexpr double remembered_first = 0.99;
  /// How far their first iteration may exceed the deadline, relative to the time left for it.
  static constexpr double overrun = 1.1;
  /// Factor of the time given to methods that did not improve the answer within it.
  static constexpr double unfinished = 2;
  /// Share of the time in which they improved the answer that is expected to suffice for that.
  static constexpr double sufficient = 0.5;
  /// The other methods start after the first sweep if they need at most this share of the time.
  /// Otherwise `first_sweeps` sweeps come first, and their impulses are the first guess.
  static constexpr double ample_share = 0.1;
  static constexpr int first_sweeps = 10;
  /// Duration of a measure of the answer, in sweeps, as long as none was measured.
  static constexpr double unknown_measure = 4;
};

/// What comes after the sweeps.
enum class AfterSweeps {
  solved,  ///< nothing: the answer satisfies the tolerance
  late,    ///< nothing: the time is over
  ample,   ///< the other methods, with much time
  go_on,   ///< the other methods, from the impulses
};

/// Sweeps over a problem until its deadline, but at least SolveLimits::least_sweeps times, unless
/// the time that is left suffices for methods that improve the answer. How long these need is
/// learned, in sweeps, from one solve to the next.
template <RealScalar Scalar>
class TimedSweeps {
 public:
  struct Answer {
    Scalar *impulse, *velocity;
  };

  void reserve(const ContactProblem<Scalar>& problem, FrictionLaw law) {
    sweep_.reserve(problem, law);
  }
  /// Sweeps.
  /// @param answer     γ by rows, finite, in and out; v, written.
  /// @param is_solved  measures the answer; returns whether it satisfies the tolerance.
  /// @note  The last measure is that of the answer.
  template <typename IsSolved>
  AfterSweeps run(const ContactProblem<Scalar>& problem, FrictionLaw law, const Scalar& tolerance,
                  const SolveLimits& limits, const Answer& answer, const IsSolved& is_solved) {
    const auto read = [&] { return limits.now(limits.context); };
    sweep_.start(problem, law, answer.impulse);
    const auto measure = [&] {
      const double start = read();
      sweep_.write_velocity(problem, answer.velocity);
      const bool solved = is_solved();
      begun_ = read();
      measured_ = begun_ - start;
      return solved;
    };
    const double started = read();
    double last = started;
    Scalar checked(1);
    for (int k = 1;; ++k) {
      const Scalar changed = sweep_.sweep(problem, answer.impulse);
      if (k == 1) sweep_.limit_energy(problem, answer.impulse);
      last = read();
      pace_ = (last - started) / k;
      const double after = measured_ > 0 ? measured_ : Tuning::unknown_measure * pace_;
      const bool moves = changed > tolerance * tolerance;
      if (!(last + pace_ + after < limits.deadline)) {
        if (moves && k < limits.least_sweeps) continue;
        methods_ *= Tuning::remembered;
        first_ *= Tuning::remembered_first;
        return measure() ? AfterSweeps::solved : AfterSweeps::late;
      }
      if (!moves && changed < checked / 2) {
        checked = changed;
        if (measure()) return AfterSweeps::solved;
      }
      const double left = (limits.deadline - last) / pace_;  // in sweeps
      const bool ample = methods_ <= Tuning::ample_share * left;
      if (methods_ > left || first_ > Tuning::overrun * left) continue;
      if (!ample && k < Tuning::first_sweeps) continue;
      if (measure()) return AfterSweeps::solved;
      return k < Tuning::first_sweeps ? AfterSweeps::ample : AfterSweeps::go_on;
    }
  }
  /// Call it after the other methods.
  /// @param improved    whether their answer is better than that of the sweeps.
  /// @param iterations  of theirs.
  void learn(const SolveLimits& limits, bool improved, int iterations) noexcept {
    if (!(pace_ > 0)) return;
    const double taken = (limits.now(limits.context) - begun_) / pace_;
    first_ = taken / (std::max)(iterations, 1);
    methods_ = (improved ? Tuning::sufficient : Tuning::unfinished) * taken;
  }

 private:
  using Tuning = TimedSweepsTuning;

  ProblemSweep<Scalar> sweep_;
  double methods_ = Tuning::unknown_methods;  ///< expected duration until they improve, in sweeps
  double first_ = 0;                          ///< duration of their first iteration, in sweeps
  double pace_ = 0;                           ///< mean duration of a sweep of this solve [s]
  double measured_ = 0;                       ///< duration of the last measure [s]
  double begun_ = 0;  ///< when the last measure ended, after which the methods begin
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
