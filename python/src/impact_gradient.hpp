// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "carom/impact/impact_derivative.hpp"
#include "carom/impact/judge_outcome.hpp"

#include "arrays.hpp"

namespace carom::python {

/// An impact that can be differentiated: linearised when someone first asks.
class DifferentiableImpact {
 public:
  using Linearize =
      std::function<ImpactLinearization(const DifferentiableImpact&, ImpactDerivative<double>&)>;

  /// @param linearize  resolves the impact again, and linearises it.
  DifferentiableImpact(MassMatrix<double> mass, ImpactProblem<double> problem,
                       MatrixX<double> normals, VectorX<double> momentum, Linearize linearize);

  [[nodiscard]] const MassMatrix<double>& mass() const noexcept { return mass_; }
  [[nodiscard]] const ImpactProblem<double>& problem() const noexcept { return problem_; }
  [[nodiscard]] const MatrixX<double>& normals() const noexcept { return normals_; }
  [[nodiscard]] const VectorX<double>& momentum() const noexcept { return momentum_; }

  /// Compares an outcome with all others, found when someone first asks.
  [[nodiscard]] OutcomeJudgement<double> judge(const VectorX<double>& after, double restitution);

  /// Calls use(derivative), one thread at a time.
  /// @throws std::invalid_argument  where the impact has no derivative.
  template <typename Use>
  void differentiate(const Use& use) {
    const std::lock_guard<std::mutex> alone(lock_);
    require_linearized();
    use(derivative_);
  }

 private:
  void require_linearized();

  MassMatrix<double> mass_;
  ImpactProblem<double> problem_;
  MatrixX<double> normals_;  ///< columns
  VectorX<double> momentum_;
  Linearize linearize_;
  std::mutex lock_;
  ImpactDerivative<double> derivative_;
  bool linearized_ = false;
  std::optional<OutcomeJudgement<double>> judgement_;
};

/// One way in which an impact ends; impulses belong to the normals as they were given.
struct Ending {
  VectorX<double> momentum, velocity, impulses;
  std::vector<Index> sequence;
  double kinetic_energy = 0;
  std::string status = "resolved";
  std::shared_ptr<DifferentiableImpact> impact = nullptr;  ///< none of outcomes()
  double restitution = 1;                                  ///< of the energy, with which it ended
  OutcomeJudgement<double> judgement = {};                 ///< of outcomes()

  /// Whether the impact could have ended otherwise.
  [[nodiscard]] OutcomeJudgement<double> judge() const {
    return impact ? impact->judge(momentum, restitution) : judgement;
  }
};

/// Gives carom.Impact its derivatives.
void bind_impact_gradient(nb::module_& module, nb::class_<Ending>& impact);

}  // namespace carom::python
