// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/delassus_problem.hpp"

#include "io/friction_problem.hpp"

namespace carom::files {

namespace detail {

/// The row of a DelassusProblem that a number of a contact in a file's order goes to.
[[nodiscard]] constexpr Index row_of_number(Index dimension, Index number) noexcept {
  const Index normal = dimension == 2 ? 1 : 2, component = number % dimension;
  if (component == 0) return number + normal;
  return component <= normal ? number - 1 : number;
}

}  // namespace detail

/// Numbers of contacts from the order of files, (n, t₁, t₂), (n, t) or (n, t₁, t₂, m₁, m₂), to that
/// of a DelassusProblem, (t₁, t₂, n), (t, n) or (t₁, t₂, n, m₁, m₂).
/// @param dimension  components per contact: 2, 3 or 5; divides the count of numbers.
[[nodiscard]] inline VectorX<double> to_row_order(Index dimension, const VectorX<double>& numbers) {
  CAROM_EXPECTS(numbers.size() % dimension == 0);
  VectorX<double> rows(numbers.size());
  for (Index i = 0; i < numbers.size(); ++i) rows(detail::row_of_number(dimension, i)) = numbers(i);
  return rows;
}

/// The reverse.
[[nodiscard]] inline VectorX<double> to_file_order(Index dimension, const VectorX<double>& rows) {
  CAROM_EXPECTS(rows.size() % dimension == 0);
  VectorX<double> numbers(rows.size());
  for (Index i = 0; i < rows.size(); ++i) numbers(i) = rows(detail::row_of_number(dimension, i));
  return numbers;
}

/// The problem of a file in the form that solvers take: a friction contact (t₁, t₂, n), in the
/// plane (t, n), with rolling (t₁, t₂, n, m₁, m₂), per contact of the file; W as it is stored, or
/// Hᵀ M⁻¹ H where it is not. Equality constraints follow, a free row each.
///
/// W's symmetric part is taken: asymmetry() says how much is left. Whether every contact's own
/// block can be solved is for DelassusProblem::check() to say. Throws BadInput if something is
/// wrong with the problem, if it has no form, or if M is singular.
[[nodiscard]] DelassusProblem<double> friction_dual(const FrictionProblem& problem);

/// An answer in the file's own terms: r, u, λ, and v where the problem has a global form.
/// @param impulse  γ of friction_dual(), in its rows.
[[nodiscard]] FrictionState friction_answer(const FrictionProblem& problem,
                                            const VectorX<double>& impulse);

}  // namespace carom::files
