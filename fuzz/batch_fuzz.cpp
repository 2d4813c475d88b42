// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: bytes as some problems that are solved as a batch. Lanes of registers and one
// problem by itself must have the same bits, in any order; and the answers must be those of the
// solver of single problems, as far as the proven bounds say.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "carom/batch/batch_storage.hpp"
#include "carom/batch/solve_batch.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "structured_problem.hpp"

namespace {

using carom::BatchStorage, carom::BatchWorkspace, carom::FrictionLaw, carom::Index,
    carom::SapOptions;
using carom::SolveStatus, carom::VectorX;
using carom::fuzz::demand, carom::fuzz::Draws;
using Planted = carom::fuzz::PlantedProblem<double>;

template <int LaneCount>
void solve(BatchStorage<double>& batch, const SapOptions<double>& options) {
  BatchWorkspace<double, LaneCount> workspace;
  workspace.prepare(batch.view(), 1);
  const auto report = solve_batch(batch.view(), batch.answers(), options, workspace);
  demand(report.prepared && report.faults == 0, "a batch of problems that were built has no fault");
}

bool same_bits(const Eigen::Ref<const VectorX<double>>& a,
               const Eigen::Ref<const VectorX<double>>& b) {
  return a.size() == b.size() &&
         (a.size() == 0 ||
          std::memcmp(a.data(), b.data(), sizeof(double) * std::size_t(a.size())) == 0);
}
void demand_same(const BatchStorage<double>& a, Index i, const BatchStorage<double>& b, Index k) {
  demand(same_bits(a.velocity(i), b.velocity(k)), "lanes do not change the velocity",
         (a.velocity(i) - b.velocity(k)).norm());
  demand(same_bits(a.impulse(i), b.impulse(k)), "lanes do not change the impulse");
  demand(
      a.report(i).status == b.report(k).status && a.report(i).iterations == b.report(k).iterations,
      "lanes do not change the report");
}

void check_answer(const Planted& planted, const BatchStorage<double>& batch, Index i) {
  const auto& report = batch.report(i);
  const VectorX<double> velocity = batch.velocity(i), impulse = batch.impulse(i);
  demand(velocity.allFinite() && impulse.allFinite(), "the answer is finite");
  if (report.status != SolveStatus::converged) return;
  // Rigid blocks have the R of their softness in a batch, as in SapSolver.
  const auto found = certify(planted.problem, velocity, impulse);
  carom::SapSolver<double> solver(SapOptions<double>{.tolerance = 1e-10});
  VectorX<double> alone = planted.problem.free_velocity();
  const auto by_solver = solver.solve(planted.problem, alone);
  if (!by_solver.converged()) return;
  const double bound =
      found.velocity_error_bound + certify(planted.problem, alone).velocity_error_bound;
  VectorX<double> apart = velocity - alone;
  planted.problem.whiten(carom::as_span(apart));
  demand(!(apart.norm() > bound * (1 + 1e-12)), "lanes find the answer of the solver", apart.norm(),
         bound);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Draws draws(data, size);
  const SapOptions<double> options{
      .law = draws.pick({FrictionLaw::convex, FrictionLaw::convex, FrictionLaw::coulomb}),
      .tolerance = draws.pick({1e-8, 1e-4, 1e-11}),
      .iteration_limit = 60};
  const int kinds = 1 + draws.below(3), copies = 1 + draws.below(5);
  std::vector<Planted> planted;
  for (int k = 0; k < kinds; ++k) {
    auto shape = carom::fuzz::draw_shape(draws);
    shape.most_bodies = 3;
    shape.most_blocks = 5;
    const Planted one = carom::fuzz::plant_problem<double>(draws, shape, options.law);
    for (int c = 0; c < copies; ++c) {  // the same pattern with other loads
      planted.push_back(one);
      VectorX<double> free = one.problem.free_velocity();
      for (double& x : free) x *= c == 0 ? 1 : 2 * draws.unit();
      planted.back().problem.set_free_velocity(carom::as_span(free));
    }
  }
  BatchStorage<double> wide, narrow, backwards;
  const Index count = Index(planted.size());
  for (Index i = 0; i < count; ++i) {
    wide.add(planted[std::size_t(i)].problem);
    narrow.add(planted[std::size_t(i)].problem);
    backwards.add(planted[std::size_t(count - 1 - i)].problem);
  }
  solve<4>(wide, options);
  solve<1>(narrow, options);
  solve<2>(backwards, options);
  for (Index i = 0; i < count; ++i) {
    demand_same(wide, i, narrow, i);
    demand_same(wide, i, backwards, count - 1 - i);
    if (options.law == FrictionLaw::convex) check_answer(planted[std::size_t(i)], wide, i);
  }
  return 0;
}
