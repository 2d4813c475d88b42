// SPDX-License-Identifier: BSD-3-Clause
#include "batch_solver.hpp"

#include <chrono>
#include <limits>

#include "thread_team.hpp"

namespace carom::python {
namespace {

[[nodiscard]] double read_clock() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The clock of a batch: when the batch is stopped it shows a time after every deadline.
struct BatchClock {
  double deadline;  ///< On the clock [s], of the batch as a whole.
  std::atomic<bool> stopped = false;

  [[nodiscard]] SolveLimits limits() noexcept {
    const auto now = [](void* context) noexcept {
      const auto* const clock = static_cast<const BatchClock*>(context);
      return clock->stopped.load(std::memory_order_relaxed)
                 ? std::numeric_limits<double>::infinity()
                 : read_clock();
    };
    return {.now = now, .context = this, .deadline = deadline};
  }
};

/// Leaves a step unsolved: at its free velocity, with no impulses.
void leave(SolvedStep& step) {
  const ContactProblem<double>& problem = step.data->problem();
  step.velocity = problem.free_velocity();
  step.impulse.setZero(problem.impulse_count());
  step.contact_velocity.resize(problem.impulse_count());
  problem.for_each_block([&](const auto& block) {
    block.write(block.velocity(step.velocity), step.contact_velocity);
  });
  step.report.status = SolveStatus::deadline;
  step.report.residual = step.report.error_bound = std::numeric_limits<double>::infinity();
}

}  // namespace

void solve_all(const std::vector<std::shared_ptr<SolvedStep>>& steps, const SolveSettings& settings,
               int threads, const std::function<bool(double)>& ask) {
  BatchClock clock{.deadline = read_clock() + settings.deadline};
  SharedWork work{.count = steps.size(), .threads = threads, .make_work = {}, .ask = ask};
  work.make_work = [&]() -> ItemWork {
    auto solver = std::make_shared<StepSolver>(settings);
    return [&, solver](std::size_t i) {
      SolvedStep& step = *steps[i];
      const double start = read_clock();
      SolveGuess guess;
      guess.velocity = step.data->guess;
      solver->solve(guess, clock.limits(), step);
      step.seconds = read_clock() - start;
    };
  };
  do_all(work, clock.stopped);
  if (!clock.stopped) return;
  for (const auto& step : steps) {
    if (step->velocity.size() != step->data->problem().velocity_count()) leave(*step);
  }
}

}  // namespace carom::python
