// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/spatial_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <Eigen/LU>

#include "carom/linalg/detail/second_order.hpp"
#include "carom/variational/detail/evaluators.hpp"
#include "carom/variational/stepper.hpp"

#include "support/catch.hpp"
#include "support/random_trees.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace spatial_tree_test {

using namespace carom::testing;
using carom::append_floating_body, carom::Index, carom::JointKind, carom::LagrangianDerivatives;
using carom::LagrangianEvaluator, carom::MatrixX, carom::SpatialBody;
using carom::SpatialTree, carom::VariationalStepper, carom::VectorX;
using Point = carom::Vector3<double>;
using Matrix = carom::SquareMatrix<double, 3>;

namespace {

/// The same tree written down with rotation matrices, body by body.
struct WrittenTree {
  using scalar_type = double;
  std::vector<SpatialBody<double>> bodies;
  Point gravity;

  template <typename T>
  using Triple = std::array<T, 3>;
  template <typename T>
  using Nine = std::array<Triple<T>, 3>;

  template <typename M, typename X>
  [[nodiscard]] static auto times(const M& m, const X& x) {
    using T = std::decay_t<decltype(x[0])>;
    Triple<T> out;
    for (std::size_t i = 0; i < 3; ++i) out[i] = m[i][0] * x[0] + m[i][1] * x[1] + m[i][2] * x[2];
    return out;
  }
  template <typename T>
  [[nodiscard]] static Triple<T> cross(const Triple<T>& a, const Triple<T>& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  }
  template <typename T>
  [[nodiscard]] static Nine<T> product(const Nine<T>& a, const Nine<T>& b) {
    Nine<T> out;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        out[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
      }
    }
    return out;
  }
  template <typename T>
  [[nodiscard]] static Nine<T> lifted(const Matrix& m) {
    Nine<T> out;
    for (Index i = 0; i < 9; ++i) out[std::size_t(i % 3)][std::size_t(i / 3)] = m(i % 3, i / 3);
    return out;
  }
  template <typename T>
  [[nodiscard]] static Triple<T> lifted(const Point& x) {
    return {T(x(0)), T(x(1)), T(x(2))};
  }
  /// Turn by an angle about a unit vector: R_ij = c δ_ij + (1 − c) a_i a_j − s ε_ijk a_k.
  template <typename T>
  [[nodiscard]] static Nine<T> turn(const Point& a, const T& angle) {
    const T c = cos(angle), s = sin(angle);
    Nine<T> out;
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        T x = (1.0 - c) * T(a(i) * a(j));
        if (i == j) x += c;
        if (j == (i + 1) % 3) x -= s * T(a((i + 2) % 3));
        if (i == (j + 1) % 3) x += s * T(a((j + 2) % 3));
        out[std::size_t(i)][std::size_t(j)] = x;
      }
    }
    return out;
  }

  [[nodiscard]] Index size() const { return Index(bodies.size()); }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    struct Frame {
      Nine<T> turn = lifted<T>(Matrix(Matrix::Identity()));
      Triple<T> place{0.0, 0.0, 0.0}, speed{0.0, 0.0, 0.0}, spin{0.0, 0.0, 0.0};
    };
    std::vector<Frame> frames;
    T sum = 0.0;
    for (Index i = 0; i < size(); ++i) {
      const SpatialBody<double>& b = bodies[std::size_t(i)];
      Frame f = b.parent < 0 ? Frame() : frames[std::size_t(b.parent)];
      move(f, times(f.turn, lifted<T>(b.place)));
      f.turn = product(f.turn, lifted<T>(b.turn));
      const Triple<T> axis = times(f.turn, lifted<T>(b.axis));
      if (b.joint == JointKind::revolute) {
        for (std::size_t k = 0; k < 3; ++k) f.spin[k] += axis[k] * v(i);
        f.turn = product(f.turn, turn(b.axis, T(q(i))));
      } else {
        Triple<T> slide = axis;
        for (T& x : slide) x *= q(i);
        move(f, slide);
        for (std::size_t k = 0; k < 3; ++k) f.speed[k] += axis[k] * v(i);
      }
      frames.push_back(f);
      move(f, times(f.turn, lifted<T>(b.centre)));
      sum += energy(b, f.turn, f.place, f.speed, f.spin);
    }
    return sum;
  }

 private:
  template <typename Frame, typename T>
  static void move(Frame& f, const Triple<T>& by) {
    const Triple<T> gained = cross(f.spin, by);
    for (std::size_t k = 0; k < 3; ++k) {
      f.place[k] += by[k];
      f.speed[k] += gained[k];
    }
  }
  template <typename T>
  [[nodiscard]] T energy(const SpatialBody<double>& b, const Nine<T>& turn, const Triple<T>& place,
                         const Triple<T>& speed, const Triple<T>& spin) const {
    Triple<T> own;  // spin along the body's axes
    for (std::size_t k = 0; k < 3; ++k) {
      own[k] = turn[0][k] * spin[0] + turn[1][k] * spin[1] + turn[2][k] * spin[2];
    }
    const Triple<T> moment = times(lifted<T>(b.inertia), own);
    T sum = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      sum += b.mass / 2 * (speed[k] * speed[k]) + own[k] * moment[k] / 2.0 +
             b.mass * gravity(Index(k)) * place[k];
    }
    return sum;
  }
};

/// Sizes of what two sets of derivatives differ by, relative to the second's.
struct Difference {
  double value, by_q, by_v, by_qq, by_qv, by_vv;
  [[nodiscard]] double worst() const { return std::max({value, by_q, by_v, by_qq, by_qv, by_vv}); }
};

template <typename Scalar>
[[nodiscard]] Difference difference(const LagrangianDerivatives<Scalar>& a,
                                    const LagrangianDerivatives<double>& b) {
  const auto of = [](const auto& x, const auto& y) {
    return (x.template cast<double>() - y).norm() / std::max(1.0, y.norm());
  };
  return {std::abs(double(a.value) - b.value) / std::max(1.0, std::abs(b.value)),
          of(a.by_q, b.by_q),
          of(a.by_v, b.by_v),
          of(a.by_qq, b.by_qq),
          of(a.by_qv, b.by_qv),
          of(a.by_vv, b.by_vv)};
}

[[nodiscard]] LagrangianDerivatives<double> written(const WrittenTree& tree,
                                                    const VectorX<double>& q,
                                                    const VectorX<double>& v) {
  LagrangianDerivatives<double> out;
  out.resize(tree.size());
  LagrangianEvaluator<WrittenTree> evaluator;
  evaluator.prepare(tree);
  evaluator.write_curvature(tree, q, v, 0, out);
  return out;
}

/// Derivatives of the tree, and that write_lagrangian says the same.
template <typename Scalar>
[[nodiscard]] LagrangianDerivatives<Scalar> derivatives(const SpatialTree<Scalar>& tree,
                                                        const VectorX<Scalar>& q,
                                                        const VectorX<Scalar>& v) {
  LagrangianDerivatives<Scalar> all, slopes;
  all.resize(tree.size());
  slopes.resize(tree.size());
  // Entries must be written, not added to.
  all.by_q.setConstant(7), all.by_qq.setConstant(7), all.by_qv.setConstant(7);
  tree.write_lagrangian_curvature(q, v, 0, all);
  tree.write_lagrangian(q, v, 0, slopes);
  CHECK(slopes.value == all.value);
  CHECK((slopes.by_q - all.by_q).norm() == 0);
  CHECK((slopes.by_v - all.by_v).norm() == 0);
  return all;
}

[[nodiscard]] VectorX<double> draw(std::mt19937& generator, Index n) {
  std::uniform_real_distribution<double> uniform(-2, 2);
  VectorX<double> out(n);
  for (Index i = 0; i < n; ++i) out(i) = uniform(generator);
  return out;
}

/// A single body of given moments that floats without gravity.
[[nodiscard]] SpatialTree<double> floating_body(const Point& moments, double mass) {
  std::vector<SpatialBody<double>> bodies;
  SpatialBody<double> body;
  body.mass = mass;
  body.inertia = moments.asDiagonal();
  append_floating_body(bodies, body);
  return SpatialTree<double>(bodies, {Point(0, 0, 0)});
}

}  // namespace

TEST_CASE("spatial_tree: all derivatives are those of the energies written with matrices",
          "[variational][oracle]") {
  std::mt19937 generator(20240611);
  for (Index n = 1; n <= 9; ++n) {
    for (int run = 0; run < carom::testing::sweep(2, 6); ++run) {
      const auto bodies = random_tree(generator, n);
      const Point gravity(0.7, -1.9, -9.81);
      const SpatialTree<double> tree(bodies, {gravity});
      const auto q = draw(generator, n), v = draw(generator, n);
      const auto a = derivatives(tree, q, v);
      const auto b = written({bodies, gravity}, q, v);
      const auto d = difference(a, b);
      CAPTURE(n, run, d.value, d.by_q, d.by_v, d.by_qq, d.by_qv, d.by_vv);
      CHECK(d.worst() <= rounding(200, 1.0));
      CHECK((a.by_qq - a.by_qq.transpose()).norm() == 0);
      CHECK((a.by_vv - a.by_vv.transpose()).norm() == 0);
      CHECK(std::abs(tree.mass() - [&] {
              double sum = 0;
              for (const auto& body : bodies) sum += body.mass;
              return sum;
            }()) <= rounding(16, 10.0));
    }
  }
}

TEST_CASE("spatial_tree: float numbers agree with double ones", "[variational][oracle]") {
  std::mt19937 generator(7);
  for (Index n = 1; n <= 8; ++n) {
    const auto bodies = random_tree(generator, n);
    const Point gravity(0.5, 1, -9.81);
    const SpatialTree<float> tree(cast_bodies<float>(bodies), {gravity.cast<float>()});
    const auto q = draw(generator, n), v = draw(generator, n);
    const auto d = difference(derivatives<float>(tree, q.cast<float>(), v.cast<float>()),
                              written({bodies, gravity}, q, v));
    CAPTURE(n, d.value, d.by_q, d.by_v, d.by_qq, d.by_qv, d.by_vv);
    CHECK(d.worst() <= double(rounding(400, 1.0F)));
  }
}

TEST_CASE("spatial_tree: numbers with slopes go through, masses and all",
          "[variational][derivative]") {
  using Number = carom::SecondOrder<double>;
  std::mt19937 generator(5);
  const Index n = 6;
  const auto bodies = random_tree(generator, n);
  const auto q = draw(generator, n), v = draw(generator, n);
  const auto at = derivatives(SpatialTree<double>(bodies), q, v);
  // Outer slope along the mass of body 2, inner ones along q₁, q₃, v₀, v₄.
  auto lifted = cast_bodies<Number>(bodies);
  lifted[2].mass.outer(0) = 1;
  const SpatialTree<Number> tree(lifted);
  VectorX<Number> p = q.cast<Number>(), u = v.cast<Number>();
  LagrangianDerivatives<Number> out;
  out.resize(n);
  tree.write_lagrangian(p, u, Number(0), out);  // the configuration is asked for twice
  p(1).inner(0) = p(3).inner(1) = u(0).inner(2) = u(4).inner(3) = 1;
  tree.write_lagrangian_curvature(p, u, Number(0), out);
  const double allowed = rounding(400, 10.0);
  CHECK(std::abs(out.value.value - at.value) <= allowed);
  CHECK(std::abs(out.value.inner(0) - at.by_q(1)) <= allowed);
  CHECK(std::abs(out.value.inner(1) - at.by_q(3)) <= allowed);
  CHECK(std::abs(out.value.inner(2) - at.by_v(0)) <= allowed);
  CHECK(std::abs(out.value.inner(3) - at.by_v(4)) <= allowed);
  for (Index i = 0; i < n; ++i) {
    CHECK(std::abs(out.by_q(i).inner(1) - at.by_qq(i, 3)) <= allowed);
    CHECK(std::abs(out.by_q(i).inner(2) - at.by_qv(i, 0)) <= allowed);
    CHECK(std::abs(out.by_v(i).inner(1) - at.by_qv(3, i)) <= allowed);
  }
  // L is linear in the mass: the slope is a difference of any size.
  auto heavier = bodies;
  heavier[2].mass += 1;
  const auto more = derivatives(SpatialTree<double>(heavier), q, v);
  CHECK(std::abs(out.value.outer(0) - (more.value - at.value)) <= allowed);
  CHECK(std::abs(out.by_qv(2, 1).outer(0) - (more.by_qv - at.by_qv)(2, 1)) <= allowed);
  CHECK(std::abs(out.value.mixed(0, 0) - (more.by_q - at.by_q)(1)) <= allowed);
}

TEST_CASE("spatial_tree: points, their gradients and rotations", "[variational][derivative]") {
  std::mt19937 generator(13);
  const Index n = 8;
  const SpatialTree<double> tree(random_tree(generator, n));
  const auto q = draw(generator, n);
  const Point offset(0.3, -0.2, 0.5);
  MatrixX<double> gradient(3, n);
  for (Index body = 0; body < n; ++body) {
    gradient.setConstant(7);
    const Point place = tree.write_point(q, body, offset, gradient);
    CHECK((place - tree.point(q, body, offset)).norm() == 0);
    const Matrix rotation = tree.rotation(q, body);
    CHECK((rotation.transpose() * rotation - Matrix::Identity()).norm() <= rounding(64, 1.0));
    CHECK((place - tree.point(q, body, Point::Zero()) - rotation * offset).norm() <=
          rounding(8, 10.0));
    for (Index j = 0; j < n; ++j) {
      auto ahead = q, behind = q;
      ahead(j) += 1e-5;
      behind(j) -= 1e-5;
      const Point slope =
          (tree.point(ahead, body, offset) - tree.point(behind, body, offset)) / 2e-5;
      CAPTURE(body, j);
      // What the central differences are good for.
      CHECK((slope - gradient.col(j)).norm() < by_differences(1e-8));
    }
  }
  // At rest L is what gravity makes of the whole mass at the centre.
  const SpatialTree<double> still(tree.bodies(), {Point(0, 0, -1)});
  const auto at = derivatives(still, q, VectorX<double>(VectorX<double>::Zero(n)));
  CHECK(std::abs(at.value + still.mass() * still.centre(q)(2)) <= rounding(64, 10.0));
}

TEST_CASE("spatial_tree: a floating body turns as yaw, pitch and roll say",
          "[variational][oracle]") {
  const auto tree = floating_body(Point(1, 2, 2.5), 3);
  REQUIRE(tree.size() == 6);
  VectorX<double> q(6);
  q << 1, 2, 3, 0.4, -0.3, 1.1;
  const auto about = [](Index axis, double angle) {
    const Point unit = Point::Unit(axis);
    Matrix out;
    for (Index c = 0; c < 3; ++c) {
      const Point e = Point::Unit(c);
      out.col(c) = std::cos(angle) * e + std::sin(angle) * unit.cross(e) +
                   (1 - std::cos(angle)) * unit.dot(e) * unit;
    }
    return out;
  };
  const Matrix expected = about(2, 0.4) * about(1, -0.3) * about(0, 1.1);
  CHECK((tree.rotation(q, 5) - expected).norm() <= rounding(16, 1.0));
  CHECK((tree.point(q, 5, Point::Zero()) - Point(1, 2, 3)).norm() == 0);
  // det M = m³ · I₁I₂I₃ cos²(pitch): singular where the nose points up.
  LagrangianDerivatives<double> at;
  at.resize(6);
  tree.write_lagrangian_curvature(q, VectorX<double>::Zero(6), 0, at);
  CHECK(at.by_vv.determinant() ==
        Approx(27 * 1 * 2 * 2.5 * std::pow(std::cos(0.3), 2)).epsilon(rounding(500, 1.0)));
}

TEST_CASE("spatial_tree: far from the origin no digits are lost", "[variational][law]") {
  std::mt19937 generator(17);
  auto bodies = random_tree(generator, 5);
  const auto q = draw(generator, 5), v = draw(generator, 5);
  const auto near = derivatives(SpatialTree<double>(bodies), q, v);
  const double away = 1048576;
  for (auto& body : bodies) {
    if (body.parent < 0) body.place += Point(away, -away, away);
  }
  auto far = derivatives(SpatialTree<double>(bodies), q, v);
  far.value = near.value;  // the height's zero
  const auto d = difference(far, near);
  CAPTURE(d.by_q, d.by_v, d.by_qq, d.by_qv, d.by_vv);
  CHECK(d.worst() <= rounding(64, away));  // of places, not of their squares
}

TEST_CASE("spatial_tree: a free tree keeps its momenta and its energy", "[variational][law]") {
  std::mt19937 generator(19);
  std::vector<SpatialBody<double>> bodies;
  SpatialBody<double> trunk = random_body(generator);
  trunk.parent = -1;
  trunk.place.setZero();
  trunk.turn.setIdentity();
  append_floating_body(bodies, trunk);
  for (int i = 0; i < 4; ++i) {
    auto body = random_body(generator);
    body.parent = i < 2 ? 5 : 4 + i;
    bodies.push_back(body);
  }
  VariationalStepper<SpatialTree<double>> stepper(SpatialTree<double>(bodies, {Point(0, 0, 0)}));
  const Index n = stepper.system().size();
  VectorX<double> q = 0.2 * draw(generator, n), v = 0.3 * draw(generator, n);
  // Shifts and turns about z act linearly on the coordinates, so their momenta are kept to
  // rounding; turns about x and y do not: theirs are kept to order 2.
  const auto spin = [](const auto& s) {
    return s.q(0) * s.momentum(1) - s.q(1) * s.momentum(0) + s.momentum(3);
  };
  const auto tilt = [](const auto& s) {  // about x, after the yaw's and the pitch's shares
    const double yaw = s.q(3), pitch = s.q(4), c = std::cos(pitch);
    const double along = (s.momentum(5) + std::sin(pitch) * s.momentum(3)) / c;
    return std::cos(yaw) * along - std::sin(yaw) * s.momentum(4) + s.q(1) * s.momentum(2) -
           s.q(2) * s.momentum(1);
  };
  double drift[2], swing[2];
  for (int k = 0; k < 2; ++k) {
    auto state = stepper.make_state(q, v);
    const auto start = state;
    const double energy = stepper.energy(state), h = k == 0 ? 4e-3 : 2e-3;
    drift[k] = swing[k] = 0;
    for (int i = 0; i < (k == 0 ? 250 : 500); ++i) {
      REQUIRE(stepper.step(state, h).converged());
      drift[k] = std::max(drift[k], std::abs(tilt(state) - tilt(start)));
      swing[k] = std::max(swing[k], std::abs(stepper.energy(state) - energy));
    }
    CHECK((state.momentum.head(3) - start.momentum.head(3)).norm() < rounding(4000, 10.0));
    CHECK(std::abs(spin(state) - spin(start)) < rounding(4000, 10.0));
    CAPTURE(k, energy, drift[k], swing[k]);
    // The energy of the midpoint rule swings by the order of h².
    CHECK(swing[k] < by_step(1e-3) * energy);
  }
  CHECK(drift[0] / drift[1] == Approx(4).epsilon(0.05));
  CHECK(swing[0] / swing[1] == Approx(4).epsilon(0.05));
}

TEST_CASE("spatial_tree: a heavy top precesses steadily", "[variational][oracle]") {
  // Pivot at the origin, centre at (l, 0, 0), β the spin axis' angle from the vertical:
  // A Ω² cos β − C ω Ω + m g l = 0 with A about the pivot.
  const double m = 1.2, l = 0.3, across = 0.05, along = 0.02, g = 9.81, rate = 2.5, pitch = -0.6;
  std::vector<SpatialBody<double>> bodies = {
      SpatialBody<double>::link(-1, JointKind::revolute, Point::Unit(2)),
      SpatialBody<double>::link(0, JointKind::revolute, Point::Unit(1)),
      SpatialBody<double>::link(1, JointKind::revolute, Point::Unit(0))};
  bodies[2].mass = m;
  bodies[2].centre << l, 0, 0;
  bodies[2].inertia.diagonal() << along, across, across;
  VariationalStepper<SpatialTree<double>> stepper{SpatialTree<double>(bodies)};
  const double pivot = across + m * l * l, cosine = -std::sin(pitch);
  const double spin = (pivot * rate * rate * cosine + m * g * l) / (along * rate);
  VectorX<double> q(3), v(3);
  q << 0, pitch, 0;
  v << rate, 0, spin - rate * cosine;
  auto state = stepper.make_state(q, v);
  for (int k = 0; k < 400; ++k) REQUIRE(stepper.step(state, 0.005).converged());
  CHECK(std::abs(state.q(0) - 2 * rate) < by_solver(1e-9));
  CHECK(std::abs(state.q(1) - pitch) < by_solver(1e-10));
}

TEST_CASE("spatial_tree: bodies without mass carry what follows", "[variational][edge]") {
  // Joints in one place whose links weigh nothing leave the mass matrix of the last body alone.
  const auto tree = floating_body(Point(0.4, 0.5, 0.6), 2);
  LagrangianDerivatives<double> at;
  at.resize(6);
  tree.write_lagrangian_curvature(VectorX<double>::Zero(6), VectorX<double>::Zero(6), 0, at);
  MatrixX<double> expected = MatrixX<double>::Zero(6, 6);
  expected.diagonal() << 2, 2, 2, 0.6, 0.5, 0.4;
  CHECK((at.by_vv - expected).norm() <= rounding(8, 1.0));
  // A tree with no mass at all has no energy.
  const SpatialTree<double> empty(
      {SpatialBody<double>::link(-1, JointKind::revolute, Point::Unit(0))});
  LagrangianDerivatives<double> none;
  none.resize(1);
  empty.write_lagrangian_curvature(VectorX<double>::Ones(1), VectorX<double>::Ones(1), 0, none);
  CHECK(none.value == 0);
  CHECK(none.by_vv(0, 0) == 0);
  // A wheel without mass has the inertia that it was given.
  auto wheel = SpatialBody<double>::link(-1, JointKind::revolute, Point::Unit(0));
  wheel.inertia.diagonal() << 0.5, 0.25, 0.25;
  const SpatialTree<double> turning({wheel});
  turning.write_lagrangian_curvature(VectorX<double>::Ones(1), VectorX<double>::Ones(1), 0, none);
  CHECK(std::abs(none.by_vv(0, 0) - 0.5) <= rounding(4, 1.0));
}

TEST_CASE("spatial_tree: a configuration that is not a number is not taken for another",
          "[variational][edge]") {
  std::mt19937 generator(23);
  const SpatialTree<double> tree(random_tree(generator, 3));
  const auto q = draw(generator, 3);
  const Point before = tree.point(q, 2, Point::Zero());
  auto bad = q;
  bad(2) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(tree.point(bad, 2, Point::Ones()).allFinite());
  CHECK((tree.point(q, 2, Point::Zero()) - before).norm() == 0);
  const SpatialTree<double> copy = tree;
  CHECK((copy.point(q, 2, Point::Zero()) - before).norm() == 0);
}

TEST_CASE("spatial_tree: bad gravity and bad bodies are refused", "[variational][edge]") {
  std::mt19937 generator(29);
  const auto bodies = random_tree(generator, 2);
  const Point gravity(0, std::numeric_limits<double>::infinity(), 0);
  CHECK_THROWS_WITH(SpatialTree<double>(bodies, {gravity}),
                    "gravity entry 1: expected a finite number, got inf");
  CHECK_THROWS_WITH(SpatialTree<double>({}), "bodies: expected at least 1, got 0");
}

}  // namespace spatial_tree_test
