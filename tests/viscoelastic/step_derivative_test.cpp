// SPDX-License-Identifier: BSD-3-Clause
#include "carom/viscoelastic/step_derivative.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <unsupported/Eigen/MatrixFunctions>
#include <vector>

#include <Eigen/Dense>

#include "carom/viscoelastic/free_body.hpp"

#include "support/box_body.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace step_derivative_test {

using carom::ContactMaterial, carom::FreeBody, carom::FreeBodyState, carom::Index, carom::MatrixX,
    carom::SlipLaw, carom::Vector3, carom::VectorX, carom::ViscoelasticOptions,
    carom::ViscoelasticStepDerivative, carom::ViscoelasticStepper;
using carom::testing::by_conditioning, carom::testing::by_differences, carom::testing::by_float,
    carom::testing::clearly, carom::testing::make_box, carom::testing::make_material,
    carom::testing::make_point, carom::testing::rest_state, carom::testing::rounding;
using Number = carom::FirstOrder<double, 4>;

namespace {

/// Vectors of numbers between -1 and 1.
class Source {
 public:
  explicit Source(std::uint32_t seed) : numbers_(seed) {}
  [[nodiscard]] VectorX<double> make(Index size) {
    VectorX<double> result(size);
    for (Index i = 0; i < size; ++i) result(i) = 2 * numbers_.unit() - 1;
    return result;
  }

 private:
  carom::testing::VectorSource<double> numbers_;
};

/// A stepper's start: its mechanism, what its contacts are made of, and its anchors.
struct Start {
  using System = FreeBody<double>;
  System system = make_box();
  std::vector<ContactMaterial<double>> materials =
      std::vector<ContactMaterial<double>>(4, make_material());
  ViscoelasticOptions<double> options = {.event_tolerance = 1e-15};
  FreeBodyState<double> state = rest_state();
  std::vector<int> active = {1, 1, 1, 1};
  VectorX<double> anchors;
  double dt = 0.003;

  [[nodiscard]] Index velocities() const { return system.velocity_count(); }
  [[nodiscard]] Index contacts() const { return system.contact_count(); }
  [[nodiscard]] Index rows() const { return 2 * velocities() + 3 * contacts(); }
  [[nodiscard]] Index parameters() const { return rows() + 2 * velocities() + 7 * contacts(); }

  /// Puts the anchors below their points, and then away by a little.
  void place_anchors(double away) {
    carom::Growing<MatrixX<double>> jacobian;
    carom::Growing<VectorX<double>> points, drift;
    jacobian.grow(3 * contacts(), velocities());
    points.grow(3 * contacts());
    drift.grow(3 * contacts());
    system.write_contacts(state, points, jacobian, drift);
    anchors = points.array() + away;
  }

  [[nodiscard]] ViscoelasticStepper<System> stepper() const {
    ViscoelasticStepper<System> stepper(system, materials, options);
    for (Index i = 0; i < contacts(); ++i) {
      if (active[std::size_t(i)] != 0) stepper.set_anchor(i, anchors.segment<3>(3 * i));
    }
    return stepper;
  }
};

/// State and velocity changed along tangent coordinates.
template <typename System>
void shift(const System& system, typename System::State& state, const VectorX<double>& change) {
  const Index k = system.velocity_count();
  carom::Growing<VectorX<double>> place, velocity;
  place.grow(k);
  velocity.grow(k);
  system.write_velocity(state, velocity);
  place = change.head(k);
  velocity += change.segment(k, k);
  system.advance(state, place, velocity);
}

/// The start with everything changed, in the order of ViscoelasticStepDerivative::matrix().
Start changed(const Start& start, const VectorX<double>& change) {
  Start result = start;
  const Index n = start.contacts(), rows = start.rows();
  shift(result.system, result.state, change.head(12));
  result.anchors += change.segment(12, 3 * n);
  result.system.force += change.segment<3>(rows);
  result.system.torque += change.segment<3>(rows + 3);
  result.system.gravity += change.segment<3>(rows + 6);
  for (Index i = 0; i < n; ++i) {
    auto& material = result.materials[std::size_t(i)];
    material.stiffness += change.segment<3>(rows + 12 + 3 * i);
    material.damping += change.segment<3>(rows + 12 + 3 * n + 3 * i);
    material.friction += change(rows + 12 + 6 * n + i);
  }
  result.dt += change(start.parameters());
  return result;
}

/// What a step leads to: the state, as its difference from another, and what happened.
struct End {
  VectorX<double> values;
  carom::ViscoelasticReport report;
};
End after(const Start& start, const FreeBodyState<double>& from) {
  auto stepper = start.stepper();
  FreeBodyState<double> state = start.state;
  End end;
  end.report = stepper.step(state, start.dt);
  carom::Growing<VectorX<double>> place;
  place.grow(6);
  start.system.write_difference(from, state, place);
  end.values.setZero(start.rows());
  end.values.head<6>() = place;
  end.values.segment<3>(6) = state.velocity;
  end.values.segment<3>(9) = state.rate;
  for (Index i = 0; i < start.contacts(); ++i) {
    if (stepper.active(i)) end.values.segment<2>(12 + 3 * i) = stepper.anchors().segment<2>(3 * i);
  }
  return end;
}

[[nodiscard]] bool alike(const carom::ViscoelasticReport& a, const carom::ViscoelasticReport& b) {
  return a.parts == b.parts && a.closed == b.closed && a.opened == b.opened && a.status == b.status;
}

/// A change of everything by amounts that matter about equally.
VectorX<double> make_change(Source& source, const Start& start) {
  const Index n = start.contacts(), rows = start.rows();
  VectorX<double> change = source.make(start.parameters() + 1);
  change.head<6>() *= 1e-5;
  change.segment<6>(6) *= 1e-2;
  change.segment(12, 3 * n) *= 1e-5;
  for (Index i = 0; i < n; ++i) change(12 + 3 * i + 2) = 0;
  change.segment<6>(rows + 6) *= 0.1;
  change.segment<3>(rows + 9).setZero();  // no parameter of FreeBody
  change.segment(rows + 12, 3 * n) *= 1e3;
  change.segment(rows + 12 + 3 * n, 3 * n) *= 3;
  change.segment(rows + 12 + 6 * n, n) *= 0.01;
  change(start.parameters()) *= 0.01 * start.dt;
  return change;
}

enum class Kind { stick, slide, roll, fall, lift, released, convex };

Start make_start(Source& source, Kind kind) {
  Start start;
  const bool slides = kind == Kind::slide || kind == Kind::convex || kind == Kind::released;
  start.state.position += 1e-5 * source.make(3);
  start.state.velocity = 0.01 * source.make(3);
  start.state.rate = 0.01 * source.make(3);
  for (auto& material : start.materials) material.friction = slides ? 0.3 : 4;
  if (slides) {
    start.state.velocity += Vector3<double>(0.4, -0.2, 0);
    start.state.rate(2) += 1;
  }
  if (kind == Kind::roll) start.state.rate += Vector3<double>(0.5, 0.9, 0.1);
  if (kind == Kind::lift || kind == Kind::released) {
    start.state.velocity(2) += 0.15;
    start.state.rate += Vector3<double>(0.1, 0.2, 0.1);
  }
  if (kind == Kind::released) start.options.events = false;
  if (kind == Kind::convex) {
    start.options.law = SlipLaw::convex;
    start.options.events = false;  // anchors that rise make and break contacts without end
  }
  if (kind == Kind::fall) {
    start.state.position(2) += 0.004;
    start.state.velocity += Vector3<double>(0.3, 0.1, -0.5);
    start.state.rate += Vector3<double>(0.6, 0.3, 0.5);
    start.active = {0, 0, 0, 0};
    start.dt = 0.012;
  }
  if (source.make(1)(0) > 0) {  // no multiple of K
    for (auto& material : start.materials) material.damping(0) += 50;
  }
  start.place_anchors(1e-5);
  return start;
}

/// Largest error of the parts of a state: places, velocities, anchors.
double error_of(const VectorX<double>& got, const VectorX<double>& expected) {
  const VectorX<double> apart = got - expected;
  const auto relative = [&](Index first, Index count) {
    const double size = expected.segment(first, count).norm();
    return size > 0 ? apart.segment(first, count).norm() / size
                    : apart.segment(first, count).norm();
  };
  return std::max({relative(0, 6), relative(6, 6), relative(12, got.size() - 12)});
}

}  // namespace

TEST_CASE("step_derivative: it is that of differences, to their order",
          "[viscoelastic][derivative]") {
  Source source(20u);
  for (const Kind kind : {Kind::stick, Kind::slide, Kind::roll, Kind::fall, Kind::lift,
                          Kind::released, Kind::convex}) {
    int used = 0, closed = 0, opened = 0;
    const int rounds = carom::testing::sweep(2, 15);
    for (int round = 0; round < rounds; ++round) {
      const Start start = make_start(source, kind);
      const VectorX<double> change = make_change(source, start);
      auto stepper = start.stepper();
      ViscoelasticStepDerivative<FreeBody<double>> derivative(stepper);
      FreeBodyState<double> state = start.state;
      const auto report = derivative.step(stepper, state, start.dt);
      CAPTURE(int(kind), round, report.parts, report.closed, report.opened);
      REQUIRE(report.converged());
      VectorX<double> exact(start.rows());
      derivative.push_forward(change, exact);
      bool same = derivative.one_sided().empty();
      const auto difference = [&](double h) -> VectorX<double> {
        const End up = after(changed(start, h * change), state);
        const End down = after(changed(start, -h * change), state);
        same = same && alike(up.report, report) && alike(down.report, report);
        return (up.values - down.values) / (2 * h);
      };
      const double h = 0.02;
      const VectorX<double> wide = difference(h), narrow = difference(h / 2);
      if (!same) continue;
      const double coarse = error_of(wide, exact), fine = error_of(narrow, exact);
      const double best = error_of((4 * narrow - wide) / 3, exact);
      CAPTURE(coarse, fine, best);
      ++used;
      closed += report.closed;
      opened += report.opened;
      CHECK(best <= by_differences(2e-7));
      if (coarse > clearly(1e-7)) {  // above what rounding leaves
        CHECK(coarse / fine > 3);
        CHECK(coarse / fine < 5);
      }
    }
    CAPTURE(int(kind));
    CHECK(used > rounds / 2);
    if (kind == Kind::fall) CHECK(closed > used);
    if (kind == Kind::roll || kind == Kind::lift) CHECK(opened > used / 2);
  }
}

namespace {

/// A ball that flies freely and bounces off compliant cushions, in any numbers: the closed form of
/// a half oscillation, m ẍ + b ẋ + k x = 0 from x = 0, until k x + b ẋ = 0.
///
/// Notation: σ = b/2m, ω² = k/m − σ², θ = ω t at the end.
template <typename Scalar>
struct Bounce {
  Scalar depth, speed, duration;
};
template <typename Scalar>
Bounce<Scalar> bounce(const Scalar& speed, const Scalar& k, const Scalar& b, double m) {
  using std::atan2, std::cos, std::exp, std::sin, std::sqrt;
  const Scalar sigma = b / (2 * m), omega = sqrt(k / m - sigma * sigma);
  const Scalar theta =
      std::numbers::pi - atan2(Scalar(2 * sigma * omega), Scalar(k / m - 2 * sigma * sigma));
  const Scalar decay = exp(-sigma * theta / omega);
  return {speed / omega * decay * sin(theta),
          -(speed * decay * (cos(theta) - sigma / omega * sin(theta))), theta / omega};
}

/// Flies for a time between cushions at 0 and `width`; counts the bounces.
template <typename Scalar>
int fly(Scalar& x, Scalar& v, double width, Scalar time, const Scalar& k, const Scalar& b,
        double m) {
  for (int hits = 0;; ++hits) {
    const bool up = v > Scalar(0);
    const Scalar speed = up ? v : -v;
    const Scalar flight = (up ? width - x : x) / speed;
    if (flight > time) {
      x += v * time;
      return hits;
    }
    const auto out = bounce(speed, k, b, m);
    time -= flight + out.duration;
    REQUIRE(time > Scalar(0));  // it does not end on a cushion
    x = up ? width + out.depth : -out.depth;
    v = up ? -out.speed : out.speed;
  }
}

/// A ball on a rectangular table: its contact rows are the four cushions, without friction.
struct CushionedTable {
  using scalar_type = double;
  template <typename Scalar>
  struct StateOf {
    carom::Vector<Scalar, 2> place, velocity;
    template <typename Other>
    [[nodiscard]] StateOf<Other> cast() const {
      return {place.template cast<Other>(), velocity.template cast<Other>()};
    }
  };
  using State = StateOf<double>;
  double mass = 0.2, length = 1.0, width = 0.6;

  [[nodiscard]] static Index velocity_count() { return 2; }
  [[nodiscard]] static Index contact_count() { return 4; }
  template <typename Scalar, typename Matrix, typename Values>
  void write_dynamics(const StateOf<Scalar>&, Matrix& inertia, Values& acceleration) const {
    inertia.setIdentity();
    inertia *= Scalar(mass);
    acceleration.setZero();
  }
  template <typename Scalar, typename Matrix, typename Values>
  void write_contacts(const StateOf<Scalar>& state, Values& points, Matrix& jacobian,
                      Values& drift) const {
    points.setZero();
    jacobian.setZero();
    drift.setZero();
    for (Index axis = 0; axis < 2; ++axis) {  // at 0, then at the far side
      const double size = axis == 0 ? length : width;
      points(6 * axis + 2) = state.place(axis);
      jacobian(6 * axis + 2, axis) = Scalar(1);
      points(6 * axis + 5) = size - state.place(axis);
      jacobian(6 * axis + 5, axis) = Scalar(-1);
    }
  }
  template <typename Scalar, typename Values>
  void write_velocity(const StateOf<Scalar>& state, Values& velocity) const {
    velocity = state.velocity;
  }
  template <typename Scalar, typename Values>
  void advance(StateOf<Scalar>& state, const Values& displacement, const Values& velocity) const {
    state.place += displacement;
    state.velocity = velocity;
  }
  template <typename Scalar, typename Values>
  void write_difference(const StateOf<Scalar>& from, const StateOf<Scalar>& to,
                        Values& displacement) const {
    displacement = to.place - from.place;
  }
};
/// The same in numbers of one kind only: it steps, and has no derivative.
struct PlainTable : CushionedTable {
  struct State : StateOf<double> {
    template <typename Other>
    void cast() const = delete;
  };
};

static_assert(carom::DifferentiableMechanism<CushionedTable>);
static_assert(carom::ContactMechanism<PlainTable>);
static_assert(!carom::DifferentiableMechanism<PlainTable>);
static_assert(carom::DifferentiableMechanism<FreeBody<double>>);

ContactMaterial<double> make_cushion(double stiffness, double damping) {
  return {Vector3<double>(0, 0, stiffness), Vector3<double>(0, 0, damping), 0};
}

}  // namespace

namespace {

/// A mass on a spring and a damper after a time, m ẍ + b ẋ + k x = f, from x = 0: where, how fast.
///
/// Notation: σ = b/2m, ω² = k/m − σ².
template <typename Scalar>
std::array<Scalar, 2> swing(const Scalar& speed, const Scalar& k, const Scalar& b, double m,
                            const Scalar& force, const Scalar& time) {
  using std::cos, std::exp, std::sin, std::sqrt;
  const Scalar sigma = b / (2 * m), omega = sqrt(k / m - sigma * sigma), rest = force / k;
  const Scalar wide = (speed - sigma * rest) / omega;
  const Scalar c = cos(omega * time), s = sin(omega * time), decay = exp(-sigma * time);
  return {rest + decay * (wide * s - rest * c),
          decay * (omega * (wide * c + rest * s) - sigma * (wide * s - rest * c))};
}

using Many = carom::FirstOrder<double, 10>;

/// A ball thrown aslant at a floor of springs and dampers to which it sticks until they pull.
struct Skip {
  // Of x and z, along the floor and up from it; z starts above the floor, and falls.
  Many x{0.1}, z{0.4}, vx{0.8}, vz{-3.0}, fall{-9.81}, time{0.4};
  Many stiffness_x{600.0}, stiffness_z{2e3}, damping_x{2.0}, damping_z{6.0};
  double mass = 1;
  Many stretch, landing, contact;  ///< at the release [m]; when it lands, how long it stays [s]

  void fly(const Many& flight) {
    x += vx * flight;
    z += vz * flight + fall * flight * flight / 2;
    vz += fall * flight;
    time -= flight;
  }
  /// Flies, sticks, and flies on.
  void run() {
    using std::sqrt;
    landing = (-vz - sqrt(vz * vz - 2 * fall * z)) / fall;
    fly(landing);
    // Newton's method on k z + b ż = 0, once more than the value needs: so that derivatives have
    // it.
    contact = Many(std::numbers::pi / std::sqrt(stiffness_z.value / mass));
    for (int k = 0; k < 12; ++k) {
      const auto [place, speed] = swing(vz, stiffness_z, damping_z, mass, mass * fall, contact);
      const Many pull = stiffness_z * place + damping_z * speed;
      const Many acceleration = fall - pull / mass;
      contact -= pull / (stiffness_z * speed + damping_z * acceleration);
    }
    const auto along = swing(vx, stiffness_x, damping_x, mass, Many(0.0), contact);
    const auto up = swing(vz, stiffness_z, damping_z, mass, mass * fall, contact);
    stretch = along[0];
    x += along[0], vx = along[1];
    z += up[0], vz = up[1];
    time -= contact;
    fly(time);
  }
};

}  // namespace

TEST_CASE("step_derivative: a contact released with its spring stretched has its closed form",
          "[viscoelastic][derivative][scene]") {
  Skip skip;
  Many* const inputs[10] = {&skip.x,         &skip.z,        &skip.vx,          &skip.vz,
                            &skip.fall,      &skip.time,     &skip.stiffness_x, &skip.stiffness_z,
                            &skip.damping_x, &skip.damping_z};
  for (int i = 0; i < 10; ++i) inputs[i]->inner(i) = 1;
  const Skip start = skip;
  skip.run();
  REQUIRE(skip.stretch.value > clearly(0.01));
  REQUIRE(skip.vx.value < 0);  // the spring has turned it
  for (const SlipLaw law : {SlipLaw::coulomb, SlipLaw::convex, SlipLaw::stick}) {
    for (const int steps : {8, 13, 100}) {
      if (steps == 100 && law != SlipLaw::stick) continue;  // its last step in contact would slip
      CAPTURE(int(law), steps);
      auto body = make_point();
      body.gravity << 0, 0, start.fall.value;
      ContactMaterial<double> floor;
      floor.stiffness << start.stiffness_x.value, 1, start.stiffness_z.value;
      floor.damping << start.damping_x.value, 1, start.damping_z.value;
      floor.friction = 2;
      ViscoelasticStepper<FreeBody<double>> stepper(body, {floor},
                                                    {.law = law, .event_tolerance = 1e-16});
      ViscoelasticStepDerivative<FreeBody<double>> derivative(stepper);
      FreeBodyState<double> state;
      state.position << start.x.value, 0, start.z.value;
      state.velocity << start.vx.value, 0, start.vz.value;
      MatrixX<double> by_start = MatrixX<double>::Identity(15, 15);
      MatrixX<double> by_rest = MatrixX<double>::Zero(15, derivative.matrix().cols() - 15);
      int closed = 0, opened = 0;
      for (int i = 0; i < steps; ++i) {
        const auto report = derivative.step(stepper, state, start.time.value / steps);
        REQUIRE(report.converged());
        closed += report.closed;
        opened += report.opened;
        CHECK(derivative.one_sided().empty());
        by_start = derivative.by_state() * by_start;
        by_rest = derivative.by_state() * by_rest + derivative.matrix().rightCols(by_rest.cols());
      }
      REQUIRE(closed == 1);
      REQUIRE(opened == 1);
      const Index acceleration = 6, stiffness = 12, damping = 15, friction = 18, time = 19;
      const Many ends[4] = {skip.x, skip.z, skip.vx, skip.vz};
      const double places[4] = {state.position(0), state.position(2), state.velocity(0),
                                state.velocity(2)};
      for (const int end : {0, 1, 2, 3}) {
        const Index row = std::array<Index, 4>{0, 2, 6, 8}[std::size_t(end)];
        const double got[10] = {by_start(row, 0),
                                by_start(row, 2),
                                by_start(row, 6),
                                by_start(row, 8),
                                by_rest(row, acceleration + 2),
                                by_rest(row, time) / steps,
                                by_rest(row, stiffness),
                                by_rest(row, stiffness + 2),
                                by_rest(row, damping),
                                by_rest(row, damping + 2)};
        CAPTURE(end, places[end] - ends[end].value);
        CHECK(std::abs(places[end] - ends[end].value) <= by_conditioning(1e-12));
        for (int i = 0; i < 10; ++i) {
          CAPTURE(i, got[i], ends[end].inner(i), got[i] - ends[end].inner(i));
          CHECK(std::abs(got[i] - ends[end].inner(i)) <=
                by_conditioning(1e-11) * (1 + std::abs(ends[end].inner(i))));
        }
        CHECK(by_rest(row, friction) == 0);  // it sticks
      }
      CHECK(by_start.bottomRows(3).isZero(0));  // the anchor is gone
    }
  }
}

TEST_CASE("step_derivative: a shot over five cushions has its closed form",
          "[viscoelastic][derivative][scene]") {
  const CushionedTable table;
  const double k = 2e4, b = 4, time = 1.5;
  CushionedTable::State state{{0.3, 0.2}, {1.6, -1.3}};
  Number x[2], v[2];
  int hits = 0;
  for (int axis = 0; axis < 2; ++axis) {
    x[axis] = state.place(axis);
    v[axis] = state.velocity(axis);
    x[axis].inner(0) = v[axis].inner(1) = 1;
    Number stiffness(k), damping(b);
    stiffness.inner(2) = damping.inner(3) = 1;
    hits += fly(x[axis], v[axis], axis == 0 ? table.length : table.width, Number(time), stiffness,
                damping, table.mass);
  }
  REQUIRE(hits == 5);

  ViscoelasticStepper<CushionedTable> stepper(table, {make_cushion(k, b)},
                                              {.event_tolerance = 1e-16});
  ViscoelasticStepDerivative<CushionedTable> derivative(stepper);
  const int steps = 250;
  MatrixX<double> by_start = MatrixX<double>::Identity(16, 16);
  MatrixX<double> by_stiffness = MatrixX<double>::Zero(16, 12), by_damping = by_stiffness;
  int closed = 0;
  for (int i = 0; i < steps; ++i) {
    const auto report = derivative.step(stepper, state, time / steps);
    REQUIRE(report.converged());
    REQUIRE(derivative.one_sided().empty());
    closed += report.closed;
    by_start = derivative.by_state() * by_start;
    by_stiffness = derivative.by_state() * by_stiffness + derivative.by_stiffness();
    by_damping = derivative.by_state() * by_damping + derivative.by_damping();
  }
  CHECK(closed == 5);
  for (Index axis = 0; axis < 2; ++axis) {
    CHECK(std::abs(state.place(axis) - x[axis].value) <= by_conditioning(1e-11));
    CHECK(std::abs(state.velocity(axis) - v[axis].value) <= by_conditioning(1e-11));
    for (const bool speeds : {false, true}) {
      const Index row = axis + (speeds ? 2 : 0);
      const Number& expected = speeds ? v[axis] : x[axis];
      const double got[4] = {by_start(row, axis), by_start(row, 2 + axis),
                             by_stiffness.row(row).sum(), by_damping.row(row).sum()};
      for (int i = 0; i < 4; ++i) {
        CAPTURE(axis, speeds, i, got[i], expected.inner(i), got[i] - expected.inner(i));
        CHECK(std::abs(got[i] - expected.inner(i)) <= by_conditioning(1e-10));
      }
    }
  }
}

TEST_CASE("step_derivative: a held mass has the derivative of its matrix exponential",
          "[viscoelastic][derivative][oracle]") {
  const double dt = 0.01;
  for (const double k : {0.0, 1e3, 1e5}) {
    for (const double b : {0.0, 30.0, 2000.0}) {
      ContactMaterial<double> material = make_cushion(k, b);
      ViscoelasticStepper<FreeBody<double>> stepper(make_point(), {material},
                                                    {.law = SlipLaw::stick, .events = false});
      stepper.set_anchor(0, Vector3<double>::Zero());
      ViscoelasticStepDerivative<FreeBody<double>> derivative(stepper);
      FreeBodyState<double> state;
      state.position(2) = -1e-3;
      state.velocity(2) = 0.2;
      const Eigen::Vector3d start(-1e-3, 0.2, 1);
      // (z, ż, 1), and its derivative by K, B and gravity in the corner of a doubled matrix. With
      // speeds in units of w the exponential is accurate to rounding.
      Eigen::Matrix3d a = Eigen::Matrix3d::Zero();
      a << 0, 1, 0, -k, -b, -9.81, 0, 0, 0;
      const double w = std::max(std::sqrt(k), 1 / dt);
      const Eigen::Vector3d units(1, 1 / w, 1);
      const auto scaled = [&](const Eigen::Matrix3d& m) -> Eigen::Matrix3d {
        return units.asDiagonal() * m * units.cwiseInverse().asDiagonal();
      };
      const auto unscaled = [&](const Eigen::Matrix3d& m) -> Eigen::Matrix3d {
        return units.cwiseInverse().asDiagonal() * m * units.asDiagonal();
      };
      const Eigen::Matrix3d flow = unscaled(Eigen::Matrix3d((scaled(a) * dt).exp()));
      REQUIRE(derivative.step(stepper, state, dt).converged());
      const Eigen::Vector3d end = flow * start;
      CAPTURE(k, b);
      CHECK(std::abs(state.position(2) - end(0)) <= rounding(2000, 0.01));
      const auto by_state = derivative.by_state();
      Eigen::Matrix2d got;
      got << by_state(2, 2), by_state(2, 8), by_state(8, 2), by_state(8, 8);
      CHECK((got - flow.topLeftCorner<2, 2>()).norm() <= rounding(2000, flow.norm()));
      const auto along = [&](int row, int column) -> Eigen::Vector2d {
        Eigen::Matrix3d change = Eigen::Matrix3d::Zero();
        change(row, column) = column == 2 ? 1 : -1;
        Eigen::Matrix<double, 6, 6> twice = Eigen::Matrix<double, 6, 6>::Zero();
        twice.topLeftCorner<3, 3>() = twice.bottomRightCorner<3, 3>() = scaled(a) * dt;
        twice.topRightCorner<3, 3>() = scaled(change) * dt;
        const Eigen::Matrix<double, 6, 6> grown = twice.exp();
        return (unscaled(grown.topRightCorner<3, 3>()) * start).head<2>();
      };
      const auto both = [](const auto& column) -> Eigen::Vector2d {
        return {column(2), column(8)};
      };
      const double scale = std::max(1.0, flow.norm());
      CHECK((both(derivative.by_stiffness().col(2)) - along(1, 0)).norm() <= rounding(2000, scale));
      CHECK((both(derivative.by_damping().col(2)) - along(1, 1)).norm() <= rounding(2000, scale));
      CHECK((both(derivative.by_acceleration().col(2)) - along(1, 2)).norm() <=
            rounding(2000, scale));
      CHECK((both(derivative.by_force().col(2)) - along(1, 2)).norm() <= rounding(2000, scale));
      const Eigen::Vector3d motion = a * end;
      CHECK((both(derivative.by_time_step()) - motion.head<2>()).norm() <=
            rounding(4000, motion.norm() + k * 0.01 + b));
    }
  }
}

TEST_CASE("step_derivative: backwards is the transpose of forwards",
          "[viscoelastic][derivative][law]") {
  Source source(21u);
  for (const Kind kind : {Kind::stick, Kind::slide, Kind::fall, Kind::lift}) {
    const Start start = make_start(source, kind);
    auto stepper = start.stepper();
    ViscoelasticStepDerivative<FreeBody<double>> derivative(stepper);
    FreeBodyState<double> state = start.state;
    REQUIRE(derivative.step(stepper, state, start.dt).converged());
    const VectorX<double> change = make_change(source, start), weights = source.make(start.rows());
    VectorX<double> out(start.rows()), gradient(start.parameters() + 1);
    derivative.push_forward(change, out);
    derivative.pull_back(weights, gradient);
    const double scale = gradient.cwiseAbs().dot(change.cwiseAbs());
    CHECK(std::abs(weights.dot(out) - gradient.dot(change)) <= rounding(100, scale));
    CHECK(out.norm() > 0);
    CHECK(gradient(start.parameters()) != 0);
  }
}

TEST_CASE("step_derivative: the step itself stays the same to the last bit",
          "[viscoelastic][derivative][law]") {
  Source source(22u);
  for (const Kind kind : {Kind::slide, Kind::roll, Kind::fall, Kind::lift, Kind::convex}) {
    const Start start = make_start(source, kind);
    auto plain = start.stepper(), watched = start.stepper();
    ViscoelasticStepDerivative<FreeBody<double>> derivative(watched);
    FreeBodyState<double> a = start.state, b = start.state;
    for (int i = 0; i < 4; ++i) {
      const auto expected = plain.step(a, start.dt), got = derivative.step(watched, b, start.dt);
      CHECK(alike(got, expected));
      CHECK(a.position == b.position);
      CHECK(a.orientation == b.orientation);
      CHECK(a.velocity == b.velocity);
      CHECK(a.rate == b.rate);
      CHECK(plain.anchors() == watched.anchors());
      CHECK(plain.forces() == watched.forces());
    }
  }
}

TEST_CASE("step_derivative: contacts without a two-sided derivative are named",
          "[viscoelastic][derivative]") {
  const auto named = [](const Start& start) {
    auto stepper = start.stepper();
    ViscoelasticStepDerivative<FreeBody<double>> derivative(stepper);
    FreeBodyState<double> state = start.state;
    CHECK(derivative.step(stepper, state, start.dt).converged());
    CHECK(derivative.matrix().allFinite());
    return std::vector<Index>(derivative.one_sided().begin(), derivative.one_sided().end());
  };
  const std::vector<Index> all = {0, 1, 2, 3};
  Start start;
  start.place_anchors(0);
  CHECK(named(start).empty());         // rest
  start.system.force(0) = 0.5 * 98.1;  // as much as friction can hold
  start.place_anchors(-0.5 * 98.1 / 4 / 1e5);
  for (Index i = 0; i < 12; i += 3) start.anchors(i + 1) += 0.5 * 98.1 / 4 / 1e5;
  start.materials.assign(4, make_material(1e5, 0));
  start.system.torque(1) = -0.1 * 0.5 * 98.1;  // the line of the push is at the ground
  CHECK(named(start) == all);

  Start flat;  // four corners touch at once
  flat.active = {0, 0, 0, 0};
  flat.state.position(2) = 0.101;
  flat.state.velocity(2) = -1;
  flat.anchors.setZero(12);
  CHECK(named(flat) == all);

  Start late;  // a point touches just when the step ends
  late.system = make_point();
  late.system.gravity.setZero();
  late.materials.resize(1);
  late.active = {0};
  late.anchors.setZero(3);
  late.dt = 0.5;
  late.state = {};
  for (const double height : {0.5, 0.5 + 1e-12, 0.5 - 1e-12}) {
    late.state.position(2) = height;
    late.state.velocity(2) = -1;
    CAPTURE(height - 0.5);
    CHECK(named(late) == std::vector<Index>{0});
  }
  late.state.position(2) = 0.5 + 1e-5;
  CHECK(named(late).empty());
}

TEST_CASE("step_derivative: in float it is that in double", "[viscoelastic][derivative]") {
  const auto slide = [](auto scalar) {
    using Scalar = decltype(scalar);
    using Body = FreeBody<Scalar>;
    std::vector<Vector3<Scalar>> corners;
    for (const auto& x : {-0.2, 0.2}) {
      for (const auto& y : {-0.15, 0.15}) {
        corners.push_back(Vector3<double>(x, y, -0.1).cast<Scalar>());
      }
    }
    const Vector3<Scalar> inertia(Scalar(0.11), Scalar(0.17), Scalar(0.21));
    Body body(Scalar(10), inertia.asDiagonal(), corners);
    ContactMaterial<Scalar> material;
    material.stiffness.setConstant(Scalar(1e4));
    material.damping.setConstant(Scalar(100));
    material.friction = Scalar(0.3);
    ViscoelasticStepper<Body> stepper(body, {material});
    ViscoelasticStepDerivative<Body> derivative(stepper);
    FreeBodyState<Scalar> state;
    state.position(2) = Scalar(0.0975);
    state.velocity(0) = Scalar(0.5);
    CHECK(derivative.step(stepper, state, Scalar(0.004)).converged());
    return MatrixX<double>(derivative.matrix().template cast<double>());
  };
  const MatrixX<double> single = slide(1.0f), twice = slide(1.0);
  CHECK((single - twice).norm() <= by_float(1e-3) * twice.norm());
}

TEST_CASE("step_derivative: what it cannot differentiate", "[viscoelastic][derivative]") {
  Start start;
  start.place_anchors(0);
  start.options.law = SlipLaw::radial;
  auto radial = start.stepper();
  CHECK_THROWS_AS(ViscoelasticStepDerivative<FreeBody<double>>(radial), std::invalid_argument);
  start.options.law = SlipLaw::coulomb;
  auto stepper = start.stepper();
  ViscoelasticStepDerivative<FreeBody<double>> derivative(stepper);
  FreeBodyState<double> state = start.state;
  state.velocity(0) = std::numeric_limits<double>::quiet_NaN();
  CHECK(derivative.step(stepper, state, 0.001).status == carom::SolveStatus::not_finite);
  CHECK(derivative.matrix().hasNaN());
  state = start.state;
  CHECK(derivative.step(stepper, state, 0.001).converged());  // and it goes on
  CHECK(derivative.matrix().allFinite());
  // A step of so many oscillations that the series for its derivative would be too long.
  start.options.events = false;
  auto single = start.stepper();
  state = start.state;
  CHECK(derivative.step(single, state, 1e5).status == carom::SolveStatus::not_finite);
  CHECK(derivative.matrix().hasNaN());
}

}  // namespace step_derivative_test
