// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"
#include "carom/solvers/sap_derivative.hpp"

#include "support/residual_noise.hpp"

#include "io/text_problem.hpp"

/// @file
/// What any contact problem must survive, given as text (examples/data/README.md). The fuzz target
/// and a test run the same function.
namespace carom::testing {

/// What became of a text.
enum class FuzzOutcome {
  refused,    ///< Not a problem: an error says why.
  too_large,  ///< A problem, but too slow for a fuzzer.
  stopped,    ///< Not converged: the status says why.
  converged,
};

/// Ends the program with a sentence if something does not hold.
inline void demand(bool holds, const char* what, double got = 0, double allowed = 0) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s (%.9g, allowed %.9g)\n", what, got, allowed);
  std::abort();
}

/// The laws of an answer: finite numbers, a residual that can be recomputed, a correct status.
inline SolveStatus check_solver(const files::TextProblem& given, double work_limit) {
  const ContactProblem<double>& problem = given.problem;
  SapSolver<double> solver({.iteration_limit = 60, .factor_work_limit = work_limit});
  VectorX<double> velocity = given.guess;
  const auto report = solver.solve(problem, velocity);
  const VectorX<double> impulse = solver.impulse();
  demand(velocity.allFinite(), "the velocity is finite");
  demand(impulse.allFinite(), "the impulse is finite");
  demand(report.status == SolveStatus::not_finite || solver.contact_velocity().allFinite(),
         "the contact velocity is finite");
  demand(!std::isnan(report.residual) && !std::isnan(report.error_bound), "residual is a number");
  demand(report.residual >= 0 && report.error_bound >= 0, "residual is not negative");
  demand(report.iterations >= 0 && report.iterations <= 60, "iterations are counted");
  demand(!report.converged() || report.residual <= report.residual_target,
         "converged means below the target", report.residual, report.residual_target);
  const auto certificate = certify(problem, velocity, impulse);
  for (const double measure :
       {certificate.residual, certificate.velocity_residual, certificate.duality_gap,
        certificate.velocity_error_bound, certificate.cone_violation, certificate.complementarity,
        certificate.natural_map_error}) {
    demand(!std::isnan(measure), "a measure of the certificate is a number");
  }
  const double noise = residual_noise(problem, velocity, impulse) * (1 + report.residual);
  if (std::isfinite(report.residual) && std::isfinite(noise)) {
    const double miss = std::abs(report.residual - certificate.residual);
    demand(miss <= noise, "the reported residual is the recomputed one", miss, noise);
  }
  SapDerivative<double> derivative({.factor_work_limit = work_limit, .product_limit = 60});
  const auto linearization = derivative.linearize(problem, velocity);
  if (!linearization.usable()) return report.status;
  ProblemDifferential<double> gradient;
  gradient.set_zero(problem);
  const auto product = derivative.pull_back(problem, velocity, gradient);
  demand(!std::isnan(product.residual), "the gradient's residual is a number");
  if (product.converged()) demand(!gradient.free_velocity.hasNaN(), "the gradient is a number");
  return report.status;
}

/// Runs all checks on any text.
inline FuzzOutcome check_problem_text(std::string_view text) {
  try {
    const files::TextProblem given = files::parse_text_problem(text);
    if (given.problem.velocity_count() > 300 || given.problem.block_count() > 200) {
      return FuzzOutcome::too_large;
    }
    const SolveStatus by_factor = check_solver(given, SapOptions<double>{}.factor_work_limit);
    check_solver(given, 0);
    return by_factor == SolveStatus::converged ? FuzzOutcome::converged : FuzzOutcome::stopped;
  } catch (const files::BadInput&) {
    return FuzzOutcome::refused;
  }
}

/// Replaces one word of a text by a number that is hard on arithmetic, or spoils a byte.
/// @param randomness  decides which; the same number always gives the same mutation.
[[nodiscard]] inline std::string mutate_problem_text(std::string text, std::uint32_t randomness) {
  std::minstd_rand engine(randomness);
  const auto below = [&](std::size_t count) { return std::size_t(engine()) % count; };
  if (text.empty()) return "0";
  if (below(8) == 0) {
    text[below(text.size())] = static_cast<char>(below(256));
    return text;
  }
  static constexpr const char* hard[] = {"0",     "-0",     "1",          "-1",
                                         "1e-6",  "1e6",    "1e12",       "1e-12",
                                         "1e150", "-1e150", "1e-150",     "1e-300",
                                         "1e300", "-3e300", "1e-320",     "1.7976931348623157e308",
                                         "0.5",   "10",     "1.00001",    "0.999999",
                                         "nan",   "inf",    "2147483648", "7"};
  const std::size_t place = below(text.size());
  std::size_t begin = text.find_last_of(" \n", place);
  begin = begin == std::string::npos ? 0 : begin + 1;
  std::size_t end = text.find_first_of(" \n", begin);
  if (end == std::string::npos) end = text.size();
  if (begin > end) return text;
  const std::string word = text.substr(begin, end - begin);
  const bool scales = below(2) == 0 && !word.empty() && word.find('e') == std::string::npos;
  text.replace(begin, end - begin,
               scales ? word + "e" + std::to_string(int(below(25)) - 12)
                      : std::string(hard[below(std::size(hard))]));
  return text;
}

}  // namespace carom::testing
