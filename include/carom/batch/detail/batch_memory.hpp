// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "carom/core/expects.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Memory of the workers of a batch, and the order of its problems: those of one pattern follow
/// each other. What a workspace is made of.
template <RealScalar Scalar>
class BatchMemory {
 public:
  [[nodiscard]] int workers() const noexcept { return workers_; }
  /// Memory of one worker.
  [[nodiscard]] Scalar* worker(int number) noexcept {
    const auto address = reinterpret_cast<std::size_t>(numbers_.data());
    const std::size_t skip = (alignment - address % alignment) % alignment / sizeof(Scalar);
    return numbers_.data() + skip + std::size_t(number) * worker_size_;
  }
  /// Number of the problem that is solved as the i-th.
  [[nodiscard]] Index problem(Index i) const noexcept {
    return order_.empty() ? i : order_[std::size_t(i)];
  }

 protected:
  /// @param worker_size  numbers that a worker needs.
  template <typename View>
  [[nodiscard]] static std::size_t bytes_for(const View& view, std::size_t worker_size,
                                             int workers) noexcept {
    return std::size_t(workers) * aligned(worker_size) * sizeof(Scalar) +
           order_size(view) * sizeof(Index) + alignment;
  }
  template <typename View>
  void take(const View& view, std::size_t worker_size, int workers);
  /// Whether take() has been called for such a batch: no memory is too small, and the order is that
  /// of so many problems.
  template <typename View>
  [[nodiscard]] bool is_for(const View& view, std::size_t worker_size) const noexcept {
    return workers_ >= 1 && worker_size <= worker_size_ && order_.size() == order_size(view);
  }
  /// How many of a batch's patterns its problems may have.
  template <typename View>
  [[nodiscard]] static int pattern_count(const View& view) noexcept {
    if (view.pattern_numbers == nullptr) return view.count > 0 && view.has_pattern(0) ? 1 : 0;
    int patterns = 0;
    for (Index i = 0; i < view.count; ++i) {
      if (view.has_pattern(i)) patterns = (std::max)(patterns, view.pattern_number(i) + 1);
    }
    return patterns;
  }

 private:
  static constexpr std::size_t alignment = 64;  // a line of the cache, and the widest register

  [[nodiscard]] static constexpr std::size_t aligned(std::size_t size) noexcept {
    constexpr std::size_t line = alignment / sizeof(Scalar);
    return (size + line - 1) / line * line;
  }
  template <typename View>
  [[nodiscard]] static std::size_t order_size(const View& view) noexcept {
    return view.pattern_numbers != nullptr ? std::size_t(view.count) : 0;
  }

  std::vector<Scalar> numbers_;
  std::vector<Index> order_;
  std::size_t worker_size_ = 0;
  int workers_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
template <typename View>
void BatchMemory<Scalar>::take(const View& view, std::size_t worker_size, int workers) {
  CAROM_EXPECTS(workers >= 1);
  workers_ = workers;
  worker_size_ = aligned(worker_size);
  numbers_.resize(std::size_t(workers) * worker_size_ + alignment / sizeof(Scalar));
  order_.resize(order_size(view));
  for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = Index(i);
  std::stable_sort(order_.begin(), order_.end(), [&](Index a, Index b) {
    return view.pattern_number(a) < view.pattern_number(b);
  });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
