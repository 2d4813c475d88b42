// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/island_state.hpp"

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/dense_problem.hpp"
#include "support/packed_case.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace island_state_test {

using carom::FrictionLaw, carom::ImpulseShape, carom::Index, carom::RowNumbers, carom::Vector3;
using carom::detail::IslandState, carom::detail::PackedIsland, carom::testing::ConstrainedProblem;
using carom::testing::for_each_packed_problem, carom::testing::PackedCase;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// An iterate and all that follows from it, dense, in the rows of the problem as they were given.
struct DenseState {
  Eigen::VectorXd velocity, rows, trial, impulse, momentum, gradient;
  Eigen::VectorXd row_size, trial_size;  ///< what rounding errors of rows and trial are relative to
  double cost = 0;
  double size = 0;  ///< what rounding errors of the cost are relative to

  template <typename Scalar>
  DenseState(const PackedCase<Scalar>& data, const Eigen::VectorXd& whitened,
             FrictionLaw law = FrictionLaw::convex) {
    const auto& dense = data.dense;
    velocity = data.unwhiten(whitened);
    const Eigen::MatrixXd jacobian = data.whitened_jacobian();
    rows = jacobian * whitened;
    row_size = jacobian.cwiseAbs() * whitened.cwiseAbs();
    trial = (dense.bias - rows).cwiseQuotient(dense.weights);
    trial_size = (dense.bias.cwiseAbs() + row_size).cwiseQuotient(dense.weights);
    impulse = project(data, trial, law);
    momentum = jacobian.transpose() * impulse;
    const Eigen::VectorXd free = data.touched(data.whiten(dense.free_velocity));
    gradient = whitened - free - momentum;
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
  static Eigen::VectorXd project(const PackedCase<Scalar>& data, const Eigen::VectorXd& y,
                                 FrictionLaw law) {
    Eigen::VectorXd result(y.size());
    const std::size_t contacts = data.raw.contacts.contacts.size();
    for (std::size_t s = 0; s < data.dense.sets.size(); ++s) {
      const auto& set = data.dense.sets[s];
      const Index start = data.dense.starts[s];
      if (s < contacts) {
        const Vector3<double> own = y.segment<3>(start),
                              w = data.dense.weights.template segment<3>(start);
        Vector3<double> gamma =
            carom::testing::foot_on_cone<double>(set.friction(0), w.x(), w.z(), own);
        if (law == FrictionLaw::coulomb) {
          gamma = {0, 0, std::max(own.z(), 0.0)};
          const double size = own.head<2>().norm(), most = set.friction(0) * gamma.z();
          if (most > 0)
            gamma.head<2>() = own.head<2>() * std::min(1.0, size > 0 ? most / size : 1.0);
        }
        result.segment<3>(start) = gamma;
        continue;
      }
      RowNumbers<double> own = RowNumbers<double>::Zero(), weights = RowNumbers<double>::Ones();
      own.head(set.rows) = y.segment(start, set.rows);
      weights.head(set.rows) = data.dense.weights.segment(start, set.rows);
      const RowNumbers<double> gamma = law == FrictionLaw::coulomb
                                           ? coulomb_impulse(set, weights, own)
                                           : nearest_impulse(set, weights, own);
      result.segment(start, set.rows) = gamma.head(set.rows);
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
void for_each_state(PackedCase<Scalar>& data, const Eigen::VectorXd& whitened, FrictionLaw law,
                    const Visit& visit) {
  using Memory = typename PackedCase<Scalar>::Memory;
  data.set(Memory::whitened, whitened);
  data.set(Memory::free, data.whiten(data.dense.free_velocity));
  for (const PackedIsland& island : data.packed.islands()) {
    IslandState<Scalar> state(data.packed, data.memory, island, law);
    state.evaluate();
    visit(state);
  }
}

}  // namespace

TEMPLATE_TEST_CASE(
    "island_state: an iterate's velocities, impulses and gradient are the dense ones",
    "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  using Memory = typename PackedCase<Scalar>::Memory;
  WorstCase velocities("J w"), trials("y"), impulses("P(y)"), momenta("J^T y"),
      gradients("gradient"), squares("measures");
  for_each_packed_problem<Scalar>(6301u, [&](const ConstrainedProblem& raw,
                                             VectorSource<double>& source) {
    PackedCase<Scalar> data(raw);
    for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
      const Eigen::VectorXd whitened = draw_iterate(data, source);
      const DenseState dense(data, whitened, law);
      double residual = 0, free = 0, pushed = 0, gross = 0;
      for_each_state(data, whitened, law, [&](const IslandState<Scalar>& state) {
        residual += double(state.residual) * double(state.residual);
        free += double(state.free_squared);
        pushed += double(state.pushed_squared);
        gross += double(state.gross_squared);
      });
      const Eigen::VectorXd v = data.get(Memory::velocity), y = data.get(Memory::trial),
                            gamma = data.get(Memory::impulse);
      const Eigen::VectorXd& scale = data.row_scale;
      const Eigen::VectorXd unscaled = scale.cwiseProduct(gamma);
      // The impulses are compared with the law of the trial impulses found, whose own rounding the
      // line above bounds.
      const Eigen::VectorXd expected = DenseState::project(data, scale.cwiseProduct(y), law);
      for (Index r = 0; r < v.size(); ++r) {
        velocities.see(std::abs(v(r) / scale(r) - dense.rows(r)),
                       rounding<Scalar>(300, Scalar(dense.row_size(r))));
        trials.see(std::abs(y(r) * scale(r) - dense.trial(r)),
                   rounding<Scalar>(300, Scalar(dense.trial_size(r))));
      }
      for (std::size_t s = 0; s < data.dense.sets.size(); ++s) {
        const Index start = data.dense.starts[s], rows = data.dense.sets[s].rows;
        const auto w = data.dense.weights.segment(start, rows).cwiseSqrt().eval();
        const double size = w.cwiseProduct(expected.segment(start, rows)).norm() +
                            w.cwiseProduct(scale.cwiseProduct(y).segment(start, rows)).norm();
        impulses.see(
            w.cwiseProduct(unscaled.segment(start, rows) - expected.segment(start, rows)).norm(),
            rounding<Scalar>(1000, Scalar(size)));
      }
      const Eigen::MatrixXd jacobian = data.whitened_jacobian();
      const Eigen::VectorXd momentum = jacobian.transpose() * unscaled;
      const Eigen::VectorXd size = jacobian.cwiseAbs().transpose() * unscaled.cwiseAbs();
      const Eigen::VectorXd free_whitened = data.get(Memory::free);
      const Eigen::VectorXd gradient = whitened - free_whitened - momentum;
      const double all = size.norm() + whitened.norm() + free_whitened.norm();
      momenta.see((data.get(Memory::momentum) - momentum).norm(),
                  rounding<Scalar>(300, Scalar(size.norm())));
      gradients.see((data.get(Memory::gradient) - gradient).norm(),
                    rounding<Scalar>(300, Scalar(all)));
      squares.see(std::abs(std::sqrt(residual) - gradient.norm()),
                  rounding<Scalar>(300, Scalar(all)));
      squares.see(std::abs(free - free_whitened.squaredNorm()),
                  rounding<Scalar>(100, Scalar(free)));
      squares.see(std::abs(pushed - data.get(Memory::momentum).squaredNorm()),
                  rounding<Scalar>(100, Scalar(pushed)));
      double gross_dense = 0;
      for (Index r = 0; r < unscaled.size(); ++r)
        gross_dense += jacobian.row(r).squaredNorm() * unscaled(r) * unscaled(r);
      squares.see(std::abs(gross - gross_dense), rounding<Scalar>(1000, Scalar(gross)));
    }
  });
  for (const WorstCase* worst : {&velocities, &trials, &impulses}) worst->check(500);
  for (const WorstCase* worst : {&momenta, &gradients, &squares}) worst->check(50);
}

TEMPLATE_TEST_CASE("island_state: its costs sum up to the dense cost, and to primal_cost()",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
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
    for_each_state(data, whitened, FrictionLaw::convex, [&](const IslandState<Scalar>& state) {
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

TEMPLATE_TEST_CASE(
    "island_state: the slope along a direction is the one of the dense law, and the cost's",
    "[solvers][oracle][derivative]", float, double) {
  using Scalar = TestType;
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
      for_each_state(data, whitened, FrictionLaw::convex, [&](const IslandState<Scalar>& state) {
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
    for_each_state(data, start, FrictionLaw::convex, [&](IslandState<Scalar>& state) {
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
