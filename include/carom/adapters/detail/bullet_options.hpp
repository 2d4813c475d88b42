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

/// What becomes of contacts that close fast and have a restitution.
enum class BulletImpact {
  propagative,  ///< Pair by pair of bodies, before the step: a cradle's last ball leaves alone.
  newton,       ///< All at once, within a rigid step: uₙ ≥ e s. Compliant steps have none.
  none,         ///< Nothing bounces.
};

/// How BulletSolver solves.
struct BulletOptions {
  /// Coulomb's law exactly, or the convex one, under which what slides separates with μ ‖uₜ‖.
  FrictionLaw law = FrictionLaw::coulomb;
  /// Whether contacts are rigid, which keeps penetrations within what is allowed, or give way by
  /// the stiffness below. The convex law with contacts that give way is the fastest, a
  /// few Newton steps on bodies.
  bool rigid = true;
  /// k [N/m], > 0, of contacts that give way; +∞ takes the stiffest the step resolves. Points with
  /// a stiffness and damping of their own keep those, rigid or not.
  double stiffness = std::numeric_limits<double>::infinity();
  /// β [-], ≥ 0: contacts that give way are no stiffer than a period of β steps of their own
  /// bodies. 0 keeps the stiffness, which then must be finite: heavy loads on light bodies need it.
  double near_rigid = 1;
  /// τ_d [s], ≥ 0: dissipation of contacts that give way.
  double dissipation_time = 0;
  /// σ [-], > 0: creep of stick of contacts that give way, as in CompliantContact.
  double relative_slip = 1e-3;
  /// Natural map error at which to stop [-], > 0. At 1e-6 a heap takes half of the time or less,
  /// but what slides fast may then lift off by as much, and Bullet forgets its points.
  double tolerance = 1e-9;
  BulletImpact impact = BulletImpact::propagative;
  /// Most impacts between pairs of bodies in one step, ≥ 0; what then still closes does so without
  /// bouncing.
  int impact_limit = 10'000;
  /// Penetration from which rigid contacts are moved apart [m], > 0, to half of it: by positions
  /// alone, so that no velocity comes of it. +∞ leaves all penetration as it is.
  double allowed_penetration = 1e-3;
  /// Least R of joints relative to their inverse mass [-], > 0. Redundant joints share their load
  /// in proportion to it.
  double joint_softness = 1e-9;
};

/// What is wrong with the options, or nothing.
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

/// What happened in the last step of the world, over all its groups of bodies.
struct BulletReport {
  SolveStatus status = SolveStatus::converged;  ///< The worst of all groups.
  int groups = 0;
  int contacts = 0;    ///< Contact points that took part.
  int joint_rows = 0;  ///< Rows of joints that took part.
  int iterations = 0;
  double residual = 0;       ///< The worst natural map error [-].
  int impacts = 0;           ///< Impacts between pairs of bodies.
  double impact_energy = 0;  ///< What they added to the kinetic energy [J]: at most round-off,
                             ///< seen from kinematic bodies.
  bool impacts_cut = false;  ///< Whether impact_limit was met.
  int projections = 0;       ///< Groups moved out of penetration.
  double penetration = 0;    ///< The deepest one found [m].
  int refused = 0;           ///< Bodies, points and joints left out for numbers that make no sense.
  std::string fault;         ///< The first of them: which, expected and got.

  [[nodiscard]] bool converged() const noexcept {
    return status == SolveStatus::converged && refused == 0;
  }
};

}  // namespace CAROM_ABI
}  // namespace carom
