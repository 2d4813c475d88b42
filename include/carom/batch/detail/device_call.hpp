// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// @file
/// CAROM_DEVICE for functions too large to be copied into each of their callers: a kernel that has
/// every copy of a solver takes one to four minutes to compile.

#if defined(__HIPCC__)
#define CAROM_DEVICE_CALL __host__ __device__ __attribute__((noinline))
#elif defined(__CUDACC__)
#define CAROM_DEVICE_CALL __host__ __device__ __noinline__
#else
#define CAROM_DEVICE_CALL
#endif
