// SPDX-License-Identifier: BSD-3-Clause
// `carom simulate`: a mechanical system in time, impacts included.
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/json_input.hpp"
#include "cli/simulation.hpp"
#include "io/file_text.hpp"
#include "scenes/billiards.hpp"
#include "scenes/line_of_balls.hpp"
#include "scenes/simple_systems.hpp"

namespace carom::cli {
namespace {

using examples::NumberRange;
using Vector = VectorX<double>;
using Numbers = std::vector<double>;

Vector vector_of(const Numbers& numbers) {
  return Eigen::Map<const Vector>(numbers.data(), Index(numbers.size()));
}

/// The fields of "parameters"; what nobody asked for is refused at the end.
class Parameters {
 public:
  explicit Parameters(const Json& fields) : fields_(fields) {
    if (!fields.is_object()) refuse("parameters", "an object", describe(fields));
  }
  [[nodiscard]] bool has(const std::string& name) {
    known_.insert(name);
    return fields_.contains(name);
  }
  [[nodiscard]] const Json& field(const std::string& name) {
    if (!has(name)) refuse(place(name), "this field", "none");
    return fields_.at(name);
  }
  [[nodiscard]] double number(const std::string& name, NumberRange range = NumberRange::finite) {
    return expect_number(field(name), place(name), range);
  }
  [[nodiscard]] double number_or(const std::string& name, double otherwise,
                                 NumberRange range = NumberRange::finite) {
    return has(name) ? number(name, range) : otherwise;
  }
  [[nodiscard]] Numbers numbers(const std::string& name, std::size_t size,
                                NumberRange range = NumberRange::finite) {
    return expect_numbers(field(name), place(name), size, range);
  }
  [[nodiscard]] Numbers numbers(const std::string& name, NumberRange range) {
    return numbers(name, expect_array(field(name), place(name)).size(), range);
  }
  /// Points [[x, y]..] in a row.
  [[nodiscard]] Numbers points(const std::string& name, std::size_t count) {
    const Json& list = field(name);
    if (!list.is_array() || list.size() != count) {
      refuse(place(name), "an array of " + std::to_string(count) + " points", describe(list));
    }
    Numbers all;
    for (std::size_t i = 0; i < count; ++i) {
      for (const double x :
           expect_numbers(list[i], place(name) + "[" + std::to_string(i) + "]", 2)) {
        all.push_back(x);
      }
    }
    return all;
  }
  void end() const {
    for (const auto& [name, value] : fields_.items()) {
      if (known_.count(name) > 0) continue;
      std::string list;
      for (const std::string& k : known_) list += (list.empty() ? "" : ", ") + k;
      refuse("parameters: unknown field '" + name + "'", "only " + list, describe(value));
    }
  }
  [[nodiscard]] static std::string place(const std::string& name) { return "parameters." + name; }

 private:
  const Json& fields_;
  std::set<std::string> known_;
};

/// Total momentum along each of the axes that coordinates run through in turn.
auto total_momentum(Index axes) {
  return [axes](const MechanicalState<double>& state) {
    Vector sum = Vector::Zero(axes);
    for (Index k = 0; k < state.momentum.size(); ++k) sum(k % axes) += state.momentum(k);
    return std::pair(sum, state.momentum.cwiseAbs().sum());
  };
}

SimulationAnswer run_bouncing_ball(Parameters& given, const SimulationPlan& plan) {
  Scene<examples::BouncingBall> scene;
  scene.q = Vector::Constant(1, given.number("height", NumberRange::nonnegative));
  scene.velocity = Vector::Zero(1);
  scene.system = {given.number_or("mass", 1, NumberRange::positive),
                  given.number_or("gravity", 9.81, NumberRange::nonnegative)};
  given.end();
  return simulate(scene, plan);
}

SimulationAnswer run_pendulum(Parameters& given, const SimulationPlan& plan) {
  Scene<examples::PointPendulum> scene;
  scene.system = {given.number_or("length", 1, NumberRange::positive),
                  given.number_or("mass", 1, NumberRange::positive),
                  given.number_or("gravity", 9.81)};
  scene.q = Vector::Constant(1, given.number("angle"));
  scene.velocity = Vector::Constant(1, given.number_or("rate", 0));
  given.end();
  return simulate(scene, plan);
}

SimulationAnswer run_double_pendulum(Parameters& given, const SimulationPlan& plan) {
  const Numbers lengths = given.numbers("lengths", 2, NumberRange::positive);
  const Numbers masses = given.numbers("masses", 2, NumberRange::positive);
  Scene<examples::PointDoublePendulum> scene;
  scene.system = {lengths[0], lengths[1], masses[0], masses[1], given.number_or("gravity", 9.81)};
  scene.q = vector_of(given.numbers("angles", 2));
  scene.velocity = given.has("rates") ? vector_of(given.numbers("rates", 2)) : Vector::Zero(2);
  given.end();
  return simulate(scene, plan);
}

SimulationAnswer run_oscillator(Parameters& given, const SimulationPlan& plan) {
  Scene<examples::SpringMass> scene;
  scene.system = {given.number_or("mass", 1, NumberRange::positive),
                  given.number_or("stiffness", 1, NumberRange::nonnegative)};
  scene.q = Vector::Constant(1, given.number("position"));
  scene.velocity = Vector::Constant(1, given.number_or("velocity", 0));
  given.end();
  return simulate(scene, plan);
}

SimulationAnswer run_line(const examples::LineStart& start, const SimulationPlan& plan) {
  Scene<examples::LineOfBalls> scene{start.balls, start.q, start.velocity};
  if (!start.balls.left && !start.balls.right) scene.kept = total_momentum(1);
  return simulate(scene, plan);
}

SimulationAnswer run_cradle(Parameters& given, const SimulationPlan& plan) {
  const Numbers masses = given.numbers("masses", NumberRange::positive);
  if (masses.empty()) refuse(given.place("masses"), "at least one number", "none");
  const double radius = given.number_or("radius", 0, NumberRange::nonnegative);
  const Numbers gaps = given.has("gaps")
                           ? given.numbers("gaps", masses.size() - 1, NumberRange::nonnegative)
                           : Numbers(masses.size() - 1, 0.0);
  const Numbers velocities = given.numbers("velocities", masses.size());
  examples::LineStart start = examples::make_cradle(masses, radius, gaps, velocities);
  if (given.has("left")) start.balls.left = given.number("left");
  if (given.has("right")) start.balls.right = given.number("right");
  given.end();
  Vector open(start.balls.gap_count());
  start.balls.write_gaps(start.q, open);
  const Index last = start.q.size() - 1;
  if (start.balls.left && open(last) < 0) {
    refuse(given.place("left"), "a wall left of the first ball, whose centre starts at 0",
           examples::format_number(*start.balls.left));
  }
  if (start.balls.right && open(open.size() - 1) < 0) {
    refuse(given.place("right"),
           "a wall right of the last ball, which ends at " +
               examples::format_number(start.q(last) + radius),
           examples::format_number(*start.balls.right));
  }
  return run_line(start, plan);
}

SimulationAnswer run_galperin(Parameters& given, const SimulationPlan& plan) {
  const double exponent = given.number("exponent", NumberRange::nonnegative);
  if (exponent != std::floor(exponent) || exponent > 5) {
    refuse(given.place("exponent"), "a whole number from 0 to 5",
           describe(given.field("exponent")));
  }
  given.end();
  return run_line(examples::make_galperin(int(exponent)), plan);
}

SimulationAnswer run_billiards(Parameters& given, const SimulationPlan& plan) {
  Scene<examples::Billiards> scene;
  scene.system.masses = given.numbers("masses", NumberRange::positive);
  const std::size_t count = scene.system.masses.size();
  if (count == 0) refuse(given.place("masses"), "at least one number", "none");
  scene.system.radii = given.numbers("radii", count, NumberRange::positive);
  scene.q = vector_of(given.points("positions", count));
  scene.velocity = vector_of(given.points("velocities", count));
  if (given.has("table")) {
    const Numbers sides = given.numbers("table", 2, NumberRange::positive);
    scene.system.table = examples::BilliardTable{sides[0], sides[1]};
  } else {
    scene.kept = total_momentum(2);
  }
  given.end();
  Vector open(scene.system.gap_count());
  scene.system.write_gaps(scene.q, open);
  if (open.size() > 0 && open.minCoeff() < -1e-9) {
    refuse(given.place("positions"), "balls that do not overlap and lie on the table",
           "an overlap of " + examples::format_rounded(-open.minCoeff(), 6));
  }
  return simulate(scene, plan);
}

SimulationAnswer run_kepler(Parameters& given, const SimulationPlan& plan) {
  const double e = given.number("eccentricity", NumberRange::nonnegative);
  if (e >= 1)
    refuse(given.place("eccentricity"), "a number in [0, 1)",
           describe(given.field("eccentricity")));
  given.end();
  Scene<examples::KeplerOrbit> scene;
  scene.q.setZero(2);
  scene.velocity.setZero(2);
  scene.q(0) = 1 - e;  // nearest point of an orbit with half axis 1
  scene.velocity(1) = std::sqrt((1 + e) / (1 - e));
  scene.kept = [](const MechanicalState<double>& state) {
    const double spin = state.q(0) * state.momentum(1) - state.q(1) * state.momentum(0);
    return std::pair(Vector(Vector::Constant(1, spin)), std::abs(spin));
  };
  return simulate(scene, plan);
}

using Runner = SimulationAnswer (*)(Parameters&, const SimulationPlan&);

const std::map<std::string, Runner>& runners() {
  static const std::map<std::string, Runner> all{{"bouncing_ball", run_bouncing_ball},
                                                 {"pendulum", run_pendulum},
                                                 {"double_pendulum", run_double_pendulum},
                                                 {"oscillator", run_oscillator},
                                                 {"cradle", run_cradle},
                                                 {"galperin", run_galperin},
                                                 {"billiards", run_billiards},
                                                 {"kepler", run_kepler}};
  return all;
}

SimulationAnswer answer(const std::string& text, bool csv) {
  const Json document = parse_json(text);
  if (!document.is_object()) refuse("the document", "an object", describe(document));
  Json known = document;
  if (!known.contains("restitution")) known["restitution"] = 1.0;
  if (!known.contains("parameters")) known["parameters"] = Json::object();
  expect_fields(known, "the document",
                {"system", "parameters", "time_step", "duration", "restitution"});
  SimulationPlan plan;
  plan.time_step = expect_number(known["time_step"], "time_step", NumberRange::positive);
  plan.duration = expect_number(known["duration"], "duration", NumberRange::nonnegative);
  plan.restitution = expect_number(known["restitution"], "restitution");
  plan.csv = csv;
  if (plan.restitution < 0 || plan.restitution > 1) {
    refuse("restitution", "a number in [0, 1]", describe(known["restitution"]));
  }
  if (plan.duration / plan.time_step > 1e9) {
    refuse("time_step", "at most 1e9 steps", describe(known["time_step"]));
  }
  const Json& name = known["system"];
  const auto found = name.is_string() ? runners().find(name.get<std::string>()) : runners().end();
  if (found == runners().end()) {
    std::string list;
    for (const auto& [one, run] : runners()) list += (list.empty() ? "" : ", ") + one;
    refuse("system", "one of " + list, describe(name));
  }
  Parameters given(known["parameters"]);
  return found->second(given, plan);
}

nlohmann::ordered_json to_json(const Vector& values) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const double x : values) array.push_back(x);
  return array;
}

std::string format_json(const SimulationAnswer& answer) {
  const nlohmann::ordered_json document{
      {"impact_times", answer.impact_times},
      {"reflections", answer.reflections},
      {"energy_error_max", answer.energy_error},
      {"momentum_error_max", answer.momentum_error},
      {"final",
       {{"time", answer.time}, {"q", to_json(answer.q)}, {"velocity", to_json(answer.velocity)}}},
      {"status", to_string(answer.status)}};
  return document.dump() + "\n";
}

}  // namespace

int run_simulate(const SimulateOptions& options) {
  const std::string text = examples::read_file(options.file);
  SimulationAnswer result;
  try {
    result = answer(text, !options.csv.empty());
  } catch (const std::invalid_argument& fault) {  // from the library: it names the item
    throw examples::BadInput(options.file + ": " + fault.what());
  } catch (const examples::BadInput& fault) {
    throw examples::BadInput(options.file + ": " + fault.what());
  }
  if (!options.csv.empty()) {
    std::ofstream file(options.csv, std::ios::binary);
    file << result.csv;
    file.close();
    if (!file) throw examples::BadInput(options.csv + ": expected a file to write, writing failed");
  }
  print(format_json(result));
  return result.status == SolveStatus::converged ? done : stopped_short;
}

}  // namespace carom::cli
