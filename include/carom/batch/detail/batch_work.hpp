// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "carom/batch/batch_view.hpp"
#include "carom/contact/coulomb_law.hpp"

/// @file
/// The division of a batch: the order of its problems, memory for the workers, and the count of
/// lanes for each part.

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The order in which the problems of a batch are solved: grouped by pattern.
class BatchOrder {
 public:
  /// Index of the i-th solved problem.
  [[nodiscard]] Index problem(Index i) const noexcept {
    return order_.empty() ? i : order_[std::size_t(i)];
  }

 protected:
  template <typename View>
  void sort(const View& view) {
    order_.resize(order_size(view));
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = Index(i);
    std::stable_sort(order_.begin(), order_.end(), [&](Index a, Index b) {
      return view.pattern_number(a) < view.pattern_number(b);
    });
  }
  template <typename View>
  [[nodiscard]] bool is_for(const View& view) const noexcept {
    return order_.size() == order_size(view);
  }
  /// Count of entries of the order: none if all problems have one pattern.
  template <typename View>
  [[nodiscard]] static std::size_t order_size(const View& view) noexcept {
    return view.pattern_numbers != nullptr ? std::size_t(view.count) : 0;
  }
  /// Count of a batch's patterns that its problems may have.
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
  std::vector<Index> order_;
};

/// Memory of the workers of a batch, and the order of its problems. It is the base of the
/// workspaces.
/// @tparam Queue  solves problems of a pattern in memory_size(pattern) numbers.
template <typename View, typename Queue>
class BatchMemory : public BatchOrder {
 public:
  using Scalar = typename Queue::Number::scalar_type;

  /// Bytes that prepare() allocates. Problems are not padded to the largest problem.
  /// @param workers  count of parts of the batch that are solved at the same time, ≥ 1: the count
  ///                 of threads.
  [[nodiscard]] static std::size_t bytes(const View& view, int workers) {
    return std::size_t(workers) * aligned(worker_size(view)) * sizeof(Scalar) +
           order_size(view) * sizeof(Index) + alignment;
  }
  /// Allocates the memory and sorts the problems by their patterns.
  /// @note  Cold: allocates only for a batch larger than every batch before.
  void prepare(const View& view, int workers) {
    CAROM_EXPECTS(workers >= 1);
    workers_ = workers;
    worker_size_ = aligned(worker_size(view));
    numbers_.resize(std::size_t(workers) * worker_size_ + alignment / sizeof(Scalar));
    sort(view);
  }
  /// Whether it is prepared for a batch of this count of problems, or for one pattern whose largest
  /// problem is not smaller.
  /// @note  Real-time safe: no allocation, no exception.
  [[nodiscard]] bool is_prepared_for(const View& view) const noexcept {
    return workers_ >= 1 && worker_size(view) <= worker_size_ && is_for(view);
  }
  [[nodiscard]] int workers() const noexcept { return workers_; }
  /// Memory of one worker.
  [[nodiscard]] Scalar* worker(int number) noexcept {
    const auto address = reinterpret_cast<std::size_t>(numbers_.data());
    const std::size_t skip = (alignment - address % alignment) % alignment / sizeof(Scalar);
    return numbers_.data() + skip + std::size_t(number) * worker_size_;
  }

 private:
  static constexpr std::size_t alignment = 64;  // a line of the cache, and the widest register

  [[nodiscard]] static constexpr std::size_t aligned(std::size_t size) noexcept {
    constexpr std::size_t line = alignment / sizeof(Scalar);
    return (size + line - 1) / line * line;
  }
  [[nodiscard]] static std::size_t worker_size(const View& view) noexcept {
    std::size_t size = 0;
    const int patterns = pattern_count(view);
    for (int p = 0; p < patterns; ++p) {
      size = (std::max)(size, Queue::memory_size(view.patterns[p]));
    }
    return size;
  }

  std::vector<Scalar> numbers_;
  std::size_t worker_size_ = 0;
  int workers_ = 0;
};

/// An executor that runs one task after the other on the calling thread.
struct RunInOrder {
  template <typename Task>
  void operator()(Index count, const Task& task) const noexcept {
    for (Index i = 0; i < count; ++i) task(i);
  }
};

/// Calls visit(law, island, first, end) for each island of problems[first] to problems[end − 1],
/// which have the same pattern; `law` is a compile-time constant. Problems without a pattern are
/// omitted.
/// @param problems  grouped by pattern.
template <RealScalar Scalar, typename Visit>
void for_each_island(const BatchView<Scalar>& view, FrictionLaw law, const Index* problems,
                     int count, const Visit& visit) noexcept {
  for (int first = 0, end = 0; first < count; first = end) {
    const int pattern = view.pattern_number(problems[first]);
    while (end < count && view.pattern_number(problems[end]) == pattern) ++end;
    if (!view.has_pattern(problems[first])) continue;
    for (const LaneMap& island : view.patterns[pattern].islands()) {
      if (law == FrictionLaw::coulomb) {
        visit(std::integral_constant<FrictionLaw, FrictionLaw::coulomb>(), island, first, end);
      } else {
        visit(std::integral_constant<FrictionLaw, FrictionLaw::convex>(), island, first, end);
      }
    }
  }
}

/// Count of lanes for a few problems: those of half a register of 64 bytes. This is as fast as one
/// lane, while a full register of 64 bytes needs 1.4 to 1.7 times the time (measured on an AMD EPYC
/// with AVX-512).
template <RealScalar Scalar, int LaneCount>
inline constexpr int few_lane_count = (std::min)(LaneCount, 32 / int(sizeof(Scalar)));

/// Calls visit(lanes, first, end) for one or two parts of problems[first] to problems[end − 1].
/// `lanes` is a compile-time constant, the lane count of the part: all lanes, or fewer for the last
/// few problems, so that empty lanes cost no time.
template <RealScalar Scalar, int LaneCount, typename Visit>
void for_each_width(int first, int end, const Visit& visit) noexcept {
  constexpr int few = few_lane_count<Scalar, LaneCount>;
  const int rest = (end - first) % LaneCount;
  const int full = rest <= 1 || (few < LaneCount && rest <= few) ? end - rest : end;
  if (first < full) visit(std::integral_constant<int, LaneCount>(), first, full);
  if (end - full == 1) {
    visit(std::integral_constant<int, 1>(), full, end);
  } else if (full < end) {
    visit(std::integral_constant<int, few>(), full, end);
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
