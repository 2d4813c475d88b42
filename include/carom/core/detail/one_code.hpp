// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// @file
/// CAROM_ONE_CODE stands before a function whose results have the same bits wherever it is called:
/// the compiler makes its code once and neither inlines it nor makes a variant of it for one
/// caller. Without it a compiler that may join a product and a sum into one operation (g++ with
/// -march=native does) can join them in one copy of the code and not in another.

#if defined(__GNUC__) && !defined(__clang__)
#define CAROM_ONE_CODE __attribute__((noipa))
#elif defined(__GNUC__)
#define CAROM_ONE_CODE __attribute__((noinline))
#elif defined(_MSC_VER)
#define CAROM_ONE_CODE __declspec(noinline)
#else
#define CAROM_ONE_CODE
#endif
