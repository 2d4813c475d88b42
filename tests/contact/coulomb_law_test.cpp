// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/coulomb_law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/law_oracle.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace coulomb_law_test {

using carom::testing::by_differences;

using carom::coulomb_impulse, carom::coulomb_slope, carom::de_saxce_velocity, carom::ImpulseSet;
using carom::ImpulseShape, carom::RowNumbers;
using carom::testing::convert_law, carom::testing::draw_law, carom::testing::draw_matrix;
using carom::testing::draw_pair, carom::testing::law_error;
using carom::testing::lift_of, carom::testing::Long, carom::testing::OracleBlock;
using carom::testing::OracleShape, carom::testing::rounding, carom::testing::shape_of;
using carom::testing::VectorSource, carom::testing::WorstCase;
using Rows = RowNumbers<double>;
using LongRows = RowNumbers<Long>;

static_assert(noexcept(coulomb_impulse(std::declval<const ImpulseSet<double>&>(),
                                       std::declval<const Rows&>())));
static_assert(noexcept(coulomb_slope(std::declval<const ImpulseSet<double>&>(),
                                     std::declval<const Rows&>())));
static_assert(noexcept(de_saxce_velocity(std::declval<const ImpulseSet<double>&>(),
                                         std::declval<const Rows&>())));

namespace {

constexpr int kinds = 12;

/// A set of a drawn shape, moved now and then.
ImpulseSet<double> draw_set(VectorSource<double>& source, int kind) {
  ImpulseSet<double> set = draw_law(source, kind).set;
  if (set.shape != ImpulseShape::intervals && source.unit() < 0.3) {
    set.shift.head(set.rows) = draw_matrix(source, set.rows, 1);
  }
  return set;
}

/// Numbers a > 0 that the map allows: any per normal and per block, ∝ μ² within it.
Rows draw_steps(VectorSource<double>& source, const ImpulseSet<double>& set) {
  Rows a = Rows::Ones();
  for (int i = 0; i < set.rows; ++i) a(i) = source.positive(2);
  for (const OracleBlock& block : shape_of(set).blocks) {
    const double common = source.positive(2);
    for (std::size_t k = 0; k < block.rows.size(); ++k) {
      const double mu = double(block.friction[k]);
      a(block.rows[k]) = mu > 0 ? common * mu * mu : common;
    }
  }
  return a;
}

}  // namespace

TEST_CASE("coulomb law: the words", "[contact][example]") {
  CHECK(std::string(to_string(carom::FrictionLaw::coulomb)) == "coulomb");
  CHECK(std::string(to_string(carom::FrictionLaw::convex)) == "convex");
}

TEST_CASE("coulomb law: pairs that obey the law are fixed points of the map, for any step",
          "[contact][law]") {
  VectorSource<double> source(31u);
  WorstCase oracle("pairs obey the law"), fixed("fixed point");
  for (int sample = 0; sample < 3000; ++sample) {
    const auto set = draw_set(source, sample % kinds);
    const auto [gamma, u] = draw_pair(source, set);
    oracle.see(law_error(set, gamma, u), rounding(50, 1.0), gamma, u);
    const Rows a = draw_steps(source, set), y = gamma - a.cwiseProduct(u);
    fixed.see((coulomb_impulse(set, y) - gamma).norm(),
              rounding(20, 1 + y.norm() + gamma.norm() + set.shift.norm()), y, gamma, set.friction);
  }
  oracle.check(3000);
  fixed.check(3000);
}

TEMPLATE_TEST_CASE("coulomb law: what the map gives obeys the law with the velocity it implies",
                   "[contact][law]", float, double) {
  using Scalar = TestType;
  constexpr Long unit = std::numeric_limits<Scalar>::epsilon();
  VectorSource<double> source(32u);
  WorstCase holds("the law"), again("idempotent"), outside("zero beyond the rows");
  for (int sample = 0; sample < 3000; ++sample) {
    auto law = draw_law(source, sample % kinds);
    if (sample % 3 == 0) law.set.friction *= source.positive(6);
    const auto set = convert_law<Scalar>(law).set;
    const Rows a = draw_steps(source, law.set);
    RowNumbers<Scalar> y = RowNumbers<Scalar>::Zero();
    for (int i = 0; i < set.rows; ++i) y(i) = Scalar(source.entry(sample % 2 == 0 ? 12 : 1));
    const RowNumbers<Scalar> gamma = coulomb_impulse(set, y);
    outside.see((gamma + set.shift).tail(6 - set.rows).cwiseAbs().sum(), 0);
    again.see((coulomb_impulse(set, gamma) - gamma).norm(),
              rounding(8, gamma.norm() + set.shift.norm()), y, set.friction);
    const OracleShape shape = shape_of(set);
    const LongRows g = (gamma + set.shift).template cast<Long>();
    const LongRows change = (gamma - y).template cast<Long>();
    LongRows u = LongRows::Zero();
    for (int i = 0; i < set.rows; ++i) u(i) = change(i) / Long(a(i));
    if (shape.normal < 0) {
      holds.see(law_error(set, g, change), 0, y);
      continue;
    }
    const auto size_of = [&](int row) {
      return std::abs(Long(y(row))) + std::abs(Long(set.shift(row)));
    };
    const int n = shape.normal;
    const Long push = g(n);
    holds.see(std::abs(std::min(push, change(n))), 4 * unit * size_of(n), y);
    // Block by block, in units of its own: small rows beside large ones count.
    for (const OracleBlock& block : shape.blocks) {
      Long reach = 0, work = 0, noise = 0;
      for (std::size_t k = 0; k < block.rows.size(); ++k) {
        const int row = block.rows[k];
        const Long mu = block.friction[k];
        if (mu == 0) {
          holds.see(std::abs(g(row)), 4 * unit * size_of(row));
          continue;
        }
        reach += g(row) / mu * (g(row) / mu);
        work -= g(row) * u(row);
        noise += (mu * push + size_of(row)) * size_of(row) / Long(a(row));
      }
      reach = std::sqrt(reach);
      if (set.shift.isZero(0)) holds.see(std::max(Long(0), reach - push), 8 * unit * push, y);
      holds.see(std::abs(push * slip_of(block, u) - work), 20 * unit * noise, y, set.friction);
    }
  }
  for (const WorstCase* law : {&holds, &again, &outside}) law->check(2700);
}

TEST_CASE("coulomb law: it is the complementarity of impulse and De Saxce's velocity",
          "[contact][law]") {
  VectorSource<double> source(33u);
  WorstCase lifted("u + sum of mu |u_b| n"), dual("in the dual cone"), across("no power"),
      back("complementary pairs obey the law");
  for (int sample = 0; sample < 3000; ++sample) {
    const auto set = draw_set(source, 4 + sample % 6);
    const auto [gamma, u] = draw_pair(source, set);
    const int n = shape_of(set).normal;
    Rows expected = u;
    expected(n) += double(lift_of(set, u));
    const Rows tilde = de_saxce_velocity(set, u);
    lifted.see((tilde - expected).norm(), rounding(8, 1 + expected.norm()), u);
    dual.see(std::max(Long(0), lift_of(set, tilde) - Long(tilde(n))),
             rounding(20, 1 + tilde.norm()), u);
    across.see(std::abs((gamma + set.shift).dot(tilde)),
               rounding(20, 1 + (gamma.norm() + set.shift.norm()) * tilde.norm()), gamma, u);
    // y = γ − ũ with γ ⟂ ũ is what a projection finds (Moreau).
    Rows y = Rows::Zero();
    y.head(set.rows) = 2 * draw_matrix(source, set.rows, 1);
    const Rows ones = Rows::Ones(), point = nearest_impulse(set, ones, y);
    Rows velocity = point - y;
    velocity(n) -= double(lift_of(set, velocity));
    back.see(law_error(set, point, velocity), rounding(500, 1.0) * (1 + set.friction.norm()), y,
             set.friction);
  }
  for (const WorstCase* law : {&lifted, &dual, &across, &back}) law->check(3000);
  for (int kind = 0; kind < 4; ++kind) {  // rows between bounds keep their velocity
    const auto set = draw_law(source, kind).set;
    const Rows u = draw_matrix(source, 6, 1);
    CHECK(de_saxce_velocity(set, u) == u);
  }
}

TEST_CASE("coulomb law: the slope is the map's", "[contact][derivative]") {
  VectorSource<double> source(34u);
  WorstCase outside("zero beyond the rows");
  long off = 0;
  for (int sample = 0; sample < 3000; ++sample) {
    auto law = draw_law(source, sample % kinds);
    if (sample % 2 == 0 && law.set.shape != ImpulseShape::intervals) {
      law.set.shift.head(law.set.rows) = draw_matrix(source, law.set.rows, 1);
    }
    Rows y = Rows::Zero(), d = Rows::Zero();
    y.head(law.set.rows) = 3 * draw_matrix(source, law.set.rows, 1);
    d.head(law.set.rows) = draw_matrix(source, law.set.rows, 1);
    const auto slope = coulomb_slope(law.set, y);
    const auto set = convert_law<Long>(law).set;
    const LongRows from = y.cast<Long>(), step = d.cast<Long>() * 1e-7L;
    const LongRows rise = (coulomb_impulse(set, LongRows(from + step)) -
                           coulomb_impulse(set, LongRows(from - step))) /
                          2e-7L;
    const Long error = (rise - slope.cast<Long>() * d.cast<Long>()).norm();
    off += error > 1e-8L * (1 + rise.norm()) ? 1 : 0;  // a kink within 1e-7 of y
    const int rest = 6 - law.set.rows;
    outside.see(slope.rightCols(rest).norm() + slope.bottomRows(rest).norm(), 0);
  }
  CHECK(off <= 4);
  outside.check(3000);
}

TEMPLATE_TEST_CASE("coulomb law: on a kink the slope is that of a side", "[contact][derivative]",
                   float, double) {
  using Scalar = TestType;
  using Vec = RowNumbers<Scalar>;
  const auto set = carom::friction_impulses(Scalar(0.5));
  const auto slope = [&](Scalar x, Scalar y, Scalar z) {
    const Vec at = (Vec() << x, y, z, 0, 0, 0).finished();
    return carom::SquareMatrix<Scalar, 3>(coulomb_slope(set, at).template topLeftCorner<3, 3>());
  };
  CHECK(slope(0, 0, 0).isZero(0));                // the apex: open
  CHECK(slope(1, 2, 0).isZero(0));                // no push
  CHECK(slope(1, 2, -1).isZero(0));               // pull
  CHECK(slope(0, 0, 1).isIdentity(0));            // the axis: stick
  CHECK(slope(Scalar(0.5), 0, 1).isIdentity(0));  // the surface: stick
  CHECK(!slope(Scalar(0.5) + Scalar(1e-3), 0, 1).isIdentity(Scalar(1e-3)));
  const auto smooth = carom::friction_impulses(Scalar(0));
  const Vec at = (Vec() << 1, 2, 3, 0, 0, 0).finished();
  CHECK(coulomb_impulse(smooth, at) == (Vec() << 0, 0, 3, 0, 0, 0).finished());
  CHECK(coulomb_slope(smooth, at).sum() == 1);
  CHECK(coulomb_slope(smooth, at)(2, 2) == 1);
  const auto elliptic =
      carom::cone_impulses<Scalar>(ImpulseShape::elliptic, {Scalar(0.5), Scalar(0), Scalar(0)});
  CHECK(coulomb_impulse(elliptic, at) == (Vec() << 1, 0, 3, 0, 0, 0).finished());
  CHECK(coulomb_slope(elliptic, at).sum() == 2);
}

TEST_CASE("coulomb law: the normal does not depend on the tangents, as it would in the convex law",
          "[contact][example]") {
  const auto set = carom::friction_impulses(0.5);
  const Rows y = (Rows() << 3, 4, 2, 0, 0, 0).finished(), ones = Rows::Ones();
  const Rows gamma = coulomb_impulse(set, y), convex = nearest_impulse(set, ones, y);
  CHECK((gamma - (Rows() << 0.6, 0.8, 2, 0, 0, 0).finished()).norm() <= rounding(4, 3.0));
  CHECK(convex(2) == Approx(3.6));  // (2 + 5 μ)/(1 + μ²)
  // Torsion and rolling are bounded by the same normal, each by itself.
  const auto rolling = carom::cone_impulses<double>(ImpulseShape::rolling, {0.5, 0.1, 0.05});
  const Rows wrench = (Rows() << 3, 4, 2, 0.03, 0.04, -7).finished();
  CHECK((coulomb_impulse(rolling, wrench) - (Rows() << 0.6, 0.8, 2, 0.03, 0.04, -0.1).finished())
            .norm() <= rounding(4, 3.0));
}

namespace {

/// Weights R > 0, of any ratio.
Rows draw_weights(VectorSource<double>& source, int rows) {
  Rows weights = Rows::Ones();
  for (int i = 0; i < rows; ++i) weights(i) = source.positive(2);
  return weights;
}

}  // namespace

TEST_CASE(
    "coulomb law: of a compliant contact the other rows are nearest by R in what the normal "
    "allows",
    "[contact][law]") {
  VectorSource<double> source(401u);
  WorstCase normal("normal"), inside("in the disc"), optimal("R (y - x) = multiplier x / mu^2"),
      clipped("intervals"), slides("slides");
  for (int sample = 0; sample < 6000; ++sample) {
    const ImpulseSet<double> set = draw_set(source, sample % kinds);
    const Rows weights = draw_weights(source, set.rows);
    Rows y = Rows::Zero();
    y.head(set.rows) = 2 * draw_matrix(source, set.rows, 1);
    const Rows gamma = coulomb_impulse(set, weights, y);
    const Rows x = gamma + set.shift, z = y + set.shift;
    const auto shape = shape_of(set);
    if (set.shape == ImpulseShape::intervals) {
      clipped.see_holds(gamma == nearest_impulse(set, weights, y));
      continue;
    }
    const int n = set.shape == ImpulseShape::planar ? 1 : 2;
    normal.see(std::abs(x(n) - std::max(z(n), 0.0)), rounding(4, std::abs(z(n))));
    for (const OracleBlock& block : shape.blocks) {
      double length = 0, pull = 0, size = 0;  // ‖x/μ‖², multiplier from the first row that moves
      for (std::size_t k = 0; k < block.rows.size(); ++k) {
        const double mu = double(block.friction[k]);
        if (mu > 0) length += std::pow(x(block.rows[k]) / mu, 2);
        if (mu == 0) inside.see_holds(x(block.rows[k]) == 0);
        size += std::abs(z(block.rows[k]));
      }
      inside.see(std::sqrt(length), x(n) + rounding(100, size + x(n)));
      double work = 0;
      for (std::size_t k = 0; k < block.rows.size(); ++k) {
        const int row = block.rows[k];
        if (!(block.friction[k] > 0)) continue;
        pull += weights(row) * (z(row) - x(row)) * x(row);
        work += weights(row) * std::abs(z(row)) * std::abs(x(row));
      }
      const bool slip = std::sqrt(length) > x(n) * (1 - 1e-9) && x(n) > 0;
      if (slip) slides.see_holds(pull >= -rounding(100, work));
      for (std::size_t k = 0; k < block.rows.size() && x(n) > 0; ++k) {
        const int row = block.rows[k];
        const double mu = double(block.friction[k]);
        if (!(mu > 0)) continue;
        const double wanted = slip ? pull / length * x(row) / (mu * mu) : 0;
        optimal.see(std::abs(weights(row) * (z(row) - x(row)) - wanted),
                    rounding(1e6, weights(row) * std::abs(z(row)) + std::abs(wanted)));
      }
    }
  }
  for (const WorstCase* law : {&normal, &inside, &optimal, &slides}) law->check(500);
  clipped.check(500);
}

TEST_CASE("coulomb law: where R is in proportion to 1/mu^2 both maps are one", "[contact][law]") {
  VectorSource<double> source(402u);
  WorstCase same("impulse");
  for (int sample = 0; sample < 3000; ++sample) {
    const ImpulseSet<double> set = draw_set(source, sample % kinds);
    Rows weights = draw_steps(source, set).cwiseInverse();
    Rows y = Rows::Zero();
    y.head(set.rows) = 2 * draw_matrix(source, set.rows, 1);
    same.see((coulomb_impulse(set, weights, y) - coulomb_impulse(set, y)).norm(),
             rounding(100, y.norm() + set.shift.norm()));
  }
  same.check(3000);
}

TEST_CASE("coulomb law: G of a compliant contact is the slope of its impulse",
          "[contact][derivative]") {
  VectorSource<double> source(403u);
  WorstCase slope("G R, by central differences");
  for (int sample = 0; sample < 3000; ++sample) {
    const ImpulseSet<double> set = draw_set(source, sample % kinds);
    const Rows weights = draw_weights(source, set.rows);
    Rows y = Rows::Zero(), d = y;
    y.head(set.rows) = 2 * draw_matrix(source, set.rows, 1);
    d.head(set.rows) = draw_matrix(source, set.rows, 1);
    const double h = 1e-6;
    const auto g = [&](double step) {
      return carom::coulomb_curvature(set, weights, Rows(y + step * d));
    };
    // Between two regions of the law G jumps.
    if ((g(4 * h) - g(-4 * h)).norm() > 1e-2 * (1e-3 + g(0).norm())) continue;
    const Rows difference = (coulomb_impulse(set, weights, Rows(y + h * d)) -
                             coulomb_impulse(set, weights, Rows(y - h * d))) /
                            (2 * h);
    const Rows expected = g(0) * weights.cwiseProduct(d);
    slope.see((difference - expected).norm(),
              by_differences(1e-6) * (1 + expected.norm()) * (1 + y.norm()));
  }
  slope.check(2500);
}

}  // namespace coulomb_law_test
