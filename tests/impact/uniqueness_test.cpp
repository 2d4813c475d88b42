// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/uniqueness.hpp"

#include <algorithm>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "carom/impact/reflection_count.hpp"
#include "carom/impact/resolve.hpp"

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace coxeter_diagram_test {

using carom::Index, carom::detail::arm_lengths, carom::detail::coxeter_type;
using carom::detail::CoxeterComponent, carom::detail::path_labels;

namespace {

/// Nodes 0, 1, 2, … in a row; labels of the edges between them.
CoxeterComponent row(const std::vector<int>& labels) {
  CoxeterComponent component;
  component.nodes.push_back(0);
  for (std::size_t k = 0; k < labels.size(); ++k) {
    component.nodes.push_back(Index(k) + 1);
    component.edges.push_back({Index(k), Index(k) + 1, labels[k]});
  }
  return component;
}

/// Three arms around node 0.
CoxeterComponent star(const std::vector<Index>& arms) {
  CoxeterComponent component;
  component.nodes.push_back(0);
  for (const Index arm : arms) {
    Index last = 0;
    for (Index k = 0; k < arm; ++k) {
      const auto next = Index(component.nodes.size());
      component.nodes.push_back(next);
      component.edges.push_back({last, next, 3});
      last = next;
    }
  }
  return component;
}

/// The same diagram with its nodes counted from the other end.
CoxeterComponent reversed(CoxeterComponent component) {
  const Index last = Index(component.nodes.size()) - 1;
  for (auto& edge : component.edges) {
    edge = {last - edge.second, last - edge.first, edge.label};
  }
  return component;
}

}  // namespace

TEST_CASE("coxeter_diagram: paths give their labels, other shapes none", "[impact][example]") {
  CHECK(path_labels(row({3, 4, 5})).size() == 3);
  CHECK(path_labels(row({})).empty());
  CHECK(path_labels(star({1, 1, 1})).empty());
  CoxeterComponent ring = row({3, 3});
  ring.edges.push_back({2, 0, 3});
  CHECK(path_labels(ring).empty());
}

TEST_CASE("coxeter_diagram: trees with three arms give their lengths, other shapes none",
          "[impact][example]") {
  CHECK(arm_lengths(star({4, 1, 2})) == std::vector<Index>{1, 2, 4});
  CHECK(arm_lengths(row({3, 3, 3})).empty());
  CHECK(arm_lengths(star({1, 1, 1, 1})).empty());
  CoxeterComponent strong = star({1, 1, 2});
  strong.edges.back().label = 4;
  CHECK(arm_lengths(strong).empty());
}

TEST_CASE("coxeter_diagram: finite irreducible types have their names, infinite ones none",
          "[impact][oracle]") {
  CHECK(coxeter_type(row({})) == "A1");
  CHECK(coxeter_type(row({3})) == "A2");
  CHECK(coxeter_type(row({4})) == "B2");
  CHECK(coxeter_type(row({7})) == "I2(7)");
  CHECK(coxeter_type(row({3, 3, 3})) == "A4");
  CHECK(coxeter_type(row({3, 3, 4})) == "B4");
  CHECK(coxeter_type(row({3, 4, 3})) == "F4");
  CHECK(coxeter_type(row({5, 3})) == "H3");
  CHECK(coxeter_type(row({3, 3, 5})) == "H4");
  CHECK(coxeter_type(row({5, 3, 3, 3})).empty());
  CHECK(coxeter_type(row({4, 4})).empty());
  CHECK(coxeter_type(star({1, 1, 1})) == "D4");
  CHECK(coxeter_type(star({1, 1, 5})) == "D8");
  CHECK(coxeter_type(star({1, 2, 2})) == "E6");
  CHECK(coxeter_type(star({1, 2, 4})) == "E8");
  CHECK(coxeter_type(star({1, 2, 5})).empty());
  CHECK(coxeter_type(star({2, 2, 2})).empty());
  CHECK(coxeter_type(star({1, 2, 1})) == "D5");
}

TEST_CASE("coxeter_diagram: the order of the nodes does not matter", "[impact][law]") {
  CHECK(path_labels(reversed(row({3, 4, 3}))) == std::vector<int>{3, 4, 3});
  CHECK(arm_lengths(reversed(star({4, 1, 2}))) == std::vector<Index>{1, 2, 4});
  CHECK(coxeter_type(reversed(row({3, 3, 4}))) == "B4");
  CHECK(coxeter_type(reversed(star({1, 2, 3}))) == "E7");
}

}  // namespace coxeter_diagram_test

namespace uniqueness_test {

using namespace carom::testing;
using carom::classify, carom::coxeter_label, carom::ImpactResolver, carom::ImpactStatus;
using carom::Index, carom::MassMatrix, carom::MatrixX, carom::predicted_reflections;
using carom::UniquenessReason, carom::VectorX;
using std::numbers::pi;

namespace {

struct Resolution {
  VectorX<double> momentum;
  Index reflections;
};

template <typename Order>
Resolution resolve_by(const ImpactScene& scene, VectorX<double> p, Order order) {
  ImpactResolver<double, Order> resolver({}, std::move(order));
  resolver.prepare(scene.problem);
  const auto report = resolver.resolve(scene.problem, p);
  CHECK(report.status == ImpactStatus::resolved);
  return {p, report.reflections};
}

using Choice = std::function<Index(std::span<const double>, double)>;

Resolution resolve_at_random(const ImpactScene& scene, const VectorX<double>& p,
                             VectorSource<double>& source) {
  const Choice choice = [&](std::span<const double> rates, double limit) -> Index {
    Index chosen = -1;
    double seen = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (rates[i] < limit && source.unit() * ++seen < 1) chosen = Index(i);
    }
    return chosen;
  };
  return resolve_by(scene, p, carom::ChosenOrder<double, Choice>{choice});
}

Resolution resolve_first(const ImpactScene& pair, const VectorX<double>& p, Index first) {
  return resolve_by(pair, p, carom::SweepOrder<double>({first, 1 - first}));
}

/// All approach: the longest element of the group, as many reflections as positive roots.
void check_type(const ImpactScene& scene, const std::string& name, Index positive_roots,
                int momenta = 6) {
  CAPTURE(name);
  const auto uniqueness = classify(scene.problem);
  CHECK(to_string(uniqueness) == name);
  CHECK(uniqueness.unique());
  VectorSource<double> source(61u);
  WorstCase counts("as many reflections as predicted"), same("one outcome for every order");
  for (int round = 0; round < momenta; ++round) {
    VectorX<double> p = draw_vector(source, scene.problem.size());
    if (round == 0) {
      p = momentum_with(scene, -VectorX<double>::Ones(scene.problem.contact_count()));
      CHECK(predicted_reflections(scene.problem, p) == positive_roots);
    }
    const Index predicted = predicted_reflections(scene.problem, p);
    const Resolution first = resolve_by(scene, p, carom::MostInfeasibleFirst<double>());
    counts.see_holds(first.reflections == predicted, p, double(predicted));
    for (int order = 0; order < 5; ++order) {
      const Resolution other = resolve_at_random(scene, p, source);
      counts.see_holds(other.reflections == predicted, p, double(predicted));
      same.see((other.momentum - first.momentum).norm(),
               rounding(100 + 40 * int(predicted), p.norm()), p);
    }
  }
  counts.check();
  same.check();
}

ImpactScene coxeter_scene(Index nodes, const std::vector<CoxeterEdge>& edges) {
  return gram_scene(coxeter_gram(nodes, edges));
}

/// A tree of three arms around node 0.
std::vector<CoxeterEdge> tree_edges(std::initializer_list<Index> arms) {
  std::vector<CoxeterEdge> edges;
  Index next = 1;
  for (const Index arm : arms) {
    for (Index k = 0; k < arm; ++k, ++next) edges.push_back({k == 0 ? 0 : next - 1, next});
  }
  return edges;
}

}  // namespace

TEST_CASE("uniqueness: two contacts at -cos(pi/m) end alike, after m reflections",
          "[impact][law]") {
  VectorSource<double> source(62u);
  for (int m = 2; m <= 8; ++m) {
    const ImpactScene pair = pair_scene(-std::cos(pi / m));
    const auto uniqueness = classify(pair.problem);
    CHECK(uniqueness.reason ==
          (m == 2 ? UniquenessReason::orthogonal : UniquenessReason::dihedral));
    CHECK(to_string(uniqueness) == (m == 2 ? "orthogonal" : "dihedral m=" + std::to_string(m)));
    WorstCase law("s+ is -s- or its swap"), count("m reflections"), alike("both orders");
    for (int round = 0; round < 100; ++round) {
      const VectorX<double> s = vector_of({-0.01 - source.unit(), -0.01 - source.unit()});
      const VectorX<double> p = momentum_with(pair, s);
      VectorX<double> expected = -s;
      if (m % 2 == 1) expected.reverseInPlace();
      for (const Index first : {0, 1}) {
        const Resolution end = resolve_first(pair, p, first);
        law.see((pair.rates(end.momentum) - expected).norm(), rounding(100 * m, p.norm()), s);
        count.see_holds(end.reflections == m, s);
      }
      const VectorX<double> any = draw_vector(source, 2);
      alike.see(
          (resolve_first(pair, any, 0).momentum - resolve_first(pair, any, 1).momentum).norm(),
          rounding(100 * m, 1.0), any);
    }
    law.check(200);
    count.check(200);
    alike.check(100);
  }
}

TEST_CASE("uniqueness: between those products some momentum ends in two ways", "[impact][law]") {
  WorstCase differs("an approaching momentum with two outcomes");
  for (double c = -0.97; c < 0.99; c += 0.0173) {
    double nearest = 2;
    for (int m = 2; m < 40; ++m) nearest = std::min(nearest, std::abs(c + std::cos(pi / m)));
    if (nearest < 2e-3) continue;
    const ImpactScene pair = pair_scene(c);
    CHECK(to_string(classify(pair.problem)) == "unknown");
    double apart = 0;
    for (int k = 1; k < 200; ++k) {
      const VectorX<double> p = momentum_with(pair, vector_of({-k / 200.0, k / 200.0 - 1}));
      const double gap =
          (resolve_first(pair, p, 0).momentum - resolve_first(pair, p, 1).momentum).norm();
      apart = std::max(apart, gap / p.norm());
    }
    differs.see_holds(apart > clearly(1e-3), c, apart);
  }
  differs.check(80);
  // c > 0: head on, the first to act leaves with what the other would have had.
  const ImpactScene acute = pair_scene(0.6);
  const VectorX<double> p = momentum_with(acute, vector_of({-1, -1}));
  CHECK((acute.rates(resolve_first(acute, p, 0).momentum) - vector_of({1, 0.2})).norm() <=
        rounding(64, 1.0));
  CHECK((acute.rates(resolve_first(acute, p, 1).momentum) - vector_of({0.2, 1})).norm() <=
        rounding(64, 1.0));
}

TEST_CASE("uniqueness: labels are found within the tolerance and no further", "[impact][law]") {
  for (int m = 2; m <= 300; ++m) {
    const double exact = m == 2 ? 0 : -std::cos(pi / m);
    CAPTURE(m);
    CHECK(coxeter_label(exact, 1e-9) == m);
    CHECK(coxeter_label(exact, 1e-14) == m);
    CHECK(coxeter_label(exact + 0.9e-9, 1e-9) == m);
    CHECK(coxeter_label(exact - 0.9e-9, 1e-9) == m);
    CHECK(coxeter_label(exact + 1.1e-9, 1e-9) == 0);
    CHECK(coxeter_label(exact - 1.1e-9, 1e-9) == 0);
  }
  for (const double c : {-1.0, -1.5, 1e-3, 0.5, 1.0}) CHECK(coxeter_label(c, 1e-9) == 0);
  CHECK(coxeter_label(1e-13 - 1, 1e-9) == 0);               // m would be some 7e6
  CHECK(coxeter_label(-std::cos(pi / 1000.5), 1e-3) == 0);  // as far as can be from any label
  CHECK(coxeter_label(-0.5F, 1e-5F) == 3);
  const ImpactScene near_miss = pair_scene(-0.5 + 1e-6);
  CHECK_FALSE(classify(near_miss.problem).unique());
  CHECK(classify(near_miss.problem, 1e-5).unique());
}

TEST_CASE("uniqueness: equal balls sort their velocities, one reflection for each inversion",
          "[impact][law]") {
  VectorSource<double> source(63u);
  WorstCase sorted("sorted"), counted("reflections, inversions, prediction");
  for (std::size_t n = 2; n <= 12; ++n) {
    const ImpactScene scene = ball_line(std::vector<double>(n, 0.7));
    CHECK(to_string(classify(scene.problem)) == (n == 2   ? "orthogonal"
                                                 : n == 3 ? "dihedral m=3"
                                                          : "Coxeter A" + std::to_string(n - 1)));
    for (int round = 0; round < 5; ++round) {
      const VectorX<double> v = draw_vector(source, Index(n));
      VectorX<double> expected = v;
      std::sort(expected.begin(), expected.end());
      Index inversions = 0;
      for (Index i = 0; i < Index(n); ++i) {
        for (Index j = i + 1; j < Index(n); ++j) inversions += v(i) > v(j) ? 1 : 0;
      }
      const VectorX<double> p = scene.momentum(v);
      counted.see_holds(predicted_reflections(scene.problem, p) == inversions, v);
      for (int order = 0; order < 3; ++order) {
        const Resolution end = resolve_at_random(scene, p, source);
        counted.see_holds(end.reflections == inversions, v);
        sorted.see((scene.velocity(end.momentum) - expected).norm(), rounding(600, 1.0), v);
      }
    }
  }
  sorted.check(100);
  counted.check(100);
}

TEST_CASE("uniqueness: with a wall the equal balls' speeds come out sorted", "[impact][law]") {
  VectorSource<double> source(64u);
  WorstCase sorted("sorted"), counted("as predicted, at most N squared");
  for (std::size_t n = 1; n <= 8; ++n) {
    const ImpactScene scene = ball_line(std::vector<double>(n, 2.0), true);
    CHECK(to_string(classify(scene.problem)) == (n == 1   ? "orthogonal"
                                                 : n == 2 ? "dihedral m=4"
                                                          : "Coxeter B" + std::to_string(n)));
    for (int round = 0; round < 6; ++round) {
      VectorX<double> v = draw_vector(source, Index(n));
      if (round == 0) v = -VectorX<double>::LinSpaced(Index(n), 1.0, double(n));
      VectorX<double> expected = v.cwiseAbs();
      std::sort(expected.begin(), expected.end());
      const VectorX<double> p = scene.momentum(v);
      const Index predicted = predicted_reflections(scene.problem, p);
      if (round == 0) CHECK(predicted == Index(n * n));
      const Resolution end = resolve_at_random(scene, p, source);
      counted.see_holds(end.reflections == predicted && predicted <= Index(n * n), v);
      sorted.see((scene.velocity(end.momentum) - expected).norm(), rounding(600, double(n)), v);
    }
  }
  sorted.check(48);
  counted.check(48);
}

TEST_CASE("uniqueness: chains whose masses give a dihedral group", "[impact][example]") {
  const double ratios[] = {1, 1 + std::sqrt(2.0), 2 + std::sqrt(5.0), 3 + 2 * std::sqrt(3.0)};
  for (int m = 3; m <= 6; ++m) {
    const double ratio = ratios[m - 3];
    const std::string expected = "dihedral m=" + std::to_string(m);
    CHECK(to_string(classify(ball_line({ratio, 1, ratio}).problem)) == expected);
    CHECK(to_string(classify(ball_line({5 * ratio, 5, 5 * ratio}).problem)) == expected);
  }
  CHECK(to_string(classify(ball_line({2, 1, 2}).problem)) == "unknown");
  // Three masses with m = 3: 4 m1 m3 = (m1 + m2)(m2 + m3).
  VectorSource<double> source(65u);
  for (int round = 0; round < 50; ++round) {
    const double a = 0.1 + source.unit(), b = 3 * a * source.unit();
    const double c = b * (a + b) / (3 * a - b);
    CAPTURE(a, b, c);
    CHECK(to_string(classify(ball_line({a, b, c}).problem)) == "dihedral m=3");
  }
}

TEST_CASE("uniqueness: a flat bar on both ends, by its radius of inertia", "[impact][example]") {
  // Coordinates: height, rotation. Ends at ±b; I = kappa m b².
  const double mass = 1.7, b = 0.3;
  for (int m = 2; m <= 8; ++m) {
    const double kappa = std::pow(std::tan(pi / (2 * m)), 2);
    const ImpactScene bar(
        MassMatrix<double>::make_diagonal(vector_of({mass, kappa * mass * b * b})),
        {vector_of({1, b}), vector_of({1, -b})});
    CHECK(to_string(classify(bar.problem)) ==
          (m == 2 ? "orthogonal" : "dihedral m=" + std::to_string(m)));
  }
}

TEST_CASE("uniqueness: the finite Coxeter groups, by name and by positive roots",
          "[impact][oracle]") {
  check_type(coxeter_scene(2, path_edges({5})), "dihedral m=5", 5);
  check_type(coxeter_scene(2, path_edges({7})), "dihedral m=7", 7);
  check_type(coxeter_scene(3, path_edges({3, 3})), "Coxeter A3", 6);
  check_type(coxeter_scene(3, path_edges({3, 4})), "Coxeter B3", 9);
  check_type(coxeter_scene(4, path_edges({4, 3, 3})), "Coxeter B4", 16);
  check_type(coxeter_scene(4, tree_edges({1, 1, 1})), "Coxeter D4", 12);
  check_type(coxeter_scene(6, tree_edges({3, 1, 1})), "Coxeter D6", 30);
  check_type(coxeter_scene(6, tree_edges({2, 1, 2})), "Coxeter E6", 36);
  check_type(coxeter_scene(7, tree_edges({1, 3, 2})), "Coxeter E7", 63);
  check_type(coxeter_scene(8, tree_edges({4, 2, 1})), "Coxeter E8", 120, 3);
  check_type(coxeter_scene(4, path_edges({3, 4, 3})), "Coxeter F4", 24);
  check_type(coxeter_scene(3, path_edges({5, 3})), "Coxeter H3", 15);
  check_type(coxeter_scene(4, path_edges({3, 3, 5})), "Coxeter H4", 60);
}

TEST_CASE("uniqueness: products of groups, the largest first", "[impact][oracle]") {
  check_type(coxeter_scene(4, {{0, 2}, {2, 3}}), "Coxeter A3 x A1", 7);
  check_type(coxeter_scene(3, {}), "orthogonal", 3);
  check_type(coxeter_scene(4, {{0, 3, 4}, {1, 2}}), "Coxeter B2 x A2", 7);
  check_type(coxeter_scene(8, {{0, 1, 7}, {2, 3}, {3, 4}, {4, 5}, {5, 6}}),
             "Coxeter A5 x I2(7) x A1", 23);
}

TEST_CASE("uniqueness: diagrams of infinite groups are not certified", "[impact][oracle]") {
  const auto verdict = [](const MatrixX<double>& gram) {
    // The normals need not exist: only their products are looked at here.
    MatrixX<double> padded = gram;
    const Eigen::SelfAdjointEigenSolver<MatrixX<double>> solver(gram);
    if (solver.eigenvalues()(0) < -1e-12) return std::string("no Gram matrix");
    const MatrixX<double> root =
        solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
    std::vector<VectorX<double>> gradients;
    for (Index i = 0; i < gram.rows(); ++i) gradients.push_back(root.row(i).transpose());
    const ImpactScene scene(MassMatrix<double>::make_diagonal(VectorX<double>::Ones(gram.rows())),
                            gradients);
    CHECK(classify(scene.problem).components.empty());
    return to_string(classify(scene.problem));
  };
  CHECK(verdict(coxeter_gram(3, {{0, 1}, {1, 2}, {2, 0}})) == "unknown");                  // A~2
  CHECK(verdict(coxeter_gram(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}})) == "unknown");          // A~3
  CHECK(verdict(coxeter_gram(3, path_edges({4, 4}))) == "unknown");                        // C~2
  CHECK(verdict(coxeter_gram(3, path_edges({3, 6}))) == "unknown");                        // G~2
  CHECK(verdict(coxeter_gram(4, path_edges({4, 3, 4}))) == "unknown");                     // C~3
  CHECK(verdict(coxeter_gram(5, path_edges({3, 4, 3, 3}))) == "unknown");                  // F~4
  CHECK(verdict(coxeter_gram(5, tree_edges({1, 1, 1, 1}))) == "unknown");                  // D~4
  CHECK(verdict(coxeter_gram(6, {{0, 1}, {0, 2}, {0, 3}, {3, 4}, {3, 5}})) == "unknown");  // D~5
  CHECK(verdict(coxeter_gram(4, {{0, 1}, {0, 2}, {0, 3, 4}})) == "unknown");               // B~3
  CHECK(verdict(coxeter_gram(7, tree_edges({2, 2, 2}))) == "unknown");                     // E~6
  CHECK(verdict(coxeter_gram(8, tree_edges({1, 3, 3}))) == "unknown");                     // E~7
  CHECK(verdict(coxeter_gram(9, tree_edges({1, 2, 5}))) == "unknown");                     // E~8
  MatrixX<double> line(2, 2);
  line << 1, -1, -1, 1;
  CHECK(verdict(line) == "unknown");
  MatrixX<double> third(3, 3);  // one pair off, in a chain otherwise certified
  third << 1, -0.5, 0, -0.5, 1, -0.4, 0, -0.4, 1;
  CHECK(verdict(third) == "unknown");
}

TEST_CASE("uniqueness: no contact, one contact, repeated contacts", "[impact][example]") {
  carom::ImpactProblem<double> empty(2);
  empty.prepare();
  CHECK(to_string(classify(empty)) == "orthogonal");
  CHECK(predicted_reflections(empty, vector_of({1, 2})) == 0);
  const auto mass = MassMatrix<double>::make_diagonal(vector_of({1, 1, 1}));
  const ImpactScene twice(mass,
                          {vector_of({-1, 1, 0}), vector_of({-2, 2, 0}), vector_of({0, -1, 1})});
  CHECK(to_string(classify(twice.problem)) == "dihedral m=3");
  CHECK(predicted_reflections(twice.problem, vector_of({3, 2, 1})) == 3);
  CHECK(predicted_reflections(twice.problem, vector_of({0, 0, 0})) == 0);
}

TEST_CASE("uniqueness: contacts at rest are no reflections", "[impact][law]") {
  VectorSource<double> source(66u);
  WorstCase counted("inversions of velocities with equals among them");
  const ImpactScene scene = ball_line(std::vector<double>(7, 1.0));
  for (int round = 0; round < 100; ++round) {
    VectorX<double> v(7);
    for (double& speed : v) speed = std::floor(3 * source.unit());
    Index inversions = 0;
    for (Index i = 0; i < 7; ++i) {
      for (Index j = i + 1; j < 7; ++j) inversions += v(i) > v(j) ? 1 : 0;
    }
    counted.see_holds(predicted_reflections(scene.problem, v) == inversions, v);
    counted.see_holds(resolve_at_random(scene, v, source).reflections == inversions, v);
  }
  counted.check(200);
}

TEST_CASE("uniqueness: float distinguishes designs to its own round-off", "[impact][example]") {
  const auto line = [](float outer) {
    const VectorX<float> masses = (VectorX<float>(3) << outer, 1, outer).finished();
    const auto mass = MassMatrix<float>::make_diagonal(masses);
    carom::ImpactProblem<float> problem(3);
    for (Index i = 0; i < 2; ++i) {
      const VectorX<float> gradient = VectorX<float>::Unit(3, i + 1) - VectorX<float>::Unit(3, i);
      problem.add_contact(mass, gradient);
    }
    problem.prepare();
    return to_string(classify(problem));
  };
  CHECK(line(1) == "dihedral m=3");
  CHECK(line(1 + std::sqrt(2.0f)) == "dihedral m=4");
  CHECK(line(2 + std::sqrt(5.0f)) == "dihedral m=5");
  CHECK(line(3 + 2 * std::sqrt(3.0f)) == "dihedral m=6");
  CHECK(line(2) == "unknown");
  CHECK(line(2.415f) == "unknown");
}

TEST_CASE("uniqueness: a problem that is not prepared is refused", "[impact][example]") {
  ImpactScene scene = ball_line({1, 1});
  scene.problem.add_contact(scene.mass, vector_of({1, 0}));
  CHECK(refusal_of([&] { static_cast<void>(classify(scene.problem)); }) ==
        "impact problem: expected prepare() after the last contact");
}

}  // namespace uniqueness_test
