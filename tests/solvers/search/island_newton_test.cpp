// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/island_newton.hpp"

#include <cmath>
#include <vector>

#include <Eigen/Cholesky>

#include "carom/solvers/systems/newton_directions.hpp"

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/packed_case.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace island_newton_test {

using carom::Index, carom::RowNumbers, carom::SolveStatus, carom::Vector3;
using carom::detail::Columns, carom::detail::DirectDirections, carom::detail::IslandNewton;
using carom::detail::IslandState, carom::detail::PackedEdge, carom::detail::PackedIsland;
using carom::testing::by_differences;
using carom::testing::ConstrainedProblem, carom::testing::for_each_packed_problem;
using carom::testing::PackedCase, carom::testing::rounding, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

/// G = −∂γ/∂(J v) of a friction contact by differences of the projection by geometry.
/// @return  false near a boundary of regions, where differences are wrong.
bool write_curvature(double mu, const Vector3<double>& w, const Vector3<double>& y,
                     Eigen::Matrix3d& g) {
  using Long = Vector3<long double>;
  const long double h = 1e-7L * (std::abs(y.norm()) + 1e-30L);
  const auto foot = [&](const Long& at) {
    return carom::testing::foot_on_cone<long double>(mu, w.x(), w.z(), at);
  };
  const Long given = y.cast<long double>();
  double jump = 0;
  for (int c = 0; c < 3; ++c) {
    Long step = Long::Zero();
    step(c) = h;
    const Long ahead = (foot(given + step) - foot(given)) / h,
               behind = (foot(given) - foot(given - step)) / h;
    g.col(c) = ((ahead + behind) / 2).cast<double>() / w(c);
    jump = std::max(jump, double((ahead - behind).norm()));
  }
  return jump < by_differences(1e-4);
}

/// I + Ĵᵀ G Ĵ of all bodies with the true curvature, dense.
/// @return  whether all trial impulses are inside their regions.
template <typename Scalar>
bool write_hessian(const PackedCase<Scalar>& data, const Eigen::VectorXd& whitened,
                   Eigen::MatrixXd& hessian) {
  const Eigen::MatrixXd jacobian = data.whitened_jacobian();
  const Eigen::VectorXd trial =
      (data.dense.bias - jacobian * whitened).cwiseQuotient(data.dense.weights);
  hessian.setIdentity(whitened.size(), whitened.size());
  for (std::size_t s = 0; s < data.dense.sets.size(); ++s) {
    const auto& set = data.dense.sets[s];
    const Index start = data.dense.starts[s];
    const auto rows = jacobian.middleRows(start, set.rows);
    Eigen::MatrixXd g;
    if (s < data.raw.contacts.contacts.size()) {
      Eigen::Matrix3d own;
      if (!write_curvature(set.friction(0), data.dense.weights.template segment<3>(start),
                           trial.segment<3>(start), own))
        return false;
      g = own;
    } else {
      RowNumbers<double> y = RowNumbers<double>::Zero(), w = RowNumbers<double>::Ones();
      y.head(set.rows) = trial.segment(start, set.rows);
      w.head(set.rows) = data.dense.weights.segment(start, set.rows);
      g = impulse_curvature(set, w, y).topLeftCorner(set.rows, set.rows);
    }
    hessian += rows.transpose() * g * rows;
  }
  return true;
}

/// What add_curvature() assembles on an island, and the identity, dense; the lower half mirrored.
/// Checks that it assembles the same one block of an edge at a time.
template <typename Scalar>
Eigen::MatrixXd assemble(const IslandNewton<Scalar>& newton, const IslandState<Scalar>& state) {
  const PackedIsland& island = state.island();
  const Index size = island.vector_size;
  carom::MatrixX<Scalar> matrix = carom::MatrixX<Scalar>::Zero(size, size), chosen = matrix;
  for (Index e = island.first_edge; e < island.edge_end; ++e) {
    const PackedEdge& edge = state.packed().edge(e);
    const auto at = [&](Index row, Index column) {
      return Columns<Scalar>{&matrix(row - island.vector_start, column - island.vector_start),
                             size};
    };
    Columns<Scalar> targets[3] = {at(edge.low_start, edge.low_start), {}, {}};
    if (edge.high_slot >= 0) {
      targets[1] = at(edge.high_start, edge.low_start);
      targets[2] = at(edge.high_start, edge.high_start);
    }
    newton.add_curvature(edge, targets);
    for (int t = 0; t < (edge.high_slot >= 0 ? 3 : 1); ++t) {
      Columns<Scalar> alone[3] = {{nullptr, 0}, {nullptr, 0}, {nullptr, 0}};
      alone[t] = {chosen.data() + (targets[t].data - matrix.data()), size};
      newton.add_curvature(edge, alone);
    }
  }
  CHECK((chosen - matrix).norm() <= rounding<Scalar>(100, matrix.norm()));
  // Blocks between two bodies are in one half of the matrix or the other.
  Eigen::MatrixXd whole = Eigen::MatrixXd::Identity(size, size);
  for (Index c = 0; c < size; ++c) {
    for (Index r = 0; r < size; ++r) {
      const double a = double(matrix(r, c)), b = double(matrix(c, r));
      whole(r, c) += a == 0 ? b : a;
    }
  }
  return whole;
}

/// The island's part of a packed vector.
template <typename Scalar>
Eigen::VectorXd own(const IslandState<Scalar>& state,
                    typename IslandState<Scalar>::Memory::VectorName name) {
  return state.vector(name).matrix().template cast<double>();
}

template <typename Scalar>
void start(PackedCase<Scalar>& data, VectorSource<double>& source) {
  using Memory = typename PackedCase<Scalar>::Memory;
  data.set(Memory::free, data.whiten(data.dense.free_velocity));
  data.set(Memory::whitened, data.whiten(draw_velocity(source, data.raw.contacts)));
}

}  // namespace

TEMPLATE_TEST_CASE("island_newton: the first step is Newton's own: the dense Hessian's solution",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  using Memory = typename PackedCase<Scalar>::Memory;
  WorstCase hessians("I + J^T G J"), directions("H d = -gradient");
  for_each_packed_problem<Scalar>(6401u, [&](const ConstrainedProblem& raw,
                                             VectorSource<double>& source) {
    PackedCase<Scalar> data(raw);
    start(data, source);
    DirectDirections<Scalar> direct;
    direct.lay_out(data.graph, data.packed);
    Eigen::MatrixXd dense;
    if (!write_hessian(data, data.get(Memory::whitened), dense)) return;
    for (const PackedIsland& island : data.packed.islands()) {
      IslandState<Scalar> state(data.packed, data.memory, island);
      state.evaluate();
      IslandNewton<Scalar> newton(state, data.memory, {Scalar(0), 1, Scalar(0.1)});
      newton.forget_regions();
      Eigen::MatrixXd expected = Eigen::MatrixXd::Identity(island.vector_size, island.vector_size);
      const auto local = [&](const auto& visit) {
        data.for_each_unknown([&](Index packed, Index body) {
          const Index k = packed - island.vector_start;
          if (k >= 0 && k < island.vector_size) visit(k, body);
        });
      };
      local([&](Index r, Index i) {
        local([&](Index c, Index j) { expected(r, c) = dense(i, j); });
      });
      int count = 0;
      static_cast<void>(newton.iterate(count, [&](const IslandNewton<Scalar>& now) {
        const bool found = direct.find_direction(now, state);
        const double size = expected.norm();
        // The difference quotients are good to 1e-6.
        hessians.see((assemble(now, state) - expected).norm(),
                     by_differences(1e-6) * size + double(rounding<Scalar>(3000, Scalar(size))));
        if (!found) return false;
        const Eigen::MatrixXd mine = assemble(now, state);
        const Eigen::VectorXd d = own(state, Memory::direction), g = own(state, Memory::gradient);
        directions.see((mine * d + g).norm(),
                       rounding<Scalar>(3000, Scalar(mine.norm() * d.norm() + g.norm())));
        return true;
      }));
    }
  });
  hessians.check(15);
  directions.check(15);
}

TEMPLATE_TEST_CASE("island_newton: it ends at the minimum, by steps that lower the cost",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  using Memory = typename PackedCase<Scalar>::Memory;
  WorstCase gradients("gradient at the end"), descents("cost"),
      curvatures("H is no less than the identity");
  int iterations = 0;
  for_each_packed_problem<Scalar>(
      6402u, [&](const ConstrainedProblem& raw, VectorSource<double>& source) {
        PackedCase<Scalar> data(raw);
        start(data, source);
        DirectDirections<Scalar> direct;
        direct.lay_out(data.graph, data.packed);
        for (const PackedIsland& island : data.packed.islands()) {
          IslandState<Scalar> state(data.packed, data.memory, island);
          state.evaluate();
          const Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
          IslandNewton<Scalar> newton(state, data.memory, {tolerance, 200, Scalar(0.1)});
          newton.forget_regions();
          Scalar last = state.cost();
          int count = 0;
          const SolveStatus status = newton.iterate(count, [&](const IslandNewton<Scalar>& now) {
            const Scalar cost = state.cost();
            descents.see(double(cost - last), rounding<Scalar>(2000, last));
            last = cost;
            const bool found = direct.find_direction(now, state);
            const Eigen::MatrixXd hessian = assemble(now, state);
            const double slack = double(rounding<Scalar>(3000, Scalar(hessian.norm())));
            const Eigen::MatrixXd shifted =
                hessian - (1 - slack) * Eigen::MatrixXd::Identity(hessian.rows(), hessian.cols());
            curvatures.see_holds(shifted.llt().info() == Eigen::Success);
            return found;
          });
          iterations += count;
          CHECK((status == SolveStatus::converged) == newton.meets_target());
          CHECK((status == SolveStatus::converged || status == SolveStatus::no_progress));
          if (status == SolveStatus::converged) {
            gradients.see(own(state, Memory::gradient).norm(), double(tolerance * state.scale()));
          }
        }
      });
  CAPTURE(iterations);
  gradients.check(20);
  descents.check(60);
  curvatures.check(60);
}

TEMPLATE_TEST_CASE("island_newton: it starts at the cheapest of guess, rest and free velocity",
                   "[solvers]", float, double) {
  using Scalar = TestType;
  using Memory = typename PackedCase<Scalar>::Memory;
  int guesses = 0, rests = 0, frees = 0;
  for_each_packed_problem<Scalar>(6403u, [&](const ConstrainedProblem& raw,
                                             VectorSource<double>& source) {
    PackedCase<Scalar> data(raw);
    start(data, source);
    for (const PackedIsland& island : data.packed.islands()) {
      IslandState<Scalar> state(data.packed, data.memory, island);
      state.evaluate();
      const Eigen::VectorXd guess = own(state, Memory::whitened), free = own(state, Memory::free);
      state.vector(Memory::spare1).setZero();
      const Scalar here = state.cost(), rest = state.cost_at(Memory::spare1, true),
                   loose = state.cost_at(Memory::free, false);
      start_from_best(state);
      const Eigen::VectorXd now = own(state, Memory::whitened);
      const Scalar least = std::min({here, rest, loose});
      CHECK(state.cost() == least);
      if (least == here) CHECK((now == guess));
      if (least == rest && rest < here) CHECK(now.isZero(0));
      if (least == loose && loose < std::min(here, rest)) CHECK((now == free));
      guesses += least == here ? 1 : 0;
      rests += least == rest ? 1 : 0;
      frees += least == loose ? 1 : 0;
    }
  });
  CAPTURE(guesses, rests, frees);
  CHECK((guesses > 0 && rests > 0 && frees > 0));
}

TEST_CASE("island_newton: a change of curvature is noted once, and always where it is not settled",
          "[solvers][law]") {
  using Memory = PackedCase<double>::Memory;
  int kept = 0, renewed = 0;
  for_each_packed_problem<double>(6404u, [&](const ConstrainedProblem& raw,
                                             VectorSource<double>& source) {
    PackedCase<double> data(raw);
    start(data, source);
    for (const PackedIsland& island : data.packed.islands()) {
      IslandState<double> state(data.packed, data.memory, island);
      state.evaluate();
      const IslandNewton<double> newton(state, data.memory, {1e-8, 10, 0.1});
      newton.forget_regions();
      for (Index e = island.first_edge; e < island.edge_end; ++e) {
        const PackedEdge& edge = data.packed.edge(e);
        CHECK(newton.note_change(edge));
        const bool again = newton.note_change(edge);
        bool unsettled = false;
        for (Index k = edge.first_part; k < edge.other_begin; ++k) {
          const double mu =
              data.packed.parameter(carom::detail::PackedProblem<double>::friction)[k];
          const Vector3<double> y(data.memory.contact(Memory::trial, 0)[k],
                                  data.memory.contact(Memory::trial, 1)[k],
                                  data.memory.contact(Memory::trial, 2)[k]);
          const Vector3<double> gamma(data.memory.contact(Memory::impulse, 0)[k],
                                      data.memory.contact(Memory::impulse, 1)[k],
                                      data.memory.contact(Memory::impulse, 2)[k]);
          const bool stuck = gamma == y && mu >= 0;
          unsettled = unsettled || !(stuck || gamma.isZero(0));
        }
        for (Index c = edge.first_other; c < edge.other_end; ++c) {
          unsettled = unsettled || data.packed.other(c).set.shape != carom::ImpulseShape::intervals;
        }
        CHECK(again == unsettled);
        (again ? renewed : kept) += 1;
      }
      newton.forget_regions();
      for (Index e = island.first_edge; e < island.edge_end; ++e)
        CHECK(newton.note_change(data.packed.edge(e)));
      // Far from all contacts the regions are others.
      state.vector(Memory::whitened) *= -100;
      state.evaluate();
      bool changed = false;
      for (Index e = island.first_edge; e < island.edge_end; ++e)
        changed = newton.note_change(data.packed.edge(e)) || changed;
      if (island.true_count > 3) CHECK(changed);
    }
  });
  CAPTURE(kept, renewed);
  CHECK(kept > 10);
  CHECK(renewed > 10);
}

}  // namespace island_newton_test
