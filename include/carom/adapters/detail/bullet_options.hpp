// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/core/solve_report.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The treatment of contacts with a restitution and a large closing velocity.
enum class BulletImpact {
  /// One pair of bodies after another, before the step: only the last ball of a cradle separates.
  propagative,
  newton,  ///< All at once, within a rigid step: uₙ ≥ e s. Compliant steps have no restitution.
  none,    ///< Nothing bounces.
};

/// Options of BulletSolver.
struct BulletOptions {
  /// Coulomb's exact law, or the convex law, under which sliding contacts separate with μ ‖uₜ‖.
  FrictionLaw law = FrictionLaw::coulomb;
  /// Whether contacts are rigid, which limits penetrations to the permitted value, or compliant
  /// with the stiffness below. The convex law with compliant contacts is the fastest: a few Newton
  /// steps on bodies.
  bool rigid = true;
  /// k [N/m], > 0, of compliant contacts; +∞ is the stiffest spring that the step resolves. Points
  /// with their own stiffness and damping use those, rigid or not.
  double stiffness = std::numeric_limits<double>::infinity();
  /// β [-], ≥ 0: compliant contacts are not stiffer than a spring with a period of β steps of their
  /// own bodies. 0 disables this limit; the stiffness must then be finite. Heavy loads on light
  /// bodies need it.
  double near_rigid = 1;
  /// τ_d [s], ≥ 0: dissipation of compliant contacts.
  double dissipation_time = 0;
  /// σ [-], > 0: creep of sticking compliant contacts, as in CompliantContact.
  double relative_slip = 1e-3;
  /// The solve ends at this natural map error [-], > 0. At 1e-6 a heap needs half of the time or
  /// less. But fast sliding bodies may then lift off by as much, and Bullet removes their points.
  double tolerance = 1e-9;
  BulletImpact impact = BulletImpact::propagative;
  /// Largest count of impacts between pairs of bodies in one step, ≥ 0. Contacts that still close
  /// then do so without restitution.
  int impact_limit = 10'000;
  /// Rigid contacts with a larger penetration are separated to half of it [m], > 0: by positions
  /// only, so that they get no velocity, and in each step by at most half of their manifold's
  /// contact breaking threshold; with a deadline by a third. With +∞, no penetration changes.
  double allowed_penetration = 1e-3;
  /// Least R of joints relative to their inverse mass [-], > 0. It determines how redundant joints
  /// share their load.
  double joint_softness = 1e-9;
};

/// The fault of the options; empty if there is none.
[[nodiscard]] inline Fault check(const BulletOptions& options) {
  const auto positive = [](const char* name, double x) {
    return x > 0 ? Fault{} : detail::fault(name, "a number > 0", x);
  };
  if (Fault f = positive("stiffness", options.stiffness); !f.empty()) return f;
  for (const auto& [name, x] : {std::pair("near-rigid factor", options.near_rigid),
                                std::pair("dissipation time", options.dissipation_time)}) {
    if (!detail::is_nonnegative(x)) return detail::fault(name, "a finite number >= 0", x);
  }
  if (options.near_rigid == 0 && !detail::is_finite(options.stiffness)) {
    return detail::fault("stiffness", "a finite number when the near-rigid factor is 0",
                         options.stiffness);
  }
  for (const auto& [name, x] : {std::pair("relative slip", options.relative_slip),
                                std::pair("tolerance", options.tolerance),
                                std::pair("joint softness", options.joint_softness)}) {
    if (!detail::is_positive(x)) return detail::fault(name, "a finite number > 0", x);
  }
  if (options.impact_limit < 0) {
    return detail::fault("impact limit", "a count >= 0", Index(options.impact_limit));
  }
  return positive("allowed penetration", options.allowed_penetration);
}

/// Report of the last step of the world, over all its groups of bodies.
struct BulletReport {
  SolveStatus status = SolveStatus::converged;  ///< The worst status of all groups.
  int groups = 0;
  int contacts = 0;    ///< Count of contact points.
  int joint_rows = 0;  ///< Count of joint rows.
  int iterations = 0;
  double residual = 0;  ///< The largest natural map error [-].
  int impacts = 0;      ///< Count of impacts between pairs of bodies.
  /// Kinetic energy gained in them [J]: at most round-off, in the frame of kinematic bodies.
  double impact_energy = 0;
  bool impacts_cut = false;  ///< Whether impact_limit was reached.
  int projections = 0;       ///< Count of groups moved out of penetration.
  double penetration = 0;    ///< The deepest penetration [m].
  int refused = 0;    ///< Count of bodies, points and joints omitted because of invalid numbers.
  std::string fault;  ///< The first of them: its name, the expected and the actual value.

  [[nodiscard]] bool converged() const noexcept {
    return status == SolveStatus::converged && refused == 0;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
