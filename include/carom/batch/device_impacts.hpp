// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "carom/batch/detail/device_impact_patterns.hpp"
#include "carom/batch/detail/device_memory.hpp"
#include "carom/batch/detail/device_runtime.hpp"
#include "carom/batch/detail/lane_impact_thread.hpp"
#include "carom/batch/impact_batch_view.hpp"

/// @file
/// Batches of impacts on a graphics processor: each thread resolves an impact of its own, by the
/// same code as a lane of the processor and with the same bits. What device.hpp says of launches
/// and compilers holds here, too.

namespace carom {
inline namespace CAROM_ABI {

/// A batch of impacts whose numbers are in memory of the device, to be handed to a kernel by value.
template <RealScalar Scalar>
struct DeviceImpactBatch {
  /// Numbers, offsets, sequences and pattern numbers are in memory of the device; `patterns` is not
  /// read.
  ImpactBatchView<Scalar> view{};
  detail::DeviceImpactPatternsView patterns{};
};

namespace device {

/// Resolves one impact of a batch in the thread that calls, which may be one of a user's own
/// kernel: writes its momentum, velocity and impulses where wanted, and its report, as
/// resolve_batch() does, with the same bits.
///
/// Each thread calls it with an impact of its own, or not at all. No thread waits for another; a
/// warp is as slow as the one of its impacts that has the most reflections.
/// @param answers  in memory of the device.
/// @param memory   the thread's first number: that of its warp plus its place in it, 0 to 31. A
///                 warp has DeviceImpactWorkspace::numbers_of_warp() of them to itself.
/// @note  No barrier, no shared memory, no atomics; at most reflection_limit reflections.
template <RealScalar Scalar>
CAROM_DEVICE void resolve(const DeviceImpactBatch<Scalar>& batch,
                          const ImpactBatchAnswers<Scalar>& answers,
                          const ImpactBatchOptions<Scalar>& options, Scalar* memory,
                          Index problem) noexcept {
  const ImpactBatchView<Scalar>& view = batch.view;
  if (!view.has_pattern(problem)) {
    answers.reports[problem] = detail::impact_without_pattern<Scalar>();
    return;
  }
  detail::LaneImpactThread<Scalar, device_warp_size>(view, answers, options, memory)
      .resolve(batch.patterns.pattern(view.pattern_number(problem)), problem);
}

}  // namespace device

/// What a kernel takes by value to resolve a batch: the batch, its order, and memory for warps.
template <RealScalar Scalar>
struct DeviceImpactTask : detail::DeviceThreads<Scalar> {
  DeviceImpactBatch<Scalar> batch{};
  ImpactBatchAnswers<Scalar> answers{};  ///< in memory of the device
  ImpactBatchOptions<Scalar> options{};

  /// What a thread does: it resolves the impacts of its number, and of every thread_count-th after.
  /// @param thread  ≥ 0, < thread_count
  CAROM_DEVICE void run(Index thread) const noexcept {
    for (Index i = thread; i < batch.view.count; i += this->thread_count) {
      device::resolve(batch, answers, options, this->memory_of(thread), this->problem(i));
    }
  }
};

/// Memory of a device for batches of impacts. It is the caller's, who takes and frees it.
template <RealScalar Scalar>
class DeviceImpactWorkspace : detail::DeviceMemory<Scalar> {
 public:
  /// Bytes that prepare() needs: the cells of all warps, the patterns, and the order of impacts of
  /// several patterns.
  /// @param warps  that resolve impacts at the same time, ≥ 1; more than impacts / 32 have nothing
  ///               to do.
  [[nodiscard]] static std::size_t bytes(const ImpactBatchView<Scalar>& view, int warps) {
    return Memory::bytes_for(view, warps, numbers_of_warp(view), image_of(view));
  }
  /// Numbers of a warp, those of its threads side by side.
  [[nodiscard]] static std::size_t numbers_of_warp(const ImpactBatchView<Scalar>& view) {
    int cells = 0;
    const int patterns = Memory::pattern_count(view);
    for (int p = 0; p < patterns; ++p) {
      const detail::LaneImpactLayout at(view.patterns[p].view(), ImpactBatchLaw::restitution);
      cells = (std::max)(cells, at.cell_count);
    }
    return std::size_t(cells) * device_warp_size;
  }

  /// Sorts the impacts by their patterns and copies what the device needs to know; its parameters
  /// and answer are those of DeviceWorkspace::prepare().
  /// @note  Cold: allocates.
  template <typename Copy>
  [[nodiscard]] bool prepare(const ImpactBatchView<Scalar>& view, int warps, void* memory,
                             std::size_t size, Copy&& copy) {
    if (size < bytes(view, warps)) return false;
    return Memory::take(view, warps, numbers_of_warp(view), image_of(view), memory, copy);
  }

  /// What a kernel needs to resolve a batch of the patterns and pattern numbers prepared for.
  /// @param view  as in prepare(); other numbers, and no more impacts.
  [[nodiscard]] DeviceImpactTask<Scalar> task(
      const ImpactBatchView<Scalar>& view, const ImpactBatchAnswers<Scalar>& answers,
      const ImpactBatchOptions<Scalar>& options) const noexcept {
    const DeviceImpactBatch<Scalar> batch{Memory::on_device(view),
                                          detail::DeviceImpactPatternsView(Memory::image_)};
    return {Memory::threads_, batch, answers, options};
  }

 private:
  using Memory = detail::DeviceMemory<Scalar>;
  [[nodiscard]] static std::vector<std::byte> image_of(const ImpactBatchView<Scalar>& view) {
    return detail::image_of_impact_patterns(view.patterns, Memory::pattern_count(view));
  }
};

#if defined(CAROM_DEVICE_RUNTIME)

// --- launch ---

namespace detail {

template <RealScalar Scalar>
__global__ void resolve_batch_kernel(const CAROM_GRID_CONSTANT DeviceImpactTask<Scalar> task) {
  const Index thread = device_thread();
  if (thread < task.thread_count) task.run(thread);
}

}  // namespace detail

/// Warps that resolve impacts on the current device at the same time, a good number for
/// DeviceImpactWorkspace; 0 if it does not tell.
template <RealScalar Scalar>
[[nodiscard]] int resident_impact_warps() noexcept {
  return detail::resident_threads(detail::resolve_batch_kernel<Scalar>) / device_warp_size;
}

/// Prepares a workspace on a stream; see DeviceWorkspace::prepare().
template <RealScalar Scalar>
[[nodiscard]] bool prepare_on(device::Stream stream, DeviceImpactWorkspace<Scalar>& workspace,
                              const ImpactBatchView<Scalar>& view, int warps, void* memory,
                              std::size_t size) {
  return workspace.prepare(view, warps, memory, size, detail::CopyToDevice{stream});
}

/// Resolves all impacts of a batch on a device, each in a thread, with the bits of the
/// resolve_batch() of the processor. Answers and reports are in memory of the device; they are
/// there when the stream has come so far.
/// @param view       as in DeviceImpactWorkspace::prepare().
/// @param workspace  prepared for a batch of these patterns and pattern numbers.
/// @return  the error of the launch, cudaSuccess if there is none.
/// @note  Allocates nothing and does not wait.
template <RealScalar Scalar>
device::Error resolve_batch(const ImpactBatchView<Scalar>& view,
                            const ImpactBatchAnswers<Scalar>& answers,
                            const ImpactBatchOptions<Scalar>& options,
                            const DeviceImpactWorkspace<Scalar>& workspace,
                            device::Stream stream) noexcept {
  const DeviceImpactTask<Scalar> task = workspace.task(view, answers, options);
  const unsigned blocks = detail::device_blocks((std::min)(task.thread_count, view.count));
  if (blocks > 0) {
    detail::resolve_batch_kernel<<<blocks, detail::device_block_size, 0, stream>>>(task);
  }
  return detail::launch_error();
}

#endif  // CAROM_DEVICE_RUNTIME

}  // namespace CAROM_ABI
}  // namespace carom
