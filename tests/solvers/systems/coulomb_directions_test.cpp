// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/systems/coulomb_directions.hpp"

#include <algorithm>
#include <vector>

#include "carom/contact/primal.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace coulomb_directions_test {

using carom::ContactGraph, carom::ContactProblem, carom::FrictionLaw, carom::Index, carom::MatrixX;
using carom::RowNumbers, carom::VectorX, carom::detail::CoulombDirections;
using carom::detail::General3, carom::detail::IslandNewton, carom::detail::IslandState;
using carom::detail::IterativeCoulombDirections, carom::detail::IterativeDirections;
using carom::detail::NewtonLimits;
using carom::detail::PackedProblem, carom::detail::SolverMemory, carom::testing::build,
    carom::testing::draw_constrained;
using carom::testing::draw_problem, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

/// H − I and Ĵᵀγ under Coulomb's law, dense, in the order of the problem's bodies.
struct DenseLaw {
  Eigen::MatrixXd curvature;
  Eigen::VectorXd momentum;

  DenseLaw(const ContactProblem<double>& problem, const VectorX<double>& velocity) {
    const Index size = problem.velocity_count();
    curvature.setZero(size, size);
    momentum.setZero(size);
    problem.for_each_block([&](const auto& block) {
      Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(6, size);
      for (int s = 0; s < block.side_count(); ++s) {
        const auto [start, own] = block.side(s).range;
        rows.block(0, start, block.rows(), own) = block.whitened_columns(s).transpose();
      }
      RowNumbers<double> y = RowNumbers<double>::Zero(), weights = RowNumbers<double>::Ones();
      y.head(block.rows()) = block.trial(block.velocity(velocity)).head(block.rows());
      weights.head(block.rows()) = block.regularization().head(block.rows());
      curvature += rows.transpose() * coulomb_curvature(block.set(), weights, y) * rows;
      momentum += rows.transpose() * coulomb_impulse(block.set(), weights, y);
    });
  }
};

}  // namespace

TEMPLATE_TEST_CASE(
    "coulomb_directions: G under Coulomb's law is the law's slope by the contact's velocity",
    "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<Scalar> source(41u);
  WorstCase agree("G");
  int slides = 0;
  for (int sample = 0; sample < 2000; ++sample) {
    const Scalar mu = source.non_negative(3), tangent = source.positive(4),
                 normal = source.positive(4);
    const carom::Vector3<Scalar> given = source.template vector<3>(4);
    const Scalar y[3] = {given.x(), given.y(), given.z()};
    RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
    rows.template head<3>() = given;
    const auto slope = coulomb_slope(carom::friction_impulses(mu), rows);
    General3<Scalar> g{};
    const Scalar length = given.template head<2>().norm();
    const carom::Vector<Scalar, 2> t =
        length > Scalar(0) ? carom::Vector<Scalar, 2>(given.template head<2>() / length)
                           : carom::Vector<Scalar, 2>::Zero();
    const bool any =
        carom::detail::write_coulomb_curvature(mu, tangent, normal, y, {t.x(), t.y()}, g);
    CHECK(any == (y[2] > Scalar(0)));
    const Scalar found[3][3] = {{g.xx, g.xy, g.xz}, {g.yx, g.yy, g.yz}, {g.zx, g.zy, g.zz}};
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) {
        const Scalar weight = c < 2 ? tangent : normal;
        const Scalar expected = any ? slope(r, c) / weight : Scalar(0);
        agree.see(std::abs(found[r][c] - expected), double(rounding(8, (Scalar(1) + mu) / weight)),
                  sample);
      }
    }
    if (any && g.xz != Scalar(0)) {
      ++slides;
      // With another direction z the turn of friction is (μ yₙ/(r Rₜ)) (I − z tᵀ).
      const carom::Vector<Scalar, 2> z(source.template vector<2>(0) / Scalar(2));
      General3<Scalar> turned{};
      REQUIRE(
          carom::detail::write_coulomb_curvature(mu, tangent, normal, y, {z.x(), z.y()}, turned));
      const Scalar across = mu * y[2] / (length * tangent);
      const carom::Vector<Scalar, 2> moved = across * (t - z);
      const Scalar off[4] = {
          turned.xx - g.xx - moved.x() * t.x(), turned.xy - g.xy - moved.x() * t.y(),
          turned.yx - g.yx - moved.y() * t.x(), turned.yy - g.yy - moved.y() * t.y()};
      for (const Scalar& x : off) CHECK(std::abs(x) <= rounding(8, across));
      CHECK((turned.xz == g.xz && turned.yz == g.yz && turned.zz == g.zz));
    }
    const General3<Scalar> back = g.transpose().transpose();
    CHECK((back.xy == g.xy && back.zx == g.zx && g.transpose().zy == g.yz));
  }
  CHECK(slides > 200);
  agree.check(9 * 2000);
}

TEST_CASE(
    "coulomb_directions: they solve Newton's system over bodies of any size, with a factor or "
    "without",
    "[solvers][oracle]") {
  VectorSource<double> source(42u);
  WorstCase residuals("F"), directions_hold("H d = -F");
  for (int sample = 0; sample < 120; ++sample) {
    const std::vector<std::vector<int>> sizes = {{6, 6, 6, 6}, {3, 3, 3}, {1, 2, 3, 6, 7}};
    const auto& own = sizes[std::size_t(sample % 3)];
    auto constrained = draw_constrained(source, own, sample % 2 == 0 ? 0 : 4);
    constrained.contacts = draw_problem(source, {own, 1 + sample % 9, 2, 3});
    const auto problem = build<double>(constrained);
    ContactGraph graph;
    const bool direct = sample % 4 < 2;
    graph.analyse(problem, direct ? 1e300 : 0);
    PackedProblem<double> packed;
    packed.lay_out(graph);
    packed.pack(problem, graph);
    SolverMemory<double> memory;
    memory.lay_out(packed);
    CoulombDirections<double> directions;
    directions.lay_out(graph, packed);
    IterativeDirections<double> symmetric;
    symmetric.lay_out(packed);
    IterativeCoulombDirections<double> iterative;
    iterative.lay_out(packed);
    iterative.lay_out_contacts(packed);
    const VectorX<double> velocity = problem.free_velocity() * (sample / 4 % 4);
    VectorX<double> whitened = velocity;
    problem.whiten(carom::as_span(whitened));
    const auto place = [&](Index body) { return packed.starts()[graph.slot_of(body)]; };
    for (Index b = 0; b < problem.body_count(); ++b) {
      if (graph.slot_of(b) < 0) continue;
      const auto [start, size] = problem.body(b);
      std::copy_n(whitened.data() + start, size,
                  memory.vector(SolverMemory<double>::whitened) + place(b));
      std::copy_n(problem.whitened_free_velocity().data() + start, size,
                  memory.vector(SolverMemory<double>::free) + place(b));
    }
    const DenseLaw dense(problem, velocity);
    const Eigen::VectorXd f = whitened - problem.whitened_free_velocity() - dense.momentum;
    VectorX<double> found = VectorX<double>::Zero(f.size()), gradient = found;
    double share = 0;  // of F that an iteration may leave
    for (Index i = 0; i < packed.islands().size(); ++i) {
      IslandState<double> state(packed, memory, packed.islands()[i], FrictionLaw::coulomb);
      state.evaluate();
      const IslandNewton<double> newton(state, memory, {1e-12, 100, 1e-6});
      newton.write_directions(false);
      REQUIRE(state.island().direct == direct);
      REQUIRE((direct ? directions.find_direction(newton, state, memory)
                      : iterative.find_direction(newton, state, memory, symmetric, i)));
      share =
          std::max(share, direct ? 0.0 : IterativeDirections<double>::share_left(newton, state));
    }
    for (Index b = 0; b < problem.body_count(); ++b) {
      if (graph.slot_of(b) < 0) continue;
      const auto [start, size] = problem.body(b);
      std::copy_n(memory.vector(SolverMemory<double>::direction) + place(b), size,
                  found.data() + start);
      std::copy_n(memory.vector(SolverMemory<double>::gradient) + place(b), size,
                  gradient.data() + start);
    }
    VectorX<double> expected = f, product = found + dense.curvature * found;
    for (Index b = 0; b < problem.body_count(); ++b) {
      const auto [start, size] = problem.body(b);
      if (graph.slot_of(b) >= 0) continue;
      expected.segment(start, size).setZero();
    }
    const double scale = 1 + whitened.norm() + dense.momentum.norm();
    residuals.see((gradient - expected).norm(), rounding(1000, scale), sample);
    directions_hold.see(
        (product + expected).norm(),
        share * gradient.norm() + rounding(1e4, scale + dense.curvature.norm() * found.norm()),
        sample);
  }
  residuals.check(120);
  directions_hold.check(120);
}

}  // namespace coulomb_directions_test
