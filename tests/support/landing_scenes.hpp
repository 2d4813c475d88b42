// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include <Eigen/Geometry>

#include "support/impact_scenes.hpp"

namespace carom::testing {

/// A body that lands on points of its underside, as a user writes it: velocities (v, w) at the
/// centre of mass.
struct LandingBody {
  double mass = 1;
  Vector3<double> inertia = Vector3<double>::Constant(1.0 / 6);  ///< about its own axes
  double height = 0.5;                  ///< of the centre of mass above the points
  std::vector<Eigen::Vector2d> points;  ///< seen from the centre of mass
  Eigen::Quaterniond turned = Eigen::Quaterniond::Identity();  ///< of body and floor together

  [[nodiscard]] ImpactScene scene() const {
    const Eigen::Matrix3d axes = turned.toRotationMatrix();
    MatrixX<double> matrix = MatrixX<double>::Zero(6, 6);
    matrix.topLeftCorner(3, 3).diagonal().setConstant(mass);
    const Eigen::Matrix3d about = axes * inertia.asDiagonal() * axes.transpose();
    matrix.bottomRightCorner(3, 3) = (about + about.transpose()) / 2;
    std::vector<VectorX<double>> gradients;
    for (const Eigen::Vector2d& point : points) {
      const Eigen::Vector3d arm = axes * Eigen::Vector3d(point.x(), point.y(), -height);
      const Eigen::Vector3d normal = axes.col(2);
      VectorX<double> gradient(6);
      gradient << normal, arm.cross(normal);
      gradients.push_back(gradient);
    }
    return {MassMatrix<double>::make_dense(matrix), gradients};
  }
  /// Falling at a speed along the floor's normal, without spin.
  [[nodiscard]] VectorX<double> falling(double speed) const {
    VectorX<double> velocity = VectorX<double>::Zero(6);
    velocity.head(3) = -speed * turned.toRotationMatrix().col(2);
    return velocity;
  }
};

/// Corners of a regular polygon.
[[nodiscard]] inline std::vector<Eigen::Vector2d> polygon(int corners, double radius,
                                                          double angle = 0) {
  std::vector<Eigen::Vector2d> points;
  for (int k = 0; k < corners; ++k) {
    const double at = angle + 2 * std::numbers::pi * k / corners;
    points.emplace_back(radius * std::cos(at), radius * std::sin(at));
  }
  return points;
}

/// Corners of a rectangle.
[[nodiscard]] inline std::vector<Eigen::Vector2d> rectangle(double x, double y) {
  return {{-x, -y}, {-x, y}, {x, -y}, {x, y}};
}

}  // namespace carom::testing
