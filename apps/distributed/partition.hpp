// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "carom/contact/detail/contact_graph.hpp"

namespace carom::examples {

/// Which process owns which body, and where its unknowns stand in the distributed vectors: those of
/// rank 0 first, each body's together. Bodies without contact have no owner, because their part of
/// the system is the identity.
struct BodyPartition {
  std::vector<int> owner;          ///< per body, −1 without contact
  std::vector<Index> start;        ///< per body, in the distributed vectors
  std::vector<Index> rank_starts;  ///< per rank its first unknown; one more at the end

  [[nodiscard]] Index unknown_count() const { return rank_starts.back(); }
};

/// Cuts the bodies, in breadth-first order along their contacts, into stretches with about as many
/// sides of contacts each: few contacts are cut where the heap is longer than it is thick.
[[nodiscard]] inline BodyPartition make_partition(const ContactProblem<double>& problem,
                                                  int rank_count) {
  ContactGraph graph;
  graph.analyse(problem, 0);  // no factor: slots in breadth-first order
  const auto bodies = std::size_t(problem.body_count());
  std::vector<Index> sides(bodies, 0);
  Index total = 0;
  for (Index i = 0; i < problem.block_count(); ++i) {
    for (int side = 0; side < problem.side_count(i); ++side) {
      ++sides[std::size_t(problem.side_body(i, side))];
      ++total;
    }
  }
  BodyPartition parts{std::vector<int>(bodies, -1), std::vector<Index>(bodies, -1),
                      std::vector<Index>(std::size_t(rank_count) + 1, 0)};
  Index seen = 0, place = 0;
  for (Index slot = 0; slot < graph.slot_count(); ++slot) {
    const Index body = graph.body_at(slot);
    const auto b = std::size_t(body);
    const int rank = int(std::min<Index>(rank_count - 1, seen * rank_count / total));
    parts.owner[b] = rank;
    parts.start[b] = place;
    seen += sides[b];
    place += problem.body(body).size;
    parts.rank_starts[std::size_t(rank) + 1] = place;
  }
  for (std::size_t r = 1; r < parts.rank_starts.size(); ++r) {
    parts.rank_starts[r] = std::max(parts.rank_starts[r], parts.rank_starts[r - 1]);
  }
  return parts;
}

}  // namespace carom::examples
