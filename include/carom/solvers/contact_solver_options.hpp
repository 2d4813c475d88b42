// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The method of ContactSolver.
enum class ContactMethod {
  automatic,  ///< ContactSolver chooses and changes the method: the usual choice.
  /// SapSolver only, Newton's method in velocities: fast and proven for compliant contact. It needs
  /// R > 0 and uses for a rigid contact the R of its own softness.
  sap,
  interior_point,  ///< InteriorPointSolver only: all contacts, all laws.
  /// ProximalSolver only: heaps of any size, rigid under the convex law or compliant under
  /// Coulomb's law.
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

/// Law, method and accuracy of ContactSolver.
template <RealScalar Scalar>
struct ContactSolverOptions {
  /// Coulomb's law by default: sliding contacts stay on their surface. The convex law is accurate
  /// if contacts stick or slide slowly, as in grasps. For compliant contacts it has one answer with
  /// a proven error bound. A body that slides at speed v lifts off with μ v/(1 + μ²) for any step;
  /// a body launched horizontally rises to (μ v/(1 + μ²))²/2g.
  FrictionLaw law = FrictionLaw::coulomb;
  ContactMethod method = ContactMethod::automatic;
  /// The solve ends at this residual [-], > 0: the largest error of a block or body relative to the
  /// scales of its bodies, that of judge_answer(). The default is half of the type's digits, 1.5e-8
  /// in double. An error of 1e-6 of a contact's own velocity is already invisible. But Newton's
  /// method ends each solve and doubles its digits, so that 1e-10 needs only a fourth more time
  /// than 1e-3, and derivatives of the answer need these digits.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  /// Largest count of iterations, ≥ 0, as the method counts them; with `automatic` it is the count
  /// of linear systems of all stages together. The limit ends the search if there is no answer. An
  /// answer needs some tens of systems, that of a heap with self-stresses of 1000 times its load
  /// 750.
  int iteration_limit = 1000;
};

}  // namespace CAROM_ABI
}  // namespace carom
