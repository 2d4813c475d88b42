// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/cones/friction_cone_batch.hpp"
#include "carom/linalg/increasing_root.hpp"
#include "carom/solvers/detail/dual_curvature.hpp"
#include "carom/solvers/detail/newton_walk.hpp"
#include "carom/solvers/detail/small_problem.hpp"

namespace carom::inline CAROM_ABI {
namespace detail {

/// Newton's method on a small problem: what IslandState, IslandNewton and DirectDirections do, to
/// rounding, on arrays of fixed registers and one dense matrix.
/// @tparam Size  velocities; 0 for any number.
template <RealScalar Scalar, int Size>
class SmallNewton {
 public:
  using Problem = SmallProblem<Scalar>;

  SmallNewton(Problem& problem, const NewtonLimits<Scalar>& limits) noexcept
      : problem_(problem), limits_(limits) {}

  /// Everything that follows from the iterate: v_c, y, γ, Ĵᵀγ, the gradient and its norm.
  void evaluate() noexcept;
  /// Solves from the iterate last evaluated.
  [[nodiscard]] SolveStatus solve(int& iterations) noexcept;

  [[nodiscard]] Scalar residual() const noexcept { return residual_; }  ///< ‖∇ℓ‖
  [[nodiscard]] Scalar free_squared() const noexcept { return free_squared_; }
  [[nodiscard]] Scalar pushed_squared() const noexcept { return pushed_squared_; }
  [[nodiscard]] Scalar gross_squared() const noexcept { return gross_squared_; }
  [[nodiscard]] Scalar scale() const noexcept {
    return island_scale(free_squared_, pushed_squared_, gross_squared_);
  }
  [[nodiscard]] bool meets_target() const noexcept {
    return meets_tolerance(residual_, scale(), limits_.tolerance);
  }

  // What walk_to_target() asks for.
  [[nodiscard]] bool find_direction() noexcept;
  [[nodiscard]] Scalar advance() noexcept;
  void keep_iterate() noexcept { copy(Problem::whitened, Problem::best); }
  void return_to_kept() noexcept {
    copy(Problem::best, Problem::whitened);
    evaluate();
  }

 private:
  using Lane = RowLanes<Scalar>;
  /// Where the first step leads nowhere, it has taken the wrong contacts for open. As many sweeps
  /// find the right ones in less time than one step: of a brick that slides, 9 steps become 4.
  static constexpr Index sweep_count = 3;

  [[nodiscard]] Index size() const noexcept { return Size > 0 ? Index(Size) : problem_.size(); }
  [[nodiscard]] Index lanes() const noexcept {
    return Size > 0 ? lanes_above(Size) : problem_.lanes();
  }
  /// Calls visit(i) for the first of each register of a vector.
  template <typename Visit>
  void for_each_lane(const Visit& visit) const noexcept {
    for (Index i = 0; i < lanes(); i += row_lanes) visit(i);
  }
  /// Calls visit(k) for the first of each register of an array.
  template <typename Visit>
  void for_each_block(const Visit& visit) const noexcept {
    for (Index k = 0; k < problem_.padded(); k += row_lanes) visit(k);
  }
  [[nodiscard]] auto in_vector(int name, Index i) const noexcept {
    return lanes_at(problem_.vector(name) + i);
  }
  [[nodiscard]] auto in_array(int name, Index k) const noexcept {
    return lanes_at(problem_.array(name) + k);
  }
  void copy(int from, int to) const noexcept {
    for_each_lane([&](Index i) { in_vector(to, i) = in_vector(from, i); });
  }
  [[nodiscard]] Scalar dot(int a, int b) const noexcept {
    Lane sum = Lane::Zero();
    for_each_lane([&](Index i) { sum += in_vector(a, i) * in_vector(b, i); });
    return sum.sum();
  }

  /// Ĵ x of the contacts from k on, a register of each component.
  void multiply(int vector, Index k, Lane (&result)[3]) const noexcept;
  /// y = R⁻¹(v̂ − v_c) of the contacts from k on.
  void write_trial(const Lane (&velocity)[3], int trial, Index k) const noexcept;
  /// γ = P(y); false, and nothing written, if a trial impulse is not finite.
  [[nodiscard]] bool project_trials(int trial, int impulse) const noexcept;
  /// ℓ with γ = P(y) given, ‖w − w*‖² too; infinite where a trial is not finite.
  [[nodiscard]] Scalar cost(const Scalar& change_squared, int impulse) const noexcept;
  [[nodiscard]] Scalar cost_here() const noexcept;
  [[nodiscard]] Scalar cost_at(const Scalar& change_squared) const noexcept;
  void start_from_best() noexcept;
  [[nodiscard]] ContactNumbers<Scalar> numbers(Index k) const noexcept {
    const auto at = [&](int name) { return problem_.array(name)[k]; };
    return {at(Problem::friction), at(Problem::tangent),   at(Problem::normal),
            at(Problem::trial),    at(Problem::trial + 1), at(Problem::trial + 2)};
  }
  [[nodiscard]] Tangent2<Scalar> dual(Index k) const noexcept {
    return {problem_.array(Problem::dual)[k], problem_.array(Problem::dual + 1)[k]};
  }
  /// Sets the directions of friction: find(rows, contact).
  template <typename Find>
  void write_directions(const Find& find) noexcept;
  /// H + raise I; the largest entry on the diagonal of Ĵᵀ G Ĵ, or 1; NaN if one is.
  [[nodiscard]] Scalar fill(const Scalar& raise) noexcept;
  /// x ← H⁻¹ x of what was filled; false, x as it was, when a pivot is not positive.
  [[nodiscard]] bool solve_matrix(Scalar* x) noexcept;
  void sweep() noexcept;
  void write_steps() noexcept;
  [[nodiscard]] Scalar find_step() noexcept;

  Problem& problem_;
  NewtonLimits<Scalar> limits_;
  bool sweeps_ = Size > 0;  ///< whether the next step may be followed by sweeps
  Scalar residual_ = 0, free_squared_ = 0, pushed_squared_ = 0, gross_squared_ = 0;
};

// --- implementation ---

template <RealScalar Scalar, int Size>
void SmallNewton<Scalar, Size>::multiply(int vector, Index k, Lane (&result)[3]) const noexcept {
  for (Lane& sum : result) sum.setZero();
  const Scalar* const x = problem_.vector(vector);
  const Scalar* row = problem_.rows_by_contact() + k;
  const Index stride = problem_.padded();
  for (Index i = 0; i < size(); ++i) {
    for (int c = 0; c < 3; ++c, row += stride) result[c] += lanes_at(row) * x[i];
  }
}

template <RealScalar Scalar, int Size>
void SmallNewton<Scalar, Size>::write_trial(const Lane (&velocity)[3], int trial,
                                            Index k) const noexcept {
  for (int c = 0; c < 3; ++c) {
    const int inverse = c < 2 ? Problem::inverse_tangent : Problem::inverse_normal;
    in_array(trial + c, k) = (in_array(Problem::bias + c, k) - velocity[c]) * in_array(inverse, k);
  }
}

template <RealScalar Scalar, int Size>
bool SmallNewton<Scalar, Size>::project_trials(int trial, int impulse) const noexcept {
  const auto at = [&](int name) { return problem_.array(name); };
  Lane sizes = Lane::Zero();
  for_each_block([&](Index k) {
    for (int c = 0; c < 3; ++c) sizes += in_array(trial + c, k).abs();
  });
  if (!(sizes.sum() <= (std::numeric_limits<Scalar>::max)())) return false;
  project(FrictionConeBatch<Scalar>{problem_.padded(),
                                    {at(trial), at(trial + 1), at(trial + 2)},
                                    {at(Problem::friction)},
                                    {at(Problem::tangent)},
                                    {at(Problem::normal)}},
          {at(impulse), at(impulse + 1), at(impulse + 2)});
  return true;
}

template <RealScalar Scalar, int Size>
void SmallNewton<Scalar, Size>::evaluate() noexcept {
  using std::sqrt;
  for_each_block([&](Index k) {
    Lane velocity[3];
    multiply(Problem::whitened, k, velocity);
    for (int c = 0; c < 3; ++c) in_array(Problem::velocity + c, k) = velocity[c];
    write_trial(velocity, Problem::trial, k);
  });
  if (!project_trials(Problem::trial, Problem::impulse)) {
    std::fill_n(problem_.array(Problem::impulse), 3 * problem_.padded(), Scalar(0));
    residual_ = std::numeric_limits<Scalar>::infinity();
    return;
  }
  const Scalar* const gamma = problem_.array(Problem::impulse);
  const Index stride = problem_.padded();
  Lane free_sum = Lane::Zero(), pushed_sum = free_sum, gradient_sum = free_sum, gross = free_sum;
  for_each_lane([&](Index i) {
    Lane sum[3] = {Lane::Zero(), Lane::Zero(), Lane::Zero()};
    const Scalar* column = problem_.columns() + i;
    for (Index k = 0; k < problem_.count(); ++k) {
      for (int c = 0; c < 3; ++c, column += lanes()) {
        sum[c] += lanes_at(column) * gamma[c * stride + k];
      }
    }
    const Lane momentum = sum[0] + sum[1] + sum[2];
    const Lane free = in_vector(Problem::free, i);
    const Lane gradient = in_vector(Problem::whitened, i) - free - momentum;
    in_vector(Problem::momentum, i) = momentum;
    in_vector(Problem::gradient, i) = gradient;
    free_sum += free.square();
    pushed_sum += momentum.square();
    gradient_sum += gradient.square();
  });
  for_each_block([&](Index k) {
    for (int c = 0; c < 3; ++c) {
      gross += in_array(Problem::rows + c, k) * in_array(Problem::impulse + c, k).square();
    }
  });
  residual_ = sqrt(gradient_sum.sum());
  free_squared_ = free_sum.sum();
  pushed_squared_ = pushed_sum.sum();
  gross_squared_ = gross.sum();
}

template <RealScalar Scalar, int Size>
Scalar SmallNewton<Scalar, Size>::cost(const Scalar& change_squared, int impulse) const noexcept {
  Lane sum = Lane::Zero();
  for_each_block([&](Index k) {
    sum += in_array(Problem::tangent, k) *
               (in_array(impulse, k).square() + in_array(impulse + 1, k).square()) +
           in_array(Problem::normal, k) * in_array(impulse + 2, k).square();
  });
  return (change_squared + sum.sum()) / 2;
}

template <RealScalar Scalar, int Size>
Scalar SmallNewton<Scalar, Size>::cost_at(const Scalar& change_squared) const noexcept {
  if (!project_trials(Problem::trial_ahead, Problem::impulse_ahead)) {
    return std::numeric_limits<Scalar>::infinity();
  }
  return cost(change_squared, Problem::impulse_ahead);
}

/// ℓ at the iterate last evaluated.
template <RealScalar Scalar, int Size>
Scalar SmallNewton<Scalar, Size>::cost_here() const noexcept {
  if (!(residual_ <= (std::numeric_limits<Scalar>::max)())) {
    return std::numeric_limits<Scalar>::infinity();
  }
  Lane change = Lane::Zero();
  for_each_lane([&](Index i) {
    change += (in_vector(Problem::whitened, i) - in_vector(Problem::free, i)).square();
  });
  return cost(change.sum(), Problem::impulse);
}

/// Moves to rest or to the free velocity if the cost there is lower than at the guess.
template <RealScalar Scalar, int Size>
void SmallNewton<Scalar, Size>::start_from_best() noexcept {
  const Scalar here = cost_here();
  Lane velocity[3] = {Lane::Zero(), Lane::Zero(), Lane::Zero()};
  for_each_block([&](Index k) { write_trial(velocity, Problem::trial_ahead, k); });
  const Scalar at_rest = cost_at(free_squared_);
  for_each_block([&](Index k) {
    multiply(Problem::free, k, velocity);
    write_trial(velocity, Problem::trial_ahead, k);
  });
  const Scalar when_free = cost_at(Scalar(0));
  if (when_free < here && when_free < at_rest) {
    copy(Problem::free, Problem::whitened);
  } else if (at_rest < here) {
    for_each_lane([&](Index i) { in_vector(Problem::whitened, i).setZero(); });
  } else {
    return;
  }
  evaluate();
}

template <RealScalar Scalar, int Size>
template <typename Find>
void SmallNewton<Scalar, Size>::write_directions(const Find& find) noexcept {
  const auto at = [&](int name, Index k) -> Scalar& { return problem_.array(name)[k]; };
  for (Index k = 0; k < problem_.count(); ++k) {
    const FrictionRows<Scalar> of_contact{{at(Problem::trial, k), at(Problem::trial + 1, k)},
                                          at(Problem::friction, k) * at(Problem::impulse + 2, k)};
    const Tangent2<Scalar> direction = find(of_contact, k);
    at(Problem::dual, k) = direction.x;
    at(Problem::dual + 1, k) = direction.y;
  }
}

template <RealScalar Scalar, int Size>
Scalar SmallNewton<Scalar, Size>::fill(const Scalar& raise) noexcept {
  const Columns<Scalar> matrix = problem_.matrix();
  Lane sum[Size > 0 ? Size : 1];
  for (Lane& column : sum) column.setZero();
  if (Size == 0) std::fill_n(matrix.data, size() * lanes(), Scalar(0));
  for (Index k = 0; k < problem_.count(); ++k) {
    Symmetric3<Scalar> g;
    const ContactNumbers<Scalar> here = numbers(k);
    if (!write_dual_curvature(place_trial(here).region, here, dual(k), g)) continue;
    const Scalar* const block = problem_.columns() + 3 * k * lanes();
    if constexpr (Size > 0) {
      const CurvedRows<Scalar> curved(block, row_lanes, g);
      for (int c = 0; c < Size; ++c) sum[c] += curved.times(block + c, row_lanes);
    } else {
      add_curvature_block(matrix, block, int(lanes()), block, int(size()), g);
    }
  }
  if constexpr (Size > 0) {
    for (int c = 0; c < Size; ++c) lanes_at(matrix.data + c * row_lanes) = sum[c];
  }
  Scalar largest = 1;
  for (Index c = 0; c < size(); ++c) {
    Scalar& entry = matrix.data[c * (lanes() + 1)];
    if (entry > largest || entry != entry) largest = entry;  // once NaN, it stays
    entry += 1 + raise;
  }
  return largest;
}

template <RealScalar Scalar, int Size>
bool SmallNewton<Scalar, Size>::solve_matrix(Scalar* x) noexcept {
  const Columns<Scalar> matrix = problem_.matrix();
  if constexpr (Size > 0) {
    Scalar corner[std::size_t(Size)][std::size_t(Size)];
    for (int c = 0; c < Size; ++c) {
      for (int r = c; r < Size; ++r) corner[c][r] = matrix.data[c * row_lanes + r];
    }
    if (!factor_corner<Size>(corner)) return false;
    solve_corner<Size>(corner, x);
    return true;
  }
  if (!factor_leading_columns<Scalar>(matrix, size(), size())) return false;
  const Columns<const Scalar> lower{matrix.data, matrix.stride};
  solve_leading_columns(lower, size(), size(), x);
  solve_leading_columns_transposed(lower, size(), size(), x);
  return true;
}

/// d = −H⁻¹∇ℓ; false when it cannot be had. Should round-off leave H indefinite, its diagonal is
/// raised: the direction descends for every positive definite matrix.
template <RealScalar Scalar, int Size>
bool SmallNewton<Scalar, Size>::find_direction() noexcept {
  Scalar* const direction = problem_.vector(Problem::direction);
  for_each_lane([&](Index i) { lanes_at(direction + i) = -in_vector(Problem::gradient, i); });
  bool solved = false;
  Scalar raise = 0;
  for (int attempt = 0; attempt < 4 && !solved; ++attempt) {
    const Scalar largest = fill(raise);
    if (!(largest <= (std::numeric_limits<Scalar>::max)())) return false;
    solved = solve_matrix(direction);
    raise = raise > 0 ? raise * 1000 : 16 * std::numeric_limits<Scalar>::epsilon() * largest;
  }
  if (!solved) return false;
  Scalar total = 0;
  for_each_lane([&](Index i) { total += lanes_at(direction + i).abs().sum(); });
  return total <= (std::numeric_limits<Scalar>::max)();
}

/// What the direction does to contact velocities and trial impulses.
template <RealScalar Scalar, int Size>
void SmallNewton<Scalar, Size>::write_steps() noexcept {
  for_each_block([&](Index k) {
    Lane velocity[3];
    multiply(Problem::direction, k, velocity);
    for (int c = 0; c < 3; ++c) {
      const int inverse = c < 2 ? Problem::inverse_tangent : Problem::inverse_normal;
      in_array(Problem::velocity_step + c, k) = velocity[c];
      in_array(Problem::trial_step + c, k) = -velocity[c] * in_array(inverse, k);
    }
  });
}

/// Step length α where the slope along the direction vanishes.
template <RealScalar Scalar, int Size>
Scalar SmallNewton<Scalar, Size>::find_step() noexcept {
  const Scalar slope_at_zero = dot(Problem::gradient, Problem::direction);
  if (!(slope_at_zero < Scalar(0))) return Scalar(1);  // round-off: nothing left to search
  Lane change = Lane::Zero();
  for_each_lane([&](Index i) {
    change += in_vector(Problem::direction, i) *
              (in_vector(Problem::whitened, i) - in_vector(Problem::free, i));
  });
  const Scalar momentum_slope = change.sum();
  const Scalar momentum_curvature = dot(Problem::direction, Problem::direction);
  const auto slope = [&](const Scalar& step) {
    for_each_block([&](Index k) {
      for (int c = 0; c < 3; ++c) {
        in_array(Problem::trial_ahead + c, k) =
            in_array(Problem::trial + c, k) + step * in_array(Problem::trial_step + c, k);
      }
    });
    if (!project_trials(Problem::trial_ahead, Problem::impulse_ahead)) {
      return std::numeric_limits<Scalar>::infinity();  // too far: any γ here ascends
    }
    Lane work = Lane::Zero();
    for_each_block([&](Index k) {
      for (int c = 0; c < 3; ++c) {
        work += in_array(Problem::impulse_ahead + c, k) * in_array(Problem::velocity_step + c, k);
      }
    });
    return momentum_slope + step * momentum_curvature - work.sum();
  };
  return find_increasing_root<Scalar>(
             slope, slope_at_zero,
             {.tolerance = -limits_.line_search_tolerance * slope_at_zero, .evaluation_limit = 120})
      .argument;
}

/// Moves to where sweeps over the contacts lead from the impulses of the iterate, if the cost is
/// lower there. Each contact in turn takes the impulses that are best while W is no more than a
/// multiple of the identity for it.
template <RealScalar Scalar, int Size>
void SmallNewton<Scalar, Size>::sweep() noexcept {
  static_assert(Size <= row_lanes);
  const Scalar here = cost_here();
  copy(Problem::whitened, Problem::direction);
  Lane whitened = in_vector(Problem::free, 0) + in_vector(Problem::momentum, 0);
  const Index stride = problem_.padded(), count = problem_.count();
  for (Index pass = 0; pass < sweep_count * count; ++pass) {
    const Index k = pass % count;
    const auto at = [&](int name) { return problem_.array(name)[k]; };
    const Scalar* const block = problem_.columns() + 3 * k * row_lanes;
    const Lane columns[3] = {lanes_at(block), lanes_at(block + row_lanes),
                             lanes_at(block + 2 * row_lanes)};
    Scalar* const impulse = problem_.array(Problem::impulse) + k;
    const Scalar own =
        (std::max)({at(Problem::rows), at(Problem::rows + 1), at(Problem::rows + 2)});
    const ContactWeights<Scalar> weights{at(Problem::tangent) + own, at(Problem::normal) + own};
    Vector3<Scalar> trial;
    for (int c = 0; c < 3; ++c) {
      trial(c) =
          (at(Problem::bias + c) - (columns[c] * whitened).sum() + own * impulse[c * stride]) /
          (c < 2 ? weights.tangent : weights.normal);
    }
    const Vector3<Scalar> next =
        project(FrictionCone<Scalar>{at(Problem::friction)}, weights, trial).point;
    for (int c = 0; c < 3; ++c) {
      whitened += (next(c) - impulse[c * stride]) * columns[c];
      impulse[c * stride] = next(c);
    }
  }
  in_vector(Problem::whitened, 0) = whitened;
  evaluate();
  if (cost_here() < here) {
    write_directions(
        [](const FrictionRows<Scalar>& rows, Index) { return current_direction(rows); });
    return;
  }
  copy(Problem::direction, Problem::whitened);
  evaluate();
}

template <RealScalar Scalar, int Size>
Scalar SmallNewton<Scalar, Size>::advance() noexcept {
  write_steps();
  const Scalar step = find_step();
  write_directions([&](const FrictionRows<Scalar>& rows, Index k) {
    const Scalar* const change = problem_.array(Problem::trial_step);
    return predict_direction(rows, dual(k), {change[k], change[problem_.padded() + k]});
  });
  for_each_lane(
      [&](Index i) { in_vector(Problem::whitened, i) += step * in_vector(Problem::direction, i); });
  evaluate();
  if constexpr (Size > 0) {
    if (sweeps_ && residual_ > scale() / 4) sweep();
    sweeps_ = false;
  }
  return step;
}

template <RealScalar Scalar, int Size>
SolveStatus SmallNewton<Scalar, Size>::solve(int& iterations) noexcept {
  if (meets_target()) return SolveStatus::converged;
  start_from_best();
  if (meets_target()) return SolveStatus::converged;
  if (!(residual_ <= (std::numeric_limits<Scalar>::max)())) return SolveStatus::not_finite;
  write_directions([](const FrictionRows<Scalar>& rows, Index) { return current_direction(rows); });
  return walk_to_target(*this, limits_, iterations);
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
