// SPDX-License-Identifier: BSD-3-Clause
#include "carom/batch/solve_batch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "carom/batch/batch_storage.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "support/catch.hpp"
#include "support/raw_problem.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

#include "io/text_problem.hpp"

namespace solve_batch_test {

using carom::BatchFault, carom::BatchReport, carom::BatchStorage, carom::BatchWorkspace;
using carom::ContactProblem, carom::Index, carom::SapOptions, carom::SolveStatus, carom::VectorX;
using carom::testing::build, carom::testing::by_solver;
using carom::testing::draw_problem, carom::testing::draw_velocity, carom::testing::RawProblem;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// A step and its first guess.
struct Step {
  RawProblem raw;
  Eigen::VectorXd guess;
};

/// Steps of very different sizes, some patterns of which come again and again; one in nine has no
/// contact.
std::vector<Step> draw_steps(int count, unsigned seed) {
  VectorSource<double> source(seed);
  std::vector<Step> steps;
  for (int i = 0; i < count; ++i) {
    Step step;
    if (i % 3 == 0 && i >= 9) {  // the pattern of an earlier step, other numbers
      step.raw = steps[std::size_t(source.unit() * 9)].raw;
      for (auto& body : step.raw.bodies) {
        body.free_velocity +=
            0.3 * carom::testing::draw_matrix(source, body.free_velocity.size(), 1);
      }
    } else if (i % 9 == 1) {
      step.raw = draw_problem(source, {{20}, 10});
    } else if (i % 9 == 4) {
      step.raw = draw_problem(source, {{6, 1, 3, 6}, 0});
    } else if (i % 9 == 7) {
      step.raw = draw_problem(source, {{6, 6, 6, 6, 6}, 12});
    } else {
      step.raw = draw_problem(source, {{6, 1, 2}, int(i % 5)});
    }
    step.guess = draw_velocity(source, step.raw);
    steps.push_back(step);
  }
  return steps;
}

template <typename Scalar>
BatchStorage<Scalar> store(const std::vector<Step>& steps) {
  BatchStorage<Scalar> batch;
  for (const Step& step : steps) {
    batch.add(build<Scalar>(step.raw), step.guess.cast<Scalar>().eval());
  }
  return batch;
}

template <int LaneCount = carom::batch_lane_count<double>, typename Scalar>
BatchReport solve(BatchStorage<Scalar>& batch, const SapOptions<Scalar>& options = {}) {
  BatchWorkspace<Scalar, LaneCount> workspace;
  workspace.prepare(batch.view(), 1);
  return solve_batch(batch.view(), batch.answers(), options, workspace);
}

/// Whether a step of one batch has the answer of a step of another to the last bit.
template <typename Scalar>
bool same_answer(const BatchStorage<Scalar>& a, Index i, const BatchStorage<Scalar>& b, Index k) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() &&
           (x.size() == 0 ||
            std::memcmp(x.data(), y.data(), sizeof(Scalar) * std::size_t(x.size())) == 0);
  };
  const auto &r = a.report(i), &s = b.report(k);
  return same(a.velocity(i), b.velocity(k)) && same(a.impulse(i), b.impulse(k)) &&
         r.status == s.status && r.iterations == s.iterations && r.residual == s.residual &&
         r.error_bound == s.error_bound;
}

template <typename Scalar>
void check_same(const BatchStorage<Scalar>& a, const BatchStorage<Scalar>& b) {
  WorstCase law("the answers have the same bits");
  for (Index i = 0; i < a.count(); ++i) law.see_holds(same_answer(a, i, b, i), i);
  law.check(a.count());
}

/// Threads that take the tasks in an order of their own.
template <typename Task>
void run_on_threads(Index count, const Task& task) {
  std::vector<std::thread> threads;
  for (Index i = count - 1; i >= 0; --i) threads.emplace_back([&task, i] { task(i); });
  for (std::thread& one : threads) one.join();
}

template <typename Scalar>
void check_answers(const SapOptions<Scalar>& options) {
  const std::vector<Step> steps = draw_steps(90, 21001u);
  BatchStorage<Scalar> batch = store<Scalar>(steps);
  const BatchReport report = solve(batch, options);
  CHECK(report.converged == batch.count());
  CHECK((report.faults == 0 && report.first_bad == -1));
  carom::SapSolver<Scalar> solver(options);
  WorstCase near_reference("the distance to SapSolver's answer"), bound("residual"),
      balance("certify");
  for (Index i = 0; i < batch.count(); ++i) {
    const Step& step = steps[std::size_t(i)];
    const ContactProblem<Scalar> problem = build<Scalar>(step.raw);
    VectorX<Scalar> velocity = step.guess.cast<Scalar>();
    const auto reference = solver.solve(problem, velocity);
    const VectorX<Scalar> answer = batch.velocity(i), impulse = batch.impulse(i);
    const auto& own = batch.report(i);
    VectorX<Scalar> difference = answer - velocity;
    problem.whiten(carom::as_span(difference));
    // Each is as close to the exact answer as its bound says; rounding comes on top.
    const auto certificate = certify(problem, answer, impulse);
    near_reference.see(
        (long double)(difference.norm()),
        (long double)(2 * (own.error_bound + reference.error_bound) +
                      by_solver(options.tolerance) * problem.whitened_free_velocity().norm()),
        i);
    bound.see((long double)(own.residual), (long double)(options.tolerance), i);
    balance.see((long double)(certificate.residual), (long double)(2 * options.tolerance), i);
  }
  near_reference.check(90);
  bound.check(90);
  balance.check(90);
}

}  // namespace

TEST_CASE("solve_batch: each step has the answer of SapSolver", "[solve_batch]") {
  check_answers<double>({.tolerance = 1e-8});
  check_answers<double>({.tolerance = 1e-11});
  check_answers<float>({.tolerance = 1e-3F});
}

TEST_CASE("solve_batch: Coulomb's law is obeyed where SapSolver obeys it", "[solve_batch]") {
  const std::vector<Step> steps = draw_steps(90, 21013u);
  const SapOptions<double> options{.law = carom::FrictionLaw::coulomb, .tolerance = 1e-9};
  BatchStorage<double> batch = store<double>(steps);
  const BatchReport report = solve(batch, options);
  carom::SapSolver<double> solver(options);
  WorstCase law("natural map of Coulomb's law"), residual("residual");
  int reference = 0;
  for (Index i = 0; i < batch.count(); ++i) {
    const ContactProblem<double> problem = build<double>(steps[std::size_t(i)].raw);
    VectorX<double> velocity = steps[std::size_t(i)].guess;
    reference += int(solver.solve(problem, velocity).converged());
    const VectorX<double> impulse = batch.impulse(i);
    if (batch.report(i).status != SolveStatus::converged) continue;
    carom::DelassusForm<double> form;
    carom::DelassusProblem<double> dual;
    form.write(problem, dual);
    const auto certificate = certify(dual, impulse, carom::FrictionLaw::coulomb);
    law.see(certificate.natural_map_error, by_solver(1e-7), i);
    residual.see(batch.report(i).residual, options.tolerance, i);
    CHECK(std::isinf(batch.report(i).error_bound));
  }
  CHECK(reference >= 85);
  CHECK(report.converged >= reference - 1);
  law.check(85);
  residual.check(85);
}

TEST_CASE("solve_batch: the bits do not depend on the lanes", "[solve_batch]") {
  const std::vector<Step> steps = draw_steps(60, 21002u);
  const auto see = [&](auto scalar, carom::FrictionLaw law) {
    using Scalar = decltype(scalar);
    const SapOptions<Scalar> options{.law = law};
    BatchStorage<Scalar> one = store<Scalar>(steps), other = store<Scalar>(steps);
    solve<1>(one, options);
    solve<2>(other, options);
    check_same(one, other);
    solve<4>(other, options);
    check_same(one, other);
    solve<8>(other, options);
    check_same(one, other);
    solve<16>(other, options);
    check_same(one, other);
  };
  see(1.0, carom::FrictionLaw::convex);
  see(1.0F, carom::FrictionLaw::convex);
  see(1.0, carom::FrictionLaw::coulomb);
  see(1.0F, carom::FrictionLaw::coulomb);
}

TEST_CASE("solve_batch: the bits do not depend on what else is in the batch", "[solve_batch]") {
  const std::vector<Step> steps = draw_steps(60, 21003u);
  BatchStorage<double> all = store<double>(steps);
  solve(all);
  std::vector<std::size_t> order(steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 engine(21003u);
  std::shuffle(order.begin(), order.end(), engine);
  std::vector<Step> shuffled;
  for (const std::size_t i : order) shuffled.push_back(steps[i]);
  BatchStorage<double> other = store<double>(shuffled);
  solve(other);
  WorstCase law("a step alone, and in another order");
  for (std::size_t i = 0; i < order.size(); ++i) {
    law.see_holds(same_answer(all, Index(order[i]), other, Index(i)), order[i]);
    BatchStorage<double> alone = store<double>({shuffled[i]});
    solve(alone);
    law.see_holds(same_answer(alone, 0, other, Index(i)), order[i]);
  }
  law.check(120);
}

TEST_CASE("solve_batch: the bits do not depend on workers and threads", "[solve_batch]") {
  const std::vector<Step> steps = draw_steps(530, 21004u);  // several chunks
  BatchStorage<double> one = store<double>(steps), other = store<double>(steps);
  solve(one);
  for (const int workers : {2, 3, 7}) {
    BatchWorkspace<double> workspace;
    workspace.prepare(other.view(), workers);
    const BatchReport report =
        solve_batch(other.view(), other.answers(), SapOptions<double>{}, workspace,
                    [](Index count, const auto& task) { run_on_threads(count, task); });
    CHECK(report.converged == Index(steps.size()));
    check_same(one, other);
  }
}

namespace {

/// A problem of friction contacts in other numbers, body b with the free velocity free_of(b).
template <typename To, typename From, typename FreeVelocity>
ContactProblem<To> convert(const ContactProblem<From>& given, const FreeVelocity& free_of) {
  ContactProblem<To> problem(To(given.time_step()));
  for (Index b = 0; b < given.body_count(); ++b) {
    const carom::MatrixX<From> mass = given.momentum_matrix(b);
    problem.add_body(carom::MatrixX<To>(mass.template cast<To>()), VectorX<To>(free_of(b)));
  }
  for (Index k = 0; k < given.block_count(); ++k) {
    const auto& from = given.friction_contact_law(k);
    const carom::WeightedContact<To> law{
        To(from.friction),
        {To(from.regularization.tangent), To(from.regularization.normal)},
        from.bias_velocity.template cast<To>()};
    const auto side = [&](int s) {
      return carom::MatrixX<To>(given.jacobian(k, s).template cast<To>());
    };
    if (given.side_count(k) == 1) {
      problem.add_contact(given.side_body(k, 0), side(0), law);
    } else {
      problem.add_contact(given.side_body(k, 0), side(0), given.side_body(k, 1), side(1), law);
    }
  }
  return problem;
}

/// A bundled problem `count` times, each with free velocities of its own.
template <typename Scalar>
struct Copies {
  BatchStorage<Scalar> batch;
  std::vector<ContactProblem<Scalar>> problems;

  Copies(const char* name, int count, unsigned seed = 21005u) {
    const auto given = carom::files::read_text_problem(
        std::string(CAROM_SOURCE_DIR "/examples/data/") + name + ".txt");
    VectorSource<double> source(seed);
    for (int i = 0; i < count; ++i) {
      problems.push_back(convert<Scalar>(given.problem, [&](Index b) {
        const auto [start, size] = given.problem.body(b);
        VectorX<double> free = given.problem.free_velocity().segment(start, size);
        for (Index k = 0; k < size; ++k) free(k) *= 1 + 0.1 * (source.unit() - 0.5);
        return VectorX<Scalar>(free.cast<Scalar>());
      }));
      batch.add(problems.back(), given.guess.cast<Scalar>().eval());
    }
  }
  /// Certifies all answers in double.
  void certify_all(double tolerance) {
    WorstCase law("certify");
    for (Index i = 0; i < batch.count(); ++i) {
      const ContactProblem<Scalar>& own = problems[std::size_t(i)];
      const auto problem = convert<double>(own, [&](Index b) {
        const auto [start, size] = own.body(b);
        return own.free_velocity().segment(start, size).template cast<double>().eval();
      });
      const VectorX<double> velocity = batch.velocity(i).template cast<double>(),
                            impulse = batch.impulse(i).template cast<double>();
      law.see(certify(problem, velocity, impulse).residual, by_solver(2 * tolerance), i);
    }
    law.check(batch.count());
  }
};

}  // namespace

TEST_CASE("solve_batch: bundled problems with other numbers, side by side", "[solve_batch]") {
  for (const char* name : {"robot_30x16", "pile_n10_s60", "mujoco_box_10"}) {
    CAPTURE(name);
    Copies<double> copies(name, 20);
    CHECK(solve(copies.batch, {.tolerance = 1e-8}).converged == 20);
    copies.certify_all(1e-8);
  }
}

// v in float alone has a rounding of up to 4e-5 here, which 1/R makes one of the impulses.
TEST_CASE("solve_batch: float reaches a hundred of its roundings in every problem",
          "[solve_batch]") {
  constexpr float tolerance = 1e-5F;
  constexpr int count = carom::testing::sweep(20, 1000);
  for (const char* name : {"robot_30x16", "pile_n10_s60", "wall_n10", "mujoco_box_10"}) {
    for (const auto law : {carom::FrictionLaw::convex, carom::FrictionLaw::coulomb}) {
      CAPTURE(name, int(law));
      Copies<float> copies(name, count, 21006u), narrow(name, count, 21006u);
      const SapOptions<float> options{.law = law, .tolerance = tolerance};
      CHECK(solve(copies.batch, options).converged == count);
      copies.certify_all(tolerance);
      // Lanes that are put aside take up their frames again.
      CHECK(solve<4>(narrow.batch, options).converged == count);
      check_same(copies.batch, narrow.batch);
    }
  }
}

TEST_CASE("solve_batch: problems of hundreds of velocities are sparse", "[solve_batch]") {
  for (const char* name : {"pile_n100_s60", "wall_n100"}) {
    CAPTURE(name);
    constexpr int count = carom::testing::sweep(1, 3);
    Copies<double> wide(name, count), narrow(name, count);
    CHECK(wide.batch.pattern(0).velocity_count() == 600);
    CHECK(solve(wide.batch, {.tolerance = 1e-8}).converged == count);
    CHECK(solve<2>(narrow.batch, {.tolerance = 1e-8}).converged == count);
    wide.certify_all(1e-8);
    check_same(wide.batch, narrow.batch);
    // A dense matrix alone would have 180,300 numbers in each of the lanes.
    BatchWorkspace<double> workspace;
    const auto view = wide.batch.view();
    const std::size_t worker = workspace.bytes(view, 2) - workspace.bytes(view, 1);
    CHECK(worker < std::size_t(carom::batch_lane_count<double>) * sizeof(double) * 180300);
  }
}

TEST_CASE("solve_batch: a step with bad numbers is named and changes no other", "[solve_batch]") {
  VectorSource<double> source(21007u);
  RawProblem raw = draw_problem(source, {{6, 1, 2, 3}, 2});
  raw.contacts[0].first = 0;
  raw.contacts[1].first = 2;
  for (auto& contact : raw.contacts) {
    contact.second = -1;
    const Index size = raw.bodies[std::size_t(contact.first)].momentum.rows();
    contact.first_jacobian = carom::testing::draw_matrix(source, 3, size);
  }
  const std::vector<Step> steps(24, {raw, Eigen::VectorXd::Zero(12)});
  BatchStorage<double> good = store<double>(steps);
  solve(good);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  struct Damage {
    BatchFault fault;
    carom::BatchArray<const double> carom::BatchView<double>::*field;
    int place;
    double number;
    int item;
  };
  using View = carom::BatchView<double>;
  const std::vector<Damage> damages = {
      {BatchFault::friction, &View::friction, 1, -0.1, 1},
      {BatchFault::friction, &View::friction, 0, nan, 0},
      {BatchFault::friction, &View::friction, 0, infinity, 0},
      {BatchFault::regularization, &View::regularization, 2, 0.0, 1},
      {BatchFault::regularization, &View::regularization, 1, -1.0, 0},
      {BatchFault::regularization, &View::regularization, 1, nan, 0},
      {BatchFault::bias, &View::bias, 4, nan, 1},
      {BatchFault::jacobian, &View::jacobian, 0, infinity, 0},
      {BatchFault::free_velocity, &View::free_velocity, 0, nan, 0},
      {BatchFault::guess, &View::guess, 7, nan, 2},
      {BatchFault::mass, &View::mass, 0, -1.0, 0},
      {BatchFault::mass, &View::mass, 36, nan, 1},
      {BatchFault::mass, &View::mass, 41 + 4, -1.0, 3},
      {BatchFault::free_velocity, &View::free_velocity, 10, infinity, 3},
  };
  CHECK(good.pattern(0).contact_count() == 2);
  for (const Damage& damage : damages) {
    CAPTURE(to_string(damage.fault), damage.place, damage.number);
    BatchStorage<double> batch = store<double>(steps);
    auto hurt = batch.view();
    constexpr Index step = 13;
    auto* const numbers = const_cast<double*>((hurt.*damage.field).of(step));
    numbers[damage.place] = damage.number;
    BatchWorkspace<double> workspace;
    workspace.prepare(hurt, 1);
    const BatchReport report = solve_batch(hurt, batch.answers(), SapOptions<double>{}, workspace);
    CHECK(report.converged == batch.count() - 1);
    CHECK(report.faults == 1);
    CHECK(report.first_bad == step);
    CHECK(batch.report(step).status == SolveStatus::not_finite);
    CHECK(batch.report(step).fault == damage.fault);
    CHECK(batch.report(step).item == damage.item);
    int other = 0;
    for (Index i = 0; i < batch.count(); ++i)
      other += int(i != step && !same_answer(batch, i, good, i));
    CHECK(other == 0);
  }
}

TEST_CASE("solve_batch: a step whose pattern number names none is refused and changes no other",
          "[solve_batch]") {
  const BatchStorage<double> given = store<double>(draw_steps(60, 21020u));
  BatchStorage<double> good = given;
  const BatchReport all = solve(good);
  constexpr Index bad = 44;
  for (const int number : {given.view().pattern_count, -1, std::numeric_limits<int>::max(),
                           std::numeric_limits<int>::min()}) {
    CAPTURE(number);
    BatchStorage<double> batch = given;
    auto view = batch.view();
    std::vector<int> numbers;
    for (Index i = 0; i < batch.count(); ++i) numbers.push_back(view.pattern_number(i));
    numbers[bad] = number;
    view.pattern_numbers = numbers.data();
    const VectorX<double> before = batch.velocity(bad);
    const auto check = [&](const BatchReport& report) {
      CHECK((report.prepared && report.faults == 1 && report.first_bad == bad));
      CHECK(report.converged == all.converged - 1);
      CHECK(batch.report(bad).status == SolveStatus::not_finite);
      CHECK((batch.report(bad).fault == BatchFault::pattern && batch.report(bad).item == -1));
      CHECK(batch.velocity(bad) == before);  // nothing is written
      int others = 0;
      for (Index i = 0; i < batch.count(); ++i) {
        others += int(i != bad && !same_answer(batch, i, good, i));
      }
      CHECK(others == 0);
    };
    BatchWorkspace<double> workspace;
    workspace.prepare(view, 1);
    check(solve_batch(view, batch.answers(), SapOptions<double>{}, workspace));
    workspace.prepare(view, 2);
    check(solve_batch(view, batch.answers(), SapOptions<double>{}, workspace,
                      [](Index count, const auto& task) { run_on_threads(count, task); }));
    // It may turn bad after the workspace was prepared.
    workspace.prepare(given.view(), 1);
    check(solve_batch(view, batch.answers(), SapOptions<double>{}, workspace));
  }
  // No patterns at all.
  auto view = good.view();
  view.pattern_numbers = nullptr;
  view.pattern_count = 0;
  BatchWorkspace<double> workspace;
  workspace.prepare(view, 1);
  const BatchReport none = solve_batch(view, good.answers(), SapOptions<double>{}, workspace);
  CHECK((none.converged == 0 && none.faults == good.count()));
}

TEST_CASE("solve_batch: zeros that a pattern promises are looked at", "[solve_batch]") {
  VectorSource<double> source(21008u);
  RawProblem raw = draw_problem(source, {{6}, 2});
  raw.contacts[1].first_jacobian.leftCols(2).setZero();
  BatchStorage<double> batch = store<double>({{raw, Eigen::VectorXd::Zero(6)}});
  const_cast<double*>(batch.view().jacobian.of(0))[18 + 1] = 1e-3;
  solve(batch);
  CHECK(batch.report(0).fault == BatchFault::jacobian);
  CHECK(batch.report(0).item == 1);
}

TEST_CASE("solve_batch: no steps, no contacts, no iterations", "[solve_batch]") {
  BatchStorage<double> none;
  CHECK(solve(none).converged == 0);
  VectorSource<double> source(21009u);
  const Step free{draw_problem(source, {{6, 3}, 0}), Eigen::VectorXd::Constant(9, 5)};
  BatchStorage<double> idle = store<double>({free, free, free});
  CHECK(solve(idle).converged == 3);
  CHECK(idle.velocity(1) == build(free.raw).free_velocity());
  CHECK((idle.report(1).residual == 0 && idle.report(1).iterations == 0));

  const std::vector<Step> steps = draw_steps(20, 21010u);
  BatchStorage<double> stopped = store<double>(steps);
  const BatchReport report = solve(stopped, {.iteration_limit = 0});
  CHECK(report.converged < stopped.count());
  CHECK(stopped.report(report.first_bad).status == SolveStatus::iteration_limit);
  BatchStorage<double> floor = store<double>(steps);
  const BatchReport ended = solve(floor, {.tolerance = 1e-30});
  CHECK(floor.report(ended.first_bad).status == SolveStatus::no_progress);
  for (Index i = 0; i < floor.count(); ++i) CHECK(floor.report(i).residual < by_solver(1e-10));
}

TEST_CASE("solve_batch: memory is told before it is taken", "[solve_batch]") {
  const std::vector<Step> steps = draw_steps(300, 21011u);
  BatchStorage<double> batch = store<double>(steps);
  const auto view = batch.view();
  std::size_t numbers = 0;
  for (Index i = 0; i < batch.count(); ++i) {
    const auto& pattern = batch.pattern(i);
    numbers += std::size_t(pattern.mass_count() + pattern.jacobian_count() +
                           3 * pattern.velocity_count() + 9 * pattern.contact_count());
  }
  CHECK(BatchWorkspace<double>::bytes(view, 1) < numbers * sizeof(double));
  CHECK(BatchWorkspace<double>::bytes(view, 3) > BatchWorkspace<double>::bytes(view, 1));
}

TEST_CASE("solve_batch: a workspace of another batch is refused, and nothing is written",
          "[solve_batch]") {
  BatchStorage<double> batch = store<double>(draw_steps(40, 21012u));
  BatchStorage<double> fewer = store<double>(draw_steps(30, 21012u));
  VectorSource<double> source(21013u);
  BatchStorage<double> larger;
  for (int i = 0; i < 40; ++i) larger.add(build(draw_problem(source, {{30, 30}, 20})));
  const VectorX<double> before = batch.velocity(0);
  const auto try_with = [&](const auto& prepare) {
    BatchWorkspace<double> workspace;
    prepare(workspace);
    CHECK_FALSE(workspace.is_prepared_for(batch.view()));
    return solve_batch(batch.view(), batch.answers(), SapOptions<double>{}, workspace);
  };
  for (const BatchReport& report :
       {try_with([](auto&) {}), try_with([&](auto& w) { w.prepare(fewer.view(), 2); })}) {
    CHECK((!report.prepared && report.converged == 0 && report.first_bad == 0));
    CHECK(batch.velocity(0) == before);
  }
  BatchWorkspace<double> workspace;
  workspace.prepare(batch.view(), 1);
  CHECK_FALSE(workspace.is_prepared_for(larger.view()));
  workspace.prepare(larger.view(), 1);
  CHECK(workspace.is_prepared_for(batch.view()));
  CHECK(workspace.is_prepared_for(larger.view()));
}

TEST_CASE("solve_batch: one bad problem among many thousands", "[solve_batch]") {
  // Balls that hit the ground, each at its own speed, in shared arrays.
  ContactProblem<double> ball(0.01);
  ball.add_body(Eigen::Matrix3d::Identity(), Eigen::Vector3d(1, 0, -1));
  ball.add_contact(0, Eigen::Matrix3d::Identity(),
                   carom::CompliantContact<double>{.gap = 0, .stiffness = 1e5, .friction = 0.5});
  const carom::BatchPattern pattern(ball);
  BatchStorage<double> one;
  one.add(ball);
  constexpr Index count = carom::testing::sweep(10'000, 100'000), bad = count / 8 * 7 + 1;
  carom::BatchView<double> view = one.view();
  view.count = count;
  view.patterns = &pattern;
  view.pattern_numbers = nullptr;
  for (auto* array : {&view.mass, &view.jacobian, &view.friction, &view.regularization, &view.bias,
                      &view.bounds}) {
    array->offsets = nullptr;  // and a stride of 0
  }
  std::vector<double> free(3 * count), good(3 * count), found(3 * count);
  for (Index i = 0; i < count; ++i) {
    free[std::size_t(3 * i)] = 1e-5 * double(i);
    free[std::size_t(3 * i + 2)] = -1;
  }
  view.free_velocity = {free.data(), 3};
  view.guess = {};
  std::vector<carom::BatchProblemReport<double>> reports(count);
  BatchWorkspace<double> workspace;
  workspace.prepare(view, 1);
  const auto solve_into = [&](std::vector<double>& velocity) {
    return solve_batch(view, {{velocity.data(), 3}, {}, reports.data()}, SapOptions<double>{},
                       workspace);
  };
  CHECK(solve_into(good).converged == count);
  free[std::size_t(3 * bad + 1)] = std::numeric_limits<double>::quiet_NaN();
  const BatchReport report = solve_into(found);
  CHECK((report.converged == count - 1 && report.faults == 1 && report.first_bad == bad));
  CHECK(reports[bad].fault == BatchFault::free_velocity);
  CHECK((reports[bad].item == 0 && reports[bad].status == SolveStatus::not_finite));
  std::fill_n(good.begin() + 3 * bad, 3, 0.0);
  std::fill_n(found.begin() + 3 * bad, 3, 0.0);
  CHECK(good == found);
}

}  // namespace solve_batch_test
