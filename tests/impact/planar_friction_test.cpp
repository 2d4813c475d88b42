// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/planar_friction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace planar_friction_test {

using carom::testing::by_step;

using carom::moreau_impulse, carom::PlanarImpact, carom::routh_impulse, carom::Vector;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;
using Vector2 = Vector<double, 2>;

namespace {

PlanarImpact<double> draw_impact(VectorSource<double>& source) {
  PlanarImpact<double> impact;
  const double tangent = 0.2 + 2 * source.unit(), normal = 0.2 + 2 * source.unit();
  const double coupling = (2 * source.unit() - 1) * 0.98 * std::sqrt(tangent * normal);
  impact.inverse_mass << tangent, coupling, coupling, normal;
  impact.velocity << 4 * source.unit() - 2, -0.05 - source.unit();
  if (source.unit() < 0.1) impact.velocity(0) = 0;
  impact.friction = source.unit() < 0.1 ? 0 : 2 * source.unit();
  impact.restitution = source.unit() < 0.2 ? source.pick({0, 1}) : source.unit();
  return impact;
}

double energy_gain(const PlanarImpact<double>& impact, const Vector2& impulse) {
  return impulse.dot(impact.velocity) + impulse.dot(impact.inverse_mass * impulse) / 2;
}

Vector2 after(const PlanarImpact<double>& impact, const Vector2& impulse) {
  return impact.velocity + impact.inverse_mass * impulse;
}

struct FineCourse {
  Vector2 impulse;
  double compression = 0, restitution = 0;  ///< work of the normal impulse
};

/// Routh's course in small steps of the normal impulse, friction implicit in each: no modes.
FineCourse integrate(const PlanarImpact<double>& impact, double step) {
  FineCourse course{Vector2::Zero()};
  Vector2 u = impact.velocity;
  const auto& w = impact.inverse_mass;
  const auto advance = [&] {
    const double free = u(0) + w(0, 1) * step;
    const double bound = impact.friction * step;
    const Vector2 part(std::clamp(-free / w(0, 0), -bound, bound), step);
    const double work_before = u(1);
    u += w * part;
    course.impulse += part;
    return step * (work_before + u(1)) / 2;
  };
  for (int k = 0; k < 1'000'000 && u(1) < 0; ++k) course.compression += advance();
  const double owed = -impact.restitution * impact.restitution * course.compression;
  for (int k = 0; k < 1'000'000 && course.restitution < owed; ++k) course.restitution += advance();
  return course;
}

std::string text_of(const PlanarImpact<double>& i) {
  return std::to_string(i.inverse_mass(0, 0)) + " " + std::to_string(i.inverse_mass(0, 1)) + " " +
         std::to_string(i.inverse_mass(1, 1)) + " u " + std::to_string(i.velocity(0)) + " " +
         std::to_string(i.velocity(1)) + " mu " + std::to_string(i.friction) + " e " +
         std::to_string(i.restitution);
}

}  // namespace

TEST_CASE("planar_friction: Routh's impulse is that of a fine integration", "[impact][oracle]") {
  VectorSource<double> source(141u);
  WorstCase same("the impulse");
  const int rounds = carom::testing::sweep(15, 60);
  for (int round = 0; round < rounds; ++round) {
    const auto impact = draw_impact(source);
    const Vector2 impulse = routh_impulse(impact);
    const FineCourse fine = integrate(impact, impulse(1) / 1e5);
    same.see((impulse - fine.impulse).norm(), by_step(3e-4) * impulse.norm(),
             text_of(impact).c_str());
  }
  same.check(rounds);
}

TEST_CASE("planar_friction: Routh never gains energy, stays in the cone, never stays closing",
          "[impact][law]") {
  VectorSource<double> source(142u);
  WorstCase energy("energy"), cone("|P_t| <= mu P_n"), opens("u_n >= 0");
  for (int round = 0; round < 20'000; ++round) {
    const auto impact = draw_impact(source);
    const Vector2 impulse = routh_impulse(impact);
    const double scale = impulse.norm();
    const std::string text = text_of(impact);
    energy.see(energy_gain(impact, impulse), rounding(100, scale * (scale + 2)), text.c_str());
    cone.see(std::abs(impulse(0)) - impact.friction * impulse(1), rounding(20, scale),
             text.c_str());
    opens.see(-after(impact, impulse)(1), rounding(100, 1 + scale), text.c_str());
  }
  energy.check(20'000);
  cone.check(20'000);
  opens.check(20'000);
}

TEST_CASE("planar_friction: without friction or coupling Routh is Newton", "[impact][law]") {
  VectorSource<double> source(143u);
  WorstCase newton("u_n+ = -e u_n-"), tangent("no tangential impulse without friction");
  for (int round = 0; round < 2000; ++round) {
    auto impact = draw_impact(source);
    if (round % 2 == 0) impact.friction = 0;
    if (round % 2 == 1) impact.inverse_mass(0, 1) = impact.inverse_mass(1, 0) = 0;
    const Vector2 impulse = routh_impulse(impact);
    newton.see(std::abs(after(impact, impulse)(1) + impact.restitution * impact.velocity(1)),
               rounding(40, 1 + impulse.norm()), text_of(impact).c_str());
    if (round % 2 == 0) tangent.see(std::abs(impulse(0)), 0, text_of(impact).c_str());
  }
  newton.check(2000);
  tangent.check(1000);
}

TEST_CASE("planar_friction: slip that keeps its direction obeys Newton, too", "[impact][law]") {
  VectorSource<double> source(144u);
  WorstCase newton("u_n+ = -e u_n-");
  for (int round = 0; round < 5000; ++round) {
    auto impact = draw_impact(source);
    impact.velocity(0) = impact.velocity(0) < 0 ? -9 : 9;
    impact.friction *= 0.1;
    const Vector2 impulse = routh_impulse(impact);
    const Vector2 u = after(impact, impulse);
    if (u(0) * impact.velocity(0) <= 0) continue;
    newton.see(std::abs(u(1) + impact.restitution * impact.velocity(1)),
               rounding(100, 1 + impulse.norm() + 9), text_of(impact).c_str());
    newton.see(std::abs(impulse(0) + std::copysign(impact.friction, u(0)) * impulse(1)),
               rounding(10, impulse.norm()), text_of(impact).c_str());
  }
  newton.check(5000);
}

TEST_CASE("planar_friction: strong friction ends sticking", "[impact][example]") {
  // Stick needs |W_tn| <= mu W_tt; slip ends within compression.
  PlanarImpact<double> impact{
      .inverse_mass = {}, .velocity = {0.1, -1}, .friction = 0.8, .restitution = 0.5};
  impact.inverse_mass << 3, 0.6, 0.6, 1;
  const Vector2 u = after(impact, routh_impulse(impact));
  CHECK(std::abs(u(0)) <= rounding(8, 1.0));
  CHECK(u(1) > 0);
  // By hand: slip stops at P = .1/(2.4 - .6), u_n = -1 + P (1 - .48); then slope 1 - .36/3 = .88.
  const double stop = 0.1 / 1.8, un = -1 + 0.52 * stop;
  const double compression = stop * (-1 + un) / 2 - un * un / (2 * 0.88);
  CHECK(u(1) == Approx(std::sqrt(2 * 0.88 * 0.25 * -compression)).epsilon(rounding(50, 1.0)));
}

TEST_CASE("planar_friction: weak friction lets slip turn round", "[impact][example]") {
  // |W_tn| > mu W_tt: after slip stops it is driven the other way.
  PlanarImpact<double> impact{
      .inverse_mass = {}, .velocity = {-0.3, -1}, .friction = 0.2, .restitution = 1};
  impact.inverse_mass << 2, 1, 1, 1;
  const Vector2 impulse = routh_impulse(impact);
  const Vector2 u = after(impact, impulse);
  CHECK(u(0) > 0.1);
  // By hand: slip -.3 + 1.4 P = 0 at P = .3/1.4 with u_n = -1 + 1.2 P; then u_n grows by .8.
  const double stop = 0.3 / 1.4, un = -1 + 1.2 * stop;
  const double compression = stop * (-1 + un) / 2 - un * un / 1.6;
  CHECK(u(1) == Approx(std::sqrt(1.6 * -compression)).epsilon(rounding(50, 1.0)));
  const double rest = (u(1) - un) / 0.8;
  CHECK(impulse(1) == Approx(stop + rest).epsilon(rounding(50, 1.0)));
  CHECK(impulse(0) == Approx(0.2 * stop - 0.2 * rest).epsilon(rounding(50, 1.0)));
}

TEST_CASE("planar_friction: slip may turn in restitution, which costs energy of its own",
          "[impact][law]") {
  VectorSource<double> source(145u);
  WorstCase work("work of the normal impulse, compression to restitution");
  for (int round = 0; round < 40; ++round) {
    auto impact = draw_impact(source);
    impact.restitution = 0.3 + 0.7 * source.unit();
    const Vector2 impulse = routh_impulse(impact);
    // The whole work of P_n over the course, from the fine one, is (1 - e²) of compression's.
    const FineCourse fine = integrate(impact, impulse(1) / 2e4);
    const double e = impact.restitution;
    work.see(std::abs(fine.restitution + e * e * fine.compression),
             by_step(3e-4) * std::abs(fine.compression), text_of(impact).c_str());
    work.see(std::abs(fine.impulse(1) - impulse(1)), by_step(1e-3) * impulse(1),
             text_of(impact).c_str());
  }
  work.check(80);
}

TEST_CASE("planar_friction: Moreau's impulse is 1 + e times the best in the cone",
          "[impact][law]") {
  VectorSource<double> source(146u);
  WorstCase inside("in the cone"), optimal("(u + W P) . Q >= 0 on the cone"),
      apart("(u + W P) . P = 0");
  WorstCase energy("energy"), newton("without friction Newton");
  for (int round = 0; round < 20'000; ++round) {
    auto impact = draw_impact(source);
    const Vector2 impulse = moreau_impulse(impact);
    const Vector2 plastic = impulse / (1 + impact.restitution);
    const Vector2 u = after(impact, plastic);
    const double scale = plastic.norm(), mu = impact.friction;
    const std::string text = text_of(impact);
    inside.see(std::abs(plastic(0)) - mu * plastic(1), rounding(8, scale), text.c_str());
    for (const double side : {mu, -mu}) {
      optimal.see(-(u(1) + side * u(0)), rounding(60, 1 + scale + 4 * mu), text.c_str());
    }
    apart.see(std::abs(u.dot(plastic)), rounding(60, scale * (3 + scale)), text.c_str());
    energy.see(energy_gain(impact, impulse), rounding(60, scale * (3 + scale)), text.c_str());
    if (mu == 0) {
      newton.see(std::abs(after(impact, impulse)(1) + impact.restitution * impact.velocity(1)),
                 rounding(20, 1 + scale), text.c_str());
    }
  }
  inside.check(20'000);
  optimal.check(40'000);
  apart.check(20'000);
  energy.check(20'000);
  newton.check(1000);
}

TEST_CASE("planar_friction: Moreau's sliding contact leaves at mu |u_t|", "[impact][example]") {
  PlanarImpact<double> impact{
      .inverse_mass = {}, .velocity = {5, -1}, .friction = 0.3, .restitution = 0};
  impact.inverse_mass << 1, 0, 0, 1;
  const Vector2 u = after(impact, moreau_impulse(impact));
  CHECK(u(0) > 0);
  CHECK(u(1) == Approx(0.3 * u(0)).epsilon(rounding(50, 1.0)));
  impact.velocity << 0.1, -1;  // sticks
  CHECK(after(impact, moreau_impulse(impact)).norm() <= rounding(4, 1.0));
  impact.velocity << -5, -1;
  CHECK(after(impact, moreau_impulse(impact))(0) == Approx(-u(0)));
}

TEST_CASE("planar_friction: single precision", "[impact][example]") {
  PlanarImpact<float> impact{
      .inverse_mass = {}, .velocity = {0.1F, -1.0F}, .friction = 0.8F, .restitution = 0.5F};
  impact.inverse_mass << 3.0F, 0.6F, 0.6F, 1.0F;
  PlanarImpact<double> reference{.inverse_mass = impact.inverse_mass.cast<double>(),
                                 .velocity = impact.velocity.cast<double>(),
                                 .friction = double(impact.friction),
                                 .restitution = 0.5};
  CHECK((routh_impulse(impact).cast<double>() - routh_impulse(reference)).norm() <
        double(rounding<float>(9, 1.0F)));
  CHECK((moreau_impulse(impact).cast<double>() - moreau_impulse(reference)).norm() <
        double(rounding<float>(9, 1.0F)));
}

}  // namespace planar_friction_test
