// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The method by which ContactSolver looks for the answer.
enum class ContactMethod {
  automatic,  ///< ContactSolver picks and switches: what most callers want.
  /// SapSolver alone, Newton's method in velocities: fast and proven for compliant contact. It
  /// needs R > 0 and gives a rigid contact the R of its own softness.
  sap,
  interior_point,  ///< InteriorPointSolver alone: every contact, every law.
  /// ProximalSolver alone: heaps of any size, rigid under the convex law or compliant under
  /// Coulomb's.
  proximal,
};

/// The method as a word for messages and files.
[[nodiscard]] constexpr const char* to_string(ContactMethod method) noexcept {
  switch (method) {
    case ContactMethod::automatic:
      return "automatic";
    case ContactMethod::sap:
      return "sap";
    case ContactMethod::interior_point:
      return "interior_point";
    case ContactMethod::proximal:
      return "proximal";
  }
  return "unknown";
}

/// Which law ContactSolver solves, by which method, and how accurately.
template <RealScalar Scalar>
struct ContactSolverOptions {
  /// Coulomb's law by default: what slides stays on its surface. The convex law is right where
  /// contacts stick or slide slowly, as in grasps, and has one answer with a proven error bound
  /// where contacts give way; a body that slides at speed v lifts off with μ v/(1 + μ²), whatever
  /// the step, so that one launched flat rises to (μ v/(1 + μ²))²/2g.
  FrictionLaw law = FrictionLaw::coulomb;
  ContactMethod method = ContactMethod::automatic;
  /// Residual at which to stop [-], > 0: the largest error of a block or body by what its own
  /// bodies do, that of judge_answer(). Half of the type's digits by default, 1.5e-8 in double. An
  /// error of 1e-6 of a contact's own velocity is invisible already, but Newton's method ends every
  /// solve and doubles its digits, so that 1e-10 takes a fourth more time than 1e-3, and slopes of
  /// the answer need digits.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Most iterations, ≥ 0, as the method counts them; with `automatic` the linear systems of all
  /// stages together. The limit ends the search where there is no answer. An answer takes some tens
  /// of systems, that of a heap with self-stresses of 1000 times its load takes 750.
  int iteration_limit = 1000;
};

}  // namespace CAROM_ABI
}  // namespace carom
