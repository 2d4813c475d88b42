// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/judge_outcome.hpp"

#include "carom/impact/simultaneous.hpp"

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/landing_scenes.hpp"
#include "support/tolerance.hpp"

namespace judge_outcome_test {

using namespace carom::testing;
using carom::judge_outcome, carom::OutcomeJudgement, carom::VectorX;

namespace {

template <typename Law>
OutcomeJudgement<double> judge(const ImpactScene& scene, const VectorX<double>& velocity, Law law,
                               const carom::OutcomeOptions<double>& options = {}) {
  const VectorX<double> before = scene.momentum(velocity);
  const auto solution = carom::resolve_impact(scene.problem, scene.mass, before, law);
  return judge_outcome(scene.problem, scene.mass, before, solution.momentum, options);
}

}  // namespace

TEST_CASE("judge_outcome: one outcome, several, and not known", "[impact][example]") {
  using Elastic = carom::ImpactResolver<double>;
  const auto cradle = judge(ball_line({1, 1, 1}), vector_of({1, 0, 0}), Elastic());
  CHECK(cradle.decided);
  CHECK(cradle.unique);
  CHECK(cradle.indeterminacy == 0);

  const ImpactScene uneven = ball_line({2, 1, 2});
  const VectorX<double> meeting = vector_of({1, 0, -1});
  const auto several = judge(uneven, meeting, Elastic());
  CHECK(several.decided);
  CHECK(!several.unique);
  const double xi =
      enumerate_outcomes(uneven.problem, uneven.mass, uneven.momentum(meeting)).indeterminacy;
  CHECK(xi > clearly(0.1));
  CHECK(several.indeterminacy == Approx(xi).epsilon(rounding(100, 1.0)));
  // Less is left to be undetermined where energy is lost, and nothing of a plastic impact.
  const auto lossy =
      judge(uneven, meeting, carom::RestitutionImpact<double>(0.5), {.restitution = 0.5});
  CHECK(!lossy.unique);
  CHECK(lossy.indeterminacy < 0.51 * xi);
  CHECK(judge(uneven, meeting, carom::PlasticImpact<double>(), {.restitution = 0}).unique);

  // The search ends early: what it has found is told, what it has not is not claimed.
  const ImpactScene many = ball_line({1, 2, 1, 2, 1});
  const auto early = judge(many, vector_of({5, 4, 3, 2, 1}), Elastic(), {.state_limit = 4});
  CHECK(!early.decided);
  CHECK(!early.unique);
  // Two outcomes are enough to decide, even if there are more.
  const auto enough = judge(many, vector_of({5, 4, 3, 2, 1}), Elastic(), {.state_limit = 350});
  CHECK(enough.decided);
  CHECK(!enough.unique);
}

TEST_CASE("judge_outcome: a law whose outcome no order has is said to be one of several",
          "[impact][example]") {
  const auto parted =
      judge(ball_line({1, 1, 1}), vector_of({2, 0, -1}), carom::GeneralizedReflections<double>());
  CHECK(parted.decided);
  CHECK(!parted.unique);
  // (-4, 2, 5)/3 against (-1, 0, 2).
  CHECK(parted.indeterminacy == Approx(std::sqrt(6.0 / 9 / 5)).epsilon(rounding(100, 1.0)));
}

TEST_CASE("judge_outcome: a wedge and rest", "[impact][example]") {
  const ImpactScene wedge(carom::MassMatrix<double>::make_diagonal(vector_of({1, 1})),
                          {vector_of({1, 0}), vector_of({-1, 0})});
  CHECK(!judge(wedge, vector_of({2, 3}), carom::ImpactResolver<double>()).decided);
  CHECK(judge(ball_line({1, 2, 1}), vector_of({0, 0, 0}), carom::ImpactResolver<double>()).unique);
}

TEST_CASE("judge_outcome: a flat landing has several outcomes, whatever its scale",
          "[impact][example]") {
  for (const double scale : {1e-3, 1.0, 1e3}) {
    LandingBody body{
        .mass = scale, .height = 0.5 * scale, .points = rectangle(0.3 * scale, 0.3 * scale)};
    body.inertia *= scale * scale * scale;
    const auto flat = judge(body.scene(), body.falling(scale), carom::ImpactResolver<double>());
    CAPTURE(scale);
    CHECK(flat.decided);
    CHECK(!flat.unique);
    CHECK(flat.indeterminacy > clearly(0.1));
  }
}

}  // namespace judge_outcome_test
