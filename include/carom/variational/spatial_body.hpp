// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "carom/core/invalid_input.hpp"
#include "carom/linalg/detail/symmetric_eigen.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The motion that a joint permits.
enum class JointKind {
  revolute,   ///< Turns about the axis; its coordinate is an angle [rad].
  prismatic,  ///< Slides along the axis; its coordinate is a distance [m].
};

/// A rigid body of a spatial tree and the joint that connects it to its parent.
///
/// At coordinate zero the body's frame is the joint's frame: origin at `place`, rotated by `turn`.
template <RealScalar Scalar>
struct SpatialBody {
  using Point = Vector3<Scalar>;
  using Matrix = SquareMatrix<Scalar, 3>;

  Index parent = -1;  ///< index of an earlier body; −1: connected to the world.
  JointKind joint = JointKind::revolute;
  Point axis = Point(Scalar(0), Scalar(0), Scalar(1));  ///< unit vector, in the joint's frame [-].
  Point place = Point::Zero();       ///< of the joint, in the parent's frame [m].
  Matrix turn = Matrix::Identity();  ///< rotation: joint's frame to the parent's [-].
  Point centre = Point::Zero();      ///< of mass, in the body's frame [m].
  Scalar mass = 1;                   ///< [kg], ≥ 0.
  /// About the centre of mass, along the body's frame [kg·m²]: symmetric, positive semidefinite,
  /// no principal moment larger than the sum of the other two.
  Matrix inertia = Matrix::Zero();

  /// A body without mass, which only has a joint.
  [[nodiscard]] static SpatialBody link(Index parent, JointKind joint, const Point& axis) {
    SpatialBody body;
    body.parent = parent;
    body.joint = joint;
    body.axis = axis;
    body.mass = 0;
    return body;
  }
};

/// Appends a free-floating body: six joints with massless links in between, along x, y and z, then
/// about z (yaw), y (pitch) and x (roll). Its rotation is R_z(yaw) R_y(pitch) R_x(roll).
///
/// The mass matrix is singular where |pitch| = π/2, and steps near there lose accuracy.
/// @param body  its joint and axis are replaced; parent, place and turn are those of the frame in
///              which it floats.
/// @return      index of the body; its coordinates are the six up to this index.
/// @note  Cold: allocates.
template <RealScalar Scalar>
Index append_floating_body(std::vector<SpatialBody<Scalar>>& bodies, SpatialBody<Scalar> body) {
  using Body = SpatialBody<Scalar>;
  using Point = typename Body::Point;
  const std::pair<JointKind, Index> joints[] = {
      {JointKind::prismatic, 0}, {JointKind::prismatic, 1}, {JointKind::prismatic, 2},
      {JointKind::revolute, 2},  {JointKind::revolute, 1},  {JointKind::revolute, 0}};
  Index parent = body.parent;
  for (const auto& [joint, axis] : joints) {
    bodies.push_back(Body::link(parent, joint, Point::Unit(axis)));
    if (axis == 0 && joint == JointKind::prismatic) {
      bodies.back().place = body.place;
      bodies.back().turn = body.turn;
    }
    parent = Index(bodies.size()) - 1;
  }
  bodies.back().centre = body.centre;
  bodies.back().mass = body.mass;
  bodies.back().inertia = body.inertia;
  return parent;
}

/// Gravity of a SpatialTree.
template <RealScalar Scalar>
struct SpatialTreeOptions {
  Vector3<Scalar> gravity = Vector3<Scalar>(Scalar(0), Scalar(0), Scalar(-9.81));  ///< [m/s²]
};

namespace detail {

/// a × b. Eigen's own function needs its whole geometry module, which compiles slowly.
template <RealScalar Scalar>
[[nodiscard]] Vector3<Scalar> cross(const Vector3<Scalar>& a, const Vector3<Scalar>& b) noexcept {
  return Vector3<Scalar>(a(1) * b(2) - a(2) * b(1), a(2) * b(0) - a(0) * b(2),
                         a(0) * b(1) - a(1) * b(0));
}

/// Smallest eigenvalue of a symmetric matrix of finite numbers. For numbers with derivatives it is
/// that of their values. Cold.
template <RealScalar Scalar>
[[nodiscard]] auto lowest_eigenvalue(const SquareMatrix<Scalar, 3>& a) {
  if constexpr (std::floating_point<Scalar>) {
    SymmetricEigen<Scalar, 3> eigen;
    eigen.matrix() = a;
    static_cast<void>(eigen.solve());
    return Scalar(eigen.values().minCoeff());
  } else {
    using Number = typename Scalar::scalar_type;
    return lowest_eigenvalue<Number>(a.unaryExpr([](const Scalar& x) { return x.value; }));
  }
}

/// The fault of an inertia; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault inertia_fault(const std::string& item, const SquareMatrix<Scalar, 3>& inertia) {
  using std::abs, std::sqrt;
  if (Fault f = finite_fault(item, inertia); !f.empty()) return f;
  Scalar scale = 0;
  for (Index i = 0; i < 9; ++i) scale = (std::max)(scale, Scalar(abs(inertia(i % 3, i / 3))));
  const Scalar allowance = sqrt(Eigen::NumTraits<Scalar>::epsilon()) * scale;
  for (Index c = 0; c < 3; ++c) {
    for (Index r = c + 1; r < 3; ++r) {
      if (abs(inertia(r, c) - inertia(c, r)) > allowance) {
        return fault(entry(item, r, c), "its mirror image (a symmetric matrix)", inertia(r, c));
      }
    }
  }
  const Scalar lowest = lowest_eigenvalue<Scalar>(inertia);
  if (lowest < -allowance) {
    return fault(item + ": smallest principal moment", "a number >= 0", lowest);
  }
  const SquareMatrix<Scalar, 3> moments =
      SquareMatrix<Scalar, 3>::Identity() * Scalar(inertia.trace() / 2) - inertia;
  const Scalar excess = 2 * lowest_eigenvalue<Scalar>(moments);
  if (excess < -allowance) {
    return fault(item + ": sum of the smaller principal moments less the largest",
                 "a number >= 0 (triangle inequality)", excess);
  }
  return {};
}

}  // namespace detail

/// The fault of the bodies of a tree; empty if there is none. Axes and rotations may have errors up
/// to √ε_m.
template <RealScalar Scalar>
[[nodiscard]] Fault check_bodies(const std::vector<SpatialBody<Scalar>>& bodies) {
  using std::abs, std::sqrt;
  const Scalar allowance = sqrt(Eigen::NumTraits<Scalar>::epsilon());
  if (bodies.empty()) return "bodies: expected at least 1, got 0";
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const SpatialBody<Scalar>& body = bodies[i];
    const std::string item = "body " + std::to_string(i) + ": ";
    if (body.parent < -1 || body.parent >= Index(i)) {
      return detail::fault(item + "parent", "-1 or the index of an earlier body", body.parent);
    }
    for (const auto& [name, vector] :
         {std::pair{"axis", &body.axis}, {"place", &body.place}, {"centre", &body.centre}}) {
      if (Fault f = detail::finite_fault(item + name, *vector); !f.empty()) return f;
    }
    if (Fault f = detail::finite_fault(item + "turn", body.turn); !f.empty()) return f;
    const Scalar length = body.axis.norm();
    if (abs(length - 1) > allowance) return detail::fault(item + "axis", "length 1", length);
    const SquareMatrix<Scalar, 3> square = body.turn.transpose() * body.turn;
    for (Index k = 0; k < 9; ++k) {
      const Scalar off = square(k % 3, k / 3) - Scalar(k % 4 == 0 ? 1 : 0);
      if (abs(off) > allowance) {
        return detail::fault(
            detail::entry(item + "turn's product with its transpose", k % 3, k / 3),
            "that of the identity", square(k % 3, k / 3));
      }
    }
    const Scalar turning =
        detail::cross<Scalar>(body.turn.col(0), body.turn.col(1)).dot(body.turn.col(2));
    if (turning < Scalar(0)) {
      return detail::fault(item + "turn's determinant", "1 (a rotation)", turning);
    }
    if (!detail::is_nonnegative(body.mass)) {
      return detail::fault(item + "mass", "a finite number >= 0", body.mass);
    }
    if (Fault f = detail::inertia_fault<Scalar>(item + "inertia", body.inertia); !f.empty()) {
      return f;
    }
  }
  return {};
}

}  // namespace CAROM_ABI
}  // namespace carom
