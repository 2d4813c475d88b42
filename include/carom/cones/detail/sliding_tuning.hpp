// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of the scalar equations of a contact that slides, SlidingEquation and
/// ConvexSlidingEquation. They are pure numbers [-]. Other values were not measured.
struct SlidingTuning {
  /// Most evaluations, which bounds the work: Newton's method takes a few, and bisections of the
  /// logarithm alone some 65 in double.
  static constexpr int evaluation_limit = 200;
  /// The equation is solved where its value is within so many roundings of its terms, or a step
  /// within so many of α [ε]. One may not be reached.
  static constexpr int roundings = 2;
  /// Without an upper end of the bracket α rises to so many times itself, and without a lower one
  /// it falls to one of so many parts: it may be decades away.
  static constexpr int rise = 8, fall_parts = 16;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
