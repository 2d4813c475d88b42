// SPDX-License-Identifier: BSD-3-Clause
#include "batch_solver.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "thread_team.hpp"

namespace carom::python {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The clock of one thread of a batch: when the batch is stopped it shows a time after every
/// deadline.
class BatchClock {
 public:
  /// @param deadline  on read_clock(), of the batch as a whole [s]. Where there is none, time need
  ///                  not be read, and the clock stands still until the batch is stopped.
  BatchClock(double deadline, const std::atomic<bool>& stopped, Lookout* lookout) noexcept
      : deadline_(deadline), stopped_(stopped), lookout_(lookout) {}

  /// The limits of a solve. They refer to this clock.
  /// @param size  velocities and impulses of the problem.
  [[nodiscard]] SolveLimits limits(Index size) noexcept {
    constexpr Index small_size = 200;  // an iteration then takes some microseconds
    looks_apart_ = size < small_size ? 16 : 1;
    looks_left_ = looks_apart_;
    return {.now = &BatchClock::now, .context = this, .deadline = deadline_};
  }

 private:
  static double now(void* context) noexcept { return static_cast<BatchClock*>(context)->show(); }
  double show() noexcept {
    double time = 0;
    if (deadline_ < infinity) {
      time = read_clock();
      if (lookout_ != nullptr) lookout_->look(time);
    } else if (lookout_ != nullptr && --looks_left_ == 0) {
      looks_left_ = looks_apart_;
      lookout_->look(read_clock());
    }
    return stopped_.load(std::memory_order_relaxed) ? infinity : time;
  }

  double deadline_;
  const std::atomic<bool>& stopped_;
  Lookout* lookout_;
  int looks_apart_ = 1, looks_left_ = 1;
};

/// An unsolved step: at its free velocity, with no impulses.
void leave(const ContactProblem<double>& problem, StepAnswer& answer) {
  answer.velocity = problem.free_velocity();
  answer.impulse.setZero(problem.impulse_count());
  answer.contact_velocity.resize(problem.impulse_count());
  problem.for_each_block([&](const auto& block) {
    block.write(block.velocity(answer.velocity), answer.contact_velocity);
  });
  answer.report = {};
  answer.report.status = SolveStatus::deadline;
  answer.report.residual = answer.report.error_bound = infinity;
  answer.seconds = 0;
}

void copy(const VectorX<double>& numbers, double* out, Index start) noexcept {
  if (out != nullptr) std::copy_n(numbers.data(), numbers.size(), out + start);
}

void write(const BatchProblems& problems, Index i, const StepAnswer& answer,
           const AnswerArrays& out) noexcept {
  copy(answer.velocity, out.velocity, problems.velocity_start(i));
  copy(answer.impulse, out.impulse, problems.impulse_start(i));
  copy(answer.contact_velocity, out.contact_velocity, problems.impulse_start(i));
  out.reports[i] = answer.report;
  if (out.seconds != nullptr) out.seconds[i] = answer.seconds;
}

/// What a batch is solved by.
struct BatchTask {
  const BatchProblems& problems;
  const SolveSettings& settings;
  const AnswerArrays& answers;
  double deadline;  ///< On read_clock() [s].
  std::atomic<bool> stopped = false;
  std::vector<unsigned char> begun;  ///< Whether a problem has been; empty where nothing stops.
};

/// What one thread solves by.
class BatchWorker {
 public:
  BatchWorker(BatchTask& task, Lookout* lookout)
      : task_(task),
        lookout_(lookout),
        reader_(task.problems),
        solver_(task.settings),
        clock_(task.deadline, task.stopped, lookout) {}

  void solve(std::size_t first, std::size_t last) {
    double time = read_clock();
    for (std::size_t i = first; i < last && !task_.stopped; ++i) {
      if (!task_.begun.empty()) task_.begun[i] = 1;
      const ProblemData& data = reader_.read(Index(i));
      const ContactProblem<double>& problem = data.problem();
      guess_.velocity = data.guess;
      solver_.solve(data, guess_, clock_.limits(problem.velocity_count() + problem.impulse_count()),
                    answer_);
      const double end = read_clock();
      answer_.seconds = end - std::exchange(time, end);
      write(task_.problems, Index(i), answer_, task_.answers);
      if (lookout_ != nullptr) lookout_->look(end);
    }
  }

 private:
  BatchTask& task_;
  Lookout* lookout_;
  ProblemReader reader_;
  StepSolver solver_;
  BatchClock clock_;
  SolveGuess guess_;
  StepAnswer answer_;
};

}  // namespace

BatchSolution::BatchSolution(std::shared_ptr<const BatchProblems> problems,
                             const SolveSettings& settings)
    : problems_(std::move(problems)), settings_(settings), reports_(std::size_t(count())) {
  velocity_.resize(problems_->velocity_start(count()));
  impulse_.resize(problems_->impulse_start(count()));
  contact_velocity_.resize(impulse_.size());
  seconds_.resize(count());
}

AnswerArrays BatchSolution::arrays() noexcept {
  return {.velocity = velocity_.data(),
          .impulse = impulse_.data(),
          .contact_velocity = contact_velocity_.data(),
          .seconds = seconds_.data(),
          .reports = reports_.data()};
}

void BatchSolution::take(Index i, std::shared_ptr<SolvedStep> step) {
  write(*problems_, i, *step, arrays());
  steps_.resize(std::size_t(count()));
  steps_[std::size_t(i)] = std::move(step);
}

std::shared_ptr<SolvedStep> BatchSolution::step(Index i, ProblemReader& reader) const {
  {
    const std::lock_guard<std::mutex> alone(lock_);
    if (steps_.empty()) steps_.resize(std::size_t(count()));
    if (const auto& made = steps_[std::size_t(i)]) return made;
  }
  const auto step = make_step(reader.make(i), settings_);
  const Index velocity = problems_->velocity_start(i), impulse = problems_->impulse_start(i);
  const Index rows = problems_->impulse_start(i + 1) - impulse;
  step->velocity = velocity_.segment(velocity, problems_->velocity_start(i + 1) - velocity);
  step->impulse = impulse_.segment(impulse, rows);
  step->contact_velocity = contact_velocity_.segment(impulse, rows);
  step->report = report(i);
  step->seconds = seconds_(i);
  const std::lock_guard<std::mutex> alone(lock_);
  auto& kept = steps_[std::size_t(i)];
  if (!kept) kept = step;
  return kept;
}

void solve_all(const BatchProblems& problems, const SolveSettings& settings, int threads,
               const std::function<bool(double)>& ask, const AnswerArrays& answers) {
  constexpr Index least = 300;  // solved in about the time that a thread takes to start
  BatchTask task{.problems = problems,
                 .settings = settings,
                 .answers = answers,
                 .deadline = read_clock() + settings.deadline};
  if (ask) task.begun.resize(std::size_t(problems.count()));
  const SharedWork work{.count = std::size_t(problems.count()),
                        .threads = problems.useful_threads(threads, least),
                        .make_work = [&](Lookout* lookout) -> RangeWork {
                          const auto worker = std::make_shared<BatchWorker>(task, lookout);
                          return [worker](std::size_t first, std::size_t last) {
                            worker->solve(first, last);
                          };
                        },
                        .ask = ask};
  do_all(work, task.stopped);
  if (!task.stopped) return;
  ProblemReader reader(problems);
  StepAnswer unsolved;
  for (std::size_t i = 0; i < task.begun.size(); ++i) {
    if (task.begun[i] != 0) continue;
    leave(reader.read(Index(i)).problem(), unsolved);
    write(problems, Index(i), unsolved, answers);
  }
}

}  // namespace carom::python
