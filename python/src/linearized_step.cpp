// SPDX-License-Identifier: BSD-3-Clause
#include "linearized_step.hpp"

#include <stdexcept>
#include <string>
#include <type_traits>

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

/// The convex law on compliant contact, by SapDerivative. Impulses are functions of velocity and
/// data, γ = P(R⁻¹(v̂ − J v)), so that their part is one more link of the chain.
class ConvexStep final : public LinearizedStep {
 public:
  ConvexStep(const ContactProblem<double>& problem, const VectorX<double>& velocity)
      : problem_(problem), velocity_(velocity) {
    derivative_.prepare(problem);
    require(derivative_.linearize(problem, velocity));
  }

  void pull_back(const VectorX<double>& by_velocity, const VectorX<double>& by_impulse,
                 ProblemDifferential<double>& gradient) override {
    VectorX<double> whole = by_velocity, pressed = VectorX<double>::Zero(problem_.velocity_count());
    problem_.for_each_block_by_kind([&](const auto& block) {
      block.add_momentum(of(block).by_excess * block.read(by_impulse), pressed);
    });
    whole -= pressed;
    require(derivative_.pull_back(problem_, whole, gradient));
    problem_.for_each_block_by_kind(
        [&](const auto& block) { add_direct(block, by_impulse, gradient); });
  }

  void push_forward(const ProblemDifferential<double>& change, VectorX<double>& velocity_change,
                    VectorX<double>& impulse_change) override {
    require(derivative_.push_forward(problem_, change, velocity_change));
    impulse_change.setZero(problem_.impulse_count());
    problem_.for_each_block_by_kind([&](const auto& block) {
      using Rows = typename std::decay_t<decltype(block)>::Rows;
      Rows excess = block.read(change.bias_velocity) - block.velocity(velocity_change);
      for (int s = 0; change.has_matrices() && s < block.side_count(); ++s) {
        const auto [start, size] = block.side(s).range;
        excess.head(block.rows()) -=
            change.jacobian(block.number(), s).lazyProduct(velocity_.segment(start, size));
      }
      Rows moved = of(block).change(excess, block.read(change.regularization),
                                    change.friction(block.number()));
      if constexpr (std::decay_t<decltype(block)>::capacity != 3) {
        moved += of(block).bounds_change(block.read(change.lower), block.read(change.upper));
      }
      block.write(moved, impulse_change);
    });
  }

  [[nodiscard]] bool is_one_sided(Index block) const override {
    return derivative_.boundary(block) != RegionBoundary::none;
  }

 private:
  template <typename Block>
  [[nodiscard]] const auto& of(const Block& block) const noexcept {
    if constexpr (Block::capacity == 3) {
      return derivative_.friction_contact(block.number());
    } else {
      return derivative_.other_block(block.number());
    }
  }
  /// Adds the gradient of ⟨by_impulse, γ⟩ by the data at fixed velocity.
  template <typename Block>
  void add_direct(const Block& block, const VectorX<double>& by_impulse,
                  ProblemDifferential<double>& gradient) const {
    using Rows = typename Block::Rows;
    const auto& derivative = of(block);
    const Rows given = block.read(by_impulse);
    const Rows pressed = derivative.by_excess * given;
    block.write(Rows(block.read(gradient.bias_velocity) + pressed), gradient.bias_velocity);
    block.write(
        Rows(block.read(gradient.regularization) - derivative.impulse.cwiseProduct(pressed)),
        gradient.regularization);
    gradient.friction(block.number()) += derivative.by_friction.dot(given);
    if constexpr (Block::capacity != 3) {
      const Rows lower = derivative.by_lower.cwiseProduct(given),
                 upper = derivative.by_upper.transpose() * given;
      block.write(Rows(block.read(gradient.lower) + lower), gradient.lower);
      block.write(Rows(block.read(gradient.upper) + upper), gradient.upper);
    }
    for (int s = 0; gradient.has_matrices() && s < block.side_count(); ++s) {
      const auto [start, size] = block.side(s).range;
      auto slope = gradient.jacobian(block.number(), s);
      for (int row = 0; row < block.rows(); ++row) {
        slope.row(row) -= pressed(row) * velocity_.segment(start, size).transpose();
      }
    }
  }

  const ContactProblem<double>& problem_;
  VectorX<double> velocity_;
  SapDerivative<double> derivative_;
};

/// Either law on contacts of every kind, rigid ones included, by CoulombDerivative.
class GeneralStep final : public LinearizedStep {
 public:
  GeneralStep(const ContactProblem<double>& problem, FrictionLaw law,
              const VectorX<double>& velocity, const VectorX<double>& impulse)
      : problem_(problem), derivative_({.law = law}) {
    derivative_.prepare(problem);
    require(derivative_.linearize(problem, velocity, impulse));
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

 private:
  const ContactProblem<double>& problem_;
  CoulombDerivative<double> derivative_;
};

}  // namespace

std::unique_ptr<LinearizedStep> linearize(const ContactProblem<double>& problem, FrictionLaw law,
                                          const VectorX<double>& velocity,
                                          const VectorX<double>& impulse) {
  if (!velocity.allFinite() || !impulse.allFinite()) {
    throw std::invalid_argument("derivative: expected a finite solution, got one that is not");
  }
  if (law == FrictionLaw::coulomb || problem.rigid_count() > 0) {
    return std::make_unique<GeneralStep>(problem, law, velocity, impulse);
  }
  return std::make_unique<ConvexStep>(problem, velocity);
}

}  // namespace carom::python
