// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/expects.hpp"

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
[[nodiscard]] inline bool copy_to_device(void* to, const void* from, std::size_t bytes,
                                         device::Stream stream) noexcept {
  return CAROM_DEVICE_RUNTIME(MemcpyAsync)(to, from, bytes,
                                           CAROM_DEVICE_RUNTIME(MemcpyHostToDevice),
                                           stream) == CAROM_DEVICE_RUNTIME(Success);
}

/// The error of the launch before.
[[nodiscard]] inline device::Error launch_error() noexcept {
  return CAROM_DEVICE_RUNTIME(GetLastError)();
}

/// Threads of a kernel that the current device runs at the same time.
/// @param threads  of a block
template <typename Kernel>
[[nodiscard]] int resident_threads(const Kernel& kernel, int threads) noexcept {
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
