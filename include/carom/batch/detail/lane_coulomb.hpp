// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/detail/lane_hessian.hpp"
#include "carom/batch/detail/lane_newton.hpp"
#include "carom/batch/lanes.hpp"
#include "carom/solvers/search/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The progress of the lanes of LaneCoulomb. It consists of numbers only, so that a lane can be
/// stored and continued later.
/// @tparam ConvexProgress  that of the active convex problem.
template <typename Number, typename ConvexProgress>
struct LaneCoulombCourse {
  Number on_law;              ///< 1: Newton's method on the law; 0: a convex problem
  Number lifts, since_trial;  ///< convex problems solved: total, and in the current period
  Number reach, tolerance;    ///< as in CoulombNewton
  Number share;               ///< share of the way to the next De Saxcé term
  Number last, least;  ///< the last ‖F‖; the least ‖F‖, which is that of the iterate `kept`
  Number law_least, law_stalls, convex_status;
  Number past1, past2;  ///< ‖F‖ of the two iterates before, in Newton's method on the law
  ConvexProgress convex;

  /// No step has been accepted in these lanes yet.
  CAROM_DEVICE void restart(const typename Number::Mask& lanes) noexcept {
    using Scalar = typename Number::scalar_type;
    using Tuning = CoulombNewtonTuning;
    const auto set = [&](Number& entry, double x) {
      entry = select(lanes, Number(Scalar(x)), entry);
    };
    for (Number* entry : {&since_trial, &law_least, &law_stalls, &past1, &past2}) set(*entry, 0);
    set(reach, std::numeric_limits<double>::infinity());
    set(tolerance, Tuning::first_tolerance);
    set(share, Tuning::first_share);
    set(last, std::numeric_limits<double>::infinity());
  }
};

/// Coulomb's law in each lane by the method of CoulombNewton: F(v) = A (v − v*) − Jᵀγ(J v) = 0.
///
/// The steps of each lane, independent of the other lanes: (1) Newton steps on F, with the
/// directions of friction as separate unknowns; accept the largest share of a step for which ‖F‖ is
/// sufficiently less than the largest of the last few. (2) If ‖F‖ stalls, solve convex problems
/// by LaneNewton from the best iterate, each with v̂ₙ reduced by De Saxcé's term of the problem
/// before, and try step 1 from time to time.
///
/// A lane ends as converged if ‖F‖_{A⁻¹} ≤ tolerance · scale, as no_progress after lift_limit
/// convex problems, or at the iteration limit. In the last two cases its answer is the iterate with
/// the least ‖F‖.
/// @cite  desaxce1998bipotential for the lift; alart1991mixed for the law as a map.
template <typename Number, int Stride>
class LaneCoulomb {
 public:
  using ConvexNewton = LaneNewton<Number, Stride>;
  using State = typename ConvexNewton::State;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Names = LaneLayout;
  using Limits = typename ConvexNewton::Limits;
  using Tuning = CoulombNewtonTuning;

  CAROM_DEVICE LaneCoulomb(State& state, const Limits& limits) noexcept
      : state_(state), limits_(limits), convex_(state, limits) {}

  /// As in LaneNewton.
  CAROM_DEVICE_CALL void begin(const Mask& valid) noexcept;
  CAROM_DEVICE_CALL void step() noexcept;
  [[nodiscard]] CAROM_DEVICE Mask ended() const noexcept { return status_ >= number(0); }
  CAROM_DEVICE_CALL void finish() noexcept;
  [[nodiscard]] CAROM_DEVICE const Number& status() const noexcept { return status_; }
  [[nodiscard]] CAROM_DEVICE const Number& iterations() const noexcept {
    return convex_.iterations();
  }

  /// Restarts ended lanes whose data have changed, at their iterates and De Saxcé terms.
  CAROM_DEVICE void begin_again(const Mask& lanes) noexcept;
  using Progress = LaneCoulombCourse<Number, typename ConvexNewton::Progress>;
  [[nodiscard]] CAROM_DEVICE Progress progress() const noexcept;
  CAROM_DEVICE void resume(const Progress& progress) noexcept;

 private:
  [[nodiscard]] CAROM_DEVICE static Number number(double x) noexcept { return Number(Scalar(x)); }
  [[nodiscard]] CAROM_DEVICE Mask running() const noexcept { return status_ < number(0); }
  [[nodiscard]] CAROM_DEVICE Mask on_law() const noexcept {
    return running() & (course_.on_law > number(0));
  }
  [[nodiscard]] CAROM_DEVICE Mask on_convex() const noexcept {
    return running() & (course_.on_law <= number(0));
  }
  CAROM_DEVICE void end(const Mask& lanes, SolveStatus status) noexcept {
    status_ = select(lanes & running(), number(static_cast<int>(status)), status_);
  }
  [[nodiscard]] CAROM_DEVICE Mask meets_target() const noexcept {
    return state_.meets(Number(limits_.tolerance));
  }
  /// Lanes that have ended are also evaluated under Coulomb's law.
  CAROM_DEVICE void evaluate(const Mask& on_law) noexcept {
    state_.set_law(on_law | ended());
    state_.evaluate();
  }
  CAROM_DEVICE void keep_best(const Mask& lanes) noexcept;
  CAROM_DEVICE_CALL void choose_way(const Mask& lanes) noexcept;
  CAROM_DEVICE_CALL void begin_convex(const Mask& lanes) noexcept;
  CAROM_DEVICE_CALL void end_convex(const Mask& lanes) noexcept;
  CAROM_DEVICE void restart(const Mask& lanes) noexcept;
  CAROM_DEVICE_CALL void step_on_law() noexcept;
  CAROM_DEVICE void move(const Mask& lanes, const Number& step) noexcept;
  CAROM_DEVICE_CALL void search(const Mask& lanes) noexcept;
  CAROM_DEVICE_CALL void leave_law(const Mask& lanes) noexcept;

  State& state_;
  Limits limits_;
  ConvexNewton convex_;
  Number status_ = number(0);
  Progress course_{};
};

// --- implementation ---

template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::keep_best(const Mask& lanes) noexcept {
  const Mask better = lanes & (state_.residual < course_.least);
  course_.least = select(better, state_.residual, course_.least);
  state_.copy(better, Names::velocity, Names::kept);
}

/// No step has been accepted in these lanes yet.
template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::restart(const Mask& lanes) noexcept {
  status_ = select(lanes, number(-1), status_);
  course_.restart(lanes);
  state_.copy(lanes, Names::velocity, Names::kept);
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::begin(const Mask& valid) noexcept {
  restart(everywhere<Number>(true));
  course_.on_law = course_.lifts = number(0);
  convex_.clear();
  for (int k = 0; k < state_.layout().contacts; ++k) state_.contact(k).set(Names::lift, number(0));
  end(!valid, SolveStatus::not_finite);
  end(!state_.begin(), SolveStatus::not_finite);
  evaluate(everywhere<Number>(true));
  course_.least = state_.residual;
  end(!state_.is_finite(), SolveStatus::not_finite);
  end(meets_target(), SolveStatus::converged);
  end(Number(Scalar(limits_.iteration_limit)) <= number(0), SolveStatus::iteration_limit);
  if (state_.layout().has_sweeps() && any(running())) {
    LaneSweep<Number, Stride>(state_).improve(
        FrictionLaw::coulomb, running(), Names::kept, [&] { evaluate(everywhere<Number>(true)); },
        [&] { return state_.residual; });
    keep_best(running());
    end(meets_target(), SolveStatus::converged);
  } else {
    const Mask distant =
        running() & (!(state_.residual <= number(Tuning::good_guess) * state_.scale()));
    if (any(distant)) {
      state_.set_law(ended());
      state_.evaluate();
      convex_.start_from_best(distant);
      evaluate(everywhere<Number>(true));
      keep_best(running());
      end(meets_target(), SolveStatus::converged);
    }
  }
  choose_way(running());
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::begin_again(const Mask& lanes) noexcept {
  restart(lanes);
  course_.lifts = select(lanes, number(1), course_.lifts);
  evaluate(on_law() | lanes);
  course_.least = select(lanes, state_.residual, course_.least);
  end(lanes & meets_target(), SolveStatus::converged);
  end(lanes & (iterations() >= Number(Scalar(limits_.iteration_limit))),
      SolveStatus::iteration_limit);
  choose_way(lanes & running());
}

/// Selects Newton's method on the law if the lane is near its solution, and from time to time;
/// otherwise the next convex problem. The iterates are evaluated under the law before.
template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::choose_way(const Mask& lanes) noexcept {
  const Mask near_enough = state_.residual <= course_.reach * state_.scale();
  const Mask to_law =
      lanes & (near_enough | (course_.since_trial >= number(Tuning::trial_period - 1)));
  course_.on_law = select(lanes, as_numbers(to_law), course_.on_law);
  course_.law_least = select(to_law, state_.residual, course_.law_least);
  course_.law_stalls = select(to_law, number(0), course_.law_stalls);
  course_.past1 = select(to_law, number(0), course_.past1);
  course_.past2 = select(to_law, number(0), course_.past2);
  state_.copy(to_law, Names::velocity, Names::best);
  convex_.write_directions(to_law);
  const Mask to_convex = lanes & (!to_law);
  if (any(to_convex)) begin_convex(to_convex);
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::begin_convex(const Mask& lanes) noexcept {
  const Number divisor = number(Tuning::tolerance_divisor);
  const Number reached = state_.residual / state_.scale() / divisor;
  course_.tolerance = select(lanes, smaller(reached, course_.tolerance), course_.tolerance);
  course_.on_law = select(lanes, number(0), course_.on_law);
  evaluate(on_law());
  const Mask first = lanes & (course_.lifts <= number(0));
  convex_.start(lanes, larger(course_.tolerance, Number(limits_.tolerance) / divisor), first);
}

/// Evaluates the iterates of lanes whose convex problem has ended under Coulomb's law.
template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::end_convex(const Mask& lanes) noexcept {
  convex_.finish(lanes);
  const Number ended_with = convex_.status();
  state_.renew_lifts(lanes, course_.share);
  evaluate(on_law() | lanes);
  const Mask broken = ended_with >= number(static_cast<int>(SolveStatus::not_finite));
  end(lanes & broken, SolveStatus::not_finite);
  const Mask going = lanes & running();
  keep_best(going);
  end(going & meets_target(), SolveStatus::converged);
  const Mask rose = going & (state_.residual > course_.last);
  const Number smaller_share =
      larger(course_.share * number(Tuning::share_decay), number(Tuning::least_share));
  course_.share = select(rose, smaller_share, course_.share);
  course_.last = select(going, state_.residual, course_.last);
  course_.lifts += as_numbers(going);
  const Number next = course_.since_trial + number(1);
  const Number wrapped = select(next >= number(Tuning::trial_period), number(0), next);
  course_.since_trial = select(going, wrapped, course_.since_trial);
  end(going & (course_.lifts >= number(Tuning::lift_limit)), SolveStatus::no_progress);
  end(going & (iterations() >= Number(Scalar(limits_.iteration_limit))),
      SolveStatus::iteration_limit);
  choose_way(going & running());
}

/// v ← start + α d.
template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::move(const Mask& lanes,
                                                    const Number& step) noexcept {
  const Cells v = state_.vector(Names::velocity), start = state_.vector(Names::start);
  const Cells d = state_.vector(Names::law_direction);
  for (int i = 0; i < state_.layout().velocities; ++i) {
    v.set(i, select(lanes, start[i] + step * d[i], v[i]));
  }
  evaluate(on_law());
}

/// Moves by the largest tried share of the direction for which ‖F‖ is small enough. If there
/// is none, by the share with the least ‖F‖.
template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::search(const Mask& lanes) noexcept {
  static_assert(Tuning::memory == 3);
  const Number before = larger(state_.residual, larger(course_.past1, course_.past2));
  const Number one = number(1);
  course_.past2 = select(lanes, course_.past1, course_.past2);
  course_.past1 = select(lanes, state_.residual, course_.past1);
  Number step = one, best_step = one, least(std::numeric_limits<Scalar>::infinity());
  Mask searching = lanes;
  for (int k = 0; k <= Tuning::halvings && any(searching); ++k) {
    move(searching, step);
    const Number enough = before * (one - step * number(Tuning::descent));
    const Mask better = searching & (state_.residual < least);
    least = select(better, state_.residual, least);
    best_step = select(better, step, best_step);
    searching = searching & (!(state_.residual < enough));
    step *= number(0.5);
  }
  if (any(searching)) move(searching, best_step);
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::step_on_law() noexcept {
  const Mask lanes = on_law();
  const Mask found = LaneJacobian<Number, Stride>(state_).find_direction(lanes);
  const Mask moving = lanes & found;
  state_.copy(moving, Names::velocity, Names::start);
  for (int k = 0; k < state_.layout().contacts; ++k) {
    const Cells c = state_.contact(k);
    const LaneImpulse<Number> u = state_.rows_times(k, state_.vector(Names::law_direction));
    c.set(Names::trial_step, -u.t1 * c[Names::inverse_tangent]);
    c.set(Names::trial_step + 1, -u.t2 * c[Names::inverse_tangent]);
  }
  convex_.predict_directions(moving);
  search(moving);
  convex_.count_iterations(moving);
  const Mask falls = state_.residual < number(Tuning::little) * course_.law_least;
  course_.law_stalls = select(falls, number(0), course_.law_stalls + number(1));
  const Mask better = moving & (state_.residual < course_.law_least);
  course_.law_least = select(better, state_.residual, course_.law_least);
  state_.copy(better, Names::velocity, Names::best);
  end(moving & meets_target(), SolveStatus::converged);
  const Mask spent = iterations() >= Number(Scalar(limits_.iteration_limit));
  const Mask stalled = course_.law_stalls >= number(Tuning::patience);
  state_.move_frames(on_law());
  leave_law(on_law() & ((!found) | stalled | spent));
}

/// Continues with convex problems, from the best iterate of Newton's method.
template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::leave_law(const Mask& lanes) noexcept {
  if (!any(lanes)) return;
  state_.copy(lanes, Names::best, Names::velocity);
  evaluate(on_law());
  end(lanes & meets_target(), SolveStatus::converged);
  const Mask going = lanes & running();
  const Number reached = number(Tuning::reach_share) * state_.residual / state_.scale();
  course_.reach = select(going, reached, course_.reach);
  keep_best(going);
  end(going & (iterations() >= Number(Scalar(limits_.iteration_limit))),
      SolveStatus::iteration_limit);
  if (any(going & running())) begin_convex(going & running());
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::step() noexcept {
  if (any(on_law())) step_on_law();
  const Mask under_way = on_convex() & (!convex_.ended());
  if (any(under_way)) convex_.step();
  const Mask arrived = on_convex() & convex_.ended();
  if (any(arrived)) end_convex(arrived);
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::finish() noexcept {
  state_.copy(status_ > number(static_cast<int>(SolveStatus::converged)), Names::kept,
              Names::velocity);
  evaluate(on_law());
}

template <typename Number, int Stride>
CAROM_DEVICE typename LaneCoulomb<Number, Stride>::Progress LaneCoulomb<Number, Stride>::progress()
    const noexcept {
  Progress progress = course_;
  progress.convex_status = convex_.status();
  progress.convex = convex_.progress();
  return progress;
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneCoulomb<Number, Stride>::resume(const Progress& progress) noexcept {
  status_ = number(-1);
  course_ = progress;
  convex_.resume(progress.convex, progress.convex_status);
  end(!state_.begin(), SolveStatus::not_finite);
  state_.restore_frames();
  evaluate(on_law());
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
