// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <mpi.h>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "carom/contact/detail/body_islands.hpp"
#include "carom/linalg/detail/block_cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A small sparse matrix of 6 × 6 blocks whose rows are made on several ranks, and its factor,
/// which every rank has.
class PetscCoarseMatrix {
 public:
  using Pairs = std::vector<std::pair<int, int>>;

  /// Takes on a pattern. Every rank calls it.
  /// @param count  block rows of all ranks.
  /// @param pairs  (row, column ≤ row) of the blocks that this rank makes, in any order, also more
  ///               than once; (row, row) of each of its rows among them.
  void lay_out(MPI_Comm communicator, Index count, Pairs pairs) {
    communicator_ = communicator;
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    own_ = std::move(pairs);
    own_values_.assign(36 * own_.size(), 0.0);
    gather_pattern();
    lay_out_factor(count);
  }

  /// Sets the blocks of this rank to zero.
  void clear() { std::fill(own_values_.begin(), own_values_.end(), 0.0); }
  /// A block of this rank, column by column.
  [[nodiscard]] double* block(int row, int column) {
    const auto at = std::lower_bound(own_.begin(), own_.end(), std::pair{row, column});
    return own_values_.data() + 36 * (at - own_.begin());
  }
  /// Gathers the blocks of all ranks and factors; false where they are not finite. A diagonal entry
  /// of zero, whose row and column are zero, becomes one. Every rank calls it.
  [[nodiscard]] bool factor() {
    MPI_Allgatherv(own_values_.data(), int(own_values_.size()), MPI_DOUBLE, all_values_.data(),
                   counts_.data(), offsets_.data(), MPI_DOUBLE, communicator_);
    for (const FrontRange& range : ranges_) cholesky_.clear(range);
    for (std::size_t k = 0; k < all_.size(); ++k) {
      const int row = slot_[std::size_t(all_[k].first)],
                column = slot_[std::size_t(all_[k].second)];
      SquareMatrix<double, 6> e =
          Eigen::Map<const SquareMatrix<double, 6>>(all_values_.data() + 36 * k);
      const int low = (std::min)(row, column), high = (std::max)(row, column);
      if (row < column) e.transposeInPlace();
      const auto target = row == column ? cholesky_.diagonal(row)
                                        : cholesky_.block(cholesky_.place(low, high), low);
      for (int c = 0; c < 6; ++c) {
        if (row == column && e(c, c) == 0) e(c, c) = 1;
        for (int r = 0; r < 6; ++r) target.data[c * target.stride + r] += e(r, c);
      }
    }
    bool good = true;
    for (const FrontRange& range : ranges_) good = cholesky_.factor(range) && good;
    return good;
  }
  /// x ← E⁻¹ x, on this rank alone.
  void solve(double* x) noexcept {
    for (const FrontRange& range : ranges_) {
      cholesky_.solve(range, x, starts_.data(), scratch_.data());
    }
  }

 private:
  /// Tells all ranks who is next to whom.
  void gather_pattern() {
    int rank_count = 1;
    MPI_Comm_size(communicator_, &rank_count);
    counts_.assign(std::size_t(rank_count), 0);
    offsets_ = counts_;
    std::vector<int> sent;
    for (const auto& [row, column] : own_) sent.insert(sent.end(), {row, column});
    const int own = int(sent.size());
    MPI_Allgather(&own, 1, MPI_INT, counts_.data(), 1, MPI_INT, communicator_);
    for (std::size_t r = 1; r < counts_.size(); ++r) {
      offsets_[r] = offsets_[r - 1] + counts_[r - 1];
    }
    std::vector<int> received(std::size_t(offsets_.back() + counts_.back()));
    MPI_Allgatherv(sent.data(), own, MPI_INT, received.data(), counts_.data(), offsets_.data(),
                   MPI_INT, communicator_);
    all_.clear();
    for (std::size_t k = 0; k < received.size(); k += 2) {
      all_.emplace_back(received[k], received[k + 1]);
    }
    all_values_.assign(36 * all_.size(), 0.0);
    for (std::vector<int>* numbers : {&counts_, &offsets_}) {
      for (int& number : *numbers) number *= 18;  // a pair is two numbers, its block 36
    }
  }
  /// Finds an order of elimination, the same on all ranks.
  void lay_out_factor(Index count) {
    Sequence<BodyPair> pairs;
    for (const auto& [row, column] : all_) pairs.push_back({column, row == column ? -1 : row});
    Sequence<int> sizes;
    sizes.assign(count, 6);
    BodyIslands islands;
    islands.find(pairs, sizes);
    forest_.clear();
    ranges_.clear();
    slot_.assign(std::size_t(count), -1);
    std::vector<int> found(static_cast<std::size_t>(count));
    for (Index i = 0; i < islands.count(); ++i) {
      const WeightedGraph graph = islands.graph(i);
      static_cast<void>(order_.compute(graph, (std::numeric_limits<double>::max)()));
      ranges_.push_back(forest_.append(graph, order_, found.data()));
      for (Index k = 0; k < graph.node_count; ++k) {
        slot_[std::size_t(islands.member(i, k))] = found[std::size_t(k)];
      }
    }
    cholesky_.reset(forest_);
    starts_.resize(static_cast<std::size_t>(count));
    for (Index row = 0; row < count; ++row) {
      starts_[std::size_t(slot_[std::size_t(row)])] = 6 * row;
    }
    scratch_.resize(2 * std::size_t(forest_.largest_front()) + 16);
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  Pairs own_, all_;  ///< blocks of this rank, and of all
  std::vector<double> own_values_, all_values_;
  std::vector<int> counts_, offsets_;  ///< per rank, of the numbers of its blocks
  MinimumDegree order_;
  FrontForest forest_;
  BlockCholesky<double> cholesky_;
  std::vector<FrontRange> ranges_;
  std::vector<int> slot_;  ///< per block row
  std::vector<Index> starts_;
  std::vector<double> scratch_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
