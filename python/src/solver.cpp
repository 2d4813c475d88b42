// SPDX-License-Identifier: BSD-3-Clause
// carom.solve and carom.Solver.
#include <atomic>
#include <memory>
#include <mutex>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "bindings.hpp"
#include "solve_clock.hpp"
#include "unlocked.hpp"

namespace carom::python {
namespace {

using SharedStep = std::shared_ptr<SolvedStep>;

/// A guess out of None, an array of velocities, or a solution.
SolveGuess read_guess(nb::handle given, const ProblemData& data) {
  SolveGuess guess;
  if (given.is_none()) {
    guess.velocity = data.guess;
    return guess;
  }
  SolvedStep* before = nullptr;
  if (nb::try_cast(given, before, false) && before != nullptr) {
    if (before->velocity.size() == data.problem().velocity_count()) {
      guess.velocity = before->velocity;
    }
    if (before->impulse.size() == data.problem().impulse_count() && before->impulse.allFinite()) {
      guess.impulse = before->impulse;
    }
    return guess;
  }
  const GivenArray velocity(given, "guess");
  velocity.require_shape({data.problem().velocity_count()});
  guess.velocity = velocity.vector();
  detail::reject_if(detail::finite_fault("guess", guess.velocity));
  return guess;
}

/// Solves without the lock of the interpreter, and ends early at Ctrl-C.
template <typename Solve>
void solve_unlocked(double deadline, nb::handle progress, const SharedStep& step,
                    const Solve& solve) {
  LongWork work(progress, "solve");
  SolveClock clock(deadline, work);
  {
    const Unlocked unlocked;
    solve(clock.limits());
    step->seconds = clock.elapsed();
  }
  work.finish([&] { return nb::cast(step); });
}

/// Solves by a solver that the thread keeps for the next call with the same settings, unless the
/// problem is large: to make one takes longer than a small solve. The answer has the same bits. The
/// solver is taken away while it works, as a handler of Ctrl-C may solve in the middle of it.
void solve_by_kept(const SolveSettings& settings, const SolveGuess& start,
                   const SolveLimits& limits, SolvedStep& step,
                   SharedRecorder* recorder = nullptr) {
  constexpr Index small_problem = 1000;  // rows and velocities: some hundred kilobytes
  thread_local std::unique_ptr<StepSolver> kept;
  std::unique_ptr<StepSolver> solver = std::move(kept);
  const ContactProblem<double>& problem = step.data->problem();
  const ProblemData& data = *step.data;
  if (!solver || !(solver->settings() == settings)) solver = std::make_unique<StepSolver>(settings);
  solver->solve(data, start, limits, step, recorder);
  if (problem.velocity_count() + problem.impulse_count() <= small_problem) {
    kept = std::move(solver);
  }
}

SharedStep solve(const PyProblem& problem, nb::handle law, nb::handle rigid, nb::handle tolerance,
                 nb::handle guess, nb::handle deadline, nb::handle iteration_limit,
                 nb::handle progress, nb::handle recorder) {
  // Held while code of Python may run that changes the problem: it then changes a copy.
  const std::shared_ptr<const ProblemData> data = problem.data;
  const SolveSettings settings = read_settings(law, rigid, tolerance, deadline, iteration_limit);
  const SolveGuess start = read_guess(guess, *data);
  const std::shared_ptr<SharedRecorder> kept = read_recorder(recorder);
  SharedStep step = make_step(data, settings);
  solve_unlocked(settings.deadline, progress, step, [&](const SolveLimits& limits) {
    solve_by_kept(settings, start, limits, *step, kept.get());
  });
  return step;
}

/// carom.Solver: a solver that keeps its memory and the last answer.
class PySolver {
 public:
  PySolver(const SolveSettings& settings, std::shared_ptr<SharedRecorder> recorder)
      : solver_(settings), recorder_(std::move(recorder)) {}

  [[nodiscard]] const SolveSettings& settings() const noexcept { return solver_.settings(); }
  SharedStep solve(const PyProblem& problem, nb::handle guess) {
    if (busy_ == std::this_thread::get_id()) {
      refuse("solver", "one solve at a time", "another one from inside of it");
    }
    const std::shared_ptr<const ProblemData> data = problem.data;
    SolveGuess start = read_guess(guess, *data);
    const bool given = !guess.is_none();
    SharedStep step = make_step(data, settings());
    solve_unlocked(settings().deadline, Py_False, step, [&](const SolveLimits& limits) {
      const std::lock_guard<std::mutex> alone(lock_);
      const Busy busy(busy_);
      if (!given) continue_from_last(*step, start);
      solver_.solve(*data, start, limits, *step, recorder_.get());
      velocity_ = step->velocity;
      impulse_ = step->impulse;
    });
    return step;
  }

 private:
  void continue_from_last(const SolvedStep& step, SolveGuess& start) const {
    const ContactProblem<double>& problem = step.data->problem();
    const bool finite = velocity_.allFinite() && impulse_.allFinite();
    if (!finite || velocity_.size() != problem.velocity_count()) return;
    start.velocity = velocity_;
    const bool compliant =
        settings().law == FrictionLaw::convex && !step.rigid && problem.rigid_count() == 0;
    if (!compliant && impulse_.size() == problem.impulse_count()) start.impulse = impulse_;
  }

  using Owner = std::atomic<std::thread::id>;
  /// Says which thread solves, so that a handler of Ctrl-C on it does not wait for itself.
  class Busy {
   public:
    explicit Busy(Owner& owner) : owner_(owner) { owner_ = std::this_thread::get_id(); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    ~Busy() { owner_ = std::thread::id(); }

   private:
    Owner& owner_;
  };

  std::mutex lock_;
  Owner busy_ = std::thread::id();
  StepSolver solver_;
  std::shared_ptr<SharedRecorder> recorder_;  ///< or null
  VectorX<double> velocity_, impulse_;
};

std::string show(const PySolver& self) {
  const SolveSettings& s = self.settings();
  return std::string("Solver(law='") + to_string(s.law) +
         "', rigid=" + (s.rigid ? "True" : "False") +
         ", tolerance=" + carom::detail::number_text(s.tolerance) + ")";
}

constexpr const char* solve_doc =
    "Solves one time step for the velocities and impulses that obey a law of friction.\n\n"
    "law: 'coulomb', Coulomb's law itself, or 'convex'. The convex law has one answer, with a\n"
    "proven error bound where contacts give way. It is right where contacts stick or slide "
    "slowly,\n"
    "as in grasps. What slides at speed v it lifts off with mu v/(1 + mu^2), whatever the step: a\n"
    "body launched flat rises by (mu v/(1 + mu^2))^2/2g.\n"
    "rigid: takes every contact as rigid. tolerance [-], > 0. guess: (nv,) velocities [m/s, "
    "rad/s],\n"
    "or a Solution. deadline [s] from now; None for none. iteration_limit: None for the solver's.\n"
    "A problem that cannot be solved is a status of the solution, never an exception. Other\n"
    "threads of Python run meanwhile. Ctrl-C ends the solve; the KeyboardInterrupt has the best\n"
    "Solution so far as its attribute `partial`. progress: whether long solves say so on a "
    "terminal\n"
    "or in a notebook; or a function, called with None now and then and with 1.0 in the end.\n"
    "recorder: a Recorder that keeps the step; None for none.";

}  // namespace

void solve_alone(const SolveSettings& settings, LongWork& work, SolvedStep& step) {
  SolveGuess start;
  start.velocity = step.data->guess;
  SolveClock clock(settings.deadline, work);
  const Unlocked unlocked;
  solve_by_kept(settings, start, clock.limits(), step);
  step.seconds = clock.elapsed();
}

FrictionLaw read_law(nb::handle law) {
  std::string text;
  if (law.is_none()) return FrictionLaw::coulomb;
  if (nb::try_cast(law, text)) {
    if (text == "convex") return FrictionLaw::convex;
    if (text == "coulomb") return FrictionLaw::coulomb;
  }
  refuse("law", "'convex' or 'coulomb'", describe(law));
}

SolveSettings read_settings(nb::handle law, nb::handle rigid, nb::handle tolerance,
                            nb::handle deadline, nb::handle iteration_limit) {
  SolveSettings settings;
  settings.law = read_law(law);
  settings.rigid = nb::cast<bool>(nb::bool_(nb::borrow(rigid)));
  settings.tolerance = read_number(tolerance, "tolerance");
  if (!detail::is_positive(settings.tolerance)) {
    detail::reject_if(detail::fault("tolerance", "a finite number > 0", settings.tolerance));
  }
  if (!deadline.is_none()) {
    settings.deadline = read_number(deadline, "deadline");
    if (!(settings.deadline > 0)) {
      detail::reject_if(detail::fault("deadline", "a number > 0", settings.deadline));
    }
  }
  if (!iteration_limit.is_none()) {
    const Index limit = read_index(iteration_limit, "iteration limit");
    if (limit < 0 || limit > std::numeric_limits<int>::max()) {
      detail::reject_if(detail::fault("iteration limit", "a whole number >= 0", limit));
    }
    settings.iteration_limit = int(limit);
  }
  return settings;
}

void bind_solver(nb::module_& module) {
  module.def("solve", &solve, nb::arg("problem"), nb::arg("law").none() = "coulomb",
             nb::arg("rigid").none() = false, nb::arg("tolerance").none() = 1e-8,
             nb::arg("guess") = nb::none(), nb::arg("deadline") = nb::none(),
             nb::arg("iteration_limit") = nb::none(), nb::arg("progress").none() = true,
             nb::arg("recorder") = nb::none(),
             nb::sig("def solve(problem: ContactProblem, law: str = 'coulomb', "
                     "rigid: bool = False, tolerance: float = 1e-08, "
                     "guess: numpy.typing.ArrayLike | Solution | None = None, "
                     "deadline: float | None = None, "
                     "iteration_limit: int | None = None, "
                     "progress: bool | collections.abc.Callable[[float | None], object] = True, "
                     "recorder: Recorder | None = None) -> Solution"),
             solve_doc);
  nb::class_<PySolver>(
      module, "Solver",
      "Solves steps one after the other, and keeps memory and the last answer.\n\n"
      "Arguments are those of solve(). Without a guess the last answer is it, where\n"
      "it has the size of the problem. One thread solves at a time; others wait.")
      .def(
          "__init__",
          [](PySolver* self, nb::handle law, nb::handle rigid, nb::handle tolerance,
             nb::handle deadline, nb::handle iteration_limit, nb::handle recorder) {
            new (self) PySolver(read_settings(law, rigid, tolerance, deadline, iteration_limit),
                                read_recorder(recorder));
          },
          nb::arg("law").none() = "coulomb", nb::arg("rigid").none() = false,
          nb::arg("tolerance").none() = 1e-8, nb::arg("deadline") = nb::none(),
          nb::arg("iteration_limit") = nb::none(), nb::arg("recorder") = nb::none(),
          nb::sig("def __init__(self, law: str = 'coulomb', rigid: bool = False, "
                  "tolerance: float = 1e-08, deadline: float | None = None, "
                  "iteration_limit: int | None = None, "
                  "recorder: Recorder | None = None) -> None"))
      .def("solve", &PySolver::solve, nb::arg("problem"), nb::arg("guess") = nb::none(),
           nb::sig("def solve(self, problem: ContactProblem, "
                   "guess: numpy.typing.ArrayLike | Solution | None = None) -> Solution"),
           "Solves a step; see carom.solve().")
      .def("__repr__", &show);
}

}  // namespace carom::python
