// SPDX-License-Identifier: BSD-3-Clause
#include "fclib/timed_run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "carom/solvers/impulse_certificate.hpp"

#include "io/cpf_writer.hpp"
#include "io/friction_dual.hpp"

namespace carom::benchmarks {

namespace {

/// What the process of a run sends to the one that waits: plain numbers.
struct Message {
  int info;
  long iterations;
  double cpu_seconds, error, absolute_error, convex_error, residual;
};

/// Makes SIGPROF end the process after that much more processor time; 0: never.
void end_after(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = time_t(seconds);
  timer.it_value.tv_usec = suseconds_t((seconds - std::floor(seconds)) * 1e6);
  setitimer(ITIMER_PROF, &timer, nullptr);
}

/// Where the answer of a run goes.
std::string answer_path(const std::string& folder, const Row& row) {
  std::array<char, 32> tolerance{};
  std::snprintf(tolerance.data(), tolerance.size(), ".%.0e.cpf", row.tolerance);
  std::string solver = row.solver;
  std::replace(solver.begin(), solver.end(), ':', '-');
  return folder + '/' + row.name + '.' + solver + tolerance.data();
}

void write_answer(const ContactFile& file, const Answer& answer, const std::string& path) {
  files::FrictionProblem solution;
  solution.dimension = file.problem.dimension;
  solution.contact_count = file.problem.contact_count;
  solution.solution = files::friction_answer(file.problem, answer.impulse);
  solution.solution->velocity.resize(0);
  files::write_cpf(solution, path);
}

Message measure(const ContactFile& file, const Solve& solve, const std::string& path) {
  const Answer answer = solve();
  end_after(0);
  if (!path.empty()) write_answer(file, answer, path);
  constexpr double patience = 0.25;
  std::vector<double> times;
  double total = answer.cpu_seconds;
  while (total + answer.cpu_seconds < patience && times.size() < 31) {
    times.push_back(solve().cpu_seconds);
    total += times.back();
  }
  if (times.empty()) times.push_back(answer.cpu_seconds);
  const auto middle = times.begin() + std::ptrdiff_t(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const auto exact = certify(file.dual, answer.impulse, FrictionLaw::coulomb);
  const auto convex = certify(file.dual, answer.impulse, FrictionLaw::convex);
  return {answer.info,          answer.iterations,        *middle,        exact.natural_map_error,
          exact.absolute_error, convex.natural_map_error, answer.residual};
}

[[noreturn]] void run_child(const ContactFile& file, const Solver& solver, const Row& row,
                            const RunOptions& options, int pipe) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // The report must not contain a solver's own output.
  if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
  end_after(options.time_limit);
  const std::string path = options.answers.empty() ? "" : answer_path(options.answers, row);
  const Message message = measure(file, solver.prepare(file, row.tolerance), path);
  const bool told = write(pipe, &message, sizeof message) == ssize_t(sizeof message);
  _exit(told ? 0 : 1);
}

}  // namespace

Row timed_run(const ContactFile& file, const Solver& solver, double tolerance,
              const RunOptions& options) {
  Row row;
  row.name = file.name;
  row.contact_count = file.problem.contact_count;
  row.solver = solver.name;
  row.tolerance = tolerance;
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("expected a pipe, was refused it");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("expected a new process, was refused it");
  if (child == 0) run_child(file, solver, row, options, ends[1]);
  close(ends[1]);
  Message message{};
  const bool told = read(ends[0], &message, sizeof message) == ssize_t(sizeof message);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (told) {
    row.status = "ok";
    row.info = message.info;
    row.iterations = message.iterations;
    row.cpu_seconds = message.cpu_seconds;
    row.error = message.error;
    row.absolute_error = message.absolute_error;
    row.convex_error = message.convex_error;
    row.residual = message.residual;
    return row;
  }
  const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
  row.status = late ? "timeout" : "crash";
  if (late) row.cpu_seconds = options.time_limit;
  return row;
}

}  // namespace carom::benchmarks
