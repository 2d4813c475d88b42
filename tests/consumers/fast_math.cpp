// SPDX-License-Identifier: BSD-3-Clause
// Compiled with -ffast-math by a test that expects the refusal.
#include "carom/carom.hpp"
