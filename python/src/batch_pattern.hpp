// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "problem_data.hpp"

namespace carom::python {

/// One array per problem of a batch, or nothing: numbers of all problems one after the other.
class PerProblem {
 public:
  PerProblem() = default;
  /// @param width  numbers per problem.
  PerProblem(VectorX<double> numbers, Index width)
      : numbers_(std::move(numbers)), width_(width), given_(true) {}

  [[nodiscard]] bool is_given() const noexcept { return given_; }
  /// Of one problem, in C order.
  [[nodiscard]] auto of(Index problem) const { return numbers_.segment(problem * width_, width_); }

 private:
  VectorX<double> numbers_;
  Index width_ = 0;
  bool given_ = false;
};

/// Rows and columns.
using MatrixSize = std::pair<Index, Index>;

/// Matrices of bodies or contacts, per problem, or nothing for some of them.
class PerItem {
 public:
  explicit PerItem(const std::vector<MatrixSize>& sizes) : sizes_(sizes), items_(sizes.size()) {}

  /// @param numbers  of all problems one after the other, each in C order.
  void give(Index item, VectorX<double> numbers) { items_[std::size_t(item)] = std::move(numbers); }
  /// The matrix of an item in a problem, or nothing.
  [[nodiscard]] std::optional<MatrixX<double>> of(Index problem, Index item) const;

 private:
  std::vector<MatrixSize> sizes_;
  std::vector<std::optional<VectorX<double>>> items_;
};

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
      : mass(shape.mass), jacobian(shape.jacobian), other_jacobian(shape.other_jacobian) {}

  PerProblem free_velocity, friction, gap, stiffness, dissipation_time, regularization, bias;
  PerItem mass, jacobian, other_jacobian;
};

/// `count` problems like the pattern, with some numbers replaced.
/// @throws std::invalid_argument  with the number of the problem in front: "problem 3: ...".
[[nodiscard]] std::vector<std::shared_ptr<const ProblemData>> make_alike(const ProblemData& pattern,
                                                                         const Replacements& given,
                                                                         Index count);

}  // namespace carom::python
