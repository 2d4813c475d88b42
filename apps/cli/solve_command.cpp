// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/contact_answer.hpp"
#include "cli/json_output.hpp"
#include "cli/table.hpp"
#include "io/fclib_file.hpp"
#include "io/file_text.hpp"
#include "io/problem_format.hpp"

namespace carom::cli {
namespace {

using files::BadInput;
using files::format_rounded;
using files::ProblemFormat;
using files::TextProblem;

ContactAnswer solve_text(TextProblem given, const SolveOptions& options) {
  if (options.rigid) given.problem.make_rigid();
  const Index rigid = given.problem.rigid_count();
  const bool convex = options.law == "convex";
  SolveOptions chosen = options;
  chosen.law = convex ? "convex" : "coulomb";
  if (chosen.solver.empty()) chosen.solver = convex && rigid == 0 ? "sap" : "newton";
  ContactAnswer answer = solve_bodies(given, chosen);
  const ContactProblem<double>& problem = given.problem;
  answer.about = "bodies " + std::to_string(problem.body_count()) + ", velocities " +
                 std::to_string(problem.velocity_count()) + ", contacts " +
                 std::to_string(problem.block_count()) + ", time step " +
                 format_rounded(problem.time_step(), 4) + " s, " +
                 (rigid == 0                       ? "compliant"
                  : rigid == problem.block_count() ? "rigid"
                                                   : std::to_string(rigid) + " of them rigid");
  return answer;
}

ContactAnswer solve_dual_form(const files::FrictionProblem& given, const SolveOptions& options) {
  ContactAnswer answer = solve_friction(given, options);
  answer.about = "contacts " + std::to_string(given.contact_count) + " of " +
                 std::to_string(given.dimension) + " components, normal first, rigid";
  if (given.dimension == 5) answer.about += ", which resist rolling";
  if (const Index count = given.equality_count(); count > 0) {
    answer.about += "; equality constraints " + std::to_string(count);
  }
  return answer;
}

/// Reads a problem in a format detected from its content, and solves it.
ContactAnswer solve_file(const SolveOptions& options) {
  const std::string bytes = files::read_file(options.file);
  try {
    switch (files::recognize_format(bytes)) {
      case ProblemFormat::text:
        return solve_text(files::parse_text_problem(bytes), options);
      case ProblemFormat::cpf:
        return solve_dual_form(files::parse_cpf(bytes), options);
      case ProblemFormat::hdf5:
        return solve_dual_form(files::parse_fclib(bytes), options);
      case ProblemFormat::unknown:
        break;
    }
  } catch (const BadInput& fault) {
    throw BadInput(options.file + ": " + fault.what());
  }
  throw BadInput(options.file +
                 ": expected a contact problem, text that starts with 'carom-problem 1', CPF1 or "
                 "HDF5, got " +
                 (bytes.empty() ? "an empty file" : "something else"));
}

std::string format_json(const ContactAnswer& a) {
  nlohmann::ordered_json certificate{{"residual", a.residual},
                                     {"duality_gap", json_or_null(a.duality_gap)},
                                     {"velocity_error_bound", json_or_null(a.velocity_error_bound)},
                                     {"cone_violation", a.cone_violation},
                                     {"complementarity", a.complementarity},
                                     {"natural_map_error", a.natural_map_error}};
  if (a.absolute_error) {
    certificate["natural_map_error_abh"] = *a.absolute_error;
    certificate["signorini"] = json_or_null(a.signorini);
    certificate["dissipation_angle"] = json_or_null(a.dissipation_angle);
    certificate["worst_contact"] = a.worst_block;
  }
  nlohmann::ordered_json document{{"law", a.law},
                                  {"solver", a.solver},
                                  {"status", to_string(a.report.status)},
                                  {"iterations", a.report.iterations},
                                  {"contacts", a.contact_count},
                                  {"velocities", a.velocity.size()},
                                  {"velocity", json_array(a.velocity)},
                                  {"impulse", json_array(a.impulse)},
                                  {"contact_velocity", json_array(a.contact_velocity)},
                                  {"certificate", certificate},
                                  {"seconds", a.seconds}};
  if (a.multiplier.size() > 0) document["multiplier"] = json_array(a.multiplier);
  if (a.ray.size() > 0) document["ray"] = {{"impulse", json_array(a.ray)}};
  return document.dump() + "\n";
}

/// As many lines fit on a screen.
constexpr Index most_lines = 24;

std::string format_hidden(Index count, const std::string& what) {
  if (count <= 0) return "";
  return "... " + std::to_string(count) + " more " + what + "; --json prints all\n";
}

/// The impulse and velocity of contacts that have the same rows.
/// @param numbers, starts  of the contacts, and their first rows.
std::string format_contacts(const ContactAnswer& answer, const std::vector<Index>& numbers,
                            const std::vector<Index>& starts) {
  const Index count = Index(numbers.size()), shown = std::min(count, most_lines);
  std::vector<std::string> names =
      answer.dimension == 2 ? std::vector<std::string>{"t"} : std::vector<std::string>{"t1", "t2"};
  names.insert(answer.normal_first ? names.begin() : names.end(), "n");
  const bool rolling = answer.dimension == 5;
  if (rolling) names.insert(names.end(), {"m1", "m2"});
  std::vector<std::vector<std::string>> rows{{"contact"}};
  for (const char* what : {"impulse ", "velocity "}) {
    for (const std::string& name : names) {
      const bool first = name == names.front(), last = name == names.back();
      const char* const unit = *what == 'i' ? (rolling ? " [N s, N m s]" : " [N s]")
                                            : (rolling ? " [m/s, rad/s]" : " [m/s]");
      rows[0].push_back((first ? what + name : name) + (last ? unit : ""));
    }
  }
  for (std::size_t i = 0; i < std::size_t(shown); ++i) {
    rows.push_back({std::to_string(numbers[i])});
    for (const VectorX<double>* values : {&answer.impulse, &answer.contact_velocity}) {
      for (Index k = 0; k < answer.dimension; ++k) {
        rows.back().push_back(format_rounded((*values)(starts[i] + k), 6));
      }
    }
  }
  return format_table(rows) + format_hidden(count - shown, "contacts");
}

/// The blocks that are not contacts of three rows, row by row.
std::string format_constraints(const ContactAnswer& answer,
                               const std::vector<std::size_t>& numbers) {
  std::vector<std::vector<std::string>> rows{
      {"block", "row", "impulse [N s, N m s]", "velocity [m/s, rad/s]"}};
  Index hidden = 0;
  for (const std::size_t number : numbers) {
    const ContactAnswer::Block& block = answer.blocks[number];
    for (int r = 0; r < block.rows; ++r) {
      if (Index(rows.size()) > most_lines) {
        ++hidden;
        continue;
      }
      const Index row = block.first_row + r;
      rows.push_back({std::to_string(number), std::to_string(r),
                      format_rounded(answer.impulse(row), 6),
                      format_rounded(answer.contact_velocity(row), 6)});
    }
  }
  return format_table(rows) + format_hidden(hidden, "rows");
}

/// The impulse and velocity of each contact and of each row of other blocks.
std::string format_blocks(const ContactAnswer& answer) {
  std::vector<Index> contacts, starts;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < answer.blocks.size(); ++i) {
    const ContactAnswer::Block& block = answer.blocks[i];
    if (block.shape == ImpulseShape::friction || block.shape == ImpulseShape::elliptic) {
      contacts.push_back(Index(i));
      starts.push_back(block.first_row);
    } else {
      others.push_back(i);
    }
  }
  if (answer.blocks.empty()) {  // a problem in impulses: contacts alone, one after the other
    for (Index i = 0; i < answer.contact_count; ++i) {
      contacts.push_back(i);
      starts.push_back(answer.dimension * i);
    }
  }
  std::string text;
  if (!contacts.empty()) text += "\n" + format_contacts(answer, contacts, starts);
  if (!others.empty()) text += "\n" + format_constraints(answer, others);
  return text;
}

std::string format_readable(const ContactAnswer& a) {
  const auto number = [](double value) { return format_rounded(value, 4); };
  std::string text = a.about + "\n" + a.law + " law, " + a.solver +
                     " solver: " + to_string(a.report.status) + " after " +
                     std::to_string(a.report.iterations) + " iterations, " +
                     number(a.seconds * 1e3) + " ms\n\n";
  std::vector<std::vector<std::string>> rows{
      {"momentum balance, relative residual", number(a.residual), "-"}};
  const auto add = [&](const char* name, const std::optional<double>& value, const char* unit) {
    if (value) rows.push_back({name, number(*value), unit});
  };
  add("duality gap", a.duality_gap, "J");
  add("bound on the velocity error, in the norm of A", a.velocity_error_bound, "J^(1/2)");
  add("largest distance of an impulse from its cone", a.cone_violation, "N s");
  add("largest violation of complementarity", a.complementarity, "J");
  add("natural map error", a.natural_map_error, "-");
  add("natural map error relative to the load alone", a.absolute_error, "-");
  add("largest violation of Signorini's condition", a.signorini, "m/s");
  add("largest angle between friction and slip", a.dissipation_angle, "rad");
  text += format_table(rows);
  return text + format_blocks(a);
}

}  // namespace

int run_solve(const SolveOptions& options) {
  ContactAnswer answer;
  try {
    answer = solve_file(options);
  } catch (const std::length_error&) {  // a request that no allocator can satisfy
    throw std::bad_alloc();
  }
  print(options.json ? format_json(answer) : format_readable(answer));
  return answer.report.converged() ? done : stopped_short;
}

}  // namespace carom::cli
