// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/solve_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The law of contacts in a MuJoCo step. Joint limits, equalities and friction loss obey MuJoCo's
/// law, except under `rigid`.
enum class MujocoLaw {
  coulomb,       ///< Coulomb's exact law with gaps ≥ 0 at the end of the step; no creep.
  soft_coulomb,  ///< Coulomb's exact law, normals with MuJoCo's softness; no creep.
  soft,          ///< MuJoCo's own law, to the tolerance: the same qacc.
  /// As `coulomb`, and limits and equalities do not yield either; friction of joints and tendons
  /// holds without creep up to its loss.
  rigid,
};

/// Options of a MujocoStepper.
struct MujocoOptions {
  MujocoLaw law = MujocoLaw::coulomb;
  /// Relative residual at which the solve ends [-], > 0: that of SapSolver under MuJoCo's law, of
  /// ContactSolver under Coulomb's law. The remaining motion of a sticking contact is about this
  /// times the velocity from one step of the forces. The default is therefore near rounding.
  double tolerance = 1e-12;
  /// Share of a penetration that one step removes [-], in [0, 1], for MujocoLaw::coulomb and rigid;
  /// for rigid also the share of the error of an equality. It remains in the motion as velocity. At
  /// 0, overlapping bodies stay overlapping.
  double correction = 0;
};

/// How a step ended.
enum class MujocoVerdict {
  solved,         ///< A solver converged, or there was no contact.
  best_effort,    ///< The best iterate of a solver that did not converge.
  not_finite,     ///< NaN, infinity or a number beyond mjMAXVAL in the state or the forces.
  singular_mass,  ///< M is not positive definite.
  /// Not Euler: it would integrate another step than the one that carom solves.
  unsupported_integrator,
  unsupported_contact,  ///< Friction bounded by a normal that moves nothing.
};

/// The verdict as words.
[[nodiscard]] constexpr const char* to_string(MujocoVerdict verdict) noexcept {
  switch (verdict) {
    case MujocoVerdict::solved:
      return "solved";
    case MujocoVerdict::best_effort:
      return "best effort";
    case MujocoVerdict::not_finite:
      return "not finite";
    case MujocoVerdict::singular_mass:
      return "singular mass matrix";
    case MujocoVerdict::unsupported_integrator:
      return "unsupported integrator";
    case MujocoVerdict::unsupported_contact:
      return "unsupported contact";
  }
  return "unknown";
}

/// Outcome of a step or solve.
struct [[nodiscard]] MujocoOutcome {
  MujocoVerdict verdict = MujocoVerdict::not_finite;
  /// The report of the solver; zero iterations for a problem without rows.
  SolveReport<double> report;

  /// Whether mjData contains an answer and, after step(), has advanced.
  [[nodiscard]] constexpr bool answered() const noexcept {
    return verdict == MujocoVerdict::solved || verdict == MujocoVerdict::best_effort;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
