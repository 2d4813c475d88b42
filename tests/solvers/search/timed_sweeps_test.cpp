// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/timed_sweeps.hpp"

#include "carom/contact/dual.hpp"

#include "support/catch.hpp"
#include "support/fake_clock.hpp"
#include "support/stacks.hpp"
#include "support/tolerance.hpp"

namespace timed_sweeps_test {

using carom::ContactProblem, carom::FrictionLaw, carom::VectorX;
using carom::detail::AfterSweeps, carom::detail::TimedSweeps, carom::detail::TimedSweepsTuning;
using carom::testing::build, carom::testing::FakeClock, carom::testing::make_stack;

namespace {

/// Sweeps over a stack whose answer never satisfies the tolerance.
struct Scene {
  ContactProblem<double> problem = build<double>(make_stack({.count = 6}));
  VectorX<double> impulse = VectorX<double>::Zero(problem.impulse_count());
  VectorX<double> velocity = problem.free_velocity();
  TimedSweeps<double> sweeps;
  FakeClock clock;
  int measures = 0, cost_of_measure = 0, solved_at = 1000;  ///< the measure that is good enough

  [[nodiscard]] AfterSweeps run(double deadline, int least_sweeps = 1) {
    clock.calls = 0;
    auto limits = clock.until(deadline);
    limits.least_sweeps = least_sweeps;
    return sweeps.run(problem, FrictionLaw::coulomb, 1e-14, limits,
                      {impulse.data(), velocity.data()}, [&] {
                        ++measures;
                        clock.calls += cost_of_measure;
                        return measures >= solved_at;
                      });
  }
  void learn(int now, bool improved, int iterations = 1000) {
    clock.calls = now;
    sweeps.learn(clock.until(0), improved, iterations);
  }
};

}  // namespace

TEST_CASE("timed_sweeps: with little time there is one sweep, and one measure of the answer",
          "[solvers][law]") {
  for (const double deadline : {-1.0, 0.5, 1.0, 6.0}) {
    Scene scene;
    CHECK(scene.run(deadline) == AfterSweeps::late);
    CHECK(scene.measures == 1);
    CHECK(scene.clock.calls == 4);  // before and after the sweep and the measure
    CHECK_FALSE(scene.impulse.isZero(0));
  }
}

TEST_CASE("timed_sweeps: the least count of sweeps has one measure", "[solvers][law]") {
  for (const int least : {2, 10}) {
    for (const double deadline : {-1.0, 0.0, 2.0}) {
      Scene scene;
      CHECK(scene.run(deadline, least) == AfterSweeps::late);
      CHECK(scene.measures == 1);
      // before the sweeps, after each of them, and before and after the measure
      CHECK(scene.clock.calls == least + 3);
    }
  }
}

TEST_CASE(
    "timed_sweeps: an answer that no sweep changes is measured at once, also when time is over",
    "[solvers][law]") {
  Scene scene;
  ContactProblem<double> free_flight(0.01);  // no block: no sweep changes anything
  static_cast<void>(
      free_flight.add_body(Eigen::Matrix3d::Identity().eval(), Eigen::Vector3d(1, 2, 3)));
  scene.problem = free_flight;
  scene.impulse.resize(0);
  CHECK(scene.run(-1, 10) == AfterSweeps::late);
  CHECK(scene.clock.calls == 4);
  CHECK(scene.velocity.head(3) == Eigen::Vector3d(1, 2, 3));
}

TEST_CASE("timed_sweeps: the time of the measure is not that of the other methods",
          "[solvers][law]") {
  const double methods = TimedSweepsTuning::unknown_methods;
  Scene scene;
  scene.cost_of_measure = 100;
  CHECK(scene.run(2 * (methods + 100) / TimedSweepsTuning::ample_share) == AfterSweeps::ample);
  scene.learn(scene.clock.calls + 4, true);  // they improved the answer in four sweeps
  scene.cost_of_measure = 0;
  CHECK(scene.run(250) == AfterSweeps::ample);
}

TEST_CASE("timed_sweeps: sweeps fill the time that does not suffice for other methods",
          "[solvers][law]") {
  Scene scene;
  const double time = TimedSweepsTuning::unknown_methods / 2;
  CHECK(scene.run(time) == AfterSweeps::late);
  CHECK(scene.clock.calls <= time);
  CHECK(scene.clock.calls >= time - TimedSweepsTuning::unknown_measure);
}

TEST_CASE("timed_sweeps: other methods begin at once with ample time, after some sweeps otherwise",
          "[solvers][law]") {
  const double methods = TimedSweepsTuning::unknown_methods;
  Scene ample, short_of_time;
  CHECK(ample.run(2 * methods / TimedSweepsTuning::ample_share) == AfterSweeps::ample);
  CHECK(ample.clock.calls == 4);
  CHECK(short_of_time.run(3 * methods) == AfterSweeps::go_on);
  CHECK(short_of_time.clock.calls == TimedSweepsTuning::first_sweeps + 3);
}

TEST_CASE("timed_sweeps: how long the other methods need is learned", "[solvers][law]") {
  const double methods = TimedSweepsTuning::unknown_methods;
  Scene scene;
  CHECK(scene.run(3 * methods) == AfterSweeps::go_on);
  scene.learn(1000, false);  // they were of no use in ten times the expected time
  CHECK(scene.run(3 * methods) == AfterSweeps::late);
  int solves = 0;
  while (scene.run(3 * methods) == AfterSweeps::late && solves < 1000) ++solves;
  CHECK(solves > 3);  // forgotten, after a while
  CHECK(solves < 30);
  scene.learn(scene.clock.calls + 20, true);
  CHECK(scene.run(60) == AfterSweeps::go_on);
}

TEST_CASE("timed_sweeps: methods whose first iteration is longer than the time left do not begin",
          "[solvers][law]") {
  const double methods = TimedSweepsTuning::unknown_methods;
  Scene scene;
  CHECK(scene.run(3 * methods) == AfterSweeps::go_on);
  scene.learn(scene.clock.calls + 400, true, 1);  // of use, but after the deadline
  int late = 0;
  while (scene.run(3 * methods) == AfterSweeps::late && late < 1000) ++late;
  CHECK(late > 100);  // they are tried again at last, as the iteration may have been long by chance
  CHECK(late < 1000);
  scene.learn(scene.clock.calls + 400, true, 20);  // 20 sweeps for each of their iterations
  CHECK(scene.run(methods * 10) == AfterSweeps::go_on);
}

TEST_CASE("timed_sweeps: a guess that is far too large adds no energy in the time of one sweep",
          "[solvers][law]") {
  Scene scene;
  scene.impulse.setConstant(1e3);
  CHECK(scene.run(-1) == AfterSweeps::late);
  CHECK_FALSE(scene.impulse.isZero(0));
  const double whole = scene.impulse.norm() * scene.problem.free_velocity().norm();
  CHECK(dual_cost(scene.problem, scene.impulse, scene.velocity) <=
        carom::testing::rounding(1000, whole));
}

TEST_CASE("timed_sweeps: an answer that satisfies the tolerance ends them, whenever it is measured",
          "[solvers][law]") {
  const double methods = TimedSweepsTuning::unknown_methods;
  for (const double deadline :
       {0.0, methods / 2, 3 * methods, 2 * methods / TimedSweepsTuning::ample_share}) {
    Scene scene;
    scene.solved_at = 1;
    CHECK(scene.run(deadline) == AfterSweeps::solved);
    CHECK(scene.measures == 1);
  }
}

TEST_CASE("timed_sweeps: what no sweep changes is not measured again", "[solvers][law]") {
  Scene scene;
  ContactProblem<double> free_flight(0.01);
  static_cast<void>(
      free_flight.add_body(Eigen::Matrix3d::Identity().eval(), Eigen::Vector3d(1, 2, 3)));
  scene.problem = free_flight;
  scene.impulse.resize(0);
  CHECK(scene.run(TimedSweepsTuning::unknown_methods / 2) == AfterSweeps::late);
  CHECK(scene.measures == 2);  // after the first sweep, and of the answer
}

TEST_CASE("timed_sweeps: without a sweep before nothing is learned", "[solvers][example]") {
  const double methods = TimedSweepsTuning::unknown_methods;
  Scene scene;
  scene.learn(1000000, false);
  CHECK(scene.run(3 * methods) == AfterSweeps::go_on);
}

}  // namespace timed_sweeps_test
