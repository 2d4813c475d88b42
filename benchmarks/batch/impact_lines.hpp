// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <vector>

#include "carom/batch/impact_batch_view.hpp"

namespace carom::benchmarks {

inline constexpr Index impact_line_count = 1'000'000;

/// A million lines of balls, each with masses and velocities of its own, in plain arrays.
template <typename Scalar>
struct ImpactLines {
  ImpactPattern pattern;
  std::vector<Scalar> mass, normals, velocity, answers;
  std::vector<ImpactProblemReport<Scalar>> reports;

  ImpactLines(int balls, bool wall)
      : pattern(balls, wall ? balls : balls - 1, ImpactMass::diagonal),
        answers(std::size_t(impact_line_count) * std::size_t(balls)),
        reports(std::size_t(impact_line_count)) {
    for (int i = wall ? 0 : 1; i < balls; ++i) {
      for (int k = 0; k < balls; ++k) {
        normals.push_back(k == i ? Scalar(1) : k == i - 1 ? Scalar(-1) : Scalar(0));
      }
    }
  }
  [[nodiscard]] ImpactBatchView<Scalar> view() const {
    ImpactBatchView<Scalar> view;
    view.count = impact_line_count;
    view.patterns = &pattern;
    view.mass = {mass.data(), pattern.coordinate_count()};
    view.normals = {normals.data()};
    view.velocity = {velocity.data(), pattern.coordinate_count()};
    return view;
  }
};

/// Galperin's billiards: a ball of mass 1 between a wall and a heavy one that comes in.
/// @param most  the heavy masses are 100, or from 1 to this number in even steps of their
///              logarithm.
template <typename Scalar>
[[nodiscard]] ImpactLines<Scalar> make_galperin(double most) {
  ImpactLines<Scalar> lines(2, true);
  for (Index i = 0; i < impact_line_count; ++i) {
    const double share = double(i * 7919 % impact_line_count) / double(impact_line_count);
    const double heavy = most > 0 ? std::pow(most, share) : 100.0;
    lines.mass.insert(lines.mass.end(), {Scalar(1), Scalar(heavy)});
    lines.velocity.insert(lines.velocity.end(), {Scalar(0), Scalar(-1.0 - share)});
  }
  return lines;
}

/// Cradles of equal balls that close on each other.
template <typename Scalar>
[[nodiscard]] ImpactLines<Scalar> make_cradles(int balls) {
  ImpactLines<Scalar> lines(balls, false);
  for (Index i = 0; i < impact_line_count; ++i) {
    const double share = double(i * 7919 % impact_line_count) / double(impact_line_count);
    for (int k = 0; k < balls; ++k) {
      lines.mass.push_back(Scalar(1));
      lines.velocity.push_back(k + 1 < 1 + balls * share ? Scalar(balls - k) : Scalar(0));
    }
  }
  return lines;
}

}  // namespace carom::benchmarks
