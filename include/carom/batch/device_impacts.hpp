// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/device_launch.hpp"
#include "carom/batch/detail/device_memory.hpp"
#include "carom/batch/detail/lane_impact_queue.hpp"
#include "carom/batch/impact_batch_view.hpp"

/// @file
/// Batches of impacts on a graphics processor: each thread resolves its own impact, with the code
/// and the bits of a lane of the processor. The notes of device.hpp on launches and compilers apply
/// here too.

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// An ImpactPattern in device memory, which is the pattern itself.
struct DeviceImpactPattern {
  ImpactPattern pattern;

  [[nodiscard]] static DeviceImpactPattern of(const ImpactPattern& pattern, DeviceImage&) {
    return {pattern};
  }
  /// Count of cells of an impact under any law.
  [[nodiscard]] static int cell_count(const ImpactPattern& pattern) noexcept {
    return LaneImpactLayout(pattern, ImpactBatchLaw::restitution).cell_count;
  }
};

}  // namespace detail

/// A batch of impacts whose numbers are in device memory, passed to a kernel by value.
template <RealScalar Scalar>
struct DeviceImpactBatch {
  /// Numbers, offsets, sequences and pattern numbers are in device memory; `patterns` is not read.
  ImpactBatchView<Scalar> view{};
  const detail::DeviceImpactPattern* patterns = nullptr;
};

namespace device {

/// Resolves one impact of a batch in the calling thread, also in a thread of a user's kernel.
/// Writes its momentum, velocity and impulses if wanted, and its report, with the bits of
/// resolve_batch().
///
/// Each thread calls it with its own impact, or not at all. No thread waits for another. A warp
/// needs the time of its impact with the most reflections.
/// @param answers  in device memory.
/// @param memory   the thread's first number: that of its warp plus its index in the warp, 0 to 31.
///                 A warp has DeviceImpactWorkspace::numbers_of_warp() numbers for itself.
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
  ImpactBatchAnswers<Scalar> answers{};  ///< in device memory
  ImpactBatchOptions<Scalar> options{};

  /// The work of a thread: it resolves the impact with its index, and then every thread_count-th
  /// impact.
  /// @param thread  ≥ 0, < thread_count
  CAROM_DEVICE void run(Index thread) const noexcept {
    this->for_each_problem(thread, batch.view.count, [&](Scalar* memory, Index problem) {
      device::resolve(batch, answers, options, memory, problem);
    });
  }
};

/// Device memory for batches of impacts. The caller allocates and frees it.
template <RealScalar Scalar>
class DeviceImpactWorkspace
    : public detail::DeviceMemory<Scalar, ImpactBatchView<Scalar>, detail::DeviceImpactPattern> {
 public:
  /// The argument of a kernel that resolves a batch with the prepared patterns and pattern numbers.
  /// @param view  as in prepare(); the numbers may differ, with at most the same count of impacts.
  [[nodiscard]] DeviceImpactTask<Scalar> task(
      const ImpactBatchView<Scalar>& view, const ImpactBatchAnswers<Scalar>& answers,
      const ImpactBatchOptions<Scalar>& options) const noexcept {
    return {this->threads_, {this->on_device(view), this->patterns_}, answers, options};
  }
};

#if defined(CAROM_DEVICE_RUNTIME)

// --- launch ---

/// Count of warps that resolve impacts on the current device at the same time. It is a suitable
/// count for DeviceImpactWorkspace; 0 if it is unknown.
template <RealScalar Scalar>
[[nodiscard]] int resident_impact_warps() noexcept {
  return detail::resident_threads<DeviceImpactTask<Scalar>>() / device_warp_size;
}

/// Resolves all impacts of a batch on a device, each in a thread, with the bits of resolve_batch()
/// on the processor. Answers and reports are in device memory. They can be read after the stream
/// has executed the kernel.
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
