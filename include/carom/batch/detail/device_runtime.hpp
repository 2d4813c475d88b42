// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/expects.hpp"
#include "carom/core/scalar.hpp"

/// @file
/// What nvcc calls cuda and hipcc calls hip, under one name. For other compilers there is nothing.

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

/// Copies from the processor's memory to that of the device, in the order of a stream.
struct CopyToDevice {
  device::Stream stream;

  [[nodiscard]] bool operator()(void* to, const void* from, std::size_t bytes) const noexcept {
    return CAROM_DEVICE_RUNTIME(MemcpyAsync)(to, from, bytes,
                                             CAROM_DEVICE_RUNTIME(MemcpyHostToDevice),
                                             stream) == CAROM_DEVICE_RUNTIME(Success);
  }
};

/// The error of the launch before.
[[nodiscard]] inline device::Error launch_error() noexcept {
  return CAROM_DEVICE_RUNTIME(GetLastError)();
}

/// Threads of a block. They share nothing, so a block is as small as the device likes.
inline constexpr int device_block_size = 64;

/// Blocks for so many threads.
[[nodiscard]] inline unsigned device_blocks(Index threads) noexcept {
  return unsigned((threads + device_block_size - 1) / device_block_size);
}

/// Number of the thread of a kernel that calls.
[[nodiscard]] __device__ inline Index device_thread() noexcept {
  return Index(blockIdx.x) * device_block_size + Index(threadIdx.x);
}

/// Threads of a kernel that the current device runs at the same time.
template <typename Kernel>
[[nodiscard]] int resident_threads(const Kernel& kernel) noexcept {
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
                       &blocks, kernel, threads, 0) == CAROM_DEVICE_RUNTIME(Success);
  return known ? processors * blocks * threads : 0;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
#endif
