// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// @file
/// What is asked of compilers by names of their own.

/// CAROM_DEVICE stands before functions that run on a graphics processor too: constant work, no
/// memory of their own, nothing called that is not marked. For nvcc and hipcc it reads
/// `__host__ __device__`, for other compilers nothing. On the device preconditions are not checked,
/// and long double is double: at the ends of the range of double, where the cones take wider
/// numbers, results there have the rounding of double. nvcc needs --expt-relaxed-constexpr.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define CAROM_DEVICE __host__ __device__
#else
#define CAROM_DEVICE
#endif

/// CAROM_UNROLL stands before a loop with few passes whose number is a constant: the compiler
/// writes all of them out, so that small arrays stay in registers. By itself g++ -O2 leaves such a
/// loop as it is. The sums keep their order.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define CAROM_UNROLL _Pragma("GCC unroll 16")
#else
#define CAROM_UNROLL
#endif

/// CAROM_ONE_CODE stands before a function whose results have the same bits wherever it is called:
/// the compiler makes its code once and neither inlines it nor makes a variant of it for one
/// caller. Without it a compiler that may join a product and a sum into one operation (g++ with
/// -march=native does) can join them in one copy of the code and not in another.
#if defined(__GNUC__) && !defined(__clang__)
#define CAROM_ONE_CODE __attribute__((noipa))
#elif defined(__GNUC__)
#define CAROM_ONE_CODE __attribute__((noinline))
#elif defined(_MSC_VER)
#define CAROM_ONE_CODE __declspec(noinline)
#else
#define CAROM_ONE_CODE
#endif
