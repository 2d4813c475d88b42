// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/refine_impulses.hpp"
#include "carom/solvers/solve_or_prove.hpp"

#include "cli/contact_answer.hpp"
#include "cli/thread_pool.hpp"

namespace carom::cli {
namespace {

/// The options of ContactSolver for --solver. Its name for the interior point is `newton`;
/// ContactSolver itself chooses the start on bodies.
ContactSolverOptions<double> settings_of(const SolveOptions& options, bool rigid) {
  ContactSolverOptions<double> settings;
  settings.law = friction_law(options);
  settings.tolerance = options.tolerance;
  // Under the convex law only SapSolver proves a bound. For all other laws the method is automatic.
  const bool proven = settings.law == FrictionLaw::convex && !rigid;
  if (options.solver == "sap" && proven) {
    settings.method = ContactMethod::sap;
    settings.iteration_limit = SapOptions<double>().iteration_limit;
  }
  return settings;
}

/// Solves by a method on bodies. @return whether the method has a proven bound.
bool solve_on_bodies(const files::TextProblem& given, const SolveOptions& options, ThreadPool& pool,
                     ContactAnswer& answer) {
  ContactSolver<double> solver(settings_of(options, given.problem.rigid_count() > 0));
  ContactSolver<double> refiner({.law = friction_law(options), .tolerance = options.tolerance});
  const bool prove = answer.solver == "newton";
  const bool proven = solver.options().method == ContactMethod::sap;
  const auto start = [&] {
    answer.velocity = given.guess;
    solver.set_limits(limits_from_now(options));
    refiner.set_limits(solver.limits());
  };
  solver.prepare(given.problem);
  run_timed(start, options, answer, [&] {
    answer.report = prove ? solve_or_prove(solver, given.problem, answer.velocity, answer.ray, pool)
                          : solver.solve(given.problem, answer.velocity, pool);
    answer.impulse = solver.impulse();
    if (proven && answer.report.status == SolveStatus::no_progress) {
      answer.report = refine_impulses(refiner, given.problem, answer.velocity, answer.impulse,
                                      answer.report, pool);
    }
  });
  return proven;
}

}  // namespace

ContactAnswer solve_bodies(const files::TextProblem& given, const SolveOptions& options) {
  const ContactProblem<double>& problem = given.problem;
  ContactAnswer answer;
  answer.law = to_string(friction_law(options));
  answer.solver = options.solver;
  answer.contact_count = problem.block_count();
  ThreadPool pool(options.threads);
  const bool proven = !solve_bodies_in_impulses(given, options, answer) &&
                      solve_on_bodies(given, options, pool, answer);
  answer.contact_velocity.resize(problem.impulse_count());
  problem.for_each_block([&](const auto& block) {
    answer.blocks.push_back({block.set().shape, block.first_row(), int(block.rows())});
    block.write(block.velocity(answer.velocity), answer.contact_velocity);
  });
  const ContactCertificate<double> c = certify(problem, answer.velocity, answer.impulse, pool);
  answer.residual = c.residual;
  if (proven) {
    answer.duality_gap = c.duality_gap;
    answer.velocity_error_bound = c.velocity_error_bound;
    answer.cone_violation = c.cone_violation;
    answer.complementarity = c.complementarity;
    answer.natural_map_error = c.natural_map_error;
    answer.worst_block = c.worst_block;
    return answer;
  }
  DelassusForm<double> form;
  DelassusProblem<double> dual;
  form.write(problem, dual);
  certify_answer(dual, options, answer);
  answer.residual =
      judge_answer(problem, friction_law(options), answer.velocity, answer.impulse).residual;
  return answer;
}

}  // namespace carom::cli
