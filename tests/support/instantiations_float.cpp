// SPDX-License-Identifier: BSD-3-Clause
#include "support/instantiations.hpp"

namespace carom::inline CAROM_ABI {

CAROM_TEST_INSTANTIATE(template, float);

}  // namespace carom::inline CAROM_ABI
