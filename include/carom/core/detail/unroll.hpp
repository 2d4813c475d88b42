// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// @file
/// CAROM_UNROLL stands before a loop with few passes whose number is a constant: the compiler
/// writes all of them out, so that small arrays stay in registers. By itself g++ -O2 leaves such a
/// loop as it is. The sums keep their order.

#if defined(__GNUC__) && !defined(__CUDACC__)
#define CAROM_UNROLL _Pragma("GCC unroll 16")
#else
#define CAROM_UNROLL
#endif
