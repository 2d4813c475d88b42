// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace carom::peers {

/// Balls in line that touch their neighbours, just before a blow; x grows from the first to the
/// last.
struct CradleShot {
  std::vector<double> masses;      ///< [kg], > 0.
  std::vector<double> velocities;  ///< [m/s], as many as masses.
  double restitution = 1;          ///< e of every pair [-], in [0, 1].
  /// φ: overlap of approaching neighbours when the step begins, as a share of the way they approach
  /// within it [-]. An engine that looks once per step finds any φ in [0, 1).
  double overlap = 0;
};

/// Balls of this radius [m] and steps of this length [s]: one contact step of each engine, without
/// gravity, friction or damping, all else as the engine's authors set it.
inline constexpr double ball_radius = 0.5, time_step = 1.0 / 64;

/// Sweeps over the contacts for engines that iterate: so many that more change nothing.
inline constexpr int sweep_count = 200;

/// Middle of each ball at the start of the step [m].
[[nodiscard]] std::vector<double> ball_positions(const CradleShot& shot);

/// An engine, and the velocities after [m/s] that it makes of a shot.
struct Peer {
  std::string name;
  std::string package;                                         ///< The one that Debian has it in.
  std::vector<double> (*strike)(const CradleShot&) = nullptr;  ///< Null where not installed.

  [[nodiscard]] bool installed() const noexcept { return strike != nullptr; }
};

/// Every engine carom is compared with, installed or not.
[[nodiscard]] std::vector<Peer> cradle_peers();

/// Defined where the engine is installed.
[[nodiscard]] std::vector<double> strike_bullet(const CradleShot& shot);
[[nodiscard]] std::vector<double> strike_ode(const CradleShot& shot);
[[nodiscard]] std::vector<double> strike_box2d(const CradleShot& shot);

}  // namespace carom::peers
