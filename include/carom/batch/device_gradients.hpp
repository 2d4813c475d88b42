// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/batch_pull_back.hpp"
#include "carom/batch/device.hpp"

/// @file
/// Gradients of batches on a graphics processor: each thread differentiates a problem of its own,
/// by the same code as a lane of the processor and with the same bits. The notes of device.hpp on
/// launches and compilers apply here too.

namespace carom {
inline namespace CAROM_ABI {
namespace device {

/// Writes the gradients of one problem of a batch that has been solved, in the thread that calls,
/// which may be one of a user's own kernel: as pull_back_batch() does, with the same bits.
/// @tparam Law       that of the solve.
/// @param answers    velocities, impulses if a block is rigid, and reports, in memory of
///                   the device.
/// @param gradients  in memory of the device; statuses for every problem.
/// @param memory     as that of solve(), which may be the same.
/// @note  No barrier, no shared memory, no atomics; one factor.
template <FrictionLaw Law, RealScalar Scalar>
CAROM_DEVICE void pull_back(const DeviceBatch<Scalar>& batch, const BatchAnswers<Scalar>& answers,
                            const BatchGradients<Scalar>& gradients, Scalar* memory,
                            Index problem) noexcept {
  detail::BatchPullBack<Scalar>(batch.view, answers, gradients, memory)
      .template run_thread<Law, device_warp_size>(batch.patterns, problem);
}

}  // namespace device

/// The argument of a kernel that differentiates a batch.
template <RealScalar Scalar>
struct DeviceGradientTask : DeviceTask<Scalar> {
  BatchGradients<Scalar> gradients{};  ///< in memory of the device

  /// What a thread does: it differentiates the problems of its number, and of every thread_count-th
  /// after.
  /// @param thread  ≥ 0, < thread_count
  template <FrictionLaw Law>
  CAROM_DEVICE void pull_back(Index thread) const noexcept {
    this->for_each_problem(thread, this->batch.view.count, [&](Scalar* memory, Index problem) {
      device::pull_back<Law>(this->batch, this->answers, gradients, memory, problem);
    });
  }
};

/// What a kernel needs to differentiate a batch; its parameters are those of
/// DeviceWorkspace::task().
template <RealScalar Scalar>
[[nodiscard]] DeviceGradientTask<Scalar> gradient_task(const DeviceWorkspace<Scalar>& workspace,
                                                       const BatchView<Scalar>& view,
                                                       const BatchAnswers<Scalar>& answers,
                                                       const BatchGradients<Scalar>& gradients,
                                                       const SapOptions<Scalar>& options) noexcept {
  return {workspace.task(view, answers, options), gradients};
}

#if defined(CAROM_DEVICE_RUNTIME)

// --- launch ---

namespace detail {

template <FrictionLaw Law, RealScalar Scalar>
struct DevicePullBack : DeviceGradientTask<Scalar> {
  CAROM_DEVICE void run(Index thread) const noexcept { this->template pull_back<Law>(thread); }
};

}  // namespace detail

/// Writes the gradients of a scalar by the data of each problem of a batch on a device, with the
/// bits of the pull_back_batch() of the processor. Gradients and statuses are in memory of the
/// device; they can be read when the stream has executed the kernel.
/// @tparam Law       that of the solve.
/// @param view       as in DeviceWorkspace::prepare().
/// @param workspace  as that of solve_batch().
/// @return  the error of the launch, cudaSuccess if there is none.
/// @note  Allocates nothing and does not wait.
template <FrictionLaw Law, RealScalar Scalar>
device::Error pull_back_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                              const BatchGradients<Scalar>& gradients,
                              const DeviceWorkspace<Scalar>& workspace,
                              device::Stream stream) noexcept {
  const detail::DevicePullBack<Law, Scalar> task{
      gradient_task(workspace, view, answers, gradients, SapOptions<Scalar>{.law = Law})};
  return detail::launch(task, view.count, stream);
}

/// Solves all problems of a batch on a device and differentiates each, for slopes known beforehand:
/// solve_batch() and pull_back_batch() one after the other on the stream, with the same bits.
/// @return  the first error of the launches, cudaSuccess if there is none.
/// @note  Allocates nothing and does not wait.
template <FrictionLaw Law, RealScalar Scalar>
device::Error solve_batch(const BatchView<Scalar>& view, const BatchAnswers<Scalar>& answers,
                          const BatchGradients<Scalar>& gradients,
                          const SapOptions<Scalar>& options,
                          const DeviceWorkspace<Scalar>& workspace,
                          device::Stream stream) noexcept {
  const device::Error error = solve_batch<Law>(view, answers, options, workspace, stream);
  if (error != CAROM_DEVICE_RUNTIME(Success)) return error;
  return pull_back_batch<Law>(view, answers, gradients, workspace, stream);
}

#endif  // CAROM_DEVICE_RUNTIME

}  // namespace CAROM_ABI
}  // namespace carom
