// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// W of a problem in impulses: for every part the blocks in its rows, by ascending part of the
/// columns. Blocks are added in any order and sorted once, by assemble().
template <RealScalar Scalar>
class DelassusBlocks {
 public:
  using Block = SquareMatrix<Scalar, 3>;
  /// A block in its row of parts.
  struct Neighbour {
    int part;
    Block matrix;
  };

  void clear() noexcept {
    entries_.clear();
    blocks_.clear();
    starts_.clear();
  }
  /// Adds to the block of a row part and a column part.
  void add(Index part, Index other, const Block& matrix) {
    entries_.push_back({int(part), int(other), matrix});
  }
  /// Adds half a matrix and half its transpose, block by block.
  /// @param for_each_entry  calls visit(place of the row, place of the column, iterator) for every
  ///                        entry, columns in turn.
  template <typename Visit>
  void add_symmetric_part(Index part_count, const Visit& for_each_entry);
  /// Sorts what was added; the diagonal blocks are there afterwards, zero if none was added.
  void assemble(Index part_count);

  // For a problem that takes over rows which are sorted already.
  void begin_row() { starts_.push_back(blocks_.size()); }
  void append(const Neighbour& block) { blocks_.push_back(block); }

  [[nodiscard]] const Neighbour* begin(Index part) const noexcept {
    return blocks_.data() + starts_[part];
  }
  [[nodiscard]] const Neighbour* end(Index part) const noexcept {
    return blocks_.data() + starts_[part + 1];
  }
  [[nodiscard]] const Neighbour* find(Index part, Index other) const noexcept {
    const auto before = [](const Neighbour& n, Index wanted) { return n.part < wanted; };
    return std::lower_bound(begin(part), end(part), other, before);
  }
  [[nodiscard]] Index size() const noexcept { return blocks_.size(); }

 private:
  /// A block as it was added: row part, column part.
  struct Entry {
    int part, other;
    Block matrix;
  };

  Sequence<Entry> entries_;
  Sequence<Neighbour> blocks_;
  Sequence<Index> starts_;       ///< per part, in blocks_; one more for the end
  Sequence<int> order_, entry_;  ///< scratch
};

// --- implementation ---

template <RealScalar Scalar>
template <typename Visit>
void DelassusBlocks<Scalar>::add_symmetric_part(Index part_count, const Visit& for_each_entry) {
  entry_.assign(part_count, -1);  // per row part: its entry in the column part at hand
  const Index first = entries_.size();
  for_each_entry([&](const auto& at, const auto& from, const auto& it) {
    int& entry = entry_[at.part];
    if (entry < first || entries_[entry].other != int(from.part)) {
      entry = int(entries_.size());
      entries_.push_back({int(at.part), int(from.part), Block::Zero()});
      entries_.push_back({int(from.part), int(at.part), Block::Zero()});
    }
    entries_[entry].matrix(at.row, from.row) += it.value() / 2;
    entries_[entry + 1].matrix(from.row, at.row) += it.value() / 2;
  });
}

template <RealScalar Scalar>
void DelassusBlocks<Scalar>::assemble(Index part_count) {
  starts_.assign(part_count + 2, 0);
  for (const Entry& entry : entries_) ++starts_[entry.part + 2];
  for (Index part = 0; part < part_count; ++part) starts_[part + 2] += starts_[part + 1];
  order_.resize(entries_.size());
  for (Index e = 0; e < entries_.size(); ++e) order_[starts_[entries_[e].part + 1]++] = int(e);
  const auto by_other = [&](int a, int b) { return entries_[a].other < entries_[b].other; };
  blocks_.clear();
  Index begin = 0;
  for (Index part = 0; part < part_count; ++part) {
    const Index end = starts_[part + 1];
    std::sort(order_.begin() + begin, order_.begin() + end, by_other);
    starts_[part] = blocks_.size();
    bool own = false;  // the diagonal is always there
    for (Index e = begin; e < end; ++e) {
      const Entry& entry = entries_[order_[e]];
      if (!own && entry.other > part) blocks_.push_back({int(part), Block::Zero()});
      own = own || entry.other >= part;
      if (blocks_.size() == starts_[part] || blocks_.back().part != entry.other) {
        blocks_.push_back({entry.other, Block::Zero()});
      }
      add_multiple(Scalar(1), entry.matrix.data(), 9, blocks_.back().matrix.data());
    }
    if (!own) blocks_.push_back({int(part), Block::Zero()});
    begin = end;
  }
  starts_[part_count] = blocks_.size();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
