// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <Eigen/Core>

#include "carom/contact/impulse_set.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/counting_sort.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// W of a problem in impulses: for each part, the blocks in its rows, by ascending part of the
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
  /// Adds a matrix to the block of a row part and a column part.
  void add(Index part, Index other, const Block& matrix) {
    entries_.push_back({int(part), int(other), matrix});
  }
  /// Adds half of a matrix and half of its transpose, block by block.
  /// @param for_each_entry  calls visit(place of the row, place of the column, iterator) for each
  ///                        entry, column by column.
  template <typename Visit>
  void add_symmetric_part(Index part_count, const Visit& for_each_entry);
  /// Sorts all added blocks. Afterwards each diagonal block exists; it is zero if none was added.
  void assemble(Index part_count);

  // For a problem that copies rows which are already sorted.
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
  /// A block in the form in which it was added: row part, column part.
  struct Entry {
    int part, other;
    Block matrix;
  };

  Sequence<Entry> entries_;
  Sequence<Neighbour> blocks_;
  Sequence<Index> starts_;  ///< per part: start in blocks_; one additional number for the end
  Sequence<int> order_, sorted_, entry_;  ///< scratch
};

// --- implementation ---

template <RealScalar Scalar>
template <typename Visit>
void DelassusBlocks<Scalar>::add_symmetric_part(Index part_count, const Visit& for_each_entry) {
  entry_.assign(part_count, -1);  // per row part: its entry in the current column part
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
  order_.resize(entries_.size());
  for (Index e = 0; e < entries_.size(); ++e) order_[e] = int(e);
  const auto other = [&](int e) { return entries_[e].other; };
  const auto row = [&](int e) { return entries_[e].part; };
  sort_by_key(order_, part_count, other, sorted_, entry_);
  sort_by_key(order_, part_count, row, sorted_, entry_);
  blocks_.clear();
  starts_.resize(part_count + 1);
  Index e = 0;
  for (Index part = 0; part < part_count; ++part) {
    starts_[part] = blocks_.size();
    bool own = false;  // the diagonal block always exists
    for (; e < order_.size() && entries_[order_[e]].part == part; ++e) {
      const Entry& entry = entries_[order_[e]];
      if (!own && entry.other > part) blocks_.push_back({int(part), Block::Zero()});
      own = own || entry.other >= part;
      if (blocks_.size() == starts_[part] || blocks_.back().part != entry.other) {
        blocks_.push_back({entry.other, Block::Zero()});
      }
      add_multiple(Scalar(1), entry.matrix.data(), 9, blocks_.back().matrix.data());
    }
    if (!own) blocks_.push_back({int(part), Block::Zero()});
  }
  starts_[part_count] = blocks_.size();
}

}  // namespace detail

template <RealScalar Scalar>
class DelassusIslands;

namespace detail {

/// The rows of a problem in impulses: the set of each contact, and q and R of each row. They are
/// stored in parts of three rows. Rows that a contact does not have are empty.
template <RealScalar Scalar>
class DelassusRows {
 public:
  [[nodiscard]] Index count() const noexcept { return contacts_.size(); }
  [[nodiscard]] Index row_count() const noexcept { return row_count_; }
  [[nodiscard]] Index part_count() const noexcept { return parts_.size(); }
  [[nodiscard]] const ImpulseSet<Scalar>& set(Index contact) const noexcept {
    return contacts_[contact].set;
  }
  /// First row of a contact in γ, u and q.
  [[nodiscard]] Index first_row(Index contact) const noexcept {
    return contacts_[contact].first_row;
  }
  [[nodiscard]] Index first_part(Index contact) const noexcept {
    return contacts_[contact].first_part;
  }
  /// Count of parts of one contact: 1 or 2.
  [[nodiscard]] int parts(Index contact) const noexcept { return (set(contact).rows + 2) / 3; }
  [[nodiscard]] Index part_contact(Index part) const noexcept { return parts_[part].contact; }
  [[nodiscard]] const Vector3<Scalar>& load(Index part) const noexcept { return parts_[part].load; }
  [[nodiscard]] const Vector3<Scalar>& regularization(Index part) const noexcept {
    return parts_[part].regularization;
  }
  /// Whether a row of a part belongs to its contact.
  [[nodiscard]] bool present(Index part, int row) const noexcept {
    return parts_[part].present[row];
  }

  /// The place of a contact's row: its part and the row in this part.
  struct Place {
    Index part;
    int row;
  };
  [[nodiscard]] Place place_of(Index contact, int row) const noexcept {
    const int place = part_place(set(contact).shape, row);
    return {first_part(contact) + place / 3, place % 3};
  }

  /// Copies the rows of all contacts to parts. Empty rows become zero.
  void write_parts(const VectorX<Scalar>& rows, VectorX<Scalar>& parts) const {
    parts.setZero(3 * part_count());
    for_each_row(
        [&](Index row, const Place& place) { parts(3 * place.part + place.row) = rows(row); });
  }
  /// Copies the parts back to rows.
  void write_rows(const VectorX<Scalar>& parts, VectorX<Scalar>& rows) const {
    rows.resize(row_count_);
    for_each_row(
        [&](Index row, const Place& place) { rows(row) = parts(3 * place.part + place.row); });
  }
  /// Calls visit(row, place) for each row of each contact.
  template <typename Visit>
  void for_each_row(Visit&& visit) const noexcept {
    for (Index i = 0; i < count(); ++i) {
      for (int r = 0; r < set(i).rows; ++r) visit(first_row(i) + r, place_of(i, r));
    }
  }

 protected:
  template <RealScalar>
  friend class carom::DelassusIslands;

  struct Contact {
    ImpulseSet<Scalar> set;
    int first_row, first_part;
  };
  struct Part {
    int contact, number;
    Vector3<Scalar> load = Vector3<Scalar>::Zero(), regularization = Vector3<Scalar>::Zero();
    bool present[3] = {false, false, false};
    SquareMatrix<Scalar, 3> diagonal = SquareMatrix<Scalar, 3>::Zero();  ///< W_ii + R
  };

  void clear_rows() noexcept {
    contacts_.clear();
    parts_.clear();
    row_count_ = 0;
  }
  /// Appends a checked contact and returns its index.
  Index append_rows(const ImpulseSet<Scalar>& set, const RowNumbers<Scalar>& load,
                    const RowNumbers<Scalar>& regularization) {
    Contact contact{set, int(row_count_), int(parts_.size())};
    row_count_ += set.rows;
    for (int p = 0; p < (set.rows + 2) / 3; ++p) parts_.push_back({int(contacts_.size()), p});
    contacts_.push_back(contact);
    for (int r = 0; r < set.rows; ++r) {
      const auto [part, row] = place_of(count() - 1, r);
      parts_[part].load(row) = load(r);
      parts_[part].regularization(row) = regularization(r);
      parts_[part].present[row] = true;
    }
    return count() - 1;
  }
  [[nodiscard]] Index contact_of_row(Index row) const noexcept {
    const auto after = [](Index r, const Contact& contact) { return r < contact.first_row; };
    return std::upper_bound(contacts_.begin(), contacts_.end(), row, after) - contacts_.begin() - 1;
  }

  Sequence<Contact> contacts_;
  Sequence<Part> parts_;
  Index row_count_ = 0;
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
