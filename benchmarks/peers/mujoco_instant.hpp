// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mujoco/mujoco.h>
#include <string>

#include "engines/mujoco_models.hpp"
#include "io/text_problem.hpp"

namespace carom::peers {

/// MuJoCo at one instant: all that its constraint solvers read is in place.
///
/// They look for the acceleration a that minimises ½‖a − a_smooth‖²_M + s(J a − a_ref). With
/// v = v_now + δt a, A = M, v* = v_now + δt a_smooth and v̂ = J v_now + δt a_ref this is carom's
/// problem, with the same R: s is ½‖P(−R⁻¹(J a − a_ref))‖²_R for elliptic cones.
struct MujocoInstant {
  examples::MujocoModel model;
  examples::MujocoData data;

  /// v = v_now + δt a [m/s, rad/s].
  [[nodiscard]] Eigen::VectorXd velocity(const mjtNum* acceleration) const {
    const auto count = Eigen::Index(model->nv);
    return Eigen::VectorXd::Map(data->qvel, count) +
           model->opt.timestep * Eigen::VectorXd::Map(acceleration, count);
  }
};

/// Equal bodies that fall, turned at random, into a narrow square well.
struct HeapShape {
  std::string geometry = "sphere";  ///< MuJoCo's name, "sphere" or "box".
  int body_count = 100;             ///< > 0.
  double impedance_ratio = 1;       ///< MuJoCo's impratio, Rₙ/Rₜ [-], > 0.
  double half_width = 0.05;         ///< Radius, or half an edge [m], > 0.
  int steps = 500;                  ///< Of 2 ms until the instant, ≥ 0.
};

/// The instant a heap of MuJoCo's own has come to.
[[nodiscard]] MujocoInstant make_heap(const HeapShape& shape);

/// The instant that any problem describes: bodies as chains of sliding joints, with the problem's
/// momentum matrix, Jacobian, weights and bias put in the place of those MuJoCo would compute.
/// @param guess  v_now, so that MuJoCo's warm start, no acceleration, is the problem's guess.
/// Throws std::runtime_error with versions of MuJoCo after 2.
[[nodiscard]] MujocoInstant make_instant(const ContactProblem<double>& problem,
                                         const Eigen::VectorXd& guess);

/// The problem that MuJoCo faces, and the guess its warm start takes: a body is a tree of joints.
/// Throws std::runtime_error if there are constraints other than contacts with elliptic cones of
/// three dimensions, isotropic in the tangent plane.
[[nodiscard]] files::TextProblem read_problem(const MujocoInstant& instant);

/// δt ‖M a − f − Jᵀ force(a)‖_{M⁻¹} [√J] of the acceleration the data hold, forces by MuJoCo: what
/// the velocity is away from MuJoCo's own solution, at most, in kinetic energy.
[[nodiscard]] double own_residual(const MujocoInstant& instant);

}  // namespace carom::peers
