// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "batch_pattern.hpp"

namespace carom::python {

/// The problems of a batch: a list of them, or one pattern with other numbers in each. They do not
/// change.
class BatchProblems {
 public:
  explicit BatchProblems(std::vector<std::shared_ptr<const ProblemData>> problems);
  /// @param count  ≥ 0.
  BatchProblems(std::shared_ptr<const ProblemData> pattern, Replacements given, Index count);

  [[nodiscard]] Index count() const noexcept { return count_; }
  /// Whether all are known to have the bodies and blocks of one.
  [[nodiscard]] bool is_pattern() const noexcept { return given_.has_value(); }
  /// A problem with the bodies and blocks of problem i, but for a list without its numbers.
  [[nodiscard]] const ProblemData& shape(Index i) const noexcept {
    return *problems_[is_pattern() ? 0 : std::size_t(i)];
  }
  /// Where the velocities and the impulses of problem i begin in arrays of all problems; of
  /// count(), where they end.
  [[nodiscard]] Index velocity_start(Index i) const noexcept {
    return is_pattern() ? i * shape(0).problem().velocity_count()
                        : starts_[std::size_t(i)].velocity;
  }
  [[nodiscard]] Index impulse_start(Index i) const noexcept {
    return is_pattern() ? i * shape(0).problem().impulse_count() : starts_[std::size_t(i)].impulse;
  }
  /// As many of `wanted` threads as are worth their start.
  /// @param least  velocities and impulses in all for which a second thread is worth its start.
  [[nodiscard]] int useful_threads(int wanted, Index least) const noexcept {
    return velocity_start(count_) + impulse_start(count_) < least ? 1 : wanted;
  }

 private:
  friend class ProblemReader;
  struct Start {
    Index velocity, impulse;
  };

  std::vector<std::shared_ptr<const ProblemData>> problems_;  ///< The pattern alone, or all.
  std::optional<Replacements> given_;
  std::vector<Start> starts_;
  Index count_ = 0;
};

/// Reads problems of a batch one after the other; those of a pattern in memory of its own, so that
/// to read one costs less than to keep it.
class ProblemReader {
 public:
  /// @param problems  live as long as this.
  explicit ProblemReader(const BatchProblems& problems) noexcept : problems_(problems) {}

  /// A problem, as it is until the next is read.
  /// @throws std::invalid_argument  for numbers in place of those of the pattern that make no
  ///                                sense: "problem 3: ...".
  [[nodiscard]] const ProblemData& read(Index i) { return *share(i); }
  /// The same, for what holds on to a problem until the next is read.
  [[nodiscard]] const std::shared_ptr<const ProblemData>& share(Index i);
  /// A problem that stays.
  [[nodiscard]] std::shared_ptr<const ProblemData> make(Index i);

 private:
  void build(Index i);

  const BatchProblems& problems_;
  std::shared_ptr<ProblemData> own_;
  std::shared_ptr<const ProblemData> shared_;  ///< The same.
};

/// Reads all problems of a pattern, on several threads, to find those that make no sense.
/// @param ask  as in solve_all().
/// @throws std::invalid_argument  as ProblemReader::read() of the first of them.
void check_all(const BatchProblems& problems, int threads, const std::function<bool(double)>& ask);

}  // namespace carom::python
