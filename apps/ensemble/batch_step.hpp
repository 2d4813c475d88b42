// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>


#include "ensemble/island_batch.hpp"
#include "ensemble/random_step.hpp"
#include "ensemble/step_tally.hpp"

namespace carom::ensemble {

/// Solves the random steps of SingleStep side by side, those of a chunk with one law as one batch,
/// and counts the results in the same way.
///
/// A problem's answer has the same bits whatever else is in its batch. Most steps have a pattern of
/// their own, which leaves lanes without work, so that this takes about twice as long as one at a
/// time: it is a test of solve_batch().
class BatchStep {
 public:
  static constexpr const char* name = "batch-step";

  /// @param most_kept  problems at most that are kept at the same time, ≥ 1; each takes about 7 kB.
  explicit BatchStep(std::uint64_t seed, std::uint64_t most_kept = 4096)
      : seed_(seed), most_kept_(most_kept) {}

  [[nodiscard]] static TallyLayout layout() { return StepTally::layout(); }

  /// Solves the problems from `first` to before `end` and adds them to a tally of layout().
  /// @param pause  called after each problem that is drawn or counted.
  template <typename Pause>
  void run(std::uint64_t first, std::uint64_t end, Tally& tally, const Pause& pause) {
    while (first < end) {
      const std::uint64_t last = first + (std::min)(most_kept_, end - first);
      visit(first, last, pause, [&](std::uint64_t index) {
        StepTally::add(index, step_, report_, velocity_, impulse_, tally);
      });
      first = last;
    }
  }

  /// Solves such problems and calls see(index) after each has been written to step(), report(),
  /// velocity() and impulse(), in order.
  template <typename Pause, typename See>
  void visit(std::uint64_t first, std::uint64_t end, const Pause& pause, const See& see) {
    for (IslandBatch& batch : batches_) batch.clear();
    for (std::uint64_t index = first; index < end; ++index) {
      step_.make(seed_, index);
      batches_[std::size_t(step_.law)].add(step_.problem, step_.guess);
      pause();
    }
    for (std::size_t law = 0; law < law_count; ++law) solve(StepLaw(law), batches_[law]);
    std::array<Index, law_count> next{};
    for (std::uint64_t index = first; index < end; ++index) {
      step_.make(seed_, index);
      const auto law = std::size_t(step_.law);
      take(batches_[law], next[law]++);
      see(index);
      pause();
    }
  }

  [[nodiscard]] const RandomStep& step() const noexcept { return step_; }
  [[nodiscard]] const StepReport& report() const noexcept { return report_; }
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }

 private:
  static constexpr std::size_t law_count = 3;
  /// The default of 200 is too few for one compliant step in 500 under Coulomb's law.
  static constexpr int iteration_limit = 2000;

  void solve(StepLaw law, IslandBatch& batch) {
    batch.solve({
        .law = law == StepLaw::convex ? FrictionLaw::convex : FrictionLaw::coulomb,
        .tolerance = StepTally::tolerance,
        .iteration_limit = iteration_limit});
  }
  void take(const IslandBatch& batch, Index problem) {
    const BatchProblemReport<double> found = batch.report(problem);
    report_ = {found.status, found.iterations, found.residual};
    velocity_.resize(step_.problem.velocity_count());
    impulse_.resize(step_.problem.impulse_count());
    batch.write_answer(problem, velocity_, impulse_);
  }

  std::uint64_t seed_, most_kept_;
  RandomStep step_;
  StepReport report_{};
  VectorX<double> velocity_, impulse_;
  std::array<IslandBatch, law_count> batches_;
};

}  // namespace carom::ensemble
