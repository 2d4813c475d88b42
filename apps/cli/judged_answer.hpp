// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/solvers/infeasibility.hpp"

#include "io/friction_problem.hpp"
#include "io/text_problem.hpp"

namespace carom::cli {

/// An answer in a file. Parts that are not in the file are missing.
struct GivenAnswer {
  std::optional<VectorX<double>> velocity, impulse;
  std::optional<VectorX<double>> multiplier;  ///< λ of equality constraints
  std::optional<VectorX<double>> ray;         ///< of impulses, to prove that there is no answer
};

/// The result of `carom certify` for an answer. A measure that the law or the data do not define is
/// missing. A measure that is too large for its type is infinite.
struct JudgedAnswer {
  FrictionLaw law = FrictionLaw::coulomb;
  /// ‖∇ℓ(v)‖_{A⁻¹} relative to the momentum scale under the convex law of compliant contact;
  /// otherwise the natural map error [-].
  std::optional<double> residual;
  std::optional<double> velocity_error_bound, duality_gap, natural_map_error;
  /// No entry of the velocity has a larger error, by the bound above [m/s; rad/s where it turns].
  std::optional<double> velocity_entry_bound;
  std::optional<double> cone_violation, complementarity, signorini, friction_direction;
  /// Relative difference between the velocity and that of the impulses, if both are given [-].
  std::optional<double> momentum_residual;
  /// Relative difference between the impulses and those of the velocity, if both are given and the
  /// velocity determines the impulses [-].
  std::optional<double> impulse_mismatch;
  /// Of an answer under Coulomb's law that meets the tolerance: +1 or −1, as
  /// CoulombDerivative::index(); 0 on a boundary.
  std::optional<int> index;
  double largest_impulse = 0;  ///< of one row [N·s]
  Index natural_map_block = -1, cone_violation_block = -1;
  std::optional<InfeasibilityCertificate<double>> ray;

  /// Whether the answer is correct to a relative tolerance. A ray is correct if it proves that
  /// there is no answer.
  [[nodiscard]] bool meets(double tolerance) const;
  /// Distance of the impulses from their cones, relative to the largest impulse.
  [[nodiscard]] double relative_cone_violation() const;
};

/// Measures the error of an answer to a problem given by bodies.
/// @param tolerance  within which it has an index.
[[nodiscard]] JudgedAnswer judge_bodies(const ContactProblem<double>& problem, FrictionLaw law,
                                        const GivenAnswer& answer, double tolerance);

/// Measures the error of an answer to a problem of FCLIB's type, whose numbers are in the order of
/// the file.
[[nodiscard]] JudgedAnswer judge_friction(const files::FrictionProblem& given, FrictionLaw law,
                                          const GivenAnswer& answer);

}  // namespace carom::cli
