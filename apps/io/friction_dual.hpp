// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/delassus_problem.hpp"

#include "io/friction_problem.hpp"

namespace carom::files {

namespace detail {

/// The row of a DelassusProblem for a number of a contact in the order of the file.
[[nodiscard]] constexpr Index row_of_number(Index dimension, Index number) noexcept {
  const Index normal = dimension == 2 ? 1 : 2, component = number % dimension;
  if (component == 0) return number + normal;
  return component <= normal ? number - 1 : number;
}

}  // namespace detail

/// Converts numbers of contacts from the order of files, (n, t₁, t₂), (n, t) or (n, t₁, t₂, m₁,
/// m₂), to that of a DelassusProblem, (t₁, t₂, n), (t, n) or (t₁, t₂, n, m₁, m₂).
/// @param dimension  components per contact: 2, 3 or 5; divides the count of numbers.
[[nodiscard]] inline VectorX<double> to_row_order(Index dimension, const VectorX<double>& numbers) {
  CAROM_EXPECTS(numbers.size() % dimension == 0);
  VectorX<double> rows(numbers.size());
  for (Index i = 0; i < numbers.size(); ++i) rows(detail::row_of_number(dimension, i)) = numbers(i);
  return rows;
}

/// The inverse conversion.
[[nodiscard]] inline VectorX<double> to_file_order(Index dimension, const VectorX<double>& rows) {
  CAROM_EXPECTS(rows.size() % dimension == 0);
  VectorX<double> numbers(rows.size());
  for (Index i = 0; i < rows.size(); ++i) numbers(i) = rows(detail::row_of_number(dimension, i));
  return numbers;
}

/// The problem of a file in the form for solvers: for each contact of the file a friction contact
/// (t₁, t₂, n), in the plane (t, n), with rolling (t₁, t₂, n, m₁, m₂). W is that of the file, or Hᵀ
/// M⁻¹ H if the file has none. Equality constraints come after the contacts, each as a free row.
///
/// The symmetric part of W is used; asymmetry() returns the size of the rest.
/// DelassusProblem::check() tests whether the own block of each contact can be solved. Throws
/// BadInput if the problem has a fault, if it has no form, or if M is singular.
[[nodiscard]] DelassusProblem<double> friction_dual(const FrictionProblem& problem);

/// An answer in the terms of the file: r, u, λ, and v if the problem has a global form.
/// @param impulse  γ of friction_dual(), in its rows.
[[nodiscard]] FrictionState friction_answer(const FrictionProblem& problem,
                                            const VectorX<double>& impulse);

}  // namespace carom::files
