// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "carom/batch/detail/batch_memory.hpp"
#include "carom/core/detail/compiler.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Threads that run in step, whose numbers stand side by side in memory so that they are read
/// together. A fact of CUDA; where threads run in step by 64, these are halves.
inline constexpr int device_warp_size = 32;

namespace detail {

/// What the threads of a kernel know of their memory and of the order of a batch.
template <RealScalar Scalar>
struct DeviceThreads {
  const Index* order = nullptr;  ///< problems sorted by pattern; null: they have one
  Scalar* memory = nullptr;
  Index cell_count = 0;    ///< numbers of a thread
  Index thread_count = 0;  ///< whole warps

  /// The problem that is solved as the i-th; those of one pattern follow each other.
  [[nodiscard]] CAROM_DEVICE Index problem(Index i) const noexcept {
    return order != nullptr ? order[i] : i;
  }
  /// Where functions of the namespace device keep the numbers of a thread.
  [[nodiscard]] CAROM_DEVICE Scalar* memory_of(Index thread) const noexcept {
    const Index lane = thread % device_warp_size;
    return memory + (thread - lane) * cell_count + lane;
  }
};

/// Memory of a device: the cells of all warps, and behind them the order of the problems, their
/// pattern numbers, and an image of the patterns. What a workspace of a device is made of.
template <RealScalar Scalar>
class DeviceMemory : BatchMemory<Scalar> {
 protected:
  using BatchMemory<Scalar>::pattern_count;

  template <typename View>
  [[nodiscard]] static std::size_t bytes_for(const View& view, int warps,
                                             std::size_t numbers_of_warp,
                                             const std::vector<std::byte>& image) noexcept {
    return std::size_t(warps) * numbers_of_warp * sizeof(Scalar) + order_bytes(view) + image.size();
  }
  /// Sorts the problems and copies what the device needs to know.
  template <typename View, typename Copy>
  [[nodiscard]] bool take(const View& view, int warps, std::size_t numbers_of_warp,
                          const std::vector<std::byte>& image, void* memory, Copy&& copy);
  /// The view of a batch as a kernel takes it.
  template <typename View>
  [[nodiscard]] View on_device(View view) const noexcept {
    view.patterns = nullptr;
    view.pattern_count = patterns_;
    view.pattern_numbers = numbers_;
    return view;
  }

  DeviceThreads<Scalar> threads_;
  const std::byte* image_ = nullptr;  ///< on the device

 private:
  using Memory = BatchMemory<Scalar>;
  template <typename View>
  [[nodiscard]] static std::size_t order_bytes(const View& view) noexcept {
    const std::size_t count = view.pattern_numbers != nullptr ? std::size_t(view.count) : 0;
    return count * (sizeof(Index) + sizeof(int));
  }

  std::vector<std::byte> copied_;
  const int* numbers_ = nullptr;
  int patterns_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
template <typename View, typename Copy>
bool DeviceMemory<Scalar>::take(const View& view, int warps, std::size_t numbers_of_warp,
                                const std::vector<std::byte>& image, void* memory, Copy&& copy) {
  CAROM_EXPECTS(warps >= 1);
  std::byte* const after =
      static_cast<std::byte*>(memory) + std::size_t(warps) * numbers_of_warp * sizeof(Scalar);
  const std::size_t image_at = order_bytes(view);
  const std::size_t count = image_at / (sizeof(Index) + sizeof(int));
  const std::size_t numbers_at = count * sizeof(Index);
  copied_.resize(image_at + image.size());
  Memory::take(view, 0, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const Index problem = Memory::problem(Index(i));
    std::memcpy(copied_.data() + i * sizeof(Index), &problem, sizeof(Index));
  }
  if (count > 0) {
    std::memcpy(copied_.data() + numbers_at, view.pattern_numbers, count * sizeof(int));
  }
  if (!image.empty()) std::memcpy(copied_.data() + image_at, image.data(), image.size());
  const auto at = [&](std::size_t place) { return static_cast<void*>(after + place); };
  numbers_ = count > 0 ? static_cast<const int*>(at(numbers_at)) : nullptr;
  patterns_ = pattern_count(view);
  image_ = after + image_at;
  threads_ = {count > 0 ? static_cast<const Index*>(at(0)) : nullptr, static_cast<Scalar*>(memory),
              Index(numbers_of_warp / device_warp_size), Index(warps) * device_warp_size};
  return copied_.empty() || copy(at(0), copied_.data(), copied_.size());
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
