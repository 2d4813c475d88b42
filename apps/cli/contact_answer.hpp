// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/impulse_set.hpp"
#include "carom/core/solve_limits.hpp"
#include "carom/core/solve_report.hpp"

#include "cli/commands.hpp"
#include "io/friction_problem.hpp"
#include "io/text_problem.hpp"

namespace carom::cli {

/// The output of `carom solve`: an answer and its errors. A measure that a law does not define is
/// missing.
struct ContactAnswer {
  /// The rows of one block of a problem given by bodies.
  struct Block {
    ImpulseShape shape;
    Index first_row;
    int rows;
  };
  std::string law, solver;
  std::string about;  ///< The solved problem, in words.
  SolveReport<double> report;
  Index contact_count = 0;
  Index dimension = 3;        ///< Count of numbers per contact, unless there are blocks.
  std::vector<Block> blocks;  ///< Empty if bodies are not known.
  bool normal_first = false;  ///< The order of FCLIB's files.
  VectorX<double> velocity;   ///< Empty if bodies are not known.
  VectorX<double> impulse, contact_velocity;
  VectorX<double> multiplier;  ///< λ of equality constraints, if there are any.
  VectorX<double>
      ray;  ///< Proof that there is no answer, impulses by rows; empty if there is no such proof.
  double residual = 0;
  std::optional<double> duality_gap, velocity_error_bound;
  double cone_violation = 0, complementarity = 0, natural_map_error = 0;
  std::optional<double> absolute_error, signorini, dissipation_angle;
  Index worst_block = -1;
  double seconds = 0;  ///< Median time of one solve [s].
};

/// The median time of several runs. Each run begins with start(), which is not counted.
template <typename Start, typename Run>
[[nodiscard]] double median_seconds(int repeat, const Start& start, const Run& run) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int i = 0; i < repeat; ++i) {
    start();
    const auto begin = Clock::now();
    run();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const auto middle = seconds.begin() + std::ptrdiff_t(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

/// Measures run(), a solve after start(), as many times as the options require. If this is more
/// than once, a first run allocates the memory.
template <typename Start, typename Run>
void run_timed(const Start& start, const SolveOptions& options, ContactAnswer& answer,
               const Run& run) {
  if (options.repeat > 1) {
    start();
    run();
  }
  answer.seconds = median_seconds(options.repeat, start, run);
}

/// The limits of a solve that begins now.
[[nodiscard]] inline SolveLimits limits_from_now(const SolveOptions& options) {
  const auto now = [](void* /*context*/) noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  if (!std::isfinite(options.deadline)) return {};
  return {.now = now, .deadline = now(nullptr) + options.deadline};
}

[[nodiscard]] inline FrictionLaw friction_law(const SolveOptions& options) noexcept {
  return options.law == "convex" ? FrictionLaw::convex : FrictionLaw::coulomb;
}

/// Solves a problem in impulses with the solver of the options from a guess by rows. Writes
/// impulse, report and seconds.
void solve_dual(const DelassusProblem<double>& dual, const VectorX<double>& guess,
                const SolveOptions& options, ContactAnswer& answer);
/// Solves a problem of bodies with the solver in impulses of the options.
/// @return  whether the options name such a solver.
bool solve_bodies_in_impulses(const files::TextProblem& given, const SolveOptions& options,
                              ContactAnswer& answer);
/// Certifies the impulses of an answer.
void certify_answer(const DelassusProblem<double>& dual, const SolveOptions& options,
                    ContactAnswer& answer);

/// Solves a problem given by bodies with the method of the options.
[[nodiscard]] ContactAnswer solve_bodies(const files::TextProblem& given,
                                         const SolveOptions& options);

/// Solves a problem of FCLIB's type.
[[nodiscard]] ContactAnswer solve_friction(const files::FrictionProblem& given,
                                           const SolveOptions& options);

}  // namespace carom::cli
