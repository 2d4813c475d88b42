// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace carom::cli {

/// Largest resident memory of this process until now [bytes]; 0 if the system does not report it.
[[nodiscard]] double peak_memory();

/// Memory that this process may still allocate [bytes]: that of the machine without swapping, or
/// less if a control group or a limit of the process (ulimit) is smaller. Infinite if the system
/// does not report it.
[[nodiscard]] double available_memory();

/// A number of bytes as text for readers, for example "1.34 GB (1340000000 bytes)".
[[nodiscard]] std::string format_bytes(double bytes);

}  // namespace carom::cli
