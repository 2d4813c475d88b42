// SPDX-License-Identifier: BSD-3-Clause
// Which impulse that friction allows is nearest to the one I want?
//
// The wanted impulse is y; friction allows impulses with |tangential| <= 0.5 normal. Distances are
// those of the metric diag(2, 2, 1), in which a way along the surface counts more than one into it.
// The answer has a closed form. It is compared with a search over the cone's surface, its
// derivative with differences, and a batch of 10 007 impulses with the same ones taken one by one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numbers>

#include "carom/carom.hpp"

namespace {

using Eigen::Vector3d;

const carom::FrictionCone<double> cone{.friction = 0.5};
const carom::ContactWeights<double> metric{.tangent = 2, .normal = 1};

double distance(const Vector3d& a, const Vector3d& b) {
  return std::sqrt(Vector3d(2, 2, 1).dot((a - b).cwiseAbs2()));
}

/// Least distance to a million points of the cone's surface.
double search(const Vector3d& y) {
  double least = distance(y, Vector3d::Zero());
  for (int i = 0; i < 1000; ++i) {
    const double angle = i * 2e-3 * std::numbers::pi;
    const Vector3d edge(0.5 * std::cos(angle), 0.5 * std::sin(angle), 1);
    for (int j = 0; j < 1000; ++j) least = std::min(least, distance(y, j * 2e-3 * edge));
  }
  return least;
}

/// Largest difference between a batch and its impulses one by one.
double batch_difference() {
  Eigen::MatrixX3d y = Eigen::MatrixX3d::Random(10'007, 3), out = y;
  project(carom::FrictionConeBatch<double>{.count = y.rows(),
                                           .impulse = {y.col(0).data(), y.col(1).data(),
                                                       y.col(2).data()},
                                           .friction = {&cone.friction, true},
                                           .tangent_weight = {&metric.tangent, true},
                                           .normal_weight = {&metric.normal, true}},
          {out.col(0).data(), out.col(1).data(), out.col(2).data()});
  double worst = 0;
  for (Eigen::Index i = 0; i < y.rows(); ++i) {
    const Vector3d alone = project(cone, metric, Vector3d(y.row(i))).point;
    worst = std::max(worst, (alone - out.row(i).transpose()).norm());
  }
  return worst;
}

}  // namespace

int main() try {
  const Vector3d y(0.9, -0.4, 0.8), step(3e-7, 5e-7, -2e-7);  // N s
  const auto [point, region] = project(cone, metric, y);
  const double found = distance(y, point), least = search(y), batch = batch_difference();
  const Vector3d change = project(cone, metric, Vector3d(y + step)).point -
                          project(cone, metric, Vector3d(y - step)).point;
  const double slope_error =
      (2 * projection_derivative(cone, metric, y) * step - change).norm() / change.norm();
  std::printf("wanted (%.2f, %.2f, %.2f) N s: the contact would %s\n", y(0), y(1), y(2),
              to_string(region));
  std::printf("nearest (%.4f, %.4f, %.4f) N s at %.6f; found by search at %.6f\n", point(0),
              point(1), point(2), found, least);
  std::printf("its derivative is right to %.0e, the batch to %.0e\n", slope_error, batch);
  const bool nearest =
      found <= least && least < found + 1e-5 && point.head<2>().norm() < 0.5 * point.z() + 1e-15;
  return nearest && region == carom::ConeRegion::slide && slope_error < 1e-8 && batch < 1e-15 ? 0
                                                                                              : 1;
} catch (const std::exception& fault) {
  return std::fprintf(stderr, "%s\n", fault.what()), 1;
}
