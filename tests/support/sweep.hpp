// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace carom::testing {

/// How far a sweep goes: rounds, sizes or steps, by how the tests are compiled. Unoptimised code
/// with sanitizers is some fifty times slower; its sweeps are short, but enter every path that the
/// long ones do.
///
/// @param unoptimised  length in builds without optimisation.
/// @param optimised    length in all others (g++ and clang define __OPTIMIZE__ from -O1 on).
/// @note Only lengths go through it: no tolerance, and no case that is the only one of its kind.
template <typename T>
[[nodiscard]] constexpr T sweep([[maybe_unused]] T unoptimised, [[maybe_unused]] T optimised) {
#ifdef __OPTIMIZE__
  return optimised;
#else
  return unoptimised;
#endif
}

}  // namespace carom::testing
