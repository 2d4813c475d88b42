// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The costly headers that nearly every test needs, parsed once for all test programs.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include "carom/compiled.hpp"

#include "support/catch.hpp"
#ifdef CAROM_TEST_SHARED_CODE
#include "support/shared_code.hpp"
#endif
