// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "carom/impact/resolve_impact.hpp"
#include "carom/impact/simultaneous.hpp"

#include "cli/commands.hpp"
#include "cli/json_input.hpp"

/// @file
/// The possible endings of an impact in `carom impact`, in the units of its file.
namespace carom::cli {

using Vector = VectorX<double>;

/// The impact in a file.
struct ImpactInput {
  MassMatrix<double> mass;
  std::vector<Vector> normals;  ///< Original gradients of the gaps, of any length.
  Vector momentum;
  double restitution = 1;
};

/// One ending. Its impulses belong to the original normals: p⁺ = p⁻ + Σ λ_i normals_i.
struct Ending {
  Vector momentum, velocity, impulses;
  std::vector<Index> sequence;
  double kinetic_energy = 0;
};

inline std::string at(const char* field, std::size_t index) {
  return field + ("[" + std::to_string(index) + "]");
}

/// The impact in the kinetic metric, and the conversion of unit-normal impulses to those of the
/// file.
struct Metric {
  const MassMatrix<double>& mass;
  ImpactProblem<double> problem;
  Vector lengths;  ///< |Dϕ_i| in the metric.

  explicit Metric(const ImpactInput& input)
      : mass(input.mass), problem(mass.size()), lengths(Index(input.normals.size())) {
    for (std::size_t i = 0; i < input.normals.size(); ++i) {
      const double largest = input.normals[i].cwiseAbs().maxCoeff();
      const Vector scaled = input.normals[i] / largest;
      Vector response = scaled;
      mass.apply_inverse(response);
      const double square = scaled.dot(response);
      if (!std::isnormal(square)) {
        refuse(at("normals", i), "a length in the metric of the mass within the range of double",
               square < 1 ? "one that is too small" : "one that is too large");
      }
      lengths(Index(i)) = largest * std::sqrt(square);
      problem.add_contact(mass, input.normals[i]);
    }
    problem.prepare();
  }

  [[nodiscard]] Ending ending(const Vector& momentum, const Vector& unit_impulses,
                              std::vector<Index> sequence) const {
    Ending end{momentum, momentum, unit_impulses.cwiseQuotient(lengths), std::move(sequence), 0};
    mass.apply_inverse(end.velocity);
    end.kinetic_energy = momentum.dot(end.velocity) / 2;
    const bool finite = end.velocity.allFinite() && end.impulses.allFinite();
    if (!finite) refuse("the document", "impulses within the range of double", "larger ones");
    return end;
  }
};

/// The ending of one law.
template <typename Law>
Ending ending_by(const Metric& metric, const Vector& momentum, const Law& law, bool& resolved) {
  ImpactSolution<double> solution = resolve_impact(metric.problem, metric.mass, momentum, law);
  resolved = solution.report.status == ImpactStatus::resolved;
  return metric.ending(solution.momentum, solution.impulses, std::move(solution.sequence));
}

/// The ending along one order, blended with the plastic one such that the fraction R² remains of
/// the energy that a plastic impact would lose.
template <typename Order>
Ending ending_along(const Metric& metric, const Vector& momentum, double restitution,
                    const Order& order, bool& resolved) {
  if (restitution == 1) {
    return ending_by(metric, momentum, ImpactResolver<double, Order>({}, order), resolved);
  }
  return ending_by(metric, momentum,
                   RestitutionImpact<double, Order>(restitution, PlasticLaw::moreau, {}, order),
                   resolved);
}

inline Ending ending_of(const Metric& metric, const Vector& momentum, double restitution,
                        const ImpactCommandOptions& options, const std::vector<Index>& sequence,
                        bool& resolved) {
  if (!sequence.empty()) {
    return ending_along(metric, momentum, restitution, SweepOrder<double>(sequence), resolved);
  }
  if (options.order == "simultaneous") {
    return restitution == 1
               ? ending_by(metric, momentum, GeneralizedReflections<double>(), resolved)
               : ending_by(metric, momentum, SimultaneousImpact<double>(restitution), resolved);
  }
  if (options.order == "most_infeasible") {
    return ending_along(metric, momentum, restitution, MostInfeasibleFirst<double>(), resolved);
  }
  return ending_along(metric, momentum, restitution, MostInfeasibleTogether<double>(), resolved);
}

/// ξ = max |p_a − p_b|/|p⁻| over pairs of endings of all laws.
inline double indeterminacy(const std::vector<Ending>& endings, double kinetic_energy) {
  double largest = 0;
  for (std::size_t a = 0; a < endings.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      largest = std::max(largest, (endings[a].momentum - endings[b].momentum)
                                      .dot(endings[a].velocity - endings[b].velocity));
    }
  }
  return largest > 0 ? std::sqrt(largest / (2 * kinetic_energy)) : 0;
}

}  // namespace carom::cli
