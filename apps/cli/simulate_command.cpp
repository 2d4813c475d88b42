// SPDX-License-Identifier: BSD-3-Clause
// `carom simulate`: a mechanical system in time, including impacts.
#include <stdexcept>
#include <string>
#include <utility>

#include "cli/commands.hpp"
#include "cli/json_input.hpp"
#include "cli/json_output.hpp"
#include "cli/simulated_systems.hpp"
#include "io/file_text.hpp"

namespace carom::cli {
namespace {

struct Request {
  SimulationPlan plan;
  SimulationRun run;
};

Request read_request(const std::string& text) {
  Json document = parse_json(text);
  if (!document.is_object()) refuse("the document", "an object", describe(document));
  if (!document.contains("restitution")) document["restitution"] = 1.0;
  if (!document.contains("parameters")) document["parameters"] = Json::object();
  expect_fields(document, "the document",
                {"system", "parameters", "time_step", "duration", "restitution"});
  Request request;
  SimulationPlan& plan = request.plan;
  plan.time_step = expect_number(document["time_step"], "time_step", files::NumberRange::positive);
  plan.duration = expect_number(document["duration"], "duration", files::NumberRange::nonnegative);
  plan.restitution = expect_number(document["restitution"], "restitution");
  if (plan.restitution < 0 || plan.restitution > 1) {
    refuse("restitution", "a number in [0, 1]", describe(document["restitution"]));
  }
  if (!(plan.duration / plan.time_step <= 1e9)) {
    refuse("time_step", "at most 1e9 steps of it in the duration", describe(document["time_step"]));
  }
  request.run = read_simulation(document["system"], document["parameters"]);
  return request;
}

std::string format_json(const SimulationAnswer& answer) {
  const nlohmann::ordered_json document{{"impact_times", answer.impact_times},
                                        {"reflections", answer.reflections},
                                        {"energy_error_max", answer.energy_error},
                                        {"momentum_error_max", answer.momentum_error},
                                        {"final",
                                         {{"time", answer.time},
                                          {"q", json_array(answer.q)},
                                          {"velocity", json_array(answer.velocity)}}},
                                        {"status", to_string(answer.status)}};
  return document.dump() + "\n";
}

}  // namespace

int run_simulate(const SimulateOptions& options) {
  const std::string text = files::read_file(options.file);
  Request request;
  try {
    request = read_request(text);
  } catch (const std::invalid_argument& fault) {  // from the library: it names the item
    throw files::BadInput(options.file + ": " + fault.what());
  } catch (const files::BadInput& fault) {
    throw files::BadInput(options.file + ": " + fault.what());
  }
  request.plan.csv = options.csv;
  const SimulationAnswer answer = request.run(request.plan);
  print(format_json(answer));
  return answer.status == SolveStatus::converged ? done : stopped_short;
}

}  // namespace carom::cli
