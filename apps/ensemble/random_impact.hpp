// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "carom/impact/design.hpp"
#include "carom/impact/impact_problem.hpp"

#include "ensemble/philox.hpp"

namespace carom::ensemble {

/// The family of a design.
enum class DesignFamily {
  cradle,  ///< Two to five touching balls in line, possibly between walls.
  corner,  ///< A ball that touches two others at an angle, in the plane.
};

/// A mechanism whose contacts all close at once, and its momentum.
struct RandomImpact {
  DesignFamily family = DesignFamily::cradle;
  MassMatrix<double> mass;
  ImpactProblem<double> problem;
  VectorX<double> momentum;  ///< p⁻
  /// For a corner, the variable parameters: angle [rad] and the logarithms of the three masses
  /// [kg].
  VectorX<double> parameters;

  /// Makes design `index` of a seed.
  void make(std::uint64_t seed, std::uint64_t index);
};

/// A ball between two others that it touches at an angle; coordinates (c, a, b), two each.
/// @param x  the angle between the directions to a and b [rad], and log m_c, log m_a, log m_b.
[[nodiscard]] inline DesignPoint<double> corner_design(const VectorX<double>& x) {
  VectorX<double> masses(6);
  for (int k = 0; k < 6; ++k) masses(k) = std::exp(x(1 + k / 2));
  const auto gradient = [&](double angle, Index ball) {
    const Vector<double, 2> direction(std::cos(angle), std::sin(angle));
    VectorX<double> result = VectorX<double>::Zero(6);
    result.head<2>() = -direction;
    result.segment<2>(ball) = direction;
    return result;
  };
  return {MassMatrix<double>::make_diagonal(masses), gradient(x(0) / 2, 2), gradient(-x(0) / 2, 4),
          VectorX<double>()};
}

/// The impact problem of two contacts of a design.
inline void write_design_problem(const DesignPoint<double>& point, ImpactProblem<double>& problem) {
  problem.reset(point.mass.size());
  problem.add_contact(point.mass, point.first_gradient);
  problem.add_contact(point.mass, point.second_gradient);
  problem.prepare();
}

namespace detail {

/// Draws a design. Each fourth cradle has equal masses. Each fourth corner has an angle for which
/// its outcome is unique or nearly unique, because random angles never have this property.
class ImpactMaker {
 public:
  ImpactMaker(std::uint64_t seed, std::uint64_t index, RandomImpact& impact)
      : random_(seed, index), impact_(impact) {}

  void make() {
    impact_.family = random_.chance(0.5) ? DesignFamily::cradle : DesignFamily::corner;
    if (impact_.family == DesignFamily::cradle) {
      make_cradle();
    } else {
      make_corner();
    }
    VectorX<double> velocity(impact_.problem.size());
    for (Index i = 0; i < velocity.size(); ++i) velocity(i) = random_.between(-1, 1);
    impact_.momentum = impact_.mass.momentum(velocity);
  }

 private:
  void make_cradle() {
    const int balls = 2 + random_.below(4);
    const bool equal = random_.chance(0.25);
    VectorX<double> masses(balls);
    for (int i = 0; i < balls; ++i) masses(i) = equal ? 1.0 : random_.across_decades(0.1, 10);
    impact_.mass = MassMatrix<double>::make_diagonal(masses);
    impact_.problem.reset(balls);
    const auto add = [&](const VectorX<double>& gradient) {
      impact_.problem.add_contact(impact_.mass, gradient);
    };
    for (int i = 0; i + 1 < balls; ++i) {
      add(VectorX<double>::Unit(balls, i + 1) - VectorX<double>::Unit(balls, i));
    }
    // Two walls would wedge the balls.
    const int wall = random_.below(4);
    if (wall == 0) add(VectorX<double>::Unit(balls, 0));
    if (wall == 1) add(-VectorX<double>::Unit(balls, balls - 1));
    impact_.problem.prepare();
    impact_.parameters.resize(0);
  }

  /// In a quarter of the corners ⟨u, v⟩ = −cos(π/m) in exact arithmetic, m from 2 to 6. The angle
  /// is computed from ⟨u, v⟩ = cos(angle)/√((1 + m_c/m_a)(1 + m_c/m_b)).
  void make_corner() {
    VectorX<double>& x = impact_.parameters;
    x.resize(4);
    x(0) = random_.between(0.35, 1) * std::numbers::pi;
    for (int k = 1; k < 4; ++k) x(k) = std::log(random_.across_decades(0.1, 10));
    if (random_.chance(0.25)) {
      const double ratio_a = std::exp(x(1) - x(2)), ratio_b = std::exp(x(1) - x(3));
      const double largest = 1 / std::sqrt((1 + ratio_a) * (1 + ratio_b));
      const int m = 2 + random_.below(5);
      const double product = m == 2 ? 0.0 : -std::cos(std::numbers::pi / m);
      if (-product < largest) x(0) = std::acos(product / largest);
    }
    DesignPoint<double> point = corner_design(x);
    write_design_problem(point, impact_.problem);
    impact_.mass = std::move(point.mass);
  }

  RandomStream random_;
  RandomImpact& impact_;
};

}  // namespace detail

inline void RandomImpact::make(std::uint64_t seed, std::uint64_t index) {
  detail::ImpactMaker(seed, index, *this).make();
}

}  // namespace carom::ensemble
