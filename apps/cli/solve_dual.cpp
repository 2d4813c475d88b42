// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>
#include <utility>

#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/solvers/projected_gradient.hpp"
#include "carom/solvers/solver_on_bodies.hpp"

#include "cli/contact_answer.hpp"
#include "io/bad_input.hpp"
#include "io/friction_dual.hpp"
#include "peers/admm.hpp"

namespace carom::cli {
namespace {

using files::BadInput;

/// Calls visit(type) with the type of the method in impulses that the options name.
/// @return  whether they name such a method.
template <typename Visit>
bool visit_method(const SolveOptions& options, const Visit& visit) {
  if (options.solver == "gauss_seidel") {
    visit(std::type_identity<GaussSeidel<double>>());
  } else if (options.solver == "admm") {
    visit(std::type_identity<Admm<double>>());
  } else if (options.solver == "apgd") {
    visit(std::type_identity<ProjectedGradient<double>>());
  } else {
    return false;
  }
  return true;
}

}  // namespace

void solve_dual(const DelassusProblem<double>& dual, const VectorX<double>& guess,
                const SolveOptions& options, ContactAnswer& answer) {
  const auto solve = [&](auto type) {
    typename decltype(type)::type solver(
        {.law = friction_law(options), .tolerance = options.tolerance});
    const auto start = [&] {
      answer.impulse = guess;
      solver.set_limits(limits_from_now(options));
    };
    run_timed(start, options, answer, [&] { answer.report = solver.solve(dual, answer.impulse); });
  };
  if (!visit_method(options, solve)) solve(std::type_identity<InteriorPointSolver<double>>());
}

bool solve_bodies_in_impulses(const files::TextProblem& given, const SolveOptions& options,
                              ContactAnswer& answer) {
  return visit_method(options, [&](auto type) {
    SolverOnBodies<typename decltype(type)::type> solver(
        {.law = friction_law(options), .tolerance = options.tolerance});
    const auto start = [&] { solver.set_limits(limits_from_now(options)); };
    run_timed(start, options, answer,
              [&] { answer.report = solver.solve(given.problem, answer.velocity); });
    answer.impulse = solver.impulse();
  });
}

void certify_answer(const DelassusProblem<double>& dual, const SolveOptions& options,
                    ContactAnswer& answer) {
  const ImpulseCertificate<double> c = certify(dual, answer.impulse, friction_law(options));
  answer.cone_violation = c.cone_violation;
  answer.complementarity = c.complementarity;
  answer.natural_map_error = c.natural_map_error;
  answer.absolute_error = c.absolute_error;
  answer.signorini = c.signorini;
  answer.dissipation_angle = c.dissipation_angle;
  answer.worst_block = c.worst_block;
}

ContactAnswer solve_friction(const files::FrictionProblem& given, const SolveOptions& options) {
  if (options.solver == "sap") {
    throw BadInput(
        "--solver: expected newton, gauss_seidel, admm or apgd, got 'sap', which needs "
        "bodies");
  }
  const DelassusProblem<double> dual = files::friction_dual(given);
  if (const Fault fault = dual.check(); !fault.empty()) throw BadInput(fault);
  ContactAnswer answer;
  answer.law = to_string(friction_law(options));
  answer.solver = options.solver.empty() ? "newton" : options.solver;
  answer.contact_count = given.contact_count;
  answer.dimension = given.dimension;
  answer.normal_first = true;
  VectorX<double> guess = VectorX<double>::Zero(dual.row_count());
  if (given.guess) {
    guess.head(given.row_count()) = files::to_row_order(given.dimension, given.guess->impulse);
    const VectorX<double>& multiplier = given.guess->multiplier;
    guess.tail(multiplier.size()) = multiplier;
  }
  solve_dual(dual, guess, options, answer);
  certify_answer(dual, options, answer);
  files::FrictionState state = files::friction_answer(given, answer.impulse);
  answer.velocity = std::move(state.velocity);
  answer.impulse = std::move(state.impulse);
  answer.multiplier = std::move(state.multiplier);
  answer.contact_velocity = std::move(state.contact_velocity);
  return answer;
}

}  // namespace carom::cli
