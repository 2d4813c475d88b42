// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "physical_gradient.hpp"
#include "step_solver.hpp"

namespace carom::python {

/// carom.Gradients: gradients of a number by all data of a problem.
struct Gradients {
  PhysicalNumbers by;
};

/// The gradients of ⟨by_velocity, v⟩ + ⟨by_impulse, γ⟩ by the data of a step.
/// @param by_velocity  n_v. @param by_impulse  stacked block by block.
/// @throws std::invalid_argument  where there is no derivative, saying why.
void pull_back(const SolvedStep& step, const VectorX<double>& by_velocity,
               const VectorX<double>& by_impulse, PhysicalNumbers& out);

/// Numbers of contacts, 3 n_c, put where stacked impulses have them; zero for constraints.
[[nodiscard]] VectorX<double> stack_contacts(const ProblemData& data,
                                             const VectorX<double>& of_contacts);

/// carom.BatchGradients: those of every problem of a batch.
struct BatchGradients {
  std::vector<std::shared_ptr<Gradients>> of;
  /// Why a problem has no gradient; empty where it has one. Without one its numbers are NaN.
  std::vector<std::string> faults;
};

/// The same, or why there are none, and then every number is NaN. A step that did not converge has
/// none, and bars that are not finite lead to none.
/// @return  empty where there are gradients.
[[nodiscard]] std::string pull_back_or_tell(const SolvedStep& step,
                                            const VectorX<double>& by_velocity,
                                            const VectorX<double>& by_impulse,
                                            PhysicalNumbers& out);

}  // namespace carom::python
