// SPDX-License-Identifier: BSD-3-Clause
// One unit compiled for any processor of its kind and one for the widest registers of this one live
// in the same program, and neither runs a function of carom that was compiled for the other. Of
// Eigen both may run the same copy, so this holds for what has no aligned vectors in it.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "unit_answer.hpp"

int main() {
  const UnitAnswer narrow = project_narrow(), wide = project_wide();
  std::printf("%s: %.17g\n%s: %.17g\n", narrow.abi, narrow.normal, wide.abi, wide.normal);
  const double exact = 4.5 / 2.25;  // (Rₙ yₙ + μ Rₜ r)/(Rₙ + μ² Rₜ)
  const bool right = std::abs(narrow.normal - exact) < 1e-15 * exact * 4 &&
                     std::abs(wide.normal - exact) < 1e-15 * exact * 4;
  const bool alike = narrow.alignment == wide.alignment;
  const bool apart = narrow.copy != wide.copy && std::strcmp(narrow.abi, wide.abi) != 0;
  if (right && apart != alike) return 0;
  std::fputs(right ? "unlike units share a function\n" : "a projection is wrong\n", stderr);
  return 1;
}
