// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fclib/result_table.hpp"

namespace carom::benchmarks {

/// The runs of some solvers to one tolerance, file by file.
class Comparison {
 public:
  /// One solver, or the best of several.
  struct Curve {
    std::string solver;
    /// Processor time per file [s]; none where the file was not solved.
    std::vector<std::optional<double>> seconds;
  };

  /// @param rows   of any tolerance and any file; a run that is missing counts as not solved.
  /// @param files  the files that count.
  Comparison(const std::vector<Row>& rows, const std::vector<std::string>& files, double tolerance);

  [[nodiscard]] double tolerance() const noexcept { return tolerance_; }
  [[nodiscard]] std::size_t file_count() const noexcept { return file_count_; }
  /// Solvers that were run on at least half of the files, in the order of the rows.
  [[nodiscard]] const std::vector<Curve>& curves() const noexcept { return curves_; }
  /// Per file the shortest time among the solvers whose name begins so, those included that were
  /// run on few files.
  [[nodiscard]] Curve best(const std::string& prefix) const;

 private:
  double tolerance_;
  std::size_t file_count_;
  std::vector<Curve> all_, curves_;
};

/// How many files were solved.
[[nodiscard]] std::size_t solved_count(const Comparison::Curve& curve);

/// exp(mean log(t + shift)) − shift of the times [s]; a file that was not solved counts with the
/// time limit.
[[nodiscard]] double shifted_geometric_mean(const Comparison::Curve& curve, double time_limit,
                                            double shift = 1e-3);

/// Performance profiles: per solver the share of files solved within a factor of the best time that
/// any of them took for the file [dolan2002benchmarking], as an SVG.
[[nodiscard]] std::string profile_svg(const Comparison& comparison);

}  // namespace carom::benchmarks
