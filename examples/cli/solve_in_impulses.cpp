// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "carom/solvers/admm.hpp"
#include "carom/solvers/certificate.hpp"
#include "carom/solvers/coulomb_solver.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/projected_gradient.hpp"

#include "cli/contact_answer.hpp"
#include "io/bad_input.hpp"
#include "io/friction_dual.hpp"

namespace carom::cli {
namespace {

using examples::BadInput;

FrictionLaw law_of(const SolveOptions& options) {
  return options.law == "convex" ? FrictionLaw::convex : FrictionLaw::coulomb;
}

/// Runs a solver of a DelassusProblem from a guess; a first run grows the memory.
template <typename Solver>
void run_timed(Solver solver, const DelassusProblem<double>& dual, const VectorX<double>& guess,
               int repeat, ContactAnswer& answer) {
  const auto start = [&] { answer.impulse = guess; };
  const auto run = [&] { answer.report = solver.solve(dual, answer.impulse); };
  if (repeat > 1) {
    start();
    run();
  }
  answer.seconds = median_seconds(repeat, start, run);
}

void solve_dual(const DelassusProblem<double>& dual, const VectorX<double>& guess,
                const SolveOptions& options, ContactAnswer& answer) {
  const FrictionLaw law = law_of(options);
  const double tolerance = options.tolerance;
  const int repeat = options.repeat;
  if (options.solver == "gauss_seidel") {
    run_timed(GaussSeidel<double>({.law = law, .tolerance = tolerance}), dual, guess, repeat,
              answer);
  } else if (options.solver == "admm") {
    run_timed(Admm<double>({.law = law, .tolerance = tolerance}), dual, guess, repeat, answer);
  } else if (options.solver == "apgd") {
    run_timed(ProjectedGradient<double>({.law = law, .tolerance = tolerance}), dual, guess, repeat,
              answer);
  } else {
    run_timed(ContactNewton<double>({.law = law, .tolerance = tolerance}), dual, guess, repeat,
              answer);
  }
}

void certify_answer(const DelassusProblem<double>& dual, const SolveOptions& options,
                    ContactAnswer& answer) {
  const ContactCertificate<double> c = certify(dual, answer.impulse, law_of(options));
  answer.cone_violation = c.cone_violation;
  answer.complementarity = c.complementarity;
  answer.natural_map_error = c.natural_map_error;
  answer.absolute_error = c.absolute_error;
  answer.signorini = c.signorini;
  answer.dissipation_angle = c.dissipation_angle;
  answer.worst_contact = c.worst_contact;
}

/// The solvers that work on bodies: Newton's method with its start, or the start alone.
template <typename Solver>
void run_on_bodies(Solver solver, const examples::TextProblem& given, int repeat,
                   ContactAnswer& answer) {
  const auto start = [&] { answer.velocity = given.guess; };
  const auto run = [&] { answer.report = solver.solve(given.problem, answer.velocity); };
  if constexpr (requires { solver.prepare(given.problem); }) solver.prepare(given.problem);
  if (repeat > 1) {
    start();
    run();
  }
  answer.seconds = median_seconds(repeat, start, run);
  answer.impulse = solver.impulse();
}

}  // namespace

ContactAnswer solve_bodies(const examples::TextProblem& given, const SolveOptions& options) {
  const Compliance compliance = options.rigid ? Compliance::rigid : Compliance::given;
  const ContactProblem<double>& problem = given.problem;
  ContactAnswer answer;
  answer.law = to_string(law_of(options));
  answer.solver = options.solver.empty() ? "newton" : options.solver;
  answer.contact_count = problem.contact_count();
  DelassusForm<double> form;
  DelassusProblem<double> dual;
  form.write(problem, compliance, dual);
  if (answer.solver == "newton") {
    run_on_bodies(CoulombSolver<double>({law_of(options), compliance, options.tolerance}), given,
                  options.repeat, answer);
  } else if (answer.solver == "sap") {
    ProximalSapOptions<double> settings;
    settings.law = law_of(options);
    settings.compliance = compliance;
    settings.tolerance = options.tolerance;
    run_on_bodies(ProximalSap<double>(settings), given, options.repeat, answer);
  } else {
    solve_dual(dual, VectorX<double>::Zero(dual.row_count()), options, answer);
  }
  answer.velocity.resize(problem.velocity_count());
  write_velocity(problem, answer.impulse, answer.velocity);
  answer.contact_velocity.resize(problem.impulse_count());
  for (Index i = 0; i < problem.contact_count(); ++i) {
    answer.contact_velocity.segment<3>(3 * i) = contact_velocity(problem, i, answer.velocity);
  }
  for (Index c = 0; c < problem.constraints().count(); ++c) {
    write_constraint_rows(problem, c, constraint_velocity(problem, c, answer.velocity),
                          answer.contact_velocity);
  }
  answer.residual = certify(problem, answer.velocity, answer.impulse).residual;
  certify_answer(dual, options, answer);
  return answer;
}

ContactAnswer solve_friction(const examples::FrictionProblem& given, const SolveOptions& options) {
  if (options.solver == "sap") {
    throw BadInput(
        "--solver: expected newton, gauss_seidel, admm or apgd, got 'sap', which needs "
        "bodies");
  }
  const DelassusProblem<double> dual = examples::friction_dual(given);
  if (const Fault fault = dual.check(); !fault.empty()) throw BadInput(fault);
  ContactAnswer answer;
  answer.law = to_string(law_of(options));
  answer.solver = options.solver.empty() ? "newton" : options.solver;
  answer.contact_count = given.contact_count;
  answer.dimension = given.dimension;
  answer.normal_first = true;
  VectorX<double> guess = VectorX<double>::Zero(dual.row_count());
  if (given.guess) guess = examples::to_row_order(given.dimension, given.guess->impulse);
  solve_dual(dual, guess, options, answer);
  certify_answer(dual, options, answer);
  examples::FrictionState state = examples::friction_answer(given, answer.impulse);
  answer.velocity = std::move(state.velocity);
  answer.impulse = std::move(state.impulse);
  answer.contact_velocity = std::move(state.contact_velocity);
  return answer;
}

}  // namespace carom::cli
