// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/batch/batch_view.hpp"
#include "carom/batch/detail/batch_work.hpp"
#include "carom/batch/detail/lane_queue.hpp"
#include "carom/solvers/sap_options.hpp"

/// @file
/// Problems of a batch from their numbers to their reports: many by groups of lanes, or one in a
/// thread of a graphics processor.

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A fault and the body or contact that has it.
struct BatchDiagnosis {
  BatchFault fault = BatchFault::none;
  int item = -1;
};

/// Looks for what is wrong with the numbers of a problem that has not been solved. Every number is
/// checked, so this is only for problems that have a fault.
/// @tparam Stride  of the memory's numbers, as that of LaneCells.
template <RealScalar Scalar, int Stride = 1>
class BatchInspection {
 public:
  CAROM_DEVICE BatchInspection(const BatchView<Scalar>& view, Index problem) noexcept
      : view_(view), problem_(problem) {}

  /// The first fault of a contact of an island, or else of a body.
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
  /// Whether something is between the bounds of intervals, or the shift of a cone is finite.
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
  /// The number of the first body whose momentum matrix is not positive definite, or −1.
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

/// The report of a problem that has no pattern, of which nothing is read or written.
template <typename Scalar>
[[nodiscard]] CAROM_DEVICE BatchProblemReport<Scalar> report_without_pattern() noexcept {
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  return {SolveStatus::not_finite, 0, infinity, infinity, BatchFault::pattern, -1};
}

/// Squares summed up over the islands of a problem, as in SapSolver's totals.
template <typename Scalar>
struct BatchTotals {
  Scalar residual = 0, free = 0, pushed = 0;

  /// Adds the outcome of an island and updates the report. Where numbers of the island are wrong,
  /// the report gets the first fault.
  /// @tparam Stride  of the numbers in the memory, which has room for the island.
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
  /// Writes what follows from all islands.
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

/// Some problems of a batch, solved one group of lanes after the other in memory of its own.
template <RealScalar Scalar, int LaneCount>
class BatchChunk {
 public:
  static constexpr int capacity = 256;
  /// @param memory  of BatchWorkspace::worker().
  BatchChunk(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
             const SapOptions<Scalar>& options, Scalar* memory) noexcept
      : view_(view), answers_(answers), options_(options), memory_(memory) {}

  /// @param problems  at most `capacity`, those of one pattern one after the other.
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

/// One problem of a batch, solved by one thread whose numbers stand between those of others, which
/// solve problems of their own. What LaneQueue does for a group of lanes, without a queue.
/// @tparam Stride  threads whose cells stand side by side
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
