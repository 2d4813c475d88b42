// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/sap.hpp"
#include "carom/solvers/soften.hpp"
#include "carom/solvers/solve_or_prove.hpp"

#include "ablation/cases.hpp"
#include "io/text_problem.hpp"
#include "scenes/falling_solids.hpp"
#include "scenes/infeasible.hpp"
#include "scenes/pile.hpp"
#include "solvers/brick.hpp"

namespace carom::benchmarks {

namespace {

constexpr double tolerance = 1e-8;
/// Most systems for one problem, which bounds the time of a run.
constexpr int most_systems = 400;

using Problems = std::vector<files::TextProblem>;

Problems read_problems(const std::string& data) {
  std::vector<std::filesystem::path> files;
  for (const auto& folder : {data, data + "/constraints"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".txt") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  Problems problems;
  for (const auto& file : files) problems.push_back(files::read_text_problem(file.string()));
  return problems;
}

/// Every problem under both laws, from the guess of its file.
template <typename Solver>
GroupResult solve_files(const Problems& problems, bool rigid) {
  GroupResult result;
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    Solver solver({.law = law, .tolerance = tolerance, .iteration_limit = most_systems});
    for (const auto& given : problems) {
      ContactProblem<double> problem = given.problem;
      if (rigid) problem.make_rigid();
      VectorX<double> velocity = given.guess;
      SolveReport<double> report;
      solver.prepare(problem);
      timed(result, [&] { report = solver.solve(problem, velocity); });
      result.add(report, velocity);
    }
  }
  return result;
}

/// A problem under the convex law by SapSolver.
void solve_by_sap(GroupResult& result, const ContactProblem<double>& problem,
                  VectorX<double> velocity, const SapOptions<double>& options) {
  SapSolver<double> solver(options);
  SolveReport<double> report;
  solver.prepare(problem);
  timed(result, [&] { report = solver.solve(problem, velocity); });
  result.add(report, velocity);
}

/// Bricks that rest, come to rest and slide.
GroupResult solve_bricks() {
  GroupResult result;
  for (const double push : {0.0, 0.01, 0.03, 0.05, 0.1, 0.3, 1.0, 3.0}) {
    const Brick brick = make_brick(push);
    solve_by_sap(result, brick.problem, brick.velocity, {.tolerance = tolerance});
  }
  return result;
}

/// Piles with directions from conjugate gradients alone.
GroupResult solve_iteratively() {
  GroupResult result;
  for (const Index bodies : {30, 100, 300}) {
    const auto pile = examples::make_pile({.body_count = bodies});
    solve_by_sap(result, pile.problem, pile.guess,
                 {.tolerance = tolerance, .factor_work_limit = 0});
  }
  return result;
}

/// Counts how often it is looked at, so that a deadline comes at the same place in every run.
struct CountingClock {
  int looks = 0;
  [[nodiscard]] SolveLimits until(double deadline) noexcept {
    return {
        .now =
            [](void* self) noexcept { return double(static_cast<CountingClock*>(self)->looks++); },
        .context = this,
        .deadline = deadline};
  }
};

/// Bodies that fall into a bin and settle. SapSolver moves them, so that every run meets the same
/// problems and does not depend on the answers of the solver that is measured. That one starts from
/// the impulses that the contacts had in the step before.
/// @param looks  at the clock before each step's deadline; 0: no deadline.
GroupResult fall(examples::SolidContact kind, bool rigid, int steps, int looks) {
  GroupResult result;
  examples::FallingSolids scene = examples::make_falling_solids(60, 20, kind);
  scene.half_width = 0.35;
  for (auto& solid : scene.solids) solid.body.position.head<2>() *= 0.25;
  SapSolver<double> mover({.tolerance = tolerance});
  ContactSolver<double> solver({.tolerance = tolerance, .iteration_limit = most_systems});
  for (int k = 0; k < steps; ++k) {
    scene.prepare();
    ContactProblem<double> problem = scene.problem();
    if (rigid) problem.make_rigid();
    CountingClock clock;
    solver.set_limits(looks > 0 ? clock.until(looks) : SolveLimits{});
    VectorX<double> velocity = scene.velocity;
    SolveReport<double> report;
    solver.prepare(problem);
    timed(result, [&] { report = solver.solve_from(problem, scene.impulse, velocity); });
    result.add(report, velocity);
    mover.prepare(scene.problem());
    static_cast<void>(mover.solve(scene.problem(), scene.velocity));
    scene.impulse = mover.impulse();
    scene.advance();
  }
  return result;
}

/// Problems that have no answer, just beyond the threshold, and just before it, where they have.
GroupResult prove() {
  GroupResult result;
  for (const double beyond : {0.9, 1.1}) {
    std::vector<ContactProblem<double>> problems;
    problems.push_back(examples::make_closing_slot(examples::ClosingSlot<double>{
        .closing = beyond, .gap = 0.01, .friction = 0.4, .time_step = 0.01}));
    examples::KleinBrake<double> brake;
    brake.friction = beyond * examples::jamming_friction(brake);
    problems.push_back(examples::make_klein_brake(brake));
    for (const double ratio : {1.0, 10.0}) {
      problems.push_back(examples::make_narrow_well(examples::NarrowWell<double>{
          .count = 8, .missing = 0.01 * (beyond - 1), .mass_ratio = ratio}));
    }
    for (const auto& problem : problems) {
      ContactSolver<double> solver({.tolerance = tolerance, .iteration_limit = most_systems});
      VectorX<double> velocity = problem.free_velocity(), ray;
      SolveReport<double> report;
      solver.prepare(problem);
      timed(result, [&] {
        report = solve_or_prove(solver, problem, velocity, ray);
        if (report.status == SolveStatus::infeasible) velocity = soften(problem).velocity;
      });
      result.add(report, velocity, beyond > 1 ? SolveStatus::infeasible : SolveStatus::converged);
    }
  }
  return result;
}

}  // namespace

std::vector<Group> groups_on_bodies(const std::string& data) {
  const Problems problems = read_problems(data);
  using Path = InteriorPointSolver<double>;
  return {
      {"compliant", [=] { return solve_files<ContactSolver<double>>(problems, false); }},
      {"rigid", [=] { return solve_files<ContactSolver<double>>(problems, true); }},
      {"path", [=] { return solve_files<Path>(problems, false); }},
      {"falling", [] { return fall(examples::SolidContact::compliant, true, 16, 0); }},
      {"rolling", [] { return fall(examples::SolidContact::rolling, false, 20, 0); }},
      {"deadline", [] { return fall(examples::SolidContact::compliant, true, 60, 12); }},
      {"no answer", [] { return prove(); }},
      {"bricks", [] { return solve_bricks(); }},
      {"iterative", [] { return solve_iteratively(); }},
  };
}

}  // namespace carom::benchmarks
