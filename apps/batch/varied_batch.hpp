// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "carom/batch/batch_view.hpp"

#include "ensemble/philox.hpp"

namespace carom::batch {

/// Copies of one problem whose numbers differ a little, with room for their answers. Free
/// velocities, friction, regularization and bias velocities vary; masses and Jacobians are shared.
class VariedBatch {
 public:
  /// @param spread  S [-], ≥ 0, < 1: each number is multiplied by 1 + S x, x evenly in [−1, 1),
  /// which
  ///                depends on the number of the copy and of the draw alone.
  /// @throws std::invalid_argument  where a block of the problem is no friction contact.
  VariedBatch(const ContactProblem<double>& problem, const VectorX<double>& guess, Index count,
              double spread)
      : problem_(problem), pattern_(problem), guess_(guess), count_(count) {
    for (Index b = 0; b < problem.body_count(); ++b) append_rows(problem.momentum_matrix(b), mass_);
    for (Index k = 0; k < problem.block_count(); ++k) {
      if (!problem.is_friction_contact(k)) {
        throw std::invalid_argument("block " + std::to_string(k) + ": expected a friction contact");
      }
      for (int s = 0; s < int(problem.side_count(k)); ++s) {
        append_rows(problem.jacobian(k, s), jacobian_);
      }
    }
    for (Index i = 0; i < count; ++i) append_copy(std::uint64_t(i), spread);
    velocity_.resize(free_.size());
    impulse_.resize(bias_.size());
    reports_.resize(std::size_t(count));
  }

  [[nodiscard]] BatchView<double> view() const noexcept {
    const Index contacts = pattern_.contact_count();
    BatchView<double> view;
    view.count = count_;
    view.patterns = &pattern_;
    view.mass = {mass_.data()};
    view.jacobian = {jacobian_.data()};
    view.guess = {guess_.data()};
    view.free_velocity = {free_.data(), pattern_.velocity_count()};
    view.friction = {friction_.data(), contacts};
    view.regularization = {regularization_.data(), 2 * contacts};
    view.bias = {bias_.data(), 3 * contacts};
    return view;
  }
  [[nodiscard]] BatchAnswers<double> answers() noexcept {
    return {{velocity_.data(), pattern_.velocity_count()},
            {impulse_.data(), 3 * Index(pattern_.contact_count())},
            reports_.data()};
  }

  /// A copy as a contact problem, in memory that the next call takes again.
  [[nodiscard]] const ContactProblem<double>& problem(Index copy) {
    const auto size = std::size_t(pattern_.velocity_count());
    problem_.set_free_velocity({free_.data() + std::size_t(copy) * size, size});
    for (Index k = 0; k < problem_.block_count(); ++k) {
      WeightedContact<double> law = problem_.friction_contact_law(k);
      const std::size_t at = std::size_t(copy * problem_.block_count() + k);
      law.friction = friction_[at];
      law.regularization = {regularization_[2 * at], regularization_[2 * at + 1]};
      law.bias_velocity = Eigen::Map<const Eigen::Vector3d>(bias_.data() + 3 * at);
      problem_.set_law(k, law);
    }
    return problem_;
  }
  [[nodiscard]] VectorX<double> velocity(Index copy) const {
    return Eigen::Map<const VectorX<double>>(velocity_.data() + copy * pattern_.velocity_count(),
                                             pattern_.velocity_count());
  }
  [[nodiscard]] VectorX<double> impulse(Index copy) const {
    const Index rows = 3 * Index(pattern_.contact_count());
    return Eigen::Map<const VectorX<double>>(impulse_.data() + copy * rows, rows);
  }

 private:
  template <typename MatrixType>
  static void append_rows(const MatrixType& matrix, std::vector<double>& numbers) {
    for (Index r = 0; r < matrix.rows(); ++r) {
      for (Index c = 0; c < matrix.cols(); ++c) numbers.push_back(matrix(r, c));
    }
  }
  void append_copy(std::uint64_t copy, double spread) {
    constexpr std::uint64_t seed = 0;
    ensemble::RandomStream random(seed, copy);
    const auto vary = [&](double x) { return x * (1 + spread * random.between(-1, 1)); };
    for (const double x : problem_.free_velocity()) free_.push_back(vary(x));
    for (Index k = 0; k < problem_.block_count(); ++k) {
      const WeightedContact<double>& law = problem_.friction_contact_law(k);
      friction_.push_back(vary(law.friction));
      regularization_.push_back(vary(law.regularization.tangent));
      regularization_.push_back(vary(law.regularization.normal));
      for (const double x : law.bias_velocity) bias_.push_back(vary(x));
    }
  }

  ContactProblem<double> problem_;
  BatchPattern pattern_;
  VectorX<double> guess_;
  Index count_;
  std::vector<double> mass_, jacobian_, free_, friction_, regularization_, bias_;
  std::vector<double> velocity_, impulse_;
  std::vector<BatchProblemReport<double>> reports_;
};

}  // namespace carom::batch
