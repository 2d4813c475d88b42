// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "carom/core/expects.hpp"
#include "carom/core/scalar.hpp"

/// @file
/// The kernel, its launch, and common names for the functions with the prefix cuda (nvcc) or hip
/// (hipcc). For other compilers this header is empty.

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define CAROM_DEVICE_RUNTIME(name) hip##name
#define CAROM_GRID_CONSTANT
#elif defined(__CUDACC__)
#include <cuda_runtime.h>
#define CAROM_DEVICE_RUNTIME(name) cuda##name
#define CAROM_GRID_CONSTANT __grid_constant__
#endif

#if defined(CAROM_DEVICE_RUNTIME)
namespace carom {
inline namespace CAROM_ABI {
namespace device {

/// cudaStream_t, or hipStream_t.
using Stream = CAROM_DEVICE_RUNTIME(Stream_t);
/// cudaError_t, or hipError_t.
using Error = CAROM_DEVICE_RUNTIME(Error_t);

}  // namespace device
namespace detail {

/// Copies from host memory to device memory, in the order of a stream.
struct CopyToDevice {
  device::Stream stream;

  [[nodiscard]] bool operator()(void* to, const void* from, std::size_t bytes) const noexcept {
    return CAROM_DEVICE_RUNTIME(MemcpyAsync)(to, from, bytes,
                                             CAROM_DEVICE_RUNTIME(MemcpyHostToDevice),
                                             stream) == CAROM_DEVICE_RUNTIME(Success);
  }
};

/// Threads of a block. Threads share no memory, so a block can be small.
inline constexpr int device_block_size = 64;

/// The kernel of all batches: each of its threads runs its part of a task.
/// @tparam Task  has run(thread) and thread_count.
template <typename Task>
__global__ void run_task(const CAROM_GRID_CONSTANT Task task) {
  const Index thread = Index(blockIdx.x) * device_block_size + Index(threadIdx.x);
  if (thread < task.thread_count) task.run(thread);
}

/// Launches a task with a count of problems.
/// @return  the error of the launch, cudaSuccess if there is none.
/// @note  Allocates nothing and does not wait.
template <typename Task>
device::Error launch(const Task& task, Index problem_count, device::Stream stream) noexcept {
  const Index threads = (std::min)(task.thread_count, problem_count);
  const auto blocks = unsigned((threads + device_block_size - 1) / device_block_size);
  if (blocks > 0) run_task<<<blocks, device_block_size, 0, stream>>>(task);
  return CAROM_DEVICE_RUNTIME(GetLastError)();
}

/// Count of threads of a type of task that the current device runs at the same time; 0 if it is
/// unknown.
template <typename Task>
[[nodiscard]] int resident_threads() noexcept {
  constexpr int threads = device_block_size;
  int device = 0, processors = 0, blocks = 0;
  bool known = CAROM_DEVICE_RUNTIME(GetDevice)(&device) == CAROM_DEVICE_RUNTIME(Success);
#if defined(__HIPCC__)
  constexpr auto wanted = hipDeviceAttributeMultiprocessorCount;
#else
  constexpr auto wanted = cudaDevAttrMultiProcessorCount;
#endif
  known = known && CAROM_DEVICE_RUNTIME(DeviceGetAttribute)(&processors, wanted, device) ==
                       CAROM_DEVICE_RUNTIME(Success);
  known = known && CAROM_DEVICE_RUNTIME(OccupancyMaxActiveBlocksPerMultiprocessor)(
                       &blocks, run_task<Task>, threads, 0) == CAROM_DEVICE_RUNTIME(Success);
  return known ? processors * blocks * threads : 0;
}

}  // namespace detail

/// Prepares a workspace on a stream. The parameters are those of its prepare().
template <typename Workspace, typename View>
[[nodiscard]] bool prepare_on(device::Stream stream, Workspace& workspace, const View& view,
                              int warps, void* memory, std::size_t size) {
  return workspace.prepare(view, warps, memory, size, detail::CopyToDevice{stream});
}

}  // namespace CAROM_ABI
}  // namespace carom
#endif
