// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "carom/batch/batch_view.hpp"
#include "carom/batch/detail/batch_chunk.hpp"
#include "carom/batch/detail/device_launch.hpp"
#include "carom/batch/detail/device_memory.hpp"
#include "carom/solvers/sap_options.hpp"

/// @file
/// Batches on a graphics processor: each thread solves its own problem, with the code and the bits
/// of a lane of the processor. The launch of kernels is available only for nvcc and hipcc.
/// Everything else compiles with any compiler, and a test runs it on the processor. nvcc needs
/// --expt-relaxed-constexpr; --use_fast_math would change the bits.

namespace carom {
inline namespace CAROM_ABI {

/// A batch whose numbers are in device memory, passed to a kernel by value.
template <RealScalar Scalar>
struct DeviceBatch {
  /// Numbers, offsets and pattern numbers are in device memory; `patterns` is not read.
  BatchView<Scalar> view{};
  const detail::DevicePattern* patterns = nullptr;
};

namespace device {

/// Solves one problem of a batch in the calling thread, also in a thread of a user's kernel. Writes
/// its velocity, its impulse if wanted, and its report, with the bits of solve_batch().
///
/// Each thread calls it with its own problem, or not at all. No thread waits for another, so
/// threads may call it in any branch and at any time. A warp whose problems have the same pattern
/// reads memory together, and needs the time of its slowest problem.
/// @tparam Law     that of the options. The overload without it selects the law at run time, which
///                 doubles the size of the kernel.
/// @param answers  in device memory.
/// @param memory   the thread's first number: that of its warp plus its index in the warp, 0 to 31.
///                 A warp has DeviceWorkspace::numbers_of_warp() numbers for itself.
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

/// The argument of a kernel that solves a batch: the batch, its order, and memory for warps.
template <RealScalar Scalar>
struct DeviceTask : detail::DeviceThreads<Scalar> {
  DeviceBatch<Scalar> batch{};
  BatchAnswers<Scalar> answers{};  ///< in device memory
  SapOptions<Scalar> options{};

  /// The work of a thread: it solves the problem with its index, and then every thread_count-th
  /// problem.
  /// @param thread  ≥ 0, < thread_count
  template <FrictionLaw Law>
  CAROM_DEVICE void run(Index thread) const noexcept {
    this->for_each_problem(thread, batch.view.count, [&](Scalar* memory, Index problem) {
      device::solve<Law>(batch, answers, options, memory, problem);
    });
  }
};

/// Device memory for batches. The caller allocates and frees it.
template <RealScalar Scalar>
class DeviceWorkspace
    : public detail::DeviceMemory<Scalar, BatchView<Scalar>, detail::DevicePattern> {
 public:
  /// The argument of a kernel that solves a batch with the prepared patterns and pattern numbers.
  /// @param view  as in prepare(); the numbers may differ, with at most the same count of problems.
  [[nodiscard]] DeviceTask<Scalar> task(const BatchView<Scalar>& view,
                                        const BatchAnswers<Scalar>& answers,
                                        const SapOptions<Scalar>& options) const noexcept {
    return {this->threads_, {this->on_device(view), this->patterns_}, answers, options};
  }
};

#if defined(CAROM_DEVICE_RUNTIME)

// --- launch ---

namespace detail {

template <FrictionLaw Law, RealScalar Scalar>
struct DeviceSolve : DeviceTask<Scalar> {
  CAROM_DEVICE void run(Index thread) const noexcept {
    DeviceTask<Scalar>::template run<Law>(thread);
  }
};

}  // namespace detail

/// Count of warps that the current device runs at the same time under a law. It is a suitable count
/// for DeviceWorkspace; 0 if it is unknown.
template <FrictionLaw Law, RealScalar Scalar>
[[nodiscard]] int resident_warps() noexcept {
  return detail::resident_threads<detail::DeviceSolve<Law, Scalar>>() / device_warp_size;
}

/// Solves all problems of a batch on a device, each in a thread, with the bits of solve_batch() on
/// the processor. Answers and reports are in device memory. They can be read after the stream has
/// executed the kernel.
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
  const detail::DeviceSolve<Law, Scalar> task{workspace.task(view, answers, options)};
  return detail::launch(task, view.count, stream);
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
