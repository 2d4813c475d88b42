// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/batch/detail/batch_projection.hpp"
#include "carom/batch/detail/device_launch.hpp"
#include "carom/batch/projection_batch_view.hpp"

/// @file
/// Batches of points on a graphics processor: each thread projects its own points, with the code
/// and the bits of a lane of the processor. They need no workspace. The notes of device.hpp on
/// compilers apply here too.

namespace carom {
inline namespace CAROM_ABI {
namespace device {

/// Projects one point of a batch in the calling thread, also in a thread of a user's kernel. Writes
/// its nearest point, its derivative if wanted, and its fault, with the bits of project_batch().
/// @param view     its numbers are in device memory.
/// @param answers  in device memory.
/// @note  No memory but the view's, no barrier, no atomics, bounded work.
template <RealScalar Scalar>
CAROM_DEVICE void project(const ProjectionBatchView<Scalar>& view,
                          const ProjectionBatchAnswers<Scalar>& answers, Index point) noexcept {
  detail::BatchProjection<Scalar, 1>(view, answers).run(point, point + 1);
}

}  // namespace device

/// The argument of a kernel that projects a batch.
template <RealScalar Scalar>
struct DeviceProjectionTask {
  ProjectionBatchView<Scalar> view{};
  ProjectionBatchAnswers<Scalar> answers{};
  Index thread_count = 0;

  /// The work of a thread: it projects the point with its index, and then every thread_count-th
  /// point.
  /// @param thread  ≥ 0, < thread_count
  CAROM_DEVICE void run(Index thread) const noexcept {
    for (Index i = thread; i < view.count; i += thread_count) device::project(view, answers, i);
  }
};

#if defined(CAROM_DEVICE_RUNTIME)

// --- launch ---

/// Projects all points of a batch on a device, each in a thread, with the bits of project_batch()
/// on the processor. Answers and faults are in device memory. They can be read after the stream has
/// executed the kernel.
/// @return  the error of the launch, cudaSuccess if there is none.
/// @note  Allocates nothing and does not wait.
template <RealScalar Scalar>
device::Error project_batch(const ProjectionBatchView<Scalar>& view,
                            const ProjectionBatchAnswers<Scalar>& answers,
                            device::Stream stream) noexcept {
  constexpr Index most_threads = Index(1) << 20;  // more than a device runs at the same time
  const Index threads = (std::min)(view.count, most_threads);
  const DeviceProjectionTask<Scalar> task{view, answers, threads};
  return detail::launch(task, view.count, stream);
}

#endif  // CAROM_DEVICE_RUNTIME

}  // namespace CAROM_ABI
}  // namespace carom
