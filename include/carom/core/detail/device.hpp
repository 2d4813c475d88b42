// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// @file
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
