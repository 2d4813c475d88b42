// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/batch/detail/batch_pull_back.hpp"
#include "carom/batch/device.hpp"

/// @file
/// Gradients of batches on a graphics processor: each thread differentiates its own problem, with
/// the code and the bits of a lane of the processor. The notes of device.hpp on launches and
/// compilers apply here too.

namespace carom {
inline namespace CAROM_ABI {
namespace device {

/// Writes the gradients of one solved problem of a batch in the calling thread, also in a thread of
/// a user's kernel, with the bits of pull_back_batch().
/// @tparam Law       that of the solve.
/// @param answers    velocities, impulses if a block is rigid, and reports, in device memory.
/// @param gradients  in device memory; one status for each problem.
/// @param memory     as for solve(); it may be the same memory.
/// @note  No barrier, no shared memory, no atomics; one factorisation.
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
  BatchGradients<Scalar> gradients{};  ///< in device memory

  /// The work of a thread: it differentiates the problem with its index, and then every
  /// thread_count-th problem.
  /// @param thread  ≥ 0, < thread_count
  template <FrictionLaw Law>
  CAROM_DEVICE void pull_back(Index thread) const noexcept {
    this->for_each_problem(thread, this->batch.view.count, [&](Scalar* memory, Index problem) {
      device::pull_back<Law>(this->batch, this->answers, gradients, memory, problem);
    });
  }
};

/// The argument of a kernel that differentiates a batch. The parameters are those of
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
/// bits of pull_back_batch() on the processor. Gradients and statuses are in device memory. They
/// can be read after the stream has executed the kernel.
/// @tparam Law       that of the solve.
/// @param view       as in DeviceWorkspace::prepare().
/// @param workspace  the same as for solve_batch().
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

/// Solves all problems of a batch on a device and differentiates each, for gradients that are known
/// before the solve: solve_batch() and pull_back_batch() one after the other on the stream, with
/// the same bits.
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
