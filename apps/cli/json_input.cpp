// SPDX-License-Identifier: BSD-3-Clause
#include "cli/json_input.hpp"

#include <cmath>

namespace carom::cli {

std::string describe(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array of " + std::to_string(value.size());
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  constexpr std::size_t most = 40;
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

void refuse(const std::string& place, const std::string& expected, const std::string& got) {
  throw files::BadInput(place + ": expected " + expected + ", got " + got);
}

Json parse_json(const std::string& text) {
  std::vector<std::set<std::string>> open;
  std::string twice;
  const auto watch = [&](int, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && twice.empty() &&
        !open.back().insert(parsed.get<std::string>()).second) {
      twice = parsed.get<std::string>();
    }
    return true;
  };
  Json document;
  try {
    document = Json::parse(text, watch);
  } catch (const Json::exception& fault) {
    const std::string what = fault.what();  // "[json.exception.parse_error.101] parse error ..."
    const std::size_t bracket = what.find("] ");
    throw files::BadInput("expected a JSON document, got " +
                          (bracket == std::string::npos ? what : what.substr(bracket + 2)));
  }
  if (!twice.empty()) throw files::BadInput("field '" + twice + "': expected once, got twice");
  return document;
}

void expect_fields(const Json& value, const std::string& place,
                   std::initializer_list<const char*> fields) {
  if (!value.is_object()) refuse(place, "an object", describe(value));
  for (const auto& [name, field] : value.items()) {
    bool known = false;
    for (const char* expected : fields) known = known || name == expected;
    if (!known) {
      std::string list;
      for (const char* expected : fields) list.append(list.empty() ? "" : ", ").append(expected);
      const std::string unknown = std::string(": unknown field '").append(name).append("'");
      refuse(place + unknown, "only " + list, describe(field));
    }
  }
  for (const char* expected : fields) {
    if (!value.contains(expected)) refuse(place + "." + expected, "this field", "none");
  }
}

const Json& expect_array(const Json& value, const std::string& place) {
  if (!value.is_array()) refuse(place, "an array", describe(value));
  return value;
}

double expect_number(const Json& value, const std::string& place, files::NumberRange range) {
  const double number = value.is_number() ? value.get<double>() : std::nan("");
  if (!std::isfinite(number) || !files::in_range(number, range)) {
    refuse(place, files::describe(range), describe(value));
  }
  return number;
}

std::vector<double> expect_numbers(const Json& value, const std::string& place, std::size_t size,
                                   files::NumberRange range) {
  if (!value.is_array() || value.size() != size) {
    refuse(place, "an array of " + std::to_string(size) + " numbers", describe(value));
  }
  std::vector<double> numbers;
  for (std::size_t i = 0; i < size; ++i) {
    numbers.push_back(expect_number(value[i], place + "[" + std::to_string(i) + "]", range));
  }
  return numbers;
}

}  // namespace carom::cli
