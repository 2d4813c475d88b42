// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/viscoelastic/contact_step.hpp"

#include "scenes/sliding_mass.hpp"

namespace carom::examples {

/// A SlidingMass as a point in space whose anchor goes wherever the slip law sends it, along the
/// normal too, p₀ ← p₀ + t w: under laws that let anchors rise, a pulled point climbs.
class ClimbingPoint {
 public:
  ClimbingPoint(const SlidingMass& mass, SlipLaw law, double time_step)
      : weight_(mass.mass * mass.gravity), law_(law) {
    data_.time_step = time_step;
    data_.mass_matrix = mass.mass * MatrixX<double>::Identity(3, 3);
    data_.jacobian = MatrixX<double>::Identity(3, 3);
    data_.velocity = data_.drift = data_.anchors = VectorX<double>::Zero(3);
    data_.free_acceleration = Vector3<double>(mass.pull / mass.mass, 0, -mass.gravity);
    data_.stiffness = VectorX<double>::Constant(3, mass.stiffness);
    data_.damping = VectorX<double>::Constant(3, mass.damping);
    data_.friction = VectorX<double>::Constant(1, mass.friction);
    data_.points = Vector3<double>(0, 0, -weight_ / mass.stiffness);
    step_.prepare(1, 3);
  }

  /// @return  whether the law was solved.
  bool step() {
    const bool solved = step_.solve(data_, law_).converged();
    data_.points += step_.displacement();
    data_.velocity = step_.velocity();
    data_.anchors += data_.time_step * step_.cone().velocity();
    return solved;
  }

  [[nodiscard]] Vector3<double> place() const { return data_.points; }       ///< [m]
  [[nodiscard]] Vector3<double> velocity() const { return data_.velocity; }  ///< [m/s]
  /// Of the last step [N].
  [[nodiscard]] Vector3<double> force() const { return step_.cone().force(); }

 private:
  double weight_;
  SlipLaw law_;
  ContactStepData<double> data_;
  ContactStep<double> step_;
};

/// How fast a pulled point climbs where anchors slide along the normals of a cone of slope μ
/// instead of along the plane, springs stiff: it moves along the cone's polar, ż = μ ẋ, so that
/// z̈ = μ (F/m − μ g)/(1 + μ²) [m/s²].
[[nodiscard]] inline double climb_acceleration(const SlidingMass& mass, double slope) {
  return slope * (mass.pull / mass.mass - slope * mass.gravity) / (1 + slope * slope);
}

}  // namespace carom::examples
