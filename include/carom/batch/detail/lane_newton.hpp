// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/lane_state.hpp"
#include "carom/solvers/detail/newton_walk.hpp"
#include "carom/solvers/detail/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// SapSolver's method in every lane: Newton's, with an exact line search, on the convex law.
///
/// The velocities are not whitened, so that columns of J that are zero stay so. Each lane has its
/// own step lengths and its own end; lanes that have ended keep their numbers.
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

  /// Takes on the worlds whose numbers and guesses are in the cells.
  /// @param valid  lanes whose numbers are in range; the others end at once.
  CAROM_DEVICE void begin(const Mask& valid) noexcept;
  /// How far lanes have come.
  struct Progress {
    Number iterations, stalls, best_residual;
  };
  /// Goes on where lanes have been stopped, whose iterates, kept ones and directions of friction
  /// are in the cells.
  CAROM_DEVICE void resume(const Progress& progress) noexcept;
  /// One iteration of the lanes that have not ended.
  CAROM_DEVICE void step() noexcept;
  /// Lanes that have ended.
  [[nodiscard]] CAROM_DEVICE Mask ended() const noexcept { return status_ >= Number(Scalar(0)); }
  /// The iterate of those lanes is their best, and evaluated.
  CAROM_DEVICE void finish() noexcept;

  /// The number of a SolveStatus, or −1 in lanes under way.
  [[nodiscard]] CAROM_DEVICE const Number& status() const noexcept { return status_; }
  [[nodiscard]] CAROM_DEVICE const Number& iterations() const noexcept {
    return progress_.iterations;
  }
  [[nodiscard]] CAROM_DEVICE const Progress& progress() const noexcept { return progress_; }

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
    const Number scale = state_.scale(), largest((std::numeric_limits<Scalar>::max)());
    return (state_.residual <= largest) & (scale <= largest) &
           (state_.residual <= Number(limits_.tolerance) * scale);
  }
  CAROM_DEVICE void start_from_best() noexcept;
  CAROM_DEVICE void write_directions() noexcept;
  CAROM_DEVICE void keep(const Mask& lanes) noexcept;
  [[nodiscard]] CAROM_DEVICE Number fill(const Number& raise) noexcept;
  CAROM_DEVICE void add_curvature(int k, const LaneCurvature<Number>& g) noexcept;
  CAROM_DEVICE void add_products(const LaneSide& rows, const LaneSide& columns,
                                 const Cells& products) noexcept;
  CAROM_DEVICE void find_direction() noexcept;
  CAROM_DEVICE void write_steps() noexcept;
  [[nodiscard]] CAROM_DEVICE Number work_at(const Number& step) const noexcept;
  [[nodiscard]] CAROM_DEVICE Number find_step() noexcept;
  CAROM_DEVICE void judge(const Number& step) noexcept;

  State& state_;
  Limits limits_;
  Number status_ = number(0);
  Progress progress_ = {number(0), number(0), number(0)};
};

// --- implementation ---

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::begin(const Mask& valid) noexcept {
  status_ = number(-1);
  progress_ = {number(0), number(0), number(0)};
  keep(running());
  end(!valid, SolveStatus::not_finite);
  end(!state_.begin(), SolveStatus::not_finite);
  state_.evaluate();
  end(meets_target(), SolveStatus::converged);
  if (any(running())) start_from_best();
  end(meets_target(), SolveStatus::converged);
  end(!state_.is_finite(), SolveStatus::not_finite);
  progress_.best_residual = state_.residual;
  keep(running());
  end(Number(Scalar(limits_.iteration_limit)) <= number(0), SolveStatus::iteration_limit);
  write_directions();
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::resume(const Progress& progress) noexcept {
  status_ = number(-1);
  progress_ = progress;
  end(!state_.begin(), SolveStatus::not_finite);
  state_.evaluate();
}

/// Moves to rest or to the free velocity where the cost there is lower than at the guess.
template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::start_from_best() noexcept {
  const Number here = state_.cost(), at_rest = state_.cost_at_rest();
  const Number when_free = state_.cost_when_free();
  const Mask to_free = running() & (when_free < here) & (when_free < at_rest);
  const Mask to_rest = running() & (at_rest < here) & (!to_free);
  if (!any(to_free | to_rest)) return;
  const Cells v = state_.vector(Names::velocity), free = state_.vector(Names::free);
  for (int i = 0; i < state_.layout().velocities; ++i) {
    v.set(i, select(to_rest, number(0), select(to_free, free[i], v[i])));
  }
  state_.evaluate();
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::keep(const Mask& lanes) noexcept {
  const Cells v = state_.vector(Names::velocity), best = state_.vector(Names::best);
  for (int i = 0; i < state_.layout().velocities; ++i) best.set(i, select(lanes, v[i], best[i]));
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::write_directions() noexcept {
  for (int k = 0; k < state_.layout().contacts; ++k) {
    const Cells c = state_.contact(k);
    const auto z = direction_of_lanes(c[Names::trial], c[Names::trial + 1]);
    c.set(Names::predicted, z.x);
    c.set(Names::predicted + 1, z.y);
  }
}

/// Adds the products of columns of two sides, those of the rows on the left.
template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::add_products(const LaneSide& rows,
                                                           const LaneSide& columns,
                                                           const Cells& products) noexcept {
  const Cells matrix = state_.cells(state_.layout().matrix_at), left = state_.jacobian(rows);
  const int* const place = state_.layout().matrix_rows.place;
  const bool square = rows.column == columns.column;
  const auto entry = [&](const Number& a, const Number& b, const Number& c, int j) {
    return a * products[3 * j] + b * products[3 * j + 1] + c * products[3 * j + 2];
  };
  int i = 0;
  for (; i + 1 < rows.count; i += 2) {
    const Cells upper = matrix.from(place[rows.column + i] + columns.column);
    const Cells lower = matrix.from(place[rows.column + i + 1] + columns.column);
    const Number a0 = left[3 * i], b0 = left[3 * i + 1], c0 = left[3 * i + 2];
    const Number a1 = left[3 * i + 3], b1 = left[3 * i + 4], c1 = left[3 * i + 5];
    const int end = square ? i + 1 : columns.count;
    for (int j = 0; j < end; ++j) {
      const Number p0 = products[3 * j], p1 = products[3 * j + 1], p2 = products[3 * j + 2];
      upper.add(j, a0 * p0 + b0 * p1 + c0 * p2);
      lower.add(j, a1 * p0 + b1 * p1 + c1 * p2);
    }
    if (square) lower.add(i + 1, entry(a1, b1, c1, i + 1));
  }
  if (i == rows.count) return;
  const Cells last = matrix.from(place[rows.column + i] + columns.column);
  const int end = square ? i + 1 : columns.count;
  for (int j = 0; j < end; ++j) {
    last.add(j, entry(left[3 * i], left[3 * i + 1], left[3 * i + 2], j));
  }
}

/// Adds Jᵀ G J of a contact.
template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::add_curvature(
    int k, const LaneCurvature<Number>& g) noexcept {
  const auto& [low, high] = state_.layout().sides[k];
  const Cells products = state_.cells(state_.layout().product_at);
  const auto multiply = [&](const LaneSide& side, const Cells& out) {
    const Cells j = state_.jacobian(side);
    for (int c = 0; c < side.count; ++c) {
      const Number x = j[3 * c], y = j[3 * c + 1], z = j[3 * c + 2];
      out.set(3 * c, g.xx * x + g.xy * y + g.xz * z);
      out.set(3 * c + 1, g.xy * x + g.yy * y + g.yz * z);
      out.set(3 * c + 2, g.xz * x + g.yz * y + g.zz * z);
    }
  };
  multiply(low, products);
  add_products(low, low, products);
  if (high.count == 0) return;
  add_products(high, low, products);
  multiply(high, products);
  add_products(high, high, products);
}

/// H + raise I; the largest entry on the diagonal, or 1; NaN where one is.
template <typename Number, int Stride>
CAROM_DEVICE Number LaneNewton<Number, Stride>::fill(const Number& raise) noexcept {
  const LaneLayout& layout = state_.layout();
  const Cells mass = state_.cells(layout.mass_at), matrix = state_.cells(layout.matrix_at);
  for (int i = 0; i < layout.velocities; ++i) {
    const int own = layout.mass_rows.first_column[i];
    const Cells row = matrix.from(layout.matrix_rows.place[i]);
    const Cells from = mass.from(layout.mass_rows.place[i]);
    for (int j = layout.matrix_rows.first_column[i]; j < own; ++j) row.set(j, number(0));
    for (int j = own; j <= i; ++j) row.set(j, from[j]);
  }
  for (int k = 0; k < layout.contacts; ++k) {
    const Cells c = state_.contact(k);
    const auto g =
        curvature_of_lanes(state_.at_trial(k), c[Names::predicted], c[Names::predicted + 1]);
    if (any(running() & (g.zz > number(0)))) add_curvature(k, g);
  }
  Number largest = number(1);
  for (int i = 0; i < layout.velocities; ++i) {
    const int at = layout.matrix_rows.place[i] + i;
    const Number entry = matrix[at];
    largest = select(entry <= largest, largest, entry);
    matrix.set(at, entry + raise);
  }
  return largest;
}

/// d = −H⁻¹∇ℓ. Where round-off leaves H indefinite its diagonal is raised; lanes that have no
/// direction all the same end.
template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::find_direction() noexcept {
  const LaneLayout& layout = state_.layout();
  const Cells matrix = state_.cells(layout.matrix_at), d = state_.vector(Names::direction);
  const Cells gradient = state_.vector(Names::gradient);
  const Number largest_number((std::numeric_limits<Scalar>::max)());
  Number raise = number(0);
  Mask wanted = running();
  for (int attempt = 0; attempt < DiagonalRaiseTuning::attempt_limit; ++attempt) {
    const Number largest = fill(raise);
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

/// What the direction changes in contact velocities and trial impulses.
template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::write_steps() noexcept {
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
}

/// Σ γ·J d at a step length.
template <typename Number, int Stride>
CAROM_DEVICE Number LaneNewton<Number, Stride>::work_at(const Number& step) const noexcept {
  Number work = number(0);
  for (int k = 0; k < state_.layout().contacts; ++k) {
    const Cells c = state_.contact(k);
    LaneTrial<Number> at = state_.at_trial(k);
    at.y1 += step * c[Names::trial_step];
    at.y2 += step * c[Names::trial_step + 1];
    at.yn += step * c[Names::trial_step + 2];
    const LaneImpulse<Number> y = project_lanes(at);
    work += y.t1 * c[Names::velocity_step] + y.t2 * c[Names::velocity_step + 1] +
            y.n * c[Names::velocity_step + 2];
  }
  return work;
}

/// Step length where the slope along the direction vanishes, found as find_increasing_root() does.
template <typename Number, int Stride>
CAROM_DEVICE Number LaneNewton<Number, Stride>::find_step() noexcept {
  const Cells product = state_.vector(Names::scratch);
  multiply_lanes(state_.layout().mass_rows, state_.cells(state_.layout().mass_at),
                 state_.vector(Names::direction), product);
  const Number at_zero = state_.dot(Names::gradient, Names::direction);
  const Number momentum_slope = state_.dot(Names::momentum, Names::direction);
  const Number momentum_curvature = state_.dot(Names::scratch, Names::direction);
  const auto slope = [&](const Number& step) {
    return momentum_slope + step * momentum_curvature - work_at(step);
  };
  const Number tolerance = -Number(limits_.line_search_tolerance) * at_zero;
  const Number one = number(1), half = number(0.5), two = number(2);
  Number low = number(0), high = one, at_low = at_zero, at_high = slope(high);
  Number best = high, best_size = abs(at_high), width = one;
  // `side` is the end that moved last, −1 or 1.
  Number side = number(0);
  Mask slow = everywhere<Number>(false);
  Mask growing = at_high < -tolerance;
  // Where rounding has left no descent there is nothing to search.
  Mask done = (!running()) | (!(at_zero < number(0))) | (best_size <= tolerance);
  for (int count = 1; any(!done) && count < LineSearchTuning::evaluation_limit; ++count) {
    const Number chord = low + (high - low) * (at_low / (at_low - at_high));
    const Number middle = low + (high - low) * half;
    Number x = select(slow | (!((chord > low) & (chord < high))), middle, chord);
    x = select(growing, two * high, x);
    done = done | ((!growing) & (!((x > low) & (x < high))));  // the bracket is down to round-off
    const Number value = slope(x), size = abs(value);
    const Mask better = (!done) & (size < best_size);
    best = select(better, x, best);
    best_size = select(better, size, best_size);
    const Mask rise = growing & (!done), narrow = (!growing) & (!done), below = value < number(0);
    const Mask from_low = narrow & below, from_high = narrow & (!below);
    // The end that stays twice in a row counts half.
    at_high = select(from_low & (side < number(0)), at_high * half, at_high);
    at_low = select(from_high & (side > number(0)), at_low * half, at_low);
    side = select(from_low, number(-1), select(from_high, one, side));
    low = select(rise, high, select(from_low, x, low));
    at_low = select(rise, at_high, select(from_low, value, at_low));
    high = select(rise | from_high, x, high);
    at_high = select(rise | from_high, value, at_high);
    slow = narrow & (high - low > width * number(0.501));  // 0.501: a rounded half is not slow
    width = select(rise | narrow, high - low, width);
    growing = rise & (value < -tolerance);
    done = done | (best_size <= tolerance);
  }
  return select(at_zero < number(0), best, one);
}

/// Whether lanes have arrived, or get no further; see walk_to_target().
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
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::step() noexcept {
  find_direction();
  write_steps();
  const Number length = find_step();
  const Mask moving = running();
  for (int k = 0; k < state_.layout().contacts; ++k) {
    const Cells c = state_.contact(k);
    const LaneTrial<Number> at = state_.at_trial(k);
    const auto z = predict_lanes<Number>({at.y1, at.y2}, at.mu * c[Names::impulse + 2],
                                         {c[Names::predicted], c[Names::predicted + 1]},
                                         {c[Names::trial_step], c[Names::trial_step + 1]});
    c.set(Names::predicted, select(moving, z.x, c[Names::predicted]));
    c.set(Names::predicted + 1, select(moving, z.y, c[Names::predicted + 1]));
  }
  const Cells v = state_.vector(Names::velocity), d = state_.vector(Names::direction);
  for (int i = 0; i < state_.layout().velocities; ++i) {
    v.set(i, select(moving, v[i] + length * d[i], v[i]));
  }
  state_.evaluate();
  judge(length);
}

template <typename Number, int Stride>
CAROM_DEVICE void LaneNewton<Number, Stride>::finish() noexcept {
  const Mask lanes = status_ > code(SolveStatus::converged);
  if (!any(lanes)) return;
  const Cells v = state_.vector(Names::velocity), best = state_.vector(Names::best);
  for (int i = 0; i < state_.layout().velocities; ++i) v.set(i, select(lanes, best[i], v[i]));
  state_.evaluate();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
