// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/contact/coulomb_law.hpp"
#include "carom/core/detail/byte_writer.hpp"
#include "carom/core/solve_limits.hpp"
#include "carom/solvers/contact_solver_options.hpp"

namespace carom {
inline namespace CAROM_ABI {

template <RealScalar Scalar>
class ContactSolver;
template <RealScalar Scalar>
class SapSolver;
template <RealScalar Scalar>
class InteriorPointSolver;
template <RealScalar Scalar>
class ProximalSolver;
template <RealScalar Scalar>
class GaussSeidel;
template <RealScalar Scalar>
class ProjectedGradient;
template <typename Solver>
class SolverOnBodies;

namespace detail {

/// The solvers that a recording can name. The values are those of the file.
enum class RecordedSolverKind : std::uint32_t {
  other = 0,  ///< A solver that does not belong to carom.
  contact = 1,
  sap = 2,
  interior_point = 3,
  proximal = 4,
  gauss_seidel = 5,        ///< on bodies
  projected_gradient = 6,  ///< on bodies
  chained = 7,             ///< The solvers that the Python package calls one after the other.
};

/// The kind of a solver. One that has solvers of its own states it as `recorded_kind`.
template <typename Solver>
constexpr RecordedSolverKind kind_of(const Solver& /*solver*/) noexcept {
  if constexpr (requires { Solver::recorded_kind; }) return Solver::recorded_kind;
  return RecordedSolverKind::other;
}
template <RealScalar Scalar>
constexpr RecordedSolverKind kind_of(const ContactSolver<Scalar>& /*solver*/) noexcept {
  return RecordedSolverKind::contact;
}
template <RealScalar Scalar>
constexpr RecordedSolverKind kind_of(const SapSolver<Scalar>& /*solver*/) noexcept {
  return RecordedSolverKind::sap;
}
template <RealScalar Scalar>
constexpr RecordedSolverKind kind_of(const InteriorPointSolver<Scalar>& /*solver*/) noexcept {
  return RecordedSolverKind::interior_point;
}
template <RealScalar Scalar>
constexpr RecordedSolverKind kind_of(const ProximalSolver<Scalar>& /*solver*/) noexcept {
  return RecordedSolverKind::proximal;
}
template <RealScalar Scalar>
constexpr RecordedSolverKind kind_of(
    const SolverOnBodies<GaussSeidel<Scalar>>& /*solver*/) noexcept {
  return RecordedSolverKind::gauss_seidel;
}
template <RealScalar Scalar>
constexpr RecordedSolverKind kind_of(
    const SolverOnBodies<ProjectedGradient<Scalar>>& /*solver*/) noexcept {
  return RecordedSolverKind::projected_gradient;
}

/// A solver with all that determines the bits of its answer, except what it learned from earlier
/// solves. Options that it does not have keep the values below.
struct RecordedSolver {
  RecordedSolverKind kind = RecordedSolverKind::other;
  FrictionLaw law = FrictionLaw::coulomb;
  ContactMethod method = ContactMethod::automatic;
  std::uint32_t order = 0;  ///< VisitOrder
  int iteration_limit = 0;  ///< of the options
  int solve_limit = SolveLimits().iteration_limit;
  int least_sweeps = SolveLimits().least_sweeps;
  bool has_deadline = false;
  int sweeps = 0, visits_to_sleep = 0;
  int small_contact_limit = 0;
  double tolerance = 0, line_search_tolerance = 0, factor_work_limit = 0, relaxation = 0;

  static constexpr std::size_t byte_count = 80;

  bool operator==(const RecordedSolver&) const noexcept = default;

  void write(ByteWriter& out) const noexcept {
    out.put(std::uint32_t(kind));
    out.put(std::uint32_t(law));
    out.put(std::uint32_t(method));
    out.put(order);
    for (const int number : {iteration_limit, solve_limit, least_sweeps, int(has_deadline), sweeps,
                             visits_to_sleep, small_contact_limit, 0}) {
      out.put(std::int32_t(number));
    }
    for (const double number : {tolerance, line_search_tolerance, factor_work_limit, relaxation}) {
      out.put(number);
    }
  }
};

/// Reads the options of a solver that has them.
template <typename Options>
void read_options(const Options& options, RecordedSolver& solver) noexcept {
  if constexpr (requires { options.law; }) solver.law = options.law;
  if constexpr (requires { options.method; }) solver.method = options.method;
  if constexpr (requires { options.order; }) solver.order = std::uint32_t(options.order);
  if constexpr (requires { options.iteration_limit; }) {
    solver.iteration_limit = options.iteration_limit;
  }
  if constexpr (requires { options.sweeps; }) solver.sweeps = options.sweeps;
  if constexpr (requires { options.visits_to_sleep; }) {
    solver.visits_to_sleep = options.visits_to_sleep;
  }
  if constexpr (requires { options.small_contact_limit; }) {
    solver.small_contact_limit = options.small_contact_limit;
  }
  if constexpr (requires { options.tolerance; }) solver.tolerance = double(options.tolerance);
  if constexpr (requires { options.line_search_tolerance; }) {
    solver.line_search_tolerance = double(options.line_search_tolerance);
  }
  if constexpr (requires { options.factor_work_limit; }) {
    solver.factor_work_limit = double(options.factor_work_limit);
  }
  if constexpr (requires { options.relaxation; }) solver.relaxation = double(options.relaxation);
}

/// A solver as it is recorded.
template <typename Solver>
[[nodiscard]] RecordedSolver recorded_solver(const Solver& solver) noexcept {
  RecordedSolver result;
  result.kind = kind_of(solver);
  if (result.kind == RecordedSolverKind::other) return result;
  if constexpr (requires { solver.options(); }) read_options(solver.options(), result);
  if constexpr (requires { solver.limits(); }) {
    const SolveLimits& limits = solver.limits();
    result.solve_limit = limits.iteration_limit;
    result.least_sweeps = limits.least_sweeps;
    result.has_deadline = limits.has_deadline();
  }
  return result;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
