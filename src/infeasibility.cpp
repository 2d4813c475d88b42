// SPDX-License-Identifier: BSD-3-Clause
#include "carom/compiled.hpp"

namespace carom {
inline namespace CAROM_ABI {

CAROM_COMPILE_INFEASIBILITY(template, CAROM_COMPILED_SCALAR);

}  // namespace CAROM_ABI
}  // namespace carom
