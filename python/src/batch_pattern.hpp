// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "problem_data.hpp"

namespace carom::python {

/// Numbers of every problem of a batch, in C order, or nothing.
class PerProblem {
 public:
  PerProblem() = default;
  /// @param numbers  those of the first problem.
  /// @param stride   from those of a problem to those of the next; 0: all share them.
  /// @param owner    keeps them; null: they live as long as this.
  PerProblem(const double* numbers, Index stride, std::shared_ptr<const void> owner)
      : numbers_(numbers), stride_(stride), owner_(std::move(owner)), given_(true) {}
  /// @param starts  where the numbers of each problem begin; they live as long as this.
  PerProblem(const double* numbers, std::vector<Index> starts)
      : numbers_(numbers), starts_(std::move(starts)), given_(true) {}

  [[nodiscard]] bool is_given() const noexcept { return given_; }
  /// Of one problem.
  [[nodiscard]] const double* of(Index problem) const noexcept {
    return numbers_ + (starts_.empty() ? problem * stride_ : starts_[std::size_t(problem)]);
  }
  /// Of one problem; null where nothing is given.
  [[nodiscard]] const double* find(Index problem) const noexcept {
    return given_ ? of(problem) : nullptr;
  }

 private:
  const double* numbers_ = nullptr;
  Index stride_ = 0;
  std::vector<Index> starts_;
  std::shared_ptr<const void> owner_;
  bool given_ = false;
};

/// Rows and columns.
using MatrixSize = std::pair<Index, Index>;

/// How large the arrays of a problem are.
struct ProblemShape {
  explicit ProblemShape(const ProblemData& data);

  Index velocities = 0, contacts = 0;
  std::vector<MatrixSize> mass;            ///< Per body.
  std::vector<MatrixSize> jacobian;        ///< Per contact.
  std::vector<MatrixSize> other_jacobian;  ///< Per contact; no columns: no second body.
};

/// What replaces numbers of a pattern in the problems of a batch.
struct Replacements {
  explicit Replacements(const ProblemShape& shape)
      : mass(shape.mass.size()),
        jacobian(shape.jacobian.size()),
        other_jacobian(shape.other_jacobian.size()) {}

  [[nodiscard]] bool has_mass() const noexcept;
  /// Whether any number of a contact is replaced.
  [[nodiscard]] bool has_contacts() const noexcept;

  PerProblem free_velocity, friction, gap, stiffness, dissipation_time, regularization, bias;
  std::vector<PerProblem> mass;                      ///< Per body.
  std::vector<PerProblem> jacobian, other_jacobian;  ///< Per contact.
};

/// Builds the pattern with the numbers of one problem, in memory that `made` has already.
/// @throws std::invalid_argument  for numbers that make no sense; `made` then is of no use.
void build_alike(const ProblemData& pattern, const Replacements& given, Index problem,
                 ProblemData& made);

/// Gives a problem that build_alike() made for another problem the numbers of this one, in far less
/// time, with the same bits.
/// @return  whether that is possible: it is not where masses are given, nor for numbers that
///          build_alike() refuses; then `made` is of no use until it is built.
[[nodiscard]] bool replace_alike(const ProblemData& pattern, const Replacements& given,
                                 Index problem, ProblemData& made);

}  // namespace carom::python
