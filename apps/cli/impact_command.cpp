// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "carom/impact/outcomes.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/impact/reflection_count.hpp"
#include "carom/impact/uniqueness.hpp"

#include "cli/commands.hpp"
#include "cli/impact_endings.hpp"
#include "cli/json_input.hpp"
#include "cli/json_output.hpp"
#include "cli/table.hpp"
#include "io/file_text.hpp"
#include "io/number_text.hpp"

namespace carom::cli {
namespace {

struct ImpactAnswer {
  std::vector<Ending> outcomes;
  bool unique = false;
  std::string reason;
  double indeterminacy = 0;
  Index reflections_bound = 0;
  Ending plastic;
  bool resolved = true;
  std::string note;  ///< Which normals repeat others; empty if there are none.
};

Vector expect_vector(const Json& value, const std::string& place, Index size) {
  const std::vector<double> numbers = expect_numbers(value, place, std::size_t(size));
  return Eigen::Map<const Vector>(numbers.data(), size);
}

MassMatrix<double> read_mass(const Json& value) {
  const std::size_t size = expect_array(value, "mass_matrix").size();
  if (size == 0) refuse("mass_matrix", "at least one row", "none");
  MatrixX<double> matrix(size, size);
  for (std::size_t r = 0; r < size; ++r) {
    matrix.row(Index(r)) = expect_vector(value[r], at("mass_matrix", r), Index(size)).transpose();
  }
  // the library's tolerance is larger
  const double allowance = 1e-8 * matrix.cwiseAbs().maxCoeff();
  for (std::size_t r = 0; r < size; ++r) {
    for (std::size_t c = 0; c < r; ++c) {
      if (std::abs(matrix(Index(r), Index(c)) - matrix(Index(c), Index(r))) <= allowance) continue;
      refuse(at("mass_matrix", r) + "[" + std::to_string(c) + "]",
             "its mirror image " + describe(value[c][r]) + " (a symmetric matrix)",
             describe(value[r][c]));
    }
  }
  for (Index leading = 1; leading <= Index(size); ++leading) {
    if (matrix(leading - 1, leading - 1) > 0) continue;
    const auto i = std::size_t(leading - 1);
    refuse(at("mass_matrix", i) + "[" + std::to_string(i) + "]",
           "a number > 0 (a positive definite matrix)", describe(value[i][i]));
  }
  const auto definite = [&](Index leading) {
    MassMatrix<double> mass;
    try {
      mass.add_block(matrix.topLeftCorner(leading, leading));
    } catch (const std::invalid_argument&) {
      return false;
    }
    return true;
  };
  if (!definite(Index(size))) {  // the first row with a fault, by bisection
    Index good = 1, bad = Index(size);
    while (bad - good > 1) (definite((good + bad) / 2) ? good : bad) = (good + bad) / 2;
    refuse(at("mass_matrix", std::size_t(bad - 1)), "the row of a positive definite matrix",
           "an indefinite one up to here");
  }
  return MassMatrix<double>::make_dense(matrix);
}

ImpactInput read_input(const std::string& text) {
  const Json document = parse_json(text);
  if (!document.is_object()) refuse("the document", "an object", describe(document));
  Json known = document;
  if (!known.contains("restitution")) known["restitution"] = 1.0;
  const bool by_velocity = known.contains("velocity");
  if (by_velocity == known.contains("momentum")) {
    refuse("the document", "either velocity or momentum", by_velocity ? "both" : "neither");
  }
  const char* const motion = by_velocity ? "velocity" : "momentum";
  expect_fields(known, "the document", {"mass_matrix", "normals", motion, "restitution"});
  ImpactInput input;
  input.mass = read_mass(known["mass_matrix"]);
  const Json& normals = expect_array(known["normals"], "normals");
  for (std::size_t i = 0; i < normals.size(); ++i) {
    input.normals.push_back(expect_vector(normals[i], at("normals", i), input.mass.size()));
    if (input.normals.back().isZero(0)) refuse(at("normals", i), "a non-zero vector", "zero");
  }
  const Vector given = expect_vector(known[motion], motion, input.mass.size());
  input.momentum = by_velocity ? input.mass.momentum(given) : given;
  Vector velocity = input.momentum;
  input.mass.apply_inverse(velocity);
  if (const double twice_energy = input.momentum.dot(velocity);
      !given.isZero(0) && !std::isnormal(twice_energy)) {
    refuse(motion, "a kinetic energy within the range of double",
           twice_energy < 1 ? "one that is too small" : "one that is too large");
  }
  input.restitution = expect_number(known["restitution"], "restitution");
  if (input.restitution < 0 || input.restitution > 1) {
    refuse("restitution", "a number in [0, 1]", describe(known["restitution"]));
  }
  return input;
}

/// Largest count of reflections: exact for certified impacts, a sharp bound for two contacts,
/// otherwise −1.
Index reflections_bound(const Metric& metric, const Uniqueness& uniqueness,
                        const Vector& momentum) {
  std::vector<Index> acting;  // without contacts that repeat others
  Vector rates(metric.problem.contact_count());
  for (Index i = 0; i < rates.size(); ++i) {
    if (metric.problem.merged_into(i) < 0) acting.push_back(i);
    rates(i) = metric.problem.rate(i, momentum);
  }
  const double limit = ImpactOptions<double>{}.tolerance * rates.lpNorm<Eigen::Infinity>();
  const Index closing = (rates.array() < -limit).count();
  if (closing == 0) return 0;
  if (uniqueness.unique()) return predicted_reflections(metric.problem, momentum);
  if (acting.size() != 2 || !has_interior(metric.problem)) return -1;
  return pair_reflection_bound(metric.problem.gram()(acting[0], acting[1]), closing == 2);
}

/// The given order. A contact that repeats another is replaced by that one.
std::vector<Index> acting_sequence(const Metric& metric, std::vector<Index> sequence) {
  for (Index& i : sequence) {
    const Index count = metric.problem.contact_count();
    if (i >= count) {
      refuse("--order", "contacts below " + std::to_string(count), std::to_string(i));
    }
    if (metric.problem.merged_into(i) >= 0) i = metric.problem.merged_into(i);
  }
  return sequence;
}

std::string repeated_normals(const ImpactProblem<double>& problem) {
  std::string text;
  for (Index i = 0; i < problem.contact_count(); ++i) {
    if (problem.merged_into(i) < 0) continue;
    text += (text.empty() ? "" : ", ") + at("normals", std::size_t(i)) + " repeats " +
            at("normals", std::size_t(problem.merged_into(i)));
  }
  return text.empty() ? text : text + ": each acts, and is given impulses, through its twin";
}

/// The restitution of a law: 1 is elastic, 0 is plastic.
double restitution_of(const ImpactInput& input, const std::string& law) {
  return law == "elastic" ? 1 : law == "plastic" ? 0 : input.restitution;
}

/// Computes the wanted ending, and all others.
void judge(const Metric& metric, const Vector& momentum, double restitution,
           const Uniqueness& uniqueness, const ImpactCommandOptions& options,
           const std::vector<Index>& sequence, ImpactAnswer& result) {
  std::vector<Ending> endings;
  ImpactOutcomes<double> all;
  if (uniqueness.unique()) {
    bool resolved = false;
    endings.push_back(
        ending_along(metric, momentum, restitution, MostInfeasibleTogether<double>(), resolved));
    all.complete = true;
  } else {
    OutcomeOptions<double> search;
    search.restitution = restitution;
    all = enumerate_outcomes(metric.problem, metric.mass, momentum, search);
    for (auto& o : all.outcomes) {
      endings.push_back(metric.ending(o.momentum, o.impulses, std::move(o.sequence)));
    }
  }
  Ending asked = ending_of(metric, momentum, restitution, options, sequence, result.resolved);
  const double before =
      metric.ending(momentum, Vector::Zero(metric.lengths.size()), {}).kinetic_energy;
  // The ending of another law, or of an order that leaves contacts closing, may differ from all of
  // them.
  const double same = OutcomeOptions<double>{}.tolerance;
  bool known = false;
  for (const Ending& ending : endings) {
    known = known || indeterminacy({ending, asked}, before) <= same;
  }
  const bool another = result.resolved && !known && !endings.empty();
  if (another) endings.push_back(asked);
  result.indeterminacy = endings.size() > 1 ? indeterminacy(endings, before) : 0;
  result.unique = all.complete && endings.size() == 1;
  result.reason = endings.size() > 1             ? "not unique"
                  : uniqueness.unique()          ? to_string(uniqueness)
                  : all.complete                 ? "enumerated"
                  : has_interior(metric.problem) ? "unknown"
                                                 : "wedged";
  if (options.order == "all") {
    result.resolved = result.resolved && all.complete;
    if (!endings.empty()) {
      result.outcomes = std::move(endings);
      return;
    }
  }
  result.outcomes.push_back(std::move(asked));
}

ImpactAnswer answer(const ImpactInput& input, const ImpactCommandOptions& options) {
  const Metric metric(input);
  const std::vector<Index> sequence = acting_sequence(metric, options.sequence);
  const double restitution = restitution_of(input, options.law);
  const Uniqueness uniqueness = classify(metric.problem);
  ImpactAnswer result;
  result.note = repeated_normals(metric.problem);
  result.reflections_bound = reflections_bound(metric, uniqueness, input.momentum);
  PlasticImpact<double> moreau;
  moreau.prepare(metric.problem);
  Vector momentum = input.momentum;
  const bool projected = moreau.resolve(metric.problem, momentum).status == ImpactStatus::resolved;
  result.plastic = metric.ending(momentum, moreau.impulses(), {});
  if (restitution == 0) {  // a projection onto a convex set
    result.outcomes.push_back(result.plastic);
    result.unique = true;
    result.reason = uniqueness.unique() ? to_string(uniqueness) : "plastic";
    result.resolved = projected;
    return result;
  }

  judge(metric, input.momentum, restitution, uniqueness, options, sequence, result);
  return result;
}

nlohmann::ordered_json to_json(const Ending& ending) {
  return {{"velocity", json_array(ending.velocity)},
          {"momentum", json_array(ending.momentum)},
          {"sequence", ending.sequence},
          {"impulses", json_array(ending.impulses)},
          {"kinetic_energy", ending.kinetic_energy}};
}

std::string format_json(const ImpactAnswer& answer) {
  nlohmann::ordered_json outcomes = nlohmann::ordered_json::array();
  for (const Ending& ending : answer.outcomes) outcomes.push_back(to_json(ending));
  const nlohmann::ordered_json document{{"outcomes", outcomes},
                                        {"unique", answer.unique},
                                        {"reason", answer.reason},
                                        {"indeterminacy", answer.indeterminacy},
                                        {"reflections_bound", answer.reflections_bound},
                                        {"plastic", to_json(answer.plastic)}};
  return document.dump() + "\n";
}

/// Values as a list of words. A long list is shortened to its start and its length.
template <typename Values, typename Format>
std::string list(const Values& values, const Format& format) {
  constexpr std::size_t most = 24;
  const auto size = static_cast<std::size_t>(values.size());
  std::string text;
  for (std::size_t i = 0; i < std::min(size, most); ++i) {
    text += (i == 0 ? "" : " ") + format(values[typename Values::size_type(i)]);
  }
  return size > most ? text + " ... (" + std::to_string(size) + ")" : text;
}

std::string format_readable(const ImpactAnswer& answer) {
  const auto number = [](double value) { return files::format_rounded(value, 6); };
  const auto vector = [&](const Vector& values) {
    return list(std::vector<double>(values.begin(), values.end()), number);
  };
  std::vector<std::vector<std::string>> rows{
      {"outcome", "velocity", "impulses", "energy [J]", "order"}};
  const auto add = [&](const std::string& name, const Ending& ending) {
    rows.push_back({name, vector(ending.velocity), vector(ending.impulses),
                    number(ending.kinetic_energy),
                    list(ending.sequence, [](Index i) { return std::to_string(i); })});
  };
  for (std::size_t i = 0; i < answer.outcomes.size(); ++i) {
    add(std::to_string(i), answer.outcomes[i]);
  }
  add("plastic", answer.plastic);
  std::string text = format_table(rows) + "\n";
  text += (answer.unique ? "unique: " : "") + answer.reason + ", indeterminacy " +
          number(answer.indeterminacy);
  if (answer.reflections_bound >= 0) {
    text += ", reflections at most " + std::to_string(answer.reflections_bound);
  }
  if (!answer.resolved) {
    text += answer.reason == "wedged" ? "\nstopped short: no motion opens all contacts, resolved "
                                        "plastically"
                                      : "\nstopped short: contacts still close, or outcomes are "
                                        "left to find";
  }
  return text + "\n";
}

}  // namespace

int run_impact(const ImpactCommandOptions& options) {
  const std::string text = files::read_file(options.file);
  ImpactAnswer result;
  try {
    result = answer(read_input(text), options);
  } catch (const std::invalid_argument& fault) {  // from the library: it names the item
    throw files::BadInput(options.file + ": " + fault.what());
  } catch (const files::BadInput& fault) {
    throw files::BadInput(options.file + ": " + fault.what());
  }
  print(options.json ? format_json(result) : format_readable(result));
  if (!result.note.empty()) print_note(options.file + ": note: " + result.note);
  return result.resolved ? done : stopped_short;
}

}  // namespace carom::cli
