// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Geometry>

#include "carom/batch/batch_storage.hpp"
#include "carom/batch/solve_batch.hpp"

#include "ensemble/philox.hpp"

namespace carom::benchmarks {

/// Boxes that fall on the ground, tumble and come to rest, each in a world of its own. Corners
/// within a distance of the ground are contacts, so that a box has from none to eight.
class TumblingBoxes {
 public:
  static constexpr double time_step = 0.01;  // [s]

  /// Boxes of 1 kg in all positions, thrown; a box's numbers depend on its own number alone.
  explicit TumblingBoxes(Index count) {
    for (Index i = 0; i < count; ++i) {
      ensemble::RandomStream random(0, std::uint64_t(i));
      const auto between = [&](double low, double high) { return random.between(low, high); };
      Box box;
      box.half << between(0.03, 0.1), between(0.03, 0.1), between(0.004, 0.04);
      box.position << 0, 0, between(0.1, 1.2);
      for (double& x : box.rotation.coeffs()) x = between(-1, 1);
      box.rotation.normalize();
      for (int j = 0; j < 3; ++j) box.velocity(j) = between(-8, 8);
      for (int j = 3; j < 6; ++j) box.velocity(j) = between(-1, 1);
      boxes_.push_back(box);
    }
  }

  [[nodiscard]] Index count() const noexcept { return Index(boxes_.size()); }
  /// (ω, v) before the step [rad/s, m/s].
  [[nodiscard]] const Eigen::Matrix<double, 6, 1>& velocity(Index i) const noexcept {
    return boxes_[std::size_t(i)].velocity;
  }
  /// The next step of a box.
  template <typename Scalar>
  [[nodiscard]] ContactProblem<Scalar> problem(Index i) const {
    constexpr double margin = 0.02, gravity = 9.81;  // [m, m/s²]
    const Box& box = boxes_[std::size_t(i)];
    const Eigen::Matrix3d turn = box.rotation.toRotationMatrix();
    const Eigen::Vector3d squares = box.half.cwiseAbs2();
    const Eigen::Vector3d moments = (squares.sum() - squares.array()) / 3;
    const Eigen::Matrix3d inertia = turn * moments.asDiagonal() * turn.transpose();
    const Eigen::Vector3d spin = box.velocity.head<3>(), torque = -spin.cross(inertia * spin);
    Eigen::Matrix<double, 6, 6> mass = Eigen::Matrix<double, 6, 6>::Identity();
    mass.topLeftCorner<3, 3>() = (inertia + inertia.transpose()) / 2;
    VectorX<double> free_velocity = box.velocity;
    free_velocity.head<3>() +=
        time_step * (turn * (turn.transpose() * torque).cwiseQuotient(moments));
    free_velocity(5) -= time_step * gravity;
    ContactProblem<Scalar> problem{Scalar(time_step)};
    problem.add_body(MatrixX<Scalar>(mass.cast<Scalar>()), free_velocity.cast<Scalar>().eval());
    for (int corner = 0; corner < 8; ++corner) {
      const Eigen::Vector3d signs(corner & 1 ? 1 : -1, corner & 2 ? 1 : -1, corner & 4 ? 1 : -1);
      const Eigen::Vector3d arm = turn * box.half.cwiseProduct(signs);
      const double gap = box.position.z() + arm.z();
      if (gap > margin) continue;
      Eigen::Matrix<double, 3, 6> jacobian;  // of a point: ω × r + v
      for (int axis = 0; axis < 3; ++axis) {
        const Eigen::Vector3d along = Eigen::Vector3d::Unit(axis);
        jacobian.row(axis) << arm.cross(along).transpose(), along.transpose();
      }
      problem.add_contact(0, jacobian.cast<Scalar>().eval(),
                          CompliantContact<Scalar>{.gap = Scalar(gap),
                                                   .stiffness = Scalar(1e4),
                                                   .dissipation_time = Scalar(0.02),
                                                   .friction = Scalar(0.5)});
    }
    return problem;
  }
  /// Moves a box by a step with this velocity after it.
  void advance(Index i, const Eigen::Matrix<double, 6, 1>& velocity) {
    Box& box = boxes_[std::size_t(i)];
    box.velocity = velocity;
    box.position += time_step * velocity.tail<3>();
    const Eigen::Vector3d turn = time_step * velocity.head<3>();
    const double angle = turn.norm();
    if (angle > 0) {
      box.rotation = Eigen::AngleAxisd(angle, Eigen::Vector3d(turn / angle)) * box.rotation;
    }
    box.rotation.normalize();
  }

 private:
  struct Box {
    Eigen::Vector3d half, position;        // [m]
    Eigen::Quaterniond rotation;           // from the box to the world
    Eigen::Matrix<double, 6, 1> velocity;  // in the world's axes
  };
  std::vector<Box> boxes_;
};

/// 4096 boxes half a second after they were thrown, solved in batches to 1e-8. Most tumble on the
/// ground then, and have 3.9 contacts on average.
[[nodiscard]] inline TumblingBoxes make_tumbling_boxes() {
  constexpr Index count = 4096;
  constexpr int steps = 50;
  TumblingBoxes boxes(count);
  BatchWorkspace<double> workspace;
  for (int step = 0; step < steps; ++step) {
    BatchStorage<double> batch;
    for (Index i = 0; i < count; ++i) batch.add(boxes.problem<double>(i), boxes.velocity(i));
    workspace.prepare(batch.view(), 1);
    solve_batch(batch.view(), batch.answers(), {.tolerance = 1e-8}, workspace);
    for (Index i = 0; i < count; ++i) boxes.advance(i, batch.velocity(i));
  }
  return boxes;
}

}  // namespace carom::benchmarks
