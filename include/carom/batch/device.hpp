// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "carom/batch/batch_view.hpp"
#include "carom/batch/detail/batch_memory.hpp"
#include "carom/batch/detail/device_patterns.hpp"
#include "carom/batch/detail/device_runtime.hpp"
#include "carom/batch/detail/lane_thread.hpp"
#include "carom/solvers/sap_options.hpp"

/// @file
/// Batches on a graphics processor: each thread solves a problem of its own, by the same code as a
/// lane of the processor and with the same bits. What launches a kernel is there for nvcc and hipcc
/// only; everything else any compiler takes, and the processor runs it in a test. nvcc needs
/// --expt-relaxed-constexpr; --use_fast_math would change the bits.

namespace carom {
inline namespace CAROM_ABI {

/// Threads that run in step, whose numbers stand side by side in memory so that they are read
/// together. A fact of CUDA; where threads run in step by 64, these are halves.
inline constexpr int device_warp_size = 32;

/// A batch whose numbers are in memory of the device, to be handed to a kernel by value.
template <RealScalar Scalar>
struct DeviceBatch {
  /// Numbers, offsets and pattern numbers are in memory of the device; `patterns` is not read.
  BatchView<Scalar> view{};
  detail::DevicePatternsView patterns{};
};

namespace device {

/// Solves one problem of a batch in the thread that calls, which may be one of a user's own kernel:
/// writes its velocity, its impulse if wanted, and its report, as solve_batch() does, with the same
/// bits.
///
/// Each thread calls it with a problem of its own, or not at all. No thread waits for another, so
/// threads may come by any branch and at any time; a warp whose problems have the same pattern
/// reads memory together, and is as slow as the slowest of them.
/// @tparam Law     that of the options. The overload without it decides at run time, which makes
///                 the kernel twice as large.
/// @param answers  in memory of the device.
/// @param memory   the thread's first number: that of its warp plus its place in it, 0 to 31. A
///                 warp has DeviceWorkspace::numbers_of_warp() of them to itself.
/// @note  No barrier, no shared memory, no atomics; at most iteration_limit iterations.
template <FrictionLaw Law, RealScalar Scalar>
CAROM_DEVICE void solve(const DeviceBatch<Scalar>& batch, const BatchAnswers<Scalar>& answers,
                        const SapOptions<Scalar>& options, Scalar* memory, Index problem) noexcept {
  detail::LaneThread<Scalar, Law, device_warp_size>(batch.view, answers, options, memory)
      .solve(batch.patterns, problem);
}
template <RealScalar Scalar>
CAROM_DEVICE void solve(const DeviceBatch<Scalar>& batch, const BatchAnswers<Scalar>& answers,
                        const SapOptions<Scalar>& options, Scalar* memory, Index problem) noexcept {
  if (options.law == FrictionLaw::coulomb) {
    solve<FrictionLaw::coulomb>(batch, answers, options, memory, problem);
  } else {
    solve<FrictionLaw::convex>(batch, answers, options, memory, problem);
  }
}

}  // namespace device

/// What a kernel takes by value to solve a batch: the batch, its order, and memory for warps.
template <RealScalar Scalar>
struct DeviceTask {
  DeviceBatch<Scalar> batch{};
  BatchAnswers<Scalar> answers{};  ///< in memory of the device
  SapOptions<Scalar> options{};
  const Index* order = nullptr;  ///< problems sorted by pattern; null: they have one
  Scalar* memory = nullptr;
  Index cell_count = 0;    ///< numbers of a thread
  Index thread_count = 0;  ///< whole warps

  /// The problem that is solved as the i-th; those of one pattern follow each other.
  [[nodiscard]] CAROM_DEVICE Index problem(Index i) const noexcept {
    return order != nullptr ? order[i] : i;
  }
  /// Where device::solve() keeps the numbers of a thread.
  [[nodiscard]] CAROM_DEVICE Scalar* memory_of(Index thread) const noexcept {
    const Index lane = thread % device_warp_size;
    return memory + (thread - lane) * cell_count + lane;
  }
  /// What a thread does: it solves the problems of its number, and of every thread_count-th after.
  /// @param thread  ≥ 0, < thread_count
  template <FrictionLaw Law>
  CAROM_DEVICE void run(Index thread) const noexcept {
    for (Index i = thread; i < batch.view.count; i += thread_count) {
      device::solve<Law>(batch, answers, options, memory_of(thread), problem(i));
    }
  }
};

/// Memory of a device for batches. It is the caller's, who takes and frees it.
template <RealScalar Scalar>
class DeviceWorkspace : detail::BatchMemory<Scalar> {
 public:
  /// Bytes that prepare() needs: the cells of all warps, the patterns, and the order of problems of
  /// several patterns. Nothing is padded to the largest problem but the cells of a warp.
  /// @param warps  that solve problems at the same time, ≥ 1; more than problems / 32 have nothing
  ///               to do.
  [[nodiscard]] static std::size_t bytes(const BatchView<Scalar>& view, int warps) {
    return std::size_t(warps) * numbers_of_warp(view) * sizeof(Scalar) + order_bytes(view) +
           patterns_of(view).image().size();
  }
  /// Numbers of a warp, those of its threads side by side.
  [[nodiscard]] static std::size_t numbers_of_warp(const BatchView<Scalar>& view);

  /// Sorts the problems by their patterns and copies what the device needs to know.
  /// @param view    `patterns` and `pattern_numbers` are in the processor's memory, numbers and
  ///                offsets in the device's.
  /// @param memory  of the device, aligned to 16 bytes as that of cudaMalloc() is.
  /// @param size    of it [bytes].
  /// @param copy    copy(to, from, bytes) copies to the device and returns whether it did. `from`
  ///                lasts until the next call.
  /// @return  false if the memory is smaller than bytes(), and nothing has been copied, or if
  ///          copy() returned it.
  /// @note  Cold: allocates.
  template <typename Copy>
  [[nodiscard]] bool prepare(const BatchView<Scalar>& view, int warps, void* memory,
                             std::size_t size, Copy&& copy);

  /// What a kernel needs to solve a batch of the patterns and pattern numbers prepared for.
  /// @param view  as in prepare(); other numbers, and no more problems.
  [[nodiscard]] DeviceTask<Scalar> task(const BatchView<Scalar>& view,
                                        const BatchAnswers<Scalar>& answers,
                                        const SapOptions<Scalar>& options) const noexcept {
    DeviceTask<Scalar> task = prepared_;
    task.batch.view = view;
    task.batch.view.patterns = nullptr;
    task.batch.view.pattern_numbers = numbers_;
    task.answers = answers;
    task.options = options;
    return task;
  }

 private:
  using Memory = detail::BatchMemory<Scalar>;
  [[nodiscard]] static detail::DevicePatterns patterns_of(const BatchView<Scalar>& view) {
    return detail::DevicePatterns(view.patterns, Memory::pattern_count(view));
  }
  [[nodiscard]] static std::size_t order_bytes(const BatchView<Scalar>& view) noexcept {
    const std::size_t count = view.pattern_numbers != nullptr ? std::size_t(view.count) : 0;
    return count * (sizeof(Index) + sizeof(int));
  }

  std::vector<std::byte> copied_;
  DeviceTask<Scalar> prepared_;
  const int* numbers_ = nullptr;
};

// --- implementation ---

template <RealScalar Scalar>
std::size_t DeviceWorkspace<Scalar>::numbers_of_warp(const BatchView<Scalar>& view) {
  int cells = 0;
  const int patterns = Memory::pattern_count(view);
  for (int p = 0; p < patterns; ++p) {
    for (const detail::LaneMap& island : view.patterns[p].islands()) {
      cells = (std::max)(cells, island.layout(FrictionLaw::coulomb).cell_count);
    }
  }
  return std::size_t(cells) * device_warp_size;
}

template <RealScalar Scalar>
template <typename Copy>
bool DeviceWorkspace<Scalar>::prepare(const BatchView<Scalar>& view, int warps, void* memory,
                                      std::size_t size, Copy&& copy) {
  CAROM_EXPECTS(warps >= 1);
  if (size < bytes(view, warps)) return false;
  const std::size_t cells = std::size_t(warps) * numbers_of_warp(view);
  std::byte* const after = static_cast<std::byte*>(memory) + cells * sizeof(Scalar);
  const std::vector<std::byte> image = patterns_of(view).image();
  const std::size_t count = order_bytes(view) / (sizeof(Index) + sizeof(int));
  const std::size_t numbers_at = count * sizeof(Index), image_at = order_bytes(view);
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
  prepared_.order = count > 0 ? static_cast<const Index*>(at(0)) : nullptr;
  prepared_.batch.patterns = detail::DevicePatternsView(after + image_at);
  prepared_.memory = static_cast<Scalar*>(memory);
  prepared_.cell_count = Index(numbers_of_warp(view) / device_warp_size);
  prepared_.thread_count = Index(warps) * device_warp_size;
  return copied_.empty() || copy(at(0), copied_.data(), copied_.size());
}

#if defined(CAROM_DEVICE_RUNTIME)

// --- launch ---

namespace detail {

/// Threads of a block. They share nothing, so a block is as small as the device likes.
inline constexpr int device_block_size = 64;

template <FrictionLaw Law, RealScalar Scalar>
__global__ void solve_batch_kernel(const CAROM_GRID_CONSTANT DeviceTask<Scalar> task) {
  const Index thread = Index(blockIdx.x) * device_block_size + Index(threadIdx.x);
  if (thread < task.thread_count) task.template run<Law>(thread);
}

}  // namespace detail

/// Warps that the current device runs at the same time under a law, a good number for
/// DeviceWorkspace; 0 if it does not tell.
template <FrictionLaw Law, RealScalar Scalar>
[[nodiscard]] int resident_warps() noexcept {
  return detail::resident_threads(detail::solve_batch_kernel<Law, Scalar>,
                                  detail::device_block_size) /
         device_warp_size;
}

/// Prepares a workspace on a stream; see DeviceWorkspace::prepare().
template <RealScalar Scalar>
[[nodiscard]] bool prepare_on(device::Stream stream, DeviceWorkspace<Scalar>& workspace,
                              const BatchView<Scalar>& view, int warps, void* memory,
                              std::size_t size) {
  return workspace.prepare(view, warps, memory, size,
                           [stream](void* to, const void* from, std::size_t bytes) {
                             return detail::copy_to_device(to, from, bytes, stream);
                           });
}

/// Solves all problems of a batch on a device, each in a thread, with the bits of the solve_batch()
/// of the processor. Answers and reports are in memory of the device; they are there when the
/// stream has come so far.
/// @tparam Law       that of the options. The overload without it compiles the kernels of both.
/// @param view       as in DeviceWorkspace::prepare().
/// @param workspace  prepared for a batch of these patterns and pattern numbers.
/// @return  the error of the launch, cudaSuccess if there is none.
/// @note  Allocates nothing and does not wait.
template <FrictionLaw Law, RealScalar Scalar>
device::Error solve_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                          const SapOptions<Scalar>& options,
                          const DeviceWorkspace<Scalar>& workspace,
                          device::Stream stream) noexcept {
  constexpr int size = detail::device_block_size;
  const DeviceTask<Scalar> task = workspace.task(view, answers, options);
  const auto blocks = unsigned(((std::min)(task.thread_count, view.count) + size - 1) / size);
  if (blocks > 0) detail::solve_batch_kernel<Law><<<blocks, size, 0, stream>>>(task);
  return detail::launch_error();
}
template <RealScalar Scalar>
device::Error solve_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                          const SapOptions<Scalar>& options,
                          const DeviceWorkspace<Scalar>& workspace,
                          device::Stream stream) noexcept {
  return options.law == FrictionLaw::coulomb
             ? solve_batch<FrictionLaw::coulomb>(view, answers, options, workspace, stream)
             : solve_batch<FrictionLaw::convex>(view, answers, options, workspace, stream);
}

#endif  // CAROM_DEVICE_RUNTIME

}  // namespace CAROM_ABI
}  // namespace carom
