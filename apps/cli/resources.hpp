// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace carom::cli {

/// The folder `name` of what is installed with the program: CAROM_RESOURCES from the folder of the
/// program, which may be moved together with it.
[[nodiscard]] std::string resource_folder(const std::string& name);

}  // namespace carom::cli
