// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/batch/detail/batch_work.hpp"
#include "carom/batch/detail/lane_exchange.hpp"
#include "carom/batch/detail/lane_gradient_rows.hpp"
#include "carom/batch/detail/lane_hessian.hpp"
#include "carom/batch/detail/lane_rigid.hpp"
#include "carom/batch/detail/lane_state.hpp"
#include "carom/contact/coulomb_law.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Measured constants of LanePullBack for rigid blocks.
struct LanePullBackTuning {
  static constexpr double softness = 1e-3;  ///< R/w of rigid blocks
  static constexpr int sweep_limit = 200;
  /// p has converged if ‖Δp‖ relative to ‖p‖ is at most this count of roundings.
  static constexpr double roundings = 16384;
};

/// Transposed derivatives of the solution by the data, in each lane.
///
/// The problem: c is a scalar of the solution (v, γ). Notation: G = ∂γ/∂(v̂ − J v); λ, s and p are
/// the adjoint variables. The equations are
///   (A + Jᵀ G J)ᵀ λ = ∂c/∂v − Jᵀ Gᵀ ∂c/∂γ,   s = J λ + ∂c/∂γ,   p = Gᵀ s.
///
/// A rigid block satisfies γ = P(γ + R⁻¹(v̂ − J v)) for any R, so that R p is added to its ∂c/∂γ.
/// This p is that of the sweep before. The sweeps end when p no longer changes: one factorisation
/// and some sweeps.
///
/// The answers overwrite numbers that are not needed again: λ overwrites `best`, A λ `momentum`, p
/// the steps of the trial impulses, the gradient by μ overwrites μ, that by the bounds the
/// velocities and 1/R. ∂c/∂v is stored in `direction`, ∂c/∂γ in the velocities of the blocks.
/// @cite  The implicit function theorem on A (v − v*) = Jᵀ γ(v̂ − J v).
template <typename Number, int Stride, FrictionLaw Law>
class LanePullBack {
 public:
  using State = LaneState<Number, Stride>;
  using Scalar = typename Number::scalar_type;
  using Mask = typename Number::Mask;
  using Cells = typename State::Cells;
  using Names = LaneLayout;
  using Blocks = LaneGradientRows<Number, Stride, Law>;
  using Rows = typename Blocks::Rows;

  /// @param counts  whether boundary_count() is computed.
  CAROM_DEVICE LanePullBack(State& state, bool counts) noexcept
      : state_(state), blocks_(state), counts_(counts) {}

  /// Differentiates at the velocities in the cells. Before, ∂c/∂v is in `best`, and ∂c/∂γ in the
  /// steps of the contacts' velocities.
  /// @return  lanes in which the derivative exists.
  [[nodiscard]] CAROM_DEVICE Mask run() noexcept;
  /// Count of blocks on boundaries of two regions.
  [[nodiscard]] CAROM_DEVICE const Number& boundary_count() const noexcept {
    return boundary_count_;
  }

 private:
  static constexpr bool is_coulomb = Law == FrictionLaw::coulomb;
  [[nodiscard]] CAROM_DEVICE static Number number(double x) noexcept { return Number(Scalar(x)); }

  /// Stores ∂c/∂v and ∂c/∂γ, and starts with p = 0.
  CAROM_DEVICE void keep_slopes() const noexcept;
  /// Factors the matrix of λ.
  [[nodiscard]] CAROM_DEVICE Mask factor() noexcept;
  /// Computes λ and s from ∂c/∂v, ∂c/∂γ and the p of rigid blocks.
  CAROM_DEVICE void solve() const noexcept;
  /// Repeats this until p of the rigid blocks converges. False in lanes in which it does not.
  [[nodiscard]] CAROM_DEVICE Mask settle() const noexcept;
  /// Updates p of the rigid blocks in these lanes. Returns the lanes in which it changed.
  [[nodiscard]] CAROM_DEVICE Mask move_pressed(const Mask& lanes) const noexcept;

  /// Writes λ, A λ and the gradients by μ and bounds to the cells.
  /// @return  lanes in which they are finite.
  [[nodiscard]] CAROM_DEVICE Mask write_gradients() const noexcept;

  State& state_;
  Blocks blocks_;
  bool counts_;
  Number boundary_count_ = Number(0);
};

// --- implementation ---

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE void LanePullBack<Number, Stride, Law>::keep_slopes() const noexcept {
  const Cells from = state_.vector(Names::best), to = state_.vector(Names::direction);
  for (int i = 0; i < state_.layout().velocities; ++i) to.set(i, from[i]);
  blocks_.for_each([&](const Rows& rows) {
    for (int r = 0; r < rows.at.rows; ++r) {
      rows.given.set(r, rows.slope[r]);
      rows.pressed.set(r, number(0));
    }
  });
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LanePullBack<Number, Stride, Law>::factor() noexcept -> Mask {
  const LaneLayout& layout = state_.layout();
  const Mask all = everywhere<Number>(true);
  for (int k = 0; k < layout.contacts; ++k) {
    const Cells c = state_.contact(k);
    const auto z = direction_of_lanes(c[Names::trial], c[Names::trial + 1]);
    c.set(Names::predicted, z.x);
    c.set(Names::predicted + 1, z.y);
  }
  if constexpr (is_coulomb) {
    const LaneJacobian<Number, Stride> jacobian(state_);
    jacobian.fill(all);
    return factor_halves(layout.matrix_rows, jacobian.halves());
  } else {
    static_cast<void>(LaneHessian<Number, Stride>(state_).fill(number(0), all));
    return factor_lanes(layout.matrix_rows, state_.cells(layout.matrix_at));
  }
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE void LanePullBack<Number, Stride, Law>::solve() const noexcept {
  const LaneLayout& layout = state_.layout();
  const Cells lambda = state_.vector(Names::best), given = state_.vector(Names::direction);
  for (int i = 0; i < layout.velocities; ++i) lambda.set(i, given[i]);
  blocks_.for_each([&](const Rows& rows) {
    for (int r = 0; r < rows.at.rows; ++r) rows.slope.set(r, rows.given[r]);
  });
  blocks_.for_each_rigid([&](const Rows& rows) {
    for (int r = 0; r < rows.at.rows; ++r) rows.slope.add(r, rows.at.weight[r] * rows.pressed[r]);
  });
  blocks_.for_each([&](const Rows& rows) { blocks_.take_push(rows); });
  if constexpr (is_coulomb) {
    const LaneJacobian<Number, Stride> jacobian(state_);
    solve_halves_transposed(layout.matrix_rows, jacobian.halves(), lambda);
  } else {
    const Cells matrix = state_.cells(layout.matrix_at);
    solve_lanes(layout.matrix_rows, matrix, lambda);
    solve_lanes_transposed(layout.matrix_rows, matrix, lambda);
  }
  blocks_.for_each([&](const Rows& rows) { blocks_.add_motion(rows); });
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LanePullBack<Number, Stride, Law>::move_pressed(const Mask& lanes) const noexcept
    -> Mask {
  Number change = number(0), size = number(0);
  const auto visit = [&](const Rows& rows, const auto& use) {
    Number pressed[6];
    blocks_.find_pressed(rows, pressed);
    for (int r = 0; r < rows.at.rows; ++r) use(rows, r, pressed[r]);
  };
  const auto measure = [&](const Rows& rows, int r, const Number& pressed) {
    const Number difference = pressed - rows.pressed[r];
    change += rows.at.weight[r] * (difference * difference);
    size += rows.at.weight[r] * (pressed * pressed);
  };
  blocks_.for_each_rigid([&](const Rows& rows) { visit(rows, measure); });
  constexpr double least =
      LanePullBackTuning::roundings * double(std::numeric_limits<Scalar>::epsilon());
  const Mask moves = lanes & (change > number(least * least) * size);
  const auto move = [&](const Rows& rows, int r, const Number& pressed) {
    rows.pressed.set(r, select(moves, pressed, rows.pressed[r]));
  };
  if (any(moves)) blocks_.for_each_rigid([&](const Rows& rows) { visit(rows, move); });
  return moves;
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LanePullBack<Number, Stride, Law>::settle() const noexcept -> Mask {
  solve();
  Mask moves = everywhere<Number>(state_.layout().rigid);
  for (int k = 0; k < LanePullBackTuning::sweep_limit && any(moves); ++k) {
    moves = move_pressed(moves);
    if (any(moves)) solve();
  }
  return !moves;
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LanePullBack<Number, Stride, Law>::write_gradients() const noexcept -> Mask {
  const LaneLayout& layout = state_.layout();
  const Number largest((std::numeric_limits<Scalar>::max)());
  const Cells lambda = state_.vector(Names::best), by_free = state_.vector(Names::momentum);
  multiply_lanes(layout.mass_rows, state_.cells(layout.mass_at), lambda, by_free);
  Number total = number(0);
  for (int i = 0; i < layout.velocities; ++i) total += abs(lambda[i]) + abs(by_free[i]);
  blocks_.for_each([&](const Rows& rows) {
    Number by_friction[3];
    blocks_.write_friction(rows, by_friction);
    if (!rows.block.is_contact) blocks_.write_bounds(rows);
    for (int i = 0; i < (rows.block.is_contact ? 1 : 3); ++i) {
      rows.block.friction.set(i, by_friction[i]);
      total += abs(by_friction[i]);
    }
    for (int r = 0; r < rows.at.rows; ++r) total += abs(rows.pressed[r]) + abs(rows.slope[r]);
  });
  return total <= largest;
}

template <typename Number, int Stride, FrictionLaw Law>
CAROM_DEVICE auto LanePullBack<Number, Stride, Law>::run() noexcept -> Mask {
  const LaneLayout& layout = state_.layout();
  for (int k = 0; k < layout.contacts; ++k) state_.contact(k).set(Names::lift, number(0));
  if constexpr (is_coulomb) state_.set_law(everywhere<Number>(true));
  Mask usable = state_.begin();
  if (layout.rigid) {
    const LaneRigidBlocks<Number, Stride> rigid(state_);
    rigid.write_inverse_masses();
    rigid.write_weights(number(LanePullBackTuning::softness));
  }
  state_.evaluate();
  if (counts_) boundary_count_ = LaneBoundaries<Number, Stride, Law>(state_).count();
  keep_slopes();
  usable = usable & state_.is_finite();
  usable = usable & factor();
  usable = usable & settle();
  blocks_.for_each([&](const Rows& rows) { blocks_.write_pressed(rows); });
  return usable & write_gradients();
}

/// Differentiates solved problems of a batch: many in groups of lanes, or one in a thread of a
/// graphics processor.
template <RealScalar Scalar>
class BatchPullBack {
 public:
  /// @param memory  of BatchWorkspace::worker(), or of the thread: for the cells of the largest
  ///                island.
  CAROM_DEVICE BatchPullBack(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                             const BatchGradients<Scalar>& gradients, Scalar* memory) noexcept
      : view_(view), answers_(answers), gradients_(gradients), memory_(memory) {
    const auto& [data, stride, offsets] = answers.velocity;
    view_.guess = {data, stride, offsets};
  }

  /// Writes gradients and statuses in groups of LaneCount lanes.
  /// @param problems  grouped by pattern.
  template <int LaneCount>
  void run(FrictionLaw law, const Index* problems, int count) const noexcept {
    for (int i = 0; i < count; ++i) begin(problems[i]);
    for_each_island(view_, law, problems, count,
                    [&](auto law_of_options, const LaneMap& island, int from, int to) {
                      for_each_width<Scalar, LaneCount>(
                          from, to, [&](auto lanes, int first, int end) {
                            run<decltype(law_of_options)::value, decltype(lanes)::value>(
                                island.view(), problems + first, end - first);
                          });
                    });
    for (int i = 0; i < count; ++i) {
      if (is_differentiated(problems[i]) || !view_.has_pattern(problems[i])) continue;
      for (const LaneMap& island : view_.pattern(problems[i]).islands()) {
        clear<Lanes<Scalar, 1>, 1>(island.view(), problems[i]);
      }
    }
  }
  /// Writes the gradients and the status of one problem in a thread whose numbers are interleaved
  /// with those of other threads.
  /// @param patterns  DevicePattern of all patterns.
  template <FrictionLaw Law, int Stride, typename Pattern>
  CAROM_DEVICE void run_thread(const Pattern* patterns, Index problem) const noexcept {
    using Number = Lanes<Scalar, 1>;
    begin(problem);
    if (!view_.has_pattern(problem)) return;
    const Pattern& pattern = patterns[view_.pattern_number(problem)];
    const Index in_lane[1] = {problem};
    for (int i = 0; i < pattern.island_count && is_differentiated(problem); ++i) {
      run_group<Law, Number, Stride>(pattern.islands[i], in_lane, 1);
    }
    if (is_differentiated(problem)) return;
    for (int i = 0; i < pattern.island_count; ++i) {
      clear<Number, Stride>(pattern.islands[i], problem);
    }
  }

 private:
  CAROM_DEVICE void begin(Index problem) const noexcept {
    SolveStatus& status = gradients_.statuses[problem];
    status = SolveStatus::converged;
    if (answers_.reports != nullptr) status = answers_.reports[problem].status;
    if (!view_.has_pattern(problem)) status = SolveStatus::not_finite;
    if (gradients_.boundary_counts != nullptr) gradients_.boundary_counts[problem] = 0;
  }
  [[nodiscard]] CAROM_DEVICE bool is_differentiated(Index problem) const noexcept {
    return gradients_.statuses[problem] == SolveStatus::converged;
  }
  template <FrictionLaw Law, int Width>
  void run(const LaneMapView& island, const Index* problems, int count) const noexcept {
    for (int first = 0; first < count; first += Width) {
      const int used = (std::min)(Width, count - first);
      Index in_lanes[Width];
      // Lanes without their own problem repeat the last one.
      for (int l = 0; l < Width; ++l) in_lanes[l] = problems[first + (std::min)(l, used - 1)];
      run_group<Law, Lanes<Scalar, Width>, Width>(island, in_lanes, used);
    }
  }
  /// An island of the problems in the lanes.
  /// @param used  lanes whose gradients are written.
  template <FrictionLaw Law, typename Number, int Stride>
  CAROM_DEVICE void run_group(const LaneMapView& island, const Index (&in_lanes)[Number::count],
                              int used) const noexcept {
    const LaneLayout layout = island.layout(Law);
    const LaneCells<Number, Stride> cells(memory_);
    const LaneGradientExchange<Number, Stride> exchange(island, layout, cells, gradients_);
    const bool answered = answers_.impulse.data != nullptr || !layout.rigid;
    const auto valid = LaneExchange<Number, Stride>(island, layout, cells).read(view_, in_lanes);
    exchange.read_slopes(in_lanes);
    if (layout.rigid && answered) exchange.read_impulses(answers_.impulse, in_lanes);
    LaneState<Number, Stride> state(layout, cells);
    LanePullBack<Number, Stride, Law> pull_back(state, gradients_.boundary_counts != nullptr);
    const auto found = pull_back.run();
    Scalar usable[Number::count], on_boundaries[Number::count];
    as_numbers(valid & found).store(usable);
    pull_back.boundary_count().store(on_boundaries);
    for (int l = 0; l < used; ++l) {
      if (!is_differentiated(in_lanes[l])) continue;
      if (answered && usable[l] > Scalar(0)) {
        exchange.write(in_lanes[l], l, int(on_boundaries[l]));
      } else {
        gradients_.statuses[in_lanes[l]] = SolveStatus::not_finite;
      }
    }
  }
  template <typename Number, int Stride>
  CAROM_DEVICE void clear(const LaneMapView& island, Index problem) const noexcept {
    const LaneLayout layout = island.layout(FrictionLaw::convex);
    const LaneCells<Number, Stride> cells(memory_);
    LaneGradientExchange<Number, Stride>(island, layout, cells, gradients_).clear(problem);
  }

  BatchView<Scalar> view_;
  const BatchAnswers<Scalar>& answers_;
  const BatchGradients<Scalar>& gradients_;
  Scalar* memory_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
