// SPDX-License-Identifier: BSD-3-Clause
#include "carom/compiled.hpp"

namespace carom::inline CAROM_ABI {

CAROM_COMPILE_CONVEX(template, CAROM_COMPILED_SCALAR);

}  // namespace carom::inline CAROM_ABI
