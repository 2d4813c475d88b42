// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "carom/core/scalar.hpp"

namespace carom::cli {

/// An array of the entries, with all digits that are needed to read them back.
[[nodiscard]] inline nlohmann::ordered_json json_array(const VectorX<double>& values) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const double x : values) array.push_back(x);
  return array;
}

[[nodiscard]] inline nlohmann::ordered_json json_or_null(const std::optional<double>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

}  // namespace carom::cli
