// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <utility>
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

/// Sparse rows in consecutive memory that never shrinks.
template <RealScalar Scalar>
struct SparseRows {
  using Entry = SparseEntry<Scalar>;

  std::vector<Entry> entries;
  std::vector<std::size_t> starts = {0};  ///< of each row, then the end of the last row

  /// Removes all rows. The memory stays allocated.
  void clear() {
    entries.clear();
    starts.assign(1, 0);
  }
  /// Removes the rows from `rows` on, and entries of a row that has not ended.
  void shrink(Index rows) noexcept {
    starts.resize(std::size_t(rows) + 1);
    entries.resize(starts.back());
  }
  /// Ends a row. It contains the entries that were added since the last call.
  void end_row() { starts.push_back(entries.size()); }

  [[nodiscard]] Index count() const noexcept { return Index(starts.size()) - 1; }
  [[nodiscard]] std::span<const Entry> operator[](Index i) const noexcept {
    const auto k = static_cast<std::size_t>(i);
    return {entries.data() + starts[k], starts[k + 1] - starts[k]};
  }
};

/// Rows of the Gram matrix G_ij = ⟨u_i, u_j⟩ of unit normals, without its diagonal, which is 1.
///
/// Only normals with an entry at a common coordinate are multiplied. The work is therefore
/// proportional to the count of such pairs, not to the square of the count of contacts. A normal
/// that is equal to an earlier one up to round-off has no row and no entry in other rows.
template <RealScalar Scalar>
class GramRows {
 public:
  using Rows = SparseRows<Scalar>;
  using Entry = SparseEntry<Scalar>;

  /// Removes all rows. The memory stays allocated.
  void clear() {
    rows_.clear();
    merged_into_.clear();
  }
  /// @param size       length of the normals.
  /// @param normals    u_i.
  /// @param responses  M⁻¹ u_iᵀ, one for each normal.
  /// @note  Allocates only for a problem larger than every problem before.
  void write(Index size, const Rows& normals, const Rows& responses);

  [[nodiscard]] Index count() const noexcept { return rows_.count(); }
  [[nodiscard]] std::span<const Entry> row(Index contact) const noexcept { return rows_[contact]; }
  /// The earlier contact with the same normal, or −1.
  [[nodiscard]] Index merged_into(Index contact) const noexcept {
    return merged_into_[std::size_t(contact)];
  }

 private:
  static constexpr std::size_t none = std::size_t(-1);

  /// A contact with an entry at a coordinate, and the place of the next such contact.
  struct Touch {
    Index contact;
    Scalar value;
    std::size_t next;
  };
  /// Two contacts whose normals have a common coordinate.
  struct Meeting {
    Index contact, earlier;
    Scalar product;
  };

  void write_rows(std::size_t count);

  Rows rows_;
  std::vector<Index> merged_into_;
  // Scratch memory of write().
  std::vector<Touch> touches_;
  std::vector<std::size_t> first_touch_, last_touch_;  ///< per coordinate
  std::vector<Scalar> sums_;
  std::vector<Index> met_;
  std::vector<Meeting> meetings_;
};

// --- implementation ---

template <RealScalar Scalar>
void GramRows<Scalar>::write(Index size, const Rows& normals, const Rows& responses) {
  const auto count = static_cast<std::size_t>(normals.count());
  constexpr Scalar same = 8 * std::numeric_limits<Scalar>::epsilon();
  // Lists the contacts with a normal entry at each coordinate. Only these pairs have a nonzero
  // product.
  touches_.clear();
  first_touch_.assign(std::size_t(size), none);
  last_touch_.assign(std::size_t(size), none);
  merged_into_.assign(count, -1);
  sums_.assign(count, Scalar(0));
  meetings_.clear();
  for (std::size_t j = 0; j < count; ++j) {
    met_.clear();
    for (const Entry& e : responses[Index(j)]) {
      std::size_t k = first_touch_[std::size_t(e.index)];
      for (; k != none; k = touches_[k].next) {
        Scalar& sum = sums_[std::size_t(touches_[k].contact)];
        if (sum == Scalar(0)) met_.push_back(touches_[k].contact);
        sum += e.value * touches_[k].value;
      }
    }
    for (const Index i : met_) {
      if (sums_[std::size_t(i)] >= Scalar(1) - same) merged_into_[j] = i;
    }
    for (const Index i : met_) {
      const Scalar product = std::exchange(sums_[std::size_t(i)], Scalar(0));
      if (merged_into_[j] >= 0 || product == Scalar(0)) continue;
      meetings_.push_back({Index(j), i, product});
    }
    if (merged_into_[j] >= 0) continue;  // the earlier contact acts for it
    for (const Entry& e : normals[Index(j)]) {
      std::size_t& last = last_touch_[std::size_t(e.index)];
      (last == none ? first_touch_[std::size_t(e.index)] : touches_[last].next) = touches_.size();
      last = touches_.size();
      touches_.push_back({Index(j), e.value, none});
    }
  }
  write_rows(count);
}

/// Sorts the pairs into rows: counts, then starts, then entries. While the entries are written, the
/// starts are shifted by one row.
template <RealScalar Scalar>
void GramRows<Scalar>::write_rows(std::size_t count) {
  auto& [entries, starts] = rows_;
  entries.resize(2 * meetings_.size());
  starts.assign(count + 1, 0);
  if (count < 2) return;
  for (const Meeting& m : meetings_) {
    for (const Index i : {m.contact, m.earlier}) {
      if (std::size_t(i) + 2 <= count) ++starts[std::size_t(i) + 2];
    }
  }
  for (std::size_t i = 2; i <= count; ++i) starts[i] += starts[i - 1];
  for (const Meeting& m : meetings_) {
    entries[starts[std::size_t(m.contact) + 1]++] = {m.earlier, m.product};
    entries[starts[std::size_t(m.earlier) + 1]++] = {m.contact, m.product};
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
