// SPDX-License-Identifier: BSD-3-Clause
#include "step_solver.hpp"

#include <utility>

namespace carom::python {
namespace {

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
                       StepAnswer& step, SharedRecorder* recorder) {
  const bool stiffens = settings_.rigid && data.has_soft_contact();
  if (stiffens) {
    rigid_ = data;
    rigid_->make_rigid();
  }
  const ContactProblem<double>& problem = stiffens ? rigid_->problem() : data.problem();
  solver_.set_limits(limits);
  const auto run = [&] {
    step.report = solver_.solve(problem, guess, step.velocity, step.impulse);
  };
  if (recorder == nullptr) {
    run();
  } else {
    recorder->record(solver_, problem, guess, step.velocity, step.impulse, step.report, run);
  }
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
