// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "carom/contact/contact_problem.hpp"
#include "carom/core/scalar.hpp"
#include "carom/core/solve_limits.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// The shortest motion of bodies that moves contacts apart and does not move joints, by sweeps of
/// projected Gauss-Seidel over single rows. It uses the rows of a problem of velocities, so that no
/// second problem is built for a motion that has to end at a deadline.
class BulletMoves {
 public:
  /// @param problem  its bodies have at most six coordinates.
  void reset(const ContactProblem<double>& problem) {
    rows_.clear();
    // A row has six numbers for a smaller body too: zeros act on what comes after it.
    motion_.assign(std::size_t(problem.velocity_count()) + width, 0);
    deepest_ = 0;
    count_ = std::size_t(problem.velocity_count());
  }
  /// Adds a row: J y ≥ least, or J y = least.
  /// @param least  [m, rad].
  void add(const ContactProblem<double>& problem, Index block, int number, double least,
           bool both_ways) {
    Row row{{Numbers::Zero(), Numbers::Zero()}, {0, 0}, 0, least, 0, both_ways};
    double inverse_mass = 0;
    for (int s = 0; s < problem.side_count(block); ++s) {
      const BlockSide<double> side = problem.side(block, s);
      CAROM_EXPECTS(side.range.size <= Index(width));
      Numbers& own = row.whitened[std::size_t(s)];
      std::copy_n(side.whitened + number * side.range.size, side.range.size, own.data());
      row.starts[std::size_t(s)] = int(side.range.start);
      inverse_mass += own.squaredNorm();
    }
    if (!(inverse_mass > 0)) return;
    row.step = 1 / inverse_mass;
    rows_.push_back(row);
    deepest_ = std::max(deepest_, least);
  }
  /// Sweeps until a sweep moves no row by more than `exact` of the largest motion that a row needs,
  /// or until the deadline, but not before `least_sweeps` sweeps.
  void sweep(const SolveLimits& limits) noexcept {
    for (int k = 1;; ++k) {
      double farthest = 0;
      for (Row& row : rows_) farthest = std::max(farthest, visit(row));
      if (!(farthest > exact * deepest_)) return;
      if (k >= least_sweeps && limits.is_over()) return;
    }
  }
  /// Writes a share of the motion y. Of 1, 1/2, 1/4, ... it is the largest one that makes the sum
  /// of squares of the overlaps smaller, or 0: an unfinished motion may push bodies into others.
  void write(const ContactProblem<double>& problem, VectorX<double>& motion) {
    double share = 1;
    const double now = overlaps(0);
    while (share >= least_share && !(overlaps(share) < now)) share /= 2;
    motion.resize(Index(count_));
    for (std::size_t k = 0; k < count_; ++k) {
      motion(Index(k)) = share >= least_share ? share * motion_[k] : 0;
    }
    problem.unwhiten({motion.data(), count_});
  }

 private:
  static constexpr std::size_t width = 6;
  using Numbers = Vector<double, int(width)>;
  /// Least count of sweeps if the time is over [-]. In 2 s of ten sweeps for each step a pile of
  /// 1,000 boxes and balls has overlaps of 0.33 m with 5, 0.11 m with 20 and 0.06 m with 30; 60
  /// cost more and are not better there.
  static constexpr int least_sweeps = 30;
  /// Motion of a row in one sweep, relative to the largest that is needed, at which the motion is
  /// exact enough [-]. It need not be smaller, because overlaps are removed in part in each step.
  static constexpr double exact = 1e-3;
  /// Least share of an unfinished motion that is tried [-].
  static constexpr double least_share = 1.0 / 64;

  struct Row {
    std::array<Numbers, 2> whitened;  ///< Ĵ
    std::array<int, 2> starts;
    double step;  ///< inverse of the row's inverse mass
    double least;
    double impulse;
    bool both_ways;
  };
  [[nodiscard]] auto moving(const Row& row, std::size_t side) noexcept {
    return Eigen::Map<Numbers>(motion_.data() + row.starts[side]);
  }
  [[nodiscard]] double along(const Row& row) noexcept {
    return row.whitened[0].cwiseProduct(moving(row, 0)).sum() +
           row.whitened[1].cwiseProduct(moving(row, 1)).sum();
  }
  /// @return  by how much J y changes.
  double visit(Row& row) noexcept {
    double impulse = row.impulse + row.step * (row.least - along(row));
    if (!row.both_ways) impulse = std::max(impulse, 0.0);
    const double change = impulse - row.impulse;
    if (change == 0) return 0;
    row.impulse = impulse;
    for (std::size_t s = 0; s < 2; ++s) moving(row, s) += change * row.whitened[s];
    return std::abs(change) / row.step;
  }
  /// Σ (least − J y)₊² over the contacts, for a share of the motion.
  [[nodiscard]] double overlaps(double share) noexcept {
    double sum = 0;
    for (const Row& row : rows_) {
      if (row.both_ways) continue;
      const double left = std::max(row.least - share * along(row), 0.0);
      sum += left * left;
    }
    return sum;
  }

  std::vector<Row> rows_;
  std::vector<double> motion_;  ///< whitened motion of the bodies
  std::size_t count_ = 0;       ///< of its numbers, without those for smaller bodies
  double deepest_ = 0;          ///< largest motion that a row needs
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
