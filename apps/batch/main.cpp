// SPDX-License-Identifier: BSD-3-Clause
// The program carom_batch: copies of one problem, solved in one batch.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "carom/batch/solve_batch.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/contact/primal.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "batch/device_solve.hpp"
#include "batch/varied_batch.hpp"
#include "ensemble/tally.hpp"
#include "io/text_problem.hpp"

namespace carom::batch {
namespace {

constexpr int bad_input = 2, not_converged = 3;

struct Arguments {
  std::string file, law = "coulomb", device = "cpu";
  Index count = 0;
  double vary = 0, tolerance = 1e-8;
  int threads = 1;
  bool json = false;
};

/// Runs tasks on separate threads, one of them on the calling thread.
struct Threads {
  template <typename Task>
  void operator()(Index count, const Task& task) const {
    std::vector<std::thread> threads;
    for (Index i = 1; i < count; ++i) threads.emplace_back([&task, i] { task(i); });
    if (count > 0) task(0);
    for (std::thread& one : threads) one.join();
  }
};

/// γ of the law for the velocity of the answer.
VectorX<double> impulse_of(const ContactProblem<double>& problem, const VectorX<double>& velocity,
                           FrictionLaw law) {
  VectorX<double> impulse(problem.impulse_count());
  write_impulse(problem, velocity, impulse);
  if (law == FrictionLaw::convex) return impulse;
  problem.for_each_block([&](const auto& block) {
    using Rows = RowNumbers<double>;
    const auto trial = block.trial(block.velocity(velocity));
    const auto weights = block.regularization();
    Rows y = Rows::Zero(), r = Rows::Ones();
    y.template head<std::decay_t<decltype(trial)>::SizeAtCompileTime>() = trial;
    r.template head<std::decay_t<decltype(weights)>::SizeAtCompileTime>() = weights;
    impulse.segment(block.first_row(), block.rows()) =
        coulomb_impulse(block.set(), r, y).head(block.rows());
  });
  return impulse;
}

/// The largest momentum balance of the answers, each computed again from its contact problem with
/// the impulses of its velocities. Impulses of rigid contact are not functions of the velocities.
/// For rigid contact the result is the momentum balance with the impulses of the batch, or their
/// error in the law.
double worst_residual(VariedBatch& batch, Index count, FrictionLaw law) {
  double worst = 0;
  DelassusForm<double> form;
  DelassusProblem<double> dual;
  for (Index i = 0; i < count; ++i) {
    const ContactProblem<double>& problem = batch.problem(i);
    const VectorX<double> velocity = batch.velocity(i);
    const bool rigid = problem.rigid_count() > 0;
    const VectorX<double> impulse = rigid ? batch.impulse(i) : impulse_of(problem, velocity, law);
    worst = std::max(worst, certify(problem, velocity, impulse).residual);
    if (!rigid) continue;
    form.write(problem, dual);
    worst = std::max(worst, certify(dual, impulse, law).natural_map_error);
  }
  return worst;
}

std::string checksum_of(const VariedBatch& batch, Index count) {
  ensemble::Checksum checksum;
  for (Index i = 0; i < count; ++i) {
    ensemble::Digest digest{std::uint64_t(i)};
    digest.take_all(batch.velocity(i));
    digest.take_all(batch.impulse(i));
    checksum.add(digest.value());
  }
  char text[40];
  std::snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, checksum.sum, checksum.parity);
  return text;
}

#ifdef CAROM_BATCH_CUDA
constexpr bool has_cuda = true;
#else
constexpr bool has_cuda = false;
#endif

struct Outcome {
  Index converged;
  double seconds;
};

Outcome solve(VariedBatch& batch, const SapOptions<double>& options, const Arguments& arguments) {
  const BatchView<double> view = batch.view();
  if constexpr (has_cuda) {
    if (arguments.device == "cuda") {
      Outcome outcome{};
      outcome.converged = solve_on_device(view, batch.answers(), options, outcome.seconds);
      return outcome;
    }
  }
  BatchWorkspace<double> workspace;
  workspace.prepare(view, arguments.threads);
  const auto begin = std::chrono::steady_clock::now();
  const BatchReport report = solve_batch(view, batch.answers(), options, workspace, Threads());
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  return {report.converged, time.count()};
}

int run(const Arguments& arguments) {
  const files::TextProblem given = files::read_text_problem(arguments.file);
  const FrictionLaw law = arguments.law == "coulomb" ? FrictionLaw::coulomb : FrictionLaw::convex;
  VariedBatch batch(given.problem, given.guess, arguments.count, arguments.vary);
  const auto [converged, seconds] =
      solve(batch, {.law = law, .tolerance = arguments.tolerance}, arguments);
  const double residual = worst_residual(batch, arguments.count, law);
  const double rate = double(arguments.count) / std::max(seconds, 1e-9);
  if (arguments.json) {
    const nlohmann::ordered_json answer = {
        {"count", arguments.count},          {"seconds", seconds},
        {"problems_per_second", rate},       {"converged", converged},
        {"residual_max", residual},          {"checksum", checksum_of(batch, arguments.count)},
        {"lanes", batch_lane_count<double>}, {"device", arguments.device}};
    std::printf("%s\n", answer.dump().c_str());
  } else {
    std::printf("%" PRId64 " problems in %.4g s, %.4g per second, %d side by side\n",
                std::int64_t(arguments.count), seconds, rate, batch_lane_count<double>);
    std::printf("converged %" PRId64 ", largest residual %.3g, checksum %s\n",
                std::int64_t(converged), residual, checksum_of(batch, arguments.count).c_str());
  }
  return converged == arguments.count ? 0 : not_converged;
}

}  // namespace
}  // namespace carom::batch

int main(int argc, char** argv) {
  carom::batch::Arguments arguments;
  CLI::App app(
      "Solves copies of one contact problem, whose numbers differ a little, side by side. Exit "
      "code "
      "0: done; 2: bad input, one line on standard error; 3: some have not converged.");
  app.add_option("--problem", arguments.file, "A contact problem as text")->required();
  app.add_option("--count", arguments.count, "Copies, >= 0")
      ->required()
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--vary", arguments.vary, "Relative spread of the numbers, in [0, 1)")
      ->check(CLI::Range(0.0, 0.999));
  app.add_option("--threads", arguments.threads, "Threads, in [1, 1024]")
      ->check(CLI::Range(1, 1024));
  app.add_option("--law", arguments.law, "Contact law")
      ->check(CLI::IsMember({"convex", "coulomb"}));
  app.add_option("--tolerance", arguments.tolerance, "Relative residual at which a solve ends")
      ->check(CLI::PositiveNumber);
  const std::vector<std::string> devices = carom::batch::has_cuda
                                               ? std::vector<std::string>{"cpu", "cuda"}
                                               : std::vector<std::string>{"cpu"};
  app.add_option("--device", arguments.device,
                 "What computes; cuda where nvcc was found when this program was built")
      ->check(CLI::IsMember(devices));
  app.add_flag("--json", arguments.json, "Print JSON instead of two lines");
  const auto refuse = [](std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::fprintf(stderr, "carom_batch: %s\n", text.c_str());
    return carom::batch::bad_input;
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : refuse(error.what());
  }
  try {
    return carom::batch::run(arguments);
  } catch (const std::bad_alloc&) {
    return refuse("--count: expected as many problems as memory holds, got " +
                  std::to_string(arguments.count));
  } catch (const std::exception& fault) {
    return refuse(fault.what());
  }
}
