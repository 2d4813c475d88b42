// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
/// which have the same pattern; `law` is a constant of that type.
/// @param problems  those of one pattern one after the other.
template <RealScalar Scalar, typename Visit>
void for_each_island(const BatchView<Scalar>& view, FrictionLaw law, const Index* problems,
                     int count, const Visit& visit) noexcept {
  for (int first = 0, end = 0; first < count; first = end) {
    const int pattern = view.pattern_number(problems[first]);
    while (end < count && view.pattern_number(problems[end]) == pattern) ++end;
    for (const LaneMap& island : view.patterns[pattern].islands()) {
      if (law == FrictionLaw::coulomb) {
        visit(std::integral_constant<FrictionLaw, FrictionLaw::coulomb>(), island, first, end);
      } else {
        visit(std::integral_constant<FrictionLaw, FrictionLaw::convex>(), island, first, end);
      }
    }
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
