// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "carom/batch/batch_view.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Copies of contact problems, and memory for their answers.
///
/// ```
/// carom::BatchStorage<double> batch;
/// for (const auto& problem : problems) batch.add(problem);
/// carom::BatchWorkspace<double> workspace;
/// workspace.prepare(batch.view(), 1);
/// const auto report = solve_batch(batch.view(), batch.answers(), {}, workspace);
/// ```
/// @note  Cold: add() allocates and may throw.
template <RealScalar Scalar>
class BatchStorage {
 public:
  /// Adds a problem whose first guess is its free velocity.
  /// @return  index of the problem.
  Index add(const ContactProblem<Scalar>& problem) { return add(problem, problem.free_velocity()); }
  /// Adds a problem with a guess [m/s, rad/s] of n_v numbers.
  /// @throws std::invalid_argument if the guess has another size; the batch does not change.
  template <typename VectorType>
  Index add(const ContactProblem<Scalar>& problem, const Eigen::MatrixBase<VectorType>& guess);

  [[nodiscard]] Index count() const noexcept { return Index(pattern_numbers_.size()); }
  /// The problems. The view is valid until the next add().
  [[nodiscard]] BatchView<Scalar> view() const noexcept;
  /// The memory for their answers. It is valid until the next add().
  [[nodiscard]] BatchAnswers<Scalar> answers() noexcept;
  [[nodiscard]] const BatchPattern& pattern(Index problem) const noexcept {
    return patterns_[std::size_t(pattern_numbers_[std::size_t(problem)])];
  }

  /// v of a problem [m/s, rad/s].
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> velocity(Index problem) const noexcept {
    return {velocity_.data() + free_.begin(problem), pattern(problem).velocity_count()};
  }
  /// γ of a problem [N·s, N·m·s], one for each row.
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> impulse(Index problem) const noexcept {
    return {impulse_.data() + bias_.begin(problem), pattern(problem).row_count()};
  }
  [[nodiscard]] const BatchProblemReport<Scalar>& report(Index problem) const noexcept {
    return reports_[std::size_t(problem)];
  }

 private:
  /// Numbers of all problems, one problem after the other.
  struct Ragged {
    std::vector<Scalar> numbers;
    std::vector<Index> offsets;

    [[nodiscard]] Index begin(Index problem) const noexcept {
      return offsets[std::size_t(problem)];
    }
    void begin_problem() { offsets.push_back(Index(numbers.size())); }
    template <typename MatrixType>
    void add_rows(const Eigen::MatrixBase<MatrixType>& matrix) {
      for (Index r = 0; r < matrix.rows(); ++r) {
        for (Index c = 0; c < matrix.cols(); ++c) numbers.push_back(matrix(r, c));
      }
    }
    [[nodiscard]] BatchArray<const Scalar> view() const noexcept {
      return {numbers.data(), 0, offsets.data()};
    }
  };
  void add_law(const WeightedContact<Scalar>& law);
  void add_law(const WeightedBlock<Scalar>& law);
  void add_numbers(const ContactProblem<Scalar>& problem);

  std::vector<BatchPattern> patterns_;
  std::map<std::vector<int>, int> numbers_of_keys_;
  std::vector<int> pattern_numbers_;
  Ragged mass_, free_, guess_, jacobian_, friction_, regularization_, bias_, bounds_;
  std::vector<Scalar> velocity_, impulse_;
  std::vector<BatchProblemReport<Scalar>> reports_;
};

// --- implementation ---

template <RealScalar Scalar>
void BatchStorage<Scalar>::add_law(const WeightedContact<Scalar>& law) {
  friction_.numbers.push_back(law.friction);
  regularization_.numbers.push_back(law.regularization.tangent);
  regularization_.numbers.push_back(law.regularization.normal);
  bias_.add_rows(law.bias_velocity);
}

template <RealScalar Scalar>
void BatchStorage<Scalar>::add_law(const WeightedBlock<Scalar>& law) {
  const ImpulseSet<Scalar>& set = law.set;
  friction_.add_rows(set.friction.head(friction_count(set.shape)));
  regularization_.add_rows(law.regularization.head(set.rows));
  bias_.add_rows(law.bias_velocity.head(set.rows));
  const bool intervals = set.shape == ImpulseShape::intervals;
  bounds_.add_rows((intervals ? set.lower : set.shift).head(set.rows));
  if (intervals) bounds_.add_rows(set.upper.head(set.rows));
}

template <RealScalar Scalar>
void BatchStorage<Scalar>::add_numbers(const ContactProblem<Scalar>& problem) {
  for (Ragged* list :
       {&mass_, &free_, &guess_, &jacobian_, &friction_, &regularization_, &bias_, &bounds_}) {
    list->begin_problem();
  }
  for (Index b = 0; b < problem.body_count(); ++b) mass_.add_rows(problem.momentum_matrix(b));
  free_.add_rows(problem.free_velocity());
  for (Index k = 0; k < problem.block_count(); ++k) {
    if (problem.is_friction_contact(k)) {
      add_law(problem.friction_contact_law(k));
    } else {
      add_law(problem.law(k));
    }
    for (int s = 0; s < int(problem.side_count(k)); ++s) jacobian_.add_rows(problem.jacobian(k, s));
  }
}

template <RealScalar Scalar>
template <typename VectorType>
Index BatchStorage<Scalar>::add(const ContactProblem<Scalar>& problem,
                                const Eigen::MatrixBase<VectorType>& guess) {
  if (guess.size() != problem.velocity_count()) {
    detail::reject_if("guess: expected " + std::to_string(problem.velocity_count()) +
                      " numbers, got " + std::to_string(guess.size()));
  }
  const auto [place, is_new] =
      numbers_of_keys_.try_emplace(BatchPattern::key(problem), int(patterns_.size()));
  if (is_new) {
    patterns_.emplace_back(problem);
  } else {
    patterns_[std::size_t(place->second)].widen(problem);
  }
  add_numbers(problem);
  guess_.add_rows(guess);
  pattern_numbers_.push_back(place->second);
  velocity_.resize(free_.numbers.size());
  impulse_.resize(bias_.numbers.size());
  reports_.emplace_back();
  return count() - 1;
}

template <RealScalar Scalar>
BatchView<Scalar> BatchStorage<Scalar>::view() const noexcept {
  BatchView<Scalar> view;
  view.count = count();
  view.patterns = patterns_.data();
  view.pattern_numbers = pattern_numbers_.data();
  view.pattern_count = int(patterns_.size());
  view.mass = mass_.view();
  view.free_velocity = free_.view();
  view.jacobian = jacobian_.view();
  view.friction = friction_.view();
  view.regularization = regularization_.view();
  view.bias = bias_.view();
  view.bounds = bounds_.view();
  view.guess = guess_.view();
  return view;
}

template <RealScalar Scalar>
BatchAnswers<Scalar> BatchStorage<Scalar>::answers() noexcept {
  return {{velocity_.data(), 0, free_.offsets.data()},
          {impulse_.data(), 0, bias_.offsets.data()},
          reports_.data()};
}

}  // namespace CAROM_ABI
}  // namespace carom
