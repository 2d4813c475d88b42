// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "carom/compiled.hpp"

namespace carom::python {

/// The derivative of a solved step, whatever its law: velocity and impulses by v*, A, J, μ, R, v̂.
class LinearizedStep {
 public:
  LinearizedStep() = default;
  LinearizedStep(const LinearizedStep&) = delete;
  LinearizedStep& operator=(const LinearizedStep&) = delete;
  virtual ~LinearizedStep() = default;

  /// The gradient of ⟨by_velocity, v⟩ + ⟨by_impulse, γ⟩ by all data.
  /// @param gradient  of the problem's sizes, written.
  virtual void pull_back(const VectorX<double>& by_velocity, const VectorX<double>& by_impulse,
                         ProblemDifferential<double>& gradient) = 0;
  /// dv and dγ of a change of the data.
  virtual void push_forward(const ProblemDifferential<double>& change,
                            VectorX<double>& velocity_change, VectorX<double>& impulse_change) = 0;
  /// Whether a block sits where two regions meet, so that its derivative is that of one side.
  [[nodiscard]] virtual bool is_one_sided(Index block) const = 0;
  /// The index of the answer: +1 or −1; 0 if a block sits where two regions meet.
  [[nodiscard]] virtual int index() = 0;
};

/// Linearises a step at its answer.
/// @param problem  stays where it is as long as the result.
/// @throws std::invalid_argument  where there is no derivative, saying why.
[[nodiscard]] std::unique_ptr<LinearizedStep> linearize(const ContactProblem<double>& problem,
                                                        FrictionLaw law,
                                                        const VectorX<double>& velocity,
                                                        const VectorX<double>& impulse);

}  // namespace carom::python
