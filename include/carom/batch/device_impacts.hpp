// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/device_launch.hpp"
#include "carom/batch/detail/device_memory.hpp"
#include "carom/batch/detail/lane_impact_queue.hpp"
#include "carom/batch/impact_batch_view.hpp"

/// @file
/// Batches of impacts on a graphics processor: each thread resolves an impact of its own, by the
/// same code as a lane of the processor and with the same bits. The notes of device.hpp on launches
/// and compilers apply here too.

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// An ImpactPattern in memory of a device, which is the pattern itself.
struct DeviceImpactPattern {
  ImpactPattern pattern;

  [[nodiscard]] static DeviceImpactPattern of(const ImpactPattern& pattern, DeviceImage&) {
    return {pattern};
  }
  /// Cells of an impact under any law.
  [[nodiscard]] static int cell_count(const ImpactPattern& pattern) noexcept {
    return LaneImpactLayout(pattern, ImpactBatchLaw::restitution).cell_count;
  }
};

}  // namespace detail

/// A batch of impacts whose numbers are in memory of the device, to be handed to a kernel by value.
template <RealScalar Scalar>
struct DeviceImpactBatch {
  /// Numbers, offsets, sequences and pattern numbers are in memory of the device; `patterns` is not
  /// read.
  ImpactBatchView<Scalar> view{};
  const detail::DeviceImpactPattern* patterns = nullptr;
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
      .resolve(batch.patterns[view.pattern_number(problem)].pattern, problem);
}

}  // namespace device

/// The argument of a kernel that resolves a batch: the batch, its order, and memory for warps.
template <RealScalar Scalar>
struct DeviceImpactTask : detail::DeviceThreads<Scalar> {
  DeviceImpactBatch<Scalar> batch{};
  ImpactBatchAnswers<Scalar> answers{};  ///< in memory of the device
  ImpactBatchOptions<Scalar> options{};

  /// What a thread does: it resolves the impacts of its number, and of every thread_count-th after.
  /// @param thread  ≥ 0, < thread_count
  CAROM_DEVICE void run(Index thread) const noexcept {
    this->for_each_problem(thread, batch.view.count, [&](Scalar* memory, Index problem) {
      device::resolve(batch, answers, options, memory, problem);
    });
  }
};

/// Memory of a device for batches of impacts. The caller allocates and frees it.
template <RealScalar Scalar>
class DeviceImpactWorkspace
    : public detail::DeviceMemory<Scalar, ImpactBatchView<Scalar>, detail::DeviceImpactPattern> {
 public:
  /// What a kernel needs to resolve a batch of the patterns and pattern numbers prepared for.
  /// @param view  as in prepare(); other numbers, and no more impacts.
  [[nodiscard]] DeviceImpactTask<Scalar> task(
      const ImpactBatchView<Scalar>& view, const ImpactBatchAnswers<Scalar>& answers,
      const ImpactBatchOptions<Scalar>& options) const noexcept {
    return {this->threads_, {this->on_device(view), this->patterns_}, answers, options};
  }
};

#if defined(CAROM_DEVICE_RUNTIME)

// --- launch ---

/// Warps that resolve impacts on the current device at the same time, a good number for
/// DeviceImpactWorkspace; 0 if that is unknown.
template <RealScalar Scalar>
[[nodiscard]] int resident_impact_warps() noexcept {
  return detail::resident_threads<DeviceImpactTask<Scalar>>() / device_warp_size;
}

/// Resolves all impacts of a batch on a device, each in a thread, with the bits of the
/// resolve_batch() of the processor. Answers and reports are in memory of the device; they can be
/// read when the stream has executed the kernel.
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
  return detail::launch(workspace.task(view, answers, options), view.count, stream);
}

#endif  // CAROM_DEVICE_RUNTIME

}  // namespace CAROM_ABI
}  // namespace carom
