// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/batch/detail/batch_diagnosis.hpp"
#include "carom/batch/detail/lane_exchange.hpp"
#include "carom/batch/detail/lane_newton.hpp"
#include "carom/solvers/sap_options.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Some worlds of a batch, solved one group of lanes after the other in memory of its own.
template <RealScalar Scalar, int LaneCount>
class BatchChunk {
 public:
  static constexpr int capacity = 256;
  /// @param memory  of BatchWorkspace::slot().
  BatchChunk(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
             const SapOptions<Scalar>& options, Scalar* memory) noexcept
      : view_(view), answers_(answers), options_(options), memory_(memory) {}

  /// @param worlds  at most `capacity`, those of one pattern one after the other.
  void solve(const Index* worlds, int count) noexcept;

 private:
  using Number = carom::Lanes<Scalar, LaneCount>;
  using Cells = LaneCells<Number, LaneCount>;
  using State = LaneState<Number, LaneCount>;
  using Newton = LaneNewton<Number, LaneCount>;

  /// Squares summed up over the islands of a world, as in SapSolver's totals.
  struct Sums {
    Scalar residual, free, pushed;
  };
  void begin(Index world, int i) noexcept;
  void solve_group(const LaneMap& island, const Index* worlds, int first, int count) noexcept;
  void finish(Index world, int i) noexcept;

  const BatchView<Scalar>& view_;
  const BatchAnswers<Scalar>& answers_;
  const SapOptions<Scalar>& options_;
  Scalar* memory_;
  Sums sums_[capacity];
};

// --- implementation ---

/// Bodies that nothing touches move freely.
template <RealScalar Scalar, int LaneCount>
void BatchChunk<Scalar, LaneCount>::begin(Index world, int i) noexcept {
  BatchWorldReport<Scalar>& report = answers_.reports[world];
  report = {};
  report.status = SolveStatus::converged;
  sums_[i] = {};
  const Scalar* const free = view_.free_velocity.of(world);
  const Scalar* const mass = view_.mass.of(world);
  Scalar* const velocity = answers_.velocity.of(world);
  for (const LaneBody& body : view_.pattern(world).idle()) {
    Scalar squared = 0;
    for (int r = 0; r < body.size; ++r) {
      const Scalar x = free[body.first + r];
      velocity[body.first + r] = x;
      for (int c = 0; c < body.size; ++c) {
        const Scalar entry = mass[body.mass + r * body.size + c];
        squared += rounded_product(rounded_product(entry, x), free[body.first + c]);
      }
    }
    sums_[i].free += squared;
    if (std::isfinite(squared)) continue;
    report.status = SolveStatus::not_finite;
    const auto found = BatchInspection<Scalar>(view_, world).find(body);
    report.fault = found.fault;
    report.item = found.item;
  }
}

/// Solves an island of some worlds, one in each lane.
template <RealScalar Scalar, int LaneCount>
void BatchChunk<Scalar, LaneCount>::solve_group(const LaneMap& island, const Index* worlds,
                                                int first, int count) noexcept {
  const LaneLayout layout = island.layout();
  const Cells cells(memory_);
  Index in_lanes[LaneCount];
  // Lanes without a world of their own repeat the last one and say nothing of it.
  for (int l = 0; l < LaneCount; ++l) in_lanes[l] = worlds[first + (std::min)(l, count - 1)];
  const LaneExchange<Number> exchange(island, layout, cells);
  const auto valid = exchange.read(view_, in_lanes);
  State state(layout, cells);
  Newton newton(state,
                {options_.tolerance, options_.iteration_limit, options_.line_search_tolerance});
  newton.begin(valid);
  while (any(!newton.ended())) newton.step();
  newton.finish();
  Scalar status[LaneCount], iterations[LaneCount], residual[LaneCount], free[LaneCount],
      pushed[LaneCount];
  newton.status().store(status);
  newton.iterations().store(iterations);
  state.residual.store(residual);
  state.free_squared.store(free);
  state.pushed_squared.store(pushed);
  for (int l = 0; l < count; ++l) exchange.write(answers_, in_lanes[l], l);
  for (int l = 0; l < count; ++l) {
    BatchWorldReport<Scalar>& report = answers_.reports[in_lanes[l]];
    Sums& sums = sums_[first + l];
    sums.residual += rounded_product(residual[l], residual[l]);
    sums.free += free[l];
    sums.pushed += pushed[l];
    report.iterations = (std::max)(report.iterations, int(iterations[l]));
    const auto ended = SolveStatus(int(status[l]));
    if (ended == SolveStatus::converged) continue;
    if (report.fault == BatchFault::none) report.status = ended;
    if (ended != SolveStatus::not_finite || report.fault != BatchFault::none) continue;
    const auto found = BatchInspection<Scalar>(view_, in_lanes[l]).find(island, memory_);
    report.fault = found.fault;
    report.item = found.item;
  }
}

template <RealScalar Scalar, int LaneCount>
void BatchChunk<Scalar, LaneCount>::finish(Index world, int i) noexcept {
  const auto& [squared, free, pushed] = sums_[i];
  BatchWorldReport<Scalar>& report = answers_.reports[world];
  const Scalar residual = std::sqrt(squared), scale = std::sqrt((std::max)(free, pushed));
  report.error_bound = residual;
  report.residual = scale > Scalar(0) ? residual / scale : residual;
  constexpr Scalar largest = (std::numeric_limits<Scalar>::max)();
  if (residual <= largest && scale <= largest) return;
  report.status = SolveStatus::not_finite;
  report.residual = report.error_bound = std::numeric_limits<Scalar>::infinity();
}

template <RealScalar Scalar, int LaneCount>
void BatchChunk<Scalar, LaneCount>::solve(const Index* worlds, int count) noexcept {
  for (int i = 0; i < count; ++i) begin(worlds[i], i);
  for (int first = 0, end = 0; first < count; first = end) {
    while (end < count && view_.pattern_number(worlds[end]) == view_.pattern_number(worlds[first]))
      ++end;
    for (const LaneMap& island : view_.pattern(worlds[first]).islands()) {
      for (int i = first; i < end; i += LaneCount) {
        solve_group(island, worlds, i, (std::min)(LaneCount, end - i));
      }
    }
  }
  for (int i = 0; i < count; ++i) finish(worlds[i], i);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
