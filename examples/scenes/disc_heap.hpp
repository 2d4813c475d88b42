// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "carom/contact/contact_problem.hpp"
#include "carom/solvers/sap.hpp"

#include "scenes/ground.hpp"

namespace carom::examples {

/// A solid disc on edge in the plane of x and z.
struct Disc {
  double radius;  ///< [m], > 0.
  double mass;    ///< [kg], > 0.
  double x, z;    ///< of its centre [m]
  double angle = 0;
  Vector3<double> velocity{0, 0, 0};  ///< spin about y [rad/s], along x, along z [m/s]
};

/// Discs that fall, roll and come to rest between two walls or without them, stepped by SAP. Each
/// disc is a body of three velocities; only what is near a neighbour is a contact.
class DiscHeap {
 public:
  std::vector<Disc> discs;
  Ground ground;             ///< the floor z = 0; walls and discs are of the same material
  double half_width = 1e30;  ///< of the room between the walls, around x = 0 [m]

  DiscHeap(std::vector<Disc> given, const Ground& floor, double time_step)
      : discs(std::move(given)), ground(floor), problem_(time_step) {}

  /// Advances one time step; returns whether the solver converged.
  bool step() {
    const double dt = problem_.time_step();
    problem_.reset(dt);
    guess_.resize(3 * Index(discs.size()));
    for (std::size_t i = 0; i < discs.size(); ++i) {
      const Disc& disc = discs[i];
      const double inertia = disc.mass * disc.radius * disc.radius / 2;
      const Vector3<double> masses(inertia, disc.mass, disc.mass);
      const Vector3<double> fall(0, dt * ground.gravity.x(), dt * ground.gravity.z());
      const SquareMatrix<double, 3> momentum = masses.asDiagonal();
      problem_.add_body(momentum, disc.velocity + fall);
      guess_.segment<3>(3 * Index(i)) = disc.velocity;
    }
    add_contacts(dt);
    const bool converged = solver_.solve(problem_, guess_).converged();
    for (std::size_t i = 0; i < discs.size(); ++i) {
      Disc& disc = discs[i];
      disc.velocity = guess_.segment<3>(3 * Index(i));
      disc.angle += dt * disc.velocity(0);
      disc.x += dt * disc.velocity(1);
      disc.z += dt * disc.velocity(2);
    }
    return converged;
  }

  /// Force upwards of floor and walls on the discs in the last step [N].
  [[nodiscard]] double carried() const {
    double sum = 0;
    for (const Support& support : supports_) {
      const double tangent = solver_.impulse()(3 * support.contact);
      const double normal = solver_.impulse()(3 * support.contact + 2);
      sum += support.up_tangent * tangent + support.up_normal * normal;
    }
    return sum / problem_.time_step();
  }
  [[nodiscard]] double weight() const {
    double mass = 0;
    for (const Disc& disc : discs) mass += disc.mass;
    return -mass * ground.gravity.z();
  }
  [[nodiscard]] double fastest() const {
    double speed = 0;
    for (const Disc& disc : discs) {
      speed = std::max(speed, std::hypot(disc.velocity(1), disc.velocity(2)));
    }
    return speed;
  }
  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return problem_; }

 private:
  /// A contact with floor or wall, and how its impulses point upwards.
  struct Support {
    Index contact;
    double up_tangent, up_normal;
  };

  /// Rows (t₁, t₂, n) of a point of a disc for the normal (n_x, n_z), `arm` from the centre
  /// along it; t₁ = (n_z, −n_x) lies in the plane, t₂ across it, where nothing moves.
  [[nodiscard]] static SquareMatrix<double, 3> rows(double arm, double normal_x, double normal_z) {
    SquareMatrix<double, 3> rows;
    rows << arm, normal_z, -normal_x, 0, 0, 0, 0, normal_x, normal_z;
    return rows;
  }

  void add_contacts(double dt) {
    supports_.clear();
    for (std::size_t i = 0; i < discs.size(); ++i) {
      const Disc& disc = discs[i];
      const double reach = dt * disc.velocity.tail<2>().norm() + 0.1 * disc.radius;
      support(i, disc.z - disc.radius, reach, 0, 1);
      support(i, half_width + disc.x - disc.radius, reach, 1, 0);
      support(i, half_width - disc.x - disc.radius, reach, -1, 0);
      for (std::size_t j = 0; j < i; ++j) touch(i, j, dt);
    }
  }
  void support(std::size_t i, double gap, double reach, double normal_x, double normal_z) {
    if (gap > reach) return;
    const Index contact = problem_.block_count();
    problem_.add_contact(Index(i), rows(-discs[i].radius, normal_x, normal_z), ground.contact(gap));
    supports_.push_back({contact, -normal_x, normal_z});
  }
  void touch(std::size_t i, std::size_t j, double dt) {
    const Disc &a = discs[i], &b = discs[j];
    const double x = a.x - b.x, z = a.z - b.z, sum = a.radius + b.radius;
    const double reach = 0.1 * sum + dt * (a.velocity - b.velocity).tail<2>().norm();
    const double distance = std::hypot(x, z);
    if (distance - sum > reach) return;
    const double normal_x = x / distance, normal_z = z / distance;
    problem_.add_contact(Index(i), rows(-a.radius, normal_x, normal_z), Index(j),
                         -rows(b.radius, normal_x, normal_z), ground.contact(distance - sum));
  }

  ContactProblem<double> problem_;
  SapSolver<double> solver_;
  VectorX<double> guess_;
  std::vector<Support> supports_;
};

/// A column of discs of four sizes beside the left one of two walls, about to fall over.
/// @param rows        of seven and six discs in turn, > 0.
/// @param half_width  between the walls [m]; the column takes 0.6 m of it.
[[nodiscard]] inline DiscHeap make_disc_column(int rows, double half_width = 0.66) {
  constexpr double density = 400;                          // [kg/m²]
  constexpr double beside = 0.084, above = 0.08;           // distances [m]
  constexpr double radii[] = {0.04, 0.028, 0.034, 0.022};  // [m]
  Ground ground;
  ground.friction = 0.4;
  ground.relative_slip = 1e-4;
  DiscHeap heap({}, ground, 0.005);
  heap.half_width = half_width;
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < 7 - row % 2; ++k) {
      const double radius = radii[(7 * row + 3 * k + row * k) % 4];
      const double mass = density * std::numbers::pi * radius * radius;
      const double x = 0.045 - heap.half_width + beside * (k + 0.5 * (row % 2));
      heap.discs.push_back({radius, mass, x, 0.05 + above * row});
    }
  }
  return heap;
}

/// Two equal discs side by side and a third on top. They stand if and only if friction is at least
/// 2 − √3: then F = N tan 15° holds each of the lower ones, by moments about its centre.
[[nodiscard]] inline DiscHeap make_three_discs(double friction) {
  constexpr double radius = 0.05;
  Ground ground;
  ground.friction = friction;
  ground.stiffness = 1e7;
  ground.relative_slip = 1e-6;
  const std::vector<Disc> discs{{radius, 1, -radius, radius},
                                {radius, 1, radius, radius},
                                {radius, 1, 0, radius * (1 + std::sqrt(3.0))}};
  return {discs, ground, 0.002};
}

}  // namespace carom::examples
