// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "carom/contact/contact_problem.hpp"

namespace carom::examples {

/// One step of a heap of spheres and boxes, and the velocity before the step.
struct Pile {
  ContactProblem<double> problem;
  VectorX<double> guess;  ///< [rad/s, m/s], six per body: angular, then linear.
};

/// What a heap is made of.
struct PileShape {
  Index body_count = 1000;  ///< > 0.
  Index layers = 10;        ///< Of the heap, > 0; fewer where the bodies do not suffice.
  double time_step = 0.01;  ///< δt [s], > 0.
  double friction = 0.5;    ///< μ [-], ≥ 0.
  double stiffness = 1e5;   ///< k [N/m], > 0.
  double agitation = 0.05;  ///< Speed of the bodies before the step [m/s], ≥ 0.
};

namespace detail {

/// The same numbers in [−1, 1) on every machine.
class SteadyNoise {
 public:
  explicit SteadyNoise(std::uint64_t seed) : state_(seed) {}
  double next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return double((z ^ (z >> 31U)) >> 11U) * 0x1p-52 - 1;
  }
  Vector3<double> vector() { return {next(), next(), next()}; }

 private:
  std::uint64_t state_;
};

/// Places bodies layer by layer: each rests in the hollow between four of the layer below, every
/// fourth is a box. Contacts are where the spheres, or the boxes' faces, would meet.
class PileBuilder {
 public:
  explicit PileBuilder(const PileShape& shape)
      : shape_(shape), pile_{ContactProblem<double>(shape.time_step), {}} {}

  Pile build(Index heaps) {
    Index side = 1;
    while (capacity(side) < shape_.body_count) ++side;
    guess_.reserve(std::size_t(6 * shape_.body_count * heaps));
    for (Index heap = 0; heap < heaps; ++heap) {
      limit_ = count() + shape_.body_count;
      std::vector<Index> below;
      for (Index layer = 0; count() < limit_; ++layer) {
        below = add_layer(side - layer, layer, below);
      }
    }
    pile_.guess = Eigen::Map<const VectorX<double>>(guess_.data(), Index(guess_.size()));
    return std::move(pile_);
  }

 private:
  static constexpr double radius = 0.05;  // [m]

  [[nodiscard]] Index count() const { return pile_.problem.body_count(); }
  [[nodiscard]] Index capacity(Index side) const {
    Index sum = 0;
    for (Index k = 0; k < shape_.layers && k < side; ++k) sum += (side - k) * (side - k);
    return sum;
  }
  [[nodiscard]] static bool is_box(Index body) { return body % 4 == 3; }

  /// Bodies of a layer, row by row; those above the count are missing.
  std::vector<Index> add_layer(Index side, Index layer, const std::vector<Index>& below) {
    std::vector<Index> bodies;
    for (Index row = 0; row < side; ++row) {
      for (Index column = 0; column < side && count() < limit_; ++column) {
        const Index body = add_body();
        bodies.push_back(body);
        if (layer == 0) {
          touch_ground(body);
        } else {
          for (const Index dr : {0, 1}) {
            for (const Index dc : {0, 1}) {
              const Index other = below[std::size_t((row + dr) * (side + 1) + column + dc)];
              touch(body, other,
                    Vector3<double>(1 - 2.0 * double(dc), 1 - 2.0 * double(dr), std::sqrt(2.0)));
            }
          }
        }
        if (column > 0) touch_beside(body, body - 1, {1, 0, 0});
        if (row > 0) touch_beside(body, body - side, {0, 1, 0});
      }
    }
    return bodies;
  }

  Index add_body() {
    const double mass = 0.8 + 0.3 * noise_.next();
    const double inertia = (is_box(count()) ? 2.0 / 3 : 2.0 / 5) * mass * radius * radius;
    Vector<double, 6> diagonal, velocity;
    diagonal << inertia, inertia, inertia, mass, mass, mass;
    velocity << shape_.agitation / radius * noise_.vector(), shape_.agitation * noise_.vector();
    for (const double number : velocity) guess_.push_back(number);
    velocity(5) -= 9.81 * shape_.time_step;
    const SquareMatrix<double, 6> momentum = diagonal.asDiagonal();
    return pile_.problem.add_body(momentum, velocity);
  }

  /// A box stands on four corners, a sphere on one point.
  void touch_ground(Index body) {
    const Vector3<double> normal = Vector3<double>::UnitZ();
    const Vector3<double> none = Vector3<double>::Zero();
    if (!is_box(body)) return add(body, -1, -radius * normal, none, normal);
    for (const double x : {-radius, radius}) {
      for (const double y : {-radius, radius}) add(body, -1, {x, y, -radius}, none, normal);
    }
  }
  /// A body on another: the normal points from the other to it, a little off.
  void touch(Index body, Index other, const Vector3<double>& direction) {
    const Vector3<double> normal = (direction.normalized() + 0.1 * noise_.vector()).normalized();
    const bool flat = is_box(body) || is_box(other);
    const Vector3<double> arm = radius * normal;
    if (!flat) return add(body, other, -arm, arm, normal);
    const Vector3<double> along = normal.unitOrthogonal() * (radius / 3);  // ends of an edge
    add(body, other, along - arm, along + arm, normal);
    add(body, other, -along - arm, arm - along, normal);
  }
  /// Some neighbours of a layer touch.
  void touch_beside(Index body, Index other, const Vector3<double>& direction) {
    if (noise_.next() < 0.4) return;
    const Vector3<double> normal = (direction + 0.1 * noise_.vector()).normalized();
    add(body, other, -radius * normal, radius * normal, normal);
  }

  void add(Index body, Index other, const Vector3<double>& point,
           const Vector3<double>& other_point, const Vector3<double>& normal) {
    const CompliantContact<double> law{.gap = -1e-4 * (1 + noise_.next()),
                                       .stiffness = shape_.stiffness,
                                       .dissipation_time = 0.02,
                                       .friction = shape_.friction};
    const auto first = jacobian(point, normal);
    if (other < 0) {
      pile_.problem.add_contact(body, first, law);
    } else {
      const auto second = jacobian(other_point, normal);
      pile_.problem.add_contact(body, first, other, (-second).eval(), law);
    }
  }
  /// Rows (t₁, t₂, n) of the velocity of a point of a body.
  [[nodiscard]] static Eigen::Matrix<double, 3, 6> jacobian(const Vector3<double>& point,
                                                            const Vector3<double>& normal) {
    SquareMatrix<double, 3> frame;
    frame.row(0) = normal.unitOrthogonal();
    frame.row(1) = normal.cross(Vector3<double>(frame.row(0)));
    frame.row(2) = normal;
    Eigen::Matrix<double, 3, 6> result;
    for (int k = 0; k < 3; ++k) {
      const Vector3<double> axis = frame.row(k);
      result.row(k) << point.cross(axis).transpose(), axis.transpose();
    }
    return result;
  }

  PileShape shape_;
  Pile pile_;
  std::vector<double> guess_;
  Index limit_ = 0;  ///< bodies when the heap is complete
  SteadyNoise noise_{20260101};
};

}  // namespace detail

/// Heaps of spheres and boxes that do not touch each other, agitated, one step before they settle.
/// Deterministic: the same numbers on every machine, up to the rounding of square roots.
[[nodiscard]] inline Pile make_piles(Index heaps, const PileShape& shape) {
  return detail::PileBuilder(shape).build(heaps);
}
/// One heap.
[[nodiscard]] inline Pile make_pile(const PileShape& shape) {
  return make_piles(1, shape);
}

}  // namespace carom::examples
