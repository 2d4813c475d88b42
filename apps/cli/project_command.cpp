// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "carom/cones/friction_cone.hpp"

#include "cli/commands.hpp"
#include "cli/json_input.hpp"
#include "cli/table.hpp"
#include "io/file_text.hpp"
#include "io/number_text.hpp"

namespace carom::cli {
namespace {

/// One contact to project: the trial impulse y, the friction μ, the weights R.
struct ConeQuery {
  Vector3<double> trial;
  FrictionCone<double> cone;
  ContactWeights<double> weights;
};

struct ConeAnswer {
  ConeProjection<double, 3> projection;
  SquareMatrix<double, 3> derivative;
};

std::vector<ConeQuery> read_queries(const std::string& text) {
  using files::NumberRange;
  const Json document = parse_json(text);
  expect_fields(document, "the document", {"contacts"});
  const Json& contacts = expect_array(document["contacts"], "contacts");
  std::vector<ConeQuery> queries;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const std::string place = "contacts[" + std::to_string(i) + "]";
    const Json& contact = contacts[i];
    expect_fields(contact, place, {"y", "mu", "weights"});
    const std::vector<double> y = expect_numbers(contact["y"], place + ".y", 3);
    const double friction = expect_number(contact["mu"], place + ".mu", NumberRange::nonnegative);
    const std::vector<double> weights =
        expect_numbers(contact["weights"], place + ".weights", 2, NumberRange::positive);
    queries.push_back({{y[0], y[1], y[2]}, {friction}, {weights[0], weights[1]}});
  }
  return queries;
}

std::vector<ConeAnswer> answer(const std::vector<ConeQuery>& queries) {
  std::vector<ConeAnswer> answers;
  for (const ConeQuery& query : queries) {
    answers.push_back({project(query.cone, query.weights, query.trial),
                       projection_derivative(query.cone, query.weights, query.trial)});
    if (!answers.back().projection.point.allFinite() || !answers.back().derivative.allFinite()) {
      refuse("contacts[" + std::to_string(answers.size() - 1) + "]",
             "numbers whose projection a double can hold", "an overflow");
    }
  }
  return answers;
}

std::string format_json(const std::vector<ConeAnswer>& answers) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const ConeAnswer& a : answers) {
    const Vector3<double>& p = a.projection.point;
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (Index r = 0; r < 3; ++r) {
      rows.push_back({a.derivative(r, 0), a.derivative(r, 1), a.derivative(r, 2)});
    }
    results.push_back({{"impulse", {p.x(), p.y(), p.z()}},
                       {"region", to_string(a.projection.region)},
                       {"derivative", rows}});
  }
  return nlohmann::ordered_json{{"results", results}}.dump() + "\n";
}

std::string format_readable(const std::vector<ConeAnswer>& answers) {
  std::vector<std::vector<std::string>> rows{
      {"contact", "region", "impulse t1", "t2", "n [N s]", "d/dy t1", "d/dy t2", "d/dy n"}};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const ConeAnswer& a = answers[i];
    for (Index r = 0; r < 3; ++r) {
      std::vector<std::string> row{"", "", "", "", ""};
      if (r == 0) {
        row = {std::to_string(i), to_string(a.projection.region)};
        for (const double x : a.projection.point) row.push_back(files::format_rounded(x, 8));
      }
      for (Index c = 0; c < 3; ++c) {
        row.push_back(files::format_rounded(a.derivative(r, c), 8));
      }
      rows.push_back(row);
    }
  }
  return format_table(rows);
}

}  // namespace

int run_project(const ProjectOptions& options) {
  const std::string text = files::read_file(options.file);
  std::vector<ConeAnswer> answers;
  try {
    answers = answer(read_queries(text));
  } catch (const files::BadInput& fault) {
    throw files::BadInput(options.file + ": " + fault.what());
  }
  print(options.json ? format_json(answers) : format_readable(answers));
  return done;
}

}  // namespace carom::cli
