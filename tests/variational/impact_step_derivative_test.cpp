// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/impact_step_derivative.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <vector>

#include "carom/impact/restitution.hpp"
#include "carom/variational/planar_tree.hpp"

#include "support/catch.hpp"
#include "support/dual.hpp"
#include "support/mechanical_systems.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

#include "scenes/knocking_pendula.hpp"

namespace impact_step_derivative_test {

using namespace carom::testing;
using carom::ImpactResolver, carom::ImpactStepDerivative, carom::ImpactStepOptions;
using carom::ImpactStepper, carom::Index, carom::MatrixX, carom::MechanicalState;
using carom::PlasticImpact, carom::Quadrature, carom::RestitutionImpact;
using carom::StepLinearizationStatus, carom::VectorX;

namespace {

/// A body thrown at a wall x = wall, over a floor y = 0.
template <typename Scalar>
struct ThrownAtWall : Thrown<Scalar> {
  Scalar wall = Scalar(1.5);
  [[nodiscard]] Index gap_count() const { return 2; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = wall - q(0);
    out(1) = q(1);
  }
};

/// A ball without friction between four cushions.
struct Pool {
  using scalar_type = double;
  double width = 2.54, height = 1.27, mass = 0.17;
  [[nodiscard]] Index size() const { return 2; }
  [[nodiscard]] Index gap_count() const { return 4; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q&, const Q& v, const T&) const {
    return mass / 2 * (v(0) * v(0) + v(1) * v(1));
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0);
    out(1) = width - q(0);
    out(2) = q(1);
    out(3) = height - q(1);
  }
};

/// A unit mass under gravity in a round bowl with a bump in the middle.
struct InBowl {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 2; }
  [[nodiscard]] Index gap_count() const { return 2; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q& q, const Q& v, const T&) const {
    return (v(0) * v(0) + v(1) * v(1)) / 2.0 - q(1);
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    using std::sqrt;
    out(0) = 1.0 - sqrt(q(0) * q(0) + q(1) * q(1));
    out(1) = sqrt(q(0) * q(0) + (q(1) + 1.0) * (q(1) + 1.0)) - 0.4;
  }
};

/// A double pendulum beside a wall, whose mass matrix varies.
template <typename Scalar>
struct PendulumAtWall : DoublePendulum<Scalar> {
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    using std::sin;
    out(0) = Scalar(0.7) - sin(q(0)) - sin(q(1));
  }
};

/// The same by mass matrix and potential, with gradients of its own.
struct PendulumAtWallByParts : DoublePendulumByParts<double> {
  [[nodiscard]] Index gap_count() const { return 1; }
  void write_gaps(const VectorX<double>& q, VectorX<double>& out) const {
    out(0) = 0.7 - std::sin(q(0)) - std::sin(q(1));
  }
  void write_gap_gradients(const VectorX<double>& q, MatrixX<double>& out) const {
    out << -std::cos(q(0)), -std::cos(q(1));
  }
  template <typename Weights>
  void add_gap_curvature(const VectorX<double>& q, const Weights& weights,
                         MatrixX<double>& out) const {
    out(0, 0) += weights(0) * std::sin(q(0));
    out(1, 1) += weights(0) * std::sin(q(1));
  }
};

/// The pendula of the example; their gap is flat.
struct Knocking : carom::examples::KnockingPendula {
  template <typename Weights>
  void add_gap_curvature(const VectorX<double>&, const Weights&, MatrixX<double>&) const {}
};

/// A rod whose stop is round.
struct RodAtBall : RodWithStop {
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    using std::sqrt;
    out(0) = sqrt((q(0) - 0.8) * (q(0) - 0.8) + (q(1) + 0.9) * (q(1) + 0.9)) - 0.5;
  }
};

/// An oscillator with damping, or with a drive, that hits a stop.
struct DampedAtStop : Oscillator<double> {
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q, typename T>
  void force(const Q& q, const Q& v, const T&, Q& out) const {
    out(0) = -0.3 * v(0) - 0.2 * q(0) * v(0);
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0) + 0.3;
  }
};
struct DrivenAtStop : DrivenOscillator<double> {
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0) + 0.3;
  }
};

/// A block that slides on a floor with friction.
struct Sliding : ThrownAtWall<double> {
  [[nodiscard]] double friction(Index) const { return 0.3; }
  void write_tangents(const VectorX<double>&, Index contact, MatrixX<double>& out) const noexcept {
    out.setZero();
    out(0, contact == 0 ? 1 : 0) = 1;
  }
};

/// Two unit masses on a line, one behind the other.
struct Followers {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 2; }
  [[nodiscard]] Index gap_count() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q&, const Q& v, const T&) const {
    return (v(0) * v(0) + v(1) * v(1)) / 2.0;
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0) - q(1);
  }
};
/// A mass at a good part of the speed of light, which is 5, and one that is hardly there.
struct Relativistic : OnLine {
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q&, const Q& v, const T&) const {
    using std::sqrt;
    return -25.0 * sqrt(1.0 - v(0) * v(0) / 25.0);
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = q(0);
  }
};
struct Light : OnLine {
  double mass = 1;
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q&, const Q& v, const T&) const {
    return mass * v(0) * v(0) / 2.0;
  }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    out(0) = 1e200 - q(0);
  }
};

/// Three hinged rods over a floor.
struct RodsOverFloor : carom::PlanarTree<double> {
  RodsOverFloor() : carom::PlanarTree<double>(make()) {}
  [[nodiscard]] static std::vector<carom::PlanarBody<double>> make() {
    std::vector<carom::PlanarBody<double>> bodies(3);
    for (int i = 0; i < 3; ++i) {
      bodies[std::size_t(i)].parent = i - 1;
      bodies[std::size_t(i)].centre << 0.5, 0;
      if (i > 0) bodies[std::size_t(i)].hinge << 1, 0;
    }
    return bodies;
  }
  [[nodiscard]] Index gap_count() const { return 2; }
  template <typename Q>
  void gaps(const Q& q, Q& out) const {
    using std::sin;
    out(0) = 1.2 + sin(q(0)) + sin(q(0) + q(1));
    out(1) = out(0) + sin(q(0) + q(1) + q(2));
  }
};

MatrixX<double> symplectic_form(Index n) {
  MatrixX<double> omega = MatrixX<double>::Zero(2 * n, 2 * n);
  omega.topRightCorner(n, n).setIdentity();
  omega.bottomLeftCorner(n, n) = -MatrixX<double>::Identity(n, n);
  return omega;
}

double symplectic_defect(const MatrixX<double>& y) {
  const MatrixX<double> omega = symplectic_form(y.rows() / 2);
  return (y.transpose() * omega * y - omega).norm();
}

VectorX<double> stacked(const MechanicalState<double>& state) {
  VectorX<double> result(2 * state.q.size());
  result << state.q, state.momentum;
  return result;
}

/// Central differences of a step, with what the stepper knows of the trajectory; false where the
/// changes differ in impacts, held contacts or halvings, as where an impact crosses the step's end.
template <typename Stepper>
bool write_differences(const Stepper& stepper, const MechanicalState<double>& state, double h,
                       double change, MatrixX<double>& out) {
  const Index n = state.q.size();
  Stepper first = stepper;
  auto whole = state;
  const auto plain = first.step(whole, h);
  bool alike = true;
  for (Index c = 0; c < 2 * n; ++c) {
    std::array<VectorX<double>, 2> ends;
    for (const int side : {0, 1}) {
      Stepper copy = stepper;
      auto moved = state;
      (c < n ? moved.q(c) : moved.momentum(c - n)) += side == 0 ? -change : change;
      const auto report = copy.step(moved, h);
      alike = alike && report.converged() && report.impacts == plain.impacts &&
              report.substeps == plain.substeps && copy.held().size() == first.held().size();
      ends[std::size_t(side)] = stacked(moved);
    }
    out.col(c) = (ends[1] - ends[0]) / (2 * change);
  }
  return alike;
}

struct Course {
  int impacts = 0, held = 0, released = 0, compared = 0;
};

/// Follows a trajectory and compares every step's derivative with central differences, whose error
/// must shrink as the square of their change.
template <typename System, typename Law>
Course compare(const System& system, const Law& law, std::initializer_list<double> q,
               std::initializer_list<double> v, double h, int steps,
               ImpactStepOptions<double> options = {}, double change = 1e-4) {
  options.event_limit = 100;
  ImpactStepper<System, Law> stepper(system, law, options);
  ImpactStepDerivative derivative(stepper);
  auto state = stepper.make_state(numbers<double>(q), numbers<double>(v));
  const Index n = system.size();
  MatrixX<double> coarse(2 * n, 2 * n), fine(2 * n, 2 * n);
  Course course;
  bool held = false;
  for (int k = 0; k < steps; ++k) {
    const bool alike = write_differences(stepper, state, h, 4 * change, coarse) &&
                       write_differences(stepper, state, h, change, fine);
    const auto report = derivative.step(stepper, state, h);
    CAPTURE(k, to_string(report.status), report.flights, report.impacts);
    REQUIRE(report.usable());
    CHECK(report.one_sided == 0);
    CHECK(report.impacts == report.step.impacts);
    course.impacts += report.impacts;
    course.held += stepper.held().empty() ? 0 : 1;
    if (held && stepper.held().empty()) ++course.released;
    held = !stepper.held().empty();
    if (!alike) continue;
    ++course.compared;
    const MatrixX<double>& y = derivative.matrix();
    const double scale = 1 + y.norm();
    const double wide = (coarse - y).norm(), narrow = (fine - y).norm();
    CAPTURE(y, fine, narrow / scale, wide / scale);
    // The search for an impact ends within 1e-12 of the step, which the differences divide.
    CHECK(narrow <= wide / 8 + by_differences(1e-7) * scale);
    CHECK(narrow <= by_differences(1e-4) * scale);
  }
  CHECK(course.compared == steps);
  return course;
}

}  // namespace

TEST_CASE("impact_step_derivative: elastic impacts of smooth walls keep the symplectic form",
          "[variational][law]") {
  VectorSource<double> source(7);
  int impacts = 0;
  for (int round = 0; round < sweep(3, 12); ++round) {
    ImpactStepper<InBowl> stepper(InBowl{});
    ImpactStepDerivative derivative(stepper);
    const double x = 0.8 * source.unit() - 0.4, speed = 2 * source.unit() - 1;
    auto state = stepper.make_state(numbers<double>({x, 0.1}), numbers<double>({speed, 0.3}));
    for (int k = 0; k < 40; ++k) {
      const auto report = derivative.step(stepper, state, 0.1);
      CAPTURE(round, k, to_string(report.status), report.impacts);
      REQUIRE(report.usable());
      impacts += report.impacts;
      const MatrixX<double>& y = derivative.matrix();
      // Impacts are found to 4096 roundings of the step.
      CHECK(symplectic_defect(y) <= rounding(16 * 4096, y.squaredNorm()));
    }
  }
  CHECK(impacts > sweep(5, 20));
}

TEST_CASE("impact_step_derivative: where potentials bend the form is kept to the step's order",
          "[variational][law]") {
  // An impact keeps the energy of its instant, which is that of the discrete action to order h².
  double before = 0;
  for (const int parts : {1, 4, 16}) {
    ImpactStepper<PendulumAtWall<double>> stepper({});
    ImpactStepDerivative derivative(stepper);
    auto state = stepper.make_state(numbers<double>({0.3, -0.2}), numbers<double>({1, 1.5}));
    MatrixX<double> total = MatrixX<double>::Identity(4, 4);
    int impacts = 0;
    for (int k = 0; k < 10 * parts; ++k) {
      const auto report = derivative.step(stepper, state, 0.04 / parts);
      REQUIRE(report.usable());
      impacts += report.impacts;
      total = derivative.matrix() * total;
    }
    CHECK(impacts == 1);
    const double defect = symplectic_defect(total);
    CAPTURE(parts, defect, before);
    if (parts > 1) CHECK(defect < before / 3);
    before = defect;
  }
}

TEST_CASE("impact_step_derivative: differences agree, and their error has its order",
          "[variational][derivative]") {
  const RestitutionImpact<double> some(0.7);
  CHECK(compare(ThrownAtWall<double>{}, some, {0, 1}, {2, 0.3}, 0.1, 12).impacts == 3);
  CHECK(compare(PendulumAtWall<double>{}, some, {0.3, -0.2}, {1, 1.5}, 0.05, 40).impacts >= 1);
  CHECK(compare(PendulumAtWallByParts{}, ImpactResolver<double>(), {0.3, -0.2}, {1, 1.5}, 0.05, 40)
            .impacts >= 1);
  CHECK(compare(Knocking{}, some, {0.5, 0.6}, {0.3, -0.4}, 0.05, 80).impacts >= 2);
  CHECK(compare(InBowl{}, some, {0.2, 0.3}, {0.9, 0.2}, 0.1, 30).impacts >= 3);
  CHECK(compare(DampedAtStop{}, some, {0.5}, {-0.4}, 0.1, 60).impacts >= 1);
  CHECK(compare(RodsOverFloor{}, some, {-0.1, -0.2, 0.1}, {0, 0, 0.3}, 0.02, 50).impacts >= 1);
}

TEST_CASE("impact_step_derivative: every quadrature is differentiated",
          "[variational][derivative]") {
  for (const auto& rule : {Quadrature<double>::verlet(), Quadrature<double>::rectangle(0.3),
                           Quadrature<double>::symmetric_rectangle(0.2)}) {
    ImpactStepOptions<double> options;
    options.step.quadrature = rule;
    CHECK(compare(PendulumAtWall<double>{}, RestitutionImpact<double>(0.7), {0.3, -0.2}, {1, 1.5},
                  0.05, 20, options)
              .impacts >= 1);
    CHECK(compare(DampedAtStop{}, ImpactResolver<double>(), {0.5}, {-0.4}, 0.1, 30, options)
              .impacts >= 1);
  }
}

TEST_CASE("impact_step_derivative: constraints hold while a contact strikes",
          "[variational][derivative]") {
  const auto stop =
      compare(RodWithStop{}, RestitutionImpact<double>(0.6), {0, -1}, {1, 0}, 0.05, 60);
  CHECK(stop.impacts >= 1);
  const auto ball = compare(RodAtBall{}, ImpactResolver<double>(), {0, -1}, {0.9, 0}, 0.05, 60);
  CHECK(ball.impacts >= 1);
}

TEST_CASE("impact_step_derivative: contacts come to rest, are held and let go",
          "[variational][derivative]") {
  const auto slides =
      compare(OnBall{}, PlasticImpact<double>(), {0.1, 1.3}, {0.1, 0}, 0.05, 60, {}, 1e-6);
  CHECK(slides.impacts == 1);
  CHECK(slides.held > 5);
  CHECK(slides.released == 1);
  const auto bounces =
      compare(OnBall{}, RestitutionImpact<double>(0.3), {0.1, 1.3}, {0.1, 0}, 0.05, 60, {}, 1e-6);
  CHECK(bounces.impacts > 4);
  CHECK(bounces.held > 5);
}

TEST_CASE("impact_step_derivative: a ball at rest forgets how it fell", "[variational][example]") {
  ImpactStepper<BouncingBall<double>, RestitutionImpact<double>> stepper(
      {}, RestitutionImpact<double>(0.5));
  ImpactStepDerivative derivative(stepper);
  auto state = stepper.make_state(numbers<double>({1}), numbers<double>({0}));
  MatrixX<double> total = MatrixX<double>::Identity(2, 2);
  for (int k = 0; k < 40; ++k) {
    REQUIRE(derivative.step(stepper, state, 0.05).usable());
    total = derivative.matrix() * total;
  }
  CHECK(stepper.held().size() == 1);
  CHECK(total.norm() <= rounding(16, 1.0));
}

TEST_CASE("impact_step_derivative: a throw against a wall has a closed form",
          "[variational][oracle]") {
  // Five variables: start, first velocity, restitution. The body hits the wall, then the floor.
  using Number = Dual<double, 5>;
  const double x0 = 0.1, y0 = 1.2, vx0 = 2.3, vy0 = 0.4, e0 = 0.75, end = 1.1;
  const ThrownAtWall<double> system;
  const auto x = Number::variable(x0, 0), y = Number::variable(y0, 1);
  const auto vx = Number::variable(vx0, 2), vy = Number::variable(vy0, 3);
  const auto e = Number::variable(e0, 4);
  const Number g(system.gravity), wall(system.wall), late(end);
  const Number wall_time = (wall - x) / vx;
  const Number floor_time = (vy + sqrt(vy * vy + Number(2) * g * y)) / g;
  const Number after = late - floor_time, bounce = -e * (vy - g * floor_time);
  const Number expected[4] = {wall - e * vx * (late - wall_time),
                              bounce * after - g * after * after / Number(2), -e * vx,
                              bounce - g * after};
  REQUIRE(wall_time.value < end);
  REQUIRE(floor_time.value < end);

  for (const int steps : {1, 11, 37}) {
    ImpactStepper<ThrownAtWall<double>, RestitutionImpact<double>> stepper(
        system, RestitutionImpact<double>(e0));
    ImpactStepDerivative derivative(stepper);
    auto state = stepper.make_state(numbers<double>({x0, y0}), numbers<double>({vx0, vy0}));
    MatrixX<double> total = MatrixX<double>::Identity(4, 4);
    VectorX<double> by_restitution = VectorX<double>::Zero(4);
    for (int k = 0; k < steps; ++k) {
      REQUIRE(derivative.step(stepper, state, end / steps).usable());
      total = derivative.matrix() * total;
      by_restitution = derivative.matrix() * by_restitution + derivative.by_restitution();
    }
    for (Index row = 0; row < 4; ++row) {
      // Momenta are mass times velocity.
      const double size = row < 2 ? 1 : system.mass;
      for (Index column = 0; column < 5; ++column) {
        const double found = column == 4
                                 ? by_restitution(row) / size
                                 : total(row, column) / size * (column < 2 ? 1 : system.mass);
        const double exact = expected[row].slope[std::size_t(column)];
        CAPTURE(steps, row, column, found, exact);
        CHECK(std::abs(found - exact) <= by_solver(1e-10) * (std::max)(1.0, std::abs(exact)));
      }
    }
  }
}

TEST_CASE("impact_step_derivative: the step is the one without a derivative, to the last bit",
          "[variational][law]") {
  ImpactStepper<OnBall, RestitutionImpact<double>> plain({}, RestitutionImpact<double>(0.3));
  auto other = plain;
  ImpactStepDerivative derivative(other);
  auto state = plain.make_state(numbers<double>({0.1, 1.3}), numbers<double>({0.1, 0}));
  auto twin = state;
  for (int k = 0; k < 50; ++k) {
    REQUIRE(plain.step(state, 0.05).converged());
    REQUIRE(derivative.step(other, twin, 0.05).usable());
    CHECK(state.q == twin.q);
    CHECK(state.momentum == twin.momentum);
    CHECK(state.time == twin.time);
  }
}

TEST_CASE("impact_step_derivative: forwards and backwards are each other's transpose",
          "[variational][law]") {
  const double restitution = 0.8, change = 1e-5;
  ImpactStepper<InBowl, RestitutionImpact<double>> stepper({},
                                                           RestitutionImpact<double>(restitution));
  ImpactStepDerivative derivative(stepper);
  auto state = stepper.make_state(numbers<double>({0.2, 0.3}), numbers<double>({0.9, 0.2}));
  VectorSource<double> source(3);
  int bounced = 0;
  for (int k = 0; k < 20; ++k) {
    const auto at = [&](double e) {
      ImpactStepper<InBowl, RestitutionImpact<double>> other({}, RestitutionImpact<double>(e));
      auto moved = state;
      REQUIRE(other.step(moved, 0.1).converged());
      return stacked(moved);
    };
    const VectorX<double> slope =
        (at(restitution + change) - at(restitution - change)) / (2 * change);
    const auto report = derivative.step(stepper, state, 0.1);
    REQUIRE(report.usable());
    REQUIRE(stepper.held().empty());
    VectorX<double> x = source.vector<4>(2), y = source.vector<4>(2), forwards = x, backwards = y;
    derivative.push_forward(forwards);
    const double by_restitution = derivative.pull_back(backwards);
    const double scale = derivative.matrix().norm() * x.norm() * y.norm();
    CHECK(std::abs(y.dot(forwards) - backwards.dot(x)) <= rounding(64, scale));
    CAPTURE(k, by_restitution, slope.dot(y));
    CHECK(std::abs(by_restitution - slope.dot(y)) <= by_differences(1e-7) * (1 + y.norm()));
    bounced += report.impacts;
    CHECK((report.impacts > 0) == (std::abs(by_restitution) > clearly(1e-3)));
  }
  CHECK(bounced >= 2);
}

TEST_CASE("impact_step_derivative: a step that is halved is differentiated part by part",
          "[variational][derivative]") {
  int halved = 0;
  for (int round = 0; round < 30; ++round) {
    ImpactStepper<RootedWell> stepper({});
    ImpactStepDerivative derivative(stepper);
    auto state = stepper.make_state(numbers<double>({0.5}), numbers<double>({-1.5 - 0.05 * round}));
    MatrixX<double> differences(2, 2);
    const bool alike = write_differences(stepper, state, 0.5, 1e-6, differences);
    const auto report = derivative.step(stepper, state, 0.5);
    CAPTURE(round, to_string(report.status), report.step.substeps);
    REQUIRE(report.usable());
    if (!alike || report.step.substeps == 1) continue;
    ++halved;
    CAPTURE(derivative.matrix(), differences);
    CHECK((derivative.matrix() - differences).norm() <= by_differences(1e-6) * differences.norm());
  }
  CHECK(halved > 3);
}

TEST_CASE("impact_step_derivative: what holds on one side only is counted", "[variational][edge]") {
  // At the floor from the start: lifted by d it falls for d/|v|, so that dq/dq is -e.
  ImpactStepper<BouncingBall<double>, RestitutionImpact<double>> stepper(
      {}, RestitutionImpact<double>(0.8));
  ImpactStepDerivative derivative(stepper);
  auto state = stepper.make_state(numbers<double>({0}), numbers<double>({-2}));
  const auto struck = derivative.step(stepper, state, 0.01);
  REQUIRE(struck.usable());
  CHECK(struck.impacts == 1);
  CHECK(struck.one_sided == 1);
  const auto lifted = [](double speed, double h) {
    std::array<VectorX<double>, 2> ends;
    for (const int k : {0, 1}) {
      ImpactStepper<BouncingBall<double>, RestitutionImpact<double>> fresh(
          {}, RestitutionImpact<double>(0.8));
      auto moved = fresh.make_state(numbers<double>({(k + 1) * 1e-5}), numbers<double>({speed}));
      REQUIRE(fresh.step(moved, h).converged());
      ends[std::size_t(k)] = stacked(moved);
    }
    return VectorX<double>((ends[1] - ends[0]) / 1e-5);
  };
  CHECK((derivative.matrix().col(0) - lifted(-2, 0.01)).norm() <= by_differences(1e-3));

  // Thrown up from the floor, it comes back to it.
  ImpactStepper<BouncingBall<double>, RestitutionImpact<double>> thrower(
      {}, RestitutionImpact<double>(0.8));
  auto thrown = thrower.make_state(numbers<double>({0}), numbers<double>({0.3}));
  const auto came_back = derivative.step(thrower, thrown, 0.08);
  REQUIRE(came_back.usable());
  CHECK(came_back.impacts == 1);
  CHECK(came_back.one_sided == 1);
  CHECK((derivative.matrix().col(0) - lifted(0.3, 0.08)).norm() <=
        by_differences(3e-3) * derivative.matrix().norm());

  // Both walls of a corner at once.
  ImpactStepper<Pool> table(Pool{});
  ImpactStepDerivative corner(table);
  auto ball = table.make_state(numbers<double>({0.1, 0.1}), numbers<double>({-1, -1}));
  const auto both = corner.step(table, ball, 0.2);
  REQUIRE(both.usable());
  CHECK(both.impacts == 1);
  CHECK(both.one_sided == 1);

  // At the very end of a step.
  ImpactStepper<Pool> late(Pool{});
  ImpactStepDerivative at_end(late);
  auto shot = late.make_state(numbers<double>({0.2 - 4e-14, 0.6}), numbers<double>({-1, 0}));
  const auto ended = at_end.step(late, shot, 0.2);
  REQUIRE(ended.usable());
  CHECK(ended.impacts == 1);
  CHECK(ended.one_sided == 1);
  CHECK(std::abs(at_end.matrix()(0, 0) + 1) <= by_solver(1e-10));
  CHECK(std::abs(at_end.matrix()(0, 2) * Pool{}.mass + 0.2) <= by_solver(1e-10));
}

TEST_CASE("impact_step_derivative: what has no derivative is refused", "[variational][edge]") {
  SECTION("an impact whose time moves, and a force that depends on time") {
    ImpactStepper<DrivenAtStop> stepper({});
    ImpactStepDerivative derivative(stepper);
    auto state = stepper.make_state(numbers<double>({0.5}), numbers<double>({-0.4}));
    CHECK(derivative.step(stepper, state, 0.1).usable());
    StepLinearizationStatus status = StepLinearizationStatus::linearized;
    for (int k = 0; k < 60 && status == StepLinearizationStatus::linearized; ++k) {
      status = derivative.step(stepper, state, 0.1).status;
    }
    CHECK(status == StepLinearizationStatus::time_dependent);
  }
  SECTION("overlap that is projected out") {
    ImpactStepOptions<double> options;
    options.project_out = true;
    ImpactStepper<BouncingBall<double>> stepper({}, ImpactResolver<double>(), options);
    ImpactStepDerivative derivative(stepper);
    auto state = stepper.make_state(numbers<double>({-0.1}), numbers<double>({1}));
    CHECK(derivative.step(stepper, state, 0.01).status == StepLinearizationStatus::projected);
  }
  SECTION("friction in a held contact") {
    ImpactStepper<Sliding, PlasticImpact<double>> stepper({});
    ImpactStepDerivative derivative(stepper);
    auto state = stepper.make_state(numbers<double>({0, 0.01}), numbers<double>({1, 0}));
    CHECK(derivative.step(stepper, state, 0.01).usable());
    StepLinearizationStatus status = StepLinearizationStatus::linearized;
    for (int k = 0; k < 20 && status == StepLinearizationStatus::linearized; ++k) {
      status = derivative.step(stepper, state, 0.01).status;
    }
    CHECK(status == StepLinearizationStatus::rubbing);
    CHECK(stepper.held().size() == 1);
  }
  SECTION("a gap that closes at no rate") {
    // Side by side one creeps up on the other; ten times as fast it is clear when they meet.
    for (const bool clear : {false, true}) {
      ImpactStepper<Followers> stepper({});
      ImpactStepDerivative derivative(stepper);
      const double creep = clear ? 1e-7 : 1e-8;
      auto state = stepper.make_state(numbers<double>({5e-9, 0}), numbers<double>({1, 1 + creep}));
      const auto status = derivative.step(stepper, state, 1).status;
      CHECK(status ==
            (clear ? StepLinearizationStatus::linearized : StepLinearizationStatus::grazing));
    }
  }
  SECTION("a contact that strikes just where a step begins, while a constraint acts") {
    ImpactStepper<RodWithStop> stepper({});
    ImpactStepDerivative derivative(stepper);
    const double down = std::sqrt(1 - 0.09);
    auto state = stepper.make_state(numbers<double>({0.3, -down}), numbers<double>({down, 0.3}));
    const auto report = derivative.step(stepper, state, 0.01);
    CHECK(report.step.impacts == 1);
    CHECK(report.status == StepLinearizationStatus::boundary);
  }
  SECTION("a wall hit just where a step ends or begins, while the floor is held") {
    for (const bool ends : {true, false}) {
      ImpactStepper<ThrownAtWall<double>, PlasticImpact<double>> stepper({});
      ImpactStepDerivative derivative(stepper);
      const double start = ends ? 1.3 + 4e-14 : 1.3;
      auto state = stepper.make_state(numbers<double>({start, 0}), numbers<double>({1, 0}));
      CHECK(derivative.step(stepper, state, 0.1).usable());
      REQUIRE(stepper.held().size() == 1);
      if (!ends) state.q(0) = 1.5;
      const auto report = derivative.step(stepper, state, 0.1);
      CAPTURE(ends, report.flights, report.impacts);
      CHECK(report.step.impacts == 1);
      CHECK(report.flights == (ends ? 1 : 0));
      CHECK(report.status == StepLinearizationStatus::boundary);
    }
  }
  SECTION("a kinetic energy that is not quadratic, where a flight could begin") {
    ImpactStepper<Relativistic> stepper({});
    ImpactStepDerivative derivative(stepper);
    auto state = stepper.make_state(numbers<double>({1}), numbers<double>({-2}));
    CHECK(derivative.step(stepper, state, 0.01).usable());  // no one asks there
    state = stepper.make_state(numbers<double>({0}), numbers<double>({-2}));
    CHECK(derivative.step(stepper, state, 0.01).status == StepLinearizationStatus::not_quadratic);
  }
  SECTION("an impact that meets the limit of its reflections") {
    // The first ball of three strikes: the knock passes in two reflections.
    for (const Index limit : {1, 2}) {
      ImpactStepper<MassesOnLine> stepper(MassesOnLine{{1, 1, 1}},
                                          ImpactResolver<double>({.reflection_limit = limit}));
      ImpactStepDerivative derivative(stepper);
      auto state = stepper.make_state(numbers<double>({-0.5, 0, 0}), numbers<double>({1, 0, 0}));
      const auto report = derivative.step(stepper, state, 1);
      CHECK(report.step.converged());
      CHECK(report.status == (limit == 1 ? StepLinearizationStatus::unfinished_impact
                                         : StepLinearizationStatus::linearized));
    }
  }
  SECTION("a derivative beyond the largest number") {
    for (const bool heavier : {true, false}) {
      ImpactStepper<Light> stepper(Light{{}, heavier ? 1e-290 : 1e-300});  // dq/dp = h/m
      ImpactStepDerivative derivative(stepper);
      auto state = stepper.make_state(numbers<double>({0}), numbers<double>({1}));
      const auto report = derivative.step(stepper, state, 1e10);
      CHECK(report.step.converged());
      CHECK(report.status ==
            (heavier ? StepLinearizationStatus::linearized : StepLinearizationStatus::singular));
    }
  }
  SECTION("more events than there is room for") {
    ImpactStepper<Pool> stepper(Pool{});
    ImpactStepDerivative derivative(stepper, 3);
    auto state = stepper.make_state(numbers<double>({0.1, 0.5}), numbers<double>({-1, 0}));
    CHECK(derivative.step(stepper, state, 0.05).usable());
    CHECK(derivative.step(stepper, state, 0.1).status == StepLinearizationStatus::incomplete);
  }
  SECTION("a step that fails") {
    ImpactStepper<BouncingBall<double>> stepper({});
    ImpactStepDerivative derivative(stepper);
    auto state = stepper.make_state(numbers<double>({1}), numbers<double>({0}));
    state.momentum(0) = std::nan("");
    CHECK(derivative.step(stepper, state, 0.01).status == StepLinearizationStatus::step_failed);
  }
}

TEST_CASE("impact_step_derivative: overlap from the start strikes at a fixed time",
          "[variational][edge]") {
  // A small change leaves the ball in the floor: the impact stays at the start of the step.
  ImpactStepper<BouncingBall<double>, RestitutionImpact<double>> stepper(
      {}, RestitutionImpact<double>(0.8));
  ImpactStepDerivative derivative(stepper);
  auto state = stepper.make_state(numbers<double>({-0.05}), numbers<double>({-2}));
  MatrixX<double> differences(2, 2);
  REQUIRE(write_differences(stepper, state, 0.01, 1e-5, differences));
  const auto report = derivative.step(stepper, state, 0.01);
  REQUIRE(report.usable());
  CHECK(report.impacts == 1);
  CHECK(report.one_sided == 0);
  CHECK((derivative.matrix() - differences).norm() <= by_differences(1e-8));
  // From within the floor it rises and comes back: the search takes it to a gap that shrinks from
  // that of the start to zero over the step.
  ImpactStepper<BouncingBall<double>, RestitutionImpact<double>> other(
      {}, RestitutionImpact<double>(0.8));
  state = other.make_state(numbers<double>({-0.001}), numbers<double>({0.3}));
  REQUIRE(write_differences(other, state, 0.08, 1e-5, differences));
  const auto falls = derivative.step(other, state, 0.08);
  REQUIRE(falls.usable());
  CHECK(falls.impacts == 1);
  CHECK(falls.one_sided == 0);
  CAPTURE(derivative.matrix(), differences);
  CHECK((derivative.matrix() - differences).norm() <= by_differences(1e-6) * differences.norm());
}

TEST_CASE("impact_step_derivative: float works to its own digits", "[variational][example]") {
  ImpactStepper<PendulumAtWall<float>> stepper({});
  ImpactStepDerivative derivative(stepper);
  ImpactStepper<PendulumAtWall<double>> exact({});
  ImpactStepDerivative oracle(exact);
  auto state = stepper.make_state(numbers<float>({0.3, -0.2}), numbers<float>({1, 1.5}));
  auto twin = exact.make_state(numbers<double>({0.3, -0.2}), numbers<double>({1, 1.5}));
  int impacts = 0;
  for (int k = 0; k < 10; ++k) {
    REQUIRE(derivative.step(stepper, state, 0.05F).usable());
    REQUIRE(oracle.step(exact, twin, 0.05).usable());
    impacts += stepper.events().empty() ? 0 : 1;
    const MatrixX<double> wide = derivative.matrix().cast<double>();
    CHECK((wide - oracle.matrix()).norm() <= by_float(2e-3) * oracle.matrix().norm());
  }
  CHECK(impacts == 1);
}

}  // namespace impact_step_derivative_test
