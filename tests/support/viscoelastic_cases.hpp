// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include <Eigen/Dense>

#include "carom/viscoelastic/detail/average_forces.hpp"

#include "support/random.hpp"

namespace carom::testing {

/// Spring-dampers on a random mechanism: n contacts, some velocities, in no particular order of
/// stiffness.
template <typename Scalar>
struct SpringCase {
  MatrixX<Scalar> whitened;  ///< L⁻¹Jᵀ
  VectorX<Scalar> stiffness, damping, y, rate, acceleration;
  Scalar beta, time_step;

  /// @param damping_time  β [s]
  SpringCase(VectorSource<Scalar>& source, Index n, Index velocities, double damping_time)
      : whitened(velocities, 3 * n),
        stiffness(3 * n),
        y(3 * n),
        rate(3 * n),
        acceleration(3 * n),
        beta(Scalar(damping_time)),
        time_step(source.pick({1e-3, 5e-3, 1e-2})) {
    for (Index c = 0; c < 3 * n; ++c) {
      stiffness(c) = Scalar(1e4) * source.positive(2);
      y(c) = Scalar(1e-3) * source.entry(1);
      rate(c) = source.entry(1);
      acceleration(c) = 10 * source.entry(1);
      for (Index r = 0; r < velocities; ++r) whitened(r, c) = source.entry(1, 0.2);
    }
    damping = beta * stiffness;
  }

  [[nodiscard]] MatrixX<Scalar> inverse_mass() const { return whitened.transpose() * whitened; }
  /// What forces are made of [N].
  [[nodiscard]] Scalar force_size() const {
    const VectorX<Scalar> moved = y.cwiseAbs() + (time_step + beta) * rate.cwiseAbs() +
                                  time_step * (time_step + beta) * acceleration.cwiseAbs();
    return stiffness.cwiseProduct(moved).norm();
  }
};

/// Contacts of a stiff mechanism under load, at stiffnesses of 1e3 to 1e10 N/m and damping ratios
/// of 0 to 2, in fewer coordinates than contact rows or more, some of them much lighter than
/// others: what a slip law is given.
template <typename Scalar>
struct SlipCase {
  MatrixX<Scalar> gain;
  VectorX<Scalar> average, friction;
  double stiffness, damping_ratio;

  SlipCase(VectorSource<double>& source, Index n, double most_stiffness = 1e10)
      : gain(3 * n, 3 * n), average(3 * n), friction(n) {
    const auto normal = [&source] {
      double sum = -6;
      for (int k = 0; k < 12; ++k) sum += source.unit();
      return sum;
    };
    const int kind = int(3 * source.unit());
    const Index velocities = kind == 0 ? 6 : kind == 1 ? 3 * n + 2 : std::max<Index>(3, 3 * n / 2);
    stiffness = std::min(source.pick({1e3, 1e4, 1e5, 1e6, 1e8, 1e10}), most_stiffness);
    damping_ratio = source.pick({0, 0, 0.05, 0.2, 1, 2});
    MatrixX<double> whitened(velocities, 3 * n);
    for (Index c = 0; c < 3 * n; ++c) {
      for (Index r = 0; r < velocities; ++r) {
        whitened(r, c) = normal() * (kind == 2 ? std::pow(10.0, 0.5 * normal()) : 1);
      }
    }
    VectorX<double> k(3 * n), y(3 * n), v(velocities), a(velocities), first(3 * n), second(3 * n);
    for (Index i = 0; i < 3 * n; ++i) k(i) = stiffness * (kind == 2 ? std::exp(normal()) : 1);
    const double mass = 1 / whitened.col(0).squaredNorm();
    for (Index i = 0; i < velocities; ++i) v(i) = normal();
    for (Index i = 0; i < velocities; ++i) a(i) = 30 * normal();
    if (source.unit() < 0.5) v *= 0.01;
    for (Index i = 0; i < 3 * n; ++i) {
      y(i) = (normal() - (i % 3 == 2 ? 1 : 0)) * 30 * mass / stiffness;
    }
    for (Index i = 0; i < n; ++i) {
      const double share = source.unit(), rough = source.unit() < 0.2 ? 3 : 1;
      friction(i) = Scalar(share < 0.1 ? 0 : share * rough);
    }
    const VectorX<double> damping = 2 * damping_ratio * std::sqrt(mass / stiffness) * k;
    AverageForces<double> forces;
    forces.prepare(n, velocities);
    MatrixX<double> exact(3 * n, 3 * n);
    const VectorX<double> rate = whitened.transpose() * v, push = whitened.transpose() * a;
    const bool done = forces.set(whitened, k, damping, source.pick({2.5e-4, 1e-3, 5e-3, 1e-2})) &&
                      forces.evaluate(y, rate, push, first, second) && forces.write_gain(exact);
    gain = done ? MatrixX<Scalar>(exact.template cast<Scalar>()) : MatrixX<Scalar>();
    average = first.template cast<Scalar>();
  }
};

/// By how much forces λ and velocities w miss Coulomb's law, contact by contact in the words of the
/// law, relative to the forces; another way than slip_error.
template <typename Scalar>
Scalar slip_miss(const SlipCase<Scalar>& c, const VectorX<Scalar>& force,
                 const VectorX<Scalar>& velocity) {
  Scalar worst = (c.average + c.gain * velocity - force).norm();
  for (Index i = 0; i < c.friction.size(); ++i) {
    const Scalar size = c.gain.diagonal().template segment<3>(3 * i).sum() / 3;
    const Vector3<Scalar> f = force.template segment<3>(3 * i),
                          w = size * velocity.template segment<3>(3 * i);
    const Scalar tangent = f.template head<2>().norm(), speed = w.template head<2>().norm();
    const Scalar reach = c.friction(i) * f(2);
    const Scalar stick = w.norm() + std::max(Scalar(0), tangent - reach);
    const Scalar open = f.norm() + std::max(Scalar(0), -w(2));
    Vector3<Scalar> drag = f;  // λₜ + μ λₙ wₜ/‖wₜ‖
    if (speed > Scalar(0)) drag.template head<2>() += reach / speed * w.template head<2>();
    const Scalar slide =
        std::abs(w(2)) + std::max(Scalar(0), -f(2)) + drag.template head<2>().norm();
    worst = std::max(worst, std::min({stick, open, slide}));
  }
  return worst / std::max(c.average.norm(), force.norm());
}

}  // namespace carom::testing
