// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/primal.hpp"
#include "carom/contact/rigid_contact.hpp"

#include "ensemble/philox.hpp"

namespace carom::ensemble {

/// The law of the contacts of a step.
enum class StepLaw {
  rigid,      ///< Rigid contact, Coulomb's law.
  compliant,  ///< Compliant contact, Coulomb's law.
  convex,     ///< Compliant contact, the convex law.
};

/// One step of some bodies in contact with the ground and each other, before its solution.
struct RandomStep {
  StepLaw law = StepLaw::rigid;
  ContactProblem<double> problem{0.01};
  VectorX<double> guess;  ///< the velocity before the step [rad/s, m/s]

  /// Makes problem `index` of a seed, in the memory of the problem before.
  void make(std::uint64_t seed, std::uint64_t index);
};

namespace detail {

/// Draws a step: one to six boxes with masses up to four decades apart, rotated at random. Each is
/// on the ground or on an earlier box with a patch of one to four points.
class StepMaker {
 public:
  StepMaker(std::uint64_t seed, std::uint64_t index, RandomStep& step)
      : random_(seed, index), step_(step) {}

  void make() {
    constexpr StepLaw laws[] = {StepLaw::rigid, StepLaw::rigid, StepLaw::compliant,
                                StepLaw::convex};
    step_.law = laws[random_.below(4)];
    time_step_ = random_.across_decades(1e-3, 2e-2);
    speed_ = random_.across_decades(1e-2, 3);
    mass_ = random_.across_decades(0.1, 10);
    spread_ = random_.across_decades(1, 100);
    step_.problem.reset(time_step_);
    const int bodies = 1 + random_.below(max_bodies);
    step_.guess.resize(Index(6) * bodies);
    for (int b = 0; b < bodies; ++b) add_body(b);
    for (int b = 0; b < bodies; ++b) {
      const bool grounded = b == 0 || random_.chance(0.3);
      add_patch(b, grounded ? -1 : random_.below(b));
      if (!grounded && random_.chance(0.3)) add_patch(b, -1);
    }
  }

 private:
  static constexpr int max_bodies = 6;
  using Jacobian = Eigen::Matrix<double, 3, 6>;

  /// In [−1, 1)³.
  Vector3<double> cube() {
    const double x = random_.between(-1, 1), y = random_.between(-1, 1);
    return {x, y, random_.between(-1, 1)};
  }
  /// On the unit sphere, uniform.
  Vector3<double> direction() {
    for (;;) {
      const Vector3<double> point = cube();
      const double squared = point.squaredNorm();
      if (squared <= 1 && squared > 1e-4) return point / std::sqrt(squared);
    }
  }
  /// A rotation, uniform among all: a point of the unit ball in four dimensions, normalised.
  SquareMatrix<double, 3> rotation() {
    for (;;) {
      const Vector3<double> vector = cube();
      const Eigen::Quaterniond q(random_.between(-1, 1), vector.x(), vector.y(), vector.z());
      const double squared = q.squaredNorm();
      if (squared <= 1 && squared > 1e-4) return q.normalized().toRotationMatrix();
    }
  }

  void add_body(int body) {
    const double mass = mass_ * random_.across_decades(1 / spread_, spread_);
    half_[body] = random_.across_decades(0.02, 0.5);
    const Vector3<double> squared = (half_[body] * (cube() / 4 + Vector3<double>::Constant(0.75)))
                                        .cwiseAbs2();  // of the half edges
    const Vector3<double> inertia = mass / 3 * (Vector3<double>::Constant(squared.sum()) - squared);
    const SquareMatrix<double, 3> turn = rotation();
    SquareMatrix<double, 6> momentum = SquareMatrix<double, 6>::Zero();
    momentum.topLeftCorner<3, 3>() = turn * inertia.asDiagonal() * turn.transpose();
    momentum.bottomRightCorner<3, 3>() = mass * SquareMatrix<double, 3>::Identity();
    Vector<double, 6> velocity;
    velocity.head<3>() = speed_ / half_[body] * cube();
    velocity.tail<3>() = speed_ * cube();
    step_.guess.segment<6>(Index(6) * body) = velocity;
    velocity(5) -= 9.81 * time_step_;
    step_.problem.add_body(momentum, velocity);
  }

  /// One to four points between a body and the body below it, −1 for the ground. The normals are
  /// parallel, as for a face, or slightly different.
  void add_patch(int body, int other) {
    const int points = 1 + random_.below(4);
    const double tilt = random_.chance(0.5) ? 0.0 : 0.3;
    Vector3<double> up = Vector3<double>::UnitZ() + (other < 0 ? 0.1 : 0.8) * cube();
    up.normalize();
    friction_ = random_.chance(0.15) ? 0.0 : random_.between(0.05, 1.2);
    for (int k = 0; k < points; ++k) {
      const Vector3<double> normal = (up + tilt * cube()).normalized();
      const Vector3<double> aside = up.cross(direction()) * half_[body];
      const Jacobian own = jacobian(aside - half_[body] * up, normal);
      if (other < 0) {
        add_contact(body, own, -1, own);
      } else {
        add_contact(body, own, other, -jacobian(aside + half_[other] * up, normal));
      }
    }
  }

  void add_contact(int body, const Jacobian& own, int other, const Jacobian& others) {
    double rate = own.row(2).dot(step_.guess.segment<6>(Index(6) * body));
    if (other >= 0) rate += others.row(2).dot(step_.guess.segment<6>(Index(6) * other));
    const int place = random_.below(10);  // closed, about to close, in penetration
    const double reach = 1e-3 * random_.unit();
    const double gap = place < 6 ? 0.0 : place < 9 ? reach : -reach / 10;
    if (step_.law == StepLaw::rigid) {
      RigidContact<double> law;
      law.gap = gap;
      law.friction = friction_;
      law.restitution = random_.chance(0.2) ? random_.between(0, 0.8) : 0.0;
      law.approach = std::max(-rate, 0.0);
      law.correction = 0.2;
      return add(body, own, other, others, law);
    }
    add(body, own, other, others,
        CompliantContact<double>{.gap = gap,
                                 .stiffness = random_.across_decades(1e3, 1e8),
                                 .dissipation_time = random_.between(0, 0.05),
                                 .friction = friction_});
  }
  template <typename Law>
  void add(int body, const Jacobian& own, int other, const Jacobian& others, const Law& law) {
    if (other < 0) {
      step_.problem.add_contact(body, own, law);
    } else {
      step_.problem.add_contact(body, own, other, others, law);
    }
  }
  /// Rows (t₁, t₂, n) of the velocity of a point of a body.
  [[nodiscard]] static Jacobian jacobian(const Vector3<double>& point,
                                         const Vector3<double>& normal) {
    SquareMatrix<double, 3> frame;
    frame.row(0) = normal.unitOrthogonal();
    frame.row(1) = normal.cross(Vector3<double>(frame.row(0)));
    frame.row(2) = normal;
    Jacobian result;
    for (int k = 0; k < 3; ++k) {
      const Vector3<double> axis = frame.row(k);
      result.row(k) << point.cross(axis).transpose(), axis.transpose();
    }
    return result;
  }

  RandomStream random_;
  RandomStep& step_;
  double time_step_ = 0, speed_ = 0, mass_ = 0, spread_ = 0, friction_ = 0;
  double half_[max_bodies] = {};  ///< size of the bodies [m]
};

}  // namespace detail

inline void RandomStep::make(std::uint64_t seed, std::uint64_t index) {
  detail::StepMaker(seed, index, *this).make();
}

}  // namespace carom::ensemble
