// SPDX-License-Identifier: BSD-3-Clause
#include "batch_solver.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>

namespace carom::python {
namespace {

[[nodiscard]] double read_clock() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What the threads of a batch share.
struct Shared {
  const std::vector<std::shared_ptr<SolvedStep>>& steps;
  const SolveSettings& settings;
  double deadline;  ///< On the clock [s], of the batch as a whole.
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  std::mutex lock;
  std::condition_variable ended;
  int running = 0;
  std::exception_ptr fault;

  [[nodiscard]] SolveLimits limits() noexcept {
    const auto now = [](void* context) noexcept {
      const auto* const shared = static_cast<const Shared*>(context);
      return shared->stopped.load(std::memory_order_relaxed)
                 ? std::numeric_limits<double>::infinity()
                 : read_clock();
    };
    return {.now = now, .context = this, .deadline = deadline};
  }
};

void solve_one(StepSolver& solver, Shared& shared, SolvedStep& step) {
  const double start = read_clock();
  SolveGuess guess;
  guess.velocity = step.data->guess;
  solver.solve(guess, shared.limits(), step);
  step.seconds = read_clock() - start;
}

/// A thread's part: whatever is next, until nothing is.
void work(Shared& shared) {
  try {
    StepSolver solver(shared.settings);
    for (;;) {
      const std::size_t i = shared.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= shared.steps.size()) break;
      solve_one(solver, shared, *shared.steps[i]);
    }
  } catch (...) {
    const std::lock_guard<std::mutex> alone(shared.lock);
    shared.fault = std::current_exception();
    shared.stopped = true;
  }
  const std::lock_guard<std::mutex> alone(shared.lock);
  --shared.running;
  shared.ended.notify_all();
}

}  // namespace

void solve_all(const std::vector<std::shared_ptr<SolvedStep>>& steps, const SolveSettings& settings,
               int threads, const std::function<bool()>& ask) {
  Shared shared{.steps = steps, .settings = settings, .deadline = read_clock() + settings.deadline};
  const auto wanted = std::min<std::size_t>(std::size_t(threads), steps.size());
  std::vector<std::thread> team;
  shared.running = 0;
  for (std::size_t i = 0; i < wanted; ++i) {
    {
      const std::lock_guard<std::mutex> alone(shared.lock);
      ++shared.running;
    }
    try {
      team.emplace_back([&shared] { work(shared); });
    } catch (const std::system_error&) {  // no more threads to be had
      const std::lock_guard<std::mutex> alone(shared.lock);
      --shared.running;
      break;
    }
  }
  if (team.empty() && !steps.empty()) {
    shared.running = 1;
    work(shared);
  }
  {
    std::unique_lock<std::mutex> waiting(shared.lock);
    while (shared.running > 0) {
      shared.ended.wait_for(waiting, std::chrono::milliseconds(50));
      if (shared.running == 0 || shared.stopped) continue;
      waiting.unlock();
      if (ask()) shared.stopped = true;
      waiting.lock();
    }
  }
  for (std::thread& one : team) one.join();
  if (shared.fault) std::rethrow_exception(shared.fault);
}

}  // namespace carom::python
