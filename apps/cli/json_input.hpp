// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "io/bad_input.hpp"
#include "io/word_reader.hpp"

namespace carom::cli {

/// @file
/// Strict reading of JSON: each field is known, appears once, and has the right type, size and
/// range. Faults are BadInput that begins with the place: "contacts[2].mu: expected ..., got -1".

using Json = nlohmann::json;

/// A value as text, short enough for a message.
[[nodiscard]] std::string describe(const Json& value);

[[noreturn]] void refuse(const std::string& place, const std::string& expected,
                         const std::string& got);

/// A JSON document. A repeated field is rejected, as is invalid syntax.
[[nodiscard]] Json parse_json(const std::string& text);

/// Rejects a value that is not an object with exactly the given fields.
void expect_fields(const Json& value, const std::string& place,
                   std::initializer_list<const char*> fields);

[[nodiscard]] const Json& expect_array(const Json& value, const std::string& place);

[[nodiscard]] double expect_number(const Json& value, const std::string& place,
                                   files::NumberRange range = files::NumberRange::finite);

/// An array of exactly `size` numbers.
[[nodiscard]] std::vector<double> expect_numbers(
    const Json& value, const std::string& place, std::size_t size,
    files::NumberRange range = files::NumberRange::finite);

}  // namespace carom::cli
