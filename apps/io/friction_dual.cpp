// SPDX-License-Identifier: BSD-3-Clause
#include "io/friction_dual.hpp"

#include <vector>

#include <Eigen/SparseCore>
#include <Eigen/SparseLU>

#include "io/bad_input.hpp"

namespace carom::files {
namespace {

using MassFactor = Eigen::SparseLU<SparseMatrix>;

void factorize_mass(const SparseMatrix& mass, MassFactor& factor) {
  SparseMatrix compressed = mass;
  compressed.makeCompressed();
  factor.compute(compressed);
  if (factor.info() != Eigen::Success) {
    throw BadInput("M: expected a matrix that can be inverted, got a singular one");
  }
}

/// W = Hᵀ M⁻¹ H, q = Hᵀ M⁻¹ f + b, in the order of the file.
[[nodiscard]] LocalForm condense(const GlobalForm& global) {
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

/// Two matrices, one to the right of the other.
[[nodiscard]] SparseMatrix beside(const SparseMatrix& left, const SparseMatrix& right) {
  SparseMatrix both(left.rows(), left.cols() + right.cols());
  both.leftCols(left.cols()) = left;
  both.rightCols(right.cols()) = right;
  return both;
}

/// The global form with equality constraints as additional columns of H and entries of b.
[[nodiscard]] GlobalForm whole_form(const GlobalForm& form, const GlobalEqualities& equalities) {
  VectorX<double> velocity(form.velocity.size() + equalities.velocity.size());
  velocity << form.velocity, equalities.velocity;
  return {form.mass, beside(form.directions, equalities.directions), form.momentum, velocity};
}

/// The local form with equality constraints as additional rows: W, V, Vᵀ, R as one matrix, q and s
/// as one vector.
[[nodiscard]] LocalForm whole_form(const LocalForm& form, const LocalEqualities& equalities) {
  VectorX<double> velocity(form.velocity.size() + equalities.velocity.size());
  velocity << form.velocity, equalities.velocity;
  const SparseMatrix upper = beside(form.delassus, equalities.coupling).transpose();
  const SparseMatrix lower =
      beside(equalities.coupling.transpose(), equalities.delassus).transpose();
  return {SparseMatrix(beside(upper, lower).transpose()), velocity};
}

/// The same for a problem; from its global form if it has no other.
[[nodiscard]] LocalForm whole_form(const FrictionProblem& problem) {
  if (problem.local) {
    return problem.local_equalities ? whole_form(*problem.local, *problem.local_equalities)
                                    : *problem.local;
  }
  return condense(problem.global_equalities
                      ? whole_form(*problem.global, *problem.global_equalities)
                      : *problem.global);
}

/// Throws BadInput if a problem has a fault or no form.
void require_form(const FrictionProblem& problem) {
  if (const Fault fault = friction_problem_fault(problem); !fault.empty()) throw BadInput(fault);
  if (problem.local || problem.global) return;
  throw BadInput("problem: expected W and q, or M, H, f and b, got a solution alone");
}

}  // namespace

DelassusProblem<double> friction_dual(const FrictionProblem& problem) {
  require_form(problem);
  const LocalForm local = whole_form(problem);
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

FrictionState friction_answer(const FrictionProblem& problem, const VectorX<double>& impulse) {
  require_form(problem);
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
      MassFactor factor;
      factorize_mass(global.mass, factor);
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
