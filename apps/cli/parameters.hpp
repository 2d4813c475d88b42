// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "cli/json_input.hpp"

namespace carom::cli {

/// The fields of "parameters" of a simulated system. A fault is BadInput with its place.
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
  [[nodiscard]] double number(const std::string& name,
                              files::NumberRange range = files::NumberRange::finite) {
    return expect_number(field(name), place(name), range);
  }
  [[nodiscard]] double number_or(const std::string& name, double otherwise,
                                 files::NumberRange range = files::NumberRange::finite) {
    return has(name) ? number(name, range) : otherwise;
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& name, std::size_t size,
                                            files::NumberRange range = files::NumberRange::finite) {
    return expect_numbers(field(name), place(name), size, range);
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& name, files::NumberRange range) {
    return numbers(name, expect_array(field(name), place(name)).size(), range);
  }
  /// Points [[x, y], ..] as one sequence of numbers.
  [[nodiscard]] std::vector<double> points(const std::string& name, std::size_t count) {
    const Json& list = field(name);
    if (!list.is_array() || list.size() != count) {
      refuse(place(name), "an array of " + std::to_string(count) + " points", describe(list));
    }
    std::vector<double> all;
    for (std::size_t i = 0; i < count; ++i) {
      for (const double x :
           expect_numbers(list[i], place(name) + "[" + std::to_string(i) + "]", 2)) {
        all.push_back(x);
      }
    }
    return all;
  }
  /// One of several words; the first one if the field is missing.
  [[nodiscard]] std::string word(const std::string& name, const std::vector<std::string>& words) {
    if (!has(name)) return words.front();
    const Json& given = field(name);
    std::string list;
    for (const std::string& one : words) {
      if (given.is_string() && given.get<std::string>() == one) return one;
      list += (list.empty() ? "" : ", ") + one;
    }
    refuse(place(name), "one of " + list, describe(given));
  }
  /// Rejects fields that were not read.
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

}  // namespace carom::cli
