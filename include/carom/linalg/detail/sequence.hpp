// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A std::vector counted by Index and aligned for the widest registers. It never gives memory back,
/// and it allocates half as much again as it needs, so that problems of about the same size, one
/// step after the other, need no new memory.
template <typename T>
class Sequence {
 public:
  [[nodiscard]] Index size() const noexcept { return Index(items_.size()); }
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] T* data() noexcept { return items_.data(); }
  [[nodiscard]] const T* data() const noexcept { return items_.data(); }
  [[nodiscard]] T& operator[](Index i) noexcept { return items_[std::size_t(i)]; }
  [[nodiscard]] const T& operator[](Index i) const noexcept { return items_[std::size_t(i)]; }
  [[nodiscard]] T* begin() noexcept { return items_.data(); }
  [[nodiscard]] T* end() noexcept { return items_.data() + items_.size(); }
  [[nodiscard]] const T* begin() const noexcept { return items_.data(); }
  [[nodiscard]] const T* end() const noexcept { return items_.data() + items_.size(); }
  [[nodiscard]] T& back() noexcept { return items_.back(); }
  [[nodiscard]] const T& back() const noexcept { return items_.back(); }

  /// Room for `count` items without a further allocation.
  void reserve(Index count) {
    const std::size_t wanted = std::size_t(count);
    if (wanted > items_.capacity()) items_.reserve(wanted + wanted / 2);
  }
  /// A new size; items that stay keep their values, new ones are T().
  void resize(Index count) {
    reserve(count);
    items_.resize(std::size_t(count));
  }
  /// A new size, every item set to the value.
  void assign(Index count, const T& value) {
    reserve(count);
    items_.assign(std::size_t(count), value);
  }
  void clear() noexcept { items_.clear(); }
  void push_back(const T& item) { items_.push_back(item); }

  [[nodiscard]] friend bool operator==(const Sequence& a, const Sequence& b) noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::vector<T, Eigen::aligned_allocator<T>> items_;
};

}  // namespace CAROM_ABI
}  // namespace carom
