// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>

#include "carom/batch/detail/lane_exchange.hpp"
#include "carom/batch/detail/lane_rigid.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// How the solve of an island of one problem ended.
template <typename Scalar>
struct LaneOutcome {
  SolveStatus status;
  int iterations;
  Scalar residual, free_squared, pushed_squared;
  Scalar violation;  ///< of the law, where a block is rigid
};

/// Solves the same island of many problems, a group of lanes after the other.
///
/// A group ends when few of its lanes are still under way. The progress of those is stored, and
/// they continue later in a group of stored problems, so that a register is not occupied by one
/// lane. Everything else is computed anew from the iterate, with the same bits as without the
/// pause.
/// @tparam Law  the convex one, or Coulomb's.
template <typename Scalar, int LaneCount, FrictionLaw Law>
class LaneQueue {
 public:
  using Number = carom::Lanes<Scalar, LaneCount>;
  using Cells = LaneCells<Number, LaneCount>;
  using State = LaneState<Number, LaneCount>;
  using Solver = LaneRigid<Number, LaneCount, Law>;
  using Limits = typename Solver::Limits;

  /// Numbers of memory for the largest island of a pattern.
  [[nodiscard]] static std::size_t memory_size(const BatchPattern& pattern) noexcept {
    std::size_t size = 0;
    for (const LaneMap& island : pattern.islands()) {
      const LaneLayout layout = island.layout(Law);
      size = (std::max)(
          size, std::size_t(layout.cell_count) * LaneCount + most_paused * paused_size(layout));
    }
    return size;
  }
  /// @param memory  of memory_size(), aligned to a register.
  LaneQueue(const LaneMap& island, const BatchView<Scalar>& view,
            const BatchAnswers<Scalar>& answers, Scalar* memory) noexcept
      : layout_(island.layout(Law)),
        view_(view),
        answers_(answers),
        cells_(memory),
        paused_(memory + std::size_t(layout_.cell_count) * LaneCount),
        exchange_(island.view(), layout_, cells_) {}

  /// @param problems  their numbers
  /// @param tell      tell(i, outcome) for problems[i], in any order. The answer has been written,
  ///                  and the memory of the cells is free then.
  template <typename Tell>
  void solve(const Index* problems, int count, const Limits& limits, const Tell& tell) noexcept;

 private:
  /// A group ends when no more than these lanes are under way. To begin a problem again costs about
  /// what an iteration costs.
  static constexpr int most_left = LaneCount / 4;
  static constexpr std::size_t most_paused = LaneCount > 1 ? LaneCount + most_left : 0;
  using Progress = typename Solver::Progress;
  static constexpr int progress_count = int(sizeof(Progress) / sizeof(Number));

  [[nodiscard]] static std::size_t paused_size(const LaneLayout& layout) noexcept {
    const int of_contact = layout.rigid ? 6 : 3, of_row = layout.rigid ? 1 : 0;
    int numbers = 4 * layout.velocities + of_contact * layout.contacts + progress_count;
    for (int b = 0; b < layout.block_count; ++b) numbers += 1 + of_row * layout.blocks[b].rows;
    return std::size_t(numbers);
  }
  /// Calls visit(number of a lane, its place among the stored numbers).
  template <typename Visit>
  void for_each_kept(int lane, Scalar* kept, const Visit& visit) const noexcept;
  void pause(const Solver& solver, int lane, int item) noexcept;
  void resume(Solver& solver, int count) noexcept;

  LaneLayout layout_;
  const BatchView<Scalar>& view_;
  const BatchAnswers<Scalar>& answers_;
  Cells cells_;
  Scalar* paused_;
  LaneExchange<Number> exchange_;
  int paused_items_[most_paused > 0 ? most_paused : 1] = {};
  int paused_count_ = 0;
};

// --- implementation ---

template <typename Scalar, int LaneCount, FrictionLaw Law>
template <typename Visit>
void LaneQueue<Scalar, LaneCount, Law>::for_each_kept(int lane, Scalar* kept,
                                                      const Visit& visit) const noexcept {
  constexpr bool coulomb = Law == FrictionLaw::coulomb;
  for (const int name : {LaneLayout::velocity, LaneLayout::frame, LaneLayout::best,
                         coulomb ? LaneLayout::kept : LaneLayout::best}) {
    const Cells from = cells_.from(layout_.vector_at(name));
    for (int i = 0; i < layout_.velocities; ++i) visit(from.of_lane(i, lane), *kept++);
  }
  const auto keep = [&](const Cells& from, int count) {
    for (int i = 0; i < count; ++i) visit(from.of_lane(i, lane), *kept++);
  };
  for (int k = 0; k < layout_.contacts; ++k) {
    keep(cells_.from(layout_.contact_at(k) + LaneLayout::predicted), 2);
  }
  LaneBlockCells<Cells>::for_each(layout_, cells_, [&](const LaneBlockCells<Cells>& block) {
    keep(block.lift, 1);
    if (layout_.rigid) keep(block.multiplier, block.rows);
  });
}

/// Stores the progress of a lane.
template <typename Scalar, int LaneCount, FrictionLaw Law>
void LaneQueue<Scalar, LaneCount, Law>::pause(const Solver& solver, int lane, int item) noexcept {
  paused_items_[paused_count_] = item;
  Scalar* const kept = paused_ + std::size_t(paused_count_) * paused_size(layout_);
  ++paused_count_;
  for_each_kept(lane, kept + progress_count, [](Scalar& cell, Scalar& to) { to = cell; });
  const Progress progress = solver.progress();
  Scalar numbers[progress_count][LaneCount];
  static_assert(sizeof numbers == sizeof progress);
  std::memcpy(numbers, &progress, sizeof numbers);
  for (int i = 0; i < progress_count; ++i) kept[i] = numbers[i][lane];
}

/// Continues the last problems that were stored, which are in the lanes.
template <typename Scalar, int LaneCount, FrictionLaw Law>
void LaneQueue<Scalar, LaneCount, Law>::resume(Solver& solver, int count) noexcept {
  Scalar numbers[progress_count][LaneCount] = {};
  for (int l = 0; l < LaneCount; ++l) {
    Scalar* const kept =
        paused_ + std::size_t(paused_count_ + (std::min)(l, count - 1)) * paused_size(layout_);
    for_each_kept(l, kept + progress_count, [](Scalar& cell, Scalar& from) { cell = from; });
    for (int i = 0; i < progress_count; ++i) numbers[i][l] = kept[i];
  }
  Progress progress;
  std::memcpy(&progress, numbers, sizeof numbers);
  solver.resume(progress);
}

template <typename Scalar, int LaneCount, FrictionLaw Law>
template <typename Tell>
void LaneQueue<Scalar, LaneCount, Law>::solve(const Index* problems, int count,
                                              const Limits& limits, const Tell& tell) noexcept {
  int next = 0;
  while (next < count || paused_count_ > 0) {
    const bool again = paused_count_ >= LaneCount || next == count;
    const int used = (std::min)(LaneCount, again ? paused_count_ : count - next);
    int items[LaneCount];
    Index in_lanes[LaneCount];
    if (again) paused_count_ -= used;
    // Lanes without a problem of their own repeat the last one, and nothing is said of it.
    for (int l = 0; l < LaneCount; ++l) {
      const int own = (std::min)(l, used - 1);
      items[l] = again ? paused_items_[paused_count_ + own] : next + own;
      in_lanes[l] = problems[items[l]];
    }
    if (!again) next += used;
    const auto valid = exchange_.read(view_, in_lanes);
    State state(layout_, cells_);
    Solver solver(state, limits);
    if (again) {
      resume(solver, used);
    } else {
      solver.begin(valid);
    }
    const int left = next < count || paused_count_ > 0 ? most_left : 0;
    Scalar status[LaneCount];
    for (int under_way = LaneCount; under_way > left;) {
      if (any(!solver.ended())) solver.step();
      solver.status().store(status);
      under_way = int(std::count_if(status, status + used, [](Scalar s) { return s < 0; }));
    }
    solver.finish();
    Scalar iteration_counts[LaneCount], numbers[4][LaneCount];
    solver.iterations().store(iteration_counts);
    state.residual.store(numbers[0]);
    state.free_squared.store(numbers[1]);
    state.pushed_squared.store(numbers[2]);
    solver.violation().store(numbers[3]);
    for (int l = 0; l < used; ++l) {
      if (status[l] < 0) pause(solver, l, items[l]);
      if (status[l] >= 0) exchange_.write(answers_, in_lanes[l], l);
    }
    for (int l = 0; l < used; ++l) {
      if (status[l] < 0) continue;
      tell(items[l],
           LaneOutcome<Scalar>{SolveStatus(int(status[l])), int(iteration_counts[l]), numbers[0][l],
                               numbers[1][l], numbers[2][l], numbers[3][l]});
    }
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
