// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/rows/impulse_islands.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "support/catch.hpp"
#include "support/fake_clock.hpp"
#include "support/planted_duals.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace impulse_islands_test {

using carom::DelassusProblem, carom::FrictionLaw, carom::ImpulseSet, carom::ImpulseShape;
using carom::Index, carom::RowNumbers, carom::SolveLimits, carom::SolveStatus, carom::VectorX;
using carom::detail::ImpulseIslands, carom::detail::MapSums;
using carom::testing::assemble_dual, carom::testing::by_solver, carom::testing::draw_dual;
using carom::testing::DualData, carom::testing::DualShape, carom::testing::FakeClock;
using carom::testing::make_block, carom::testing::plant_dual, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};
constexpr double tolerance = 1e-9;

/// Groups of contacts that do not influence each other, and the place of each group's contacts and
/// rows in the whole, where those of all groups alternate.
struct Groups {
  DualData whole;
  std::vector<std::vector<Index>> rows;  ///< per group
  std::vector<int> group_of;             ///< per contact

  explicit Groups(const std::vector<DualData>& parts) {
    Index total = 0;
    std::size_t most = 0;
    for (const DualData& part : parts) {
      total += part.q.size();
      most = std::max(most, part.sets.size());
    }
    whole.w = Eigen::MatrixXd::Zero(total, total);
    whole.q.resize(total);
    whole.r.resize(total);
    rows.resize(parts.size());
    Index row = 0;
    for (std::size_t k = 0; k < most; ++k) {
      for (std::size_t g = 0; g < parts.size(); ++g) {
        if (k >= parts[g].sets.size()) continue;
        whole.sets.push_back(parts[g].sets[k]);
        group_of.push_back(int(g));
        for (int r = 0; r < parts[g].sets[k].rows; ++r) rows[g].push_back(row++);
      }
    }
    for (std::size_t g = 0; g < parts.size(); ++g) {
      for (std::size_t a = 0; a < rows[g].size(); ++a) {
        whole.q(rows[g][a]) = parts[g].q(Index(a));
        whole.r(rows[g][a]) = parts[g].r(Index(a));
        for (std::size_t b = 0; b < rows[g].size(); ++b) {
          whole.w(rows[g][a], rows[g][b]) = parts[g].w(Index(a), Index(b));
        }
      }
    }
  }
};

/// One to five groups of contacts of every shape, each of them one island: all of its contacts are
/// on the same body.
[[nodiscard]] std::vector<DualData> draw_parts(VectorSource<double>& source, int groups) {
  std::vector<DualData> parts;
  for (int g = 0; g < groups; ++g) {
    parts.push_back(draw_dual(source, {1 + (g * 5 + groups) % 6, 1, 0.5, true, 0.2}));
  }
  return parts;
}

/// ‖γ − P(γ − ũ/w)‖ over the contacts, in long double, with the sets' projections only.
[[nodiscard]] double natural_map(const DualData& data, FrictionLaw law,
                                 const Eigen::VectorXd& gamma, double w) {
  const Eigen::VectorXd u = data.w * gamma + data.r.cwiseProduct(gamma) + data.q;
  double squared = 0;
  Index row = 0;
  for (const ImpulseSet<double>& set : data.sets) {
    RowNumbers<double> own = RowNumbers<double>::Zero(), speed = own;
    own.head(set.rows) = gamma.segment(row, set.rows);
    speed.head(set.rows) = u.segment(row, set.rows);
    if (law == FrictionLaw::coulomb && set.shape == ImpulseShape::friction) {
      speed(2) += set.friction(0) * speed.head<2>().norm();
    }
    const RowNumbers<double> ones = RowNumbers<double>::Ones();
    squared +=
        (own - nearest_impulse(set, ones, RowNumbers<double>(own - speed / w))).squaredNorm();
    row += set.rows;
  }
  return std::sqrt(squared);
}

template <typename Scalar>
struct Solved {
  std::vector<typename ImpulseIslands<Scalar>::Outcome> outcomes;
  VectorX<Scalar> impulse;

  [[nodiscard]] bool converged() const {
    return std::all_of(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
      return outcome.status == SolveStatus::converged;
    });
  }
};
/// Solves all islands from a guess, in a given order.
template <typename Scalar>
[[nodiscard]] Solved<Scalar> solve_all(ImpulseIslands<Scalar>& islands,
                                       const DelassusProblem<Scalar>& problem,
                                       const VectorX<Scalar>& guess, bool backwards = false,
                                       int sweeps = 20) {
  Solved<Scalar> solved{{}, guess};
  solved.outcomes.resize(std::size_t(islands.count()));
  for (Index k = 0; k < islands.count(); ++k) {
    const Index island = backwards ? islands.count() - 1 - k : k;
    solved.outcomes[std::size_t(island)] =
        islands.solve(problem, island, carom::as_span(solved.impulse),
                      {Scalar(tolerance), sweeps, SolveLimits()}, SolveLimits());
  }
  return solved;
}

}  // namespace

TEST_CASE("impulse_islands: each island is solved by itself, in the rows of the whole",
          "[solvers][law]") {
  VectorSource<double> source(1);
  WorstCase others("rows of other islands keep their bits"), same("any order, any problem before");
  ImpulseIslands<double> used[] = {ImpulseIslands<double>(laws[0]),
                                   ImpulseIslands<double>(laws[1])};
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (int groups = 1; groups <= 5; ++groups) {
    const Groups all(draw_parts(source, groups));
    const auto problem = assemble_dual(all.whole);
    for (const FrictionLaw law : laws) {
      ImpulseIslands<double> islands(law);
      islands.prepare(problem);
      REQUIRE(islands.count() == groups);
      // The scales are those of the whole, whose errors the islands' are shares of.
      CHECK(islands.yardstick().law == law);
      CHECK(std::abs(islands.yardstick().load - all.whole.q.norm()) <=
            rounding(100, all.whole.q.norm()));
      const double mean = (all.whole.w.trace() + all.whole.r.sum()) / double(all.whole.q.size());
      CHECK(std::abs(islands.yardstick().inverse_mass - mean) <= rounding(100, mean));
      const VectorX<double> zero = VectorX<double>::Zero(problem.row_count());
      const Solved<double> forward = solve_all(islands, problem, zero);
      CHECK(forward.converged());
      const Solved<double> backward = solve_all(islands, problem, zero, true);
      same.see_holds(backward.impulse == forward.impulse, groups);
      ImpulseIslands<double>& other = used[law == FrictionLaw::convex];
      other.find(problem);
      same.see_holds(solve_all(other, problem, zero).impulse == forward.impulse, groups);
      for (Index k = 0; k < groups; ++k) {
        // Islands are in the order of their first contacts, as the groups are.
        VectorX<double> alone = VectorX<double>::Constant(problem.row_count(), nan);
        for (const Index row : all.rows[std::size_t(k)]) alone(row) = 0;
        static_cast<void>(islands.solve(problem, k, carom::as_span(alone),
                                        {tolerance, 20, SolveLimits()}, SolveLimits()));
        std::vector<char> own(std::size_t(alone.size()), 0);
        for (const Index row : all.rows[std::size_t(k)]) own[std::size_t(row)] = 1;
        for (Index row = 0; row < alone.size(); ++row) {
          others.see_holds(own[std::size_t(row)] != 0 ? alone(row) == forward.impulse(row)
                                                      : std::isnan(alone(row)));
        }
      }
    }
  }
  others.check(200);
  same.check(20);
}

TEST_CASE("impulse_islands: the answers obey the law together, as the outcomes say",
          "[solvers][oracle]") {
  VectorSource<double> source(2);
  WorstCase solved("natural map of the whole"), summed("what the outcomes sum up to");
  int shapes = 0;
  for (int round = 0; round < 8; ++round) {
    std::vector<DualData> parts;
    for (int g = 0; g <= round % 4; ++g) {
      parts.push_back(draw_dual(source, {1 + (3 * g + round) % 7, 1, 0.5, false, 0.2}));
      parts.back().w *= std::pow(10, 3 * (g % 3) - 3);  // islands of very different scale
      parts.back().r *= std::pow(10, 3 * (g % 3) - 3);
    }
    const Groups all(parts);
    const auto problem = assemble_dual(all.whole);
    for (const FrictionLaw law : laws) {
      ImpulseIslands<double> islands(law);
      islands.find(problem);
      const double w = (all.whole.w.trace() + all.whole.r.sum()) / double(all.whole.q.size());
      const VectorX<double> zero = VectorX<double>::Zero(problem.row_count());
      const Solved<double> answer = solve_all(islands, problem, zero);
      CHECK(answer.converged());
      MapSums<double> sums;
      for (const auto& outcome : answer.outcomes) sums += outcome.sums;
      const double error = natural_map(all.whole, law, answer.impulse, w);
      const double scale = answer.impulse.norm() + all.whole.q.norm() / w;
      solved.see(error, by_solver(10 * tolerance) * scale, round, to_string(law));
      summed.see(std::abs(std::sqrt(sums.map) / w - error), rounding(2000, scale), round);
      ++shapes;
    }
  }
  CHECK(shapes == 16);
  solved.check(16);
  summed.check(16);
}

TEMPLATE_TEST_CASE("impulse_islands: a block on a plane rests or slides as the law says",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase found("γ");
  const double decades = sizeof(Scalar) == 4 ? 6 : 12;
  for (const double share : {-0.5, 0.0, 0.5}) {
    const double mass = std::pow(10, share * decades), fall = 0.1;
    for (const double slope : {0.0, 0.2, 0.49, 0.51, 3.0}) {
      const auto data = make_block(mass, 0.5, Eigen::Vector3d(slope * fall, 0, -fall));
      const auto problem = assemble_dual<Scalar>(data);
      for (const FrictionLaw law : laws) {
        const double pull = slope * fall * mass, weight = fall * mass;
        Eigen::Vector3d wanted(-pull, 0, weight);
        if (slope > 0.5) {
          // Coulomb's law, or the nearest point of the cone: W is a multiple of the identity.
          const double normal =
              law == FrictionLaw::coulomb ? weight : (weight + 0.5 * pull) / (1 + 0.25);
          wanted << -0.5 * normal, 0, normal;
        }
        for (const int sweeps : {0, 1, 20}) {
          ImpulseIslands<Scalar> islands(law);
          islands.find(problem);
          REQUIRE(islands.count() == 1);
          VectorX<Scalar> gamma = VectorX<Scalar>::Zero(3);
          const auto target = Scalar(sizeof(Scalar) == 4 ? 1e-5 : 1e-10);
          const auto outcome = islands.solve(problem, 0, carom::as_span(gamma),
                                             {target, sweeps, SolveLimits()}, SolveLimits());
          CHECK(outcome.status == SolveStatus::converged);
          // One sweep finds the answer of one contact, and no system is needed after it.
          if (sweeps > 0) CHECK(outcome.systems == 0);
          found.see((gamma.template cast<double>() - wanted).norm(),
                    by_solver(10 * double(target)) * wanted.norm(), slope, mass, sweeps);
        }
      }
    }
  }
  found.check(90);
}

TEST_CASE("impulse_islands: a guess that solves an island is its answer, without sweeps",
          "[solvers][law]") {
  VectorSource<double> source(3);
  WorstCase kept("the guess stays, bit for bit"), swept("sweeps would change it");
  for (const FrictionLaw law : laws) {
    for (int round = 0; round < 10; ++round) {
      const auto planted = plant_dual(source, {1 + round, 1, 0.5, true, 0.2}, law);
      const auto problem = assemble_dual(planted.data);
      ImpulseIslands<double> islands(law);
      islands.find(problem);
      if (planted.impulse.isZero(0)) continue;
      const Solved<double> answer = solve_all(islands, problem, planted.impulse);
      for (const auto& outcome : answer.outcomes) kept.see_holds(outcome.systems == 0, round);
      kept.see_holds(answer.impulse == planted.impulse, round, to_string(law));
      // Near it: Newton's method from there, without a sweep, whose result Newton would then have.
      const Eigen::VectorXd near_it = planted.impulse * (1 + 1e-6);
      const Solved<double> again = solve_all(islands, problem, near_it);
      CHECK(again.converged());
      const Solved<double> without = solve_all(islands, problem, near_it, false, 0);
      swept.see_holds(without.impulse == again.impulse, round);
    }
  }
  kept.check(20);
  swept.check(10);
}

TEST_CASE("impulse_islands: limits bound the sweeps and the systems", "[solvers][example]") {
  VectorSource<double> source(4);
  DualData data = draw_dual(source, {12, 2, 0.8, false, 0.0});
  const auto problem = assemble_dual(data);
  ImpulseIslands<double> islands(FrictionLaw::coulomb);
  islands.find(problem);
  REQUIRE(islands.count() == 1);
  const auto solve = [&](int sweeps, const SolveLimits& of_sweeps, const SolveLimits& of_systems) {
    Solved<double> solved{{}, VectorX<double>::Zero(problem.row_count())};
    solved.outcomes.push_back(islands.solve(problem, 0, carom::as_span(solved.impulse),
                                            {1e-12, sweeps, of_sweeps}, of_systems));
    return solved;
  };
  const SolveLimits none = SolveLimits().with_iterations(0);
  // Neither sweeps nor systems: no impulses.
  const auto nothing = solve(0, {}, none);
  CHECK(nothing.outcomes[0].status == SolveStatus::iteration_limit);
  CHECK(nothing.impulse.isZero(0));
  // Sweeps alone reduce the error, and more sweeps reduce it further.
  const auto error = [&](const Solved<double>& solved) {
    return natural_map(data, FrictionLaw::coulomb, solved.impulse, problem.inverse_mass_scale());
  };
  const auto few = solve(1, {}, none), more = solve(100, {}, none);
  CHECK(few.outcomes[0].systems == 0);
  CHECK(error(few) < error(nothing) / 2);
  CHECK(error(more) < error(few));
  // Time that is over before the sweeps, and after the first ones.
  FakeClock over, soon;
  CHECK(solve(100, over.until(0), none).impulse.isZero(0));
  const auto short_time = solve(100, soon.until(3), none);
  CHECK(error(short_time) < error(nothing) / 2);
  CHECK(error(short_time) > error(more));
  // One system is one system.
  const auto one = solve(0, {}, SolveLimits().with_iterations(1));
  CHECK(one.outcomes[0].systems <= 1);
}

TEST_CASE("impulse_islands: sweeps that leave the range of numbers are forgotten",
          "[solvers][example]") {
  // Two contacts whose coupling outweighs their own blocks: W is indefinite, and sweeps diverge.
  for (const double coupling : {1e20, 1e100, 1e200}) {
    DualData data;
    data.sets = {carom::friction_impulses(0.5), carom::friction_impulses(0.5)};
    data.w = Eigen::MatrixXd::Identity(6, 6);
    data.w(2, 5) = data.w(5, 2) = -coupling;
    data.q.setConstant(6, -1);
    data.r.setZero(6);
    const auto problem = assemble_dual(data);
    for (const FrictionLaw law : laws) {
      ImpulseIslands<double> islands(law);
      islands.find(problem);
      REQUIRE(islands.count() == 1);
      Eigen::VectorXd gamma = Eigen::VectorXd::Zero(6);
      const auto outcome =
          islands.solve(problem, 0, carom::as_span(gamma), {1e-9, 100, SolveLimits()},
                        SolveLimits().with_iterations(0));
      CAPTURE(coupling, to_string(law));
      CHECK(outcome.status != SolveStatus::converged);
      CHECK(gamma.allFinite());
      if (law == FrictionLaw::coulomb) continue;  // whose sweeps end at large numbers
      CHECK(gamma.isZero(0));
      CHECK(outcome.status == SolveStatus::iteration_limit);
      CHECK(std::isfinite(outcome.error.residual));
    }
  }
}

TEST_CASE("impulse_islands: a problem without contacts has no islands", "[solvers][example]") {
  DelassusProblem<double> problem;
  problem.assemble();
  ImpulseIslands<double> islands(FrictionLaw::convex);
  islands.prepare(problem);
  CHECK(islands.count() == 0);
  CHECK(islands.yardstick().law == FrictionLaw::convex);
  const auto data = make_block(1, 0.5, Eigen::Vector3d(0, 0, -1));
  islands.prepare(assemble_dual(data));
  CHECK(islands.count() == 1);
}

}  // namespace impulse_islands_test
