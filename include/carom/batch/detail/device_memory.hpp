// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "carom/batch/batch_pattern.hpp"
#include "carom/batch/detail/batch_work.hpp"
#include "carom/core/detail/compiler.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Count of threads that run in lockstep. Their numbers are interleaved in memory, so that they are
/// read together. The value is that of CUDA. On devices with 64 threads in lockstep, it is one half
/// of them.
inline constexpr int device_warp_size = 32;

namespace detail {

/// Tables in one block of memory whose addresses are already those on a device. The block is copied
/// to the device as bytes.
/// @note  Cold: allocates.
class DeviceImage {
 public:
  static constexpr std::size_t alignment = 8;
  /// @param address  of the image on the device; null to compute only its size.
  explicit DeviceImage(const void* address) noexcept
      : address_(reinterpret_cast<std::uintptr_t>(address)) {}

  /// @return  the address that the items will have.
  template <typename Item>
  const Item* add(const Item* items, int count) {
    static_assert(std::is_trivially_copyable_v<Item> && alignof(Item) <= alignment);
    const std::size_t place = bytes_.size(), size = sizeof(Item) * std::size_t(count);
    bytes_.resize((place + size + alignment - 1) / alignment * alignment);
    if (count > 0) std::memcpy(bytes_.data() + place, items, size);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the place is in device memory.
    return reinterpret_cast<const Item*>(address_ + place);
  }
  template <typename Item>
  const Item* add(const std::vector<Item>& items) {
    return add(items.data(), int(items.size()));
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::uintptr_t address_;
  std::vector<std::byte> bytes_;
};

/// The islands of a BatchPattern in device memory.
struct DevicePattern {
  const LaneMapView* islands;
  int island_count;

  [[nodiscard]] static DevicePattern of(const BatchPattern& pattern, DeviceImage& image) {
    std::vector<LaneMapView> islands;
    for (const LaneMap& island : pattern.islands()) {
      LaneMapView map = island.view();
      const auto move = [&image](auto& items, int count) { items = image.add(items, count); };
      move(map.bodies, map.body_count);
      move(map.starts, map.body_count);
      move(map.contacts, map.contact_count);
      move(map.sides, map.contact_count);
      move(map.rigid_contacts, map.contact_count);
      move(map.others, map.other_count);
      move(map.blocks, map.other_count);
      for (LaneRows* rows : {&map.mass_rows, &map.matrix_rows}) {
        move(rows->first_column, rows->count);
        move(rows->place, rows->count);
      }
      islands.push_back(map);
    }
    return {image.add(islands), int(islands.size())};
  }
  /// Count of cells of the largest island, under both laws.
  [[nodiscard]] static int cell_count(const BatchPattern& pattern) noexcept {
    int cells = 0;
    for (const LaneMap& island : pattern.islands()) {
      cells = (std::max)(cells, island.layout(FrictionLaw::coulomb).cell_count);
    }
    return cells;
  }
};

/// The memory of the threads of a kernel, and the order of the problems of a batch.
template <RealScalar Scalar>
struct DeviceThreads {
  const Index* order = nullptr;  ///< problems sorted by pattern; null: all have one pattern
  Scalar* memory = nullptr;
  Index cell_count = 0;    ///< count of numbers of a thread
  Index thread_count = 0;  ///< a multiple of the warp size

  /// The i-th solved problem; problems are grouped by pattern.
  [[nodiscard]] CAROM_DEVICE Index problem(Index i) const noexcept {
    return order != nullptr ? order[i] : i;
  }
  /// The first number of a thread, as an argument for the functions of the namespace device.
  [[nodiscard]] CAROM_DEVICE Scalar* memory_of(Index thread) const noexcept {
    const Index lane = thread % device_warp_size;
    return memory + (thread - lane) * cell_count + lane;
  }
  /// Calls visit(its memory, problem) for the problems of a thread: the problem with its index, and
  /// then every thread_count-th problem.
  template <typename Visit>
  CAROM_DEVICE void for_each_problem(Index thread, Index problem_count,
                                     const Visit& visit) const noexcept {
    for (Index i = thread; i < problem_count; i += thread_count) {
      visit(memory_of(thread), problem(i));
    }
  }
};

/// Device memory for a batch, the base of the workspaces: the cells of all warps, then the
/// patterns, the order of the problems and their pattern numbers. The caller allocates and frees
/// the memory.
/// @tparam Pattern  the pattern type on the device: DevicePattern, or another with its functions.
template <RealScalar Scalar, typename View, typename Pattern>
class DeviceMemory : BatchOrder {
 public:
  /// Bytes that prepare() needs: the cells of all warps, the patterns, and the order if there are
  /// several patterns. Only the cells of a warp are padded to the largest problem.
  /// @param warps  count of warps that solve problems at the same time, ≥ 1; more than
  ///               problems / 32 have no work.
  [[nodiscard]] static std::size_t bytes(const View& view, int warps) {
    const std::vector<Index> order(order_size(view));
    return cell_bytes(view, warps) + make_tables(view, order, nullptr).image.bytes().size();
  }
  /// Count of numbers of a warp; those of its threads are interleaved.
  [[nodiscard]] static std::size_t numbers_of_warp(const View& view) {
    int cells = 0;
    const int patterns = pattern_count(view);
    for (int p = 0; p < patterns; ++p) {
      cells = (std::max)(cells, Pattern::cell_count(view.patterns[p]));
    }
    return std::size_t(cells) * device_warp_size;
  }

  /// Sorts the problems by their patterns and copies the data to the device.
  /// @param view    `patterns` and `pattern_numbers` are in host memory, numbers and offsets in
  ///                device memory.
  /// @param memory  of the device, aligned to 16 bytes as that of cudaMalloc().
  /// @param size    of the memory [bytes].
  /// @param copy    copy(to, from, bytes) copies to the device and returns whether it succeeded.
  ///                `from` is valid until the next call.
  /// @return  false if the memory is smaller than bytes() (then nothing is copied), or if copy()
  ///          returned false.
  /// @note  Cold: allocates.
  template <typename Copy>
  [[nodiscard]] bool prepare(const View& view, int warps, void* memory, std::size_t size,
                             Copy&& copy);

 protected:
  /// The view of a batch as an argument of a kernel.
  [[nodiscard]] View on_device(View view) const noexcept {
    view.patterns = nullptr;
    view.pattern_count = pattern_count_;
    view.pattern_numbers = numbers_;
    return view;
  }

  DeviceThreads<Scalar> threads_;
  const Pattern* patterns_ = nullptr;  ///< on the device

 private:
  /// The tables to be copied to the device, and their addresses there.
  struct Tables {
    DeviceImage image;
    const Pattern* patterns;
    const Index* order;
    const int* numbers;
  };
  [[nodiscard]] static Tables make_tables(const View& view, const std::vector<Index>& order,
                                          const void* address) {
    DeviceImage image(address);
    std::vector<Pattern> patterns;
    const int count = pattern_count(view);
    for (int p = 0; p < count; ++p) patterns.push_back(Pattern::of(view.patterns[p], image));
    const Pattern* const patterns_at = image.add(patterns);
    const Index* const order_at = image.add(order);
    const int* const numbers_at = image.add(view.pattern_numbers, int(order.size()));
    if (order.empty()) return {std::move(image), patterns_at, nullptr, nullptr};
    return {std::move(image), patterns_at, order_at, numbers_at};
  }
  [[nodiscard]] static std::size_t cell_bytes(const View& view, int warps) {
    return std::size_t(warps) * numbers_of_warp(view) * sizeof(Scalar);
  }

  std::vector<std::byte> copied_;
  const int* numbers_ = nullptr;
  int pattern_count_ = 0;
};

// --- implementation ---

template <RealScalar Scalar, typename View, typename Pattern>
template <typename Copy>
bool DeviceMemory<Scalar, View, Pattern>::prepare(const View& view, int warps, void* memory,
                                                  std::size_t size, Copy&& copy) {
  CAROM_EXPECTS(warps >= 1);
  if (size < bytes(view, warps)) return false;
  sort(view);
  std::vector<Index> order;
  for (std::size_t i = 0; i < order_size(view); ++i) order.push_back(problem(Index(i)));
  void* const to = static_cast<std::byte*>(memory) + cell_bytes(view, warps);
  const Tables tables = make_tables(view, order, to);
  patterns_ = tables.patterns;
  pattern_count_ = pattern_count(view);
  numbers_ = tables.numbers;
  threads_ = {tables.order, static_cast<Scalar*>(memory),
              Index(numbers_of_warp(view) / device_warp_size), Index(warps) * device_warp_size};
  copied_ = tables.image.bytes();
  return copied_.empty() || copy(to, copied_.data(), copied_.size());
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
