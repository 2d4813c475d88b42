// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/wedge.hpp"

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace wedge_test {

using namespace carom::testing;
using carom::has_interior, carom::Index, carom::MassMatrix, carom::VectorX;

TEST_CASE("wedge: contacts that one motion opens are no wedge", "[impact][oracle]") {
  VectorSource<double> source(41u);
  WorstCase open("a motion opens them all");
  for (int round = 0; round < 300; ++round) {
    const Index size = 1 + round % 6;
    const ImpactScene scene = draw_scene(source, size, 1 + (round / 6) % 12);
    open.see_holds(has_interior(scene.problem), double(round));
  }
  open.check(300);
}

TEST_CASE("wedge: a positive combination of normals that vanishes is a wedge", "[impact][oracle]") {
  VectorSource<double> source(42u);
  WorstCase wedged("Σ c_i u_i = 0 with c > 0");
  for (int round = 0; round < 300; ++round) {
    const Index size = 2 + round % 5, count = 1 + (round / 5) % size;
    const auto mass = MassMatrix<double>::make_dense(draw_definite(source, size));
    std::vector<VectorX<double>> gradients;
    VectorX<double> closing = VectorX<double>::Zero(size);
    for (Index i = 0; i < count; ++i) {
      gradients.push_back(draw_vector(source, size));
      closing -= (0.1 + source.unit()) * gradients.back();
    }
    gradients.push_back(closing);
    if (round % 2 == 0) gradients.push_back(draw_vector(source, size));  // one more, any
    wedged.see_holds(!has_interior(ImpactScene(mass, gradients).problem), double(round));
  }
  wedged.check(300);
}

TEST_CASE("wedge: simple scenes", "[impact][example]") {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 1}));
  const auto opens = [&](const std::vector<VectorX<double>>& gradients) {
    return has_interior(ImpactScene(mass, gradients).problem);
  };
  CHECK(opens({}));
  CHECK(opens({vector_of({1, 0})}));
  CHECK(opens({vector_of({1, 0}), vector_of({5, 0})}));         // twice the same wall
  CHECK_FALSE(opens({vector_of({1, 0}), vector_of({-1, 0})}));  // between two walls
  CHECK(opens({vector_of({1, 0}), vector_of({-1, 1e-3})}));     // a steep funnel
  CHECK(opens({vector_of({1, 0}), vector_of({0, 1}), vector_of({1, 1})}));
  const double s = std::sqrt(0.75);
  CHECK_FALSE(opens({vector_of({1, 0}), vector_of({-0.5, s}), vector_of({-0.5, -s})}));
  CHECK(opens({vector_of({1, 0}), vector_of({-0.5, s}), vector_of({-0.4, -s}),
               vector_of({1, 1})}) == false);
  // A table of four legs: dependent normals, yet it can be lifted.
  std::vector<VectorX<double>> legs;
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {-1.0, 1.0}) legs.push_back(vector_of({1, y, -x}));
  }
  CHECK(has_interior(
      ImpactScene(MassMatrix<double>::make_diagonal(vector_of({1, 1, 1})), legs).problem));
}

TEST_CASE("wedge: nearly opposite normals open as long as they are told apart",
          "[impact][example]") {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 1}));
  for (const double angle : {1e-2, 1e-4, 1e-5}) {
    const ImpactScene scene(mass,
                            {vector_of({1, 0}), vector_of({-std::cos(angle), std::sin(angle)})});
    CAPTURE(angle);
    CHECK(has_interior(scene.problem));
  }
  for (const double angle : {1e-2, 1e-4, 1e-5}) {  // more contacts than coordinates
    const ImpactScene scene(mass,
                            {vector_of({1, 0}), vector_of({-std::cos(angle), std::sin(angle)}),
                             vector_of({0.3, 1}), vector_of({-0.2, 1})});
    CAPTURE(angle);
    CHECK(has_interior(scene.problem));
  }
  const ImpactScene shut(mass, {vector_of({1, 0}), vector_of({-1, 1e-10})});
  CHECK_FALSE(has_interior(shut.problem));
}

TEST_CASE("wedge: long chains are found open without a dense factorisation", "[impact][law]") {
  CHECK(has_interior(ball_line(std::vector<double>(300, 1.0), true).problem));
  CHECK_FALSE(has_interior(ball_line(std::vector<double>(40, 1.0), true, true).problem));
}

TEST_CASE("wedge: a problem that is not prepared is refused", "[impact][example]") {
  ImpactScene scene = ball_line({1, 1});
  scene.problem.add_contact(scene.mass, vector_of({1, 0}));
  CHECK(refusal_of([&] { static_cast<void>(has_interior(scene.problem)); }) ==
        "impact problem: expected prepare() after the last contact");
}

}  // namespace wedge_test
