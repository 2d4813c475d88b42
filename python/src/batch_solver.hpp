// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "step_solver.hpp"

namespace carom::python {

/// The answers, in the order of the problems.
struct BatchSolution {
  std::vector<std::shared_ptr<SolvedStep>> steps;
};

/// Solves steps on several threads, each by the solver of its thread. The answers are those of
/// single solves, to the last bit, whatever the number of threads.
/// @param threads  ≥ 1; this one waits.
/// @param ask      called now and then by the thread that waits; true ends the batch early, and
///                 steps that have not begun get the status `deadline` at their free velocity.
///                 Empty: nothing ends it.
/// @throws what a solve threw, such as std::bad_alloc.
void solve_all(const std::vector<std::shared_ptr<SolvedStep>>& steps, const SolveSettings& settings,
               int threads, const std::function<bool(double)>& ask);

}  // namespace carom::python
