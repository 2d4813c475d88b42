// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// One nonzero of a sparse row.
template <RealScalar Scalar>
struct SparseEntry {
  Index index;
  Scalar value;
};

/// Sparse rows one after another in memory that only grows.
template <RealScalar Scalar>
struct SparseRows {
  using Entry = SparseEntry<Scalar>;

  std::vector<Entry> entries;
  std::vector<std::size_t> starts = {0};  ///< of each row, then where the last one ends

  /// Forgets all rows, keeps their memory.
  void clear() {
    entries.clear();
    starts.assign(1, 0);
  }
  /// Ends the row that the entries since the last call make up.
  void end_row() { starts.push_back(entries.size()); }

  [[nodiscard]] Index count() const noexcept { return Index(starts.size()) - 1; }
  [[nodiscard]] std::span<const Entry> operator[](Index i) const noexcept {
    const auto k = static_cast<std::size_t>(i);
    return {entries.data() + starts[k], starts[k + 1] - starts[k]};
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
