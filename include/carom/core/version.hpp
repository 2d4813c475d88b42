// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Every header includes this one before its first line of C++20. Under an older standard, the error
// is therefore one sentence only. Compilers continue after #error but stop at a missing file; this
// is the reason for the second line.
#if __cplusplus < 202002L && (!defined(_MSVC_LANG) || _MSVC_LANG < 202002L)
#error \
    "carom needs C++20: compile with -std=c++20, or link the CMake target carom::carom, which asks for it"
#include "carom needs C++20"
#endif

/// @file
/// The version of these headers, for the preprocessor. The build reads it from here. Before 1.0, a
/// new minor version may change the interface.

#define CAROM_VERSION_MAJOR 0
#define CAROM_VERSION_MINOR 2
#define CAROM_VERSION_PATCH 0

/// A number that grows with the version, for comparisons: 1.2.3 is CAROM_MAKE_VERSION(1, 2, 3).
#define CAROM_MAKE_VERSION(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define CAROM_VERSION \
  CAROM_MAKE_VERSION(CAROM_VERSION_MAJOR, CAROM_VERSION_MINOR, CAROM_VERSION_PATCH)

/// The same as text, "1.2.3".
#define CAROM_QUOTE(text) #text
#define CAROM_QUOTE_VERSION(major, minor, patch) \
  CAROM_QUOTE(major) "." CAROM_QUOTE(minor) "." CAROM_QUOTE(patch)
#define CAROM_VERSION_STRING \
  CAROM_QUOTE_VERSION(CAROM_VERSION_MAJOR, CAROM_VERSION_MINOR, CAROM_VERSION_PATCH)
