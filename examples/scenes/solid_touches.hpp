// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "scenes/rigid_world.hpp"

namespace carom::examples {

/// A ball or a box that moves freely.
struct Solid {
  RigidBlock body;
  double radius = 0;              ///< of a ball [m]; 0: a box
  Vector3<double> half{0, 0, 0};  ///< half sizes of a box [m]

  [[nodiscard]] bool is_ball() const { return radius > 0; }
  /// Of the ball around it [m].
  [[nodiscard]] double extent() const { return is_ball() ? radius : half.norm(); }
  [[nodiscard]] SquareMatrix<double, 3> axes() const { return body.orientation.toRotationMatrix(); }
};

[[nodiscard]] inline Solid make_ball(double radius, double density) {
  Solid ball;
  ball.radius = radius;
  ball.body.mass = density * 4.18879020478639 * radius * radius * radius;
  ball.body.inertia.setConstant(0.4 * ball.body.mass * radius * radius);
  return ball;
}
[[nodiscard]] inline Solid make_box_solid(const Vector3<double>& half, double density) {
  Solid box;
  box.half = half;
  box.body = make_block(density * 8 * half.prod(), half);
  return box;
}

/// Finds where balls and boxes touch each other and a bin: a floor z = 0 and four walls.
class SolidTouches {
 public:
  double half_width = 1e30;  ///< of the bin, |x| and |y| [m]
  double reach = 0;          ///< gaps up to this are reported [m]

  /// Pairs in the order of their first body's place along x, the bin after them.
  [[nodiscard]] std::vector<Touch> find(const std::vector<Solid>& solids) {
    touches_.clear();
    order_.resize(solids.size());
    std::iota(order_.begin(), order_.end(), std::size_t(0));
    const auto low = [&](std::size_t i) {
      return solids[i].body.position.x() - solids[i].extent();
    };
    std::sort(order_.begin(), order_.end(), [&](std::size_t i, std::size_t j) {
      return low(i) != low(j) ? low(i) < low(j) : i < j;
    });
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const Solid& one = solids[order_[k]];
      const double end = one.body.position.x() + one.extent() + reach;
      for (std::size_t l = k + 1; l < order_.size() && low(order_[l]) <= end; ++l) {
        const Solid& other = solids[order_[l]];
        const double most = one.extent() + other.extent() + reach;
        if ((one.body.position - other.body.position).squaredNorm() > most * most) continue;
        const std::size_t i = std::min(order_[k], order_[l]), j = std::max(order_[k], order_[l]);
        touch(solids, i, j);
      }
    }
    for (std::size_t i = 0; i < solids.size(); ++i) touch_bin(solids[i], Index(i));
    return touches_;
  }

 private:
  using Axes = SquareMatrix<double, 3>;

  void add(Index first, Index second, const Vector3<double>& point, const Vector3<double>& normal,
           double gap) {
    if (gap > reach) return;
    Touch touch;
    touch.first = first;
    touch.second = second;
    touch.point = point;
    touch.normal = normal;
    touch.gap = gap;
    touches_.push_back(touch);
  }

  void touch(const std::vector<Solid>& solids, std::size_t i, std::size_t j) {
    const Solid &one = solids[i], &other = solids[j];
    if (one.is_ball() && other.is_ball()) return touch_balls(one, Index(i), other, Index(j));
    if (one.is_ball()) return touch_ball_box(one, Index(i), other, Index(j));
    if (other.is_ball()) return touch_ball_box(other, Index(j), one, Index(i));
    touch_boxes(one, Index(i), other, Index(j));
  }

  void touch_balls(const Solid& one, Index i, const Solid& other, Index j) {
    const Vector3<double> apart = one.body.position - other.body.position;
    const double distance = apart.norm();
    if (!(distance > 0)) return;
    const Vector3<double> normal = apart / distance;
    const double gap = distance - one.radius - other.radius;
    add(i, j, other.body.position + (other.radius + gap / 2) * normal, normal, gap);
  }

  /// The nearest point of the box; from within, of its nearest face.
  void touch_ball_box(const Solid& ball, Index i, const Solid& box, Index j) {
    const Axes axes = box.axes();
    const Vector3<double> centre = axes.transpose() * (ball.body.position - box.body.position);
    Vector3<double> nearest = centre.cwiseMax(-box.half).cwiseMin(box.half);
    Vector3<double> normal = centre - nearest;
    double distance = normal.norm();
    if (distance > 0) {
      normal /= distance;
    } else {
      int face = 0;
      (box.half - centre.cwiseAbs()).minCoeff(&face);
      const double side = centre(face) < 0 ? -1 : 1;
      distance = std::abs(centre(face)) - box.half(face);
      normal = side * Vector3<double>::Unit(face);
      nearest(face) = side * box.half(face);
    }
    const double gap = distance - ball.radius;
    add(i, j, box.body.position + axes * (nearest + gap / 2 * normal), axes * normal, gap);
  }

  /// A direction along which two boxes are apart, from the first to the second.
  struct Separation {
    double gap = -1e30;
    Vector3<double> normal{0, 0, 1};
    int one = -1, other = -1;  ///< axis of the first, of the second; both: edge against edge
  };
  void touch_boxes(const Solid& one, Index i, const Solid& other, Index j) {
    const Axes a = one.axes(), b = other.axes();
    const Vector3<double> between = other.body.position - one.body.position;
    Separation best;
    const auto consider = [&](Vector3<double> axis, int k, int l, double handicap) {
      if (axis.dot(between) < 0) axis = -axis;
      const double sizes = (a.transpose() * axis).cwiseAbs().dot(one.half) +
                           (b.transpose() * axis).cwiseAbs().dot(other.half);
      const double gap = axis.dot(between) - sizes;
      if (gap - handicap > best.gap) best = {gap, axis, k, l};
    };
    for (int k = 0; k < 3; ++k) consider(a.col(k), k, -1, 0);
    for (int k = 0; k < 3; ++k) consider(b.col(k), -1, k, 1e-6);
    // Edges count where they are clearly the better answer: faces touch in more points.
    const double handicap = 0.02 * std::min(one.half.minCoeff(), other.half.minCoeff());
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) {
        const Vector3<double> axis = Vector3<double>(a.col(k)).cross(Vector3<double>(b.col(l)));
        const double length = axis.norm();
        if (length > 1e-2) consider(axis / length, k, l, handicap);
      }
    }
    if (best.gap > reach) return;
    if (best.other < 0) return touch_face(one, a, other, b, best.one, best.normal, {i, j, -1});
    if (best.one < 0) return touch_face(other, b, one, a, best.other, -best.normal, {i, j, 1});
    touch_edges(one, a, i, other, b, j, best);
  }

  /// Who touches, and which way the normal is to be read.
  struct Who {
    Index first, second;
    double sign;
  };
  /// Corners of the other box's face that looks at a face of this one, cut off at its rim.
  void touch_face(const Solid& box, const Axes& axes, const Solid& other, const Axes& other_axes,
                  int face, const Vector3<double>& normal, const Who& who) {
    int looking = 0;
    const Vector3<double> along = other_axes.transpose() * normal;
    along.cwiseAbs().maxCoeff(&looking);
    const double side = along(looking) > 0 ? -1 : 1;
    polygon_.clear();
    for (const auto& [s, t] : {std::array{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
      Vector3<double> corner;
      corner(looking) = side * other.half(looking);
      corner((looking + 1) % 3) = s * other.half((looking + 1) % 3);
      corner((looking + 2) % 3) = t * other.half((looking + 2) % 3);
      polygon_.push_back(axes.transpose() *
                         (other.body.position + other_axes * corner - box.body.position));
    }
    for (const int k : {(face + 1) % 3, (face + 2) % 3}) {
      for (const double sign : {-1.0, 1.0}) cut(k, sign, box.half(k));
    }
    const double up = normal.dot(axes.col(face)) < 0 ? -1 : 1;
    for (const Vector3<double>& corner : polygon_) {
      const double gap = up * corner(face) - box.half(face);
      Vector3<double> middle = corner;
      middle(face) -= up * gap / 2;
      add(who.first, who.second, box.body.position + axes * middle, who.sign * normal, gap);
    }
  }
  /// Keeps what has sign · x_k ≤ limit.
  void cut(int k, double sign, double limit) {
    cut_.clear();
    for (std::size_t p = 0; p < polygon_.size(); ++p) {
      const Vector3<double>&from = polygon_[p], &to = polygon_[(p + 1) % polygon_.size()];
      const double x = sign * from(k) - limit, y = sign * to(k) - limit;
      if (x <= 0) cut_.push_back(from);
      if ((x < 0 && y > 0) || (x > 0 && y < 0)) cut_.push_back(from + x / (x - y) * (to - from));
    }
    polygon_.swap(cut_);
  }

  /// The middle of the shortest line between two edges.
  void touch_edges(const Solid& one, const Axes& a, Index i, const Solid& other, const Axes& b,
                   Index j, const Separation& found) {
    const auto edge = [](const Solid& box, const Axes& axes, int k, const Vector3<double>& way) {
      Vector3<double> corner = axes.transpose() * way;
      for (int c = 0; c < 3; ++c) corner(c) = (corner(c) < 0 ? -1 : 1) * box.half(c);
      corner(k) = 0;
      return Vector3<double>(box.body.position + axes * corner);
    };
    const Vector3<double> p = edge(one, a, found.one, found.normal);
    const Vector3<double> q = edge(other, b, found.other, -found.normal);
    const Vector3<double> u = a.col(found.one), v = b.col(found.other), d = q - p;
    const double c = u.dot(v), sine = 1 - c * c;
    const double s = (u.dot(d) - c * v.dot(d)) / sine, t = (c * u.dot(d) - v.dot(d)) / sine;
    add(i, j, (p + s * u + q + t * v) / 2, -found.normal, found.gap);
  }

  void touch_bin(const Solid& solid, Index i) {
    touch_plane(solid, i, Vector3<double>::UnitZ(), 0);
    if (half_width > 1e29) return;
    for (const int k : {0, 1}) {
      for (const double sign : {1.0, -1.0}) {
        touch_plane(solid, i, sign * Vector3<double>::Unit(k), -half_width);
      }
    }
  }
  /// Against normal · x ≥ offset.
  void touch_plane(const Solid& solid, Index i, const Vector3<double>& normal, double offset) {
    const Vector3<double>& centre = solid.body.position;
    const double height = normal.dot(centre) - offset;
    if (height > solid.extent() + reach) return;
    if (solid.is_ball()) {
      const double gap = height - solid.radius;
      return add(i, -1, centre - (solid.radius + gap / 2) * normal, normal, gap);
    }
    const Axes axes = solid.axes();
    for (int c = 0; c < 8; ++c) {
      const Vector3<double> signs((c & 1) != 0 ? 1 : -1, (c & 2) != 0 ? 1 : -1,
                                  (c & 4) != 0 ? 1 : -1);
      const Vector3<double> corner = centre + axes * signs.cwiseProduct(solid.half);
      const double gap = normal.dot(corner) - offset;
      add(i, -1, corner - gap / 2 * normal, normal, gap);
    }
  }

  std::vector<Touch> touches_;
  std::vector<std::size_t> order_;
  std::vector<Vector3<double>> polygon_, cut_;
};

}  // namespace carom::examples
