// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "carom/solvers/certificate.hpp"
#include "carom/solvers/sap.hpp"
#include "carom/solvers/solve_contact.hpp"

#include "cli/commands.hpp"
#include "cli/json_output.hpp"
#include "cli/table.hpp"
#include "io/file_text.hpp"
#include "io/text_problem.hpp"

namespace carom::cli {
namespace {

using examples::BadInput;
using examples::format_rounded;
using examples::TextProblem;

struct TimedSolution {
  ContactSolution<double> solution;
  double seconds = 0;  ///< Median time of one solve [s].
};

/// Reads a problem in a format recognised by its content.
TextProblem read_problem(const std::string& file) {
  const std::string text = examples::read_file(file);
  constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";
  const std::string_view view = text;
  if (view.substr(0, hdf5_signature.size()) == hdf5_signature) {
    throw BadInput(file + ": expected a text contact problem, got HDF5, which solve does not read");
  }
  if (view.substr(0, 5) == "CPF1\n" || view.substr(0, 6) == "CPF1\r\n") {
    throw BadInput(file + ": expected a text contact problem, got CPF1, which solve does not read");
  }
  if (!examples::is_text_problem(view)) {
    throw BadInput(file +
                   ": expected a contact problem, text that starts with 'carom-problem 1', got " +
                   (view.empty() ? "an empty file" : "something else"));
  }
  try {
    return examples::parse_text_problem(view);
  } catch (const BadInput& fault) {
    throw BadInput(file + ": " + fault.what());
  }
}

TimedSolution solve(const TextProblem& given, const SolveOptions& options) {
  using Clock = std::chrono::steady_clock;
  SapSolver<double> solver({.tolerance = options.tolerance});
  solver.prepare(given.problem);
  TimedSolution result;
  std::vector<double> seconds;
  for (int i = 0; i < options.repeat; ++i) {
    result.solution.velocity = given.guess;
    const auto begin = Clock::now();
    result.solution.report = solver.solve(given.problem, result.solution.velocity);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const auto middle = seconds.begin() + std::ptrdiff_t(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  result.seconds = *middle;
  result.solution.impulse = solver.impulse();
  result.solution.contact_velocity = solver.contact_velocity();
  result.solution.certificate =
      certify(given.problem, result.solution.velocity, result.solution.impulse);
  return result;
}

std::string format_json(const TextProblem& given, const TimedSolution& timed) {
  const ContactSolution<double>& s = timed.solution;
  const Certificate<double>& c = s.certificate;
  const nlohmann::ordered_json document{{"law", "convex"},
                                        {"solver", "sap"},
                                        {"status", to_string(s.report.status)},
                                        {"iterations", s.report.iterations},
                                        {"contacts", given.problem.contact_count()},
                                        {"velocities", given.problem.velocity_count()},
                                        {"velocity", json_array(s.velocity)},
                                        {"impulse", json_array(s.impulse)},
                                        {"contact_velocity", json_array(s.contact_velocity)},
                                        {"certificate",
                                         {{"residual", c.residual},
                                          {"duality_gap", c.duality_gap},
                                          {"velocity_error_bound", c.velocity_error_bound},
                                          {"cone_violation", c.cone_violation},
                                          {"complementarity", c.complementarity},
                                          {"natural_map_error", c.natural_map_error}}},
                                        {"seconds", timed.seconds}};
  return document.dump() + "\n";
}

/// The impulse and velocity of each contact, as many as fit a screen.
std::string format_contacts(const ContactSolution<double>& solution, Index contact_count) {
  constexpr Index most = 24;
  const Index shown = std::min(contact_count, most);
  std::vector<std::vector<std::string>> rows{
      {"contact", "impulse t1", "t2", "n [N s]", "velocity t1", "t2", "n [m/s]"}};
  for (Index i = 0; i < shown; ++i) {
    rows.push_back({std::to_string(i)});
    for (const VectorX<double>* values : {&solution.impulse, &solution.contact_velocity}) {
      for (Index k = 0; k < 3; ++k) {
        rows.back().push_back(format_rounded((*values)(3 * i + k), 6));
      }
    }
  }
  const Index hidden = contact_count - shown;
  return format_table(rows) +
         (hidden > 0 ? "... " + std::to_string(hidden) + " more contacts; --json prints all\n"
                     : "");
}

std::string format_readable(const TextProblem& given, const TimedSolution& timed) {
  const ContactSolution<double>& s = timed.solution;
  const Certificate<double>& c = s.certificate;
  const auto number = [](double value) { return format_rounded(value, 4); };
  std::string text = "bodies " + std::to_string(given.problem.body_count()) + ", velocities " +
                     std::to_string(given.problem.velocity_count()) + ", contacts " +
                     std::to_string(given.problem.contact_count()) + ", time step " +
                     number(given.problem.time_step()) +
                     " s\nconvex law, sap solver: " + to_string(s.report.status) + " after " +
                     std::to_string(s.report.iterations) + " Newton iterations, " +
                     number(timed.seconds * 1e3) + " ms\n\n";
  const std::vector<std::vector<std::string>> rows{
      {"momentum balance, relative residual", number(c.residual), "-"},
      {"duality gap", number(c.duality_gap), "J"},
      {"bound on the velocity error, in the norm of A", number(c.velocity_error_bound), "J^(1/2)"},
      {"largest distance of an impulse from its cone", number(c.cone_violation), "N s"},
      {"largest violation of complementarity", number(c.complementarity), "J"},
      {"natural map error", number(c.natural_map_error), "-"}};
  text += format_table(rows);
  if (given.problem.contact_count() > 0) {
    text += "\n" + format_contacts(s, given.problem.contact_count());
  }
  return text;
}

}  // namespace

int run_solve(const SolveOptions& options) {
  const TextProblem given = read_problem(options.file);
  TimedSolution timed;
  try {
    timed = solve(given, options);
  } catch (const std::length_error&) {  // a request no allocator can meet
    throw std::bad_alloc();
  }
  print(options.json ? format_json(given, timed) : format_readable(given, timed));
  return timed.solution.report.converged() ? done : stopped_short;
}

}  // namespace carom::cli
