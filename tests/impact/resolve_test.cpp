// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/resolve.hpp"

#include <algorithm>
#include <functional>

#include "support/catch.hpp"
#include "support/cradle_cases.hpp"
#include "support/impact_laws.hpp"
#include "support/impact_scenes.hpp"
#include "support/landing_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace resolve_test {

using namespace carom::testing;
using carom::ChosenOrder, carom::ImpactReport, carom::ImpactResolver, carom::ImpactStatus;
using carom::Index, carom::LeastInfeasibleFirst, carom::MassMatrix, carom::MostInfeasibleFirst;
using carom::SweepOrder, carom::VectorX;

namespace {

using Choice = std::function<Index(std::span<const double>, double)>;
using AnyOrder = ChosenOrder<double, Choice>;

/// Infeasible contacts at random.
AnyOrder random_order(VectorSource<double>& source) {
  return {[&source](std::span<const double> rates, double limit) -> Index {
    std::vector<Index> infeasible;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (rates[i] < limit) infeasible.push_back(Index(i));
    }
    if (infeasible.empty()) return -1;
    return infeasible[std::size_t(source.unit() * double(infeasible.size()))];
  }};
}

struct ResolutionLaws {
  WorstCase resolved{"ends resolved"}, feasible{"ends feasible"}, energy{"keeps its energy"};
  WorstCase told{"the energy told is the energy gained"}, pushes{"impulses push"};
  WorstCase span{"the momentum moves by the impulses told"}, replay{"its sequence leads there"};

  template <typename Order>
  void see(const ImpactScene& scene, const VectorX<double>& before, Order order) {
    ImpactResolver<double, Order> resolver({}, order);
    resolver.prepare(scene.problem, 100'000);
    VectorX<double> after = before;
    const ImpactReport<double> report = resolver.resolve(scene.problem, after);
    const VectorX<double> rates = scene.rates(after), input = before;
    const double size = scene.norm(before);
    const int steps = 200 + 20 * int(report.reflections);
    resolved.see_holds(report.status == ImpactStatus::resolved, input);
    feasible.see(-rates.minCoeff(), 40 * rounding(1, scene.rates(before).cwiseAbs().maxCoeff()),
                 input);
    energy.see(std::abs(scene.norm(after) - size), rounding(steps, size), input);
    told.see(std::abs(report.energy_gain), rounding(steps, size * size), input);
    for (const double impulse : resolver.impulses()) pushes.see_holds(impulse >= 0, input);
    const VectorX<double> by_impulses = scene.moved(before, resolver.impulses());
    span.see((by_impulses - after).norm(), rounding(10 * steps, after.norm()), input);
    VectorX<double> replayed = before;
    bool admissible = Index(resolver.sequence().size()) == report.reflections;
    for (const Index contact : resolver.sequence()) {
      admissible = admissible && reflect(scene.problem, contact, replayed) > 0;
    }
    replay.see_holds(admissible && replayed == after, input);
  }

  void check(long least) const {
    for (const WorstCase* law : {&resolved, &feasible, &energy, &told, &pushes, &span, &replay}) {
      law->check(least);
    }
  }
};

}  // namespace

TEST_CASE("resolve: every order ends feasible with all its energy, by pushes told in full",
          "[impact][law]") {
  VectorSource<double> source(31u);
  ResolutionLaws laws;
  for (int round = 0; round < 150; ++round) {
    const Index size = 2 + round % 7, contacts = 1 + round % 12;
    const ImpactScene scene = draw_scene(source, size, std::min(contacts, size + 2));
    const VectorX<double> before = draw_vector(source, size);
    laws.see(scene, before, MostInfeasibleFirst<double>());
    laws.see(scene, before, LeastInfeasibleFirst<double>());
    laws.see(scene, before, SweepOrder<double>());
    laws.see(scene, before, random_order(source));
  }
  const ImpactScene chain = ball_line(std::vector<double>{1, 3, 2, 5, 1, 1, 4, 2, 1, 2, 3, 1});
  for (int round = 0; round < 30; ++round) {  // beyond a handful of contacts
    const VectorX<double> before = draw_vector(source, 12);
    laws.see(chain, before, MostInfeasibleFirst<double>());
    laws.see(chain, before, LeastInfeasibleFirst<double>());
    laws.see(chain, before, SweepOrder<double>());
    laws.see(chain, before, random_order(source));
  }
  laws.check(700);
}

TEST_CASE("resolve: the cradles of the table, order by order", "[impact][golden]") {
  for (const CradleCase& c : cradle_cases()) {
    const ImpactScene scene = ball_line(c.masses);
    const auto n = Index(c.masses.size());
    const VectorX<double> velocity = Eigen::Map<const VectorX<double>>(c.velocity.data(), n);
    const auto check = [&](auto order, const std::vector<double>& expected,
                           const std::vector<Index>& sequence) {
      ImpactResolver<double, decltype(order)> resolver;
      resolver.prepare(scene.problem, 20);
      VectorX<double> p = scene.momentum(velocity);
      const auto report = resolver.resolve(scene.problem, p);
      CHECK(report.reflections == Index(sequence.size()));
      CHECK((scene.velocity(p) - Eigen::Map<const VectorX<double>>(expected.data(), n)).norm() <=
            rounding(50, velocity.norm()));
      // Rates equal but for round-off may go either way; the outcome above tells.
      if (c.unique) return;
      CHECK(std::vector<Index>(resolver.sequence().begin(), resolver.sequence().end()) == sequence);
    };
    CAPTURE(velocity, c.masses);
    check(MostInfeasibleFirst<double>(), c.most_infeasible, c.most_sequence);
    check(LeastInfeasibleFirst<double>(), c.least_infeasible, c.least_sequence);
    for (std::size_t i = 0; i < c.products.size(); ++i) {
      CHECK(scene.problem.gram()(Index(i), Index(i) + 1) ==
            Approx(c.products[i]).epsilon(rounding(50, 1.0)));
    }
  }
}

TEST_CASE("resolve: the cradle's ties go to the lowest index", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1});
  ImpactResolver<double> resolver;
  resolver.prepare(scene.problem, 2);
  VectorX<double> p = vector_of({1, 0, -1});
  CHECK(resolver.resolve(scene.problem, p).reflections == 3);
  REQUIRE(resolver.sequence().size() == 2);  // as many as there was room for
  CHECK(resolver.sequence()[0] == 0);
  CHECK(resolver.sequence()[1] == 1);
}

TEST_CASE("resolve: a momentum without approach stays as it is", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 4});
  ImpactResolver<double> resolver;
  resolver.prepare(scene.problem);
  for (const auto& velocity : {vector_of({0, 0, 0}), vector_of({1, 1, 1}), vector_of({-1, 0, 2})}) {
    const VectorX<double> before = scene.momentum(velocity);
    VectorX<double> after = before;
    const auto report = resolver.resolve(scene.problem, after);
    CHECK(report.status == ImpactStatus::resolved);
    CHECK(report.reflections == 0);
    CHECK(report.energy_gain == 0);
    CHECK(after == before);
  }
  carom::ImpactProblem<double> empty(2);
  empty.prepare();
  resolver.prepare(empty);
  VectorX<double> p = vector_of({1, 2});
  CHECK(resolver.resolve(empty, p).status == ImpactStatus::resolved);
  CHECK(p == vector_of({1, 2}));
}

TEST_CASE("resolve: NaN is reported, and the momentum stays as it was", "[impact][example]") {
  check_not_finite([](const ImpactScene& scene, VectorX<double>& p) {
    ImpactResolver<double> resolver;
    resolver.prepare(scene.problem);
    return resolver.resolve(scene.problem, p);
  });
}

TEST_CASE("resolve: the limit on reflections is kept and reported", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1, 1, 1});
  for (const Index limit : {0, 1, 5, 9}) {
    ImpactResolver<double> resolver({.reflection_limit = limit});
    resolver.prepare(scene.problem);
    VectorX<double> p = vector_of({5, 4, 3, 2, 1});
    const auto report = resolver.resolve(scene.problem, p);
    CHECK(report.status == ImpactStatus::reflection_limit);
    CHECK(report.reflections == limit);
    CHECK(scene.rates(p).minCoeff() < -0.1);
  }
  ImpactResolver<double> enough({.reflection_limit = 10});
  enough.prepare(scene.problem);
  VectorX<double> p = vector_of({5, 4, 3, 2, 1});
  CHECK(enough.resolve(scene.problem, p).status == ImpactStatus::resolved);
}

TEST_CASE("resolve: approach slower than the tolerance is ignored", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1});
  ImpactResolver<double> resolver({.tolerance = 1e-3});
  resolver.prepare(scene.problem);
  VectorX<double> p = vector_of({1e-4, 0, 1});
  CHECK(resolver.resolve(scene.problem, p).reflections == 0);
  p = vector_of({2e-3, 0, 1});
  CHECK(resolver.resolve(scene.problem, p).reflections == 1);
}

TEST_CASE("resolve: a wedged ball stops plastically", "[impact][example]") {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({2, 2}));
  const ImpactScene scene(mass, {vector_of({1, 0}), vector_of({-1, 0})});
  ImpactResolver<double> resolver;
  resolver.prepare(scene.problem);
  CHECK(resolver.wedged());
  VectorX<double> p = vector_of({4, 6});
  const auto report = resolver.resolve(scene.problem, p);
  CHECK(report.status == ImpactStatus::wedged);
  CHECK(p.isApprox(vector_of({0, 6})));
  CHECK(report.energy_gain == Approx(-4));  // p²/2m = 16/4
  CHECK(resolver.impulses()[1] == Approx(4 / std::sqrt(2.0) * 2 / 2));
  CHECK(resolver.impulses()[0] == Approx(0).margin(rounding(5, 1.0)));
  resolver.prepare(ball_line({1, 1}).problem);
  CHECK_FALSE(resolver.wedged());
}

TEST_CASE("resolve: repeated contacts change nothing", "[impact][law]") {
  VectorSource<double> source(32u);
  WorstCase same("with a twin and without");
  for (int round = 0; round < 50; ++round) {
    const auto mass = MassMatrix<double>::make_dense(draw_definite(source, 4));
    const VectorX<double> w = draw_vector(source, 4);
    VectorX<double> a = draw_vector(source, 4), b = draw_vector(source, 4);
    if (a.dot(w) < 0) a = -a;
    if (b.dot(w) < 0) b = -b;
    const ImpactScene once(mass, {a, b}), twice(mass, {a, 3 * a, b, 0.1 * b});
    VectorX<double> p = draw_vector(source, 4), q = p;
    ImpactResolver<double> resolver;
    resolver.prepare(once.problem);
    static_cast<void>(resolver.resolve(once.problem, p));
    resolver.prepare(twice.problem);
    const auto report = resolver.resolve(twice.problem, q);
    same.see((p - q).norm(), rounding(200, p.norm()), a, b);
    same.see_holds(report.status == ImpactStatus::resolved && resolver.impulses()[1] == 0 &&
                       resolver.impulses()[3] == 0,
                   a, b);
  }
  same.check(100);
}

TEST_CASE("resolve: an order that leaves contacts out does not run for ever",
          "[impact][regression]") {
  const ImpactScene scene = ball_line({1, 1, 1});
  // The order never names contact 1, nor the user's choice any contact at all.
  ImpactResolver<double, SweepOrder<double>> partial({}, SweepOrder<double>({0}));
  partial.prepare(scene.problem);
  VectorX<double> p = vector_of({3, 2, 1});
  const auto report = partial.resolve(scene.problem, p);
  CHECK(report.status == ImpactStatus::reflection_limit);
  CHECK(report.reflections == 1);
  CHECK(p == vector_of({2, 3, 1}));

  ImpactResolver<double, AnyOrder> idle({}, AnyOrder{[](auto, double) { return Index(-1); }});
  idle.prepare(scene.problem);
  CHECK(idle.resolve(scene.problem, p).status == ImpactStatus::reflection_limit);
  CHECK(p == vector_of({2, 3, 1}));
}

TEST_CASE("resolve: one object serves impacts of any size, one after another", "[impact][law]") {
  ImpactResolver<double, SweepOrder<double>> resolver;
  for (const std::size_t n : {3u, 12u, 2u, 30u}) {
    const ImpactScene scene = ball_line(std::vector<double>(n, 1.0));
    resolver.prepare(scene.problem);
    VectorX<double> p = VectorX<double>::LinSpaced(Index(n), double(n), 1.0);
    CHECK(resolver.resolve(scene.problem, p).reflections == Index(n * (n - 1) / 2));
    CHECK((p - VectorX<double>::LinSpaced(Index(n), 1.0, double(n))).norm() <=
          rounding(65536, 1.0));
  }
}

TEST_CASE("resolve: single precision resolves as well", "[impact][law]") {
  carom::MassMatrix<float> mass;
  for (int i = 0; i < 6; ++i) mass.add_block(carom::MatrixX<float>::Constant(1, 1, 1.0F));
  carom::ImpactProblem<float> problem(6);
  for (Index i = 0; i < 5; ++i) {
    const VectorX<float> gradient = VectorX<float>::Unit(6, i + 1) - VectorX<float>::Unit(6, i);
    problem.add_contact(mass, gradient);
  }
  problem.prepare();
  ImpactResolver<float> resolver;
  resolver.prepare(problem);
  VectorX<float> p = VectorX<float>::LinSpaced(6, 6.0F, 1.0F);
  const auto report = resolver.resolve(problem, p);
  CHECK(report.status == ImpactStatus::resolved);
  CHECK(report.reflections == 15);
  CHECK((p - VectorX<float>::LinSpaced(6, 1.0F, 6.0F)).norm() <= rounding(200, 6.0F));
}

TEST_CASE("resolve: beyond a handful of contacts it is still the most infeasible that comes next",
          "[impact][oracle]") {
  VectorSource<double> source(33u);
  const Choice search = [](std::span<const double> rates, double limit) -> Index {
    const auto lowest = std::min_element(rates.begin(), rates.end());
    return lowest != rates.end() && *lowest < limit ? Index(lowest - rates.begin()) : -1;
  };
  WorstCase same("the sequence of a plain search");
  for (int round = 0; round < 10; ++round) {
    std::vector<double> masses;
    for (int i = 0; i < 12 + round; ++i) masses.push_back(0.5 + source.unit());
    const ImpactScene scene = ball_line(masses, round % 2 == 0);
    const VectorX<double> before = draw_vector(source, scene.problem.size());
    ImpactResolver<double> tournament;
    ImpactResolver<double, AnyOrder> plain({}, AnyOrder{search});
    tournament.prepare(scene.problem, 10'000);
    plain.prepare(scene.problem, 10'000);
    VectorX<double> p = before, q = before;
    static_cast<void>(tournament.resolve(scene.problem, p));
    static_cast<void>(plain.resolve(scene.problem, q));
    same.see_holds(std::equal(tournament.sequence().begin(), tournament.sequence().end(),
                              plain.sequence().begin(), plain.sequence().end()) &&
                       p == q && !tournament.sequence().empty(),
                   before);
  }
  same.check(10);
}

TEST_CASE("resolve: the report is about the last impact alone", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1});
  ImpactResolver<double> resolver;
  resolver.prepare(scene.problem, 10);
  VectorX<double> p = vector_of({3, 2, 1});
  CHECK(resolver.resolve(scene.problem, p).reflections == 3);
  p = vector_of({1, 0, 2});
  CHECK(resolver.resolve(scene.problem, p).reflections == 1);
  CHECK(resolver.sequence().size() == 1);
  CHECK(resolver.impulses()[0] == Approx(std::sqrt(2.0)));
  CHECK(resolver.impulses()[1] == 0);
}

TEST_CASE("resolve: a body that slides along its contacts does not react to round-off",
          "[impact][regression]") {
  check_sliding(171u, [](const ImpactScene& scene, VectorX<double>& p) {
    ImpactResolver<double> resolver({.reflection_limit = 1000});
    resolver.prepare(scene.problem);
    return resolver.resolve(scene.problem, p);
  });
}

namespace {

/// How far an impact of a flat landing is from v_n⁺ = −e v_n⁻ without spin, relative to the speed,
/// and how unequal the impulses of its contacts are, relative to the largest.
struct Landing {
  double error = 0, spread = 0;

  template <typename Law>
  Landing(const LandingBody& body, double speed, double restitution, Law law) {
    const ImpactScene scene = body.scene();
    VectorX<double> momentum = scene.momentum(body.falling(speed));
    law.prepare(scene.problem);
    CHECK(law.resolve(scene.problem, momentum).status == ImpactStatus::resolved);
    const VectorX<double> after = scene.velocity(momentum);
    const VectorX<double> wrong = after + restitution * body.falling(speed);
    const double reach = body.points.front().norm();
    error = (wrong.head(3).norm() + reach * wrong.tail(3).norm()) / speed;
    const auto first = law.impulses().data();
    const auto [least, most] = std::minmax_element(first, first + scene.problem.contact_count());
    spread = (*most - *least) / *most;
  }
};

}  // namespace

TEST_CASE("resolve: a body that lands flat rises flat, at any spread, scale, angle and number",
          "[impact][oracle]") {
  // By symmetry: v_n changes sign, no spin. Masses and lengths in grams and millimetres, too.
  for (const double length : {1.0, 1e-3, 1e4}) {
    for (const double spread : {0.5, 0.49, 0.375, 0.1, 3.0}) {
      for (const int corners : {2, 3, 4, 5, 8}) {
        for (const double angle : {0.0, 0.3}) {
          LandingBody body{.mass = 2.5 * length * length * length,
                           .height = 0.5 * length,
                           .points = polygon(corners, spread * length, angle)};
          body.inertia *= body.mass * length * length;
          if (angle > 0) body.turned = Eigen::Quaterniond(0.2, 0.9, -0.3, 0.4).normalized();
          CAPTURE(length, spread, corners, angle);
          const Landing landing(body, 3 * length, 1, ImpactResolver<double>());
          CHECK(landing.error <= rounding(400, 1.0));
          CHECK(landing.spread <= rounding(64, 1.0));
        }
      }
    }
  }
}

TEST_CASE("resolve: feet of several kinds under one body let it rise flat", "[impact][oracle]") {
  LandingBody box{.inertia = {0.4, 0.2, 0.5}, .points = rectangle(0.7, 0.3)};
  CHECK(Landing(box, 1, 1, ImpactResolver<double>()).error <= rounding(100, 1.0));
  LandingBody cube{.points = rectangle(0.5, 0.5)};
  for (const Eigen::Vector2d& point : polygon(4, 0.5)) cube.points.push_back(point);
  CHECK(Landing(cube, 1, 1, ImpactResolver<double>()).error <= rounding(100, 1.0));
  std::reverse(cube.points.begin(), cube.points.end());
  cube.points.emplace_back(0, 0);
  CHECK(Landing(cube, 1, 1, ImpactResolver<double>()).error <= rounding(100, 1.0));
  // A foot that is given twice is one.
  LandingBody twice{.points = rectangle(0.375, 0.375)};
  twice.points.insert(twice.points.begin(), twice.points[2]);
  CHECK(Landing(twice, 1, 1, ImpactResolver<double>()).error <= rounding(100, 1.0));
}

TEST_CASE("resolve: an order that is given is kept", "[impact][example]") {
  const LandingBody body{.points = rectangle(0.375, 0.375)};
  const Landing one_by_one(body, 3, 1, ImpactResolver<double, MostInfeasibleFirst<double>>());
  CHECK(one_by_one.error > clearly(0.1));
  CHECK(Landing(body, 3, 1, ImpactResolver<double, SweepOrder<double>>()).error > clearly(0.1));
}

TEST_CASE("resolve: what is symmetric before is so afterwards, in any order of the contacts",
          "[impact][law]") {
  // Two bodies of one kind strike a third between them, and each lands on two feet of its own.
  VectorSource<double> source(192u);
  WorstCase mirror("mirror image"), renumbered("the order of contacts does not matter");
  WorstCase energy("energy"), feasible("feasible"), together("some reflect together");
  for (int round = 0; round < 100; ++round) {
    const double m = 0.2 + source.unit(), middle = 0.2 + source.unit(), g = 0.3 + source.unit();
    std::vector<VectorX<double>> gradients{
        vector_of({1, -1, 0, 0, 0, 0}),   vector_of({0, 1, -1, 0, 0, 0}),
        vector_of({g, 0, 0, 1, 0, 0}),    vector_of({0, 0, -g, 0, 0, 1}),
        vector_of({0, 0.2, 0, -1, 1, 0}), vector_of({0, -0.2, 0, 0, 1, -1})};
    const auto mass = MassMatrix<double>::make_diagonal(vector_of({m, middle, m, m, middle, m}));
    const VectorX<double> velocity = vector_of({-1 - source.unit(), 0, 0, -source.unit(), -1.0, 0});
    VectorX<double> before = velocity;  // mirrored: x of all bodies changes sign
    before(2) = -velocity(0);
    before(5) = velocity(3);
    const ImpactScene scene(mass, gradients);
    ImpactResolver<double> resolver;
    resolver.prepare(scene.problem, 10'000);
    VectorX<double> p = scene.momentum(before);
    const auto report = resolver.resolve(scene.problem, p);
    const VectorX<double> v = scene.velocity(p);
    const double allowed = rounding(500 + 50 * int(report.reflections), before.norm());
    mirror.see(std::abs(v(0) + v(2)) + std::abs(v(1)) + std::abs(v(3) - v(5)), allowed, before);
    energy.see(std::abs(scene.norm(p) - scene.norm(scene.momentum(before))), allowed, before);
    feasible.see(-scene.rates(p).minCoeff(), rounding(200, before.norm()), before);
    together.see_holds(
        resolver.steps().size() < resolver.sequence().size() || resolver.sequence().empty(),
        before);
    std::reverse(gradients.begin(), gradients.end());
    const ImpactScene other(mass, gradients);
    resolver.prepare(other.problem);
    VectorX<double> q = other.momentum(before);
    static_cast<void>(resolver.resolve(other.problem, q));
    renumbered.see((p - q).norm(), 10 * allowed, before);
  }
  for (const WorstCase* law : {&mirror, &energy, &feasible, &together, &renumbered})
    law->check(100);
}

TEST_CASE("resolve: where every order has one outcome, equivalent contacts find it",
          "[impact][oracle]") {
  VectorSource<double> source(193u);
  const std::vector<ImpactScene> scenes{ball_line({1, 1, 1, 1, 1}),
                                        ball_line({2, 2, 2, 2, 2, 2}),
                                        gram_scene(coxeter_gram(4, {{0, 1}, {0, 2}, {0, 3}})),
                                        gram_scene(coxeter_gram(4, path_edges({3, 4, 3}))),
                                        gram_scene(coxeter_gram(4, {{0, 1, 5}, {2, 3, 5}})),
                                        gram_scene(coxeter_gram(3, {}))};
  for (const ImpactScene& scene : scenes) {
    for (int round = 0; round < 20; ++round) {
      VectorX<double> rates(scene.problem.contact_count());
      for (double& rate : rates) rate = round == 0 ? -1 : -std::floor(3 * source.unit());
      const VectorX<double> before = momentum_with(scene, rates);
      VectorX<double> p = before, q = before;
      ImpactResolver<double> together;
      ImpactResolver<double, MostInfeasibleFirst<double>> alone;
      together.prepare(scene.problem);
      alone.prepare(scene.problem);
      const auto report = together.resolve(scene.problem, p);
      CAPTURE(scene.problem.gram(), rates);
      CHECK(alone.resolve(scene.problem, q).reflections == report.reflections);
      CHECK((p - q).norm() <= rounding(2000, before.norm()));
    }
  }
}

TEST_CASE("resolve: contacts that are equivalent all but for round-off keep the energy",
          "[impact][law]") {
  VectorSource<double> source(194u);
  for (const double offset : {1e-15, 1e-12, 1e-10, 1e-9, 1e-8, 1e-4}) {
    LandingBody body{.points = polygon(5, 0.4)};
    for (Eigen::Vector2d& point : body.points) point.x() += offset * (source.unit() - 0.5);
    const ImpactScene scene = body.scene();
    VectorX<double> velocity = body.falling(1);
    velocity(3) += offset * source.unit();
    const VectorX<double> before = scene.momentum(velocity);
    VectorX<double> p = before;
    ImpactResolver<double> resolver({.reflection_limit = 10'000});
    resolver.prepare(scene.problem);
    CAPTURE(offset);
    CHECK(resolver.resolve(scene.problem, p).status == ImpactStatus::resolved);
    CHECK(std::abs(scene.norm(p) - scene.norm(before)) <= rounding(400, scene.norm(before)));
    CHECK(scene.rates(p).minCoeff() >= -rounding(200, 1.0));
  }
}

}  // namespace resolve_test
