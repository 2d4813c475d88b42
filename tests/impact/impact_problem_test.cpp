// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/impact_problem.hpp"

#include <limits>

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace impact_problem_test {

using namespace carom::testing;
using carom::ImpactProblem, carom::Index, carom::MassMatrix, carom::MatrixX, carom::VectorX;

namespace {

/// M⁻¹ by the user's own hand.
struct InverseOperator {
  using scalar_type = double;
  MatrixX<double> inverse;

  [[nodiscard]] Index size() const { return inverse.rows(); }
  void apply_inverse(VectorX<double>& covector) const { covector = (inverse * covector).eval(); }
};

}  // namespace

TEST_CASE("impact_problem: normals are units of the metric, responses their velocities",
          "[impact][law]") {
  VectorSource<double> source(1u);
  WorstCase units("<u, u> = 1"), along("u is along the gradient"), responses("M⁻¹ u");
  WorstCase rates("s = <p, u>"), grams("G = <u_i, u_j>");
  for (int round = 0; round < 200; ++round) {
    const Index n = 1 + round % 7, contacts = 1 + (round / 7) % 9;
    const MatrixX<double> matrix = draw_definite(source, n);
    const auto mass = MassMatrix<double>::make_dense(matrix);
    std::vector<VectorX<double>> gradients;
    for (Index i = 0; i < contacts; ++i) gradients.push_back(draw_vector(source, n));
    const ImpactScene scene(mass, gradients);
    REQUIRE(scene.problem.contact_count() == contacts);
    const MatrixX<double> inverse = matrix.inverse();
    const VectorX<double> p = draw_vector(source, n);
    const MatrixX<double> gram = scene.problem.gram();
    for (Index i = 0; i < contacts; ++i) {
      if (scene.problem.merged_into(i) >= 0) continue;  // in one dimension
      const VectorX<double>& gradient = gradients[std::size_t(i)];
      const VectorX<double> u = gradient / std::sqrt(gradient.dot(inverse * gradient));
      const double allowed = rounding(400, 10.0);
      units.see(std::abs(u.dot(inverse * u) - 1), allowed, gradient);
      along.see((scene.normal(i) - u).norm(), allowed * u.norm(), gradient);
      VectorX<double> response = VectorX<double>::Zero(n);
      for (const auto& [index, value] : scene.problem.response(i)) response(index) = value;
      responses.see((response - inverse * u).norm(), allowed * response.norm(), gradient);
      rates.see(std::abs(scene.problem.rate(i, p) - p.dot(inverse * u)), allowed * 3, gradient);
      for (Index j = 0; j < contacts; ++j) {
        if (scene.problem.merged_into(j) >= 0) continue;
        const VectorX<double>& other = gradients[std::size_t(j)];
        const double product = u.dot(inverse * other) / std::sqrt(other.dot(inverse * other));
        grams.see(std::abs(gram(i, j) - product), allowed, gradient, other);
      }
    }
  }
  units.check(500);
  along.check(500);
  responses.check(500);
  rates.check(500);
  grams.check(500);
}

TEST_CASE("impact_problem: the metric's form does not matter", "[impact][law]") {
  VectorSource<double> source(2u);
  WorstCase same("dense, blocks and a user's operator give one Gram matrix");
  for (int round = 0; round < 50; ++round) {
    const Index n = 2 + round % 3;
    const MatrixX<double> first = draw_definite(source, n), second = draw_definite(source, 3);
    MatrixX<double> whole = MatrixX<double>::Zero(n + 3, n + 3);
    whole.topLeftCorner(n, n) = first;
    whole.bottomRightCorner(3, 3) = second;
    MassMatrix<double> blocks;
    blocks.add_block(first);
    blocks.add_block(second);
    const auto dense = MassMatrix<double>::make_dense(whole);
    const InverseOperator user{whole.inverse()};
    ImpactProblem<double> by_blocks(n + 3), by_dense(n + 3), by_user(n + 3);
    for (int i = 0; i < 4; ++i) {
      const VectorX<double> gradient = draw_vector(source, n + 3);
      CHECK(by_blocks.add_contact(blocks, gradient) == i);
      by_dense.add_contact(dense, gradient);
      by_user.add_contact(user, gradient);
    }
    by_blocks.prepare();
    by_dense.prepare();
    by_user.prepare();
    const MatrixX<double> gram = by_dense.gram();
    same.see((by_blocks.gram() - gram).norm(), rounding(1000, 4.0), whole);
    same.see((by_user.gram() - gram).norm(), rounding(1000, 4.0), whole);
  }
  same.check(100);
}

TEST_CASE("impact_problem: the length of a gradient does not matter", "[impact][law]") {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 4, 0.5}));
  const VectorX<double> gradient = vector_of({1, -2, 0.5});
  const ImpactScene once(mass, {gradient});
  for (const double length : {1e-300, 1e-150, 3e-8, 7.0, 1e150, 1e300}) {
    const ImpactScene scaled(mass, {length * gradient});
    CAPTURE(length);
    CHECK((scaled.normal(0) - once.normal(0)).norm() <= rounding(8, once.normal(0).norm()));
  }
}

TEST_CASE("impact_problem: a chain has neighbours only along it", "[impact][example]") {
  const ImpactScene chain = ball_line(std::vector<double>(50, 2.0), true);
  for (Index i = 0; i < 49; ++i) {
    const auto neighbours = chain.problem.neighbours(i);
    REQUIRE(neighbours.size() == (i < 48 ? 2u : 1u));  // contact 0 meets the wall
    for (const auto& [other, product] : neighbours) {
      CHECK(product == Approx(other == 49 ? -std::sqrt(0.5) : -0.5).epsilon(rounding(5, 1.0)));
      CHECK((std::abs(other - i) == 1 || other == 49));
    }
    CHECK(chain.problem.normal(i).size() == 2);
  }
  CHECK(chain.problem.normal(49).size() == 1);
  CHECK(chain.problem.neighbours(49).size() == 1);
}

TEST_CASE("impact_problem: a repeated normal acts through its twin", "[impact][law]") {
  VectorSource<double> source(3u);
  WorstCase merged("a multiple of a normal is merged"), silent("and has rate zero");
  for (int round = 0; round < 200; ++round) {
    const Index n = 2 + round % 40;
    const auto mass = MassMatrix<double>::make_dense(draw_definite(source, n));
    const VectorX<double> a = draw_vector(source, n), b = draw_vector(source, n);
    const ImpactScene scene(mass, {a, b, (1 + source.unit()) * a, -b, 7 * b});
    const auto& problem = scene.problem;
    merged.see_holds(problem.merged_into(0) == -1 && problem.merged_into(1) == -1 &&
                         problem.merged_into(2) == 0 && problem.merged_into(3) == -1 &&
                         problem.merged_into(4) == 1,
                     double(n));
    const VectorX<double> p = draw_vector(source, n);
    silent.see_holds(problem.rate(2, p) == 0 && problem.rate(4, p) == 0 &&
                         problem.neighbours(2).empty() && problem.neighbours(4).empty(),
                     double(n));
    for (Index i = 0; i < 5; ++i) {
      for (const auto& entry : problem.neighbours(i)) {
        silent.see_holds(entry.index != 2 && entry.index != 4, double(n));
      }
    }
  }
  merged.check(200);
  silent.check(200);
}

TEST_CASE("impact_problem: products that cancel leave no neighbour", "[impact][example]") {
  // (1, 1, 1, 1) and (1, -1, 1, -1) share every coordinate, and the running
  // sum of their products passes through zero twice.
  const auto mass = MassMatrix<double>::make_diagonal(VectorX<double>::Ones(4));
  const ImpactScene scene(
      mass, {vector_of({1, 1, 1, 1}), vector_of({1, -1, 1, -1}), vector_of({1, -1, 1, 1})});
  CHECK(scene.problem.neighbours(0).size() == 1);
  CHECK(scene.problem.gram()(0, 1) == 0);
  CHECK(scene.problem.gram()(0, 2) == 0.5);
  CHECK(scene.problem.gram()(1, 2) == 0.5);
}

TEST_CASE("impact_problem: reset forgets contacts, and prepare may come again",
          "[impact][example]") {
  const auto mass = MassMatrix<double>::make_diagonal(VectorX<double>::Ones(2));
  ImpactProblem<double> problem(2);
  problem.prepare();
  CHECK(problem.contact_count() == 0);
  CHECK(problem.gram().size() == 0);
  problem.add_contact(mass, vector_of({1, 0}));
  problem.prepare();
  problem.add_contact(mass, vector_of({1, 1}));
  problem.prepare();
  CHECK(problem.gram()(0, 1) == Approx(std::sqrt(0.5)));
  problem.reset(1);
  CHECK(problem.size() == 1);
  CHECK(problem.contact_count() == 0);
  problem.add_contact(MassMatrix<double>::make_diagonal(VectorX<double>::Ones(1)), vector_of({-3}));
  problem.prepare();
  CHECK(problem.normal(0).front().value == -1);
}

TEST_CASE("impact_problem: what is no contact is refused by name", "[impact][example]") {
  const auto mass = MassMatrix<double>::make_diagonal(VectorX<double>::Ones(2));
  const auto refused = [&](const VectorX<double>& gradient) {
    ImpactProblem<double> problem(2);
    problem.add_contact(mass, vector_of({1, 0}));
    const std::string sentence = refusal_of([&] { problem.add_contact(mass, gradient); });
    problem.prepare();
    CHECK(problem.contact_count() == 1);
    CHECK(problem.normal(0).size() == 1);
    return sentence;
  };
  CHECK(refused(vector_of({0, 0})) == "contact 1: gradient: expected a non-zero vector, got zero");
  CHECK(refused(vector_of({1, std::numeric_limits<double>::quiet_NaN()})) ==
        "contact 1: gradient entry 1: expected a finite number, got nan");
  CHECK(refused(vector_of({std::numeric_limits<double>::infinity(), 0})) ==
        "contact 1: gradient entry 0: expected a finite number, got inf");
  CHECK(refused(vector_of({1, 2, 3})) ==
        "contact 1: gradient entries: expected as many as the mass has, got 3");
  ImpactProblem<double> larger(3);
  CHECK(refusal_of([&] {
          larger.add_contact(mass, vector_of({1, 2, 3}));
        }) == "mass size: expected the problem's size, got 2");
  const InverseOperator indefinite{vector_of({1, -1}).asDiagonal()};
  ImpactProblem<double> problem(2);
  CHECK(refusal_of([&] {
          problem.add_contact(indefinite, vector_of({0, 1}));
        }) ==
        "contact 0: squared norm of the gradient in the mass metric: expected a finite number > 0, "
        "got -1");
  const InverseOperator infinite{
      vector_of({1, std::numeric_limits<double>::infinity()}).asDiagonal()};
  CHECK_FALSE(problem.try_add_contact(infinite, vector_of({0, 1})));
  ImpactProblem<double> empty(0);
  CHECK_FALSE(empty.try_add_contact(InverseOperator{}, VectorX<double>()));
  CHECK(problem.contact_count() + empty.contact_count() == 0);
}

TEST_CASE("impact_problem: a problem that is not prepared is refused", "[impact][example]") {
  const std::string sentence = "impact problem: expected prepare() after the last contact";
  const auto mass = MassMatrix<double>::make_diagonal(VectorX<double>::Ones(2));
  ImpactProblem<double> problem(2);
  CHECK(problem.prepared());  // nothing to prepare
  problem.add_contact(mass, vector_of({1, 0}));
  CHECK_FALSE(problem.prepared());
  CHECK(refusal_of([&] { static_cast<void>(problem.gram()); }) == sentence);
  problem.prepare();
  CHECK(problem.prepared());
  CHECK(refusal_of([&] { problem.require_prepared(); }) == "accepted");
  problem.add_contact(mass, vector_of({0, 1}));
  CHECK(refusal_of([&] { problem.require_prepared(); }) == sentence);
  problem.reset(2);
  CHECK(problem.prepared());
}

TEST_CASE("impact_problem: the scale of the rates is their largest sum without cancellation",
          "[impact][law]") {
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 4}));
  ImpactProblem<double> problem(2);
  CHECK(problem.rate_scale(vector_of({1, 1})) == 0);
  problem.add_contact(mass, vector_of({3, 0}));
  problem.add_contact(mass, vector_of({1, -2}));  // of norm sqrt 2
  problem.prepare();
  const VectorX<double> p = vector_of({3, 6});
  CHECK(problem.rate(1, p) == Approx(0).margin(rounding(5, 1.0)));
  CHECK(problem.rate_scale(p) == Approx(6 / std::sqrt(2.0)));
  CHECK(problem.rate_scale(-p) == problem.rate_scale(p));
}

}  // namespace impact_problem_test
