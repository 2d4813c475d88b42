// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/discrete_lagrangian.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace discrete_lagrangian_test {

using namespace carom::testing;
using carom::DiscreteLagrangian, carom::Index, carom::MatrixX, carom::Quadrature, carom::VectorX;

TEST_CASE("discrete_lagrangian: slopes are derivatives of the value, matrices of the slopes",
          "[variational][derivative]") {
  const DoublePendulum<double> system;
  const double h = 0.2, step = 1e-5;
  for (const auto& rule :
       {Quadrature<double>::midpoint(), Quadrature<double>::rectangle(0.2),
        Quadrature<double>::verlet(), Quadrature<double>::symmetric_rectangle(0.3)}) {
    DiscreteLagrangian<DoublePendulum<double>> action(rule), moved(rule);
    action.prepare(system);
    moved.prepare(system);
    const VectorX<double> q0 = numbers<double>({0.3, -1}), q1 = numbers<double>({0.5, -0.8});
    action.write_all(system, q0, q1, 0, h);
    const auto difference = [&](Index c, auto read) {
      auto a0 = q0, a1 = q1, b0 = q0, b1 = q1;
      (c < 2 ? a0(c) : a1(c - 2)) += step;
      (c < 2 ? b0(c) : b1(c - 2)) -= step;
      moved.write_slopes(system, a0, a1, 0, h);
      const double ahead = read(moved);
      moved.write_slopes(system, b0, b1, 0, h);
      return (ahead - read(moved)) / (2 * step);
    };
    for (Index c = 0; c < 2; ++c) {
      // What the central differences are good for.
      CHECK(std::abs(difference(c, [](auto& d) { return d.value(); }) - action.left(c)) <
            by_differences(1e-8));
      CHECK(std::abs(difference(c + 2, [](auto& d) { return d.value(); }) - action.right(c)) <
            by_differences(1e-8));
      for (Index r = 0; r < 2; ++r) {
        const auto left = [r](auto& d) { return d.left(r); };
        const auto right = [r](auto& d) { return d.right(r); };
        CHECK(std::abs(difference(c, left) - action.left_by_0(r, c)) < by_differences(1e-7));
        CHECK(std::abs(difference(c + 2, left) - action.left_by_1(r, c)) < by_differences(1e-7));
        CHECK(std::abs(difference(c, right) - action.right_by_0(r, c)) < by_differences(1e-7));
        CHECK(std::abs(difference(c + 2, right) - action.right_by_1(r, c)) < by_differences(1e-7));
      }
      moved.write_slopes(system, q0, q1, 0, h + step);
      const double later = moved.left(c);
      moved.write_slopes(system, q0, q1, 0, h - step);
      CHECK(std::abs((later - moved.left(c)) / (2 * step) - action.left_by_step(c)) <
            by_differences(1e-7));
    }
    moved.write_newton(system, q0, q1, 0, h);
    CHECK((moved.left_by_1 - action.left_by_1).norm() == 0);
    CHECK((moved.left_by_step - action.left_by_step).norm() == 0);
    CHECK((moved.right - action.right).norm() == 0);
  }
}

TEST_CASE("discrete_lagrangian: the midpoint's formula", "[variational][example]") {
  // h L((q0 + q1)/2, (q1 - q0)/h) with the force h/2 f on each side.
  const DrivenOscillator<double> system;
  DiscreteLagrangian<DrivenOscillator<double>> action;
  action.prepare(system);
  action.write_slopes(system, numbers<double>({1}), numbers<double>({1.2}), 3, 0.1);
  const double mean = 1.1, velocity = 2, push = std::cos(3.05) - 0.3 * velocity;
  CHECK(std::abs(action.value() - 0.1 * (velocity * velocity - mean * mean) / 2) <=
        rounding(64, 1.0));
  CHECK(std::abs(action.left(0) - (0.05 * (push - mean) - velocity)) <= rounding(512, 1.0));
  CHECK(std::abs(action.right(0) - (0.05 * (push - mean) + velocity)) <= rounding(512, 1.0));
}

}  // namespace discrete_lagrangian_test
