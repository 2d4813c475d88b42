// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/cones/friction_cone.hpp"
#include "carom/contact/primal.hpp"
#include "carom/solvers/rows/small_problem.hpp"
#include "carom/solvers/systems/dual_curvature.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Sweeps over the contacts of a small problem from the impulses of the iterate last evaluated, and
/// writes the velocity w = w* + Ĵᵀγ that they lead to as the iterate. Each contact in turn gets the
/// impulse that would be best if its own block of W were its largest diagonal entry times I.
/// @pre  the velocities fit one RowPacket.
template <RealScalar Scalar>
void sweep_small_contacts(const SmallState<Scalar>& state) noexcept {
  using std::abs;
  using Problem = SmallProblem<Scalar>;
  Problem& problem = state.problem();
  RowPacket<Scalar> whitened =
      state.in_vector(Problem::free, 0) + state.in_vector(Problem::momentum, 0);
  const Index stride = problem.padded(), count = problem.count();
  for (Index pass = 0; pass < SmallSweepTuning::pass_count * count; ++pass) {
    const Index k = pass % count;
    const auto at = [&](int name) { return problem.array(name)[k]; };
    const Scalar* const block = problem.columns() + 3 * k * row_lanes;
    const RowPacket<Scalar> columns[3] = {packet_at(block), packet_at(block + row_lanes),
                                          packet_at(block + 2 * row_lanes)};
    Scalar* const impulse = problem.array(Problem::impulse) + k;
    const Scalar own = (std::max)(
        {at(Problem::row_square), at(Problem::row_square + 1), at(Problem::row_square + 2)});
    const ContactWeights<Scalar> weights{at(Problem::tangent) + own, at(Problem::normal) + own};
    Vector3<Scalar> trial;
    Scalar size(0);
    for (int c = 0; c < 3; ++c) {
      trial(c) =
          (at(Problem::bias + c) - (columns[c] * whitened).sum() + own * impulse[c * stride]) /
          (c < 2 ? weights.tangent : weights.normal);
      size += abs(trial(c));
    }
    if (!(size <= (std::numeric_limits<Scalar>::max)())) break;
    const Vector3<Scalar> next =
        project(FrictionCone<Scalar>{at(Problem::friction)}, weights, trial).point;
    for (int c = 0; c < 3; ++c) {
      whitened += (next(c) - impulse[c * stride]) * columns[c];
      impulse[c * stride] = next(c);
    }
  }
  whitened.write_to(problem.vector(Problem::whitened));
}

/// Newton's method on a small problem, with the steps of IslandNewton and DirectDirections on an
/// island. solve() begins at the iterate last evaluated.
template <RealScalar Scalar>
class SmallNewton {
 public:
  using State = SmallState<Scalar>;
  using Problem = SmallProblem<Scalar>;

  SmallNewton(State& state, const NewtonLimits<Scalar>& limits) noexcept
      : state_(state), problem_(state.problem()), limits_(limits), sweeps_(is_of_six()) {}

  /// Solves from the last evaluated iterate.
  [[nodiscard]] SolveStatus solve(int& iterations) noexcept;

  // The functions of walk_to_target().
  [[nodiscard]] const IslandMeasures<Scalar>& measures() const noexcept { return state_; }
  [[nodiscard]] Scalar advance() noexcept;
  void keep_iterate() noexcept { state_.copy(Problem::whitened, Problem::best); }
  void return_to_kept() noexcept {
    state_.copy(Problem::best, Problem::whitened);
    state_.evaluate();
  }

 private:
  using Lane = RowPacket<Scalar>;

  /// Whether the velocities are those of a rigid body, whose matrix fits into registers.
  [[nodiscard]] bool is_of_six() const noexcept { return state_.size() == 6; }
  [[nodiscard]] bool find_direction() noexcept;
  [[nodiscard]] ContactNumbers<Scalar> numbers(Index k) const noexcept {
    const auto at = [&](int name) { return problem_.array(name)[k]; };
    return {at(Problem::friction), at(Problem::tangent),   at(Problem::normal),
            at(Problem::trial),    at(Problem::trial + 1), at(Problem::trial + 2)};
  }
  [[nodiscard]] Tangent2<Scalar> predicted(Index k) const noexcept {
    return {problem_.array(Problem::predicted_direction)[k],
            problem_.array(Problem::predicted_direction + 1)[k]};
  }
  /// Sets the directions of friction to those at the iterate, or to those predicted for a full
  /// step.
  void write_directions(bool stepped) noexcept;
  /// G of a contact. Returns false if it is zero.
  [[nodiscard]] bool curvature(Index k, General3<Scalar>& g) const noexcept {
    const ContactNumbers<Scalar> here = numbers(k);
    Symmetric3<Scalar> half;
    if (!write_dual_curvature(place_trial(here).region, here, predicted(k), half)) return false;
    g = half.whole();
    return true;
  }
  /// Writes Ĵᵀ G Ĵ of the contacts to the matrix.
  void write_curvature() noexcept;
  /// The same for six velocities.
  void write_curvature_of_six() noexcept;
  /// Writes H + raise I. Returns the largest diagonal entry of Ĵᵀ G Ĵ, or 1; NaN if an entry is
  /// NaN.
  [[nodiscard]] Scalar fill(const Scalar& raise) noexcept;
  /// x ← H⁻¹ x for the filled matrix. Returns false, and x does not change, if a pivot is not
  /// positive.
  [[nodiscard]] bool solve_matrix(Scalar* x) noexcept;
  void sweep() noexcept;
  void write_steps() noexcept;
  [[nodiscard]] Scalar push_slope(const Scalar& step) noexcept;

  State& state_;
  Problem& problem_;
  NewtonLimits<Scalar> limits_;
  bool sweeps_;  ///< whether sweeps may come after the next step
};

// --- implementation ---

template <RealScalar Scalar>
void SmallNewton<Scalar>::write_directions(bool stepped) noexcept {
  const auto at = [&](int name, Index k) -> Scalar& { return problem_.array(name)[k]; };
  for (Index k = 0; k < problem_.count(); ++k) {
    const FrictionRows<Scalar> of_contact{{at(Problem::trial, k), at(Problem::trial + 1, k)},
                                          at(Problem::friction, k) * at(Problem::impulse + 2, k)};
    const Tangent2<Scalar> direction =
        stepped ? predict_direction(of_contact, predicted(k),
                                    {at(Problem::trial_step, k), at(Problem::trial_step + 1, k)})
                : current_direction(of_contact);
    at(Problem::predicted_direction, k) = direction.x;
    at(Problem::predicted_direction + 1, k) = direction.y;
  }
}

template <RealScalar Scalar>
void SmallNewton<Scalar>::write_curvature() noexcept {
  const Columns<Scalar> matrix = problem_.matrix();
  const int lanes = int(state_.lanes()), size = int(state_.size());
  std::fill_n(matrix.data, size * lanes, Scalar(0));
  General3<Scalar> g;
  for (Index k = 0; k < problem_.count(); ++k) {
    if (!curvature(k, g)) continue;
    const Scalar* const block = problem_.columns() + 3 * k * lanes;
    add_curvature_block(matrix, block, lanes, block, size, g);
  }
}

template <RealScalar Scalar>
void SmallNewton<Scalar>::write_curvature_of_six() noexcept {
  Lane sum[6];
  for (Lane& column : sum) column.setZero();
  General3<Scalar> g;
  for (Index k = 0; k < problem_.count(); ++k) {
    if (!curvature(k, g)) continue;
    const Scalar* const block = problem_.columns() + 3 * k * row_lanes;
    const CurvedRows<Scalar> curved(block, row_lanes, g);
    for (int c = 0; c < 6; ++c) {
      sum[c] += curved.x * block[c] + curved.y * block[row_lanes + c] +
                curved.z * block[2 * row_lanes + c];
    }
  }
  for (int c = 0; c < 6; ++c) sum[c].write_to(problem_.matrix().data + c * row_lanes);
}

template <RealScalar Scalar>
Scalar SmallNewton<Scalar>::fill(const Scalar& raise) noexcept {
  if (is_of_six()) {
    write_curvature_of_six();
  } else {
    write_curvature();
  }
  const Columns<Scalar> matrix = problem_.matrix();
  Scalar largest = 1;
  for (Index c = 0; c < state_.size(); ++c) {
    Scalar& entry = matrix.data[c * (state_.lanes() + 1)];
    if (entry > largest || entry != entry) largest = entry;  // once NaN, it stays
    entry += 1 + raise;
  }
  return largest;
}

template <RealScalar Scalar>
bool SmallNewton<Scalar>::solve_matrix(Scalar* x) noexcept {
  const Columns<Scalar> matrix = problem_.matrix();
  if (is_of_six()) {
    Scalar corner[6][6];
    for (int c = 0; c < 6; ++c) {
      for (int r = c; r < 6; ++r) corner[c][r] = matrix.data[c * row_lanes + r];
    }
    if (!factor_corner<6>(corner)) return false;
    solve_corner<6>(corner, x);
    return true;
  }
  if (!factor_leading_columns<Scalar>(matrix, state_.size(), state_.size())) return false;
  const Columns<const Scalar> lower{matrix.data, matrix.stride};
  solve_leading_columns(lower, state_.size(), state_.size(), x);
  solve_leading_columns_transposed(lower, state_.size(), state_.size(), x);
  return true;
}

/// d = −H⁻¹∇ℓ; false where it is not finite or H stays indefinite although its diagonal is
/// raised.
template <RealScalar Scalar>
bool SmallNewton<Scalar>::find_direction() noexcept {
  Scalar* const direction = problem_.vector(Problem::direction);
  const Scalar* const gradient = problem_.vector(Problem::gradient);
  for (Index i = 0; i < state_.lanes(); ++i) direction[i] = -gradient[i];
  Scalar raise = 0;
  const bool solved = factor_raised([this](const Scalar& by) { return fill(by); },
                                    [&] { return solve_matrix(direction); }, raise);
  if (!solved) return false;
  Scalar total = 0;
  for (Index i = 0; i < state_.lanes(); i += row_lanes) {
    total += state_.in_vector(Problem::direction, i).abs().sum();
  }
  return total <= (std::numeric_limits<Scalar>::max)();
}

/// Computes the changes of contact velocities and trial impulses along the direction.
template <RealScalar Scalar>
void SmallNewton<Scalar>::write_steps() noexcept {
  for (Index k = 0; k < problem_.padded(); k += row_lanes) {
    Lane velocity[3];
    state_.multiply(Problem::direction, k, velocity);
    for (int c = 0; c < 3; ++c) {
      const int inverse = c < 2 ? Problem::inverse_tangent : Problem::inverse_normal;
      velocity[c].write_to(problem_.array(Problem::velocity_step + c) + k);
      const Lane trial_step = -velocity[c] * state_.in_array(inverse, k);
      trial_step.write_to(problem_.array(Problem::trial_step + c) + k);
    }
  }
}

/// −γ(α)·Ĵd at a step α.
template <RealScalar Scalar>
Scalar SmallNewton<Scalar>::push_slope(const Scalar& step) noexcept {
  for (Index k = 0; k < problem_.padded(); k += row_lanes) {
    for (int c = 0; c < 3; ++c) {
      const Lane ahead = state_.in_array(Problem::trial + c, k) +
                         step * state_.in_array(Problem::trial_step + c, k);
      ahead.write_to(problem_.array(Problem::trial_ahead + c) + k);
    }
  }
  if (!state_.project_trials(Problem::trial_ahead, Problem::impulse_ahead)) {
    return std::numeric_limits<Scalar>::infinity();  // too far: any γ here ascends
  }
  Lane work = Lane::Zero();
  for (Index k = 0; k < problem_.padded(); k += row_lanes) {
    for (int c = 0; c < 3; ++c) {
      work += state_.in_array(Problem::impulse_ahead + c, k) *
              state_.in_array(Problem::velocity_step + c, k);
    }
  }
  return -work.sum();
}

/// Moves to the result of sweeps over the contacts from the impulses of the iterate, if the cost is
/// lower there.
template <RealScalar Scalar>
void SmallNewton<Scalar>::sweep() noexcept {
  const Scalar here = state_.cost();
  state_.copy(Problem::whitened, Problem::direction);
  sweep_small_contacts(state_);
  state_.evaluate();
  if (state_.cost() < here) {
    write_directions(false);
    return;
  }
  state_.copy(Problem::direction, Problem::whitened);
  state_.evaluate();
}

template <RealScalar Scalar>
Scalar SmallNewton<Scalar>::advance() noexcept {
  write_steps();
  const DirectionSlope<Scalar> slope{state_.dot(Problem::gradient, Problem::direction),
                                     state_.dot_change(Problem::direction),
                                     state_.dot(Problem::direction, Problem::direction)};
  const Scalar step = find_step(slope, limits_.line_search_tolerance,
                                [this](const Scalar& ahead) { return push_slope(ahead); });
  write_directions(true);
  for (Index i = 0; i < state_.lanes(); i += row_lanes) {
    packet_at(problem_.vector(Problem::whitened) + i) +=
        step * state_.in_vector(Problem::direction, i);
  }
  state_.evaluate();
  if (sweeps_ && state_.are_finite() &&
      state_.residual > state_.scale() * Scalar(SmallSweepTuning::useless_residual)) {
    sweep();
  }
  sweeps_ = false;
  return step;
}

template <RealScalar Scalar>
SolveStatus SmallNewton<Scalar>::solve(int& iterations) noexcept {
  // The guess does not meet the tolerance: by momentum_scale(), which is no less than scale().
  start_from_best(state_);
  if (state_.meet(limits_.tolerance)) return SolveStatus::converged;
  if (!state_.are_finite()) return SolveStatus::not_finite;
  write_directions(false);
  return walk_to_target(
      *this, [this] { return find_direction(); }, limits_, iterations);
}

/// Solves small problems under the convex law on one dense matrix, for SapSolver: the same method
/// as on islands, without graph and sparse factor. lay_out() for a problem's size, then solve().
/// @note  lay_out() allocates beyond the largest problem so far; solve() is real-time safe.
template <RealScalar Scalar>
class SmallSolver {
 public:
  /// Reserves memory for small problems with at most these counts of velocities and contacts.
  void reserve(Index velocities, Index contacts) { problem_.reserve(velocities, contacts); }
  /// Sets the sizes to those of a problem.
  /// @pre  is_small(problem).
  void lay_out(const ContactProblem<Scalar>& problem) { problem_.lay_out(problem); }
  /// Whether the last problem had the same counts of velocities and contacts.
  [[nodiscard]] bool fits(const ContactProblem<Scalar>& problem) const noexcept {
    return problem_.size() == problem.velocity_count() && problem_.count() == problem.block_count();
  }

  /// Solves the stored problem from a first guess, which must be finite.
  /// @param impulse, contact_velocity  written, three numbers for each contact.
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                            const NewtonLimits<Scalar>& limits, Scalar* impulse,
                            Scalar* contact_velocity) noexcept {
    problem_.gather(problem, velocity);
    const auto report = iterate(problem, velocity, limits);
    for (Index k = 0; k < problem_.count(); ++k) {
      const Index row = 3 * problem_.contact_at(k);
      for (int c = 0; c < 3; ++c) {
        impulse[row + c] = problem_.array(SmallProblem<Scalar>::impulse + c)[k];
        contact_velocity[row + c] = problem_.array(SmallProblem<Scalar>::velocity + c)[k];
      }
    }
    return report;
  }

 private:
  SolveReport<Scalar> iterate(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                              const NewtonLimits<Scalar>& limits) noexcept;

  SmallProblem<Scalar> problem_;
};

// --- implementation ---

template <RealScalar Scalar>
SolveReport<Scalar> SmallSolver<Scalar>::iterate(const ContactProblem<Scalar>& problem,
                                                 VectorX<Scalar>& velocity,
                                                 const NewtonLimits<Scalar>& limits) noexcept {
  SmallState<Scalar> state(problem_);
  state.evaluate();
  SolveReport<Scalar> report;
  report.residual_target = limits.tolerance;
  report.status = SolveStatus::converged;
  const auto scale = [&] {
    return momentum_scale(state.free_squared, state.pushed_squared, state.gross_squared);
  };
  const auto met = [&] { return meets_tolerance(state.residual, scale(), limits.tolerance); };
  if (!met()) {
    report.status = SmallNewton<Scalar>(state, limits).solve(report.iterations);
    // A guess from which numbers leave the range of the type is returned unchanged.
    if (state.are_finite()) {
      std::copy_n(problem_.vector(SmallProblem<Scalar>::whitened), velocity.size(),
                  velocity.data());
      problem.unwhiten(as_span(velocity));
    }
    if (met()) report.status = SolveStatus::converged;
  }
  finish_report(state.residual, scale(), report);
  return report;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
