// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <cstdlib>

#include <Eigen/Core>

#include "carom/core/detail/compiler.hpp"
#include "carom/core/version.hpp"

/// @file
/// Precondition check for caller mistakes (wrong size, negative friction, NaN).
/// Checks run unless NDEBUG is defined; CAROM_CHECKS=1 or =0 overrides that. A disabled check must
/// still compile. A violated precondition ends the program and throws nothing. Every call of a
/// solver can therefore be `noexcept`.

#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ && !defined(CAROM_ALLOW_FAST_MATH)
#error "carom must see NaN and infinity: drop -ffast-math or define CAROM_ALLOW_FAST_MATH"
#endif

#ifndef CAROM_CHECKS
#ifdef NDEBUG
#define CAROM_CHECKS 0
#else
#define CAROM_CHECKS 1
#endif
#endif

// The reproducible mode: equal bits on every machine (docs/reproducible.md).
#ifndef CAROM_REPRODUCIBLE
#define CAROM_REPRODUCIBLE 0
#endif
#if CAROM_REPRODUCIBLE
#ifndef EIGEN_DONT_VECTORIZE
#error "CAROM_REPRODUCIBLE needs EIGEN_DONT_VECTORIZE: link the CMake target carom::reproducible"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "CAROM_REPRODUCIBLE needs double without extra digits: on 32-bit x86 -msse2 -mfpmath=sse"
#endif
#endif

// What must agree between translation units that share carom objects: the version, whether checks
// run, how Eigen aligns memory, the reproducible mode, and the family of the compiler, as g++ and
// clang++ store what a lambda captures in different orders. All are part of the name of the inline
// namespace. Units that differ therefore use separate copies of every function.
#if CAROM_REPRODUCIBLE
#define CAROM_MODE reproducible
#else
#define CAROM_MODE fast
#endif
#if defined(__clang__)
#define CAROM_COMPILER clang
#elif defined(__GNUC__)
#define CAROM_COMPILER gnu
#else
#define CAROM_COMPILER other
#endif
#define CAROM_PASTE_ABI(major, minor, patch, checks, align, mode, compiler) \
  abi_v##major##_##minor##_##patch##_checks##checks##_align##align##_##mode##_##compiler
#define CAROM_MAKE_ABI(major, minor, patch, checks, align, mode, compiler) \
  CAROM_PASTE_ABI(major, minor, patch, checks, align, mode, compiler)
#define CAROM_ABI                                                                             \
  CAROM_MAKE_ABI(CAROM_VERSION_MAJOR, CAROM_VERSION_MINOR, CAROM_VERSION_PATCH, CAROM_CHECKS, \
                 EIGEN_MAX_ALIGN_BYTES, CAROM_MODE, CAROM_COMPILER)

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

[[noreturn]] inline void precondition_failed(const char* condition, const char* file,
                                             int line) noexcept {
  std::fprintf(stderr, "%s:%d: precondition not met: %s\n", file, line, condition);
  std::abort();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define CAROM_EXPECTS(condition) static_cast<void>(sizeof(!(condition)))
#else
#define CAROM_EXPECTS(condition)                                              \
  do {                                                                        \
    if constexpr (CAROM_CHECKS != 0) {                                        \
      if (!(condition)) {                                                     \
        ::carom::detail::precondition_failed(#condition, __FILE__, __LINE__); \
      }                                                                       \
    } else {                                                                  \
      static_cast<void>(sizeof(!(condition)));                                \
    }                                                                         \
  } while (false)
#endif
