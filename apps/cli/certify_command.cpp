// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/json_input.hpp"
#include "cli/json_output.hpp"
#include "cli/judged_answer.hpp"
#include "cli/table.hpp"
#include "io/fclib_file.hpp"
#include "io/file_text.hpp"
#include "io/number_text.hpp"
#include "io/problem_format.hpp"

namespace carom::cli {
namespace {

using files::BadInput;
using files::format_rounded;
using files::ProblemFormat;

/// Up to this relative residual an answer is reported as correct if no tolerance is given. Single
/// precision can reach it, so that answers of other programs are not rejected for their rounding.
constexpr double plain_tolerance = 1e-6;

/// The sizes of an answer, as far as it has these parts.
struct Sizes {
  Index velocity = 0, impulse = 0, multiplier = 0, ray = 0;
};

std::optional<VectorX<double>> read_field(const Json& document, const std::string& name,
                                          const std::string& place, Index size) {
  if (!document.contains(name) || document[name].is_null()) return {};
  const std::vector<double> numbers = expect_numbers(document[name], place, std::size_t(size));
  return VectorX<double>(Eigen::Map<const VectorX<double>>(numbers.data(), size));
}

/// Reads an answer written by hand or by `carom solve`. Other fields are ignored.
GivenAnswer read_answer(const std::string& file, const Sizes& sizes) {
  const std::string bytes = files::read_file(file);
  try {
    const Json document = parse_json(bytes);
    if (!document.is_object()) refuse("the document", "an object", describe(document));
    GivenAnswer answer;
    if (document.contains("ray") && !document["ray"].is_null()) {
      const Json& ray = document["ray"];
      if (!ray.is_object()) refuse("ray", "an object", describe(ray));
      answer.ray = read_field(ray, "impulse", "ray.impulse", sizes.ray);
      if (!answer.ray) refuse("ray.impulse", "this field", "none");
    }
    // If there is no answer, the last iterate of a solver need not be finite.
    const bool other = !answer.ray || document.value("status", Json()) != Json("infeasible");
    if (other) {
      answer.velocity = read_field(document, "velocity", "velocity", sizes.velocity);
      answer.impulse = read_field(document, "impulse", "impulse", sizes.impulse);
      answer.multiplier = read_field(document, "multiplier", "multiplier", sizes.multiplier);
    }
    if (!answer.velocity && !answer.impulse && !answer.ray) {
      refuse("the document", "velocity, impulse or ray", "none of them");
    }
    if (answer.impulse && sizes.multiplier > 0 && !answer.multiplier) {
      refuse("multiplier",
             std::to_string(sizes.multiplier) + " numbers, of the equality constraints", "none");
    }
    return answer;
  } catch (const BadInput& fault) {
    throw BadInput(file + ": " + fault.what());
  }
}

FrictionLaw law_of(const CertifyOptions& options) {
  return options.law == "convex" ? FrictionLaw::convex : FrictionLaw::coulomb;
}

/// The tolerance that was asked for, or the plain one.
double tolerance_of(const CertifyOptions& options) {
  return options.tolerance > 0 ? options.tolerance : plain_tolerance;
}

JudgedAnswer judge_text(files::TextProblem given, const CertifyOptions& options) {
  if (options.rigid) given.problem.make_rigid();
  const Index rows = given.problem.impulse_count();
  const GivenAnswer answer =
      read_answer(options.answer, {given.problem.velocity_count(), rows, 0, rows});
  return judge_bodies(given.problem, law_of(options), answer, tolerance_of(options));
}

JudgedAnswer judge_dual(const files::FrictionProblem& given, const CertifyOptions& options) {
  const Index equalities = given.equality_count();
  const GivenAnswer answer =
      read_answer(options.answer, {given.global ? given.global->mass.rows() : 0, given.row_count(),
                                   equalities, given.row_count()});
  return judge_friction(given, law_of(options), answer);
}

/// Runs a function whose faults are those of the problem file.
template <typename Parse>
auto in_problem(const std::string& file, const Parse& parse) {
  try {
    return parse();
  } catch (const BadInput& fault) {
    throw BadInput(file + ": " + fault.what());
  }
}

JudgedAnswer judge_file(const CertifyOptions& options) {
  const std::string bytes = files::read_file(options.file);
  switch (files::recognize_format(bytes)) {
    case ProblemFormat::text:
      return judge_text(in_problem(options.file, [&] { return files::parse_text_problem(bytes); }),
                        options);
    case ProblemFormat::cpf:
      return judge_dual(in_problem(options.file, [&] { return files::parse_cpf(bytes); }), options);
    case ProblemFormat::hdf5:
      return judge_dual(in_problem(options.file, [&] { return files::parse_fclib(bytes); }),
                        options);
    case ProblemFormat::unknown:
      break;
  }
  throw BadInput(options.file +
                 ": expected a contact problem, text that starts with 'carom-problem 1', CPF1 or "
                 "HDF5, got " +
                 (bytes.empty() ? "an empty file" : "something else"));
}

/// The contact with the largest error, and the measure of this error; −1 if there is none.
std::pair<Index, std::string> worst_of(const JudgedAnswer& judged) {
  const double map = judged.natural_map_error.value_or(0);
  // If both errors are of one size, an impulse outside of its cone is the simpler statement.
  if (judged.cone_violation_block >= 0 && !(2 * judged.relative_cone_violation() < map)) {
    return {judged.cone_violation_block, "cone_violation"};
  }
  return {map > 0 ? judged.natural_map_block : -1, "natural_map_error"};
}

std::string verdict_on_ray(const InfeasibilityCertificate<double>& ray) {
  if (ray.infeasible && !std::isfinite(ray.velocity_bound)) {
    return "The ray proves that the problem has no answer.";
  }
  if (ray.infeasible) {
    return "The ray proves that the problem has no answer slower than " +
           format_rounded(ray.velocity_bound, 3) + " J^(1/2) in the norm of A.";
  }
  return "The ray does not prove that the problem has no answer.";
}

/// One plain sentence.
std::string verdict_of(const JudgedAnswer& judged, double tolerance) {
  if (judged.ray && (judged.ray->infeasible || !judged.residual))
    return verdict_on_ray(*judged.ray);
  if (!judged.residual) {
    return "A velocity alone does not say what the impulses are here, so nothing is proven: give "
           "the impulse too.";
  }
  const auto number = [](double x) { return format_rounded(x, 3); };
  const std::string law = to_string(judged.law);
  const std::string size = "relative residual " + number(*judged.residual);
  if (judged.meets(tolerance)) {
    std::string text = "The answer solves the problem under the " + law + " law, " + size;
    if (judged.velocity_entry_bound && std::isfinite(*judged.velocity_entry_bound)) {
      text += ", and each entry of its velocity is proven to be within " +
              number(*judged.velocity_entry_bound) + " m/s (rad/s where it turns) of the exact one";
    }
    return text + ".";
  }
  const std::string no = "The answer does not solve the problem under the " + law + " law: ";
  if (*judged.residual <= tolerance && judged.momentum_residual &&
      !(*judged.momentum_residual <= tolerance)) {
    return no + "the velocity is not the one that the impulses lead to, relative distance " +
           number(*judged.momentum_residual) + ".";
  }
  if (*judged.residual <= tolerance) {
    return no + "the impulses are not the ones that the velocity leads to, relative distance " +
           number(judged.impulse_mismatch.value_or(0)) + ".";
  }
  const auto [contact, measure] = worst_of(judged);
  const std::string where = contact < 0 ? std::string()
                            : measure == "cone_violation"
                                ? ", and the impulse of contact " + std::to_string(contact) +
                                      " is farthest outside of its cone"
                                : ", and contact " + std::to_string(contact) + " is farthest off";
  return no + size + where + ".";
}

/// What the index says of an answer.
std::string words_of(int index) {
  if (index == 0) return "0: a contact is on a boundary of two regions";
  if (index > 0) return "+1";
  return "-1: there are at least two other answers if contacts are soft";
}

std::string format_json(const JudgedAnswer& j, const std::string& verdict) {
  nlohmann::ordered_json worst;
  if (const auto [contact, measure] = worst_of(j); contact >= 0) {
    worst = {{"contact", contact}, {"measure", measure}};
  }
  nlohmann::ordered_json document{{"law", to_string(j.law)},
                                  {"velocity_error_bound", json_or_null(j.velocity_error_bound)},
                                  {"duality_gap", json_or_null(j.duality_gap)},
                                  {"residual", json_or_null(j.residual)},
                                  {"natural_map_error", json_or_null(j.natural_map_error)},
                                  {"cone_violation", json_or_null(j.cone_violation)},
                                  {"complementarity", json_or_null(j.complementarity)},
                                  {"signorini", json_or_null(j.signorini)},
                                  {"friction_direction", json_or_null(j.friction_direction)},
                                  {"momentum_residual", json_or_null(j.momentum_residual)},
                                  {"worst", worst},
                                  {"verdict", verdict},
                                  {"index", j.index ? nlohmann::ordered_json(*j.index) : nullptr}};
  if (j.ray) {
    document["ray"] = {
        {"infeasible", j.ray->infeasible},           {"cone_violation", j.ray->cone_violation},
        {"cancellation", j.ray->cancellation},       {"drive", j.ray->drive},
        {"velocity_needed", j.ray->velocity_needed}, {"impulse_needed", j.ray->impulse_needed},
        {"velocity_bound", j.ray->velocity_bound}};
  }
  return document.dump() + "\n";
}

std::string format_readable(const JudgedAnswer& j, const std::string& verdict) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* name, const std::optional<double>& value, const char* unit) {
    if (value) rows.push_back({name, format_rounded(*value, 4), unit});
  };
  add("relative residual", j.residual, "-");
  add("bound on the velocity error, in the norm of A", j.velocity_error_bound, "J^(1/2)");
  add("duality gap, at most", j.duality_gap, "J");
  add("natural map error, at most", j.natural_map_error, "-");
  add("largest distance of an impulse from its cone", j.cone_violation, "N s");
  add("largest violation of complementarity", j.complementarity, "J");
  add("largest violation of Signorini's condition", j.signorini, "m/s");
  add("largest angle between friction and slip", j.friction_direction, "rad");
  add("distance of the velocity from the impulses' own", j.momentum_residual, "-");
  if (j.index) rows.push_back({"index of the answer", words_of(*j.index), ""});
  if (j.ray) {
    add("speed that an answer needs by the ray, in the norm of A", j.ray->velocity_needed,
        "J^(1/2)");
  }
  return verdict + "\n" + (rows.empty() ? "" : "\n" + format_table(rows));
}

}  // namespace

int run_certify(const CertifyOptions& options) {
  JudgedAnswer judged;
  try {
    judged = judge_file(options);
  } catch (const std::length_error&) {  // a request that no allocator can satisfy
    throw std::bad_alloc();
  }
  const bool asked = options.tolerance > 0;
  const std::string verdict = verdict_of(judged, tolerance_of(options));
  print(options.json ? format_json(judged, verdict) : format_readable(judged, verdict));
  return !asked || judged.meets(options.tolerance) ? done : stopped_short;
}

}  // namespace carom::cli
