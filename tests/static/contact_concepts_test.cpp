// SPDX-License-Identifier: BSD-3-Clause
// Compile-time tests: nothing runs. They show the least that a user's contact problem or
// solver must offer, what is not enough, and which calls promise not to throw.
#include <utility>

#include "carom/contact/concepts.hpp"
#include "carom/contact/dual.hpp"
#include "carom/contact/primal.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/increasing_root.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/projected_gradient.hpp"
#include "carom/solvers/solver_on_bodies.hpp"

// A named namespace: much of this is only ever declared.
namespace contact_concepts {

using carom::ContactProblem, carom::ContactProblemLike, carom::ContactSolver;
using carom::ContactSolverFor, carom::ImpulseProblemLike, carom::ImpulseSolverFor, carom::Index;
using carom::InteriorPointSolver, carom::SapSolver, carom::SolveReport;
using Velocity = carom::VectorX<double>;

enum class Flaw {
  none,
  count_throws,
  count_is_int,
  cost_missing,
  cost_throws,
  cost_is_float,
  gradient_missing,
  gradient_throws,
  gradient_returned
};

/// A problem and nothing else.
template <Flaw flaw>
struct Problem {
  using scalar_type = double;
  Problem() = delete;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  [[nodiscard]] Index velocity_count() const
      noexcept(flaw != Flaw::count_throws) requires(flaw != Flaw::count_is_int) {
    return 0;
  }
  [[nodiscard]] short velocity_count() const noexcept requires(flaw == Flaw::count_is_int) {
    return 0;
  }
};

template <Flaw flaw>
requires(flaw != Flaw::cost_missing && flaw != Flaw::cost_is_float) double primal_cost(
    const Problem<flaw>&, const Velocity&) noexcept(flaw != Flaw::cost_throws) {
  return 0;
}
float primal_cost(const Problem<Flaw::cost_is_float>&, const Velocity&) noexcept;

template <Flaw flaw>
requires(flaw != Flaw::gradient_missing && flaw != Flaw::gradient_returned) void write_gradient(
    const Problem<flaw>&, const Velocity&, Velocity&) noexcept(flaw != Flaw::gradient_throws) {}
Velocity write_gradient(const Problem<Flaw::gradient_returned>&, const Velocity&,
                        Velocity&) noexcept;

using LeastProblem = Problem<Flaw::none>;
static_assert(ContactProblemLike<LeastProblem>);
static_assert(!ContactProblemLike<Problem<Flaw::count_throws>>);
static_assert(!ContactProblemLike<Problem<Flaw::count_is_int>>);
static_assert(!ContactProblemLike<Problem<Flaw::cost_missing>>);
static_assert(!ContactProblemLike<Problem<Flaw::cost_throws>>);
static_assert(!ContactProblemLike<Problem<Flaw::cost_is_float>>);
static_assert(!ContactProblemLike<Problem<Flaw::gradient_missing>>);
static_assert(!ContactProblemLike<Problem<Flaw::gradient_throws>>);
static_assert(!ContactProblemLike<Problem<Flaw::gradient_returned>>);

struct NoScalar {
  [[nodiscard]] Index velocity_count() const noexcept { return 0; }
};
static_assert(!ContactProblemLike<NoScalar> && !ContactProblemLike<double>);

/// A solver of problems in velocities and nothing else, or one that lacks one thing.
enum class Lack {
  nothing,
  prepare,
  limits,
  limits_that_throw,
  noexcept_solve,
  report,
  report_of_its_scalar,
  impulse
};

template <Lack lack>
struct Solver {
  void prepare(const LeastProblem&) requires(lack != Lack::prepare) {}
  void set_limits(const carom::SolveLimits&) noexcept(lack != Lack::limits_that_throw) requires(
      lack != Lack::limits) {}
  SolveReport<double> solve(const LeastProblem&, Velocity&) noexcept(
      lack != Lack::noexcept_solve) requires(lack != Lack::report &&
                                             lack != Lack::report_of_its_scalar) {
    return {};
  }
  bool solve(const LeastProblem&, Velocity&) noexcept requires(lack == Lack::report) {
    return true;
  }
  SolveReport<float> solve(const LeastProblem&, Velocity&) noexcept
      requires(lack == Lack::report_of_its_scalar) {
    return {};
  }
  [[nodiscard]] Velocity impulse() const requires(lack != Lack::impulse) { return {}; }
};
using LeastSolver = Solver<Lack::nothing>;
static_assert(ContactSolverFor<LeastSolver, LeastProblem>);
static_assert(!ContactSolverFor<Solver<Lack::prepare>, LeastProblem>);
static_assert(!ContactSolverFor<Solver<Lack::limits>, LeastProblem>);
static_assert(!ContactSolverFor<Solver<Lack::limits_that_throw>, LeastProblem>);
static_assert(!ContactSolverFor<Solver<Lack::noexcept_solve>, LeastProblem>);
static_assert(!ContactSolverFor<Solver<Lack::report>, LeastProblem>);
static_assert(!ContactSolverFor<Solver<Lack::report_of_its_scalar>, LeastProblem>);
static_assert(!ContactSolverFor<Solver<Lack::impulse>, LeastProblem>);
static_assert(!ContactSolverFor<LeastSolver, Problem<Flaw::cost_throws>>);
static_assert(!ContactSolverFor<LeastSolver, ContactProblem<double>>);

// The library's own types play their parts.
static_assert(ContactProblemLike<ContactProblem<float>>);
static_assert(ContactProblemLike<ContactProblem<double>>);
static_assert(ContactSolverFor<SapSolver<float>, ContactProblem<float>>);
static_assert(ContactSolverFor<SapSolver<double>, ContactProblem<double>>);
static_assert(!ContactSolverFor<SapSolver<double>, ContactProblem<float>>);
static_assert(ContactSolverFor<InteriorPointSolver<float>, ContactProblem<float>>);
static_assert(ContactSolverFor<InteriorPointSolver<double>, ContactProblem<double>>);
static_assert(ContactSolverFor<ContactSolver<float>, ContactProblem<float>>);
static_assert(ContactSolverFor<ContactSolver<double>, ContactProblem<double>>);

/// Calls with an executor, or from a guess of the impulses, promise the same.
template <typename Solver, typename Scalar>
concept HotFromImpulses = requires(Solver& solver, const ContactProblem<Scalar>& problem,
                                   carom::VectorX<Scalar>& x) {
  requires noexcept(solver.solve_from(problem, x, x));
  requires noexcept(solver.solve_from(problem, solver.impulse(), x));
};
static_assert(HotFromImpulses<InteriorPointSolver<float>, float>);
static_assert(HotFromImpulses<ContactSolver<double>, double>);
constexpr auto in_turn = [](Index count, auto&& task) {
  for (Index i = 0; i < count; ++i) task(i);
};
template <typename Solver, typename Scalar>
concept HotWithExecutor = requires(Solver& solver, const ContactProblem<Scalar>& problem,
                                   carom::VectorX<Scalar>& x) {
  requires noexcept(solver.solve(problem, x, in_turn));
};
static_assert(HotWithExecutor<SapSolver<double>, double>);
static_assert(HotWithExecutor<InteriorPointSolver<double>, double>);

// Problems in impulses.

/// A problem in impulses and nothing else.
struct LeastImpulses {
  using scalar_type = double;
  [[nodiscard]] Index count() const noexcept { return 0; }
  [[nodiscard]] Index row_count() const noexcept { return 0; }
  [[nodiscard]] const carom::ImpulseSet<double>& set(Index) const noexcept;
  [[nodiscard]] Index first_row(Index) const noexcept { return 0; }
};
/// One that may throw when it is asked for its size.
struct ImpulsesThatThrow : LeastImpulses {
  [[nodiscard]] Index row_count() const { return 0; }
};
/// One that copies its sets.
struct ImpulsesThatCopy : LeastImpulses {
  [[nodiscard]] carom::ImpulseSet<double> set(Index) const noexcept { return {}; }
};
static_assert(ImpulseProblemLike<LeastImpulses>);
static_assert(!ImpulseProblemLike<ImpulsesThatThrow> && !ImpulseProblemLike<ImpulsesThatCopy>);
static_assert(!ImpulseProblemLike<LeastProblem> && !ContactProblemLike<LeastImpulses>);
static_assert(ImpulseProblemLike<carom::DelassusProblem<float>>);
static_assert(ImpulseProblemLike<carom::DelassusProblem<double>>);

template <Lack lack>
struct SolverInImpulses {
  void prepare(const LeastImpulses&) requires(lack != Lack::prepare) {}
  void set_limits(const carom::SolveLimits&) noexcept requires(lack != Lack::limits) {}
  SolveReport<double> solve(const LeastImpulses&, Velocity&) noexcept(
      lack != Lack::noexcept_solve) requires(lack != Lack::report) {
    return {};
  }
  bool solve(const LeastImpulses&, Velocity&) noexcept requires(lack == Lack::report) {
    return true;
  }
};
static_assert(ImpulseSolverFor<SolverInImpulses<Lack::nothing>, LeastImpulses>);
static_assert(!ImpulseSolverFor<SolverInImpulses<Lack::prepare>, LeastImpulses>);
static_assert(!ImpulseSolverFor<SolverInImpulses<Lack::limits>, LeastImpulses>);
static_assert(!ImpulseSolverFor<SolverInImpulses<Lack::noexcept_solve>, LeastImpulses>);
static_assert(!ImpulseSolverFor<SolverInImpulses<Lack::report>, LeastImpulses>);
static_assert(!ImpulseSolverFor<SolverInImpulses<Lack::nothing>, ImpulsesThatThrow>);

template <template <typename> class Solver>
constexpr bool solves_impulses =
    ImpulseSolverFor<Solver<float>, carom::DelassusProblem<float>>&&
        ImpulseSolverFor<Solver<double>, carom::DelassusProblem<double>> &&
    !ImpulseSolverFor<Solver<double>, carom::DelassusProblem<float>>;
static_assert(solves_impulses<carom::GaussSeidel> && solves_impulses<carom::ProjectedGradient>);
static_assert(solves_impulses<InteriorPointSolver>);
static_assert(
    ContactSolverFor<carom::SolverOnBodies<carom::GaussSeidel<double>>, ContactProblem<double>>);
// A solver of problems in velocities does not solve problems in impulses.
static_assert(!ImpulseSolverFor<SapSolver<double>, carom::DelassusProblem<double>>);

/// What a step of a simulation calls must not throw.
template <typename Scalar>
concept HotCallsPromise = requires(const ContactProblem<Scalar>& problem,
                                   const carom::VectorX<Scalar>& x, carom::VectorX<Scalar>& out,
                                   const carom::Vector3<Scalar>& triple, Scalar* numbers, Index i,
                                   SapSolver<Scalar>& solver, Scalar (&increasing)(Scalar)) {
  requires noexcept(primal_cost(problem, x));
  requires noexcept(write_gradient(problem, x, out));
  requires noexcept(write_impulse(problem, x, out));
  requires noexcept(conic_cost(problem, x, x));
  requires noexcept(block_velocity(problem, i, x));
  requires noexcept(block_impulse(problem, i, x));
  requires noexcept(problem.friction_contact(i).velocity(x));
  requires noexcept(problem.friction_contact(i).impulse(x));
  requires noexcept(problem.friction_contact(i).trial(triple));
  requires noexcept(problem.friction_contact(i).slope(triple, triple));
  requires noexcept(problem.friction_contact(i).add_momentum(triple, out));
  requires noexcept(write_velocity(problem, x, out));
  requires noexcept(write_dual_gradient(problem, x, out, out));
  requires noexcept(dual_cost(problem, x, out));
  requires noexcept(problem.whiten(carom::as_span(out)));
  requires noexcept(problem.unwhiten(carom::as_span(out)));
  requires noexcept(problem.whiten_momentum(carom::as_span(out)));
  requires noexcept(solver.solve(problem, out));
  requires noexcept(carom::factor_cholesky(numbers, i, i));
  requires noexcept(carom::solve_lower(numbers, i, i, numbers));
  requires noexcept(carom::solve_lower_transposed(numbers, i, i, numbers));
  requires noexcept(carom::multiply_lower_transposed(numbers, i, i, numbers));
  requires noexcept(carom::find_increasing_root<Scalar>(
      increasing, Scalar(-1), carom::IncreasingRootOptions<Scalar>{.tolerance = 1}));
};
static_assert(HotCallsPromise<float> && HotCallsPromise<double>);

}  // namespace contact_concepts
