// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// @file
/// Macros for what compilers offer under different names.

/// CAROM_DEVICE marks functions that also run on a graphics processor. They do constant work, own
/// no memory and call only marked functions. For nvcc and hipcc it expands to `__host__
/// __device__`, for other compilers to nothing. On the device, preconditions are not checked, and
/// long double is double. Where the cones use a wider type on the host (at the ends of the range of
/// double), device results have the rounding of double. nvcc needs --expt-relaxed-constexpr.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define CAROM_DEVICE __host__ __device__
#else
#define CAROM_DEVICE
#endif

/// CAROM_DEVICE_CALL is CAROM_DEVICE for functions too large to be copied into each of their
/// callers: a kernel that has every copy of a solver takes one to four minutes to compile.
#if defined(__HIPCC__)
#define CAROM_DEVICE_CALL __host__ __device__ __attribute__((noinline))
#elif defined(__CUDACC__)
#define CAROM_DEVICE_CALL __host__ __device__ __noinline__
#else
#define CAROM_DEVICE_CALL
#endif

/// CAROM_UNROLL is written before a loop with a small constant count of passes. The compiler
/// unrolls the loop completely, so that small arrays stay in registers. Without it, g++ -O2 does
/// not unroll such a loop. The order of sums does not change.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define CAROM_UNROLL _Pragma("GCC unroll 16")
#else
#define CAROM_UNROLL
#endif

/// CAROM_ONE_CODE marks a function whose results have the same bits at every call site. The
/// compiler generates its code once. It neither inlines the function nor makes a variant for one
/// caller. Without the mark, a compiler that may fuse a product and a sum into one operation (as
/// g++ with -march=native) can fuse them in one copy of the code and not in another.
#if defined(__GNUC__) && !defined(__clang__)
#define CAROM_ONE_CODE __attribute__((noipa))
#elif defined(__GNUC__)
#define CAROM_ONE_CODE __attribute__((noinline))
#elif defined(_MSC_VER)
#define CAROM_ONE_CODE __declspec(noinline)
#else
#define CAROM_ONE_CODE
#endif
