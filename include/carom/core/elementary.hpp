// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>

#include "carom/core/detail/portable_functions.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The elementary functions that carom calls: those of the standard library, or in the reproducible
/// mode (CAROM_REPRODUCIBLE) functions with the same bits on every machine. A Lagrangian of your
/// own that must have equal bits everywhere uses them, too:
///
/// ```
/// using carom::elementary::cos;  // before a call cos(q(0)), in place of using std::cos
/// ```
/// Numbers for automatic differentiation bring functions of these names with them. Square roots,
/// sums, products and quotients are the same everywhere, so they are not among these functions.
namespace elementary {

#if CAROM_REPRODUCIBLE
/// The function `name` of the mode for float and double; `long double` has no common format.
#define CAROM_ELEMENTARY(name)                        \
  using detail::portable::name;                       \
  template <std::same_as<long double>... Number>      \
  [[nodiscard]] long double name(Number... numbers) { \
    return std::name(numbers...);                     \
  }
#else
#define CAROM_ELEMENTARY(name) using std::name;
#endif
CAROM_ELEMENTARY(acos)
CAROM_ELEMENTARY(asin)
CAROM_ELEMENTARY(atan)
CAROM_ELEMENTARY(atan2)
CAROM_ELEMENTARY(cbrt)
CAROM_ELEMENTARY(cos)
CAROM_ELEMENTARY(exp)
CAROM_ELEMENTARY(expm1)
CAROM_ELEMENTARY(hypot)
CAROM_ELEMENTARY(log)
CAROM_ELEMENTARY(log2)
CAROM_ELEMENTARY(pow)
CAROM_ELEMENTARY(sin)
CAROM_ELEMENTARY(tan)
CAROM_ELEMENTARY(tanh)
#undef CAROM_ELEMENTARY

}  // namespace elementary
}  // namespace CAROM_ABI
}  // namespace carom
