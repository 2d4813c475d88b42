// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include <Eigen/Core>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// Memory for items of one size and any type, aligned for the widest registers. Sequences of all
/// types share this code, which is therefore compiled once.
class ItemMemory {
 public:
  ItemMemory() noexcept = default;
  ItemMemory(const ItemMemory&) = delete;
  ItemMemory& operator=(const ItemMemory&) = delete;

 protected:
  ~ItemMemory() { Eigen::internal::aligned_free(items_); }

  void swap(ItemMemory& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  /// Allocates memory for 1.5 times the wanted count of items.
  /// @pre  no memory is allocated yet.
  void allocate(Index count, std::size_t item_size) {
    const Index capacity = count + count / 2;
    if (count < 0 || capacity > PTRDIFF_MAX / Index(item_size)) {
      Eigen::internal::throw_std_bad_alloc();
    }
    items_ = Eigen::internal::aligned_malloc(std::size_t(capacity) * item_size);
    capacity_ = capacity;
  }
  /// Copies the items of another memory.
  /// @pre  the memory is large enough, and the items are trivially copyable.
  void copy(const ItemMemory& other, std::size_t item_size) noexcept {
    size_ = other.size_;
    if (size_ > 0) std::memcpy(items_, other.items_, std::size_t(size_) * item_size);
  }
  /// Moves trivially copyable items to larger memory.
  void enlarge(Index count, std::size_t item_size) {
    ItemMemory larger;
    larger.allocate(count, item_size);
    larger.copy(*this, item_size);
    swap(larger);
  }

  void* items_ = nullptr;
  Index size_ = 0, capacity_ = 0;
};

}  // namespace detail

/// A list of items in consecutive memory, counted by Index and aligned for the widest registers: a
/// std::vector that compiles fast. It never frees memory when it shrinks, and it allocates 1.5
/// times the needed memory. Problems of about the same size in consecutive steps therefore need no
/// new memory.
template <typename T>
class Sequence : private detail::ItemMemory {
 public:
  Sequence() noexcept = default;
  Sequence(const Sequence& other) : Sequence() { *this = other; }
  Sequence(Sequence&& other) noexcept : Sequence() { swap(other); }
  Sequence& operator=(const Sequence& other) {
    if (this == &other) return *this;
    if constexpr (is_trivial) {
      reserve(other.size_);
      copy(other, sizeof(T));
    } else {
      resize(other.size_);
      for (Index i = 0; i < size_; ++i) (*this)[i] = other[i];
    }
    return *this;
  }
  Sequence& operator=(Sequence&& other) noexcept {
    if (this == &other) return *this;
    clear();
    swap(other);
    return *this;
  }
  ~Sequence() { clear(); }

  [[nodiscard]] Index size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T* data() noexcept { return static_cast<T*>(items_); }
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(items_); }
  [[nodiscard]] T& operator[](Index i) noexcept { return static_cast<T*>(items_)[i]; }
  [[nodiscard]] const T& operator[](Index i) const noexcept {
    return static_cast<const T*>(items_)[i];
  }
  [[nodiscard]] T* begin() noexcept { return static_cast<T*>(items_); }
  [[nodiscard]] T* end() noexcept { return static_cast<T*>(items_) + size_; }
  [[nodiscard]] const T* begin() const noexcept { return static_cast<const T*>(items_); }
  [[nodiscard]] const T* end() const noexcept { return static_cast<const T*>(items_) + size_; }
  [[nodiscard]] T& back() noexcept { return static_cast<T*>(items_)[size_ - 1]; }
  [[nodiscard]] const T& back() const noexcept { return static_cast<const T*>(items_)[size_ - 1]; }

  /// Reserves memory for `count` items.
  void reserve(Index count) {
    if (count <= capacity_) return;
    if constexpr (is_trivial) {
      enlarge(count, sizeof(T));
    } else {
      Sequence larger;
      larger.allocate(count, sizeof(T));
      for (T& item : *this) {
        ::new (static_cast<void*>(&larger[larger.size_])) T(std::move_if_noexcept(item));
        ++larger.size_;
      }
      swap(larger);
    }
  }
  /// Sets a new size. Remaining items are unchanged, new ones are T().
  void resize(Index count) {
    reserve(count);
    for (; size_ > count; --size_) (*this)[size_ - 1].~T();
    for (; size_ < count; ++size_) ::new (static_cast<void*>(&(*this)[size_])) T();
  }
  /// Sets a new size and assigns the value to each item.
  void assign(Index count, const T& value) {
    const T given = value;  // the value may be an item of this sequence
    resize(count);
    for (T& item : *this) item = given;
  }
  void clear() noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (; size_ > 0; --size_) (*this)[size_ - 1].~T();
    }
    size_ = 0;
  }
  void push_back(const T& item) {
    if (size_ < capacity_) return append(item);
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the item may be one that moves
    const T given = item;
    reserve(size_ + 1);
    append(given);
  }

  [[nodiscard]] friend bool operator==(const Sequence& a, const Sequence& b) noexcept {
    if (a.size_ != b.size_) return false;
    for (Index i = 0; i < a.size_; ++i) {
      if (!(a[i] == b[i])) return false;
    }
    return true;
  }

 private:
  static constexpr bool is_trivial = std::is_trivially_copyable_v<T>;

  /// Appends one item.
  /// @pre  memory for it is reserved.
  void append(const T& item) {
    ::new (static_cast<void*>(&(*this)[size_])) T(item);
    ++size_;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
