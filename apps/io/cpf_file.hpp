// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/bad_input.hpp"
#include "io/file_text.hpp"
#include "io/friction_problem.hpp"
#include "io/number_text.hpp"

namespace carom::files {

namespace detail {

/// A piece of a file in quotes for a message, limited to one line of plain characters.
[[nodiscard]] inline std::string shown(std::string_view piece) {
  constexpr std::size_t most = 40;
  std::string text = "'" + std::string(piece.substr(0, most));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text + (piece.size() > most ? "...'" : "'");
}

/// A number as its bytes, the lowest byte first.
template <typename Number>
[[nodiscard]] std::array<char, sizeof(Number)> to_bytes(Number number) noexcept {
  auto bytes = std::bit_cast<std::array<char, sizeof(Number)>>(number);
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}
template <typename Number>
[[nodiscard]] Number from_bytes(const char* from) noexcept {
  std::array<char, sizeof(Number)> bytes;
  std::copy_n(from, sizeof(Number), bytes.begin());
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<Number>(bytes);
}

/// Reads the text above the line `data`, then the arrays in its list. Memory is allocated only
/// after a check that the file contains the data for it.
class CpfReader {
 public:
  explicit CpfReader(std::string_view bytes) noexcept : rest_(bytes) {}

  FrictionProblem read() {
    read_header();
    place_arrays();
    FrictionProblem problem;
    problem.dimension = dimension_.value_or(0);
    problem.contact_count = contact_count_.value_or(0);
    const Index rows = problem.row_count();
    const bool local = kind_ == "local" || kind_ == "both";
    const bool global = kind_ == "global" || kind_ == "both";
    Index size = 0;
    if (local || global || has("mu")) problem.friction = numbers("mu", problem.contact_count);
    if (local) problem.local = LocalForm{matrix("W", rows, rows), numbers("q", rows)};
    if (global) {
      size = Index(take_size("M.rows"));
      problem.global = GlobalForm{matrix("M", size, size), matrix("H", size, rows),
                                  numbers("f", size), numbers("b", rows)};
    }
    problem.guess = state("_guess", rows, size);
    problem.solution = state("", rows, size);
    if (kind_ == "solution") require_solution(problem);
    refuse_what_is_left();
    problem.metadata = std::move(metadata_);
    if (const Fault fault = friction_problem_fault(problem); !fault.empty()) throw BadInput(fault);
    return problem;
  }

 private:
  struct Array {
    std::string_view name, type;
    std::size_t count;
    const char* data = nullptr;
    bool used = false;
  };
  struct Size {
    std::string_view name;
    std::int64_t value;
    bool used = false;
  };

  [[noreturn]] static void fail(const std::string& place, const std::string& expected,
                                const std::string& got) {
    throw BadInput(place + ": expected " + expected + ", got " + got);
  }
  [[nodiscard]] std::string here() const { return "header line " + std::to_string(line_); }

  // --- the header ---

  std::string_view next_line() {
    const std::size_t end = rest_.find('\n');
    ++line_;
    if (end == std::string_view::npos) {
      fail(here(), line_ == 1 ? "'CPF1'" : "a line, 'data' the last of them",
           "the end of the file");
    }
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }
  static std::string_view next_word(std::string_view& line) noexcept {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
  }

  void read_header() {
    if (const std::string_view magic = next_line(); magic != "CPF1") {
      fail(here(), "'CPF1'", shown(magic));
    }
    for (std::string_view line = next_line(); line != "data"; line = next_line()) {
      const std::string_view key = next_word(line);
      if (key.empty() || key == "data") fail(here(), "a key and its value", shown(key));
      if (key == "array") {
        read_array(line);
      } else {
        read_field(key, line);
      }
    }
    if (kind_.empty()) fail("kind", "a line of this key", "none");
    if (!dimension_) fail("dim", "a line of this key", "none");
    if (!contact_count_) fail("nc", "a line of this key", "none");
  }

  void read_field(std::string_view key, std::string_view value) {
    const auto once = [&](bool seen) {
      if (seen) fail(here(), "each key once", shown(key) + " again");
    };
    constexpr std::int64_t most_contacts = std::numeric_limits<int>::max() / 3;
    if (key == "kind") {
      once(!kind_.empty());
      kind_ = value;
      if (value != "local" && value != "global" && value != "both" && value != "solution") {
        fail(here() + ": kind", "'local', 'global', 'both' or 'solution'", shown(value));
      }
    } else if (key == "dim") {
      once(dimension_.has_value());
      if (value != "2" && value != "3") fail(here() + ": dim", "2 or 3", shown(value));
      dimension_ = value == "2" ? 2 : 3;
    } else if (key == "nc") {
      once(contact_count_.has_value());
      contact_count_ = Index(count(key, value, most_contacts));
    } else if (key.size() == 6 && (key.ends_with(".rows") || key.ends_with(".cols")) &&
               (key[0] == 'W' || key[0] == 'M' || key[0] == 'H')) {
      once(std::any_of(sizes_.begin(), sizes_.end(), [&](const Size& s) { return s.name == key; }));
      sizes_.push_back({key, count(key, value, std::numeric_limits<int>::max())});
    } else {
      once(std::any_of(metadata_.begin(), metadata_.end(),
                       [&](const auto& pair) { return pair.first == key; }));
      metadata_.emplace_back(key, value);
    }
  }

  [[nodiscard]] std::int64_t count(std::string_view key, std::string_view word,
                                   std::int64_t most) const {
    const std::optional<std::int64_t> value = parse_count(word);
    if (!value || *value > most) {
      fail(here() + ": " + std::string(key), "a whole number in [0, " + std::to_string(most) + "]",
           shown(word));
    }
    return *value;
  }

  void read_array(std::string_view line) {
    const std::string_view name = next_word(line);
    const std::string place = "array " + std::string(shown(name));
    const std::string_view type = next_word(line);
    if (type != "f64" && type != "i32") {
      fail(here() + ": " + place + ": type", "'f64' or 'i32'", shown(type));
    }
    if (find(name) != nullptr) fail(here(), "each array once", place + " again");
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    arrays_.push_back({name, type, std::size_t(count(place, line, most))});
  }

  // --- the arrays ---

  /// Computes the place of each array in the rest of the file.
  void place_arrays() {
    for (Array& array : arrays_) {
      const std::size_t width = array.type == "f64" ? 8 : 4;
      if (array.count > rest_.size() / width) {
        fail("array " + shown(array.name),
             std::to_string(array.count) + " entries of " + std::to_string(width) + " bytes",
             std::to_string(rest_.size()) + " bytes before the end of the file");
      }
      array.data = rest_.data();
      rest_.remove_prefix(array.count * width);
    }
    if (!rest_.empty()) {
      fail("after the last array", "the end of the file",
           std::to_string(rest_.size()) + " more bytes");
    }
  }

  [[nodiscard]] const Array* find(std::string_view name) const noexcept {
    for (const Array& array : arrays_) {
      if (array.name == name) return &array;
    }
    return nullptr;
  }
  [[nodiscard]] bool has(std::string_view name) const noexcept { return find(name) != nullptr; }

  const Array& take(const std::string& name, std::string_view type,
                    std::optional<Index> expected_count) {
    for (Array& array : arrays_) {
      if (array.name != name) continue;
      if (array.type != type) {
        fail("array " + name + ": type", shown(type), shown(array.type));
      }
      if (expected_count && array.count != std::size_t(*expected_count)) {
        fail("array " + name, std::to_string(*expected_count) + " entries",
             std::to_string(array.count));
      }
      array.used = true;
      return array;
    }
    fail("array " + name, "one in a file of kind " + std::string(kind_), "none");
  }

  VectorX<double> numbers(const std::string& name, Index count) {
    const Array& array = take(name, "f64", count);
    VectorX<double> values(count);
    for (Index i = 0; i < count; ++i) values(i) = from_bytes<double>(array.data + 8 * i);
    return values;
  }

  std::int64_t take_size(const std::string& name) {
    for (Size& size : sizes_) {
      if (size.name != name) continue;
      size.used = true;
      return size.value;
    }
    fail(name, "a line of this key in a file of kind " + std::string(kind_), "none");
  }

  SparseMatrix matrix(const std::string& name, Index rows, Index columns) {
    for (const auto& [key, expected] :
         {std::pair(name + ".rows", rows), std::pair(name + ".cols", columns)}) {
      const std::int64_t got = take_size(key);
      if (got != expected) fail(key, std::to_string(expected), std::to_string(got));
    }
    const Array& pointers = take(name + ".ptr", "i32", columns + 1);
    const Array& values = take(name + ".val", "f64", {});
    if (values.count > std::size_t(std::numeric_limits<int>::max())) {
      fail("array " + name + ".val", "fewer than 2147483648 entries", std::to_string(values.count));
    }
    const auto count = Index(values.count);
    const Array& indices = take(name + ".idx", "i32", count);
    std::int32_t last = 0;
    for (Index column = 0; column <= columns; ++column) {
      const auto start = from_bytes<std::int32_t>(pointers.data + 4 * column);
      const bool first = column == 0;
      if (start < last || start > count || (first && start != 0) ||
          (column == columns && start != count)) {
        fail(name + ".ptr entry " + std::to_string(column),
             "numbers that ascend from 0 to " + std::to_string(count), std::to_string(start));
      }
      last = start;
    }
    SparseMatrix matrix(rows, columns);
    matrix.resizeNonZeros(count);
    for (Index i = 0; i <= columns; ++i) {
      matrix.outerIndexPtr()[i] = from_bytes<std::int32_t>(pointers.data + 4 * i);
    }
    for (Index i = 0; i < count; ++i) {
      matrix.innerIndexPtr()[i] = from_bytes<std::int32_t>(indices.data + 4 * i);
      matrix.valuePtr()[i] = from_bytes<double>(values.data + 8 * i);
    }
    return matrix;
  }

  std::optional<FrictionState> state(const std::string& suffix, Index rows, Index size) {
    if (!has("r" + suffix)) return {};
    FrictionState state{numbers("r" + suffix, rows), {}, {}};
    if (has("u" + suffix)) state.contact_velocity = numbers("u" + suffix, rows);
    if (has("v" + suffix)) state.velocity = numbers("v" + suffix, size);
    return state;
  }

  void require_solution(const FrictionProblem& problem) const {
    for (const char* name : {"r", "u"}) {
      if (!problem.solution || !has(name)) {
        fail(std::string("array ") + name, "one in a file of kind solution", "none");
      }
    }
  }
  void refuse_what_is_left() const {
    const std::string none = "none in a file of kind " + std::string(kind_);
    for (const Array& array : arrays_) {
      if (!array.used) fail("array " + shown(array.name), none, "one");
    }
    for (const Size& size : sizes_) {
      if (!size.used) fail(std::string(size.name), none, "one");
    }
  }

  std::string_view rest_;
  std::int64_t line_ = 0;
  std::string_view kind_;
  std::optional<Index> dimension_, contact_count_;
  std::vector<Size> sizes_;
  std::vector<Array> arrays_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace detail

/// Whether the bytes begin as a CPF1 container.
[[nodiscard]] inline bool is_cpf(std::string_view bytes) noexcept {
  return bytes.starts_with("CPF1\n");
}

/// Reads a CPF1 container (docs/file_formats.md). Throws BadInput naming field, index and the
/// expected value.
[[nodiscard]] inline FrictionProblem parse_cpf(std::string_view bytes) {
  return detail::CpfReader(bytes).read();
}

/// The same from a file. Throws BadInput, starting with the path.
[[nodiscard]] inline FrictionProblem read_cpf(const std::string& path) {
  const std::string bytes = read_file(path);
  try {
    return parse_cpf(bytes);
  } catch (const BadInput& fault) {
    throw BadInput(path + ": " + fault.what());
  }
}

}  // namespace carom::files
