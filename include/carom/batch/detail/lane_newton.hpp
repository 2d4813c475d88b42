// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_hessian.hpp"
#include "carom/batch/detail/lane_state.hpp"
#include "carom/batch/detail/lane_sweep.hpp"
#include "carom/batch/lanes.hpp"
#include "carom/solvers/search/newton_walk.hpp"
#include "carom/solvers/search/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Finds the root of an increasing function in each lane, as find_increasing_root() does for one.
/// The steps of a lane do not depend on the other lanes.
/// @param f          of a number for each lane.
/// @param at_zero    f(0), < 0 in the selected lanes.
/// @param tolerance  accept |f| ≤ tolerance.
/// @param lanes      the selected lanes; the results of the others are arbitrary.
/// @return  the argument of the smallest |f| found.
template <typename Number, typename Function>
[[nodiscard]] CAROM_DEVICE Number find_root_in_lanes(const Function& f, const Number& at_zero,
                                                     const Number& tolerance,
                                                     const typename Number::Mask& lanes) noexcept {
  using Scalar = typename Number::scalar_type;
  const Number zero(Scalar(0)), one(Scalar(1)), half(Scalar(0.5)), two(Scalar(2));
  Number low = zero, high = one, at_low = at_zero, at_high = f(high);
  Number best = high, best_size = abs(at_high), width = one;
  // `side` is the end that moved last, −1 or 1.
  Number side = zero;
  auto slow = everywhere<Number>(false);
  auto growing = at_high < -tolerance;
  auto done = (!lanes) | (best_size <= tolerance);
  for (int count = 1; any(!done) && count < LineSearchTuning::evaluation_limit; ++count) {
    const Number chord = low + (high - low) * (at_low / (at_low - at_high));
    const Number middle = low + (high - low) * half;
    Number x = select(slow | (!((chord > low) & (chord < high))), middle, chord);
    x = select(growing, two * high, x);
    done = done | ((!growing) & (!((x > low) & (x < high))));  // the bracket is down to round-off
    const Number value = f(x), size = abs(value);
    const auto better = (!done) & (size < best_size);
    best = select(better, x, best);
    best_size = select(better, size, best_size);
    const auto rise = growing & (!done), narrow = (!growing) & (!done);
    const auto below = value < zero;
    const auto from_low = narrow & below, from_high = narrow & (!below);
    // The value at the end that did not move twice in a row is halved.
    at_high = select(from_low & (side < zero), at_high * half, at_high);
    at_low = select(from_high & (side > zero), at_low * half, at_low);
    side = select(from_low, -one, select(from_high, one, side));
    low = select(rise, high, select(from_low, x, low));
    at_low = select(rise, at_high, select(from_low, value, at_low));
    high = select(rise | from_high, x, high);
    at_high = select(rise | from_high, value, at_high);
    slow =
        narrow & (high - low > width * Number(Scalar(0.501)));  // 0.501: a rounded half is not slow
    width = select(rise | narrow, high - low, width);
    growing = rise & (value < -tolerance);
    done = done | (best_size <= tolerance);
  }
  return best;
}

/// The exact line search of LaneNewton along the directions of the lanes.
template <typename Number, int Stride>
class LaneSearch {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Names = LaneLayout;

  CAROM_DEVICE explicit LaneSearch(const State& state) noexcept : state_(state) {}

  /// Step length at which the derivative along the direction vanishes; 1 if the direction does not
  /// descend. Also writes the changes of contact velocities and trial impulses for a full step.
  /// @param tolerance  permitted share of the derivative at the start [-].
  [[nodiscard]] CAROM_DEVICE_CALL Number find_step(const Scalar& tolerance,
                                                   const Mask& lanes) const noexcept;

 private:
  CAROM_DEVICE void write_steps() const noexcept;
  [[nodiscard]] CAROM_DEVICE Number work_at(const Number& step) const noexcept;

  const State& state_;
};

// --- implementation ---

/// The changes of contact velocities and trial impulses along the direction.
template <typename Number, int Stride>
CAROM_DEVICE void LaneSearch<Number, Stride>::write_steps() const noexcept {
  const Cells d = state_.vector(Names::direction);
  for (int k = 0; k < state_.layout().contacts; ++k) {
    const Cells c = state_.contact(k);
    const LaneImpulse<Number> u = state_.rows_times(k, d);
    c.set(Names::velocity_step, u.t1);
    c.set(Names::velocity_step + 1, u.t2);
    c.set(Names::velocity_step + 2, u.n);
    c.set(Names::trial_step, -u.t1 * c[Names::inverse_tangent]);
    c.set(Names::trial_step + 1, -u.t2 * c[Names::inverse_tangent]);
    c.set(Names::trial_step + 2, -u.n * c[Names::inverse_normal]);
  }
  state_.blocks().write_steps(d);
}

/// Σ Δγ·J d for a step length, where Δγ is the change of the impulses since the start of the step.
template <typename Number, int Stride>
CAROM_DEVICE Number LaneSearch<Number, Stride>::work_at(const Number& step) const noexcept {
  Number work(Scalar(0));
  for (int k = 0; k < state_.layout().contacts; ++k) {
    const Cells c = state_.contact(k);
    LaneTrial<Number> at = state_.at_trial(k);
    at.y1 += step * c[Names::trial_step];
    at.y2 += step * c[Names::trial_step + 1];
    at.yn += step * c[Names::trial_step + 2];
    const LaneImpulse<Number> y = project_lanes(at);
    work += (y.t1 - c[Names::impulse]) * c[Names::velocity_step] +
            (y.t2 - c[Names::impulse + 1]) * c[Names::velocity_step + 1] +
            (y.n - c[Names::impulse + 2]) * c[Names::velocity_step + 2];
  }
  return state_.layout().block_count == 0 ? work : work + state_.blocks().work_at(step);
}

template <typename Number, int Stride>
CAROM_DEVICE Number LaneSearch<Number, Stride>::find_step(const Scalar& tolerance,
                                                          const Mask& lanes) const noexcept {
  write_steps();
  const Cells product = state_.vector(Names::scratch);
  multiply_lanes(state_.layout().mass_rows, state_.cells(state_.layout().mass_at),
                 state_.vector(Names::direction), product);
  const Number at_zero = state_.dot(Names::gradient, Names::direction);
  const Number momentum_curvature = state_.dot(Names::scratch, Names::direction);
  const auto slope = [&](const Number& step) {
    return at_zero + step * momentum_curvature - work_at(step);
  };
  const Mask descends = at_zero < Number(Scalar(0));  // otherwise only rounding is left
  const Number step =
      find_root_in_lanes(slope, at_zero, -Number(tolerance) * at_zero, lanes & descends);
  return select(descends, step, Number(Scalar(1)));
}

/// SapSolver's method in each lane: Newton's method with an exact line search, on the convex law.
///
/// The problem: minimise ℓ(v) = ½‖v − v*‖²_A + ½ Σ γ·R γ with γ = P(R⁻¹(v̂ − J v)), written here
/// for cones; ∇ℓ = A (v − v*) − Jᵀγ. The velocities are not whitened, so that zero columns of J
/// stay zero. The steps of an iteration: (1) d = −H⁻¹∇ℓ with H = A + Jᵀ G J; (2) the step length α
/// at which the derivative of ℓ along d vanishes; (3) v ← v + α d.
///
/// A lane ends as converged if ‖∇ℓ‖_{A⁻¹} ≤ tolerance · scale, as no_progress if the residual is
/// small and several full steps in a row hardly reduce it, or at the iteration limit. Each lane has
/// its own step lengths and its own end. The iterates of ended lanes do not change.
template <typename Number, int Stride>
class LaneNewton {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Names = LaneLayout;

  struct Limits {
    Scalar tolerance;
    int iteration_limit;
    Scalar line_search_tolerance;
  };

  CAROM_DEVICE LaneNewton(State& state, const Limits& limits) noexcept
      : state_(state), limits_(limits) {}

  /// Starts with the problems whose numbers and guesses are in the cells.
  /// @param valid  lanes whose numbers are in range; the others end at once.
  CAROM_DEVICE_CALL void begin(const Mask& valid) noexcept;
  /// Restarts ended lanes at their iterates, which are already evaluated.
  /// @param anywhere  those of the lanes that may start at another point if the cost is lower
  ///                  there.
  CAROM_DEVICE void start(const Mask& lanes, const Number& tolerance,
                          const Mask& anywhere) noexcept;
  /// Restarts ended lanes whose data have changed, at their iterates.
  CAROM_DEVICE void begin_again(const Mask& lanes) noexcept {
    state_.evaluate();
    start(lanes, Number(limits_.tolerance), everywhere<Number>(false));
    end(lanes & (progress_.iterations >= Number(Scalar(limits_.iteration_limit))),
        SolveStatus::iteration_limit);
  }
  /// The progress of the lanes.
  struct Progress {
    Number iterations, stalls, best_residual, tolerance;
  };
  /// Continues stored lanes. Their iterates, best iterates and directions of friction are in the
  /// cells.
  CAROM_DEVICE void resume(const Progress& progress) noexcept;
  /// The same for a part of a larger method, which evaluates the iterates itself.
  CAROM_DEVICE void resume(const Progress& progress, const Number& status) noexcept {
    progress_ = progress;
    status_ = status;
  }
  /// Sets all lanes to inactive and the iteration count to zero.
  CAROM_DEVICE void clear() noexcept {
    resume({number(0), number(0), number(0), number(0)}, number(0));
  }
  CAROM_DEVICE void count_iterations(const Mask& lanes) noexcept {
    progress_.iterations += as_numbers(lanes);
  }
  /// One iteration of the lanes that have not ended.
  CAROM_DEVICE_CALL void step() noexcept;
  /// Lanes that have ended.
  [[nodiscard]] CAROM_DEVICE Mask ended() const noexcept { return status_ >= Number(Scalar(0)); }
  /// Sets the iterate of ended lanes to their best iterate, and evaluates it.
  CAROM_DEVICE void finish() noexcept { finish(ended()); }
  CAROM_DEVICE_CALL void finish(const Mask& which) noexcept;

  /// The number of a SolveStatus, or −1 in active lanes.
  [[nodiscard]] CAROM_DEVICE const Number& status() const noexcept { return status_; }
  [[nodiscard]] CAROM_DEVICE const Number& iterations() const noexcept {
    return progress_.iterations;
  }
  [[nodiscard]] CAROM_DEVICE const Progress& progress() const noexcept { return progress_; }

  CAROM_DEVICE_CALL void start_from_best(const Mask& lanes) noexcept;
  /// Sets the predicted directions of friction to those at the iterate.
  CAROM_DEVICE void write_directions(const Mask& lanes) noexcept;
  /// Sets them to those after a full step, whose changes of trial impulses are in the cells.
  CAROM_DEVICE void predict_directions(const Mask& lanes) noexcept;

 private:
  [[nodiscard]] CAROM_DEVICE static Number number(double x) noexcept { return Number(Scalar(x)); }
  [[nodiscard]] CAROM_DEVICE static Number code(SolveStatus status) noexcept {
    return Number(Scalar(static_cast<int>(status)));
  }
  [[nodiscard]] CAROM_DEVICE Mask running() const noexcept { return status_ < number(0); }
  CAROM_DEVICE void end(const Mask& lanes, SolveStatus status) noexcept {
    status_ = select(lanes & running(), code(status), status_);
  }
  [[nodiscard]] CAROM_DEVICE Mask meets_target() const noexcept {
    return state_.meets(progress_.tolerance);
  }
  CAROM_DEVICE void keep(const Mask& lanes) noexcept {
    state_.copy(lanes, Names::velocity, Names::best);
  }
  CAROM_DEVICE_CALL void find_direction() noexcept;
  CAROM_DEVICE_CALL void judge(const Number& step) noexcept;

  State& state_;
  Limits limits_;
  Number status_ = number(0);
  Progress progress_ = {number(0), number(0), number(0), number(0)};
};

// --- implementation ---

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::begin(const Mask& valid) noexcept {
  status_ = number(-1);
  progress_ = {number(0), number(0), number(0), Number(limits_.tolerance)};
  keep(running());
  end(!valid, SolveStatus::not_finite);
  end(!state_.begin(), SolveStatus::not_finite);
  state_.evaluate();
  end(meets_target(), SolveStatus::converged);
  if (any(running())) {
    if (state_.layout().has_sweeps()) {
      LaneSweep<Number, Stride>(state_).improve(
          FrictionLaw::convex, running(), Names::best, [&] { state_.evaluate(); },
          [&] { return state_.cost(); });
    } else {
      start_from_best(running());
    }
  }
  end(meets_target(), SolveStatus::converged);
  end(!state_.is_finite(), SolveStatus::not_finite);
  progress_.best_residual = state_.residual;
  keep(running());
  end(Number(Scalar(limits_.iteration_limit)) <= number(0), SolveStatus::iteration_limit);
  write_directions(running());
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::resume(const Progress& progress) noexcept {
  status_ = number(-1);
  progress_ = progress;
  end(!state_.begin(), SolveStatus::not_finite);
  state_.restore_frames();
  state_.evaluate();
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::start(const Mask& lanes, const Number& tolerance,
                                                    const Mask& anywhere) noexcept {
  status_ = select(lanes, number(-1), status_);
  progress_.stalls = select(lanes, number(0), progress_.stalls);
  progress_.tolerance = select(lanes, tolerance, progress_.tolerance);
  end(lanes & meets_target(), SolveStatus::converged);
  const Mask free_to_go = anywhere & running() & (!state_.has_moving_frame());
  if (any(free_to_go)) start_from_best(free_to_go);
  end(lanes & meets_target(), SolveStatus::converged);
  progress_.best_residual = select(lanes, state_.residual, progress_.best_residual);
  keep(lanes);
  write_directions(lanes);
}

/// Moves to rest or to the free velocity if the cost there is lower than at the guess.
template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::start_from_best(const Mask& lanes) noexcept {
  const Number here = state_.cost(), at_rest = state_.cost_at_rest();
  const Number when_free = state_.cost_when_free();
  const Mask to_free = lanes & (when_free < here) & (when_free < at_rest);
  const Mask to_rest = lanes & (at_rest < here) & (!to_free);
  if (!any(to_free | to_rest)) return;
  const Cells v = state_.vector(Names::velocity), free = state_.vector(Names::free);
  for (int i = 0; i < state_.layout().velocities; ++i) {
    v.set(i, select(to_rest, number(0), select(to_free, free[i], v[i])));
  }
  state_.evaluate();
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::write_directions(const Mask& lanes) noexcept {
  for (int k = 0; k < state_.layout().contacts; ++k) {
    const Cells c = state_.contact(k);
    const auto z = direction_of_lanes(c[Names::trial], c[Names::trial + 1]);
    c.set(Names::predicted, select(lanes, z.x, c[Names::predicted]));
    c.set(Names::predicted + 1, select(lanes, z.y, c[Names::predicted + 1]));
  }
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::predict_directions(const Mask& lanes) noexcept {
  for (int k = 0; k < state_.layout().contacts; ++k) {
    const Cells c = state_.contact(k);
    const LaneTrial<Number> at = state_.at_trial(k);
    const auto z = predict_lanes<Number>({at.y1, at.y2}, at.mu * c[Names::impulse + 2],
                                         {c[Names::predicted], c[Names::predicted + 1]},
                                         {c[Names::trial_step], c[Names::trial_step + 1]});
    c.set(Names::predicted, select(lanes, z.x, c[Names::predicted]));
    c.set(Names::predicted + 1, select(lanes, z.y, c[Names::predicted + 1]));
  }
}

/// d = −H⁻¹∇ℓ. If round-off makes H indefinite, its diagonal is raised. Lanes that still have no
/// direction end.
template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::find_direction() noexcept {
  const LaneLayout& layout = state_.layout();
  const Cells matrix = state_.cells(layout.matrix_at), d = state_.vector(Names::direction);
  const Cells gradient = state_.vector(Names::gradient);
  const Number largest_number((std::numeric_limits<Scalar>::max)());
  const LaneHessian<Number, Stride> hessian(state_);
  Number raise = number(0);
  Mask wanted = running();
  for (int attempt = 0; attempt < DiagonalRaiseTuning::attempt_limit; ++attempt) {
    const Number largest = hessian.fill(raise, running());
    end(wanted & (!(largest <= largest_number)), SolveStatus::not_finite);
    wanted = running() & (!factor_lanes(layout.matrix_rows, matrix));
    if (!any(wanted)) break;
    const Number first = number(DiagonalRaiseTuning::first) *
                         Number(std::numeric_limits<Scalar>::epsilon()) * largest;
    const Number next =
        select(raise > number(0), raise * number(DiagonalRaiseTuning::growth), first);
    raise = select(wanted, next, raise);
  }
  end(wanted, SolveStatus::not_finite);
  for (int i = 0; i < layout.velocities; ++i) d.set(i, -gradient[i]);
  solve_lanes(layout.matrix_rows, matrix, d);
  solve_lanes_transposed(layout.matrix_rows, matrix, d);
  Number total = number(0);
  for (int i = 0; i < layout.velocities; ++i) total += abs(d[i]);
  end(!(total <= largest_number), SolveStatus::not_finite);
}

/// Ends lanes that have converged or make no progress; see walk_to_target().
template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::judge(const Number& step) noexcept {
  using Tuning = NewtonWalkTuning;
  const Number residual = state_.residual, scale = state_.scale();
  progress_.iterations += as_numbers(running());
  end(!state_.is_finite(), SolveStatus::not_finite);
  const Mask near_floor =
      residual <= Number(std::sqrt(std::numeric_limits<Scalar>::epsilon())) * scale;
  const Mask full =
      near_floor | ((step > number(1 / Tuning::full_step)) & (step < number(Tuning::full_step)));
  const Mask stalled = full & (residual > number(Tuning::gain) * progress_.best_residual) &
                       (residual < number(Tuning::small_residual) * scale);
  progress_.stalls = select(stalled, progress_.stalls + number(1), number(0));
  const Mask better = running() & (residual < progress_.best_residual);
  progress_.best_residual = select(better, residual, progress_.best_residual);
  if (any(better)) keep(better);
  end(meets_target(), SolveStatus::converged);
  end(progress_.stalls >= select(near_floor, number(Tuning::floor_stalls), number(Tuning::stalls)),
      SolveStatus::no_progress);
  end(progress_.iterations >= Number(Scalar(limits_.iteration_limit)),
      SolveStatus::iteration_limit);
  state_.move_frames(running());
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::step() noexcept {
  find_direction();
  const Number length =
      LaneSearch<Number, Stride>(state_).find_step(limits_.line_search_tolerance, running());
  const Mask moving = running();
  predict_directions(moving);
  const Cells v = state_.vector(Names::velocity), d = state_.vector(Names::direction);
  for (int i = 0; i < state_.layout().velocities; ++i) {
    v.set(i, select(moving, v[i] + length * d[i], v[i]));
  }
  state_.evaluate();
  judge(length);
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::finish(const Mask& which) noexcept {
  const Mask lanes = which & (status_ > code(SolveStatus::converged));
  if (!any(lanes)) return;
  state_.copy(lanes, Names::best, Names::velocity);
  state_.evaluate();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
