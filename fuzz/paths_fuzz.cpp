// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: bytes as a contact problem that is solved along two paths of the library, which
// must agree: the small path and the general one, one thread and eight, in order and backwards,
// with a prepared solver and a used one. The bits, where the library promises them; certificates
// elsewhere.
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/sap.hpp"

#include "structured_problem.hpp"

namespace {

using carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::SapOptions, carom::VectorX;
using carom::fuzz::demand, carom::fuzz::Draws;

struct Answer {
  VectorX<double> velocity, impulse;
  carom::SolveReport<double> report;
};

bool same_bits(const VectorX<double>& a, const VectorX<double>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 ||
          std::memcmp(a.data(), b.data(), sizeof(double) * std::size_t(a.size())) == 0);
}
void demand_same(const Answer& a, const Answer& b, const char* what) {
  demand(same_bits(a.velocity, b.velocity), what, (a.velocity - b.velocity).norm());
  demand(same_bits(a.impulse, b.impulse), what, (a.impulse - b.impulse).norm());
  demand(a.report.status == b.report.status && a.report.iterations == b.report.iterations, what,
         a.report.iterations, b.report.iterations);
  const double residuals[] = {a.report.residual, b.report.residual};
  demand(std::memcmp(&residuals[0], &residuals[1], sizeof(double)) == 0, what, residuals[0],
         residuals[1]);
}

/// Some threads that take tasks as they come.
struct Threads {
  int count;

  template <typename Task>
  void operator()(Index tasks, const Task& task) const {
    std::atomic<Index> next{0};
    const auto work = [&] {
      for (Index i = next++; i < tasks; i = next++) task(i);
    };
    std::vector<std::thread> threads;
    for (int t = 1; t < count; ++t) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
  }
};
struct Backwards {
  template <typename Task>
  void operator()(Index tasks, const Task& task) const {
    for (Index i = tasks; i-- > 0;) task(i);
  }
};
struct InOrder {
  template <typename Task>
  void operator()(Index tasks, const Task& task) const {
    for (Index i = 0; i < tasks; ++i) task(i);
  }
};

template <typename Solver, typename Executor>
Answer run(Solver& solver, const ContactProblem<double>& problem, Executor&& executor) {
  Answer answer;
  answer.velocity = problem.free_velocity();
  answer.report = solver.solve(problem, answer.velocity, executor);
  answer.impulse = solver.impulse();
  return answer;
}

/// The bits of an answer depend neither on who runs the islands nor on what a solver solved before.
template <typename Make>
void check_executors(Draws& draws, const ContactProblem<double>& problem,
                     const ContactProblem<double>& other, const Make& make) {
  auto first = make();
  const Answer expected = run(first, problem, InOrder{});
  auto second = make();
  if (draws.chance(0.5)) second.prepare(problem);
  demand_same(expected, run(second, problem, Backwards{}),
              "the order of the islands does not matter");
  if (draws.chance(0.1)) {
    auto third = make();
    demand_same(expected, run(third, problem, Threads{8}), "the count of threads does not matter");
  }
  static_cast<void>(run(second, other, InOrder{}));
  const Answer again = run(second, problem, InOrder{});
  demand(again.report.status == expected.report.status,
         "a used solver ends as one that is not used");
  demand_same(expected, again, "what a solver solved before does not matter");
}

/// Convex, compliant: the same answer by any options, as far as the proven bounds say.
void check_small_path(Draws& draws, const ContactProblem<double>& problem) {
  const double tolerance = draws.pick({1e-6, 1e-10});
  std::optional<Answer> first;
  double first_bound = 0;
  for (const auto& options : {SapOptions<double>{.tolerance = tolerance},
                              SapOptions<double>{.tolerance = tolerance, .small_contact_limit = 0},
                              SapOptions<double>{.tolerance = tolerance, .factor_work_limit = 0}}) {
    carom::SapSolver<double> solver(options);
    Answer answer = run(solver, problem, InOrder{});
    const double bound = certify(problem, answer.velocity).velocity_error_bound;
    demand(!(answer.report.error_bound > bound * (1 + 1e-6) + 1e-300) || !std::isfinite(bound) ||
               answer.report.error_bound >= 0,
           "the reported bound is one");
    if (first) {
      VectorX<double> apart = answer.velocity - first->velocity;
      problem.whiten(carom::as_span(apart));
      demand(!(apart.norm() > (bound + first_bound) * (1 + 1e-12)),
             "two paths are no farther apart than their bounds", apart.norm(), bound + first_bound);
    } else {
      first = std::move(answer);
      first_bound = bound;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  const FrictionLaw law = draws.pick({FrictionLaw::coulomb, FrictionLaw::convex});
  const int kind = draws.below(4);
  auto shape = carom::fuzz::draw_shape(draws);
  shape.most_bodies = draws.pick({2, 5, 12});
  shape.most_blocks = draws.pick({4, 10, 20});
  if (kind == 0) {
    shape.softness = carom::fuzz::Softness::compliant;
    shape.most_bodies = 1;
    shape.only_contacts = draws.chance(0.8);
    const auto planted = carom::fuzz::plant_problem<double>(draws, shape, FrictionLaw::convex);
    if (planted.problem.rigid_count() == 0) check_small_path(draws, planted.problem);
    return 0;
  }
  const auto planted = carom::fuzz::plant_problem<double>(draws, shape, law);
  const auto other = carom::fuzz::plant_problem<double>(draws, shape, law);
  if (kind == 1) {
    check_executors(draws, planted.problem, other.problem,
                    [&] { return carom::SapSolver<double>({.law = law, .iteration_limit = 60}); });
  } else {
    check_executors(draws, planted.problem, other.problem, [&] {
      return carom::ContactSolver<double>({.law = law, .iteration_limit = 200});
    });
  }
  return 0;
}
