// SPDX-License-Identifier: BSD-3-Clause
#include "carom/impact/reflection.hpp"

#include "support/catch.hpp"
#include "support/impact_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace reflection_test {

using namespace carom::testing;
using carom::Index, carom::make_reflection, carom::MatrixX, carom::reflect, carom::reflect_rates;
using carom::VectorX;

TEST_CASE("reflection: a reflection is its own inverse and an isometry of the metric",
          "[impact][law]") {
  VectorSource<double> source(11u);
  WorstCase involution("Γ² = I"), scale("Γ(a u) = Γ(u)"), isometry("Γ M⁻¹... keeps the metric");
  WorstCase mirror("u Γ(u) = -u"), determinant("det Γ = -1");
  for (int round = 0; round < 200; ++round) {
    const Index n = 1 + round % 8;
    const MatrixX<double> matrix = draw_definite(source, n);
    const auto mass = carom::MassMatrix<double>::make_dense(matrix);
    const VectorX<double> u = draw_vector(source, n);
    const MatrixX<double> gamma = make_reflection(mass, u);
    const MatrixX<double> identity = MatrixX<double>::Identity(n, n);
    const double size = gamma.squaredNorm(), allowed = rounding(2000, size);
    involution.see((gamma * gamma - identity).norm(), allowed, matrix, u);
    const double factor = source.pick_signed({1e-100, 0.3, 1e100});
    scale.see((make_reflection(mass, VectorX<double>(factor * u)) - gamma).norm(), allowed, u);
    // ⟨a Γ, b Γ⟩ = ⟨a, b⟩ for row momenta a, b.
    const MatrixX<double> inverse = matrix.inverse();
    isometry.see((gamma * inverse * gamma.transpose() - inverse).norm(), allowed * inverse.norm(),
                 matrix, u);
    mirror.see((u.transpose() * gamma + u.transpose()).norm(), allowed * u.norm(), u);
    determinant.see(std::abs(gamma.determinant() + 1), allowed, u);
  }
  involution.check(200);
  scale.check(200);
  isometry.check(200);
  mirror.check(200);
  determinant.check(200);
}

TEST_CASE("reflection: matrix, momentum and contact rates tell the same", "[impact][oracle]") {
  VectorSource<double> source(12u);
  WorstCase momenta("p Γ(u) in place"), rates_agree("s - 2 s_k G_k"), impulses("λ = -2 <p, u>");
  WorstCase pushes("λ > 0 exactly for infeasible contacts"), energy("|p Γ| = |p|");
  for (int round = 0; round < 300; ++round) {
    const Index n = 2 + round % 6, contacts = 1 + round % 5;
    const ImpactScene scene = draw_scene(source, n, contacts);
    const VectorX<double> before = draw_vector(source, n);
    for (Index k = 0; k < contacts; ++k) {
      const VectorX<double> u = scene.normal(k);
      const VectorX<double> by_matrix =
          (before.transpose() * make_reflection(scene.mass, u)).transpose();
      VectorX<double> p = before, rates = scene.rates(before);
      const double closing = rates(k);
      const double impulse = reflect(scene.problem, k, p);
      const double in_rates =
          reflect_rates(scene.problem, k, {rates.data(), std::size_t(contacts)});
      const double size = scene.norm(before), allowed = rounding(2000, size);
      momenta.see((by_matrix - p).norm(), 4 * allowed, before, u);
      rates_agree.see((scene.rates(p) - rates).norm(), allowed, before, u);
      impulses.see(std::abs(impulse + 2 * closing) + std::abs(in_rates - impulse), allowed, before);
      impulses.see((p - before - impulse * u).norm(), 4 * allowed, before);
      pushes.see_holds((impulse > 0) == (closing < 0) && (in_rates > 0) == (closing < 0), before);
      energy.see(std::abs(scene.norm(p) - size), allowed, before);
    }
  }
  momenta.check(600);
  rates_agree.check(600);
  impulses.check(600);
  pushes.check(600);
  energy.check(600);
}

TEST_CASE("reflection: a contact that repeats another does nothing", "[impact][example]") {
  const auto mass = carom::MassMatrix<double>::make_diagonal(VectorX<double>::Ones(2));
  const ImpactScene scene(mass, {vector_of({1, 0}), vector_of({2, 0})});
  VectorX<double> p = vector_of({-1, 0});
  CHECK(reflect(scene.problem, 1, p) == 0);
  CHECK(p == vector_of({-1, 0}));
  CHECK(reflect(scene.problem, 0, p) == 2);
  CHECK(p == vector_of({1, 0}));
}

}  // namespace reflection_test
