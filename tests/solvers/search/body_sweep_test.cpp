// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/body_sweep.hpp"

#include "support/catch.hpp"
#include "support/law_scenes.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace body_sweep_test {

using carom::testing::by_solver;

using carom::FrictionLaw, carom::Index;
using carom::testing::LawScene, carom::testing::rounding, carom::testing::VectorSource,
    carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

template <typename Scalar>
void sweep(LawScene<Scalar>& scene, Index island, FrictionLaw law, int count) {
  scene.system.sweep(island, law, scene.iterate.impulse(), [&] { return count-- > 0; });
}
/// Dual cost ½ γᵀ(W + R)γ + γᵀq of an island.
[[nodiscard]] double dual_cost(LawScene<double>& scene, Index island) {
  scene.iterate.write_velocity(scene.system, island);
  const auto& own = scene.system.islands()[island];
  double cost = 0;
  for (Index p = 3 * own.first_part; p < 3 * own.part_end; ++p) {
    cost += scene.iterate.impulse()[p] * (scene.iterate.velocity()[p] + scene.system.load()[p]) / 2;
  }
  return cost;
}

}  // namespace

TEST_CASE("body_sweep: impulses end in their sets, the convex law's dual cost falls in every sweep",
          "[solvers][law]") {
  VectorSource<double> source(2);
  WorstCase falls("dual cost"), inside("outside of the sets"), apart("other islands stay"),
      moves("a sweep moves what is not solved");
  for (int round = 0; round < 6; ++round) {
    const auto raw = carom::testing::draw_body_problem(source, {6, 6, 3, 6, 6, 6});
    for (const FrictionLaw law : laws) {
      LawScene<double> scene(raw, law);
      const Eigen::VectorXd zero = Eigen::VectorXd::Zero(scene.rows);
      for (Index i = 0; i < scene.system.islands().size(); ++i) {
        scene.places().write(zero, scene.iterate.impulse());
        sweep(scene, i, law, 1);  // into the sets
        const auto& own = scene.system.islands()[i];
        double others = 0;
        for (Index p = 0; p < 3 * scene.system.part_count(); ++p) {
          const bool inside_of_it = p >= 3 * own.first_part && p < 3 * own.part_end;
          if (!inside_of_it) others += std::abs(scene.iterate.impulse()[p]);
        }
        apart.see(others, 0, round, i);
        double last = dual_cost(scene, i);
        for (int k = 0; k < 20; ++k) {
          const double before = scene.measure(i);
          const Eigen::VectorXd impulse = scene.impulse();
          sweep(scene, i, law, 1);
          inside.see(scene.outside(i), rounding(100, 1.0), round, i, k);
          moves.see_holds(before < by_solver(1e-8) || scene.impulse() != impulse, round, i, k);
          if (law != FrictionLaw::convex) continue;
          const double cost = dual_cost(scene, i);
          falls.see_holds(cost <= last + rounding(100, std::abs(last)), last, cost);
          last = cost;
        }
      }
    }
  }
  falls.check(200);
  for (const WorstCase* law : {&inside, &moves}) law->check(400);
  apart.check(20);
}

}  // namespace body_sweep_test
