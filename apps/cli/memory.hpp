// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace carom::cli {

/// Largest resident memory of this process so far [bytes]; 0 where the system does not say.
[[nodiscard]] double peak_memory();

/// Memory this process may still take [bytes]: what the machine has without swapping, less where a
/// control group or a limit of the process (ulimit) allows less. Infinite where the system does not
/// say.
[[nodiscard]] double available_memory();

/// A number of bytes for reading, as "1.34 GB (1340000000 bytes)".
[[nodiscard]] std::string format_bytes(double bytes);

}  // namespace carom::cli
