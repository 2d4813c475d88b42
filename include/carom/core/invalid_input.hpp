// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "carom/core/expects.hpp"

namespace carom::inline CAROM_ABI {

/// What is wrong with user data, as one sentence naming the item, its index and what was expected.
/// Empty when nothing is. Making an empty one does not allocate.
using Fault = std::string;

namespace detail {

/// Refuses user data: throws std::invalid_argument, or where exceptions are off ends the program
/// with the sentence on standard error. Users who want neither ask the matching check first.
inline void reject_if(const Fault& fault) {
  if (fault.empty()) return;
#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  throw std::invalid_argument(fault);
#else
  std::fprintf(stderr, "carom: %s\n", fault.c_str());
  std::abort();
#endif
}

}  // namespace detail
}  // namespace carom::inline CAROM_ABI
