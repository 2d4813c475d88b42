// SPDX-License-Identifier: BSD-3-Clause
#include "linearized_step.hpp"

#include <stdexcept>
#include <string>

#include "carom/solvers/coulomb_derivative.hpp"
#include "carom/solvers/sap_derivative.hpp"

namespace carom::python {
namespace {

void require(const LinearizationReport<double>& report) {
  if (report.usable()) return;
  throw std::invalid_argument(
      std::string("derivative: expected a solution that can be linearised, got status ") +
      to_string(report.status));
}
void require(const SolveReport<double>& report) {
  if (report.converged()) return;
  throw std::invalid_argument(
      std::string("derivative: expected a linear system that can be solved, got status ") +
      to_string(report.status));
}

/// The derivative by SapDerivative or CoulombDerivative.
template <typename Derivative>
class Step final : public LinearizedStep {
 public:
  /// @param answer  velocity, and impulses if the derivative needs them.
  template <typename Options, typename... Answer>
  Step(const ContactProblem<double>& problem, const Options& options, const Answer&... answer)
      : problem_(problem), derivative_(options) {
    derivative_.prepare(problem);
    require(derivative_.linearize(problem, answer...));
  }

  void pull_back(const VectorX<double>& by_velocity, const VectorX<double>& by_impulse,
                 ProblemDifferential<double>& gradient) override {
    require(by_impulse.isZero(0)
                ? derivative_.pull_back(problem_, by_velocity, gradient)
                : derivative_.pull_back(problem_, by_velocity, by_impulse, gradient));
  }
  void push_forward(const ProblemDifferential<double>& change, VectorX<double>& velocity_change,
                    VectorX<double>& impulse_change) override {
    require(derivative_.push_forward(problem_, change, velocity_change, impulse_change));
  }
  [[nodiscard]] bool is_one_sided(Index block) const override {
    return derivative_.boundary(block) != RegionBoundary::none;
  }
  [[nodiscard]] int index() override {
    if constexpr (requires { derivative_.index(); }) {
      return derivative_.index();
    } else {  // the convex problem has one answer
      for (Index i = 0; i < problem_.block_count(); ++i) {
        if (is_one_sided(i)) return 0;
      }
      return 1;
    }
  }

 private:
  const ContactProblem<double>& problem_;
  Derivative derivative_;
};

}  // namespace

std::unique_ptr<LinearizedStep> linearize(const ContactProblem<double>& problem, FrictionLaw law,
                                          const VectorX<double>& velocity,
                                          const VectorX<double>& impulse) {
  if (!velocity.allFinite() || !impulse.allFinite()) {
    throw std::invalid_argument("derivative: expected a finite solution, got one that is not");
  }
  if (law == FrictionLaw::coulomb || problem.rigid_count() > 0) {
    return std::make_unique<Step<CoulombDerivative<double>>>(
        problem, CoulombDerivativeOptions<double>{.law = law}, velocity, impulse);
  }
  return std::make_unique<Step<SapDerivative<double>>>(problem, SapDerivativeOptions<double>{},
                                                       velocity);
}

}  // namespace carom::python
