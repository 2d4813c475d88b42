// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "carom/adapters/petsc_problem.hpp"
#include "carom/contact/detail/contact_graph.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Own bodies in connected groups, each of about the same number.
/// @param graph  of own bodies and ghosts.
/// @return  per own body, its group; −1 without contact. Second the number of groups.
inline std::pair<std::vector<int>, int> gather_aggregates(const PetscContactProblem& problem,
                                                          const ContactGraph& graph,
                                                          Index bodies_per_aggregate) {
  const auto slot_count = std::size_t(graph.slot_count());
  std::vector<std::vector<int>> neighbours(slot_count);
  for (const ContactEdge& edge : graph.edges()) {
    if (edge.high_slot < 0) continue;
    neighbours[std::size_t(edge.low_slot)].push_back(edge.high_slot);
    neighbours[std::size_t(edge.high_slot)].push_back(edge.low_slot);
  }
  std::vector<int> group(std::size_t(problem.own_count()), -1);
  const auto group_of = [&](int slot) -> int* {
    const Index body = graph.body_at(slot);
    return problem.is_own(body) ? &group[std::size_t(body)] : nullptr;
  };
  int count = 0;
  std::vector<int> members, border;  // border: next to a group already made, where others begin
  Index full = 0;                    // members that the last group has
  const auto grow = [&](int seed) {
    members.assign(1, seed);
    *group_of(seed) = count;
    for (std::size_t k = 0; k < members.size(); ++k) {
      for (const int next : neighbours[std::size_t(members[k])]) {
        int* const there = group_of(next);
        if (there == nullptr || *there >= 0) continue;
        if (full + Index(members.size()) >= bodies_per_aggregate) {
          border.push_back(next);
          continue;
        }
        *there = count;
        members.push_back(next);
      }
    }
    full += Index(members.size());
  };
  for (int slot = 0; slot < int(slot_count); ++slot) {
    border.assign(1, slot);
    for (std::size_t k = 0; k < border.size(); ++k) {
      const int* const there = group_of(border[k]);
      if (there == nullptr || *there >= 0) continue;
      if (full >= bodies_per_aggregate) {
        ++count;
        full = 0;
      }
      grow(border[k]);
    }
  }
  return {std::move(group), full > 0 ? count + 1 : count};
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
