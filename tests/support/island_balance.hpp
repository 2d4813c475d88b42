// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "carom/contact/primal.hpp"

namespace carom::testing {

/// The largest balance of momentum that an island has by its own scale [-]: what SapSolver reports.
template <typename Scalar>
[[nodiscard]] Scalar worst_island_balance(const ContactProblem<Scalar>& problem,
                                          const VectorX<Scalar>& velocity,
                                          const VectorX<Scalar>& impulse) {
  const Index count = problem.body_count();
  std::vector<Index> island(static_cast<std::size_t>(count));
  std::iota(island.begin(), island.end(), Index(0));
  const auto join = [&](Index a, Index b) {
    const Index from = island[std::size_t(a)], to = island[std::size_t(b)];
    std::replace(island.begin(), island.end(), from, to);
  };
  VectorX<Scalar> pushed = VectorX<Scalar>::Zero(velocity.size());
  std::vector<Scalar> gross(static_cast<std::size_t>(count), Scalar(0));
  problem.for_each_block([&](const auto& block) {
    if (block.side_count() == 2) join(block.side(0).body, block.side(1).body);
    block.add_momentum(block.read(impulse), pushed);
  });
  problem.whiten_momentum(as_span(pushed));
  problem.for_each_block([&](const auto& block) {
    gross[std::size_t(island[std::size_t(block.side(0).body)])] +=
        block.gross_squared(block.read(impulse));
  });
  VectorX<Scalar> off = velocity;
  problem.whiten(as_span(off));
  off -= problem.whitened_free_velocity() + pushed;
  Scalar worst(0);
  for (Index i = 0; i < count; ++i) {
    Scalar residual(0), free(0), push(0);
    for (Index b = 0; b < count; ++b) {
      if (island[std::size_t(b)] != i) continue;
      const auto [start, size] = problem.body(b);
      residual += off.segment(start, size).squaredNorm();
      free += problem.whitened_free_velocity().segment(start, size).squaredNorm();
      push += pushed.segment(start, size).squaredNorm();
    }
    const Scalar scale = momentum_scale(free, push, gross[std::size_t(i)]);
    if (residual > Scalar(0)) worst = (std::max)(worst, Scalar(std::sqrt(residual) / scale));
  }
  return worst;
}

}  // namespace carom::testing
