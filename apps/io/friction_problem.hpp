// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "carom/core/invalid_input.hpp"

namespace carom::files {

using SparseMatrix = Eigen::SparseMatrix<double>;  ///< Stored by columns, indices of 32 bits.

/// Frictional contacts in condensed form, without bodies: u = W r + q.
struct LocalForm {
  SparseMatrix delassus;     ///< W [1/kg], m × m, both triangles.
  VectorX<double> velocity;  ///< q [m/s], m: the contact velocities without impulses.
};

/// The same before the condensation: M v = H r + f, u = Hᵀ v + b, so that W = Hᵀ M⁻¹ H, q = Hᵀ M⁻¹
/// f + b.
struct GlobalForm {
  SparseMatrix mass;         ///< M [kg, kg·m²], n × n.
  SparseMatrix directions;   ///< H [-, m], n × m.
  VectorX<double> momentum;  ///< f [N·s, N·m·s], n.
  VectorX<double> velocity;  ///< b [m/s], m: of the contacts at v = 0.
};

/// Equality constraints in addition to condensed contacts: Vᵀ r + R λ + s = 0, u = W r + V λ + q.
struct LocalEqualities {
  SparseMatrix coupling;     ///< V [1/kg], m × p.
  SparseMatrix delassus;     ///< R [1/kg], p × p, both triangles.
  VectorX<double> velocity;  ///< s [m/s], p: of the constraints without impulses.
};

/// The same before the condensation: M v = H r + G λ + f, Gᵀ v + b = 0.
struct GlobalEqualities {
  SparseMatrix directions;   ///< G [-, m], n × p.
  VectorX<double> velocity;  ///< FCLIB's b [m/s], p: of the constraints at v = 0.
};

/// The start or the result of a solver.
struct FrictionState {
  VectorX<double> impulse;           ///< r [N·s], m.
  VectorX<double> contact_velocity;  ///< u [m/s], m, or empty if it is not known.
  VectorX<double> velocity;          ///< v [m/s, rad/s], n, or empty if it is not known.
  VectorX<double> multiplier{};      ///< λ [N·s], p, or empty if it is not known.
};

/// One time step of contact with Coulomb's friction in the form of FCLIB's files: find r with u = W
/// r + q, ũ = u + μ ‖u_t‖ e_n, K*_μ ∋ ũ ⊥ r ∈ K_μ. The components of a contact are in the order of
/// these files, the NORMAL FIRST: (n, t₁, t₂) or (n, t); m = dimension × contact_count.
///
/// Contacts with rolling resistance have five components, (n, t₁, t₂, m₁, m₂). The last two are
/// moments about t₁ and t₂ and angular velocities: K = { rₙ ≥ 0, ‖r_t‖ ≤ μ rₙ, ‖r_m‖ ≤ μᵣ rₙ },
/// ũ = u + (μ ‖u_t‖ + μᵣ ‖u_m‖) e_n.
struct FrictionProblem {
  Index dimension = 3;  ///< Components per contact: 2, 3 or 5.
  Index contact_count = 0;
  VectorX<double> friction;  ///< μ [-], ≥ 0, per contact; empty if there is only a solution.
  /// μᵣ [m], ≥ 0, per contact with five components; otherwise empty.
  VectorX<double> rolling_friction;
  std::optional<LocalForm> local;
  std::optional<GlobalForm> global;
  /// Of the local form and of the global form. If both forms exist, both or none.
  std::optional<LocalEqualities> local_equalities;
  std::optional<GlobalEqualities> global_equalities;
  std::optional<FrictionState> guess;     ///< A start, not a solution.
  std::optional<FrictionState> solution;  ///< A reference solution.
  /// Additional information about the problem, as (key, value) in the order of the file.
  std::vector<std::pair<std::string, std::string>> metadata;

  /// m, the length of r, u and q.
  [[nodiscard]] Index row_count() const noexcept { return dimension * contact_count; }
  /// n, the length of v, if it is known.
  [[nodiscard]] std::optional<Index> velocity_count() const noexcept {
    return global ? std::optional<Index>(global->mass.rows()) : std::nullopt;
  }
  /// p, the length of λ.
  [[nodiscard]] Index equality_count() const noexcept {
    if (local_equalities) return local_equalities->velocity.size();
    return global_equalities ? global_equalities->velocity.size() : 0;
  }
  /// The metadata with this key; empty if there is none.
  [[nodiscard]] std::string_view find(std::string_view key) const noexcept {
    for (const auto& [name, value] : metadata) {
      if (name == key) return value;
    }
    return {};
  }
};

namespace detail {

[[nodiscard]] inline Fault size_fault(const std::string& name, Index expected, Index got) {
  if (expected == got) return {};
  return carom::detail::fault(name, (std::to_string(expected) + " entries").c_str(), got);
}

/// The fault of numbers with an expected count; empty if there is none.
[[nodiscard]] inline Fault numbers_fault(const std::string& name, const VectorX<double>& numbers,
                                         Index count) {
  if (Fault size = size_fault(name, count, numbers.size()); !size.empty()) return size;
  return carom::detail::finite_fault(name, numbers);
}

/// The fault of a sparse matrix with an expected size; empty if there is none.
[[nodiscard]] inline Fault matrix_fault(const std::string& name, const SparseMatrix& matrix,
                                        Index rows, Index columns) {
  using carom::detail::fault;
  if (matrix.rows() != rows) {
    return fault(name + ".rows", std::to_string(rows).c_str(), matrix.rows());
  }
  if (matrix.cols() != columns) {
    return fault(name + ".cols", std::to_string(columns).c_str(), matrix.cols());
  }
  for (Index column = 0; column < columns; ++column) {
    const std::string place = " in column " + std::to_string(column);
    Index least = 0;
    for (SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry) {
      if (entry.row() < least || entry.row() >= rows) {
        const std::string range =
            "ascending row indices in [0, " + std::to_string(rows) + ")" + place;
        return fault(name + ".idx", range.c_str(), entry.row());
      }
      least = entry.row() + 1;
      if (!std::isfinite(entry.value())) {
        return fault(carom::detail::entry(name, entry.row(), column), "a finite number",
                     entry.value());
      }
    }
  }
  return {};
}

/// The fault of r, u and v; empty if there is none. u and v may be missing.
[[nodiscard]] inline Fault state_fault(const std::string& name, const FrictionState& state,
                                       const FrictionProblem& problem) {
  const Index rows = problem.row_count();
  if (Fault f = numbers_fault(name + " r", state.impulse, rows); !f.empty()) return f;
  if (state.contact_velocity.size() > 0) {
    if (Fault f = numbers_fault(name + " u", state.contact_velocity, rows); !f.empty()) return f;
  }
  if (state.velocity.size() > 0) {
    const Index size = problem.velocity_count().value_or(0);
    if (Fault f = numbers_fault(name + " v", state.velocity, size); !f.empty()) return f;
  }
  if (state.multiplier.size() == 0) return {};
  return numbers_fault(name + " l", state.multiplier, problem.equality_count());
}

/// The fault of friction coefficients; empty if there is none.
[[nodiscard]] inline Fault coefficients_fault(const std::string& name,
                                              const VectorX<double>& numbers, Index count) {
  if (Fault f = numbers_fault(name, numbers, count); !f.empty()) return f;
  for (Index i = 0; i < count; ++i) {
    if (numbers(i) < 0) {
      return carom::detail::fault(carom::detail::entry(name, i), "a finite number >= 0",
                                  numbers(i));
    }
  }
  return {};
}

[[nodiscard]] inline Fault friction_fault(const FrictionProblem& problem) {
  const bool solution_only = !problem.local && !problem.global;
  if (solution_only && problem.friction.size() == 0) return {};
  const Index rolling = problem.dimension == 5 ? problem.contact_count : 0;
  if (Fault f = coefficients_fault("mu", problem.friction, problem.contact_count); !f.empty()) {
    return f;
  }
  return coefficients_fault("mu_r", problem.rolling_friction, rolling);
}

/// The fault of the equality constraints of either form; empty if there is none.
[[nodiscard]] inline Fault equality_fault(const FrictionProblem& problem) {
  const Index rows = problem.row_count(), count = problem.equality_count();
  if (problem.local_equalities) {
    const LocalEqualities& local = *problem.local_equalities;
    if (!problem.local) return "V: expected W beside it, got none";
    if (Fault f = numbers_fault("s", local.velocity, count); !f.empty()) return f;
    if (Fault f = matrix_fault("V", local.coupling, rows, count); !f.empty()) return f;
    if (Fault f = matrix_fault("R", local.delassus, count, count); !f.empty()) return f;
  }
  if (problem.global_equalities) {
    const GlobalEqualities& global = *problem.global_equalities;
    if (!problem.global) return "G: expected M beside it, got none";
    const Index size = problem.global->momentum.size();
    if (Fault f = numbers_fault("b of G", global.velocity, count); !f.empty()) return f;
    if (Fault f = matrix_fault("G", global.directions, size, count); !f.empty()) return f;
  }
  const bool two_forms = problem.local && problem.global;
  if (two_forms && problem.local_equalities.has_value() != problem.global_equalities.has_value()) {
    return "problem: expected equality constraints in both forms or in none, got them in one";
  }
  return {};
}

[[nodiscard]] inline Fault form_fault(const FrictionProblem& problem) {
  const Index rows = problem.row_count();
  if (problem.local) {
    if (Fault f = numbers_fault("q", problem.local->velocity, rows); !f.empty()) return f;
    if (Fault f = matrix_fault("W", problem.local->delassus, rows, rows); !f.empty()) return f;
  }
  if (problem.global) {
    const GlobalForm& global = *problem.global;
    const Index size = global.momentum.size();
    if (Fault f = numbers_fault("f", global.momentum, size); !f.empty()) return f;
    if (Fault f = numbers_fault("b", global.velocity, rows); !f.empty()) return f;
    if (Fault f = matrix_fault("M", global.mass, size, size); !f.empty()) return f;
    if (Fault f = matrix_fault("H", global.directions, size, rows); !f.empty()) return f;
  }
  return {};
}

}  // namespace detail

/// The fault of a problem, naming field and index: sizes that do not fit, numbers that are not
/// finite, μ < 0 or μᵣ < 0, row indices out of range or order. Empty if there is none.
[[nodiscard]] inline Fault friction_problem_fault(const FrictionProblem& problem) {
  using carom::detail::fault;
  constexpr Index most = std::numeric_limits<int>::max();
  if (problem.dimension != 2 && problem.dimension != 3 && problem.dimension != 5) {
    return fault("dim", "2, 3 or 5", problem.dimension);
  }
  if (problem.contact_count < 0 || problem.contact_count > most / problem.dimension) {
    const std::string range = "a number in [0, " + std::to_string(most / problem.dimension) + "]";
    return fault("nc", range.c_str(), problem.contact_count);
  }
  if (!problem.local && !problem.global && !problem.solution) {
    return "problem: expected W and q, or M, H, f and b, or a solution, got none of them";
  }
  if (Fault f = detail::friction_fault(problem); !f.empty()) return f;
  if (Fault f = detail::form_fault(problem); !f.empty()) return f;
  if (Fault f = detail::equality_fault(problem); !f.empty()) return f;
  if (problem.guess) {
    if (Fault f = detail::state_fault("guess", *problem.guess, problem); !f.empty()) return f;
  }
  return problem.solution ? detail::state_fault("solution", *problem.solution, problem) : Fault{};
}

}  // namespace carom::files
