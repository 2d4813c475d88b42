// SPDX-License-Identifier: BSD-3-Clause
// Compiled as C++17 by a test that expects one sentence in answer.
#include CAROM_HEADER
