// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/linalg/detail/front_forest.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An edge of the contact graph with all that a pass over its parts reads.
struct PackedEdge {
  int low_slot, high_slot;      ///< high −1 for the world
  int low_size, high_size;      ///< unknowns; high 0 for the world
  Index low_start, high_start;  ///< of the bodies in a vector
  Index first_part, part_end;
  Index jacobians;    ///< of the first part; the others follow
  Index other_begin;  ///< the first part that is not a friction contact
  Index first_other = 0, other_end = 0;
};

/// An island in the packed arrays.
struct PackedIsland {
  Index first_edge, edge_end;
  Index first_part, part_count;     ///< the padding counts
  Index projected_count;            ///< parts to project: with the padding unless few
  Index true_count;                 ///< without the padding
  Index vector_start, vector_size;  ///< the padding counts
  FrontRange range;
  bool direct;
  Index first_other = 0, other_end = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
