// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "carom/batch/batch_view.hpp"
#include "carom/batch/detail/batch_work.hpp"
#include "carom/batch/detail/lane_exchange.hpp"
#include "carom/batch/detail/lane_rigid.hpp"
#include "carom/solvers/sap_options.hpp"

/// The work on problems of a batch from their numbers to their reports: many problems in groups of
/// lanes, or one problem in a thread of a graphics processor.

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Result of an island of one problem.
template <typename Scalar>
struct LaneOutcome {
  SolveStatus status;
  int iterations;
  Scalar residual, free_squared, pushed_squared;
  Scalar violation;  ///< error in the law, if a block is rigid
};

/// Solves the same island of many problems, one group of lanes after the other.
///
/// A group ends when few of its lanes are active. The progress of the active lanes is stored, and
/// they continue later in a group of stored problems, so that a register is never occupied by one
/// lane only. All other numbers are computed again from the iterate. The bits are those without the
/// interruption.
/// @tparam Law  the convex one, or Coulomb's.
template <typename Scalar, int LaneCount, FrictionLaw Law>
class LaneQueue {
 public:
  using Number = carom::Lanes<Scalar, LaneCount>;
  using Cells = LaneCells<Number, LaneCount>;
  using State = LaneState<Number, LaneCount>;
  using Solver = LaneRigid<Number, LaneCount, Law>;
  using Limits = typename Solver::Limits;

  /// Count of numbers of memory for the largest island of a pattern.
  [[nodiscard]] static std::size_t memory_size(const BatchPattern& pattern) noexcept {
    std::size_t size = 0;
    for (const LaneMap& island : pattern.islands()) {
      const LaneLayout layout = island.layout(Law);
      size = (std::max)(
          size, std::size_t(layout.cell_count) * LaneCount + most_paused * paused_size(layout));
    }
    return size;
  }
  /// @param memory  memory_size() numbers, aligned to a register.
  LaneQueue(const LaneMap& island, const BatchView<Scalar>& view,
            const BatchAnswers<Scalar>& answers, Scalar* memory) noexcept
      : layout_(island.layout(Law)),
        view_(view),
        answers_(answers),
        cells_(memory),
        paused_(memory + std::size_t(layout_.cell_count) * LaneCount),
        exchange_(island.view(), layout_, cells_) {}

  /// @param problems  their indices
  /// @param tell      tell(i, outcome) is called for problems[i], in any order. The answer is
  ///                  written before, and the memory of the cells is free then.
  template <typename Tell>
  void solve(const Index* problems, int count, const Limits& limits, const Tell& tell) noexcept;

 private:
  /// A group ends when at most this count of lanes is active. The restart of a problem costs about
  /// as much as an iteration.
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
  /// Calls visit(lane, its place in the stored numbers).
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

/// Continues the problems that were stored last; their numbers are in the lanes.
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
    // Lanes without their own problem repeat the last one, and their results are not reported.
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

/// A fault and the body or contact that has it.
struct BatchDiagnosis {
  BatchFault fault = BatchFault::none;
  int item = -1;
};

/// Finds the fault in the numbers of a problem that was not solved. All numbers are checked, so it
/// is called only for problems with a fault.
/// @tparam Stride  of the numbers in memory, as in LaneCells.
template <RealScalar Scalar, int Stride = 1>
class BatchInspection {
 public:
  CAROM_DEVICE BatchInspection(const BatchView<Scalar>& view, Index problem) noexcept
      : view_(view), problem_(problem) {}

  /// The first fault of a contact of an island, or otherwise of a body.
  /// @param memory  for the lower half of the island's momentum matrix.
  [[nodiscard]] CAROM_DEVICE_CALL BatchDiagnosis find(const LaneMapView& island,
                                                      Scalar* memory) const noexcept {
    for (int k = 0; k < island.contact_count + island.other_count; ++k) {
      const bool other = k >= island.contact_count;
      const LaneContact& contact =
          other ? island.others[k - island.contact_count] : island.contacts[k];
      const BatchFault fault = contact_fault(contact);
      if (fault != BatchFault::none) return {fault, contact.number};
    }
    for (int b = 0; b < island.body_count; ++b) {
      const BatchFault fault = body_fault(island.bodies[b]);
      if (fault != BatchFault::none) return {fault, island.bodies[b].number};
    }
    const int body = indefinite_body(island, memory);
    return body < 0 ? BatchDiagnosis{} : BatchDiagnosis{BatchFault::mass, body};
  }

 private:
  [[nodiscard]] CAROM_DEVICE static bool are_finite(const Scalar* numbers, int count) noexcept {
    bool finite = true;
    for (int i = 0; i < count; ++i) finite = finite && std::isfinite(numbers[i]);
    return finite;
  }
  [[nodiscard]] CAROM_DEVICE BatchFault contact_fault(const LaneContact& contact) const noexcept {
    for (int i = 0; i < friction_count(contact.shape); ++i) {
      const Scalar mu = view_.friction.of(problem_)[contact.friction + i];
      if (!(std::isfinite(mu) && mu >= 0)) return BatchFault::friction;
    }
    const Scalar* const weights = view_.regularization.of(problem_) + contact.regularization;
    const int count = contact.is_friction_contact ? 2 : contact.rows;
    for (int r = 0; r < count; ++r) {
      if (!(std::isfinite(weights[r]) && weights[r] > 0)) return BatchFault::regularization;
    }
    const LaneShape shape = LaneShape::of(contact.shape);
    const bool round = !contact.is_friction_contact && !shape.ellipsoidal;
    for (int b = 0; round && b < shape.group_count; ++b) {
      const auto& [first, size] = shape.groups[b];
      if (size > 1 && weights[first] != weights[first + 1]) return BatchFault::regularization;
    }
    if (!are_finite(view_.bias.of(problem_) + contact.row, contact.rows)) return BatchFault::bias;
    if (!contact.is_friction_contact && !is_set(contact)) return BatchFault::bounds;
    for (const LaneContactSide& side : contact.sides) {
      for (int i = 0; side.body >= 0 && i < contact.rows * side.size; ++i) {
        const Scalar entry = view_.jacobian.of(problem_)[side.jacobian + i];
        const int column = i % side.size;
        const bool may = column >= side.first && column < side.first + side.count;
        if (!std::isfinite(entry) || (entry != 0 && !may)) return BatchFault::jacobian;
      }
    }
    return BatchFault::none;
  }
  /// Whether intervals are not empty, or the shift of a cone is finite.
  [[nodiscard]] CAROM_DEVICE bool is_set(const LaneContact& contact) const noexcept {
    const Scalar* const bounds = view_.bounds.of(problem_) + contact.bounds;
    if (contact.shape != ImpulseShape::intervals) return are_finite(bounds, contact.rows);
    constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
    for (int r = 0; r < contact.rows; ++r) {
      const Scalar low = bounds[r], high = bounds[contact.rows + r];
      if (!(low <= high && low < infinity && high > -infinity)) return false;
    }
    return true;
  }
  [[nodiscard]] CAROM_DEVICE BatchFault body_fault(const LaneBody& body) const noexcept {
    if (!are_finite(view_.free_velocity.of(problem_) + body.first, body.size)) {
      return BatchFault::free_velocity;
    }
    const bool guessed = view_.guess.data != nullptr;
    if (guessed && !are_finite(view_.guess.of(problem_) + body.first, body.size)) {
      return BatchFault::guess;
    }
    const bool finite = are_finite(view_.mass.of(problem_) + body.mass, body.size * body.size);
    return finite ? BatchFault::none : BatchFault::mass;
  }
  /// The index of the first body whose momentum matrix is not positive definite, or −1.
  [[nodiscard]] CAROM_DEVICE int indefinite_body(const LaneMapView& island,
                                                 Scalar* memory) const noexcept {
    using One = LaneCells<carom::Lanes<Scalar, 1>, Stride>;
    const LaneRows rows = island.mass_rows;
    const One matrix(memory);
    for (int b = 0; b < island.body_count; ++b) {
      const LaneBody& body = island.bodies[b];
      const Scalar* const mass = view_.mass.of(problem_) + body.mass;
      for (int i = 0; i < body.size; ++i) {
        const One row = matrix.from(rows.place[island.starts[b] + i] + island.starts[b]);
        for (int j = 0; j <= i; ++j) row.of_lane(j, 0) = mass[i * body.size + j];
      }
    }
    if (any(factor_lanes(rows, matrix))) return -1;
    for (int b = 0; b < island.body_count; ++b) {
      for (int i = 0; i < island.bodies[b].size; ++i) {
        const int row = island.starts[b] + i;
        const Scalar inverse = matrix.of_lane(rows.place[row] + row, 0);
        if (!(std::isfinite(inverse) && inverse > 0)) return island.bodies[b].number;
      }
    }
    return -1;
  }

  const BatchView<Scalar>& view_;
  Index problem_;
};

/// The report of a problem without a pattern. Nothing of the problem is read or written.
template <typename Scalar>
[[nodiscard]] CAROM_DEVICE BatchProblemReport<Scalar> report_without_pattern() noexcept {
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  return {SolveStatus::not_finite, 0, infinity, infinity, BatchFault::pattern, -1};
}

/// Squares summed over the islands of a problem, as in SapSolver's totals.
template <typename Scalar>
struct BatchTotals {
  Scalar residual = 0, free = 0, pushed = 0;

  /// Adds the outcome of an island and updates the report. If numbers of the island have a fault,
  /// the report contains the first fault.
  /// @tparam Stride  of the numbers in the memory, which is large enough for the island.
  template <int Stride>
  CAROM_DEVICE void add(const LaneOutcome<Scalar>& outcome, const BatchView<Scalar>& view,
                        const LaneMapView& island, Index problem, Scalar* memory,
                        BatchProblemReport<Scalar>& report) noexcept {
    residual += rounded_product(outcome.residual, outcome.residual);
    residual += rounded_product(outcome.violation, outcome.violation);
    free += outcome.free_squared;
    pushed += outcome.pushed_squared;
    report.iterations = (std::max)(report.iterations, outcome.iterations);
    if (outcome.status == SolveStatus::converged || report.fault != BatchFault::none) return;
    report.status = outcome.status;
    if (outcome.status != SolveStatus::not_finite) return;
    const auto found = BatchInspection<Scalar, Stride>(view, problem).find(island, memory);
    report.fault = found.fault;
    report.item = found.item;
  }
  /// Writes the results that depend on all islands.
  /// @param bounded  whether the residual bounds the error.
  CAROM_DEVICE void finish(bool bounded, BatchProblemReport<Scalar>& report) const noexcept {
    const Scalar size = std::sqrt(residual), scale = std::sqrt((std::max)(free, pushed));
    report.error_bound = bounded ? size : std::numeric_limits<Scalar>::infinity();
    report.residual = scale > Scalar(0) ? size / scale : size;
    constexpr Scalar largest = (std::numeric_limits<Scalar>::max)();
    if (size <= largest && scale <= largest) return;
    report.status = SolveStatus::not_finite;
    report.residual = report.error_bound = std::numeric_limits<Scalar>::infinity();
  }
};

/// Solves some problems of a batch, one group of lanes after the other, in its own memory.
template <RealScalar Scalar, int LaneCount>
class BatchChunk {
 public:
  static constexpr int capacity = 256;
  /// @param memory  of BatchWorkspace::worker().
  BatchChunk(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
             const SapOptions<Scalar>& options, Scalar* memory) noexcept
      : view_(view), answers_(answers), options_(options), memory_(memory) {}

  /// @param problems  at most `capacity`, grouped by pattern.
  void solve(const Index* problems, int count) noexcept;

 private:
  template <FrictionLaw Law>
  void solve(const LaneMap& island, const Index* problems, int first, int end) noexcept;

  const BatchView<Scalar>& view_;
  const BatchAnswers<Scalar>& answers_;
  const SapOptions<Scalar>& options_;
  Scalar* memory_;
  BatchTotals<Scalar> totals_[capacity];
};

// --- implementation ---

template <RealScalar Scalar, int LaneCount>
template <FrictionLaw Law>
void BatchChunk<Scalar, LaneCount>::solve(const LaneMap& island, const Index* problems, int first,
                                          int end) noexcept {
  for_each_width<Scalar, LaneCount>(first, end, [&](auto lanes, int begin, int stop) {
    LaneQueue<Scalar, decltype(lanes)::value, Law> queue(island, view_, answers_, memory_);
    queue.solve(problems + begin, stop - begin,
                {options_.tolerance, options_.iteration_limit, options_.line_search_tolerance},
                [&](int i, const LaneOutcome<Scalar>& outcome) {
                  const Index problem = problems[begin + i];
                  totals_[begin + i].template add<1>(outcome, view_, island.view(), problem,
                                                     memory_, answers_.reports[problem]);
                });
  });
}

template <RealScalar Scalar, int LaneCount>
void BatchChunk<Scalar, LaneCount>::solve(const Index* problems, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    totals_[i] = {};
    BatchProblemReport<Scalar>& report = answers_.reports[problems[i]];
    report = {.status = SolveStatus::converged};
    if (!view_.has_pattern(problems[i])) report = report_without_pattern<Scalar>();
  }
  for_each_island(view_, options_.law, problems, count,
                  [&](auto law, const LaneMap& island, int first, int end) {
                    solve<decltype(law)::value>(island, problems, first, end);
                  });
  for (int i = 0; i < count; ++i) {
    if (!view_.has_pattern(problems[i])) continue;
    const bool rigid = view_.pattern(problems[i]).is_rigid();
    totals_[i].finish(options_.law == FrictionLaw::convex && !rigid, answers_.reports[problems[i]]);
  }
}

/// Solves one problem of a batch in one thread. The numbers of the thread are interleaved with
/// those of other threads, which solve other problems. It does the work of LaneQueue without a
/// queue.
/// @tparam Stride  count of threads with interleaved cells
template <RealScalar Scalar, FrictionLaw Law, int Stride>
class LaneThread {
 public:
  using Number = carom::Lanes<Scalar, 1>;
  using Cells = LaneCells<Number, Stride>;
  using State = LaneState<Number, Stride>;
  using Solver = LaneRigid<Number, Stride, Law>;

  /// @param memory  the thread's first number, for the cells of the largest island.
  CAROM_DEVICE LaneThread(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                          const SapOptions<Scalar>& options, Scalar* memory) noexcept
      : view_(view), answers_(answers), options_(options), memory_(memory) {}

  /// Writes the answer and the report.
  /// @param patterns  DevicePattern of all patterns.
  template <typename Pattern>
  CAROM_DEVICE void solve(const Pattern* patterns, Index problem) const noexcept {
    if (!view_.has_pattern(problem)) {
      answers_.reports[problem] = report_without_pattern<Scalar>();
      return;
    }
    BatchProblemReport<Scalar> report;
    report.status = SolveStatus::converged;
    BatchTotals<Scalar> totals;
    bool rigid = false;
    const Pattern& pattern = patterns[view_.pattern_number(problem)];
    for (int i = 0; i < pattern.island_count; ++i) {
      const LaneMapView& island = pattern.islands[i];
      rigid = rigid || island.rigid;
      totals.template add<Stride>(solve(island, problem), view_, island, problem, memory_, report);
    }
    totals.finish(Law == FrictionLaw::convex && !rigid, report);
    answers_.reports[problem] = report;
  }

 private:
  [[nodiscard]] CAROM_DEVICE LaneOutcome<Scalar> solve(const LaneMapView& island,
                                                       Index problem) const noexcept {
    const LaneLayout layout = island.layout(Law);
    const Cells cells(memory_);
    const LaneExchange<Number, Stride> exchange(island, layout, cells);
    const Index in_lane[1] = {problem};
    const auto valid = exchange.read(view_, in_lane);
    State state(layout, cells);
    Solver solver(state,
                  {options_.tolerance, options_.iteration_limit, options_.line_search_tolerance});
    solver.begin(valid);
    while (any(!solver.ended())) solver.step();
    solver.finish();
    exchange.write(answers_, problem, 0);
    return {SolveStatus(int(solver.status().value)),
            int(solver.iterations().value),
            state.residual.value,
            state.free_squared.value,
            state.pushed_squared.value,
            solver.violation().value};
  }

  const BatchView<Scalar>& view_;
  const BatchAnswers<Scalar>& answers_;
  const SapOptions<Scalar>& options_;
  Scalar* memory_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
