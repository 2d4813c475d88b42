// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "carom/core/scalar.hpp"

namespace carom::benchmarks {

/// One run of one solver on one file.
struct Row {
  std::string name;
  Index contact_count = 0;
  std::string solver;
  double tolerance = 0;
  std::string status = "ok";  ///< ok: it returned; timeout; crash
  int info = -1;              ///< 0 where the solver says that it is done.
  long iterations = -1;
  double cpu_seconds = 0;
  double error = std::numeric_limits<double>::quiet_NaN();           ///< err [-]
  double absolute_error = std::numeric_limits<double>::quiet_NaN();  ///< err_abh [-]
  double convex_error = std::numeric_limits<double>::quiet_NaN();    ///< err of the convex law [-]
  double residual = std::numeric_limits<double>::quiet_NaN();        ///< the solver's own measure

  /// Whether the answer meets the tolerance, whatever the solver reports.
  [[nodiscard]] bool solved() const noexcept { return error <= tolerance; }
};

/// The names of the columns and a row as a line, with its end, parted by tabulators.
[[nodiscard]] std::string table_header();
[[nodiscard]] std::string table_line(const Row& row);

/// Reads such a table, columns in any order and others among them; what is missing keeps its value
/// of Row. Throws BadInput, starting with the path.
[[nodiscard]] std::vector<Row> read_table(const std::string& path);

}  // namespace carom::benchmarks
