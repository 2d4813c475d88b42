// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/core/solve_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// What contacts of a MuJoCo step obey. Joint limits, equalities and friction loss keep MuJoCo's
/// law under each of them.
enum class MujocoLaw {
  coulomb,       ///< Coulomb's law exactly, gaps that do not close beyond zero; no creep.
  soft_coulomb,  ///< Coulomb's law exactly, normals as soft as MuJoCo makes them; no creep.
  soft,          ///< MuJoCo's own law, to the tolerance: its qacc.
};

/// What a MujocoStepper solves, and how closely.
struct MujocoOptions {
  MujocoLaw law = MujocoLaw::coulomb;
  /// Relative residual at which to stop [-], > 0: that of SapSolver under MuJoCo's law, of
  /// ContactSolver under Coulomb's. What a stuck contact still moves is about this times the
  /// velocity that one step of the forces makes, which is why the default is near rounding.
  double tolerance = 1e-12;
  /// Share of a penetration that one step takes out [-], in [0, 1], of MujocoLaw::coulomb. It stays
  /// in the motion as velocity; at 0, bodies that overlap keep overlapping.
  double correction = 0;
};

/// How a step ended.
enum class MujocoVerdict {
  solved,                  ///< By a solver that converged, or nothing touched.
  best_effort,             ///< With the best iterate of a solver that did not converge.
  not_finite,              ///< NaN, infinity or beyond mjMAXVAL in the state or the forces.
  singular_mass,           ///< M is not positive definite.
  unsupported_integrator,  ///< Not Euler: it would integrate another step than carom solves.
  unsupported_contact,     ///< Friction bounded by a normal that moves nothing.
};

/// The verdict in words.
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
  SolveReport<double> report;  ///< The solver's; of a problem without rows: zero iterations.

  /// Whether mjData holds an answer, and, after step(), has advanced.
  [[nodiscard]] constexpr bool answered() const noexcept {
    return verdict == MujocoVerdict::solved || verdict == MujocoVerdict::best_effort;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
