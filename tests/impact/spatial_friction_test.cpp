// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/spatial_friction.hpp"

#include <cmath>

#include <Eigen/LU>

#include "carom/cones/friction_cone.hpp"
#include "carom/impact/planar_friction.hpp"

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace spatial_friction_test {

using carom::moreau_impulse, carom::PlanarImpact, carom::SpatialImpact;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;
using Vector3 = Eigen::Vector3d;

namespace {

double signed_unit(VectorSource<double>& source) {
  return 2 * source.unit() - 1;
}

/// W with a condition number up to some thousands, any approach, friction over many decades.
SpatialImpact<double> draw_impact(VectorSource<double>& source, double decades) {
  SpatialImpact<double> impact;
  Eigen::Matrix3d spread;
  for (int i = 0; i < 9; ++i) spread(i) = signed_unit(source);
  impact.inverse_mass = spread * spread.transpose() + 0.01 * Eigen::Matrix3d::Identity();
  for (int i = 0; i < 3; ++i) impact.velocity(i) = signed_unit(source);
  impact.friction = source.unit() < 0.1 ? 0 : source.positive(decades);
  impact.restitution = source.unit() < 0.5 ? 0 : source.unit();
  return impact;
}

Vector3 after(const SpatialImpact<double>& impact, const Vector3& impulse) {
  return impact.velocity + impact.inverse_mass * impulse;
}

}  // namespace

TEST_CASE("spatial_friction: the plastic impulse meets the conditions of the optimum",
          "[impact][law]") {
  // P in the cone, u+ in its dual, and the two orthogonal: that is the nearest point.
  VectorSource<double> source(181u);
  WorstCase cone("in the cone"), dual("in the dual cone"), normal("orthogonal");
  int sliding = 0, sticking = 0, separating = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto impact = draw_impact(source, 8);
    impact.restitution = 0;
    const double mu = impact.friction;
    const Vector3 p = moreau_impulse(impact), u = after(impact, p);
    const double moved = (impact.inverse_mass * p).norm() + impact.velocity.norm();
    const double slack = rounding(4000, 1.0) * (1 + mu) * moved;
    cone.see(p.head<2>().norm() - mu * p(2), rounding(8, 1.0) * mu * p(2), mu, impact.velocity);
    dual.see(mu * u.head<2>().norm() - u(2), slack, mu, impact.velocity);
    normal.see(std::abs(p.dot(u)), slack * p.norm(), mu, impact.velocity);
    (p.norm() == 0 ? separating : u.norm() <= slack ? sticking : sliding) += 1;
  }
  cone.check(20'000);
  dual.check(20'000);
  normal.check(20'000);
  CHECK(sliding > 3000);
  CHECK(sticking > 1000);
  CHECK(separating > 1000);
}

TEST_CASE("spatial_friction: no impact gains energy", "[impact][law]") {
  VectorSource<double> source(182u);
  WorstCase gain("energy gain"), share("gain against (e^2 - 1) times the plastic work");
  for (int round = 0; round < 5000; ++round) {
    auto impact = draw_impact(source, 2);
    const double e = impact.restitution;
    const auto gain_of = [&](const Vector3& p) {
      return p.dot(impact.velocity) + p.dot(impact.inverse_mass * p) / 2;
    };
    const double gained = gain_of(moreau_impulse(impact));
    impact.restitution = 0;
    const double plastic = gain_of(moreau_impulse(impact));
    const double size = impact.velocity.dot(impact.inverse_mass.inverse() * impact.velocity);
    gain.see(gained, rounding(100, size), e);
    share.see(std::abs(gained - (1 - e * e) * plastic), rounding(3000, size), e);
  }
  gain.check(5000);
  share.check(5000);
}

TEST_CASE("spatial_friction: without coupling it is the cone's weighted projection",
          "[impact][oracle]") {
  VectorSource<double> source(183u);
  WorstCase same("the impulse");
  for (int round = 0; round < 2000; ++round) {
    auto impact = draw_impact(source, 2);
    const double t = source.positive(1), n = source.positive(1);
    impact.inverse_mass = Vector3(t, t, n).asDiagonal();
    impact.restitution = 0;
    const Vector3 free = -impact.velocity.cwiseQuotient(Vector3(t, t, n));
    const carom::FrictionCone<double> cone{impact.friction};
    const Vector3 expected = project(cone, carom::ContactWeights<double>{t, n}, free).point;
    same.see((moreau_impulse(impact) - expected).norm(), rounding(200, 1.0) * free.norm(),
             impact.friction, impact.velocity);
  }
  same.check(2000);
}

TEST_CASE("spatial_friction: in a plane of symmetry it is the planar law", "[impact][oracle]") {
  VectorSource<double> source(184u);
  WorstCase same("the impulse");
  for (int round = 0; round < 2000; ++round) {
    auto impact = draw_impact(source, 2);
    for (const int other : {0, 2}) {
      impact.inverse_mass(1, other) = impact.inverse_mass(other, 1) = 0;
    }
    impact.velocity(1) = 0;
    PlanarImpact<double> planar;
    planar.inverse_mass << impact.inverse_mass(0, 0), impact.inverse_mass(0, 2),
        impact.inverse_mass(2, 0), impact.inverse_mass(2, 2);
    planar.velocity << impact.velocity(0), impact.velocity(2);
    planar.friction = impact.friction;
    planar.restitution = impact.restitution;
    const Eigen::Vector2d flat = moreau_impulse(planar);
    const Vector3 p = moreau_impulse(impact);
    same.see((p - Vector3(flat(0), 0, flat(1))).norm(), rounding(20'000, 1.0) * flat.norm(),
             impact.friction, impact.velocity);
  }
  same.check(2000);
}

TEST_CASE("spatial_friction: turning the tangents turns the impulse", "[impact][law]") {
  VectorSource<double> source(185u);
  WorstCase same("the impulse");
  for (int round = 0; round < 2000; ++round) {
    const auto impact = draw_impact(source, 2);
    const double angle = 3 * source.unit(), c = std::cos(angle), s = std::sin(angle);
    Eigen::Matrix3d turn;
    turn << c, -s, 0, s, c, 0, 0, 0, 1;
    SpatialImpact<double> turned = impact;
    turned.inverse_mass = turn * impact.inverse_mass * turn.transpose();
    turned.inverse_mass = (turned.inverse_mass + turned.inverse_mass.transpose()).eval() / 2;
    turned.velocity = turn * impact.velocity;
    const Vector3 p = moreau_impulse(impact);
    same.see((turn * p - moreau_impulse(turned)).norm(),
             rounding(50'000, 1.0) * (p.norm() + impact.velocity.norm()), impact.friction);
  }
  same.check(2000);
}

TEST_CASE("spatial_friction: a sphere that grazes the floor, float and double",
          "[impact][example]") {
  // m = 1, r = 1, I = 2/5: W = diag(7/2, 7/2, 1). Sliding: u_n+ = mu |u_t+|.
  const auto see = [](auto one) {
    using Scalar = decltype(one);
    SpatialImpact<Scalar> impact;
    impact.inverse_mass = carom::Vector3<Scalar>(3.5f, 3.5f, 1).asDiagonal();
    impact.velocity << 3, 4, -1;
    impact.friction = Scalar(0.1f);
    impact.restitution = 0;
    // P = r (-0.06, -0.08, 1), r = -(u . e)/(e . W e) = 1.5/1.035
    const Scalar r = Scalar(1.5f) / Scalar(1.035f);
    const carom::Vector3<Scalar> expected =
        r * carom::Vector3<Scalar>(Scalar(-0.06f), Scalar(-0.08f), 1);
    CHECK(double((moreau_impulse(impact) - expected).norm()) <= double(rounding<float>(4, 1.0F)));
  };
  see(1.0);
  see(1.0f);
}

}  // namespace spatial_friction_test
