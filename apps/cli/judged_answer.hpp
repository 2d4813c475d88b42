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

/// An answer as a file gives it. What it does not give is missing.
struct GivenAnswer {
  std::optional<VectorX<double>> velocity, impulse;
  std::optional<VectorX<double>> multiplier;  ///< λ of equality constraints
  std::optional<VectorX<double>> ray;  ///< of impulses, that is to prove that there is no answer
};

/// What `carom certify` says of an answer. A measure that the law or the data do not define is
/// missing; one that is too large for its type is infinite.
struct JudgedAnswer {
  FrictionLaw law = FrictionLaw::coulomb;
  /// ‖∇ℓ(v)‖_{A⁻¹} relative to the momentum scale under the convex law of compliant contact, else
  /// the natural map error [-].
  std::optional<double> residual;
  std::optional<double> velocity_error_bound, duality_gap, natural_map_error;
  std::optional<double> cone_violation, complementarity, signorini, friction_direction;
  /// How far the velocity is from that of the impulses, relative, where both are given [-].
  std::optional<double> momentum_residual;
  /// How far the impulses are from those of the velocity, relative, where both are given and the
  /// velocity says what they are [-].
  std::optional<double> impulse_mismatch;
  double largest_impulse = 0;  ///< of one row [N·s]
  Index natural_map_block = -1, cone_violation_block = -1;
  std::optional<InfeasibilityCertificate<double>> ray;

  /// Whether the answer is one to a relative tolerance. A ray counts if it proves that there is no
  /// answer.
  [[nodiscard]] bool meets(double tolerance) const;
  /// Distance of the impulses from their cones, relative to the largest of them.
  [[nodiscard]] double relative_cone_violation() const;
};

/// Judges an answer to a problem given by bodies.
[[nodiscard]] JudgedAnswer judge_bodies(const ContactProblem<double>& problem, FrictionLaw law,
                                        const GivenAnswer& answer);

/// Judges an answer to a problem of FCLIB's kind, whose numbers are in the order of the file.
[[nodiscard]] JudgedAnswer judge_friction(const files::FrictionProblem& given, FrictionLaw law,
                                          const GivenAnswer& answer);

}  // namespace carom::cli
