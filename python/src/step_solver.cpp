// SPDX-License-Identifier: BSD-3-Clause
#include "step_solver.hpp"

#include <algorithm>
#include <utility>

#include "carom/solvers/refine_impulses.hpp"
#include "carom/solvers/solve_or_prove.hpp"

namespace carom::python {
namespace {

/// Problems beyond this many rows and velocities get their memory before the solve, which has no
/// way to say that there is none. Below it memory does not run out, and the call costs more.
constexpr Index small_problem = 1000;

[[nodiscard]] bool is_large(const ContactProblem<double>& problem) noexcept {
  return problem.velocity_count() + problem.impulse_count() > small_problem;
}

/// J v of all blocks.
void write_contact_velocity(const ContactProblem<double>& problem, StepAnswer& step) {
  step.contact_velocity.resize(problem.impulse_count());
  problem.for_each_block([&](const auto& block) {
    block.write(block.velocity(step.velocity), step.contact_velocity);
  });
}

}  // namespace

const ProblemData& SolvedStep::solved() const {
  if (!rigid) return *data;
  if (!solved_) {
    auto copy = std::make_shared<ProblemData>(*data);
    copy->make_rigid();
    solved_ = std::move(copy);
  }
  return *solved_;
}

LinearizedStep& SolvedStep::linearized() const {
  if (!linearized_) linearized_ = linearize(solved().problem(), law, velocity, impulse);
  return *linearized_;
}

void StepSolver::solve(const ProblemData& data, const SolveGuess& guess, const SolveLimits& limits,
                       StepAnswer& step) {
  limits_ = limits;
  const bool stiffens = settings_.rigid && data.has_soft_contact();
  if (stiffens) {
    rigid_ = data;
    rigid_->make_rigid();
  }
  const ContactProblem<double>& problem = stiffens ? rigid_->problem() : data.problem();
  const bool compliant = settings_.law == FrictionLaw::convex && problem.rigid_count() == 0;
  if (compliant) {
    solve_compliant(problem, guess, step);
  } else {
    solve_in_general(problem, guess, step);
  }
}

void StepSolver::solve_compliant(const ContactProblem<double>& problem, const SolveGuess& guess,
                                 StepAnswer& step) {
  if (!compliant_) {
    ContactSolverOptions<double> options{
        .law = settings_.law, .method = ContactMethod::sap, .tolerance = settings_.tolerance};
    options.iteration_limit = SapOptions<double>().iteration_limit;
    if (settings_.iteration_limit >= 0) options.iteration_limit = settings_.iteration_limit;
    compliant_.emplace(options);
  }
  compliant_->set_limits(limits_);
  if (is_large(problem)) compliant_->prepare(problem);
  if (guess.impulse.size() > 0) {
    write_velocity(problem, guess.impulse, step.velocity);
  } else if (guess.velocity.size() > 0) {
    step.velocity = guess.velocity;
  } else {
    step.velocity = problem.free_velocity();
  }
  step.report = compliant_->solve(problem, step.velocity);
  step.impulse = compliant_->impulse();
  if (step.report.status == SolveStatus::no_progress) {
    ContactSolver<double>& general = general_solver();
    const int most = std::min(limits_.iteration_limit, compliant_->options().iteration_limit);
    general.set_limits(limits_.with_iterations(most - step.report.iterations));
    step.report = refine_impulses(general, problem, step.velocity, step.impulse, step.report);
  }
  write_contact_velocity(problem, step);
}

ContactSolver<double>& StepSolver::general_solver() {
  if (!general_) {
    ContactSolverOptions<double> options{.law = settings_.law, .tolerance = settings_.tolerance};
    if (settings_.iteration_limit >= 0) options.iteration_limit = settings_.iteration_limit;
    general_.emplace(options);
  }
  return *general_;
}

void StepSolver::solve_in_general(const ContactProblem<double>& problem, const SolveGuess& guess,
                                  StepAnswer& step) {
  general_solver().set_limits(limits_);
  if (is_large(problem)) general_->prepare(problem);
  int begun = 0;
  bool done = false;
  if (guess.impulse.size() > 0) {
    step.report = general_->solve_from(problem, guess.impulse, step.velocity);
    begun = step.report.iterations;
    done = step.report.converged() || step.report.status == SolveStatus::deadline;
  }
  if (!done) {
    step.velocity = guess.velocity;
    if (guess.velocity.size() == 0) step.velocity = problem.free_velocity();
    VectorX<double> ray;
    step.report = solve_or_prove(*general_, problem, step.velocity, ray);
    step.report.iterations += begun;
  }
  step.impulse = general_->impulse();
  write_contact_velocity(problem, step);
}

std::shared_ptr<SolvedStep> make_step(std::shared_ptr<const ProblemData> data,
                                      const SolveSettings& settings) {
  auto step = std::make_shared<SolvedStep>();
  step->law = settings.law;
  step->rigid = settings.rigid;
  step->data = std::move(data);
  return step;
}

}  // namespace carom::python
