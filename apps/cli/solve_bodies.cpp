// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/contact_solver.hpp"

#include "cli/contact_answer.hpp"

namespace carom::cli {
namespace {

/// The solvers that work on bodies: Newton's method with its start, or the start alone.
template <typename Solver>
void run_on_bodies(Solver solver, const examples::TextProblem& given, const SolveOptions& options,
                   ContactAnswer& answer) {
  const auto start = [&] {
    answer.velocity = given.guess;
    solver.set_limits(limits_from_now(options));
  };
  const auto run = [&] { answer.report = solver.solve(given.problem, answer.velocity); };
  if constexpr (requires { solver.prepare(given.problem); }) solver.prepare(given.problem);
  if (options.repeat > 1) {
    start();
    run();
  }
  answer.seconds = median_seconds(options.repeat, start, run);
  answer.impulse = solver.impulse();
  if constexpr (requires { solver.ray(); }) answer.ray = solver.ray();
}

}  // namespace

ContactAnswer solve_bodies(const examples::TextProblem& given, const SolveOptions& options) {
  const ContactProblem<double>& problem = given.problem;
  ContactAnswer answer;
  answer.law = to_string(friction_law(options));
  answer.solver = options.solver.empty() ? "newton" : options.solver;
  answer.contact_count = problem.block_count();
  DelassusForm<double> form;
  DelassusProblem<double> dual;
  form.write(problem, dual);
  if (answer.solver == "newton") {
    ContactSolverOptions<double> settings;
    settings.law = friction_law(options);
    settings.tolerance = options.tolerance;
    settings.prove_infeasible = true;
    run_on_bodies(ContactSolver<double>(settings), given, options, answer);
  } else if (answer.solver == "sap") {
    ContactSolverOptions<double> settings;
    settings.law = friction_law(options);
    settings.tolerance = options.tolerance;
    run_on_bodies(ContactSolver<double>(settings), given, options, answer);
  } else {
    solve_dual(dual, VectorX<double>::Zero(dual.row_count()), options, answer);
  }
  answer.velocity.resize(problem.velocity_count());
  write_velocity(problem, answer.impulse, answer.velocity);
  answer.contact_velocity.resize(problem.impulse_count());
  problem.for_each_block([&](const auto& block) {
    block.write(block.velocity(answer.velocity), answer.contact_velocity);
  });
  answer.residual = certify(problem, answer.velocity, answer.impulse).residual;
  certify_answer(dual, options, answer);
  return answer;
}

}  // namespace carom::cli
