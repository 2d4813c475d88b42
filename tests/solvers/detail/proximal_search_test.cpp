// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/detail/proximal_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/dual_problems.hpp"
#include "support/planted_duals.hpp"
#include "support/sweep.hpp"
#include "support/tolerance.hpp"

namespace proximal_search_test {

using carom::ContactNewtonOptions, carom::DelassusProblem, carom::FrictionLaw, carom::Index;
using carom::SolveStatus, carom::VectorX, carom::detail::ProximalSearch;
using carom::testing::assemble_dual, carom::testing::draw_dual, carom::testing::DualShape;
using carom::testing::plant_dual, carom::testing::rounding, carom::testing::sweep,
    carom::testing::VectorSource;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

[[nodiscard]] ContactNewtonOptions<double> options(FrictionLaw law, int sweeps) {
  return {.law = law, .tolerance = 1e-12, .sweeps = sweeps};
}

[[nodiscard]] VectorX<double> parts_of(const DelassusProblem<double>& problem,
                                       const VectorX<double>& rows) {
  VectorX<double> parts;
  problem.write_parts(rows, parts);
  return parts;
}

[[nodiscard]] VectorX<double> best_of(const DelassusProblem<double>& problem,
                                      const ProximalSearch<double>& search) {
  VectorX<double> rows;
  problem.write_rows(Eigen::Map<const VectorX<double>>(search.best(), 3 * problem.part_count()),
                     rows);
  return rows;
}

[[nodiscard]] double error_of(const DelassusProblem<double>& problem, const VectorX<double>& rows,
                              FrictionLaw law) {
  return certify(problem, rows, law).natural_map_error;
}

}  // namespace

TEST_CASE("proximal_search: a planted solution is found from zero, and recognised",
          "[solvers][oracle]") {
  VectorSource<double> source(81u);
  for (int round = 0; round < 12; ++round) {
    for (const FrictionLaw law : laws) {
      const auto planted = plant_dual(source, {4 + round, 3, 0.3, true, 0.3}, law);
      const auto problem = assemble_dual(planted.data);
      for (const int sweeps : {0, 30}) {
        ProximalSearch<double> search(options(law, sweeps));
        const VectorX<double> zero = VectorX<double>::Zero(3 * problem.part_count());
        CAPTURE(round, to_string(law), sweeps);
        CHECK(search.solve(problem, zero.data(), 1e-12, 8000) == SolveStatus::converged);
        CHECK((best_of(problem, search) - planted.impulse).norm() <=
              1e-9 * (1 + planted.impulse.norm()));
        if (sweeps == 0) CHECK(search.iterations() > 0);
        const VectorX<double> guess = parts_of(problem, planted.impulse);
        CHECK(search.solve(problem, guess.data(), 1e-12, 8000) == SolveStatus::converged);
        CHECK(search.iterations() == 0);
        CHECK(best_of(problem, search) == planted.impulse);
      }
    }
  }
}

TEST_CASE("proximal_search: near a solution a few systems do", "[solvers][law]") {
  VectorSource<double> source(82u);
  for (int round = 0; round < 12; ++round) {
    for (const FrictionLaw law : laws) {
      const auto planted = plant_dual(source, {10, 3, 0.3, true, 0.1}, law);
      const auto problem = assemble_dual(planted.data);
      VectorX<double> guess = planted.impulse;
      for (Index k = 0; k < guess.size(); ++k) guess(k) += 1e-6 * (source.unit() - 0.5);
      ProximalSearch<double> search(options(law, 0));
      CAPTURE(round, to_string(law));
      const VectorX<double> parts = parts_of(problem, guess);
      CHECK(search.solve(problem, parts.data(), 1e-12, 8000) == SolveStatus::converged);
      CHECK(search.iterations() <= 4);
      CHECK((best_of(problem, search) - planted.impulse).norm() <=
            1e-9 * (1 + planted.impulse.norm()));
    }
  }
}

TEST_CASE("proximal_search: rigid, hyperstatic, from guesses near and far", "[solvers][law]") {
  VectorSource<double> source(83u);
  for (int round = 0; round < 4; ++round) {
    const DualShape shape{8 + 3 * round, 2, 0.6, round % 2 == 0, 0.0};
    const auto problem = assemble_dual(draw_dual(source, shape));
    for (const FrictionLaw law : laws) {
      ProximalSearch<double> search(options(law, 0));
      for (const double size : {0.0, 1.0, 1e3, 1e6}) {
        VectorX<double> guess(problem.row_count());
        for (Index k = 0; k < guess.size(); ++k) guess(k) = size * (source.unit() - 0.5);
        const VectorX<double> parts = parts_of(problem, guess);
        const auto status = search.solve(problem, parts.data(), 1e-10, 8000);
        CAPTURE(round, to_string(law), size, search.iterations());
        CHECK(status == SolveStatus::converged);
        CHECK(error_of(problem, best_of(problem, search), law) <= 1e-10 + rounding(50, 1.0));
      }
    }
  }
}

TEST_CASE("proximal_search: what it says of its end", "[solvers][law]") {
  VectorSource<double> source(84u);
  for (int round = 0; round < sweep(2, 4); ++round) {
    const auto problem =
        assemble_dual(draw_dual(source, {sweep(6, 10), 2, 0.8, round % 2 == 0, 0.0}));
    VectorX<double> guess(problem.row_count());
    for (Index k = 0; k < guess.size(); ++k) guess(k) = source.unit() - 0.5;
    const VectorX<double> parts = parts_of(problem, guess);
    for (const FrictionLaw law : laws) {
      double last = error_of(problem, guess, law);
      for (const int limit : {0, 1, 2, 4, 8, 16, 32, 64, 8000}) {
        ProximalSearch<double> search(options(law, 0));
        const auto status = search.solve(problem, parts.data(), 1e-11, limit);
        const double error = error_of(problem, best_of(problem, search), law);
        CAPTURE(round, to_string(law), limit, error);
        CHECK(search.iterations() <= limit);
        CHECK((status == SolveStatus::converged) == (error <= 1e-11));
        if (status != SolveStatus::converged) {
          CHECK(status == SolveStatus::iteration_limit);
          CHECK(search.iterations() == limit);
        }
        CHECK(error <= 1.5 * last);  // the same way, gone further
        last = error;
        if (limit == 0) CHECK(best_of(problem, search) == guess);
      }
      // A tolerance below rounding: the best met, and no claim.
      ProximalSearch<double> search(options(law, 0));
      const auto status = search.solve(problem, parts.data(), 1e-30, 200);
      CHECK((status == SolveStatus::no_progress || status == SolveStatus::iteration_limit ||
             error_of(problem, best_of(problem, search), law) == 0));
      CHECK(error_of(problem, best_of(problem, search), law) <= 1e-10);
    }
  }
}

TEST_CASE("proximal_search: no limit is passed, whatever the direction in use", "[solvers][law]") {
  VectorSource<double> source(86u);
  int reached = 0;
  for (int round = 0; round < 4; ++round) {
    const auto problem =
        assemble_dual(draw_dual(source, {sweep(7, 12), 2, 0.9, round % 2 == 0, 0.0}));
    const VectorX<double> zero = VectorX<double>::Zero(3 * problem.part_count());
    ProximalSearch<double> search(options(FrictionLaw::coulomb, 0));
    for (int limit = 0; limit < 30; ++limit) {
      static_cast<void>(search.solve(problem, zero.data(), 1e-12, limit));
      CHECK(search.iterations() <= limit);
      reached += search.iterations() == limit;
    }
  }
  CHECK(reached > 30);
}

TEST_CASE("proximal_search: what was searched before leaves no trace", "[solvers][law]") {
  VectorSource<double> source(85u);
  for (const FrictionLaw law : laws) {
    ProximalSearch<double> kept(options(law, 5));
    for (const int contacts : {3, 12, 1, 20, 5}) {
      const auto problem = assemble_dual(draw_dual(source, {contacts, 2, 0.6, true, 0.001}));
      ProximalSearch<double> fresh(options(law, 5));
      const VectorX<double> zero = VectorX<double>::Zero(3 * problem.part_count());
      const auto status = kept.solve(problem, zero.data(), 1e-11, 8000);
      CHECK(fresh.solve(problem, zero.data(), 1e-11, 8000) == status);
      CHECK(best_of(problem, kept) == best_of(problem, fresh));
      CHECK(kept.iterations() == fresh.iterations());
    }
  }
}

TEST_CASE("proximal_search: bodies of unlike mass", "[solvers][law]") {
  // Blocks one on the other, each contact's W of its two bodies; friction holds or not.
  for (const double ratio : {1e-4, 1.0, 1e4}) {
    for (const double push : {0.01, 0.2}) {
      carom::testing::DualData data;
      constexpr int count = 6;
      data.w.setZero(3 * count, 3 * count);
      data.q.setZero(3 * count);
      data.r.setZero(3 * count);
      double mass = 1;
      for (int i = 0; i < count; ++i, mass *= std::pow(ratio, 1.0 / count)) {
        data.sets.push_back(carom::friction_impulses(0.5));
        data.w.block<3, 3>(3 * i, 3 * i) += Eigen::Matrix3d::Identity() / mass;
        if (i + 1 < count) {
          data.w.block<3, 3>(3 * i + 3, 3 * i + 3) += Eigen::Matrix3d::Identity() / mass;
          data.w.block<3, 3>(3 * i, 3 * i + 3) -= Eigen::Matrix3d::Identity() / mass;
          data.w.block<3, 3>(3 * i + 3, 3 * i) -= Eigen::Matrix3d::Identity() / mass;
        }
      }
      data.q(2) = -0.1;  // all fall alike: only the lowest closes
      data.q(0) = push;
      const auto problem = assemble_dual(data);
      for (const FrictionLaw law : laws) {
        ProximalSearch<double> search(options(law, 0));
        const VectorX<double> zero = VectorX<double>::Zero(3 * count);
        CAPTURE(ratio, push, to_string(law), search.iterations());
        CHECK(search.solve(problem, zero.data(), 1e-11, 8000) == SolveStatus::converged);
      }
      // All stick if μ times the weight holds the push: then every body comes to rest.
      ProximalSearch<double> search(options(FrictionLaw::coulomb, 0));
      const VectorX<double> zero = VectorX<double>::Zero(3 * count);
      static_cast<void>(search.solve(problem, zero.data(), 1e-12, 8000));
      const Eigen::VectorXd u = data.w * best_of(problem, search) + data.q;
      const double slip = std::hypot(u(0), u(1));
      CHECK(std::abs(slip - std::max(0.0, push - 0.5 * 0.1)) <= 1e-9);
    }
  }
}

}  // namespace proximal_search_test
