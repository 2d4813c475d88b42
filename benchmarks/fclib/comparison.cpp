// SPDX-License-Identifier: BSD-3-Clause
#include "fclib/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace carom::benchmarks {

Comparison::Comparison(const std::vector<Row>& rows, const std::vector<std::string>& files,
                       double tolerance)
    : tolerance_(tolerance), file_count_(files.size()) {
  std::vector<std::size_t> runs;
  for (const Row& row : rows) {
    const auto file = std::find(files.begin(), files.end(), row.name);
    if (file == files.end()) continue;
    const auto same = [&](const Curve& curve) { return curve.solver == row.solver; };
    auto curve = std::find_if(all_.begin(), all_.end(), same);
    if (curve == all_.end()) {
      all_.push_back({row.solver, std::vector<std::optional<double>>(files.size())});
      runs.push_back(0);
      curve = all_.end() - 1;
    }
    // A solver that was stopped has no rows of tighter tolerances, so a looser one counts as a run.
    if (row.tolerance >= tolerance) ++runs[std::size_t(curve - all_.begin())];
    if (row.tolerance == tolerance && row.solved()) {
      curve->seconds[std::size_t(file - files.begin())] = row.cpu_seconds;
    }
  }
  for (std::size_t k = 0; k < all_.size(); ++k) {
    if (2 * runs[k] >= files.size()) curves_.push_back(all_[k]);
  }
}

Comparison::Curve Comparison::best(const std::string& prefix) const {
  Curve best{prefix, std::vector<std::optional<double>>(file_count_)};
  for (const Curve& curve : all_) {
    if (!curve.solver.starts_with(prefix)) continue;
    for (std::size_t k = 0; k < file_count_; ++k) {
      const std::optional<double>& seconds = curve.seconds[k];
      if (seconds && (!best.seconds[k] || *seconds < *best.seconds[k])) best.seconds[k] = seconds;
    }
  }
  return best;
}

std::size_t solved_count(const Comparison::Curve& curve) {
  const auto solved = [](const std::optional<double>& seconds) { return seconds.has_value(); };
  return std::size_t(std::count_if(curve.seconds.begin(), curve.seconds.end(), solved));
}

double shifted_geometric_mean(const Comparison::Curve& curve, double time_limit, double shift) {
  if (curve.seconds.empty()) return 0;
  double sum = 0;
  for (const std::optional<double>& seconds : curve.seconds) {
    sum += std::log(seconds.value_or(time_limit) + shift);
  }
  return std::exp(sum / double(curve.seconds.size())) - shift;
}

}  // namespace carom::benchmarks
