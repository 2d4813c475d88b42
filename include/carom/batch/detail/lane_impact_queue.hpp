// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>

#include "carom/batch/detail/lane_impact_answer.hpp"
#include "carom/batch/detail/lane_impact_reflect.hpp"
#include "carom/batch/detail/lane_impact_setup.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The setup and the answer of impacts, for a queue of lanes and for a thread of a graphics
/// processor.
template <RealScalar Scalar>
class LaneImpacts {
 protected:
  CAROM_DEVICE LaneImpacts(const ImpactBatchView<Scalar>& view,
                           const ImpactBatchAnswers<Scalar>& answers,
                           const ImpactBatchOptions<Scalar>& options) noexcept
      : view_(view), answers_(answers), options_(options) {}

  /// Reads problems to the cells of their lanes and starts them.
  /// @param problems  one for each lane
  /// @param used      count of lanes with their own problem
  template <typename Cells>
  CAROM_DEVICE void begin(const Index* problems, int used,
                          const LaneImpactCells<Cells>& cells) const noexcept {
    read_impacts(view_, problems, cells);
    LaneImpactSetup<Cells>(cells).begin(options_.law, options_.resolver.tolerance,
                                        view_.momentum.data == nullptr);
    for (int l = 0; is_swept() && l < used; ++l) {
      if (wrong_impact_entry(view_, problems[l], cells.layout.m) < 0) continue;
      cells.cells.of_lane(cells.layout.items_at + LaneImpactLayout::status, l) =
          Scalar(ImpactStatus::not_finite);
    }
  }
  [[nodiscard]] CAROM_DEVICE LaneImpactSequence sequence_of(Index problem) const noexcept {
    const int length = is_swept() ? view_.length_of_sequence(problem) : 0;
    return {length > 0 ? view_.sequence.of(problem) : nullptr, length};
  }
  /// Writes the answer and the report of a problem. Its cells are overwritten.
  /// @param cells    of one lane
  /// @param scratch  for the lower half of the mass
  /// @tparam Stride  of its numbers
  template <int Stride, typename Cells>
  CAROM_DEVICE void write(const LaneImpactCells<Cells>& cells, Index problem,
                          Scalar* scratch) const noexcept {
    LaneImpactAnswer<Cells>(cells).write(view_, answers_, problem);
    ImpactProblemReport<Scalar>& report = answers_.reports[problem];
    if (report.status != ImpactStatus::not_finite) return;
    ImpactInspection<Scalar, Stride>(view_, options_, cells.layout.pattern, problem)
        .find(scratch, report);
  }

  const ImpactBatchView<Scalar>& view_;
  const ImpactBatchAnswers<Scalar>& answers_;
  const ImpactBatchOptions<Scalar>& options_;

 private:
  [[nodiscard]] CAROM_DEVICE bool is_swept() const noexcept {
    return options_.order == ImpactOrder::sweep;
  }
};

/// Resolves impacts of one pattern in lanes. A lane whose problem has ended receives the next one,
/// so that impacts with few reflections do not wait for those with many.
///
/// Problems are prepared together in separate cells. Each moves to a lane when one is free.
template <RealScalar Scalar, int LaneCount>
class LaneImpactQueue : LaneImpacts<Scalar> {
 public:
  using Number = carom::Lanes<Scalar, LaneCount>;
  using Cells = LaneCells<Number, LaneCount>;
  using One = LaneCells<carom::Lanes<Scalar, 1>, LaneCount>;
  using Names = LaneImpactLayout;

  /// Count of numbers of memory for a pattern, under any law.
  [[nodiscard]] static std::size_t memory_size(const ImpactPattern& pattern) noexcept {
    return memory_size(LaneImpactLayout(pattern, ImpactBatchLaw::restitution));
  }
  [[nodiscard]] static std::size_t memory_size(const LaneImpactLayout& at) noexcept {
    return std::size_t(at.cell_count + at.kept_count + at.n + at.m) * LaneCount +
           std::size_t(at.n * (at.n + 1) / 2);
  }
  /// @param memory  memory_size() numbers, aligned to a register.
  LaneImpactQueue(const ImpactPattern& pattern, const ImpactBatchView<Scalar>& view,
                  const ImpactBatchAnswers<Scalar>& answers,
                  const ImpactBatchOptions<Scalar>& options, Scalar* memory) noexcept
      : LaneImpacts<Scalar>(view, answers, options),
        memory_(memory),
        begun_{LaneImpactLayout(pattern, options.law), Cells(memory)},
        running_{begun_.layout, Cells(memory + std::size_t(begun_.layout.cell_count) * LaneCount)},
        reflector_(running_, running_.cells.from(begun_.layout.kept_count), options.order,
                   most_reflections<Number>(options.resolver.reflection_limit), sequences_) {
    std::memset(memory, 0, memory_size(begun_.layout) * sizeof(Scalar));
    std::fill(items_, items_ + LaneCount, Index(-1));
  }

  /// Adds a problem. If enough problems wait, some are resolved.
  void push(Index problem) noexcept {
    waiting_[waiting_count_++] = problem;
    if (waiting_count_ == LaneCount) advance();
  }
  /// Resolves all remaining problems.
  void finish() noexcept {
    if (waiting_count_ > 0) advance();
    while (running_count_ > 0) run(0);
  }

 private:
  /// Count of free lanes at which all free lanes receive the next problems. An exchange of problems
  /// costs about half a reflection.
  static constexpr int most_idle = LaneCount / 8;

  [[nodiscard]] LaneImpactCells<One> of_lane(const LaneImpactCells<Cells>& of, int lane) noexcept {
    return {of.layout, One(&of.cells.of_lane(0, lane))};
  }
  void advance() noexcept;
  void write(const LaneImpactCells<Cells>& from, int lane, Index problem) noexcept;
  void start(int lane, Index problem) noexcept;
  [[nodiscard]] bool move_all(int count) noexcept;
  void run(int most_running) noexcept;

  Scalar* memory_;
  LaneImpactCells<Cells> begun_, running_;
  LaneImpactSequence sequences_[LaneCount] = {};
  LaneImpactReflector<Number, LaneCount> reflector_;
  Index waiting_[LaneCount] = {}, items_[LaneCount] = {};  ///< item −1: the lane is free.
  int waiting_count_ = 0, running_count_ = 0;
};

// --- implementation ---

template <RealScalar Scalar, int LaneCount>
void LaneImpactQueue<Scalar, LaneCount>::write(const LaneImpactCells<Cells>& from, int lane,
                                               Index problem) noexcept {
  Scalar* const scratch = memory_ + memory_size(begun_.layout) -
                          std::size_t(begun_.layout.n * (begun_.layout.n + 1) / 2);
  LaneImpacts<Scalar>::template write<1>(of_lane(from, lane), problem, scratch);
}

/// Stores the problem of a lane; its numbers are in the cells.
template <RealScalar Scalar, int LaneCount>
void LaneImpactQueue<Scalar, LaneCount>::start(int lane, Index problem) noexcept {
  items_[lane] = problem;
  ++running_count_;
  sequences_[lane] = this->sequence_of(problem);
}

/// Moves all prepared problems if each of them has its own lane.
template <RealScalar Scalar, int LaneCount>
bool LaneImpactQueue<Scalar, LaneCount>::move_all(int count) noexcept {
  if (count < LaneCount || any(begun_.get(Names::status) >= Number(0))) return false;
  if (running_count_ == LaneCount) run(LaneCount - 1 - most_idle);
  if (running_count_ > 0) return false;
  std::memcpy(&running_.cells.of_lane(0, 0), &begun_.cells.of_lane(0, 0),
              std::size_t(begun_.layout.kept_count) * LaneCount * sizeof(Scalar));
  for (int l = 0; l < LaneCount; ++l) start(l, waiting_[l]);
  return true;
}

/// Reflects until at most the permitted count of lanes is active, and writes the finished answers.
template <RealScalar Scalar, int LaneCount>
void LaneImpactQueue<Scalar, LaneCount>::run(int most_running) noexcept {
  Scalar status[LaneCount];
  for (int under_way = running_count_; under_way > most_running;) {
    reflector_.step();
    const Number now = running_.get(Names::status);
    if (running_count_ == LaneCount && !any(now >= Number(0))) continue;
    now.store(status);
    under_way = 0;
    for (int l = 0; l < LaneCount; ++l) under_way += int(items_[l] >= 0 && status[l] < 0);
  }
  running_.get(Names::status).store(status);
  for (int l = 0; l < LaneCount; ++l) {
    if (items_[l] < 0 || status[l] < 0) continue;
    write(running_, l, items_[l]);
    items_[l] = -1;
    --running_count_;
  }
}

/// Prepares the waiting problems, and moves each to a lane when one is free.
template <RealScalar Scalar, int LaneCount>
void LaneImpactQueue<Scalar, LaneCount>::advance() noexcept {
  const int count = waiting_count_;
  waiting_count_ = 0;
  // Lanes without their own problem repeat the last one.
  Index problems[LaneCount];
  for (int l = 0; l < LaneCount; ++l) problems[l] = waiting_[(std::min)(l, count - 1)];
  this->begin(problems, count, begun_);
  if (move_all(count)) return;
  int lane = 0;
  for (int i = 0; i < count; ++i) {
    const Index problem = waiting_[i];
    if (begun_.cells.of_lane(begun_.layout.items_at + Names::status, i) >= 0) {
      write(begun_, i, problem);
      continue;
    }
    if (running_count_ == LaneCount) {
      run(LaneCount - 1 - most_idle);
      lane = 0;
    }
    while (items_[lane] >= 0) ++lane;
    for (int k = 0; k < begun_.layout.kept_count; ++k) {
      running_.cells.of_lane(k, lane) = begun_.cells.of_lane(k, i);
    }
    start(lane, problem);
  }
}

/// Resolves one impact of a batch in one thread. The numbers of the thread are interleaved with
/// those of other threads. It does the work of LaneImpactQueue without a queue.
/// @tparam Stride  count of threads with interleaved cells
template <RealScalar Scalar, int Stride>
class LaneImpactThread : LaneImpacts<Scalar> {
 public:
  using Number = carom::Lanes<Scalar, 1>;
  using Cells = LaneCells<Number, Stride>;
  using Names = LaneImpactLayout;

  /// @param memory  the thread's first number, for the cells of the impact.
  CAROM_DEVICE LaneImpactThread(const ImpactBatchView<Scalar>& view,
                                const ImpactBatchAnswers<Scalar>& answers,
                                const ImpactBatchOptions<Scalar>& options, Scalar* memory) noexcept
      : LaneImpacts<Scalar>(view, answers, options), memory_(memory) {}

  /// Writes the answer and the report.
  /// @param pattern  of the problem
  CAROM_DEVICE void resolve(const ImpactPattern& pattern, Index problem) const noexcept {
    const LaneImpactLayout at(pattern, this->options_.law);
    const LaneImpactCells<Cells> cells{at, Cells(memory_)};
    this->begin(&problem, 1, cells);
    const LaneImpactSequence sequence = this->sequence_of(problem);
    // The cells that only LaneImpactSetup needs are large enough for the chosen row.
    const Cells chosen = cells.cells.from(at.square_at);
    for (int k = 0; k < at.n + at.m; ++k) chosen.set(k, Number(0));
    const LaneImpactReflector<Number, Stride> reflector(
        cells, chosen, this->options_.order,
        most_reflections<Number>(this->options_.resolver.reflection_limit), &sequence);
    while (any(cells.get(Names::status) < Number(0))) reflector.step();
    this->template write<Stride>(cells, problem, memory_);
  }

 private:
  Scalar* memory_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
