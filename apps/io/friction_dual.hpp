// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>

#include "carom/contact/delassus_problem.hpp"

#include "io/bad_input.hpp"
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

namespace detail {

using MassFactor = Eigen::SparseLU<SparseMatrix>;

inline void factorize_mass(const SparseMatrix& mass, MassFactor& factor) {
  SparseMatrix compressed = mass;
  compressed.makeCompressed();
  factor.compute(compressed);
  if (factor.info() != Eigen::Success) {
    throw BadInput("M: expected a matrix that can be inverted, got a singular one");
  }
}

/// W = Hᵀ M⁻¹ H, q = Hᵀ M⁻¹ f + b, in the order of the file.
[[nodiscard]] inline LocalForm condense(const GlobalForm& global) {
  MassFactor factor;
  if (global.mass.rows() > 0) factorize_mass(global.mass, factor);
  const auto solve = [&](const VectorX<double>& right) -> VectorX<double> {
    if (right.size() == 0) return right;
    return factor.solve(right);
  };
  const Index rows = global.directions.cols();
  std::vector<Eigen::Triplet<double>> entries;
  for (Index column = 0; column < rows; ++column) {
    const VectorX<double> moved = solve(VectorX<double>(global.directions.col(column)));
    const VectorX<double> seen = global.directions.transpose() * moved;
    for (Index row = 0; row < rows; ++row) {
      if (seen(row) != 0) entries.emplace_back(int(row), int(column), seen(row));
    }
  }
  LocalForm local{SparseMatrix(rows, rows),
                  global.directions.transpose() * solve(global.momentum) + global.velocity};
  local.delassus.setFromTriplets(entries.begin(), entries.end());
  return local;
}

/// Two matrices side by side.
[[nodiscard]] inline SparseMatrix beside(const SparseMatrix& left, const SparseMatrix& right) {
  SparseMatrix both(left.rows(), left.cols() + right.cols());
  both.leftCols(left.cols()) = left;
  both.rightCols(right.cols()) = right;
  return both;
}

/// The global form with equality constraints as further columns of H and entries of b.
[[nodiscard]] inline GlobalForm whole_form(const GlobalForm& form,
                                           const GlobalEqualities& equalities) {
  VectorX<double> velocity(form.velocity.size() + equalities.velocity.size());
  velocity << form.velocity, equalities.velocity;
  return {form.mass, beside(form.directions, equalities.directions), form.momentum, velocity};
}

/// The local form with equality constraints as further rows: W, V, Vᵀ, R as one matrix, q and s as
/// one vector.
[[nodiscard]] inline LocalForm whole_form(const LocalForm& form,
                                          const LocalEqualities& equalities) {
  VectorX<double> velocity(form.velocity.size() + equalities.velocity.size());
  velocity << form.velocity, equalities.velocity;
  const SparseMatrix upper = beside(form.delassus, equalities.coupling).transpose();
  const SparseMatrix lower =
      beside(equalities.coupling.transpose(), equalities.delassus).transpose();
  return {SparseMatrix(beside(upper, lower).transpose()), velocity};
}

/// The same of a problem; from its global form where that is the only one.
[[nodiscard]] inline LocalForm whole_form(const FrictionProblem& problem) {
  if (problem.local) {
    return problem.local_equalities ? whole_form(*problem.local, *problem.local_equalities)
                                    : *problem.local;
  }
  return condense(problem.global_equalities
                      ? whole_form(*problem.global, *problem.global_equalities)
                      : *problem.global);
}

/// Throws BadInput where a problem has something wrong or no form.
inline void require_form(const FrictionProblem& problem) {
  if (const Fault fault = friction_problem_fault(problem); !fault.empty()) throw BadInput(fault);
  if (problem.local || problem.global) return;
  throw BadInput("problem: expected W and q, or M, H, f and b, got a solution alone");
}

}  // namespace detail

/// The problem of a file in the form that solvers take: a friction contact (t₁, t₂, n), in the
/// plane (t, n), with rolling (t₁, t₂, n, m₁, m₂), per contact of the file; W as it is stored, or
/// Hᵀ M⁻¹ H where it is not. Equality constraints follow, a free row each.
///
/// W's symmetric part is taken: asymmetry() says how much is left. Whether every contact's own
/// block can be solved is for DelassusProblem::check() to say. Throws BadInput if something is
/// wrong with the problem, if it has no form, or if M is singular.
[[nodiscard]] inline DelassusProblem<double> friction_dual(const FrictionProblem& problem) {
  detail::require_form(problem);
  const LocalForm local = detail::whole_form(problem);
  const Index dimension = problem.dimension, rows = problem.row_count();
  const bool rolling = dimension == 5;
  const ImpulseShape shape = rolling          ? ImpulseShape::spinless_rolling
                             : dimension == 3 ? ImpulseShape::friction
                                              : ImpulseShape::planar;
  const VectorX<double> load = to_row_order(dimension, local.velocity.head(rows));
  DelassusProblem<double> dual;
  for (Index i = 0; i < problem.contact_count; ++i) {
    const double roll = rolling ? problem.rolling_friction(i) : 0;
    dual.add_contact(cone_impulses<double>(shape, {problem.friction(i), roll, 0}),
                     load.segment(i * dimension, dimension));
  }
  for (Index k = rows; k < local.velocity.size(); ++k) {
    dual.add_contact(free_impulses<double>(1), local.velocity.segment<1>(k));
  }
  const auto row_of = [&](Index number) {
    return int(number < rows ? detail::row_of_number(dimension, number) : number);
  };
  std::vector<Eigen::Triplet<double>> entries;
  for (Index column = 0; column < local.delassus.cols(); ++column) {
    for (SparseMatrix::InnerIterator entry(local.delassus, column); entry; ++entry) {
      entries.emplace_back(row_of(entry.row()), row_of(column), entry.value());
    }
  }
  SparseMatrix delassus(local.delassus.rows(), local.delassus.cols());
  delassus.setFromTriplets(entries.begin(), entries.end());
  dual.add_matrix(delassus);
  return dual;
}

/// An answer in the file's own terms: r, u, λ, and v where the problem has a global form.
/// @param impulse  γ of friction_dual(), in its rows.
[[nodiscard]] inline FrictionState friction_answer(const FrictionProblem& problem,
                                                   const VectorX<double>& impulse) {
  detail::require_form(problem);
  const Index rows = problem.row_count(), count = problem.equality_count();
  CAROM_EXPECTS(impulse.size() == rows + count);
  FrictionState state{
      to_file_order(problem.dimension, impulse.head(rows)), {}, {}, impulse.tail(count)};
  if (problem.global) {
    const GlobalForm& global = *problem.global;
    state.velocity = global.directions * state.impulse + global.momentum;
    if (problem.global_equalities) {
      state.velocity += problem.global_equalities->directions * state.multiplier;
    }
    if (state.velocity.size() > 0) {
      detail::MassFactor factor;
      detail::factorize_mass(global.mass, factor);
      state.velocity = VectorX<double>(factor.solve(state.velocity));
    }
    state.contact_velocity = global.directions.transpose() * state.velocity + global.velocity;
  }
  if (problem.local) {
    state.contact_velocity = problem.local->delassus * state.impulse + problem.local->velocity;
    if (problem.local_equalities) {
      state.contact_velocity += problem.local_equalities->coupling * state.multiplier;
    }
  }
  return state;
}

}  // namespace carom::files
