// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/plastic.hpp"

#include "support/catch.hpp"
#include "support/impact_laws.hpp"
#include "support/impact_scenes.hpp"
#include "support/landing_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace plastic_test {

using namespace carom::testing;
using carom::ImpactStatus, carom::Index, carom::MassMatrix, carom::MatrixX;
using carom::PlasticImpact, carom::PlasticLaw, carom::VectorX;

namespace {

struct PlasticOutcome {
  VectorX<double> momentum, impulses;
  double energy_gain;
};

PlasticOutcome plastic(const ImpactScene& scene, VectorX<double> p, PlasticLaw law) {
  PlasticImpact<double> impact(law);
  impact.prepare(scene.problem);
  const auto report = impact.resolve(scene.problem, p);
  CHECK(report.status == ImpactStatus::resolved);
  CHECK(report.reflections == 0);
  CHECK(report.energy_gain == impact.energy_gain());
  return {p, impact.impulses(), report.energy_gain};
}

}  // namespace

TEST_CASE("plastic: Moreau's outcome is the nearest feasible momentum", "[impact][law]") {
  VectorSource<double> source(51u);
  WorstCase feasible("<q, u_i> >= 0"), pushes("λ >= 0"), complementary("λ_i <q, u_i> = 0");
  WorstCase impulses("q = p + Σ λ u"), nearest("<p - q, w - q> <= 0 for every feasible w");
  WorstCase energy("the energy told");
  for (int round = 0; round < 300; ++round) {
    const Index size = 2 + round % 6, contacts = 1 + round % 8;
    const ImpactScene scene = draw_scene(source, size, contacts);
    const VectorX<double> p = draw_vector(source, size);
    const PlasticOutcome q = plastic(scene, p, PlasticLaw::moreau);
    const double scale = scene.norm(p), allowed = rounding(3000, scale);
    const VectorX<double> rates = scene.rates(q.momentum);
    feasible.see(-rates.minCoeff(), allowed, p);
    pushes.see_holds(q.impulses.minCoeff() >= 0, p);
    complementary.see(std::abs(q.impulses.dot(rates)), allowed * (scale + q.impulses.norm()), p);
    impulses.see((scene.moved(p, q.impulses) - q.momentum).norm(), 10 * allowed, p);
    energy.see(
        std::abs(q.energy_gain - (scene.inner(q.momentum, q.momentum) - scene.inner(p, p)) / 2),
        allowed * scale, p);
    for (int probe = 0; probe < 5; ++probe) {
      const VectorX<double> w =
          plastic(scene, draw_vector(source, size), PlasticLaw::moreau).momentum;
      nearest.see(scene.inner(p - q.momentum, w - q.momentum),
                  allowed * (scale + scene.norm(w)) * (1 + q.impulses.norm() / scale), p, w);
    }
  }
  feasible.check(300);
  pushes.check(300);
  complementary.check(300);
  impulses.check(300);
  nearest.check(1500);
  energy.check(300);
}

TEST_CASE("plastic: the bilateral outcome stops every contact, as a dense projection has it",
          "[impact][oracle]") {
  VectorSource<double> source(52u);
  WorstCase stopped("<q, u_i> = 0"), dense("λ of least norm solves G λ = -s");
  int count = 0;
  for (int round = 0; round < 300; ++round) {
    const Index size = 2 + round % 6, contacts = 1 + round % 8;
    const ImpactScene scene = draw_scene(source, size, contacts);
    const VectorX<double> p = draw_vector(source, size);
    const PlasticOutcome q = plastic(scene, p, PlasticLaw::bilateral);
    const MatrixX<double> gram = scene.problem.gram();
    const Eigen::SelfAdjointEigenSolver<MatrixX<double>> solver(gram);
    VectorX<double> inverse = solver.eigenvalues();
    double least = inverse.maxCoeff();
    bool is_clear = true;  // rounding decides whether an eigenvalue between counts as zero
    for (double& value : inverse) {
      is_clear = is_clear && !(value > 1e-13 && value < 1e-7);
      // Eigenvalues below are zeros with rounding.
      if (value > 1e-10) least = std::min(least, value);
      value = value > 1e-10 ? 1 / value : 0;
    }
    if (!is_clear) continue;
    ++count;
    const double condition = solver.eigenvalues().maxCoeff() / least;
    const VectorX<double> expected = -(solver.eigenvectors() * inverse.asDiagonal() *
                                       solver.eigenvectors().transpose() * scene.rates(p));
    // Conjugate gradients lose as many digits as the condition has, where the matrix is singular.
    const double allowed = rounding(1000, condition * (1 + expected.norm()));
    stopped.see(scene.rates(q.momentum).cwiseAbs().maxCoeff(), allowed, p);
    const double spread = std::sqrt(double(contacts));  // of a norm over the largest entry
    dense.see((q.impulses - expected).norm(), allowed * condition * spread, p);
  }
  CHECK(count > 250);
  stopped.check(count);
  dense.check(count);
}

TEST_CASE("plastic: both laws agree when all contacts approach and none opens another",
          "[impact][law]") {
  VectorSource<double> source(53u);
  WorstCase same("bilateral is Moreau's");
  for (int round = 0; round < 100; ++round) {
    std::vector<double> masses;
    for (int i = 0; i < 3 + round % 6; ++i) masses.push_back(0.1 + source.unit());
    const ImpactScene scene = ball_line(masses, round % 2 == 0);
    VectorX<double> v(Index(masses.size()));
    double speed = round % 2 == 0 ? -0.1 : 3;
    for (Index i = 0; i < v.size(); ++i) v(i) = speed -= source.unit();
    const VectorX<double> p = scene.momentum(v);
    const VectorX<double> a = plastic(scene, p, PlasticLaw::moreau).momentum;
    const VectorX<double> b = plastic(scene, p, PlasticLaw::bilateral).momentum;
    same.see((a - b).norm(), rounding(2000, p.norm()), v);
  }
  same.check(100);
}

TEST_CASE("plastic: the bilateral law pulls where Moreau's does not", "[impact][example]") {
  const ImpactScene scene = ball_line({1, 1, 1});
  const VectorX<double> p = vector_of({1, 0, 1});
  const PlasticOutcome pulled = plastic(scene, p, PlasticLaw::bilateral);
  CHECK((pulled.momentum - vector_of({2.0 / 3, 2.0 / 3, 2.0 / 3})).norm() <= rounding(8, 1.0));
  // Impulses are per unit normal; (1/3, -1/3) per gradient of length √2.
  CHECK((pulled.impulses - std::sqrt(2.0) * vector_of({1.0 / 3, -1.0 / 3})).norm() <=
        rounding(8, 1.0));
  const PlasticOutcome pushed = plastic(scene, p, PlasticLaw::moreau);
  CHECK((pushed.momentum - vector_of({0.5, 0.5, 1})).norm() <= rounding(8, 1.0));
  CHECK(pushed.impulses(1) == 0);
}

TEST_CASE("plastic: the cradles of the table", "[impact][golden]") {
  check_cradles(&CradleCase::plastic, 60, [](const ImpactScene& scene, VectorX<double>& p) {
    return p = plastic(scene, p, PlasticLaw::moreau).momentum;
  });
}

TEST_CASE("plastic: legs on a table share, repeated ones do not matter", "[impact][example]") {
  // A flat body of mass 1 lands on four legs: dependent normals.
  std::vector<VectorX<double>> legs;
  for (const double x : {-1.0, 1.0}) {
    for (const double y : {-1.0, 1.0}) legs.push_back(vector_of({1, y, -x}));
  }
  legs.push_back(2 * legs[0]);
  const ImpactScene scene(MassMatrix<double>::make_diagonal(vector_of({1, 0.3, 0.2})), legs);
  for (const PlasticLaw law : {PlasticLaw::moreau, PlasticLaw::bilateral}) {
    const PlasticOutcome q = plastic(scene, vector_of({-1, 0.05, 0.02}), law);
    CHECK(q.momentum.norm() <= rounding(100, 1.0));
    CHECK(q.impulses(4) == 0);
    CHECK(q.energy_gain == Approx(-(1 + 0.0025 / 0.3 + 0.0004 / 0.2) / 2));
  }
}

TEST_CASE("plastic: rates alone are projected the same way", "[impact][law]") {
  const ImpactScene scene = ball_line({1, 2, 1, 3});
  const VectorX<double> p = scene.momentum(vector_of({3, -1, 0.5, 0.2}));
  for (const PlasticLaw law : {PlasticLaw::moreau, PlasticLaw::bilateral}) {
    PlasticImpact<double> impact(law);
    impact.prepare(scene.problem);
    VectorX<double> rates = scene.rates(p), q = p;
    impact.project(scene.problem, {rates.data(), 3});
    static_cast<void>(impact.resolve(scene.problem, q));
    CHECK((scene.rates(q) - rates).norm() <= rounding(30, 3.0));
  }
}

TEST_CASE("plastic: NaN is reported, and the momentum stays as it was", "[impact][example]") {
  check_not_finite([](const ImpactScene& scene, VectorX<double>& p) {
    PlasticImpact<double> impact;
    impact.prepare(scene.problem);
    return impact.resolve(scene.problem, p);
  });
}

TEST_CASE("plastic: unlike masses in a long chain still come to rest together", "[impact][law]") {
  VectorSource<double> source(54u);
  WorstCase together("all velocities equal the mean one");
  for (int round = 0; round < 30; ++round) {
    std::vector<double> masses;
    for (int i = 0; i < 4 + round; ++i) masses.push_back(source.positive(round % 3 == 0 ? 8 : 3));
    const ImpactScene scene = ball_line(masses);
    const auto n = Index(masses.size());
    const VectorX<double> v = VectorX<double>::LinSpaced(n, double(n), 1.0);  // all approach
    const VectorX<double> p = scene.momentum(v);
    const double least =
        Eigen::SelfAdjointEigenSolver<MatrixX<double>>(scene.problem.gram()).eigenvalues()(0);
    const double mean = p.sum() / scene.momentum(VectorX<double>::Ones(n)).sum();
    for (const PlasticLaw law : {PlasticLaw::moreau, PlasticLaw::bilateral}) {
      const VectorX<double> q = plastic(scene, p, law).momentum;
      const VectorX<double> expected = scene.momentum(VectorX<double>::Constant(n, mean));
      together.see(scene.norm(q - expected), rounding(100, scene.norm(p) / least), double(round),
                   double(n));
    }
  }
  together.check(60);
}

TEST_CASE("plastic: equivalent feet press equally", "[impact][oracle]") {
  for (const int corners : {2, 3, 4, 6}) {
    LandingBody body{.points = polygon(corners, 0.4, 0.2)};
    body.turned = Eigen::Quaterniond(0.2, 0.9, -0.3, 0.4).normalized();
    const ImpactScene scene = body.scene();
    VectorX<double> p = scene.momentum(body.falling(3));
    PlasticImpact<double> impact;
    impact.prepare(scene.problem);
    static_cast<void>(impact.resolve(scene.problem, p));
    const auto& impulses = impact.impulses();
    CAPTURE(corners, impulses);
    CHECK(impulses.minCoeff() > 0);
    CHECK(impulses.maxCoeff() - impulses.minCoeff() <= rounding(64, impulses.maxCoeff()));
    CHECK(scene.velocity(p).norm() <= rounding(100, 3.0));
  }
}

}  // namespace plastic_test
