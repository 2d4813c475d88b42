// SPDX-License-Identifier: BSD-3-Clause
#include "carom/variational/detail/legendre.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/mechanical_systems.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"

namespace legendre_test {

using namespace carom::testing;
using carom::Index, carom::LegendreMap, carom::MatrixX, carom::VectorX;

namespace {

/// L = −√(1 − v²): not quadratic, p = v/√(1 − v²).
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

TEST_CASE("legendre: constraints may take up the whole momentum, and leave its roundings",
          "[variational][edge]") {
  VectorSource<double> random(7);
  const auto entry = [&] { return 2 * random.unit() - 1; };
  int count = 0;
  for (int exponent = -320; exponent <= 300; exponent += 5) {
    for (int draw = 0; draw < 40; ++draw, ++count) {
      const double size = std::pow(10.0, exponent);
      const Index n = 1 + draw % 5;
      MassesOnLine system;
      for (Index i = 0; i < n; ++i) system.masses.push_back(random.positive(2));
      // From one row to as many as there are coordinates: chains, in either direction and any
      // order, or drawn rows.
      const Index rows = 1 + draw / 5 % n;
      MatrixX<double> gradients = MatrixX<double>::Zero(rows, n);
      for (Index k = 0; k < rows; ++k) {
        for (Index j = 0; j < n; ++j) gradients(k, j) = entry();
        if (draw % 2 == 0) continue;
        const Index at = draw % 4 == 1 ? k : rows - 1 - k;
        gradients.row(k).setZero();
        gradients(k, at) = draw % 3 == 0 ? -1 : 1;
        if (at > 0) gradients(k, at - 1) = -gradients(k, at);
      }
      // All of the momentum is along the rows.
      VectorX<double> p = VectorX<double>::Zero(n), v(n);
      for (Index k = 0; k < rows; ++k) p += gradients.row(k).transpose() * (size * entry());
      CAPTURE(n, rows, exponent, draw, p.transpose(), gradients);
      LegendreMap<MassesOnLine> map;
      map.prepare(system, rows);
      v.setZero();
      const double largest = p.cwiseAbs().maxCoeff();
      REQUIRE(map.constrain(system, VectorX<double>::Zero(n), 0, {gradients, rows}, v, p));
      const double tiny = std::numeric_limits<double>::min();
      const double condition = 1e4;  // of the drawn rows, at most
      CHECK(v.cwiseAbs().maxCoeff() <= tiny + rounding(64, condition) * largest);
      CHECK(p.cwiseAbs().maxCoeff() <= tiny + rounding(64, condition) * largest);
    }
  }
  CHECK(count == 5000);
}

}  // namespace legendre_test

namespace initial_state_test {

using namespace carom::testing;
using carom::detail::state_fault;

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

}  // namespace initial_state_test
