// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "carom/contact/contact_problem.hpp"

#include "io/number_text.hpp"

namespace carom::examples {

namespace detail {

template <typename Derived>
void append_rows(std::string& text, const Eigen::MatrixBase<Derived>& matrix) {
  for (Index r = 0; r < matrix.rows(); ++r) {
    for (Index c = 0; c < matrix.cols(); ++c) {
      text += (c > 0 ? " " : "") + format_number(matrix(r, c));
    }
    text += '\n';
  }
}

}  // namespace detail

/// A contact problem and a first guess as text that read_text_problem() turns into the same
/// problem, to the last digit. Contacts are written `weighted`: a problem does not keep the
/// physical data its weights came from.
[[nodiscard]] inline std::string write_text_problem(const ContactProblem<double>& problem,
                                                    const VectorX<double>& guess) {
  std::string text = "carom-problem 1\ntime_step " + format_number(problem.time_step()) +
                     "\nbodies " + std::to_string(problem.body_count()) + '\n';
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    text += "body " + std::to_string(size) + '\n';
    detail::append_rows(text, problem.momentum_matrix(b));
    detail::append_rows(text, problem.free_velocity().segment(start, size).transpose());
    detail::append_rows(text, guess.segment(start, size).transpose());
  }
  text += "contacts " + std::to_string(problem.contact_count()) + '\n';
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const int sides = problem.side_count(i);
    const auto [tangent, normal] = problem.regularization(i);
    text += "contact weighted " + std::to_string(sides);
    for (int side = 0; side < sides; ++side) {
      text += ' ' + std::to_string(problem.side_body(i, side));
    }
    text += ' ' + format_number(problem.cone(i).friction) + ' ' + format_number(tangent) + ' ' +
            format_number(normal) + ' ';
    detail::append_rows(text, problem.bias_velocity(i).transpose());
    for (int side = 0; side < sides; ++side) {
      detail::append_rows(text, problem.jacobian(i, side).transpose());
    }
  }
  return text;
}

}  // namespace carom::examples
