// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "carom/contact/problem_dump.hpp"

#include "cli/commands.hpp"
#include "cli/heap_run.hpp"
#include "cli/memory.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "io/bad_input.hpp"
#include "io/number_text.hpp"

namespace carom::cli {
namespace {

using files::format_rounded;

/// A stopwatch that starts at its construction.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

examples::PileShape shape_of(const HeapOptions& options) {
  examples::PileShape shape{.body_count = options.bodies};
  if (options.shape == "spheres") shape.bodies = examples::PileBodies::spheres;
  if (options.shape == "boxes") shape.bodies = examples::PileBodies::boxes;
  return shape;
}

/// Moves a bar during the generation of a heap and its steps. A solver calls the clock once per
/// iteration; the bar uses these calls.
class HeapProgress {
 public:
  HeapProgress(Index bodies, int steps) : bodies_(double(bodies)), steps_(steps) {}

  void made(Index bodies) { bar_.show(making * double(bodies) / bodies_); }
  void begin_step(int step) {
    const int looks = looks_.exchange(0);
    if (looks > 0) usual_ = looks;
    step_ = step;
    show();
  }
  /// Limits without a bound. They have a clock only if the bar is visible.
  [[nodiscard]] SolveLimits limits() noexcept {
    if (!bar_.shown()) return {};
    const auto look = [](void* self) noexcept {
      auto* const progress = static_cast<HeapProgress*>(self);
      ++progress->looks_;
      progress->show();
      return 0.0;
    };
    return {.now = look, .context = this};
  }

 private:
  static constexpr double making = 0.1;  ///< Share of the bar for the generation of the heap.

  /// The share of a step is full only after its end. It is half at the iteration count of the last
  /// step.
  void show() noexcept {
    if (drawing_.test_and_set()) return;  // another thread draws
    const double looks = looks_;
    const double step = step_ + looks / (looks + usual_);
    bar_.show(making + (1 - making) * step / steps_);
    drawing_.clear();
  }

  ProgressBar bar_;
  double bodies_;
  int steps_, step_ = 0;
  /// expected count of clock calls in a step: that of the last step, if there was one
  int usual_ = 30;
  std::atomic<int> looks_{0};
  std::atomic_flag drawing_;
};

/// The output of `carom heap`.
struct HeapAnswer {
  Index bodies = 0, contacts = 0;
  double make_seconds = 0;
  std::vector<double> seconds, residual;
  std::vector<int> iterations;
  double farthest = 0;
  SolveStatus status = SolveStatus::converged;
};

void check_memory(const HeapOptions& options, const examples::PileShape& shape,
                  const HeapLaw& law) {
  const double needed = heap_memory(shape, law);
  const double available = options.memory > 0 ? options.memory : available_memory();
  if (needed <= available) return;
  throw files::BadInput("--bodies: expected a heap that fits in the " + format_bytes(available) +
                        " of memory at hand, got " + std::to_string(options.bodies) +
                        ", which needs " + format_bytes(needed));
}

HeapAnswer solve_heap(const HeapOptions& options) {
  const examples::PileShape shape = shape_of(options);
  const HeapLaw law{options.law == "coulomb" ? FrictionLaw::coulomb : FrictionLaw::convex,
                    options.rigid, options.tolerance};
  check_memory(options, shape, law);
  ThreadPool pool(options.threads);
  HeapProgress progress(options.bodies, options.steps);
  HeapAnswer answer;
  const Stopwatch making;
  HeapRun run(shape, examples::make_pile(shape, [&](Index bodies) { progress.made(bodies); }), law);
  answer.make_seconds = making.seconds();
  answer.bodies = run.problem().body_count();
  answer.contacts = run.problem().block_count();
  if (!options.write.empty()) write_problem(run.problem(), options.write, run.velocity());
  for (int step = 0; step < options.steps && answer.status == SolveStatus::converged; ++step) {
    if (step > 0) run.advance();
    progress.begin_step(step);
    const Stopwatch solving;
    const SolveReport<double> report = run.solve(pool, progress.limits());
    answer.seconds.push_back(solving.seconds());
    answer.iterations.push_back(report.iterations);
    answer.residual.push_back(run.residual());
    answer.status = report.status;
  }
  answer.farthest = run.farthest();
  return answer;
}

std::string format_json(const HeapAnswer& answer, const HeapOptions& options) {
  const nlohmann::ordered_json document{{"bodies", answer.bodies},
                                        {"contacts", answer.contacts},
                                        {"make_seconds", answer.make_seconds},
                                        {"seconds", answer.seconds},
                                        {"iterations", answer.iterations},
                                        {"residual", answer.residual},
                                        {"peak_memory_bytes", std::int64_t(peak_memory())},
                                        {"threads", options.threads},
                                        {"status", to_string(answer.status)}};
  return document.dump() + "\n";
}

std::string format_readable(const HeapAnswer& answer, const HeapOptions& options) {
  std::string text =
      "a heap of " + std::to_string(answer.bodies) + " bodies (" + options.shape + "), " +
      std::to_string(answer.contacts) + " contacts, " + (options.rigid ? "rigid" : "compliant") +
      ", " + options.law + " law\nmade in " + format_rounded(answer.make_seconds, 3) + " s; " +
      std::to_string(options.threads) + (options.threads == 1 ? " thread; " : " threads; ") +
      to_string(answer.status) + "\n\n";
  std::vector<std::vector<std::string>> rows{
      {"step", "seconds", "µs per contact", "iterations", "residual"}};
  for (std::size_t i = 0; i < answer.seconds.size(); ++i) {
    const double each = 1e6 * answer.seconds[i] / double(std::max(answer.contacts, Index(1)));
    rows.push_back({std::to_string(i), format_rounded(answer.seconds[i], 3),
                    format_rounded(each, 3), std::to_string(answer.iterations[i]),
                    format_rounded(answer.residual[i], 3)});
  }
  text += format_table(rows) + "\nmost memory: " + format_bytes(peak_memory()) + "\n";
  if (options.steps > 1) {
    text += "the farthest that a body moved: " + format_rounded(1e3 * answer.farthest, 3) +
            " mm, of 100 mm that it is wide\n";
  }
  return text;
}

}  // namespace

int run_heap(const HeapOptions& options) {
  const HeapAnswer answer = solve_heap(options);
  print(options.json ? format_json(answer, options) : format_readable(answer, options));
  return answer.status == SolveStatus::converged ? done : stopped_short;
}

}  // namespace carom::cli
