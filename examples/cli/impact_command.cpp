// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "carom/impact/outcomes.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/impact/resolve.hpp"
#include "carom/impact/restitution.hpp"
#include "carom/impact/uniqueness.hpp"

#include "cli/commands.hpp"
#include "cli/json_input.hpp"
#include "cli/table.hpp"
#include "io/file_text.hpp"
#include "io/number_text.hpp"

namespace carom::cli {
namespace {

using Vector = VectorX<double>;

/// The impact a file describes.
struct ImpactInput {
  MatrixX<double> mass_matrix;
  std::vector<Vector> normals;  ///< Gradients of the gaps as given, any length.
  Vector momentum;
  double restitution = 1;
};

/// One way it ends; impulses belong to the normals as given: p⁺ = p⁻ + Σ impulses_i normals_i.
struct Ending {
  Vector momentum, velocity, impulses;
  std::vector<Index> sequence;
  double kinetic_energy = 0;
};

struct ImpactAnswer {
  std::vector<Ending> outcomes;
  bool unique = false;
  std::string reason;
  double indeterminacy = 0;
  Index reflections_bound = 0;
  Ending plastic;
  bool resolved = true;
};

Vector expect_vector(const Json& value, const std::string& place, std::size_t size) {
  const std::vector<double> numbers = expect_numbers(value, place, size);
  return Eigen::Map<const Vector>(numbers.data(), Index(size));
}

ImpactInput read_input(const std::string& text) {
  const Json document = parse_json(text);
  if (!document.is_object()) refuse("the document", "an object", describe(document));
  Json known = document;
  if (!known.contains("restitution")) known["restitution"] = 1.0;
  const bool by_velocity = known.contains("velocity");
  const char* const motion = by_velocity ? "velocity" : "momentum";
  expect_fields(known, "the document", {"mass_matrix", "normals", motion, "restitution"});
  ImpactInput input;
  const Json& rows = expect_array(known["mass_matrix"], "mass_matrix");
  const std::size_t size = rows.size();
  if (size == 0) refuse("mass_matrix", "at least one row", "none");
  input.mass_matrix.resize(Index(size), Index(size));
  for (std::size_t r = 0; r < size; ++r) {
    input.mass_matrix.row(Index(r)) =
        expect_vector(rows[r], "mass_matrix[" + std::to_string(r) + "]", size).transpose();
  }
  const Json& normals = expect_array(known["normals"], "normals");
  for (std::size_t i = 0; i < normals.size(); ++i) {
    input.normals.push_back(expect_vector(normals[i], "normals[" + std::to_string(i) + "]", size));
  }
  const Vector given = expect_vector(known[motion], motion, size);
  input.momentum = by_velocity ? Vector(input.mass_matrix * given) : given;
  input.restitution = expect_number(known["restitution"], "restitution");
  if (input.restitution < 0 || input.restitution > 1) {
    refuse("restitution", "a number in [0, 1]", describe(known["restitution"]));
  }
  return input;
}

/// The impact in the kinetic metric, and what turns unit-normal impulses into the file's.
struct Metric {
  MassMatrix<double> mass;
  ImpactProblem<double> problem;
  Vector lengths;  ///< |Dϕ_i| in the metric.

  explicit Metric(const ImpactInput& input)
      : mass(MassMatrix<double>::make_dense(input.mass_matrix)),
        problem(input.mass_matrix.rows()),
        lengths(Index(input.normals.size())) {
    for (std::size_t i = 0; i < input.normals.size(); ++i) {
      problem.add_contact(mass, input.normals[i]);
      Vector response = input.normals[i];
      mass.apply_inverse(response);
      lengths(Index(i)) = std::sqrt(input.normals[i].dot(response));
    }
    problem.prepare();
  }

  [[nodiscard]] Ending ending(const Vector& momentum, const Vector& unit_impulses,
                              std::vector<Index> sequence) const {
    Ending end{momentum, momentum, unit_impulses.cwiseQuotient(lengths), std::move(sequence), 0};
    mass.apply_inverse(end.velocity);
    end.kinetic_energy = momentum.dot(end.velocity) / 2;
    return end;
  }
};

/// Elastic endings: along one order, or all of them.
std::vector<Ending> elastic_endings(const Metric& metric, const ImpactInput& input,
                                    const ImpactCommandOptions& options,
                                    const ImpactOutcomes<double>& all, bool& resolved) {
  std::vector<Ending> endings;
  if (options.order == "all" && !all.outcomes.empty()) {
    for (const auto& o : all.outcomes) {
      endings.push_back(metric.ending(o.momentum, o.impulses, o.sequence));
    }
    resolved = all.complete;
    return endings;
  }
  constexpr Index recorded = 100'000;
  const auto run = [&](auto resolver) {
    resolver.prepare(metric.problem, recorded);
    Vector momentum = input.momentum;
    const ImpactReport<double> report = resolver.resolve(metric.problem, momentum);
    resolved = report.status == ImpactStatus::resolved;
    const Vector impulses =
        Eigen::Map<const Vector>(resolver.impulses().data(), Index(resolver.impulses().size()));
    endings.push_back(metric.ending(momentum, impulses,
                                    {resolver.sequence().begin(), resolver.sequence().end()}));
  };
  if (options.sequence.empty()) {
    run(ImpactResolver<double>{});
  } else {
    run(ImpactResolver<double, SweepOrder<double>>({}, SweepOrder<double>(options.sequence)));
  }
  return endings;
}

/// Blends an elastic ending with the plastic one so that the fraction R² of the energy a plastic
/// impact would lose is kept.
void blend(const Metric& metric, const Ending& plastic, double restitution, Ending& ending) {
  const Vector step = ending.momentum - plastic.momentum;
  Vector response = step;
  metric.mass.apply_inverse(response);
  const double share =
      restitution_blend(restitution, plastic.momentum.dot(response), step.dot(response));
  const Vector impulses = (plastic.impulses + share * (ending.impulses - plastic.impulses))
                              .cwiseProduct(metric.lengths);
  ending = metric.ending(plastic.momentum + share * step, impulses, std::move(ending.sequence));
}

/// Sharp for two contacts, exact for certified impacts; −1 where neither is known.
Index reflections_bound(const Metric& metric, const Uniqueness& uniqueness,
                        const Vector& momentum) {
  if (uniqueness.unique()) return predicted_reflections(metric.problem, momentum);
  if (metric.problem.contact_count() != 2) return -1;
  const bool both = metric.problem.rate(0, momentum) < 0 && metric.problem.rate(1, momentum) < 0;
  return pair_reflection_bound(metric.problem.gram()(0, 1), both);
}

ImpactAnswer answer(const ImpactInput& input, const ImpactCommandOptions& options) {
  const Metric metric(input);
  for (const Index i : options.sequence) {
    if (i < metric.problem.contact_count()) continue;
    refuse("--order", "contacts below " + std::to_string(metric.problem.contact_count()),
           std::to_string(i));
  }
  ImpactAnswer result;
  PlasticImpact<double> moreau;
  moreau.prepare(metric.problem);
  Vector momentum = input.momentum;
  static_cast<void>(moreau.resolve(metric.problem, momentum));
  result.plastic = metric.ending(momentum, moreau.impulses(), {});

  const Uniqueness uniqueness = classify(metric.problem);
  const ImpactOutcomes<double> all =
      enumerate_outcomes(metric.problem, metric.mass, input.momentum);
  result.unique = uniqueness.unique() || (all.complete && all.outcomes.size() == 1);
  result.reason = uniqueness.unique()            ? to_string(uniqueness)
                  : all.outcomes.size() > 1      ? "not unique"
                  : all.complete                 ? "enumerated"
                  : has_interior(metric.problem) ? "unknown"
                                                 : "wedged";
  result.indeterminacy = all.indeterminacy;
  result.reflections_bound = reflections_bound(metric, uniqueness, input.momentum);
  if (options.law == "plastic") {
    result.outcomes.push_back(result.plastic);
    return result;
  }
  result.outcomes = elastic_endings(metric, input, options, all, result.resolved);
  if (options.law == "elastic" || (options.law.empty() && input.restitution == 1)) return result;
  for (Ending& ending : result.outcomes) blend(metric, result.plastic, input.restitution, ending);
  result.indeterminacy = 0;
  return result;
}

nlohmann::ordered_json to_json(const Vector& values) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const double x : values) array.push_back(x);
  return array;
}

nlohmann::ordered_json to_json(const Ending& ending) {
  return {{"velocity", to_json(ending.velocity)},
          {"momentum", to_json(ending.momentum)},
          {"sequence", ending.sequence},
          {"impulses", to_json(ending.impulses)},
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

std::string format_readable(const ImpactAnswer& answer) {
  const auto list = [](const auto& values, const auto& format) {
    std::string text;
    for (const auto& value : values) text += (text.empty() ? "" : " ") + format(value);
    return text;
  };
  const auto number = [](double value) { return examples::format_rounded(value, 6); };
  std::vector<std::vector<std::string>> rows{{"outcome", "velocity", "energy [J]", "order"}};
  const auto add = [&](const std::string& name, const Ending& ending) {
    rows.push_back({name, list(ending.velocity, number), number(ending.kinetic_energy),
                    list(ending.sequence, [](Index i) { return std::to_string(i); })});
  };
  for (std::size_t i = 0; i < answer.outcomes.size(); ++i) {
    add(std::to_string(i), answer.outcomes[i]);
  }
  add("plastic", answer.plastic);
  return format_table(rows) + "\n" + (answer.unique ? "unique: " : "") + answer.reason +
         ", indeterminacy " + number(answer.indeterminacy) + ", reflections at most " +
         std::to_string(answer.reflections_bound) + "\n";
}

}  // namespace

int run_impact(const ImpactCommandOptions& options) {
  const std::string text = examples::read_file(options.file);
  ImpactAnswer result;
  try {
    result = answer(read_input(text), options);
  } catch (const std::invalid_argument& fault) {  // from the library: it names the item
    throw examples::BadInput(options.file + ": " + fault.what());
  } catch (const examples::BadInput& fault) {
    throw examples::BadInput(options.file + ": " + fault.what());
  }
  print(options.json ? format_json(result) : format_readable(result));
  return result.resolved ? done : stopped_short;
}

}  // namespace carom::cli
