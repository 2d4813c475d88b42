// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>
#include <vector>

#include "carom/variational/spatial_body.hpp"

/// @file
/// Trees of rigid bodies of all kinds.
namespace carom::testing {

/// A rotation by random angles about all three axes.
[[nodiscard]] inline SquareMatrix<double, 3> random_turn(std::mt19937& generator) {
  std::uniform_real_distribution<double> uniform(-3, 3);
  SquareMatrix<double, 3> turn = SquareMatrix<double, 3>::Identity();
  for (Index axis = 0; axis < 3; ++axis) {
    const double angle = uniform(generator), c = std::cos(angle), s = std::sin(angle);
    SquareMatrix<double, 3> one = SquareMatrix<double, 3>::Identity();
    const Index a = (axis + 1) % 3, b = (axis + 2) % 3;
    one(a, a) = one(b, b) = c;
    one(b, a) = s;
    one(a, b) = -s;
    turn = SquareMatrix<double, 3>(turn * one);
  }
  return turn;
}

/// A body whose inertia is that of three masses on each of its turned axes; parent −1.
[[nodiscard]] inline SpatialBody<double> random_body(std::mt19937& generator) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  SpatialBody<double> body;
  body.joint = uniform(generator) < 0.3 ? JointKind::prismatic : JointKind::revolute;
  for (auto* vector : {&body.axis, &body.place, &body.centre}) {
    for (Index i = 0; i < 3; ++i) (*vector)(i) = uniform(generator);
  }
  body.axis.normalize();
  body.turn = random_turn(generator);
  body.mass = 1 + 0.9 * uniform(generator);
  const Vector3<double> moments = Vector3<double>::NullaryExpr([&](Index) {
    const double x = uniform(generator);
    return 0.3 * x * x;
  });
  const SquareMatrix<double, 3> principal = random_turn(generator);
  const SquareMatrix<double, 3> second = principal * moments.asDiagonal() * principal.transpose();
  body.inertia = second.trace() * SquareMatrix<double, 3>::Identity() - second;
  return body;
}

/// Each body hangs from a random earlier one or the world; about one in five is without mass.
[[nodiscard]] inline std::vector<SpatialBody<double>> random_tree(std::mt19937& generator,
                                                                  Index count) {
  std::vector<SpatialBody<double>> bodies;
  for (Index i = 0; i < count; ++i) {
    SpatialBody<double> body = random_body(generator);
    std::uniform_int_distribution<Index> earlier(std::max<Index>(i - 3, -1), i - 1);
    body.parent = earlier(generator);
    if (std::uniform_real_distribution<double>(0, 1)(generator) < 0.2) {
      body.mass = 0;
      body.inertia.setZero();
    }
    bodies.push_back(body);
  }
  return bodies;
}

template <RealScalar Scalar>
[[nodiscard]] std::vector<SpatialBody<Scalar>> cast_bodies(
    const std::vector<SpatialBody<double>>& bodies) {
  std::vector<SpatialBody<Scalar>> out;
  for (const SpatialBody<double>& body : bodies) {
    SpatialBody<Scalar> to;
    to.parent = body.parent;
    to.joint = body.joint;
    to.axis = body.axis.template cast<Scalar>();
    to.place = body.place.template cast<Scalar>();
    to.turn = body.turn.template cast<Scalar>();
    to.centre = body.centre.template cast<Scalar>();
    to.mass = Scalar(body.mass);
    to.inertia = body.inertia.template cast<Scalar>();
    out.push_back(to);
  }
  return out;
}

}  // namespace carom::testing
