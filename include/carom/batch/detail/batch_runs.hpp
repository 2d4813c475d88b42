// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <type_traits>

#include "carom/batch/batch_view.hpp"
#include "carom/contact/coulomb_law.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An executor that runs one task after the other on the thread that calls.
struct RunInOrder {
  template <typename Task>
  void operator()(Index count, const Task& task) const noexcept {
    for (Index i = 0; i < count; ++i) task(i);
  }
};

/// Calls visit(law, island, first, end) for every island of problems[first] to problems[end − 1],
/// which have the same pattern; `law` is a constant of that type. Problems without a pattern are
/// left out.
/// @param problems  those of one pattern one after the other.
template <RealScalar Scalar, typename Visit>
void for_each_island(const BatchView<Scalar>& view, FrictionLaw law, const Index* problems,
                     int count, const Visit& visit) noexcept {
  for (int first = 0, end = 0; first < count; first = end) {
    const int pattern = view.pattern_number(problems[first]);
    while (end < count && view.pattern_number(problems[end]) == pattern) ++end;
    if (!view.has_pattern(problems[first])) continue;
    for (const LaneMap& island : view.patterns[pattern].islands()) {
      if (law == FrictionLaw::coulomb) {
        visit(std::integral_constant<FrictionLaw, FrictionLaw::coulomb>(), island, first, end);
      } else {
        visit(std::integral_constant<FrictionLaw, FrictionLaw::convex>(), island, first, end);
      }
    }
  }
}

/// Lanes for a few problems: those of half a register of 64 bytes, which is as fast as one lane,
/// while a full one of 64 bytes takes 1.4 to 1.7 times as long (measured on an AMD EPYC with
/// AVX-512).
template <RealScalar Scalar, int LaneCount>
inline constexpr int few_lane_count = (std::min)(LaneCount, 32 / int(sizeof(Scalar)));

/// Calls visit(lanes, first, end) for one or two parts of problems[first] to problems[end − 1];
/// `lanes` is a constant, as many as the part is solved in: all, or fewer for the last few
/// problems, so that they do not pay for lanes without work.
template <RealScalar Scalar, int LaneCount, typename Visit>
void for_each_width(int first, int end, const Visit& visit) noexcept {
  constexpr int few = few_lane_count<Scalar, LaneCount>;
  const int rest = (end - first) % LaneCount;
  const int full = rest <= 1 || (few < LaneCount && rest <= few) ? end - rest : end;
  if (first < full) visit(std::integral_constant<int, LaneCount>(), first, full);
  if (end - full == 1) {
    visit(std::integral_constant<int, 1>(), full, end);
  } else if (full < end) {
    visit(std::integral_constant<int, few>(), full, end);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
