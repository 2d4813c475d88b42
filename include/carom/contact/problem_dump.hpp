// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <fstream>
#include <string>

#include <Eigen/Core>

#include "carom/contact/contact_problem.hpp"
#include "carom/core/invalid_input.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Writes a problem as text in the format `carom-problem` (docs/file_formats.md), piece by piece.
/// The text of a large problem is never completely in memory.
/// @tparam Take  take(piece) receives each std::string of the text in its order.
template <std::floating_point Scalar, typename Take>
class ProblemText {
 public:
  explicit ProblemText(const Take& take) : take_(take) {}

  void write(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& guess) {
    Index contacts = 0;  // friction contacts before all others
    while (contacts < problem.block_count() && problem.is_friction_contact(contacts)) ++contacts;
    const Index others = problem.block_count() - contacts;
    text_ = others > 0 ? "carom-problem 2\ntime_step" : "carom-problem 1\ntime_step";
    number(problem.time_step());
    text_ += "\nbodies " + std::to_string(problem.body_count()) + '\n';
    for (Index b = 0; b < problem.body_count(); ++b) {
      const auto [start, size] = problem.body(b);
      pass_on(piece);
      text_ += "body " + std::to_string(size) + '\n';
      rows(problem.momentum_matrix(b));
      rows(problem.free_velocity().segment(start, size).transpose());
      rows(guess.segment(start, size).transpose());
    }
    text_ += "contacts " + std::to_string(contacts) + '\n';
    for (Index i = 0; i < contacts; ++i) {
      pass_on(piece);
      contact(problem.friction_contact(i));
    }
    if (others > 0) text_ += "constraints " + std::to_string(others) + '\n';
    for (Index i = contacts; i < problem.block_count(); ++i) {
      pass_on(piece);
      problem.visit(i, [&](const auto& block) { constraint(problem.law(i), block); });
    }
    pass_on(0);
  }

 private:
  static constexpr std::size_t piece = std::size_t(1) << 20;  // characters

  /// Passes on the written text if it has at least `least` characters. A piece ends only after a
  /// whole item.
  void pass_on(std::size_t least) {
    if (text_.size() < least) return;
    take_(text_);
    text_.clear();
  }
  void contact(const BlockView<Scalar, 3>& block) {
    const WeightedContact<Scalar>& law = block.law();
    text_ += law.rigid ? "contact rigid" : "contact weighted";
    sides(block);
    number(law.friction);
    number(law.regularization.tangent);
    number(law.regularization.normal);
    for (const Scalar& bias : law.bias_velocity) number(bias);
    text_ += '\n';
    jacobians(block);
  }

  void constraint(const WeightedBlock<Scalar>& law, const auto& block) {
    const ImpulseSet<Scalar>& set = law.set;
    const bool bounded = set.shape == ImpulseShape::intervals;
    static constexpr std::array<const char*, 9> names{"intervals",
                                                      "friction",
                                                      "planar",
                                                      "elliptic",
                                                      "torsional",
                                                      "rolling",
                                                      "ellipsoidal_torsional",
                                                      "ellipsoidal_rolling",
                                                      "spinless_rolling"};
    text_ += law.rigid ? "constraint rigid " : "constraint ";
    text_ += names[std::size_t(set.shape)];
    sides(block);
    if (bounded) text_ += ' ' + std::to_string(set.rows);
    for (int k = 0; k < friction_count(set.shape); ++k) number(set.friction(k));
    text_ += '\n';
    for (int row = 0; row < set.rows; ++row) {
      number(bounded ? set.lower(row) : set.shift(row));
      if (bounded) number(set.upper(row));
      number(law.regularization(row));
      number(law.bias_velocity(row));
      text_ += '\n';
    }
    jacobians(block);
  }

  /// The count of bodies, and their indices.
  void sides(const auto& block) {
    text_ += ' ' + std::to_string(block.side_count());
    for (int s = 0; s < block.side_count(); ++s) {
      text_ += ' ' + std::to_string(block.side(s).body);
    }
  }
  void jacobians(const auto& block) {
    for (int s = 0; s < block.side_count(); ++s) rows(block.columns(s).transpose());
  }
  template <typename Derived>
  void rows(const Eigen::MatrixBase<Derived>& matrix) {
    for (Index r = 0; r < matrix.rows(); ++r) {
      for (Index c = 0; c < matrix.cols(); ++c) number(matrix(r, c));
      text_ += '\n';
    }
  }
  /// The shortest text that reads back as the same number, independent of the locale.
  void number(const Scalar& value) {
    char digits[32];
    const auto result = std::to_chars(digits, digits + sizeof digits, static_cast<double>(value));
    if (text_.back() != '\n') text_ += ' ';
    text_.append(digits, result.ptr);
  }

  const Take& take_;
  std::string text_;
};

/// Rejects a guess that does not fit a problem.
template <std::floating_point Scalar>
void reject_unfit_guess(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& guess) {
  const std::string item = "guess";
  if (guess.size() != problem.velocity_count()) {
    reject_if(
        fault(item + " entries", std::to_string(problem.velocity_count()).c_str(), guess.size()));
  }
  reject_if(finite_fault(item, guess));
}

}  // namespace detail

/// A problem as text that reads back as the same problem, bit for bit: `carom solve` replays it.
///
/// Blocks are written by their numbers R and v̂ and by whether they are rigid, because a problem
/// does not store the physical data. Friction contacts that come after another block are written as
/// constraints, such that their order does not change. Numbers of long double become double.
/// @param guess  first guess of the velocity [m/s, rad/s], n_v.
/// @note  Cold: allocates; throws std::invalid_argument if the guess does not fit the problem.
template <std::floating_point Scalar>
[[nodiscard]] std::string problem_text(const ContactProblem<Scalar>& problem,
                                       const VectorX<Scalar>& guess) {
  detail::reject_unfit_guess(problem, guess);
  std::string text;
  const auto take = [&](const std::string& piece) { text += piece; };
  detail::ProblemText<Scalar, decltype(take)>(take).write(problem, guess);
  return text;
}

/// With the free velocity v* as the guess.
template <std::floating_point Scalar>
[[nodiscard]] std::string problem_text(const ContactProblem<Scalar>& problem) {
  return problem_text(problem, VectorX<Scalar>(problem.free_velocity()));
}

/// Writes a problem to a file that `carom solve` replays, from any simulator.
///
/// ```
/// carom::write_problem(problem, "step_0042.txt");
/// ```
/// @param path   the file; an existing file is replaced.
/// @param guess  first guess of the velocity; the default is the free velocity.
/// @note  Cold: allocates, but never the text of the whole problem; throws std::invalid_argument,
///        naming the path, if it cannot be written.
template <std::floating_point Scalar>
void write_problem(const ContactProblem<Scalar>& problem, const std::string& path,
                   const VectorX<Scalar>& guess) {
  detail::reject_unfit_guess(problem, guess);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const auto take = [&](const std::string& piece) { file << piece; };
  detail::ProblemText<Scalar, decltype(take)>(take).write(problem, guess);
  file.close();
  if (!file) detail::reject_if(path + ": expected a file that can be written, was refused it");
}

template <std::floating_point Scalar>
void write_problem(const ContactProblem<Scalar>& problem, const std::string& path) {
  write_problem(problem, path, VectorX<Scalar>(problem.free_velocity()));
}

}  // namespace CAROM_ABI
}  // namespace carom
