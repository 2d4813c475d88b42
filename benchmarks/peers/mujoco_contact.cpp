// SPDX-License-Identifier: BSD-3-Clause
// How long do MuJoCo's solvers and carom's take for the same contact problem, to the same accuracy?
//   carom_mujoco [problem.txt ...]   without files: heaps of MuJoCo's own
// Ends with 1 if an answer of carom's is not certified to 1e-8, or if MuJoCo's differs from it by
// more than its own residual explains.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "peers/mujoco_instant.hpp"

namespace {

using carom::ContactProblem;
using carom::peers::MujocoInstant;
using Eigen::VectorXd;

/// The residual asked of all solvers: ‖∇ℓ‖_{A⁻¹} relative to the momentum in play, which bounds the
/// relative error of the velocity.
constexpr double target = 1e-8;

/// Processor time this program has taken [ms].
double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
}

/// Processor time of a call [ms], the middle of as many as half a second holds, but three at least.
template <typename Prepare, typename Action>
double milliseconds(const Prepare& prepare, const Action& action) {
  std::vector<double> times;
  for (double total = 0; times.size() < 3 || total < 500; total += times.back()) {
    prepare();
    const double begin = processor_time();
    action();
    times.push_back(processor_time() - begin);
  }
  const auto middle = times.begin() + std::ptrdiff_t(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
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
  Comparison(std::string name, carom::files::TextProblem given, MujocoInstant instant)
      : name_(std::move(name)),
        given_(std::move(given)),
        instant_(std::move(instant)),
        warm_start_(VectorXd::Map(instant_.data->qacc_warmstart, instant_.model->nv)) {}

  /// Measures and prints. Returns whether the answers are right.
  bool run() {
    bool good = true;
    const VectorXd free = given_.problem.free_velocity();
    good &= solve_by_carom("cold", free, true);
    good &= solve_by_carom("warm", given_.guess, true);
    good &= solve_by_carom("warm, new pattern", given_.guess, false);
    for (const int solver : {int(mjSOL_NEWTON), int(mjSOL_CG)}) {
      for (const bool warm : {false, true}) {
        good &= solve_by_mujoco({solver, warm});
        if (residual_of_mujoco() > target) good &= solve_by_mujoco_to_target(solver, warm);
      }
    }
    return good;
  }

 private:
  [[nodiscard]] double norm(const VectorXd& velocity) const {
    VectorXd whitened = velocity;
    given_.problem.whiten(carom::as_span(whitened));
    return whitened.norm();
  }

  void print(const Row& row) const {
    std::printf("| %s | %d | %s | %s | %s | %d | %.3g | %.1e |\n", name_.c_str(),
                int(given_.problem.block_count()), row.solver.c_str(), row.start.c_str(),
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

  /// How MuJoCo is to solve; by default as its authors set it.
  struct Settings {
    int solver;
    bool warm;  ///< From its warm start, or from the smooth acceleration.
    double tolerance = 1e-8;
    int iteration_limit = 100;
  };

  void prepare_mujoco(const Settings& settings) {
    mjOption& options = instant_.model->opt;
    options.solver = settings.solver;
    options.tolerance = settings.tolerance;
    options.iterations = settings.iteration_limit;
    options.disableflags = settings.warm ? 0 : mjDSBL_WARMSTART;
    VectorXd::Map(instant_.data->qacc_warmstart, warm_start_.size()) = warm_start_;
  }

  void run_mujoco() { mj_fwdConstraint(instant_.model.get(), instant_.data.get()); }

  [[nodiscard]] double residual_of_mujoco() const {
    return carom::certify(given_.problem, instant_.velocity(instant_.data->qacc)).velocity_residual;
  }

  bool solve_by_mujoco(const Settings& settings) {
    const double time = milliseconds([&] { prepare_mujoco(settings); }, [&] { run_mujoco(); });
    std::array<char, 16> tolerance{};
    std::snprintf(tolerance.data(), tolerance.size(), "%g", settings.tolerance);
    print({settings.solver == mjSOL_NEWTON ? "MuJoCo Newton" : "MuJoCo CG",
           settings.warm ? "warm" : "cold", tolerance.data(),
           carom::examples::count_iterations(*instant_.data), time, residual_of_mujoco()});
    return agrees();
  }

  /// Measures with the loosest tolerance, a power of ten, that leads to the target; if none does,
  /// with the loosest whose residual is within a factor of two of the least.
  bool solve_by_mujoco_to_target(int solver, bool warm) {
    Settings best{solver, warm, 0, solver == mjSOL_NEWTON ? 1000 : 20000};
    double least = std::numeric_limits<double>::infinity();
    for (int digits = 9; digits <= 24 && least > target; ++digits) {
      Settings settings = best;
      settings.tolerance = std::pow(10.0, -digits);
      prepare_mujoco(settings);
      run_mujoco();
      const double residual = residual_of_mujoco();
      if (residual > target && residual > least / 2) continue;
      least = residual;
      best = settings;
    }
    return solve_by_mujoco(best);
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
  carom::files::TextProblem given_;
  MujocoInstant instant_;
  VectorXd warm_start_;
  VectorXd reference_;  ///< carom's last answer
  double reference_error_ = 0;
};

bool compare_heap(const carom::peers::HeapShape& shape) {
  std::string name = shape.geometry + " heap, " + std::to_string(shape.body_count);
  if (shape.impedance_ratio != 1) {
    name += ", impratio " + std::to_string(int(shape.impedance_ratio));
  }
  MujocoInstant instant = carom::peers::make_heap(shape);
  auto given = carom::peers::read_problem(instant);
  return Comparison(name, std::move(given), std::move(instant)).run();
}

bool compare_file(const std::string& path) {
  auto given = carom::files::read_text_problem(path);
  MujocoInstant instant = carom::peers::make_instant(given.problem, given.guess);
  const std::string name = std::filesystem::path(path).stem().string();
  return Comparison(name, std::move(given), std::move(instant)).run();
}

}  // namespace

int main(int argument_count, char** arguments) try {
  mju_user_error = [](const char* fault) {  // by default MuJoCo waits for a key
    std::fprintf(stderr, "MuJoCo: %s\n", fault);
    std::exit(2);
  };
  std::printf("| problem | contacts | solver | start | tolerance | iterations | ms | residual |\n");
  std::printf("|---|---:|---|---|---:|---:|---:|---:|\n");
  bool good = true;
  for (int i = 1; i < argument_count; ++i) good &= compare_file(arguments[i]);
  if (argument_count == 1) {
    for (const int count : {10, 100, 500}) good &= compare_heap({"sphere", count});
    for (const int count : {10, 100}) good &= compare_heap({"box", count});
    good &= compare_heap({"box", 10, 10});
  }
  return good ? 0 : 1;
} catch (const std::exception& fault) {
  std::fprintf(stderr, "%s\n", fault.what());
  return 2;
}
