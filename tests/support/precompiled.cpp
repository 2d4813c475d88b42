// SPDX-License-Identifier: BSD-3-Clause
// Gives the shared precompiled header (support/precompiled.hpp) a target to be built with.
