// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>

#include "carom/contact/delassus_problem.hpp"
#include "carom/linalg/detail/block_cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Sparse Cholesky factor of W + R + diag(d) over the parts of a DelassusProblem.
template <RealScalar Scalar>
class DelassusFactor {
 public:
  /// Finds an order of elimination for the problem's pattern and makes room.
  /// @note  Allocates beyond the largest pattern so far.
  void analyse(const DelassusProblem<Scalar>& problem) {
    const Index count = problem.part_count();
    if (count == 0 || same_pattern(problem)) return;
    starts_.assign(1, 0);
    neighbours_.clear();
    for (Index p = 0; p < count; ++p) {
      for (const auto* n = problem.begin(p); n != problem.end(p); ++n) {
        if (n->part != p) neighbours_.push_back(n->part);
      }
      starts_.push_back(int(neighbours_.size()));
    }
    weights_.assign(count, 3);
    const WeightedGraph graph{count, starts_.data(), neighbours_.data(), weights_.data()};
    (void)order_.compute(graph, std::numeric_limits<double>::infinity());
    forest_.clear();
    slots_.assign(count, 0);
    range_ = forest_.append(graph, order_, slots_.data());
    cholesky_.reset(forest_);
    places_.assign(count, 0);
    for (Index p = 0; p < count; ++p) places_[slots_[p]] = 3 * p;
    scratch_.resize(forest_.largest_front());
  }

  /// Factors. False when the matrix is not positive definite.
  /// @param added  d, 3 part_count() numbers.
  [[nodiscard]] bool factor(const DelassusProblem<Scalar>& problem, const Scalar* added) noexcept {
    if (problem.part_count() == 0) return true;
    cholesky_.follow(forest_);
    cholesky_.clear(range_);
    for (Index p = 0; p < problem.part_count(); ++p) {
      const int slot = slots_[p];
      for (const auto* n = problem.begin(p); n != problem.end(p); ++n) {
        const int other = slots_[n->part];
        if (other > slot) continue;
        const auto target = other == slot ? cholesky_.diagonal(slot)
                                          : cholesky_.block(cholesky_.place(other, slot), other);
        for (int c = 0; c < 3; ++c) {
          for (int r = 0; r < 3; ++r) target.data[c * target.stride + r] = n->matrix(r, c);
        }
        if (other != slot) continue;
        for (int k = 0; k < 3; ++k) {
          target.data[k * target.stride + k] += problem.regularization(p)(k) + added[3 * p + k];
        }
      }
    }
    return cholesky_.factor(range_);
  }

  /// x ← (W + R + diag(d))⁻¹ x.
  void solve(Scalar* x) noexcept {
    if (!places_.empty()) cholesky_.solve(range_, x, places_, scratch_.data());
  }

 private:
  [[nodiscard]] bool same_pattern(const DelassusProblem<Scalar>& problem) const noexcept {
    const Index count = problem.part_count();
    if (starts_.size() != count + 1) return false;
    Index next = 0;
    for (Index p = 0; p < count; ++p) {
      for (const auto* n = problem.begin(p); n != problem.end(p); ++n) {
        if (n->part == p) continue;
        if (next == neighbours_.size() || neighbours_[next++] != n->part) return false;
      }
      if (starts_[p + 1] != next) return false;
    }
    return true;
  }

  MinimumDegree order_;
  FrontForest forest_;
  FrontRange range_{};
  BlockCholesky<Scalar> cholesky_;
  Sequence<int> starts_, neighbours_, weights_, slots_;
  Sequence<Index> places_;  ///< per slot: first unknown of its part
  Sequence<Scalar> scratch_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
