// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/sap.hpp"

#include "ensemble/island_batch.hpp"
#include "ensemble/random_step.hpp"
#include "ensemble/step_tally.hpp"

namespace carom::ensemble {

/// Solves the random steps of SingleStep in batches: all steps of a chunk with one law are one
/// batch. Steps without an answer from the batch are solved one at a time. The results are counted
/// in the same way, and also the count of steps that were solved one at a time.
///
/// The result of a problem depends on the problem only, not on the rest of its batch.
class BatchStep {
 public:
  static constexpr const char* name = "batch-step";

  /// @param most_kept  largest count of problems in memory at the same time, ≥ 1; each needs about
  ///                   20 kB.
  explicit BatchStep(std::uint64_t seed, std::uint64_t most_kept = 4096)
      : seed_(seed),
        most_kept_(most_kept),
        coulomb_({.tolerance = StepTally::tolerance}),
        convex_({.tolerance = StepTally::tolerance}) {}

  /// The layout of StepTally, and for each law a counter of steps that were solved one at a time.
  [[nodiscard]] static TallyLayout layout() {
    TallyLayout layout = StepTally::layout();
    const std::size_t all = layout.counters.size();
    for (std::size_t law = 0; law < law_count; ++law) {
      const std::size_t steps = law * (all / law_count);
      layout.counters.push_back(
          {layout.counters[steps].name + ", solved one at a time", int(steps)});
    }
    return layout;
  }

  /// Solves the problems from `first` to before `end` and adds them to a tally of layout().
  /// @param pause  called after each problem that is drawn or counted.
  template <typename Pause>
  void run(std::uint64_t first, std::uint64_t end, Tally& tally, const Pause& pause) {
    while (first < end) {
      const std::uint64_t last = first + (std::min)(most_kept_, end - first);
      visit(first, last, pause, [&](std::uint64_t index) {
        StepTally::add(index, step(), report_, velocity_, impulse_, tally);
        const auto law = std::size_t(step().law);
        if (alone_) ++tally.counters[tally.counters.size() - law_count + law];
      });
      first = last;
    }
  }

  /// Solves such problems in order and calls see(index) after each result is written to step(),
  /// report(), velocity() and impulse().
  template <typename Pause, typename See>
  void visit(std::uint64_t first, std::uint64_t end, const Pause& pause, const See& see) {
    if (steps_.size() < end - first) steps_.resize(end - first);
    for (IslandBatch& batch : batches_) batch.clear();
    for (std::uint64_t index = first; index < end; ++index) {
      RandomStep& step = steps_[index - first];
      step.make(seed_, index);
      batches_[std::size_t(step.law)].add(step.problem, step.guess);
      pause();
    }
    for (std::size_t law = 0; law < law_count; ++law) solve(StepLaw(law), batches_[law]);
    std::array<Index, law_count> next{};
    for (std::uint64_t index = first; index < end; ++index) {
      current_ = index - first;
      const auto law = std::size_t(step().law);
      take(batches_[law], next[law]++);
      see(index);
      pause();
    }
  }

  [[nodiscard]] const RandomStep& step() const noexcept { return steps_[current_]; }
  [[nodiscard]] const StepReport& report() const noexcept { return report_; }
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }
  /// Whether the batch had no answer to the step, which was then solved one at a time.
  [[nodiscard]] bool alone() const noexcept { return alone_; }

 private:
  static constexpr std::size_t law_count = 3;
  /// One rigid step in 50 needs more iterations. It is faster one at a time than in a batch whose
  /// other lanes wait. Limits from 50 to 150 need the same time.
  static constexpr int iteration_limit = 80;

  void solve(StepLaw law, IslandBatch& batch) {
    batch.solve({.law = law == StepLaw::convex ? FrictionLaw::convex : FrictionLaw::coulomb,
                 .tolerance = StepTally::tolerance,
                 .iteration_limit = iteration_limit});
  }
  void take(const IslandBatch& batch, Index problem) {
    const BatchProblemReport<double> found = batch.report(problem);
    alone_ = found.status != SolveStatus::converged;
    if (alone_) return solve_alone();
    report_ = {found.status, found.iterations, found.residual};
    velocity_.resize(step().problem.velocity_count());
    impulse_.resize(step().problem.impulse_count());
    batch.write_answer(problem, velocity_, impulse_);
  }
  void solve_alone() {
    velocity_ = step().guess;
    const bool convex = step().law == StepLaw::convex;
    const SolveReport<double> report = convex ? convex_.solve(step().problem, velocity_)
                                              : coulomb_.solve(step().problem, velocity_);
    report_ = {report.status, report.iterations, report.residual};
    if (convex) {
      impulse_ = convex_.impulse();
    } else {
      impulse_ = coulomb_.impulse();
    }
  }

  std::uint64_t seed_, most_kept_;
  ContactSolver<double> coulomb_;
  SapSolver<double> convex_;
  std::vector<RandomStep> steps_;
  std::uint64_t current_ = 0;
  bool alone_ = false;
  StepReport report_{};
  VectorX<double> velocity_, impulse_;
  std::array<IslandBatch, law_count> batches_;
};

}  // namespace carom::ensemble
