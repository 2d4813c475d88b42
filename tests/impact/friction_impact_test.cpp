// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/friction_impact.hpp"

#include <limits>

#include "carom/impact/resolve.hpp"

#include "support/catch.hpp"
#include "support/impact_laws.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace friction_impact_test {

using namespace carom::testing;
using carom::FrictionImpact, carom::FrictionImpactLaw, carom::FrictionImpactOrder;
using carom::ImpactStatus, carom::Index, carom::MassMatrix, carom::VectorX;

namespace {

/// A disc of mass 1 and radius 1 in the corner of a floor and a wall on its right; coordinates
/// (x, y, rotation). Its velocity after the impact.
VectorX<double> disc_in_corner(bool floor_first, const VectorX<double>& velocity, double friction,
                               double restitution, FrictionImpactLaw law) {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 1, 0.5}));
  const VectorX<double> floor = vector_of({0, 1, 0}), on_floor = vector_of({1, 0, 1});
  const VectorX<double> wall = vector_of({-1, 0, 0}), on_wall = vector_of({0, 1, 1});
  FrictionImpact<double> impact(law, FrictionImpactOrder::by_index);
  if (floor_first) impact.add_contact(mass, floor, on_floor, friction, restitution);
  impact.add_contact(mass, wall, on_wall, friction, restitution);
  if (!floor_first) impact.add_contact(mass, floor, on_floor, friction, restitution);
  VectorX<double> p = mass.momentum(velocity);
  CHECK(impact.resolve(p).status == ImpactStatus::resolved);
  mass.apply_inverse(p);
  return p;
}

VectorX<double> mass_velocity(const MassMatrix<double>& mass, VectorX<double> momentum) {
  mass.apply_inverse(momentum);
  return momentum;
}

}  // namespace

TEST_CASE("friction_impact: a disc in a corner ends in two ways, orthogonal as the normals are",
          "[impact][example]") {
  const VectorX<double> v = vector_of({1, -1, 0});
  const auto law = FrictionImpactLaw::routh;
  const VectorX<double> floor_first = disc_in_corner(true, v, 0.1, 1, law);
  const VectorX<double> wall_first = disc_in_corner(false, v, 0.1, 1, law);
  CHECK((floor_first - vector_of({-0.8, 0.84, -0.72})).norm() <= rounding(10, 1.0));
  CHECK((wall_first - vector_of({-0.84, 0.8, 0.72})).norm() <= rounding(10, 1.0));
  // Without friction either order bounces both ways.
  for (const bool first : {true, false}) {
    CHECK((disc_in_corner(first, v, 0, 1, law) - vector_of({-1, 1, 0})).norm() <= rounding(4, 1.0));
  }
}

TEST_CASE("friction_impact: energy is never gained and fully reported, no contact stays closing",
          "[impact][law]") {
  VectorSource<double> source(151u);
  WorstCase energy("energy"), told("energy told"), opens("opens"), ended("status");
  for (int round = 0; round < 400; ++round) {
    const Index size = 3 + round % 4;
    const auto mass = MassMatrix<double>::make_dense(draw_definite(source, size));
    const auto law = round % 2 == 0 ? FrictionImpactLaw::routh : FrictionImpactLaw::moreau;
    const auto order =
        round % 3 == 0 ? FrictionImpactOrder::by_index : FrictionImpactOrder::most_infeasible;
    FrictionImpact<double> impact(law, order);
    std::vector<VectorX<double>> normals;
    for (int k = 0; k < 1 + round % 3; ++k) {
      normals.push_back(draw_vector(source, size));
      impact.add_contact(mass, normals.back(), draw_vector(source, size), 1.5 * source.unit(),
                         source.unit());
    }
    VectorX<double> p = draw_vector(source, size);
    const ImpactScene scene(mass, normals);
    const double start = scene.inner(p, p);
    VectorX<double> velocity = scene.velocity(p);
    double closing = 0;
    for (const auto& n : normals) closing = std::max(closing, -n.dot(velocity));
    const VectorX<double> before = p;
    const auto report = impact.resolve(p, {.reflection_limit = 100'000});
    const double end = scene.inner(p, p);
    const double allowed = rounding(500 + int(report.reflections), 10 * start);
    energy.see(end - start, allowed, before);
    told.see(std::abs(report.energy_gain - (end - start) / 2), allowed, before);
    ended.see_holds(
        report.status == ImpactStatus::resolved || report.status == ImpactStatus::collapsed,
        before);
    velocity = scene.velocity(p);
    for (const auto& n : normals)
      opens.see(-n.dot(velocity), by_solver(2e-9) * closing + rounding(500, 1.0), before);
  }
  energy.check(400);
  told.check(400);
  opens.check(400);
  ended.check(400);
}

TEST_CASE("friction_impact: without friction, elastic, it is the propagative impact",
          "[impact][law]") {
  VectorSource<double> source(152u);
  WorstCase same("the momentum");
  for (int round = 0; round < 100; ++round) {
    const Index size = 3 + round % 3;
    const auto mass = MassMatrix<double>::make_dense(draw_definite(source, size));
    std::vector<VectorX<double>> normals;
    FrictionImpact<double> impact(
        round % 2 == 0 ? FrictionImpactLaw::routh : FrictionImpactLaw::moreau,
        FrictionImpactOrder::by_index);
    for (int k = 0; k < 2; ++k) {
      VectorX<double> gradient = draw_vector(source, size);
      VectorX<double> response = gradient;
      mass.apply_inverse(response);
      gradient /= std::sqrt(gradient.dot(response));
      normals.push_back(gradient);
      impact.add_contact(mass, gradient, draw_vector(source, size), 0, 1);
    }
    const ImpactScene scene(mass, normals);
    VectorX<double> p = draw_vector(source, size), q = p;
    static_cast<void>(impact.resolve(p));
    carom::ImpactResolver<double, carom::SweepOrder<double>> resolver;
    resolver.prepare(scene.problem);
    static_cast<void>(resolver.resolve(scene.problem, q));
    same.see((p - q).norm(), by_solver(1e-8), q);
  }
  same.check(100);
}

TEST_CASE("friction_impact: which contact acts first is the order's choice", "[impact][example]") {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 1, 0.5}));
  for (const bool steeper_wall : {true, false}) {
    FrictionImpact<double> impact;  // the most infeasible first
    impact.add_contact(mass, vector_of({0, 1, 0}), vector_of({1, 0, 1}), 0.1, 1);
    impact.add_contact(mass, vector_of({-1, 0, 0}), vector_of({0, 1, 1}), 0.1, 1);
    const double speed = steeper_wall ? 1.0 + 1e-9 : 1.0 - 1e-9;
    VectorX<double> p = mass.momentum(vector_of({speed, -1, 0}));
    CHECK(impact.resolve(p).reflections == 2);
    mass.apply_inverse(p);
    const VectorX<double> expected =
        steeper_wall ? vector_of({-0.84, 0.8, 0.72}) : vector_of({-0.8, 0.84, -0.72});
    // The speed is off by 1e-9, so that the contacts do not tie.
    CHECK((p - expected).norm() < by_digits(1e-8));
  }
}

TEST_CASE("friction_impact: limits, collapse and bad momenta are reported", "[impact][example]") {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 1, 1}));
  FrictionImpact<double> cradle;
  const auto fill = [&](double restitution) {
    cradle.reset();
    const VectorX<double> sideways = vector_of({1, 1, 1});
    cradle.add_contact(mass, vector_of({-1, 1, 0}), sideways, 0, restitution);
    cradle.add_contact(mass, vector_of({0, -1, 1}), sideways, 0, restitution);
  };
  fill(0.05);  // below 7 - 4 sqrt 3
  VectorX<double> p = vector_of({1, 0, 0});
  CHECK(cradle.resolve(p).status == ImpactStatus::collapsed);
  CHECK(p.sum() == Approx(1));
  fill(1);
  p = vector_of({3, 2, 1});
  const auto cut = cradle.resolve(p, {.reflection_limit = 2});
  CHECK(cut.status == ImpactStatus::reflection_limit);
  CHECK(cut.reflections == 2);
  p = vector_of({1, 0, std::numeric_limits<double>::quiet_NaN()});
  CHECK(cradle.resolve(p).status == ImpactStatus::not_finite);
  CHECK(p(0) == 1);
  p = vector_of({1, 2, 3});
  CHECK(cradle.resolve(p).reflections == 0);
  CHECK(p == vector_of({1, 2, 3}));
  cradle.reset();
  p = vector_of({3, 2, 1});
  CHECK(cradle.resolve(p).status == ImpactStatus::resolved);
}

TEST_CASE("friction_impact: what is no contact is refused by index", "[impact][example]") {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 1}));
  const VectorX<double> n = vector_of({0, 1}), t = vector_of({1, 0});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [&](const VectorX<double>& normal, const VectorX<double>& tangent,
                           double friction, double restitution) {
    FrictionImpact<double> impact;
    impact.add_contact(mass, n, t, 0.5, 0.5);
    return refusal_of([&] { impact.add_contact(mass, normal, tangent, friction, restitution); });
  };
  CHECK(refused(n, t, -1, 0) == "contact 1: friction: expected a finite number >= 0, got -1");
  CHECK(refused(n, t, nan, 0) == "contact 1: friction: expected a finite number >= 0, got nan");
  CHECK(refused(n, t, 1, 1.5) == "contact 1: restitution: expected a number in [0, 1], got 1.5");
  CHECK(refused(n, t, 1, nan) == "contact 1: restitution: expected a number in [0, 1], got nan");
  CHECK(refused(vector_of({0, nan}), t, 1, 1) ==
        "contact 1: normal entry 1: expected a finite number, got nan");
  CHECK(refused(n, vector_of({nan, 0}), 1, 1) ==
        "contact 1: tangent entry 0: expected a finite number, got nan");
  CHECK(refused(vector_of({0, 1, 0}), t, 1, 1) ==
        "contact 1: expected gradients as long as the mass matrix");
  CHECK(refused(n, 2 * n, 1, 1) ==
        "contact 1: expected a tangent and a normal independent of each other");
  CHECK(refused(vector_of({0, 0}), t, 1, 1) ==
        "contact 1: expected a tangent and a normal independent of each other");
  CHECK(refused(n, t, 1, 1) == "accepted");
}

TEST_CASE("friction_impact: a ball in the corner of a room, spatial contacts", "[impact][law]") {
  // Unit mass and radius, I = 2/5, coordinates (x, y, z, and the turns about them): three walls,
  // any approach. In a plane of symmetry it is the disc of the planar contacts.
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 1, 1, 0.4, 0.4, 0.4}));
  const auto along = [](Index axis) { return VectorX<double>(VectorX<double>::Unit(6, axis)); };
  // The point of contact is at -normal: its velocity along t is v.t + (w x -n).t = v.t + w.(t x n).
  const auto touch = [&](FrictionImpact<double>& impact, Index n, double friction, double e) {
    const Index t = (n + 1) % 3, b = (n + 2) % 3;  // t x n = -b, b x n = t
    return impact.add_contact(mass, along(n), along(t) - along(3 + b), along(b) + along(3 + t),
                              friction, e);
  };
  VectorSource<double> source(152u);
  WorstCase told("energy told"), energy("energy"), left("closing"), ended("status");
  for (int round = 0; round < 300; ++round) {
    FrictionImpact<double> impact(FrictionImpactLaw::moreau);
    const double friction = source.unit(), e = round % 3 == 0 ? 0.0 : source.unit();
    for (Index n = 0; n < 3; ++n) touch(impact, n, friction, e);
    const VectorX<double> v = draw_vector(source, 6);
    const VectorX<double> before = mass.momentum(v);
    VectorX<double> p = before;
    const auto report = impact.resolve(p);
    const double gain = (p.dot(mass_velocity(mass, p)) - before.dot(v)) / 2;
    ended.see_holds(
        report.status == ImpactStatus::resolved || report.status == ImpactStatus::collapsed, v);
    told.see(std::abs(gain - report.energy_gain), rounding(200, 1.0), v);
    energy.see(gain, rounding(50, 1.0), v);
    left.see(-p.head<3>().minCoeff(), by_solver(1e-8), v);
  }
  told.check(300);
  energy.check(300);
  left.check(300);
  ended.check(300);

  FrictionImpact<double> spatial(FrictionImpactLaw::moreau), planar(FrictionImpactLaw::moreau);
  touch(spatial, 2, 0.1, 0.5);
  planar.add_contact(mass, along(2), along(0) - along(4), 0.1, 0.5);
  VectorX<double> p = mass.momentum(vector_of({1, 0, -1, 0, 0, 0})), q = p;
  CHECK(spatial.resolve(p).reflections == 1);
  CHECK(planar.resolve(q).reflections == 1);
  CHECK((p - q).norm() <= rounding(100, 1.0));
  CHECK(p(0) < 1);

  FrictionImpact<double> routh(FrictionImpactLaw::routh);
  CHECK(refusal_of([&] { touch(routh, 0, 0.1, 1); }) ==
        "contact 0: expected the law moreau for a spatial contact, got routh");
  const VectorX<double> same = along(0);
  CHECK(refusal_of([&] { planar.add_contact(mass, along(2), same, same, 0.1, 1); }) ==
        "contact 1: expected tangents and a normal independent of each other");
}

TEST_CASE("friction_impact: the law asked for is the law used", "[impact][example]") {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 1}));
  for (const auto law : {FrictionImpactLaw::routh, FrictionImpactLaw::moreau}) {
    FrictionImpact<double> impact(law);
    impact.add_contact(mass, vector_of({0, 1}), vector_of({1, 0}), 0.3, 0);
    VectorX<double> p = vector_of({5, -1});
    CHECK(impact.resolve(p).status == ImpactStatus::resolved);
    // Slides on, after Moreau leaving at mu |u_t|: P_n = (1 + .3 * 5)/(1 + .09).
    const double push = law == FrictionImpactLaw::routh ? 1 : 2.5 / 1.09;
    CHECK((p - vector_of({5 - 0.3 * push, push - 1})).norm() <= rounding(10, 5.0));
  }
}

TEST_CASE("friction_impact: by index goes on after the last one that acted", "[impact][law]") {
  VectorSource<double> source(153u);
  WorstCase same("the momentum of a sweep"), counted("its reflections");
  for (int round = 0; round < 50; ++round) {
    const ImpactScene scene = draw_scene(source, 4, 3);
    FrictionImpact<double> impact(FrictionImpactLaw::routh, FrictionImpactOrder::by_index);
    for (Index i = 0; i < 3; ++i) {
      impact.add_contact(scene.mass, scene.normal(i), draw_vector(source, 4), 0, 1);
    }
    VectorX<double> p = draw_vector(source, 4), q = p;
    carom::ImpactResolver<double, carom::SweepOrder<double>> sweep;
    sweep.prepare(scene.problem);
    const auto expected = sweep.resolve(scene.problem, q);
    counted.see_holds(impact.resolve(p).reflections == expected.reflections, q);
    same.see((p - q).norm(), by_solver(1e-8), q);
  }
  same.check(50);
  counted.check(50);
}

TEST_CASE("friction_impact: a body that slides along its contacts does not react to round-off",
          "[impact][regression]") {
  VectorSource<double> tangents(175u);
  check_sliding(174u, [&](const ImpactScene& scene, VectorX<double>& p) {
    FrictionImpact<double> impact;
    for (Index i = 0; i < scene.problem.contact_count(); ++i) {
      impact.add_contact(scene.mass, scene.normal(i), draw_vector(tangents, 6), 0.3, 0.3);
    }
    return impact.resolve(p, {.reflection_limit = 1000});
  });
}

}  // namespace friction_impact_test
