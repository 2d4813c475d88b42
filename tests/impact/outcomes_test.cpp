// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/outcomes.hpp"

#include <algorithm>
#include <limits>
#include <numbers>
#include <set>
#include <vector>

#include "carom/impact/uniqueness.hpp"

#include "support/catch.hpp"
#include "support/cradle_cases.hpp"
#include "support/impact_scenes.hpp"
#include "support/landing_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace outcomes_test {

using namespace carom::testing;
using carom::enumerate_outcomes, carom::ImpactOutcomes, carom::Index, carom::MassMatrix;
using carom::VectorX;
using std::numbers::pi;

namespace {

ImpactOutcomes<double> outcomes_of(const ImpactScene& scene, const VectorX<double>& velocity,
                                   const carom::OutcomeOptions<double>& options = {}) {
  return enumerate_outcomes(scene.problem, scene.mass, scene.momentum(velocity), options);
}

/// Indeterminacy of a cue ball running between two balls under the angle theta.
double billiards_indeterminacy(double theta, double c = 1, double a = 1, double b = 1) {
  VectorX<double> velocity = VectorX<double>::Zero(6);
  velocity(0) = 1;
  return outcomes_of(billiards(theta, c, a, b), velocity).indeterminacy;
}

/// Every admissible order tried one by one, without memory; distinct ends.
void try_orders(const ImpactScene& scene, const VectorX<double>& p, double scale,
                std::vector<VectorX<double>>& ends) {
  bool ended = true;
  for (Index i = 0; i < scene.problem.contact_count(); ++i) {
    if (!(scene.problem.rate(i, p) < -1e-11 * scale)) continue;
    ended = false;
    VectorX<double> next = p;
    carom::reflect(scene.problem, i, next);
    try_orders(scene, next, scale, ends);
  }
  if (!ended) return;
  for (const auto& end : ends) {
    // Far above rounding and far below the distance of outcomes.
    if ((end - p).norm() < 1e-9 * scale) return;
  }
  ends.push_back(p);
}

}  // namespace

TEST_CASE("outcomes: the cradles of the table, as sets", "[impact][golden]") {
  REQUIRE(cradle_cases().size() == 22);
  for (const CradleCase& c : cradle_cases()) {
    const ImpactScene scene = ball_line(c.masses);
    const auto n = Index(c.masses.size());
    const VectorX<double> velocity = Eigen::Map<const VectorX<double>>(c.velocity.data(), n);
    CAPTURE(c.masses, c.velocity);
    const auto found = outcomes_of(scene, velocity);
    CHECK(found.complete);
    const auto together = std::count_if(found.outcomes.begin(), found.outcomes.end(),
                                        [](const auto& outcome) { return outcome.together; });
    CHECK(found.outcomes.size() == c.outcomes.size() + std::size_t(together));
    CHECK((found.outcomes.size() == 1) == c.unique);
    for (const auto& expected : c.outcomes) {
      const VectorX<double> v = Eigen::Map<const VectorX<double>>(expected.data(), n);
      CHECK(std::any_of(found.outcomes.begin(), found.outcomes.end(), [&](const auto& outcome) {
        return (scene.velocity(outcome.momentum) - v).norm() <= rounding(60, velocity.norm());
      }));
    }
    for (const auto& outcome : found.outcomes) {
      if (!outcome.together) CHECK(int(outcome.sequence.size()) == c.shortest);
    }
  }
}

TEST_CASE("outcomes: sequences lead where they say, by impulses that push", "[impact][law]") {
  VectorSource<double> source(71u);
  WorstCase replayed("the sequence"), pushed("the impulses"), feasible("feasible");
  WorstCase energy("energy"), spread("the indeterminacy is the largest distance");
  WorstCase all("those of trying every order");
  for (int round = 0; round < 60; ++round) {
    const ImpactScene scene = draw_scene(source, 3, 2 + round % 2);
    const VectorX<double> p = draw_vector(source, 3);
    const auto found = enumerate_outcomes(scene.problem, scene.mass, p);
    const double size = scene.norm(p);
    double widest = 0;
    for (const auto& outcome : found.outcomes) {
      VectorX<double> q = p;
      bool admissible = true;
      for (const Index i : outcome.sequence) {
        admissible = admissible && carom::reflect(scene.problem, i, q) > 0;
      }
      const double allowed = rounding(2000, size);
      replayed.see_holds(admissible, p);
      replayed.see((q - outcome.momentum).norm(), by_solver(1e-8) * size, p);
      pushed.see_holds(outcome.impulses.minCoeff() >= 0, p);
      pushed.see((scene.moved(p, outcome.impulses) - outcome.momentum).norm(), 10 * allowed, p);
      feasible.see(-scene.rates(outcome.momentum).minCoeff(), allowed, p);
      energy.see(std::abs(scene.norm(outcome.momentum) - size), allowed, p);
      for (const auto& other : found.outcomes) {
        widest = std::max(widest, scene.norm(outcome.momentum - other.momentum) / size);
      }
    }
    spread.see(std::abs(widest - found.indeterminacy), rounding(20, 1.0), p);
    if (found.states > 200) continue;  // too many orders to try one by one
    std::vector<VectorX<double>> ends;
    try_orders(scene, p, size, ends);
    all.see_holds(found.complete && ends.size() == found.outcomes.size(), p, double(ends.size()));
    for (const auto& end : ends) {
      all.see_holds(
          std::any_of(found.outcomes.begin(), found.outcomes.end(),
                      // Far above rounding and far below the distance of outcomes.
                      [&](const auto& o) { return (o.momentum - end).norm() < clearly(1e-7); }),
          p);
    }
  }
  replayed.check(60);
  pushed.check(60);
  feasible.check(60);
  energy.check(60);
  spread.check(60);
  all.check(60);
}

TEST_CASE("outcomes: a chain of five can end in 72 ways", "[impact][golden]") {
  // Masses 1, 2, 1, 2, 1, velocities 5, 4, 3, 2, 1.
  const auto found = outcomes_of(ball_line({1, 2, 1, 2, 1}), vector_of({5, 4, 3, 2, 1}));
  CHECK(found.complete);
  CHECK(found.outcomes.size() == 73);
  // By one order after another 72; the mirror image of another order each, unlike that of
  // equivalent contacts together, which is its own.
  CHECK(std::count_if(found.outcomes.begin(), found.outcomes.end(),
                      [](const auto& outcome) { return outcome.together; }) == 1);
}

TEST_CASE("outcomes: the symmetric one is among those of a symmetric impact", "[impact][oracle]") {
  const auto line = outcomes_of(ball_line({2, 1, 2}), vector_of({1, 0, -1}));
  CHECK(line.complete);
  REQUIRE(line.outcomes.size() == 3);
  CHECK(line.outcomes[2].together);
  CHECK((line.outcomes[2].momentum - vector_of({-2, 0, 2})).norm() <= rounding(20, 2.0));
  for (const double spread : {0.5, 0.49, 0.375, 0.1}) {
    LandingBody body{.points = rectangle(spread, spread)};
    if (spread < 0.4) body.turned = Eigen::Quaterniond(0.2, 0.9, -0.3, 0.4).normalized();
    const ImpactScene scene = body.scene();
    const auto found = outcomes_of(scene, body.falling(3));
    CAPTURE(spread, found.outcomes.size());
    CHECK(found.complete);
    CHECK(std::any_of(found.outcomes.begin(), found.outcomes.end(), [&](const auto& outcome) {
      return (scene.velocity(outcome.momentum) + body.falling(3)).norm() <= rounding(400, 3.0);
    }));
    CHECK(found.indeterminacy > clearly(0.1));
  }
}

TEST_CASE("outcomes: with restitution they are those of RestitutionImpact", "[impact][law]") {
  VectorSource<double> source(197u);
  WorstCase same("the outcome by an order"), energy("energy"), narrow("nearer to each other"),
      pushed("the impulses are those of the outcome");
  for (int round = 0; round < 60; ++round) {
    const ImpactScene scene = draw_scene(source, 3, 2 + round % 2);
    const VectorX<double> p = draw_vector(source, 3);
    const double r = 0.1 + 0.8 * source.unit();
    const auto elastic = enumerate_outcomes(scene.problem, scene.mass, p);
    const auto found = enumerate_outcomes(scene.problem, scene.mass, p, {.restitution = r});
    narrow.see_holds(found.indeterminacy <= elastic.indeterminacy + rounding(100, 1.0), p, r);
    REQUIRE(found.outcomes.size() == elastic.outcomes.size());
    for (const auto& outcome : found.outcomes) {
      VectorX<double> moved = p;
      for (Index i = 0; i < outcome.impulses.size(); ++i) {
        scene.problem.add_impulse(i, outcome.impulses(i), moved);
      }
      pushed.see((moved - outcome.momentum).norm(), by_solver(1e-8) * scene.norm(p), p, r);
      if (outcome.together || outcome.sequence.empty()) continue;
      const auto again = resolve_impact(
          scene.problem, scene.mass, p,
          carom::RestitutionImpact<double, carom::SweepOrder<double>>(
              r, carom::PlasticLaw::moreau, {}, carom::SweepOrder<double>(outcome.sequence)));
      same.see((again.momentum - outcome.momentum).norm(), by_solver(1e-8) * scene.norm(p), p, r);
      energy.see(std::abs(scene.norm(again.momentum) - scene.norm(outcome.momentum)),
                 by_solver(1e-8) * scene.norm(p), p, r);
    }
  }
  same.check(40);
  energy.check(40);
  narrow.check(60);
  pushed.check(40);
}

TEST_CASE("outcomes: the indeterminacy of billiards in closed form", "[impact][oracle]") {
  WorstCase closed("xi(theta)");
  for (int k = 0; k <= 240; ++k) {
    const double theta = pi / 3 + (pi - pi / 3) * k / 240;
    const double c = std::cos(theta), s = std::sin(theta);
    const double xi = std::sqrt((1 + c) * (2 - c)) * std::min(std::abs(c), s * s);
    closed.see(std::abs(billiards_indeterminacy(theta) - xi), rounding(500, 1.0), theta);
  }
  closed.check(241);
  CHECK(billiards_indeterminacy(pi / 3) == Approx(0.75).epsilon(rounding(500, 1.0)));
  CHECK(billiards_indeterminacy(2 * pi / 3) == Approx(0.559016994375).epsilon(by_digits(1e-12)));
  CHECK(billiards_indeterminacy(std::acos((1 - std::sqrt(5.0)) / 2)) ==
        Approx((std::sqrt(5.0) - 1) / 2).epsilon(rounding(500, 1.0)));
}

TEST_CASE("outcomes: the indeterminacy of billiards, equal balls", "[impact][golden]") {
  // Origin: an independent program in double precision; may change only with the definition of xi.
  const double table[][2] = {{60, 0.7500000000000002},     {70, 0.510176942619212},
                             {80, 0.2542327033789543},     {90, 0},
                             {100, 0.23272731031612032},   {110, 0.424573903677561},
                             {120, 0.5590169943749473},    {128.17270762701227, 0.6180339887498942},
                             {130, 0.5701673198778556},    {140, 0.33237722138981196},
                             {150, 0.1549142093659344},    {160, 0.04925377909714514},
                             {170, 0.0064211031746437665}, {180, 0}};
  for (const auto& [degrees, xi] : table) {
    CAPTURE(degrees);
    CHECK(std::abs(billiards_indeterminacy(degrees * pi / 180) - xi) <= rounding(512, 1.0));
  }
}

TEST_CASE("outcomes: at a right angle billiards end in one way whatever the masses",
          "[impact][law]") {
  VectorSource<double> source(72u);
  WorstCase product("cos(theta) sqrt(m_a m_b / ((m_a + m_c)(m_b + m_c)))"), unique("orthogonal");
  for (int round = 0; round < 10'000; ++round) {
    const double a = source.positive(4), b = source.positive(4), c = source.positive(4);
    // Radii set the angle of each contact alone; only their difference enters.
    const double theta = pi * source.unit();
    const double got = billiards(theta, c, a, b).problem.gram()(0, 1);
    product.see(std::abs(got - std::cos(theta) * std::sqrt(a * b / ((a + c) * (b + c)))),
                rounding(20, 1.0), theta, a, b, c);
    unique.see_holds(carom::classify(billiards(pi / 2, c, a, b).problem).reason ==
                         carom::UniquenessReason::orthogonal,
                     a, b, c);
  }
  product.check(10'000);
  unique.check(10'000);
  for (int round = 0; round < 100; ++round) {
    const double a = source.positive(4), b = source.positive(4), c = source.positive(4);
    CHECK(billiards_indeterminacy(pi / 2, c, a, b) <= rounding(512, 1.0));
  }
}

TEST_CASE("outcomes: the limit on states ends the search and is reported", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 2, 1, 2, 1});
  const auto cut = outcomes_of(scene, vector_of({5, 4, 3, 2, 1}), {.state_limit = 20});
  CHECK_FALSE(cut.complete);
  CHECK(cut.states <= 20);
  const auto whole = outcomes_of(scene, vector_of({5, 4, 3, 2, 1}));
  CHECK(whole.complete);
  CHECK(whole.states > 20);
}

TEST_CASE("outcomes: at rest or apart there is one, the momentum itself", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1});
  for (const auto& v : {vector_of({0, 0, 0}), vector_of({-1, 0, 1})}) {
    const auto found = outcomes_of(scene, v);
    REQUIRE(found.outcomes.size() == 1);
    CHECK(found.complete);
    CHECK(found.states == 1);
    CHECK(found.outcomes[0].momentum == v);
    CHECK(found.outcomes[0].sequence.empty());
    CHECK(found.outcomes[0].impulses.norm() == 0);
    CHECK(found.indeterminacy == 0);
  }
  // Momenta whose squares underflow have ends, and no distance to measure.
  const auto slow = outcomes_of(ball_line({2, 1, 2}), 1e-200 * vector_of({1, 0, -1}));
  CHECK(slow.outcomes.size() > 1);
  CHECK(slow.indeterminacy == 0);
}

TEST_CASE("outcomes: a wedge has no outcome to enumerate", "[impact][example]") {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 1}));
  const ImpactScene scene(mass, {vector_of({1, 0}), vector_of({-1, 0})});
  const auto found = outcomes_of(scene, vector_of({1, 0}));
  CHECK_FALSE(found.complete);
  CHECK(found.outcomes.empty());
}

TEST_CASE("outcomes: what is no momentum, what is not prepared, is refused", "[impact][example]") {
  ImpactScene scene = ball_line({1, 1});
  const auto refused = [&](const VectorX<double>& p) {
    return refusal_of([&] { static_cast<void>(enumerate_outcomes(scene.problem, scene.mass, p)); });
  };
  CHECK(refused(vector_of({1, 0})) == "accepted");
  CHECK(refused(vector_of({1})) ==
        "momentum entries: expected as many as the problem's size, got 1");
  CHECK(refused(vector_of({1, std::numeric_limits<double>::quiet_NaN()})) ==
        "momentum entry 1: expected a finite number, got nan");
  scene.problem.add_contact(scene.mass, vector_of({1, 0}));
  CHECK(refused(vector_of({1, 0})) == "impact problem: expected prepare() after the last contact");
}

TEST_CASE("outcomes: permuted whole numbers never share a key", "[impact][regression]") {
  // Equal balls permute their speeds: with shared keys the search compares each with hundreds.
  VectorX<double> momentum = VectorX<double>::LinSpaced(7, 1, 7);
  std::vector<double> keys;
  do {
    keys.push_back(carom::detail::momentum_key(momentum).first);
  } while (std::next_permutation(momentum.begin(), momentum.end()));
  REQUIRE(keys.size() == 5040);
  std::sort(keys.begin(), keys.end());
  double nearest = 1;
  for (std::size_t i = 1; i < keys.size(); ++i) nearest = std::min(nearest, keys[i] - keys[i - 1]);
  // Far above the rounding of a key.
  CHECK(nearest > clearly(1e-9));
}

TEST_CASE("outcomes: options that contradict themselves are refused by name", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1});
  const auto refused = [&](const carom::OutcomeOptions<double>& options) {
    return refusal_of([&] {
      static_cast<void>(
          carom::enumerate_outcomes(scene.problem, scene.mass, vector_of({1, 0}), options));
    });
  };
  CHECK(refused({.tolerance = 0}) == "tolerance: expected a fraction in (0, 1), got 0");
  CHECK(refused({.tolerance = 1}) == "tolerance: expected a fraction in (0, 1), got 1");
  CHECK(refused({.state_limit = 0}) == "state limit: expected a count >= 1, got 0");
  CHECK(refused({.feasibility = -1}) == "feasibility: expected a fraction in [0, 1), got -1");
  CHECK(refused({.feasibility = 2}) == "feasibility: expected a fraction in [0, 1), got 2");
  CHECK(refused({}) == "accepted");
}

}  // namespace outcomes_test
