// SPDX-License-Identifier: BSD-3-Clause
#include "cli/replay.hpp"

#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "carom/solvers/recorder.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/recording_file.hpp"

#include "scenes/pile.hpp"

namespace replay_test {

using carom::ContactProblem;
using carom::Index;
using carom::Recorder;
using carom::VectorX;
using carom::cli::AnswerDifference;
using carom::cli::compare_answers;
using carom::cli::ReplayedAnswer;
using carom::cli::Replayer;
using carom::files::BadInput;
using carom::files::RecordedStep;
using carom::files::Recording;
using carom::testing::RecordingFile;
using Place = AnswerDifference::Place;

namespace {

/// Problems of different sizes and patterns, compliant and rigid, one after the other: what a
/// solver keeps of one could show in the next.
template <typename Scalar>
std::vector<ContactProblem<Scalar>> draw_run(bool rigid) {
  std::vector<ContactProblem<Scalar>> run;
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    carom::testing::VectorSource<double> source(seed);
    run.push_back(carom::testing::build<Scalar>(carom::testing::draw_constrained(
        source, std::vector<int>(1 + seed % 4, 6), int(seed * 5 % 9))));
    if (rigid) run.back().make_rigid();
    // The same again with other velocities, and the first one after larger ones.
    run.push_back(run.back());
    const VectorX<Scalar> velocity = Scalar(1.5) * run.back().free_velocity();
    run.back().set_free_velocity(carom::as_span(velocity));
    if (seed % 4 == 3) run.push_back(run.front());
  }
  return run;
}

/// Records a run, replays it from several steps on, and expects the same bits each time.
template <typename Scalar, typename Solver>
void expect_equal_bits(Solver& solver, const std::vector<ContactProblem<Scalar>>& run) {
  const RecordingFile file("replay_equal");
  {
    Recorder recorder(file.path());
    VectorX<Scalar> velocity;
    for (std::size_t i = 0; i < run.size(); ++i) {
      if constexpr (requires { solver.solve_from(run[0], solver.impulse(), velocity); }) {
        if (solver.impulse().size() == run[i].impulse_count() && i % 4 != 0) {
          static_cast<void>(recorder.solve_from(solver, run[i], solver.impulse(), velocity));
          continue;
        }
      }
      velocity = Scalar(0.5) * run[i].free_velocity();
      static_cast<void>(recorder.solve(solver, run[i], velocity));
    }
  }
  const Recording recording = file.read();
  REQUIRE(recording.steps().size() == run.size());
  for (const std::size_t first : {std::size_t(0), run.size() / 3, run.size() - 2}) {
    Replayer<Scalar> replayer;
    for (std::size_t i = first; i < run.size(); ++i) {
      CAPTURE(first, i);
      const auto step = recording.read<Scalar>(recording.steps()[i]);
      const AnswerDifference difference = compare_answers(step, replayer.solve(step));
      CAPTURE(difference.item, difference.entry, difference.recorded, difference.replayed);
      CHECK(difference.place == Place::none);
    }
  }
}

std::string fault_of(const auto& action) {
  try {
    action();
  } catch (const BadInput& fault) {
    return fault.what();
  }
  return {};
}

RecordedStep<double> step_of(const carom::examples::Pile& pile) {
  RecordedStep<double> step;
  step.solver = carom::detail::recorded_solver(carom::ContactSolver<double>());
  step.problem = pile.problem;
  step.guess = pile.guess;
  return step;
}

}  // namespace

TEMPLATE_TEST_CASE("replay: all solvers give the recorded bits, from any step of the run on",
                   "[cli][law]", float, double) {
  using Scalar = TestType;
  const auto tolerance = Scalar(std::is_same_v<Scalar, float> ? 1e-3 : 1e-8);
  for (const bool rigid : {false, true}) {
    CAPTURE(rigid);
    const auto run = draw_run<Scalar>(rigid);
    for (const auto law : {carom::FrictionLaw::coulomb, carom::FrictionLaw::convex}) {
      CAPTURE(to_string(law));
      carom::ContactSolver<Scalar> contact({.law = law, .tolerance = tolerance});
      expect_equal_bits(contact, run);
      carom::SapSolver<Scalar> sap({.law = law, .tolerance = tolerance, .iteration_limit = 40});
      expect_equal_bits(sap, run);
      carom::InteriorPointSolver<Scalar> path(
          {.law = law, .tolerance = tolerance, .iteration_limit = 100});
      expect_equal_bits(path, run);
      carom::ProximalSolver<Scalar> proximal(
          {.law = law, .tolerance = tolerance, .iteration_limit = 60});
      expect_equal_bits(proximal, run);
      carom::SolverOnBodies<carom::GaussSeidel<Scalar>> sweeps(
          {.law = law, .tolerance = tolerance, .iteration_limit = 50});
      expect_equal_bits(sweeps, run);
      carom::SolverOnBodies<carom::ProjectedGradient<Scalar>> gradient(
          {.law = law, .tolerance = tolerance, .iteration_limit = 50});
      expect_equal_bits(gradient, run);
    }
  }
}

TEST_CASE("replay: limits of iterations are those of the recorded solve", "[cli][law]") {
  const auto run = draw_run<double>(true);
  for (const int limit : {0, 1, 3}) {
    CAPTURE(limit);
    carom::ContactSolver<double> solver({.tolerance = 1e-12});
    solver.set_limits({.iteration_limit = limit});
    expect_equal_bits(solver, run);
  }
}

TEST_CASE("replay: the chain of solvers of the Python package gives the recorded bits",
          "[cli][law]") {
  for (const auto law : {carom::FrictionLaw::coulomb, carom::FrictionLaw::convex}) {
    for (const bool rigid : {false, true}) {
      const RecordingFile file("replay_chain");
      Recorder recorder(file.path());
      const auto run = draw_run<double>(rigid);
      carom::cli::ChainedSolver solver({.law = law});
      VectorX<double> velocity, impulse;
      for (const auto& problem : run) {
        carom::cli::ChainedSolver::Guess guess;
        if (velocity.size() == problem.velocity_count()) guess.velocity = velocity;
        if (impulse.size() == problem.impulse_count()) guess.impulse = impulse;
        if (guess.impulse.size() > 0) {
          recorder.begin_from(solver, problem, guess.impulse, guess.velocity);
        } else {
          recorder.begin(solver, problem, guess.velocity);
        }
        const auto report = solver.solve(problem, guess, velocity, impulse);
        recorder.end(report, velocity, impulse);
      }
      const Recording recording = file.read();
      REQUIRE(recording.steps().size() == run.size());
      Replayer<double> replayer;
      for (const auto& place : recording.steps()) {
        const auto step = recording.read<double>(place);
        CHECK(compare_answers(step, replayer.solve(step)).place == Place::none);
        CHECK(compare_answers(step, Replayer<double>::solve_afresh(step)).place == Place::none);
      }
    }
  }
}

TEST_CASE("replay: the number with another bit is named by block and row, or body and coordinate",
          "[cli][example]") {
  const auto pile = carom::examples::make_pile({.body_count = 5});
  RecordedStep<double> step = step_of(pile);
  const ReplayedAnswer<double> right = Replayer<double>().solve(step);
  step.report = right.report;
  step.velocity = right.velocity;
  step.impulse = right.impulse;
  CHECK(compare_answers(step, right).place == Place::none);
  const auto flip = [](double x) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ 1);
  };
  for (Index i = 0; i < step.velocity.size(); ++i) {
    RecordedStep<double> other = step;
    other.velocity(i) = flip(other.velocity(i));
    const AnswerDifference found = compare_answers(other, right);
    CHECK(found.place == Place::velocity);
    CHECK(found.item == i / 6);
    CHECK(found.entry == i % 6);
    CHECK(found.recorded == other.velocity(i));
    CHECK(found.replayed == right.velocity(i));
  }
  for (Index i = 0; i < step.impulse.size(); ++i) {
    RecordedStep<double> other = step;
    other.impulse.tail(other.impulse.size() - i) *= 2;
    other.impulse(i) = flip(step.impulse(i));
    const AnswerDifference found = compare_answers(other, right);
    CHECK(found.place == Place::impulse);
    CHECK(found.item == i / 3);
    CHECK(found.entry == i % 3);
  }
  RecordedStep<double> other = step;
  other.report.iterations += 1;
  CHECK(compare_answers(other, right).place == Place::report);
  other = step;
  other.report.status = carom::SolveStatus::no_progress;
  CHECK(compare_answers(other, right).place == Place::report);
  other = step;
  other.impulse.conservativeResize(4);
  CHECK(compare_answers(other, right).place == Place::impulse);
  CHECK(compare_answers(other, right).item == 1);
  other = step;  // a zero of the other sign, and a number that is not one
  other.impulse(0) = std::numeric_limits<double>::quiet_NaN();
  ReplayedAnswer<double> same = right;
  same.impulse(0) = other.impulse(0);
  CHECK(compare_answers(other, same).place == Place::none);
  other.impulse(0) = 0.0;
  same.impulse(0) = -0.0;
  CHECK(compare_answers(other, same).place == Place::impulse);
}

TEST_CASE("replay: options and guesses that no solver can have are refused", "[cli][input]") {
  const RecordedStep<double> good = step_of(carom::examples::make_pile({.body_count = 2}));
  const auto fault = [&](const auto& spoil) {
    RecordedStep<double> step = good;
    spoil(step);
    return fault_of([&] { static_cast<void>(Replayer<double>().solve(step)); });
  };
  using Step = RecordedStep<double>;
  using Kind = carom::detail::RecordedSolverKind;
  CHECK(fault([](Step&) {}).empty());
  const std::string ranges = "solver: expected options in their ranges, got something else";
  CHECK(fault([](Step& s) { s.solver.tolerance = 0; }) == ranges);
  CHECK(fault([](Step& s) { s.solver.tolerance = std::nan(""); }) == ranges);
  CHECK(fault([](Step& s) { s.solver.iteration_limit = -1; }) == ranges);
  CHECK(fault([](Step& s) { s.solver.solve_limit = -1; }) == ranges);
  CHECK(fault([](Step& s) { s.solver.least_sweeps = 0; }) == ranges);
  CHECK(fault([](Step& s) {
          s.solver.kind = Kind::sap;
          s.solver.line_search_tolerance = 1;
        }) == ranges);
  CHECK(fault([](Step& s) {
          s.solver.kind = Kind::gauss_seidel;
          s.solver.visits_to_sleep = 1;
          s.solver.relaxation = 2;
        }) == ranges);
  CHECK(fault([](Step& s) { s.guess_kind = carom::detail::GuessKind::impulse; }) ==
        "solver: expected a guess of all impulses, got something else");
  CHECK(fault([](Step& s) {
          s.solver.kind = Kind::chained;
          s.guess.resize(1);
        }) == "solver: expected a guess of all velocities, got something else");
}

}  // namespace replay_test
