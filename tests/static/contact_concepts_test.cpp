// SPDX-License-Identifier: BSD-3-Clause
// Compile-time tests: nothing runs. The least a user's contact problem or solver must offer, what
// falls short, and which calls promise not to throw.
#include <utility>

#include "carom/contact/concepts.hpp"
#include "carom/contact/dual.hpp"
#include "carom/contact/primal.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/increasing_root.hpp"
#include "carom/solvers/sap.hpp"

// A named namespace: much of this is only ever declared.
namespace contact_concepts {

using carom::ContactProblem, carom::ContactProblemLike, carom::ContactSolverFor, carom::Index;
using carom::SapSolver, carom::SolveReport;
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

struct LeastSolver {
  void prepare(const LeastProblem&) {}
  SolveReport<double> solve(const LeastProblem&, Velocity&) noexcept { return {}; }
};
struct SolverThatThrows {
  void prepare(const LeastProblem&) {}
  SolveReport<double> solve(const LeastProblem&, Velocity&) { return {}; }
};
struct SolverUnprepared {
  SolveReport<double> solve(const LeastProblem&, Velocity&) noexcept { return {}; }
};
struct SolverOfFewWords {
  void prepare(const LeastProblem&) {}
  bool solve(const LeastProblem&, Velocity&) noexcept { return true; }
};
struct SolverOfFloats {
  void prepare(const LeastProblem&) {}
  SolveReport<float> solve(const LeastProblem&, Velocity&) noexcept { return {}; }
};
static_assert(ContactSolverFor<LeastSolver, LeastProblem>);
static_assert(!ContactSolverFor<SolverThatThrows, LeastProblem>);
static_assert(!ContactSolverFor<SolverUnprepared, LeastProblem>);
static_assert(!ContactSolverFor<SolverOfFewWords, LeastProblem>);
static_assert(!ContactSolverFor<SolverOfFloats, LeastProblem>);
static_assert(!ContactSolverFor<LeastSolver, Problem<Flaw::cost_throws>>);
static_assert(!ContactSolverFor<LeastSolver, ContactProblem<double>>);

// The library's own types play their parts.
static_assert(ContactProblemLike<ContactProblem<float>>);
static_assert(ContactProblemLike<ContactProblem<double>>);
static_assert(ContactSolverFor<SapSolver<float>, ContactProblem<float>>);
static_assert(ContactSolverFor<SapSolver<double>, ContactProblem<double>>);
static_assert(!ContactSolverFor<SapSolver<double>, ContactProblem<float>>);

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
  requires noexcept(problem.whiten(numbers));
  requires noexcept(problem.unwhiten(numbers));
  requires noexcept(problem.whiten_momentum(numbers));
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
