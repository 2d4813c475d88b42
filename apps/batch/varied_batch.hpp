// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "carom/batch/batch_storage.hpp"

#include "ensemble/philox.hpp"

namespace carom::batch {

/// Copies of one problem with slightly different numbers, and memory for their answers. Free
/// velocities, friction, regularization and bias velocities vary. Masses, Jacobians, bounds and
/// shifts are common to all copies.
class VariedBatch {
 public:
  /// @param spread  S [-], ≥ 0, < 1: each number is multiplied by 1 + S x, with x uniform in [−1,
  ///                1). x depends only on the index of the copy and of the draw. R of a block that
  ///                is not a friction contact is multiplied by one number, because rows that a cone
  ///                bounds together have equal R.
  VariedBatch(const ContactProblem<double>& problem, const VectorX<double>& guess, Index count,
              double spread)
      : problem_(problem), pattern_(problem), guess_(guess), count_(count) {
    shared_.add(problem);
    for (Index i = 0; i < count; ++i) append_copy(std::uint64_t(i), spread);
    velocity_.resize(free_.size());
    impulse_.resize(bias_.size());
    reports_.resize(std::size_t(count));
  }

  [[nodiscard]] BatchView<double> view() const noexcept {
    const BatchView<double> shared = shared_.view();
    BatchView<double> view;
    view.count = count_;
    view.patterns = &pattern_;
    view.mass = {shared.mass.data};
    view.jacobian = {shared.jacobian.data};
    view.bounds = {shared.bounds.data};
    view.guess = {guess_.data()};
    view.free_velocity = {free_.data(), pattern_.velocity_count()};
    view.friction = {friction_.data(), pattern_.friction_count()};
    view.regularization = {regularization_.data(), pattern_.regularization_count()};
    view.bias = {bias_.data(), pattern_.row_count()};
    return view;
  }
  [[nodiscard]] BatchAnswers<double> answers() noexcept {
    return {{velocity_.data(), pattern_.velocity_count()},
            {impulse_.data(), pattern_.row_count()},
            reports_.data()};
  }

  /// A copy as a contact problem. The next call reuses its memory.
  [[nodiscard]] const ContactProblem<double>& problem(Index copy) {
    const auto size = std::size_t(pattern_.velocity_count());
    problem_.set_free_velocity({free_.data() + std::size_t(copy) * size, size});
    const double* mu = friction_.data() + copy * pattern_.friction_count();
    const double* weight = regularization_.data() + copy * pattern_.regularization_count();
    const double* bias = bias_.data() + copy * pattern_.row_count();
    for (Index k = 0; k < problem_.block_count(); ++k) {
      WeightedBlock<double> law = problem_.law(k);
      const int rows = problem_.rows(k);
      for (int i = 0; i < friction_count(law.set.shape); ++i) law.set.friction(i) = *mu++;
      for (int r = 0; r < rows; ++r) {
        const bool shares = problem_.is_friction_contact(k) && r == 1;
        law.regularization(r) = shares ? law.regularization(0) : *weight++;
        law.bias_velocity(r) = *bias++;
      }
      problem_.set_law(k, law);
    }
    return problem_;
  }
  [[nodiscard]] VectorX<double> velocity(Index copy) const {
    return Eigen::Map<const VectorX<double>>(velocity_.data() + copy * pattern_.velocity_count(),
                                             pattern_.velocity_count());
  }
  [[nodiscard]] VectorX<double> impulse(Index copy) const {
    const Index rows = pattern_.row_count();
    return Eigen::Map<const VectorX<double>>(impulse_.data() + copy * rows, rows);
  }

 private:
  void append_copy(std::uint64_t copy, double spread) {
    constexpr std::uint64_t seed = 0;
    ensemble::RandomStream random(seed, copy);
    const auto factor = [&] { return 1 + spread * random.between(-1, 1); };
    for (const double x : problem_.free_velocity()) free_.push_back(x * factor());
    for (Index k = 0; k < problem_.block_count(); ++k) {
      const WeightedBlock<double> law = problem_.law(k);
      const int rows = problem_.rows(k);
      for (int i = 0; i < friction_count(law.set.shape); ++i) {
        friction_.push_back(law.set.friction(i) * factor());
      }
      if (problem_.is_friction_contact(k)) {
        regularization_.push_back(law.regularization(0) * factor());
        regularization_.push_back(law.regularization(2) * factor());
      } else {
        const double shared = factor();
        for (int r = 0; r < rows; ++r) regularization_.push_back(law.regularization(r) * shared);
      }
      for (int r = 0; r < rows; ++r) bias_.push_back(law.bias_velocity(r) * factor());
    }
  }

  ContactProblem<double> problem_;
  BatchStorage<double> shared_;
  BatchPattern pattern_;
  VectorX<double> guess_;
  Index count_;
  std::vector<double> free_, friction_, regularization_, bias_;
  std::vector<double> velocity_, impulse_;
  std::vector<BatchProblemReport<double>> reports_;
};

}  // namespace carom::batch
