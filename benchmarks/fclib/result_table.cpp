// SPDX-License-Identifier: BSD-3-Clause
#include "fclib/result_table.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "io/bad_input.hpp"
#include "io/file_text.hpp"

namespace carom::benchmarks {

namespace {

/// Numbers of a table, nan among them.
double to_number(const std::string& word, const std::string& place) {
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0') {
    throw files::BadInput(place + ": expected a number, got '" + word + "'");
  }
  return number;
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; std::getline(stream, word, '\t');) words.push_back(word);
  return words;
}

void set_field(Row& row, const std::string& column, const std::string& word,
               const std::string& place) {
  const auto number = [&] { return to_number(word, place + ": " + column); };
  if (column == "name") row.name = word;
  if (column == "nc") row.contact_count = Index(number());
  if (column == "solver") row.solver = word;
  if (column == "tol") row.tolerance = number();
  if (column == "status") row.status = word;
  if (column == "info") row.info = int(number());
  if (column == "iters") row.iterations = long(number());
  if (column == "cpu_s") row.cpu_seconds = number();
  if (column == "err") row.error = number();
  if (column == "err_abh") row.absolute_error = number();
  if (column == "cvx_err") row.convex_error = number();
  if (column == "residual") row.residual = number();
}

}  // namespace

std::string table_header() {
  return "name\tnc\tsolver\ttol\tstatus\tinfo\titers\tcpu_s\terr\terr_abh\tcvx_err\tresidual\n";
}

std::string table_line(const Row& row) {
  std::array<char, 256> numbers{};
  std::string line = row.name + '\t' + std::to_string(row.contact_count) + '\t' + row.solver;
  std::snprintf(numbers.data(), numbers.size(), "\t%.0e\t", row.tolerance);
  line += numbers.data() + row.status;
  std::snprintf(numbers.data(), numbers.size(), "\t%d\t%ld\t%.9f\t%.3e\t%.3e\t%.3e\t%.3e\n",
                row.info, row.iterations, row.cpu_seconds, row.error, row.absolute_error,
                row.convex_error, row.residual);
  return line + numbers.data();
}

std::vector<Row> read_table(const std::string& path) {
  std::istringstream stream(files::read_file(path));
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> columns = split(line);
  std::vector<Row> rows;
  for (int number = 2; std::getline(stream, line); ++number) {
    const std::string place = path + ": line " + std::to_string(number);
    const std::vector<std::string> words = split(line);
    if (words.size() != columns.size()) {
      throw files::BadInput(place + ": expected " + std::to_string(columns.size()) +
                            " fields, got " + std::to_string(words.size()));
    }
    Row row;
    for (std::size_t k = 0; k < words.size(); ++k) set_field(row, columns[k], words[k], place);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace carom::benchmarks
