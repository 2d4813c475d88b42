// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace carom::testing {

/// A line of a file of test data: a word, then numbers.
struct NumberLine {
  std::string name;
  std::vector<double> numbers;
};

/// Lines of tests/data/<name>; those that start with # are comments.
inline std::vector<NumberLine> read_numbers(const std::string& name) {
  std::ifstream file(CAROM_SOURCE_DIR "/tests/data/" + name);
  if (!file) throw std::runtime_error("tests/data/" + name + " cannot be read");
  std::vector<NumberLine> lines;
  for (std::string text; std::getline(file, text);) {
    if (text.empty() || text.front() == '#') continue;
    std::istringstream words(text);
    NumberLine line;
    words >> line.name;
    for (std::string word; words >> word;) line.numbers.push_back(std::stod(word));
    lines.push_back(line);
  }
  return lines;
}

}  // namespace carom::testing
