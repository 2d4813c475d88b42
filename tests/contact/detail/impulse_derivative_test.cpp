// SPDX-License-Identifier: BSD-3-Clause
#include "carom/contact/detail/impulse_derivative.hpp"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/dense_problem.hpp"
#include "support/dual.hpp"
#include "support/limit_change.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace impulse_derivative_test {

using carom::testing::by_differences, carom::testing::clearly;

using carom::ConeRegion, carom::ContactWeights, carom::FrictionCone, carom::ImpulseShape;
using carom::Index, carom::make_impulse_derivative, carom::RegionBoundary, carom::RowNumbers;
using carom::Vector3, carom::WeightedBlock, carom::WeightedContact, carom::testing::draw_law;
using carom::testing::coefficient_of, carom::testing::Dual, carom::testing::foot_on_cone,
    carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

static_assert(noexcept(make_impulse_derivative(std::declval<const WeightedContact<double>&>(),
                                               std::declval<const Vector3<double>&>())));
static_assert(noexcept(make_impulse_derivative(std::declval<const WeightedBlock<double>&>(),
                                               std::declval<const RowNumbers<double>&>())));

namespace {

template <typename Scalar>
struct Sample {
  FrictionCone<Scalar> cone;
  ContactWeights<Scalar> weights;
  Vector3<Scalar> excess;

  [[nodiscard]] WeightedContact<Scalar> law() const {
    return {cone.friction, weights, Vector3<Scalar>::Zero()};
  }
};

template <typename Scalar>
ConeRegion region_of(const Sample<Scalar>& s, const Vector3<Scalar>& e) {
  const Vector3<Scalar> y(e.x() / s.weights.tangent, e.y() / s.weights.tangent,
                          e.z() / s.weights.normal);
  return project(s.cone, s.weights, y).region;
}

template <typename Scalar, typename Visit>
void for_each_sample(int count, const Visit& visit) {
  VectorSource<Scalar> source(515u);
  for (int k = 0; k < count; ++k) {
    visit(Sample<Scalar>{{source.pick({0, 0.01, 0.5, 1, 10})},
                         {source.positive(4), source.positive(4)},
                         source.template vector<3>(3, 0.05)});
  }
}

using Rows = RowNumbers<double>;

Rows impulse_at(const WeightedBlock<double>& law, const Rows& excess) {
  return make_impulse_derivative(law, excess).impulse;
}

bool rolls(ImpulseShape shape) {
  return shape == ImpulseShape::rolling || shape == ImpulseShape::spinless_rolling;
}
bool is_round(ImpulseShape shape) {
  return shape == ImpulseShape::friction || shape == ImpulseShape::torsional || rolls(shape);
}

}  // namespace

TEST_CASE("impulse_derivative: all slopes are those of the nearest point, by autodiff",
          "[contact][derivative]") {
  using Scalar = double;
  using Number = Dual<long double, 6>;
  WorstCase impulse("impulse"), excess("by excess"), friction("by friction"), tangent("by R_t"),
      normal("by R_n"), symmetric("symmetric");
  std::array<int, 3> seen{};
  for_each_sample<Scalar>(6000, [&](const Sample<Scalar>& s) {
    const auto d = make_impulse_derivative(s.law(), s.excess);
    Vector3<Number> e;
    for (std::size_t k = 0; k < 3; ++k) e(Index(k)) = Number::variable(s.excess(Index(k)), k);
    const Number mu = Number::variable(s.cone.friction, 3),
                 r_t = Number::variable(s.weights.tangent, 4),
                 r_n = Number::variable(s.weights.normal, 5);
    const Vector3<Number> foot =
        foot_on_cone<Number>(mu, r_t, r_n, Vector3<Number>(e.x() / r_t, e.y() / r_t, e.z() / r_n));
    ++seen[std::size_t(region_of(s, s.excess))];
    if (d.margin <= 1e-5 * s.excess.norm()) return;  // rounding decides the region
    const long double unit = rounding(300, Scalar(1)), size = d.impulse.norm();
    // Of the slope by a number θ: as large as γ/θ, and as the impulse without the cone by θ.
    const long double reach = s.excess.norm() / std::min(s.weights.tangent, s.weights.normal);
    const long double mass = 1 / std::min(s.weights.tangent, s.weights.normal);
    for (Index i = 0; i < 3; ++i) {
      const auto& slope = foot(i).slope;
      impulse.see(std::abs(d.impulse(i) - foot(i).value), unit * (size + reach / 1000));
      for (Index k = 0; k < 3; ++k) {
        excess.see(std::abs(d.by_excess(i, k) - slope[std::size_t(k)]),
                   10 * unit * mass * (1 + (long double)(s.cone.friction)), s.excess);
        symmetric.see(std::abs(d.by_excess(i, k) - d.by_excess(k, i)), unit * mass);
      }
      friction.see(std::abs(d.by_friction(i) - slope[3]),
                   10 * unit * (size + reach * (1 + (long double)(s.cone.friction))));
      const Vector3<Scalar> zero = Vector3<Scalar>::Zero();
      const Scalar by_tangent = d.change(zero, Vector3<Scalar>(1, 1, 0), 0)(i);
      const Scalar by_normal = d.change(zero, Vector3<Scalar>(0, 0, 1), 0)(i);
      tangent.see(std::abs(by_tangent - slope[4]), unit * reach / s.weights.tangent);
      normal.see(std::abs(by_normal - slope[5]), unit * reach / s.weights.normal);
    }
  });
  for (const int count : seen) CHECK(count > 300);
  for (const WorstCase* law : {&impulse, &excess, &friction, &tangent, &normal, &symmetric}) {
    law->check(10000);
  }
}

TEST_CASE("impulse_derivative: the margin is the distance to the next region", "[contact][law]") {
  VectorSource<double> source(99u);
  WorstCase inside("no change within the margin"), reached("a change just beyond it");
  for_each_sample<double>(300, [&](const Sample<double>& s) {
    if (s.cone.friction == 0) return;
    const auto d = make_impulse_derivative(s.law(), s.excess);
    const ConeRegion here = region_of(s, s.excess);
    const Eigen::Vector2d slip = s.excess.head<2>();
    const double length = slip.norm();
    if (length == 0 || d.margin < 1e-9 * s.excess.norm()) return;
    for (int k = 0; k < 30; ++k) {
      const Vector3<double> any = source.vector<3>(1, 0).normalized();
      inside.see_holds(region_of<double>(s, s.excess + 0.999 * d.margin * any) == here);
    }
    // The nearest point lies in the half-plane of the slip and the normal.
    bool changes = false;
    for (int k = 0; k < 7200 && !changes; ++k) {
      const double angle = k * 3.14159265358979 / 3600;
      Vector3<double> step;
      step << slip * (std::cos(angle) / length), std::sin(angle);
      changes = region_of<double>(s, s.excess + 1.001 * d.margin * step) != here;
    }
    reached.see_holds(changes, s.cone.friction, s.weights.tangent, s.weights.normal, s.excess);
  });
  inside.check(3000);
  reached.check(100);
}

TEST_CASE("impulse_derivative: on a boundary the margin is zero and the boundary named",
          "[contact][example]") {
  const auto at = [](double mu, double e1, double e2, double en) {
    return make_impulse_derivative(WeightedContact<double>{mu, {2, 1}, Vector3<double>::Zero()},
                                   Vector3<double>(e1, e2, en));
  };
  CHECK(at(0.5, 3, 4, 5).margin == Approx(0).margin(rounding(5, 1.0)));  // ‖eₜ‖/2 = ½·5
  CHECK(at(0.5, 3, 4, 5).nearest == RegionBoundary::stick_slide);
  CHECK(at(0.5, 3, 4, -2.5).margin == Approx(0).margin(rounding(5, 1.0)));
  CHECK(at(0.5, 3, 4, -2.5).nearest == RegionBoundary::open_closed);
  CHECK(at(0.5, 0, 0, 0).margin == 0);
  CHECK(at(0.5, 0, 0, 0).nearest == RegionBoundary::open_closed);
  CHECK(at(0.5, 0, 0, -3).margin == Approx(3 / std::sqrt(1.25)).epsilon(rounding(50, 1.0)));
  CHECK(at(0, 1, 0, 2).nearest == RegionBoundary::stick_slide);
  CHECK(at(0, 1, 0, 2).margin == 1);
  CHECK(at(0, 7, 0, 1e-3).nearest == RegionBoundary::open_closed);
  CHECK(at(0, 7, 0, 1e-3).margin == Approx(1e-3));
  CHECK(to_string(RegionBoundary::none) == std::string("none"));
  CHECK(to_string(RegionBoundary::stick_slide) == std::string("stick_slide"));
  CHECK(to_string(RegionBoundary::open_closed) == std::string("open_closed"));
  CHECK(to_string(RegionBoundary::bound) == std::string("bound"));
  CHECK(to_string(static_cast<RegionBoundary>(9)) == std::string("unknown"));
}

TEST_CASE("impulse_derivative: of other blocks the impulse moves with e and R as differences say",
          "[contact][derivative]") {
  VectorSource<double> source(771u);
  WorstCase near("dγ = G (de − γ∘dR)");
  int jumps = 0;
  for (int sample = 0; sample < 600; ++sample) {
    const WeightedBlock<double> law = draw_law(source, sample % 9);
    Rows excess = Rows::Zero(), by_excess = excess, by_weight = excess;
    for (int i = 0; i < law.set.rows; ++i) {
      excess(i) = 2 * source.unit() - 1;
      by_excess(i) = 2 * source.unit() - 1;
      by_weight(i) = law.regularization(i) * (2 * source.unit() - 1);
    }
    if (is_round(law.set.shape)) by_weight(1) = by_weight(0);
    if (rolls(law.set.shape)) by_weight(4) = by_weight(3);
    const auto derivative = make_impulse_derivative(law, excess);
    const double h = 1e-6;
    if (derivative.margin < 4 * h) continue;
    auto ahead = law, behind = law;
    ahead.regularization += h * by_weight;
    behind.regularization -= h * by_weight;
    const Rows difference =
        (impulse_at(ahead, excess + h * by_excess) - impulse_at(behind, excess - h * by_excess)) /
        (2 * h);
    const Rows expected = derivative.change(by_excess, by_weight, 0);
    // A region boundary of a cone within the step shows as halves of two derivatives: seldom.
    const double size = derivative.impulse.norm() + 1 / law.regularization.minCoeff();
    if ((difference - expected).norm() > by_differences(1e-3) * size) {
      ++jumps;
      const auto there = make_impulse_derivative(ahead, Rows(excess + h * by_excess));
      const auto here = make_impulse_derivative(behind, Rows(excess - h * by_excess));
      CHECK((there.by_excess - here.by_excess).norm() >
            clearly(1e-3) * derivative.by_excess.norm());
    } else {
      near.see((difference - expected).norm(), by_differences(1e-6) * size, excess, by_excess);
    }
  }
  CHECK(jumps <= 4);
  near.check(400);
}

TEST_CASE("impulse_derivative: friction of other cones moves the impulse as differences say",
          "[contact][derivative]") {
  VectorSource<double> source(772u);
  WorstCase near("dγ/dμ"), from_zero("dγ/dμ where μ is zero"), mute("rows that are held");
  int jumps = 0;
  for (int sample = 0; sample < 1200; ++sample) {
    const WeightedBlock<double> law = draw_law(source, 4 + sample % 8);
    Rows excess = Rows::Zero();
    for (int i = 0; i < law.set.rows; ++i) excess(i) = 2 * source.unit() - 1;
    const auto derivative = make_impulse_derivative(law, excess);
    for (int c = 0; c < carom::friction_count(law.set.shape); ++c) {
      Rows by_friction = Rows::Zero();
      for (int r = 0; r < law.set.rows; ++r) {
        by_friction(r) = coefficient_of(law.set.shape, r) == c ? 1 : 0;
      }
      const Rows expected = derivative.bounds_change(Rows::Zero(), by_friction);
      const bool starts = law.set.friction(c) == 0;
      // Beside an edge of a disc the slope from zero is infinite, and none is given.
      if (starts && !is_round(law.set.shape) && law.set.shape != ImpulseShape::planar) continue;
      const auto at = [&](double moved) {
        auto other = law;
        other.set.friction(c) += moved;
        return impulse_at(other, excess);
      };
      const double h = 1e-6;
      const Rows difference = starts ? Rows((4 * at(h) - 3 * at(0) - at(2 * h)) / (2 * h))
                                     : Rows((at(h) - at(-h)) / (2 * h));
      const double size = derivative.impulse.norm() + 1 / law.regularization.minCoeff();
      const double error = (difference - expected).norm();
      if (error > by_differences(1e-3) * size) {
        ++jumps;
      } else {
        (starts ? from_zero : near).see(error, by_differences(1e-6) * size, law.set.friction, c);
      }
    }
    for (int r = 0; r < law.set.rows; ++r) {
      const double slip = derivative.impulse(r) * law.regularization(r) - excess(r);
      if (slip == 0) mute.see_holds(derivative.by_upper.col(r).isZero(0));
    }
  }
  CAPTURE(jumps);
  CHECK(jumps <= 4);
  near.check(1000);
  from_zero.check(100);
  mute.check(100);
}

TEST_CASE("impulse_derivative: closed forms of a row between bounds", "[contact][example]") {
  WeightedBlock<double> law;
  law.set = carom::bounded_impulse(-1.0, 2.0);
  law.regularization(0) = 4;
  Rows excess = Rows::Zero();
  excess(0) = 6;  // γ = 1.5, .5 below the bound
  auto derivative = make_impulse_derivative(law, excess);
  CHECK(derivative.impulse(0) == 1.5);
  CHECK(derivative.by_excess(0, 0) == 0.25);
  CHECK(derivative.margin == 2);
  Rows one = Rows::Zero();
  one(0) = 1;
  CHECK(derivative.change(one, Rows::Zero(), 0)(0) == 0.25);
  CHECK(derivative.change(Rows::Zero(), one, 0)(0) == -0.375);  // d(e/R)/dR = −e/R²
  excess(0) = 9;
  derivative = make_impulse_derivative(law, excess);
  CHECK(derivative.impulse(0) == 2);
  CHECK(derivative.by_excess.isZero(0));
  CHECK(derivative.margin == 1);
  CHECK(derivative.bounds_change(one, Rows::Zero())(0) == 0);
  CHECK(derivative.bounds_change(Rows::Zero(), one)(0) == 1);
  excess(0) = -9;
  derivative = make_impulse_derivative(law, excess);
  CHECK(derivative.bounds_change(one, Rows::Zero())(0) == 1);
  CHECK(derivative.bounds_change(Rows::Zero(), one)(0) == 0);
}

}  // namespace impulse_derivative_test
