// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Items that have memory of their own, which they keep for the next problem. Movable, not
/// copyable.
template <typename Item>
class KeptItems {
 public:
  KeptItems() noexcept = default;
  KeptItems(KeptItems&& other) noexcept
      : items_(std::exchange(other.items_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  KeptItems& operator=(KeptItems&& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~KeptItems() { delete[] items_; }

  /// Makes so many items in all, if there are fewer; those that there are stay what they are.
  void grow(Index count) {
    if (count <= count_) return;
    KeptItems larger;
    larger.items_ = new Item[std::size_t(count)];
    larger.count_ = count;
    for (Index i = 0; i < count_; ++i) larger.items_[i] = std::move(items_[i]);
    *this = std::move(larger);
  }
  [[nodiscard]] Index size() const noexcept { return count_; }
  [[nodiscard]] Item& operator[](Index i) noexcept { return items_[i]; }

 private:
  Item* items_ = nullptr;
  Index count_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
