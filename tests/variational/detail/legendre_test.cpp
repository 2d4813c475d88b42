// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/legendre.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "carom/impact/mass_matrix.hpp"

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/tolerance.hpp"

namespace constrained_mass_test {

using namespace carom::testing;
using carom::ConstrainedMass, carom::MatrixX, carom::VectorX;

static_assert(carom::InverseMassLike<ConstrainedMass<double>>);

TEST_CASE("constrained_mass: M v is p up to the constraints' impulse, C v = 0",
          "[variational][law]") {
  MatrixX<double> mass(3, 3), rows(2, 3);
  mass << 4, 1, 0, 1, 3, 1, 0, 1, 2;
  rows << 1, -1, 2, 7, 7, 7;
  ConstrainedMass<double> constrained;
  constrained.prepare(3, 2);
  const VectorX<double> p = numbers<double>({1, 2, 3});
  REQUIRE(constrained.factor(mass, rows, 1));  // the second row is not in use
  VectorX<double> v = p;
  constrained.apply_inverse(v);
  const VectorX<double> change = mass * v - p;
  CHECK(std::abs(rows.row(0).dot(v)) <= rounding(16, 4.0));
  CHECK((change - change(0) * rows.row(0).transpose()).norm() <= rounding(32, 8.0));
  CHECK(std::abs(change(0)) > 0.1);
  REQUIRE(constrained.factor(mass, rows, 0));
  v = p;
  constrained.apply_inverse(v);
  CHECK((mass * v - p).norm() <= rounding(32, 8.0));
  CHECK(constrained.rows() == 0);
  mass.setZero();
  CHECK_FALSE(constrained.factor(mass, rows, 0));
}

TEST_CASE("constrained_mass: solve meets both right-hand sides", "[variational][law]") {
  MatrixX<double> mass(3, 3), rows(2, 3);
  mass << 4, 1, 0, 1, 3, 1, 0, 1, 2;
  rows << 1, -1, 2, 0, 1, 1;
  ConstrainedMass<double> constrained;
  constrained.prepare(3, 2);
  REQUIRE(constrained.factor(mass, rows, 2));
  CHECK(constrained.rows() == 2);
  VectorX<double> x = numbers<double>({1, 2, 3, -4, 5});
  constrained.solve(x);
  const VectorX<double> v = x.head(3), multipliers = x.tail(2);
  CHECK((mass * v + rows.transpose() * multipliers - numbers<double>({1, 2, 3})).norm() <=
        rounding(64, 8.0));
  CHECK((rows * v - numbers<double>({-4, 5})).norm() <= rounding(64, 8.0));
}

}  // namespace constrained_mass_test

namespace legendre_test {

using namespace carom::testing;
using carom::Index, carom::LegendreMap, carom::MatrixX, carom::VectorX;

namespace {

/// L = −√(1 − v²): not quadratic, p = v/√(1 − v²), energy 1/√(1 − v²).
struct Relativistic {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q&, const Q& v, const T&) const {
    using std::sqrt;
    return -sqrt(1.0 - v(0) * v(0));
  }
};

}  // namespace

TEMPLATE_TEST_CASE("legendre: there and back", "[variational][law]", float, double) {
  using Scalar = TestType;
  const DoublePendulum<Scalar> system;
  LegendreMap<DoublePendulum<Scalar>> map;
  map.prepare(system);
  const VectorX<Scalar> q = numbers<Scalar>({1, 0.2}), v = numbers<Scalar>({3, -2});
  VectorX<Scalar> p(2), back = VectorX<Scalar>::Zero(2);
  map.write_momentum(system, q, v, Scalar(0), p);
  REQUIRE(map.write_velocity(system, q, p, Scalar(0), back));
  CHECK((back - v).norm() <= rounding(64, Scalar(10)));
  const Scalar c = std::cos(Scalar(0.8));
  CHECK(std::abs(p(0) - (6 - 2 * c)) <= rounding(8, Scalar(8)));
  const Scalar kinetic = 9 + 2 - 6 * c;
  const Scalar potential = -2 * std::cos(Scalar(1)) - std::cos(Scalar(0.2));
  CHECK(std::abs(map.energy(system, q, v, Scalar(0)) - kinetic - potential) <=
        rounding(16, Scalar(20)));
  CHECK(std::abs(map.mass()(0, 1) - c) <= rounding(4, Scalar(1)));
}

TEST_CASE("legendre: Lagrangians that are not quadratic", "[variational][oracle]") {
  const Relativistic system;
  LegendreMap<Relativistic> map;
  map.prepare(system);
  const VectorX<double> q = numbers<double>({0}), p = numbers<double>({0.75});
  VectorX<double> v = numbers<double>({0.1});
  REQUIRE(map.write_velocity(system, q, p, 0, v));
  CHECK(std::abs(v(0) - 0.6) <= rounding(64, 1.0));
  CHECK(std::abs(map.energy(system, q, v, 0) - 1.25) <= rounding(512, 1.0));
}

TEST_CASE("legendre: constraints take the momentum's part across", "[variational][law]") {
  const DoublePendulum<double> system;
  LegendreMap<DoublePendulum<double>> map;
  map.prepare(system, 1);
  const VectorX<double> q = numbers<double>({1, 0.2});
  VectorX<double> p = numbers<double>({3, -1}), v = VectorX<double>::Zero(2);
  const VectorX<double> before = p;
  MatrixX<double> gradient(1, 2);
  gradient << 1, -2;
  REQUIRE(map.constrain(system, q, 0, {gradient, 1}, v, p));
  CHECK(std::abs(v(0) - 2 * v(1)) <= rounding(64, 1.0));
  const VectorX<double> change = p - before;
  CHECK(std::abs(change(0) * -2 - change(1)) <= rounding(64, 1.0));
  VectorX<double> again = VectorX<double>::Zero(2);
  map.write_momentum(system, q, v, 0, again);
  CHECK((again - p).norm() <= rounding(64, 1.0));
}

TEST_CASE("legendre: no velocity without mass", "[variational][edge]") {
  const Oscillator<double> system{0, 1};
  LegendreMap<Oscillator<double>> map;
  map.prepare(system);
  VectorX<double> v = numbers<double>({0});
  CHECK_FALSE(map.write_velocity(system, numbers<double>({1}), numbers<double>({1}), 0, v));
}

TEST_CASE("legendre: a factor is used again at its own configuration only", "[variational][law]") {
  const DoublePendulum<double> system;
  LegendreMap<DoublePendulum<double>> map, fresh;
  map.prepare(system);
  const VectorX<double> p = numbers<double>({3, -1}), other = numbers<double>({-2, 0.5});
  VectorX<double> v(2), expected(2);
  // Two configurations in turn, with other momenta: the answers are those of a fresh map.
  for (const double angle : {0.2, 0.2, 0.2 + 1e-9, 1.3, 0.2, 1.3, 1.3}) {
    const VectorX<double> q = numbers<double>({1, angle});
    for (const VectorX<double>& momentum : {p, other}) {
      fresh.prepare(system);
      v.setZero();
      expected.setZero();
      REQUIRE(map.write_velocity(system, q, momentum, 0, v));
      REQUIRE(fresh.write_velocity(system, q, momentum, 0, expected));
      CHECK((v - expected).norm() <= rounding(16, 10.0));
      CHECK(map.mass() == fresh.mass());
    }
  }
  // A Lagrangian that is not quadratic has another mass at each velocity.
  const Relativistic fast;
  LegendreMap<Relativistic> curved;
  curved.prepare(fast);
  VectorX<double> u = numbers<double>({0.1});
  for (const double momentum : {0.75, 0.5, 0.75, -0.6}) {
    u.setZero();
    REQUIRE(curved.write_velocity(fast, numbers<double>({0}), numbers<double>({momentum}), 0, u));
    CHECK(std::abs(u(0) - momentum / std::sqrt(1 + momentum * momentum)) <= rounding(64, 1.0));
  }
}

namespace {

/// L = v²·v^¼: p = 9/4 v^(5/4), whose slope, the mass, vanishes with v.
struct Lessening {
  using scalar_type = double;
  [[nodiscard]] Index size() const { return 1; }
  template <typename Q, typename T>
  [[nodiscard]] T lagrangian(const Q&, const Q& v, const T&) const {
    using std::sqrt;
    return v(0) * v(0) * sqrt(sqrt(v(0)));
  }
};

}  // namespace

TEST_CASE("legendre: where the mass vanishes at the answer, no velocity is given",
          "[variational][edge]") {
  const Lessening system;
  LegendreMap<Lessening> map;
  map.prepare(system);
  const VectorX<double> q = numbers<double>({0});
  VectorX<double> v = numbers<double>({20});
  REQUIRE(map.write_velocity(system, q, numbers<double>({72}), 0, v));
  CHECK(std::abs(v(0) - 16) <= rounding(512, 1.0));  // 9/4 · 16^(5/4) = 72
  CHECK_FALSE(map.write_velocity(system, q, numbers<double>({0}), 0, v));
  CHECK(v(0) <= rounding(8, 1.0));  // each iteration leaves a fifth of it
}

}  // namespace legendre_test

namespace initial_state_test {

using namespace carom::testing;
using carom::LegendreMap, carom::MechanicalState, carom::detail::make_state,
    carom::detail::state_fault;

TEST_CASE("initial_state: a fault names what does not fit", "[variational][input]") {
  const Thrown<double> body;
  const auto two = numbers<double>({1, 2}), three = numbers<double>({1, 2, 3});
  const auto broken = numbers<double>({1, std::numeric_limits<double>::infinity()});
  const auto starts = [](const carom::Fault& fault, const std::string& start) {
    CAPTURE(fault, start);
    return fault.compare(0, start.size(), start) == 0;
  };
  CHECK(state_fault(body, {0, two, two}).empty());
  CHECK(starts(state_fault(body, {0, three, two}), "configuration entries"));
  CHECK(starts(state_fault(body, {0, two, three}), "momentum entries"));
  CHECK(starts(state_fault(body, {0, two, broken}), "momentum"));
  CHECK(starts(state_fault(body, {std::numeric_limits<double>::quiet_NaN(), two, two}), "time"));
}

TEST_CASE("initial_state: a state is made from a velocity, or refused", "[variational][input]") {
  const Thrown<double> body;
  LegendreMap<Thrown<double>> legendre;
  legendre.prepare(body);
  const auto q = numbers<double>({1, 2});
  const MechanicalState<double> state =
      make_state(body, legendre, q, numbers<double>({3, -1}), 4.0);
  CHECK(state.time == 4);
  CHECK(state.momentum == body.mass * numbers<double>({3, -1}));
  CHECK_THROWS_AS(make_state(body, legendre, q, numbers<double>({3}), 0.0), std::invalid_argument);
}

}  // namespace initial_state_test
