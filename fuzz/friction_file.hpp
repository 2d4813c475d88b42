// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "io/bad_input.hpp"
#include "io/friction_dual.hpp"
#include "io/friction_problem.hpp"

namespace carom::fuzz {

/// What a reader may do with bytes: refuse them as BadInput, or return a problem that is whole and
/// that the library takes or refuses in turn.
template <typename Read>
void check_reader(const Read& read) {
  try {
    const files::FrictionProblem problem = read();
    if (!files::friction_problem_fault(problem).empty()) {
      std::fputs("fuzz: a reader returned a broken problem\n", stderr);
      std::abort();
    }
    const auto most = std::max(problem.row_count() + problem.equality_count(),
                               problem.velocity_count().value_or(0));
    if (most > 600) return;
    static_cast<void>(files::friction_dual(problem).check());
  } catch (const files::BadInput&) {
  }
}

}  // namespace carom::fuzz
