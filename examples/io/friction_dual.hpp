// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>

#include "carom/contact/delassus_problem.hpp"

#include "io/bad_input.hpp"
#include "io/friction_problem.hpp"

namespace carom::examples {

/// Numbers of contacts from the order of files, (n, t₁, t₂) or (n, t), to that of a
/// DelassusProblem, (t₁, t₂, n) or (t, n).
/// @param dimension  components per contact: 2 or 3; divides the count of numbers.
[[nodiscard]] inline VectorX<double> to_row_order(Index dimension, const VectorX<double>& numbers) {
  CAROM_EXPECTS(numbers.size() % dimension == 0);
  VectorX<double> rows(numbers.size());
  for (Index i = 0; i < numbers.size(); i += dimension) {
    rows.segment(i, dimension - 1) = numbers.segment(i + 1, dimension - 1);
    rows(i + dimension - 1) = numbers(i);
  }
  return rows;
}

/// The reverse.
[[nodiscard]] inline VectorX<double> to_file_order(Index dimension, const VectorX<double>& rows) {
  CAROM_EXPECTS(rows.size() % dimension == 0);
  VectorX<double> numbers(rows.size());
  for (Index i = 0; i < rows.size(); i += dimension) {
    numbers.segment(i + 1, dimension - 1) = rows.segment(i, dimension - 1);
    numbers(i) = rows(i + dimension - 1);
  }
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

/// Throws BadInput where a problem has something wrong or no form.
inline void require_form(const FrictionProblem& problem) {
  if (const Fault fault = friction_problem_fault(problem); !fault.empty()) throw BadInput(fault);
  if (problem.local || problem.global) return;
  throw BadInput("problem: expected W and q, or M, H, f and b, got a solution alone");
}

}  // namespace detail

/// The problem of a file in the form that solvers take: a friction contact (t₁, t₂, n), in the
/// plane (t, n), per contact of the file; W as it is stored, or Hᵀ M⁻¹ H where it is not.
///
/// W's symmetric part is taken: asymmetry() says how much is left. Whether every contact's own
/// block can be solved is for DelassusProblem::check() to say. Throws BadInput if something is
/// wrong with the problem, if it has no form, or if M is singular.
[[nodiscard]] inline DelassusProblem<double> friction_dual(const FrictionProblem& problem) {
  detail::require_form(problem);
  LocalForm condensed;
  if (!problem.local) condensed = detail::condense(*problem.global);
  const LocalForm& local = problem.local ? *problem.local : condensed;
  const Index dimension = problem.dimension;
  const ImpulseShape shape = dimension == 3 ? ImpulseShape::friction : ImpulseShape::planar;
  const VectorX<double> load = to_row_order(dimension, local.velocity);
  DelassusProblem<double> dual;
  for (Index i = 0; i < problem.contact_count; ++i) {
    dual.add_contact(cone_impulses<double>(shape, {problem.friction(i), 0, 0}),
                     load.segment(i * dimension, dimension));
  }
  const auto row_of = [&](Index number) {  // the normal goes last
    const Index component = number % dimension;
    return int(component == 0 ? number + dimension - 1 : number - 1);
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

/// An answer in the file's own terms: r, u, and v where the problem has a global form.
/// @param impulse  γ of friction_dual(), in its rows.
[[nodiscard]] inline FrictionState friction_answer(const FrictionProblem& problem,
                                                   const VectorX<double>& impulse) {
  detail::require_form(problem);
  CAROM_EXPECTS(impulse.size() == problem.row_count());
  FrictionState state{to_file_order(problem.dimension, impulse), {}, {}};
  if (problem.global) {
    const GlobalForm& global = *problem.global;
    state.velocity = global.directions * state.impulse + global.momentum;
    if (state.velocity.size() > 0) {
      detail::MassFactor factor;
      detail::factorize_mass(global.mass, factor);
      state.velocity = VectorX<double>(factor.solve(state.velocity));
    }
    state.contact_velocity = global.directions.transpose() * state.velocity + global.velocity;
  }
  if (problem.local) {
    state.contact_velocity = problem.local->delassus * state.impulse + problem.local->velocity;
  }
  return state;
}

}  // namespace carom::examples
