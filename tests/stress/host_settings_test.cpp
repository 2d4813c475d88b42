// SPDX-License-Identifier: BSD-3-Clause
// What a host program may have set or may do: rounding modes, numbers below the smallest normal
// ones set to zero, clocks that jump, signals, fork.
#include <atomic>
#include <cfenv>
#include <chrono>
#include <csignal>
#include <limits>
#include <thread>
#include <vector>

#include "carom/carom.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/executors.hpp"
#include "support/tolerance.hpp"

#if defined(__unix__)
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#endif
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace host_settings_test {

using carom::ContactProblem, carom::ContactSolver, carom::FrictionLaw, carom::SolveStatus,
    carom::VectorX;

namespace {

/// Problems of bodies with contacts and constraints of all kinds.
std::vector<ContactProblem<double>> drawn_problems(unsigned seed) {
  carom::testing::VectorSource<double> source(seed);
  std::vector<ContactProblem<double>> problems;
  for (const int constraints : {0, 2, 5}) {
    problems.push_back(carom::testing::build<double>(
        carom::testing::draw_constrained(source, {6, 3, 6, 2, 6}, constraints)));
  }
  return problems;
}

struct Answer {
  SolveStatus status;
  VectorX<double> velocity, impulse;
};

Answer solve(const ContactProblem<double>& problem, FrictionLaw law) {
  ContactSolver<double> solver({.law = law});
  Answer answer;
  answer.status = solver.solve(problem, answer.velocity).status;
  answer.impulse = solver.impulse();
  return answer;
}

/// Solves under a setting of the host; the certificate is computed under the usual one.
template <typename Set, typename Reset>
void check_under(const Set& set, const Reset& reset) {
  for (const auto& problem : drawn_problems(5u)) {
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      const Answer usual = solve(problem, law);
      set();
      const Answer answer = solve(problem, law);
      reset();
      CHECK(answer.status == usual.status);
      if (usual.status != SolveStatus::converged) continue;
      const double scale = usual.velocity.norm() + problem.free_velocity().norm();
      CHECK((answer.velocity - usual.velocity).norm() <= carom::testing::by_solver(1e-4) * scale);
    }
  }
}

}  // namespace

TEST_CASE("host settings: solves end well in every rounding mode", "[stress][law]") {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    CAPTURE(mode);
    check_under([&] { std::fesetround(mode); }, [] { std::fesetround(FE_TONEAREST); });
  }
}

#if defined(__SSE2__)
TEST_CASE("host settings: solves end well where tiny numbers are zero", "[stress][law]") {
  const unsigned usual = _mm_getcsr();
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x40;
  check_under([&] { _mm_setcsr(usual | flush_to_zero | denormals_are_zero); },
              [&] { _mm_setcsr(usual); });
}
#endif

TEST_CASE("host settings: numbers below the smallest normal one are refused or solved",
          "[stress][law]") {
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const double size : {tiny, 1e-320, 1e-310, 1e-200}) {
    CAPTURE(size);
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      ContactProblem<double> problem(0.01);
      const Eigen::Matrix3d mass = Eigen::Matrix3d::Identity();
      const auto body = problem.add_body(mass, Eigen::Vector3d(size, -size, -size));
      problem.add_contact(body, mass, carom::RigidContact<double>{.gap = 0, .friction = 0.5});
      const Answer answer = solve(problem, law);
      CHECK(answer.status == SolveStatus::converged);
      CHECK(answer.velocity.allFinite());
    }
  }
}

namespace {

/// A clock that jumps: forwards, backwards, to infinity, to what is no number.
struct JumpingClock {
  int calls = 0;
  [[nodiscard]] carom::SolveLimits until(double deadline) {
    return {.now =
                [](void* context) noexcept {
                  const int k = static_cast<JumpingClock*>(context)->calls++;
                  switch (k % 5) {
                    case 0:
                      return 1e9;
                    case 1:
                      return -1e9;
                    case 2:
                      return std::numeric_limits<double>::infinity();
                    case 3:
                      return std::numeric_limits<double>::quiet_NaN();
                    default:
                      return double(k);
                  }
                },
            .context = this,
            .deadline = deadline};
  }
};

}  // namespace

TEST_CASE("host settings: whatever the clock says, a solve ends with impulses in their cones",
          "[stress][law]") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& problem : drawn_problems(7u)) {
    for (const double deadline : {0.0, -1.0, -infinity, 5.0, 1e8, infinity}) {
      for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
        CAPTURE(deadline);
        JumpingClock clock;
        ContactSolver<double> solver({.law = law});
        solver.set_limits(clock.until(deadline));
        VectorX<double> velocity;
        for (int again = 0; again < 3; ++again) {
          const auto report = solver.solve(problem, velocity);
          CHECK((report.converged() || report.status == SolveStatus::deadline ||
                 report.status == SolveStatus::iteration_limit ||
                 report.status == SolveStatus::no_progress));
          CHECK(velocity.allFinite());
          CHECK(solver.impulse().allFinite());
        }
      }
    }
  }
}

TEST_CASE("host settings: executors that call twice, forget, throw or delay give the same bits",
          "[stress][law]") {
  using namespace carom::testing;
  ContactProblem<double> problem(0.01);
  const Eigen::Matrix3d mass = Eigen::Matrix3d::Identity();
  for (int i = 0; i < 40; ++i) {  // islands
    const auto body = problem.add_body(mass, Eigen::Vector3d(0.01 * i, -0.3, -0.1 - i));
    problem.add_contact(body, mass, carom::RigidContact<double>{.gap = 0, .friction = 0.4});
  }
  ContactSolver<double> alone;
  VectorX<double> expected;
  CHECK(alone.solve(problem, expected).converged());
  const auto check = [&](auto&& executor) {
    ContactSolver<double> solver;
    VectorX<double> velocity;
    CHECK(solver.solve(problem, velocity, executor).converged());
    CHECK(velocity == expected);
  };
  check(Twice());
  check(Forgetful());
  check(Forgetful{7});
  check(Throwing());
  check(Shuffled{64, 9u});
}

TEST_CASE("host settings: sixty-four threads, each with its own solver, get the bits of one",
          "[stress][law]") {
  const auto problems = drawn_problems(17u);
  std::vector<VectorX<double>> expected;
  for (const auto& problem : problems)
    expected.push_back(solve(problem, FrictionLaw::coulomb).velocity);
  std::vector<int> same(64, 0);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < same.size(); ++k) {
    threads.emplace_back([&, k] {  // they share the problems
      ContactSolver<double> solver;
      VectorX<double> velocity;
      for (std::size_t i = 0; i < 3 * problems.size(); ++i) {
        const std::size_t p = (k + i) % problems.size();
        velocity.resize(0);
        static_cast<void>(solver.solve(problems[p], velocity));
        same[k] += velocity == expected[p];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(same == std::vector<int>(64, 3 * int(problems.size())));
}

#if defined(__unix__)
TEST_CASE("host settings: a child process solves on after fork", "[stress][law]") {
  const auto problems = drawn_problems(11u);
  ContactSolver<double> solver;
  VectorX<double> velocity;
  static_cast<void>(solver.solve(problems[0], velocity));
  const VectorX<double> expected = velocity;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    VectorX<double> own;
    static_cast<void>(solver.solve(problems[0], own));
    _exit(own == expected ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

namespace {
std::atomic<int> signals_seen{0};
}

TEST_CASE("host settings: signals in the middle of solves change no bit", "[stress][law]") {
  const auto problems = drawn_problems(13u);
  const VectorX<double> expected = solve(problems[2], FrictionLaw::coulomb).velocity;
  const auto before = std::signal(SIGUSR1, [](int) { ++signals_seen; });
  std::atomic<bool> over{false};
  const pthread_t solving = pthread_self();
  std::thread sender([&] {
    while (!over) {
      pthread_kill(solving, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  for (int i = 0; i < 200 || signals_seen < 20; ++i) {
    CHECK(solve(problems[2], FrictionLaw::coulomb).velocity == expected);
  }
  over = true;
  sender.join();
  std::signal(SIGUSR1, before);
}
#endif

}  // namespace host_settings_test
