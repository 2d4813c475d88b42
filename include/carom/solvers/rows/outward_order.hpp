// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/delassus_problem.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Orders contacts by how many contacts are between them and the one with the largest load.
/// @param order  the contacts in any order; takes the new one.
/// @param seen   scratch memory.
template <RealScalar Scalar>
void order_outward(const DelassusProblem<Scalar>& problem, Sequence<int>& order,
                   Sequence<int>& seen) {
  const Index count = order.size();
  // The search goes breadth first, and starts anew at a contact that no other one reaches.
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const Scalar x = problem.load(problem.first_part(a)).squaredNorm();
    const Scalar y = problem.load(problem.first_part(b)).squaredNorm();
    return x != y ? x > y : a < b;
  });
  seen.resize(2 * count);  // contacts in the order found, then whether they were
  std::fill(seen.begin() + count, seen.end(), 0);
  Index found = 0, next = 0;
  for (const int start : order) {
    if (seen[count + start] == 0) {
      seen[count + start] = 1;
      seen[found++] = start;
    }
    for (; next < found; ++next) {
      const Index contact = seen[next];
      for (int p = 0; p < problem.parts(contact); ++p) {
        const Index part = problem.first_part(contact) + p;
        for (const auto* n = problem.begin(part); n != problem.end(part); ++n) {
          const int other = int(problem.part_contact(n->part));
          if (seen[count + other] != 0) continue;
          seen[count + other] = 1;
          seen[found++] = other;
        }
      }
    }
  }
  std::copy_n(seen.begin(), count, order.begin());
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
