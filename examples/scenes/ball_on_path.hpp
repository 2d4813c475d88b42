// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <Eigen/LU>

#include "carom/solvers/search/cone_path.hpp"

namespace carom::examples {

/// A solid ball that hits a plane, sliding along x: one contact, W = diag(7/2, 7/2, 1)/m.
///
/// With μ = `alike`, μ² Wₜ = Wₙ, and the central path of the convex law has a closed form.
struct BallOnPath {
  static constexpr double alike = 0.53452248382484875;  ///< √(2/7)

  double mass = 1;                         ///< m [kg], > 0.
  double friction = alike;                 ///< μ [-], > 0.
  Vector3<double> free_velocity{0, 0, 0};  ///< q, of the touching point (t₁, t₂, n) [m/s]

  [[nodiscard]] Vector3<double> delassus() const { return Vector3<double>(3.5, 3.5, 1) / mass; }

  /// Impulses on the central path, by Newton's steps of the library from each κ to the next.
  /// @param products  κ > 0, in falling order [J].
  [[nodiscard]] std::vector<Vector3<double>> path(FrictionLaw law,
                                                  const std::vector<double>& products) const {
    carom::detail::BlockList<double> blocks;
    blocks.add_triple(friction, {}, {}, 0);
    return blocks.visit(0, [&]<int Parts>(const carom::detail::BlockRows<double, Parts>& block) {
      return follow(block, law, products);
    });
  }

  /// Normal impulse on Coulomb's path: γₙ (Wₙ γₙ + qₙ) = κ.
  [[nodiscard]] double coulomb_normal(double product) const {
    return positive_root(delassus().z(), free_velocity.z(), product);
  }
  /// Impulse on the path of the convex law: in units of μ, r and q have the same two eigenvectors,
  /// and Wₙ r² + q r = κ holds for the eigenvalues along each.
  /// @pre  friction = alike, no free velocity along t₂.
  [[nodiscard]] Vector3<double> convex_impulse(double product) const {
    const double weight = delassus().z(), slip = friction * free_velocity.x();
    const double along = positive_root(weight, free_velocity.z() + slip, product);
    const double against = positive_root(weight, free_velocity.z() - slip, product);
    return {friction * (along - against) / 2, 0, (along + against) / 2};
  }

 private:
  /// x > 0 of a x² + b x = c for a, c > 0, without cancellation.
  [[nodiscard]] static double positive_root(double a, double b, double c) {
    const double root = std::sqrt(b * b + 4 * a * c);
    return b > 0 ? 2 * c / (b + root) : (root - b) / (2 * a);
  }

  template <int Parts>
  [[nodiscard]] std::vector<Vector3<double>> follow(
      const carom::detail::BlockRows<double, Parts>& block, FrictionLaw law,
      const std::vector<double>& targets) const {
    constexpr int rows = 3 * Parts;
    using Numbers = carom::detail::PartNumbers<double, Parts>;
    Numbers weights, load;
    for (int i = 0; i < 3; ++i) {
      weights(i) = delassus()(i);
      load(i) = free_velocity(i);
    }
    carom::detail::ConePath<double, Parts> path;
    path.start(block, {}, {});
    path.raise(block, law, mass, 1);
    std::vector<Vector3<double>> points;
    for (const double product : targets) {
      double size = 1;
      for (int k = 0; k < 100 && size > 1e-14; ++k) {
        const Numbers velocity = products(weights, path.impulse(block)) + load;
        const Numbers gap = path.gap(block, velocity);
        carom::detail::PartMatrix<double, Parts> gain;
        if (!path.write_gain(block, law, gain)) break;
        Numbers offset;
        path.write_offset(block, law, {product, false}, gap, offset);
        SquareMatrix<double, rows> system = SquareMatrix<double, rows>::Identity();
        for (int i = 0; i < rows; ++i) {
          for (int j = 0; j < rows; ++j) system(i, j) += gain(i, j) * weights(j);
        }
        const Vector<double, rows> solved =
            system.partialPivLu().solve(Eigen::Map<const Vector<double, rows>>(offset.data()));
        const Numbers step = Numbers::at(solved.data());
        const Numbers moved = products(weights, step);
        const double share = 0.9 / path.take_step(block, law, step, moved, gap, 0.9);
        path.advance(block, share);
        size = step.norm() / path.impulse(block).norm();
      }
      points.emplace_back(path.impulse(block).data());
    }
    return points;
  }
};

}  // namespace carom::examples
