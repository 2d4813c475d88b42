// SPDX-License-Identifier: BSD-3-Clause
// How long do MuJoCo's solvers and carom's take for the same contact problem, to the same accuracy?
//   carom_mujoco [problem.txt ...]   without files: heaps of MuJoCo's own
// Ends with 1 if an answer of carom's is not certified to 1e-8, or if MuJoCo's differs from it by
// more than its own residual explains.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>

#include "carom/solvers/certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "peers/mujoco_instant.hpp"

namespace {

using carom::ContactProblem;
using carom::peers::MujocoInstant;
using Eigen::VectorXd;

/// What all are asked for: ‖∇ℓ‖_{A⁻¹} relative to the momentum in play, which bounds the relative
/// error of the velocity.
constexpr double target = 1e-8;

/// Lowest wall time of a call [ms], of as many as half a second holds, but two at least.
template <typename Prepare, typename Action>
double milliseconds(const Prepare& prepare, const Action& action) {
  using Clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::infinity(), total = 0;
  for (int run = 0; run < 2 || total < 500; ++run) {
    prepare();
    const auto begin = Clock::now();
    action();
    const double time = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    least = std::min(least, time);
    total += time;
  }
  return least;
}

/// One row of the table.
struct Row {
  std::string solver, start, tolerance;
  int iterations;
  double time, residual;
};

/// A contact problem in both forms, and the rows measured so far.
class Comparison {
 public:
  Comparison(std::string name, MujocoInstant instant)
      : name_(std::move(name)),
        instant_(std::move(instant)),
        given_(carom::peers::read_problem(instant_)),
        warm_start_(VectorXd::Map(instant_.data->qacc_warmstart, instant_.model->nv)) {}

  /// Measures and prints. Returns whether the answers are right.
  bool run() {
    bool good = true;
    const VectorXd free = given_.problem.free_velocity();
    good &= solve_by_carom("cold", free, true);
    good &= solve_by_carom("warm", given_.guess, true);
    good &= solve_by_carom("warm, other pattern before", given_.guess, false);
    for (const int solver : {int(mjSOL_NEWTON), int(mjSOL_CG)}) {
      for (const bool warm : {false, true}) {
        good &= solve_by_mujoco(solver, warm, 1e-8, 100);
        good &= solve_by_mujoco_to_target(solver, warm);
      }
    }
    return good;
  }

 private:
  [[nodiscard]] double norm(const VectorXd& velocity) const {
    VectorXd whitened = velocity;
    given_.problem.whiten(whitened.data());
    return whitened.norm();
  }

  void print(const Row& row) const {
    std::printf("| %s | %d | %s | %s | %s | %d | %.3g | %.1e |\n", name_.c_str(),
                int(given_.problem.contact_count()), row.solver.c_str(), row.start.c_str(),
                row.tolerance.c_str(), row.iterations, row.time, row.residual);
    std::fflush(stdout);
  }

  bool solve_by_carom(const std::string& start, const VectorXd& guess, bool same_pattern) {
    const carom::SapOptions<double> options{.tolerance = target};
    carom::SapSolver<double> solver(options);
    solver.prepare(given_.problem);
    const ContactProblem<double> nothing(given_.problem.time_step());
    VectorXd velocity, unused;
    carom::SolveReport<double> report;
    const double time = milliseconds(
        [&] {
          velocity = guess;
          if (!same_pattern) report = solver.solve(nothing, unused);
        },
        [&] { report = solver.solve(given_.problem, velocity); });
    const auto certificate = carom::certify(given_.problem, velocity);
    print({"carom SAP", start, "1e-8", report.iterations, time, certificate.velocity_residual});
    reference_ = velocity;
    reference_error_ = certificate.velocity_error_bound;
    return report.converged() && certificate.velocity_residual <= target;
  }

  /// Lets MuJoCo solve from its warm start or from the smooth acceleration.
  void start_mujoco(int solver, bool warm, double tolerance, int iteration_limit) {
    mjOption& options = instant_.model->opt;
    options.solver = solver;
    options.tolerance = tolerance;
    options.iterations = iteration_limit;
    options.disableflags = warm ? 0 : mjDSBL_WARMSTART;
    VectorXd::Map(instant_.data->qacc_warmstart, warm_start_.size()) = warm_start_;
  }

  [[nodiscard]] double residual_of_mujoco() const {
    return carom::certify(given_.problem, instant_.velocity(instant_.data->qacc)).velocity_residual;
  }

  bool solve_by_mujoco(int solver, bool warm, double tolerance, int iteration_limit) {
    const double time =
        milliseconds([&] { start_mujoco(solver, warm, tolerance, iteration_limit); },
                     [&] { mj_fwdConstraint(instant_.model.get(), instant_.data.get()); });
    char text[16];
    std::snprintf(text, sizeof text, "%.0e", tolerance);
    print({solver == mjSOL_NEWTON ? "MuJoCo Newton" : "MuJoCo CG", warm ? "warm" : "cold", text,
           instant_.data->solver_iter, time, residual_of_mujoco()});
    return agrees();
  }

  /// Searches for the loosest tolerance, a power of ten, that leads to the target.
  bool solve_by_mujoco_to_target(int solver, bool warm) {
    const int iteration_limit = solver == mjSOL_NEWTON ? 1000 : 20000;
    for (int digits = 8; digits <= 24; ++digits) {
      const double tolerance = std::pow(10.0, -digits);
      start_mujoco(solver, warm, tolerance, iteration_limit);
      mj_fwdConstraint(instant_.model.get(), instant_.data.get());
      if (residual_of_mujoco() > target) continue;
      return solve_by_mujoco(solver, warm, tolerance, iteration_limit);
    }
    return solve_by_mujoco(solver, warm, 0, iteration_limit);  // as near as it comes
  }

  /// Both velocities are proven within their residuals of the one solution there is.
  [[nodiscard]] bool agrees() const {
    const VectorXd velocity = instant_.velocity(instant_.data->qacc);
    const double rounding = 1e-12 * norm(velocity);
    const double distance = norm(velocity - reference_);
    const double explained = carom::peers::own_residual(instant_) + reference_error_ + rounding;
    if (distance <= explained) return true;
    std::fprintf(stderr, "%s: MuJoCo is %.3g away from carom, its residual explains %.3g\n",
                 name_.c_str(), distance, explained);
    return false;
  }

  std::string name_;
  MujocoInstant instant_;
  carom::examples::TextProblem given_;
  VectorXd warm_start_;
  VectorXd reference_;  ///< carom's last answer
  double reference_error_ = 0;
};

bool compare_heap(const char* geometry, int body_count) {
  const std::string name = std::string(geometry) + " heap, " + std::to_string(body_count);
  return Comparison(name, carom::peers::make_heap({geometry, body_count})).run();
}

bool compare_file(const std::string& path) {
  const auto given = carom::examples::read_text_problem(path);
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return Comparison(name, carom::peers::make_instant(given.problem, given.guess)).run();
}

}  // namespace

int main(int argument_count, char** arguments) try {
  std::printf("| problem | contacts | solver | start | tolerance | iterations | ms | residual |\n");
  std::printf("|---|---:|---|---|---:|---:|---:|---:|\n");
  bool good = true;
  for (int i = 1; i < argument_count; ++i) good &= compare_file(arguments[i]);
  if (argument_count == 1) {
    for (const int count : {10, 100, 500}) good &= compare_heap("sphere", count);
    for (const int count : {10, 100}) good &= compare_heap("box", count);
  }
  return good ? 0 : 1;
} catch (const std::exception& fault) {
  std::fprintf(stderr, "%s\n", fault.what());
  return 2;
}
