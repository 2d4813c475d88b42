// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/island_newton.hpp"

#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "carom/solvers/systems/newton_directions.hpp"

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/packed_case.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace island_state_test {

using carom::Index, carom::RowNumbers, carom::Vector3;
using carom::detail::IslandState, carom::detail::PackedIsland, carom::testing::ConstrainedProblem;
using carom::testing::for_each_packed_problem, carom::testing::PackedCase;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// An iterate and all that follows from it, dense, in the rows of the problem as they were given.
struct DenseState {
  Eigen::VectorXd rows, trial, impulse;
  Eigen::VectorXd row_size, trial_size;  ///< what rounding errors of rows and trial are relative to
  double cost = 0;
  double size = 0;  ///< what rounding errors of the cost are relative to

  template <typename Scalar>
  DenseState(const PackedCase<Scalar>& data, const Eigen::VectorXd& whitened) {
    const auto& dense = data.dense;
    const Eigen::MatrixXd jacobian = data.whitened_jacobian();
    rows = jacobian * whitened;
    row_size = jacobian.cwiseAbs() * whitened.cwiseAbs();
    trial = (dense.bias - rows).cwiseQuotient(dense.weights);
    trial_size = (dense.bias.cwiseAbs() + row_size).cwiseQuotient(dense.weights);
    impulse = project(data, trial);
    const Eigen::VectorXd free = data.touched(data.whiten(dense.free_velocity));
    // ½‖w − w*‖² and, as Moreau says, half of ‖y‖² less its distance from the set, squared.
    cost = (whitened - free).squaredNorm() / 2;
    size = whitened.squaredNorm() + free.squaredNorm();
    for (Index r = 0; r < trial.size(); ++r) {
      const double beyond = trial(r) - impulse(r);
      cost += dense.weights(r) * (trial(r) * trial(r) - beyond * beyond) / 2;
      size += dense.weights(r) * trial_size(r) * trial_size(r);
    }
  }

  /// γ(y): for friction contacts by geometry, for all other blocks by the law of their set.
  template <typename Scalar>
  static Eigen::VectorXd project(const PackedCase<Scalar>& data, const Eigen::VectorXd& y) {
    Eigen::VectorXd result(y.size());
    const std::size_t contacts = data.raw.contacts.contacts.size();
    for (std::size_t s = 0; s < data.dense.sets.size(); ++s) {
      const auto& set = data.dense.sets[s];
      const Index start = data.dense.starts[s];
      if (s < contacts) {
        const Vector3<double> own = y.segment<3>(start),
                              w = data.dense.weights.template segment<3>(start);
        result.segment<3>(start) =
            carom::testing::foot_on_cone<double>(set.friction(0), w.x(), w.z(), own);
        continue;
      }
      RowNumbers<double> own = RowNumbers<double>::Zero(), weights = RowNumbers<double>::Ones();
      own.head(set.rows) = y.segment(start, set.rows);
      weights.head(set.rows) = data.dense.weights.segment(start, set.rows);
      result.segment(start, set.rows) = nearest_impulse(set, weights, own).head(set.rows);
    }
    return result;
  }
};

/// An iterate in whitened velocities of the bodies with blocks: at rest, free, or drawn.
template <typename Scalar>
Eigen::VectorXd draw_iterate(const PackedCase<Scalar>& data, VectorSource<double>& source) {
  const Eigen::VectorXd velocity = draw_velocity(source, data.raw.contacts);
  return data.touched(data.whiten(velocity)).template cast<Scalar>().template cast<double>();
}

/// Calls visit(data, island's state) for every island, the iterate set and evaluated.
template <typename Scalar, typename Visit>
void for_each_state(PackedCase<Scalar>& data, const Eigen::VectorXd& whitened, const Visit& visit) {
  using Memory = typename PackedCase<Scalar>::Memory;
  data.set(Memory::whitened, whitened);
  data.set(Memory::free, data.whiten(data.dense.free_velocity));
  for (const PackedIsland& island : data.packed.islands()) {
    IslandState<Scalar> state(data.packed, data.memory, island);
    state.evaluate();
    visit(state);
  }
}

}  // namespace

TEST_CASE("island_state: its costs sum up to the dense cost, and to primal_cost()",
          "[solvers][oracle]") {
  using Scalar = double;
  using Memory = typename PackedCase<Scalar>::Memory;
  WorstCase costs("cost"), others("cost elsewhere");
  for_each_packed_problem<Scalar>(6302u, [&](const ConstrainedProblem& raw,
                                             VectorSource<double>& source) {
    PackedCase<Scalar> data(raw);
    const Eigen::VectorXd whitened = draw_iterate(data, source),
                          elsewhere = draw_iterate(data, source);
    const DenseState here(data, whitened), there(data, elsewhere),
        rest(data, Eigen::VectorXd::Zero(whitened.size()));
    data.set(Memory::spare1, elsewhere);
    data.set(Memory::spare2, Eigen::VectorXd::Zero(whitened.size()));
    double cost = 0, cost_there = 0, cost_at_rest = 0;
    for_each_state(data, whitened, [&](const IslandState<Scalar>& state) {
      const Eigen::VectorXd impulse = data.get(Memory::impulse), trial = data.get(Memory::trial);
      cost_there += double(state.cost_at(Memory::spare1, false));
      cost_at_rest += double(state.cost_at(Memory::spare2, true));
      CHECK(state.cost_at(Memory::spare2, true) == state.cost_at(Memory::spare2, false));
      cost += double(state.cost());  // the iterate is what it was
      CHECK((data.get(Memory::impulse) == impulse));
      CHECK((data.get(Memory::trial) == trial));
    });
    costs.see(std::abs(cost - here.cost), rounding<Scalar>(300, Scalar(here.size)));
    others.see(std::abs(cost_there - there.cost), rounding<Scalar>(300, Scalar(there.size)));
    others.see(std::abs(cost_at_rest - rest.cost), rounding<Scalar>(300, Scalar(rest.size)));
    // Bodies without blocks cost nothing at their free velocity.
    carom::VectorX<Scalar> velocity = data.unwhiten(whitened).template cast<Scalar>();
    for (Index b = 0; b < data.problem.body_count(); ++b) {
      const auto [start, own] = data.problem.body(b);
      if (data.graph.slot_of(b) < 0)
        velocity.segment(start, own) = data.problem.free_velocity().segment(start, own);
    }
    costs.see(std::abs(double(primal_cost(data.problem, velocity)) - cost),
              rounding<Scalar>(1000, Scalar(here.size)));
  });
  costs.check(60);
  others.check(60);
}

TEST_CASE("island_state: the slope along a direction is the one of the dense law, and the cost's",
          "[solvers][oracle][derivative]") {
  using Scalar = double;
  using Memory = typename PackedCase<Scalar>::Memory;
  WorstCase slopes("slope"), differences("difference of dense costs");
  for_each_packed_problem<Scalar>(6303u, [&](const ConstrainedProblem& raw,
                                             VectorSource<double>& source) {
    PackedCase<Scalar> data(raw);
    const Eigen::VectorXd whitened = draw_iterate(data, source),
                          direction = draw_iterate(data, source);
    const Eigen::VectorXd free = data.touched(data.whiten(data.dense.free_velocity));
    const Eigen::VectorXd step_rows = data.whitened_jacobian() * direction;
    data.set(Memory::direction, direction);
    for (const double alpha : {0.0, 0.3, 1.0, 7.0}) {
      double slope = 0;
      for_each_state(data, whitened, [&](const IslandState<Scalar>& state) {
        state.write_velocities(Memory::direction, Memory::trial_step);
        for (int k = 0; k < 3; ++k) {
          const auto weight = k < 2 ? carom::detail::PackedProblem<Scalar>::tangent
                                    : carom::detail::PackedProblem<Scalar>::normal;
          state.contacts(Memory::trial_step, k) =
              -state.contacts(Memory::trial_step, k) / state.parameter(weight);
        }
        const Scalar linear = (state.vector(Memory::direction) *
                               (state.vector(Memory::whitened) - state.vector(Memory::free)))
                                  .sum();
        slope += double(linear + Scalar(alpha) * state.vector(Memory::direction).square().sum() +
                        state.push_slope(Scalar(alpha)));
      });
      const Eigen::VectorXd point = whitened + alpha * direction;
      const DenseState dense(data, point);
      const double expected = direction.dot(point - free) - dense.impulse.dot(step_rows);
      const double size = direction.cwiseAbs().dot(point.cwiseAbs() + free.cwiseAbs()) +
                          dense.trial_size.cwiseAbs().dot(step_rows.cwiseAbs());
      slopes.see(std::abs(slope - expected), rounding<Scalar>(2000, Scalar(size)), alpha);
      // The slope is a difference of costs but for a curvature, by convexity between two of them.
      const double h = 1e-3;
      const double cost = dense.cost, before = DenseState(data, point - h * direction).cost,
                   after = DenseState(data, point + h * direction).cost;
      const double allowed = double(rounding<Scalar>(2000, Scalar(size))) +
                             double(rounding<double>(300, dense.size)) / h;
      differences.see_holds(
          slope >= (cost - before) / h - allowed && slope <= (after - cost) / h + allowed, alpha);
    }
  });
  slopes.check(100);
  differences.check(100);
}

TEMPLATE_TEST_CASE("island_state: numbers out of range are infinite costs, and leave no impulse",
                   "[solvers]", float, double) {
  using Scalar = TestType;
  using Memory = typename PackedCase<Scalar>::Memory;
  VectorSource<double> source(6304u);
  ConstrainedProblem raw = draw_constrained(source, {6, 6}, 3);
  PackedCase<Scalar> data(carom::testing::round_numbers<Scalar>(raw));
  const Scalar largest = (std::numeric_limits<Scalar>::max)();
  for (const Scalar bad : {largest, std::numeric_limits<Scalar>::infinity(),
                           std::numeric_limits<Scalar>::quiet_NaN()}) {
    const Eigen::VectorXd start = draw_iterate(data, source);
    for_each_state(data, start, [&](IslandState<Scalar>& state) {
      state.vector(Memory::spare1).setZero();
      state.vector(Memory::spare1)(0) = bad;
      CHECK(state.cost_at(Memory::spare1, false) == std::numeric_limits<Scalar>::infinity());
      CHECK(std::isfinite(state.cost()));
      state.contacts(Memory::trial_step, 1).setConstant(bad);
      CHECK(state.push_slope(Scalar(4)) == std::numeric_limits<Scalar>::infinity());
      state.vector(Memory::whitened) = state.vector(Memory::spare1);
      state.evaluate();
      CHECK(state.residual == std::numeric_limits<Scalar>::infinity());
      CHECK(state.cost() == std::numeric_limits<Scalar>::infinity());
      for (int k = 0; k < 3; ++k) CHECK((state.contacts(Memory::impulse, k) == Scalar(0)).all());
    });
  }
}

}  // namespace island_state_test

namespace island_newton_test {

using carom::Index, carom::RowNumbers, carom::Vector3;
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

TEST_CASE("island_newton: the first step is Newton's own: the dense Hessian's solution",
          "[solvers][oracle]") {
  using Scalar = double;
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

TEST_CASE("island_newton: it starts at the cheapest of guess, rest and free velocity",
          "[solvers]") {
  using Scalar = double;
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
