// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/planar_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "carom/variational/stepper.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace planar_tree_test {

using namespace carom::testing;
using carom::Index, carom::LagrangianDerivatives, carom::LagrangianEvaluator, carom::PlanarBody;
using carom::PlanarTree, carom::PlanarTreeOptions, carom::VariationalStepper, carom::Vector;
using carom::VectorX;

namespace {

/// The same tree written down as kinetic minus potential energy, body by body.
struct WrittenTree {
  using scalar_type = double;
  std::vector<PlanarBody<double>> bodies;
  PlanarTreeOptions<double> options;

  [[nodiscard]] Index size() const { return Index(bodies.size()) + (options.floating ? 2 : 0); }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    struct Frame {
      T x, y, vx, vy, angle, rate;
    };
    std::vector<Frame> frames;
    const Index base = options.floating ? 2 : 0;
    T sum = 0.0;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const auto& b = bodies[i];
      Frame f{0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
      if (b.parent >= 0) {
        const Frame& p = frames[std::size_t(b.parent)];
        const T c = cos(p.angle), s = sin(p.angle);
        const T x = c * b.hinge(0) - s * b.hinge(1), y = s * b.hinge(0) + c * b.hinge(1);
        f = {p.x + x, p.y + y, p.vx - p.rate * y, p.vy + p.rate * x, p.angle, p.rate};
      } else if (options.floating) {
        f = {q(0), q(1), v(0), v(1), 0.0, 0.0};
      }
      if (!options.relative) f.angle = f.rate = T(0.0);
      f.angle += q(base + Index(i));
      f.rate += v(base + Index(i));
      const T c = cos(f.angle), s = sin(f.angle);
      const T x = c * b.centre(0) - s * b.centre(1), y = s * b.centre(0) + c * b.centre(1);
      const T vx = f.vx - f.rate * y, vy = f.vy + f.rate * x;
      sum += b.mass / 2 * (vx * vx + vy * vy) + b.inertia / 2 * (f.rate * f.rate) +
             b.mass * (options.gravity(0) * (f.x + x) + options.gravity(1) * (f.y + y));
      frames.push_back(f);
    }
    return sum;
  }
};

std::vector<PlanarBody<double>> some_tree() {
  using P = Vector<double, 2>;
  return {{-1, P(0, 0), P(0.3, 0.1), 1.5, 0.2},
          {0, P(1, -0.2), P(0.5, 0), 0.7, 0.05},
          {0, P(-0.4, 0.3), P(0.2, -0.3), 0.4, 0.03},
          {2, P(0.6, 0), P(0.1, 0.2), 0.9, 0.1},
          {3, P(0.2, 0.2), P(0.4, 0), 0.3, 0.0}};
}

template <typename Scalar>
PlanarTree<Scalar> chain(Index links) {
  std::vector<PlanarBody<Scalar>> bodies;
  using P = Vector<Scalar, 2>;
  for (Index i = 0; i < links; ++i) {
    bodies.push_back({i - 1, i == 0 ? P(P::Zero()) : P(Scalar(1), Scalar(0)),
                      P(Scalar(0.5), Scalar(0)), Scalar(1), Scalar(1) / 12});
  }
  return PlanarTree<Scalar>(bodies);
}

}  // namespace

TEST_CASE("planar_tree: the hinge of a tree's first body is a place in the world",
          "[variational][oracle]") {
  using P = Vector<double, 2>;
  auto bodies = some_tree();
  const PlanarTree<double> at_origin(bodies);
  bodies[0].hinge << 0.7, -0.4;
  const PlanarTree<double> moved(bodies);
  VectorX<double> q(5), x_gradient(5), y_gradient(5);
  q << 0.3, -0.8, 1.1, 0.2, -2.0;
  const P offset(0.2, 0.5);
  for (Index k = 0; k < 5; ++k) {
    const P shift = moved.point(q, k, offset) - at_origin.point(q, k, offset);
    CHECK((shift - bodies[0].hinge).norm() <= rounding(16, 4.0));
    const P written = moved.write_point(q, k, offset, x_gradient, y_gradient);
    CHECK((written - moved.point(q, k, offset)).norm() <= rounding(16, 4.0));
  }
}

TEST_CASE("planar_tree: all derivatives are those of energies computed body by body",
          "[variational][oracle]") {
  for (const bool floating : {false, true}) {
    for (const bool relative : {false, true}) {
      PlanarTreeOptions<double> options;
      options.floating = floating;
      options.relative = relative;
      options.gravity << 1, -9.81;
      const PlanarTree<double> tree(some_tree(), options);
      const WrittenTree written{some_tree(), options};
      const Index n = tree.size();
      REQUIRE(n == written.size());
      VectorX<double> q(n), v(n);
      for (Index i = 0; i < n; ++i) {
        q(i) = std::sin(1.7 * double(i) + 0.3);
        v(i) = std::cos(2.3 * double(i) + 0.1);
      }
      LagrangianDerivatives<double> a, b, c;
      for (auto* d : {&a, &b, &c}) d->resize(n);
      tree.write_lagrangian_curvature(q, v, 0, a);
      tree.write_lagrangian(q, v, 0, c);
      LagrangianEvaluator<WrittenTree> evaluator;
      evaluator.prepare(written);
      evaluator.write_curvature(written, q, v, 0, b);
      CAPTURE(floating, relative);
      const double allowed = rounding(256, 40.0);
      CHECK(std::abs(a.value - b.value) <= allowed);
      CHECK((a.by_q - b.by_q).norm() <= allowed);
      CHECK((a.by_v - b.by_v).norm() <= allowed);
      CHECK((a.by_qq - b.by_qq).norm() <= allowed);
      CHECK((a.by_qv - b.by_qv).norm() <= allowed);
      CHECK((a.by_vv - b.by_vv).norm() <= allowed);
      CHECK(c.value == a.value);
      CHECK((c.by_q - a.by_q).norm() <= 0);
      CHECK((c.by_v - a.by_v).norm() <= 0);
    }
  }
}

TEST_CASE("planar_tree: points and their gradients", "[variational][derivative]") {
  for (const int kind : {0, 1, 2, 3}) {
    PlanarTreeOptions<double> options;
    options.floating = kind % 2 == 0;
    options.relative = kind / 2 == 0;
    const PlanarTree<double> tree(some_tree(), options);
    VectorX<double> q = VectorX<double>::LinSpaced(tree.size(), -1, 2);
    const Vector<double, 2> offset(0.3, -0.2);
    VectorX<double> gx(tree.size()), gy(tree.size());
    for (Index body = 0; body < tree.body_count(); ++body) {
      const auto place = tree.write_point(q, body, offset, gx, gy);
      CHECK((place - tree.point(q, body, offset)).norm() == 0);
      for (Index j = 0; j < tree.size(); ++j) {
        auto ahead = q, behind = q;
        ahead(j) += 1e-5;
        behind(j) -= 1e-5;
        const Vector<double, 2> slope =
            (tree.point(ahead, body, offset) - tree.point(behind, body, offset)) / 2e-5;
        // The slopes are central differences.
        CHECK(std::abs(slope(0) - gx(j)) < by_differences(1e-9));
        CHECK(std::abs(slope(1) - gy(j)) < by_differences(1e-9));
      }
    }
  }
}

TEST_CASE("planar_tree: a hinged rod swings as a pendulum", "[variational][oracle]") {
  // Rod of length one about its end: the pendulum of length 2/3; from rest on the horizontal.
  VariationalStepper<PlanarTree<double>> stepper(chain<double>(1));
  auto state = stepper.make_state(numbers<double>({0}), numbers<double>({0}));
  const double scale = std::sqrt(9.81 * 1.5);  // its time in units of the unit pendulum's
  for (int k = 0; k < 4000; ++k) REQUIRE(stepper.step(state, 10 / scale / 4000).converged());
  const double angle = state.q(0) + std::acos(-1.0) / 2;
  CHECK(std::abs(angle + 0.946862453256) < by_step(3e-6));  // 0.3285 (10/4000)²
}

TEST_CASE("planar_tree: chains keep their energy to order 2", "[variational][law]") {
  using Scalar = double;
  for (const Index links : {1, 2, 5, 10}) {
    VariationalStepper<PlanarTree<Scalar>> stepper(chain<Scalar>(links));
    VectorX<Scalar> q = VectorX<Scalar>::Zero(links), v = VectorX<Scalar>::Zero(links);
    q(0) = Scalar(-1);
    auto state = stepper.make_state(q, v);
    const Scalar start = stepper.energy(state);
    Scalar worst = 0;
    int iterations = 0;
    for (int k = 0; k < 300; ++k) {
      const auto report = stepper.step(state, Scalar(0.002));
      REQUIRE(report.converged());
      iterations += report.iterations;
      worst = std::max(worst, std::abs(stepper.energy(state) - start));
    }
    CAPTURE(links, start, worst, iterations);
    CHECK(worst < by_step(Scalar(2e-3)) * Scalar(links) * Scalar(links));
    CHECK(iterations < 300 * 5);
  }
}

TEST_CASE("planar_tree: a floating tree keeps momentum and spin", "[variational][law]") {
  PlanarTreeOptions<double> options;
  options.floating = true;
  options.gravity.setZero();
  const PlanarTree<double> tree(some_tree(), options);
  VariationalStepper<PlanarTree<double>> stepper(tree);
  VectorX<double> q = VectorX<double>::LinSpaced(7, 0, 1), v = VectorX<double>::LinSpaced(7, -1, 2);
  auto state = stepper.make_state(q, v);
  const auto start = state;
  // Turning the whole: r x p_r plus the momentum of the first hinge, which turns all bodies.
  const auto spin = [](const auto& s) {
    return s.q(0) * s.momentum(1) - s.q(1) * s.momentum(0) + s.momentum(2);
  };
  for (int k = 0; k < 500; ++k) REQUIRE(stepper.step(state, 0.01).converged());
  CHECK((state.momentum.head(2) - start.momentum.head(2)).norm() < rounding(4000, 10.0));
  CHECK(std::abs(spin(state) - spin(start)) < rounding(4000, 10.0));
}

TEST_CASE("planar_tree: bad bodies are named", "[variational][edge]") {
  const auto refusal = [](std::vector<PlanarBody<double>> bodies) {
    try {
      const PlanarTree<double> tree(std::move(bodies));
    } catch (const std::invalid_argument& refused) {
      return std::string(refused.what());
    }
    return std::string("accepted");
  };
  CHECK(refusal({}) == "bodies: expected at least 1, got 0");
  auto bodies = some_tree();
  bodies[2].parent = 2;
  CHECK(refusal(bodies) == "body 2: parent: expected -1 or the index of an earlier body, got 2");
  bodies = some_tree();
  bodies[1].mass = -1;
  CHECK(refusal(bodies) == "body 1: mass: expected a finite number >= 0, got -1");
  bodies = some_tree();
  bodies[4].inertia = std::numeric_limits<double>::quiet_NaN();
  CHECK(refusal(bodies) == "body 4: inertia: expected a finite number >= 0, got nan");
  bodies = some_tree();
  bodies[3].hinge(1) = std::numeric_limits<double>::infinity();
  CHECK(refusal(bodies) == "body 3: hinge entry 1: expected a finite number, got inf");
}

}  // namespace planar_tree_test
