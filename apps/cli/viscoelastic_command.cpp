// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "carom/viscoelastic/contact_step.hpp"

#include "cli/commands.hpp"
#include "cli/document_step.hpp"
#include "cli/json_input.hpp"
#include "cli/table.hpp"
#include "io/file_text.hpp"
#include "io/number_text.hpp"

namespace carom::cli {
namespace {

using files::NumberRange;
using Data = ContactStepData<double>;
using Vector = VectorX<double>;
using OrderedJson = nlohmann::ordered_json;

struct StepAnswer {
  StepResult result;
  ContactStep<double> step;
  MatrixX<double> gain;
};

Vector expect_vector(const Json& document, const char* field, Index size,
                     NumberRange range = NumberRange::finite) {
  const std::vector<double> numbers =
      expect_numbers(document[field], field, static_cast<std::size_t>(size), range);
  return Eigen::Map<const Vector>(numbers.data(), size);
}

MatrixX<double> expect_matrix(const Json& document, const char* field, Index rows, Index columns) {
  const Json& value = expect_array(document[field], field);
  if (Index(value.size()) != rows) {
    refuse(field, "an array of " + std::to_string(rows) + " rows", describe(value));
  }
  MatrixX<double> matrix(rows, columns);
  for (Index r = 0; r < rows; ++r) {
    const std::string place = field + ("[" + std::to_string(r) + "]");
    const std::vector<double> row =
        expect_numbers(value[std::size_t(r)], place, static_cast<std::size_t>(columns));
    matrix.row(r) = Eigen::Map<const Vector>(row.data(), columns).transpose();
  }
  return matrix;
}

Data read_data(const std::string& text) {
  const Json document = parse_json(text);
  expect_fields(document, "the document",
                {"time_step", "mass_matrix", "jacobian", "velocity", "free_acceleration", "drift",
                 "stiffness", "damping", "friction", "points", "anchors"});
  Data data;
  data.time_step = expect_number(document["time_step"], "time_step", NumberRange::positive);
  const auto velocities = Index(expect_array(document["velocity"], "velocity").size());
  const auto contacts = Index(expect_array(document["friction"], "friction").size());
  if (velocities == 0) refuse("velocity", "at least one number", "none");
  const Index rows = 3 * contacts;
  data.mass_matrix = expect_matrix(document, "mass_matrix", velocities, velocities);
  data.jacobian = expect_matrix(document, "jacobian", rows, velocities);
  data.velocity = expect_vector(document, "velocity", velocities);
  data.free_acceleration = expect_vector(document, "free_acceleration", velocities);
  data.drift = expect_vector(document, "drift", rows);
  data.stiffness = expect_vector(document, "stiffness", rows, NumberRange::nonnegative);
  data.damping = expect_vector(document, "damping", rows, NumberRange::nonnegative);
  data.friction = expect_vector(document, "friction", contacts, NumberRange::nonnegative);
  data.points = expect_vector(document, "points", rows);
  data.anchors = expect_vector(document, "anchors", rows);
  if (const Fault fault = check(data); !fault.empty()) throw files::BadInput(fault);
  return data;
}

SlipLaw law_of(const std::string& method) {
  if (method == "convex") return SlipLaw::convex;
  if (method == "radial") return SlipLaw::radial;
  if (method == "stick") return SlipLaw::stick;
  return SlipLaw::coulomb;
}

StepAnswer solve_step(const Data& data, const std::string& method) {
  const bool program = method == "document_qp";
  StepAnswer answer;
  answer.step.prepare(data.contact_count(), data.velocity_count());
  const auto report = answer.step.solve(data, program ? SlipLaw::stick : law_of(method));
  answer.result = program ? take_document_step(data, answer.step)
                          : read_step(report, answer.step, data.contact_count());
  const Index rows = 3 * data.contact_count();
  answer.gain.resize(rows, rows);
  const bool finite = report.status != SolveStatus::not_finite &&
                      answer.result.report.status != SolveStatus::not_finite &&
                      answer.step.forces().write_gain(answer.gain) && answer.gain.allFinite();
  if (!finite) refuse("the document", "forces within the range of double", "larger ones");
  return answer;
}

/// The region of a contact in the words of the program.
const char* mode_of(ConeRegion region) {
  return region == ConeRegion::separate ? "open" : to_string(region);
}

template <typename Values>
OrderedJson to_json(const Values& values) {
  OrderedJson array = OrderedJson::array();
  for (Index i = 0; i < values.size(); ++i) array.push_back(values(i));
  return array;
}

std::string format_json(const Data& data, const StepAnswer& a) {
  OrderedJson gain = OrderedJson::array(), modes = OrderedJson::array();
  for (Index r = 0; r < a.gain.rows(); ++r) gain.push_back(to_json(a.gain.row(r)));
  for (Index i = 0; i < data.contact_count(); ++i)
    modes.push_back(mode_of(a.result.regions[std::size_t(i)]));
  const OrderedJson document{{"average_force", to_json(a.step.average_force())},
                             {"average_force2", to_json(a.step.average_force2())},
                             {"gain", gain},
                             {"force", to_json(a.result.force)},
                             {"anchor_velocity", to_json(a.result.anchor_velocity)},
                             {"modes", modes},
                             {"velocity", to_json(a.result.velocity)},
                             {"displacement", to_json(a.result.displacement)},
                             {"anchors", to_json(a.result.anchors)},
                             {"status", to_string(a.result.report.status)}};
  return document.dump() + "\n";
}

std::string format_readable(const Data& data, const StepAnswer& a) {
  std::vector<std::vector<std::string>> rows{
      {"contact", "mode", "force t1", "t2", "n [N]", "slip t1", "t2", "n [m/s]"}};
  for (Index i = 0; i < data.contact_count(); ++i) {
    std::vector<std::string> row{std::to_string(i), mode_of(a.result.regions[std::size_t(i)])};
    for (Index k = 0; k < 3; ++k) {
      row.push_back(files::format_rounded(a.result.force(3 * i + k), 8));
    }
    for (Index k = 0; k < 3; ++k) {
      row.push_back(files::format_rounded(a.result.anchor_velocity(3 * i + k), 8));
    }
    rows.push_back(row);
  }
  std::string text = format_table(rows);
  rows = {{"velocity", "before", "after", "displacement"}};
  for (Index i = 0; i < data.velocity_count(); ++i) {
    rows.push_back({std::to_string(i), files::format_rounded(data.velocity(i), 8),
                    files::format_rounded(a.result.velocity(i), 8),
                    files::format_rounded(a.result.displacement(i), 8)});
  }
  return text + "\n" + format_table(rows) + "\nstatus: " + to_string(a.result.report.status) + "\n";
}

}  // namespace

int run_viscoelastic(const ViscoelasticCommandOptions& options) {
  const std::string text = files::read_file(options.file);
  Data data;
  StepAnswer result;
  try {
    data = read_data(text);
    result = solve_step(data, options.method);
  } catch (const files::BadInput& fault) {
    throw files::BadInput(options.file + ": " + fault.what());
  }
  print(options.json ? format_json(data, result) : format_readable(data, result));
  return result.result.report.converged() ? done : stopped_short;
}

}  // namespace carom::cli
