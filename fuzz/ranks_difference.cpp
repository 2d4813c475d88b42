// SPDX-License-Identifier: BSD-3-Clause
// Contact problems drawn by seed, solved on all ranks of a communicator and on one process: of
// compliant contact under the convex law the two answers are no farther apart than their proven
// bounds; what converged under Coulomb's law on ranks has a small natural map error on one process.
//   mpirun -n 2 carom_ranks_difference FIRST COUNT
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "carom/adapters/petsc.hpp"
#include "carom/adapters/petsc_contact.hpp"
#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/contact_certificate.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/sap.hpp"

#include "support/petsc_session.hpp"

#include "distributed/split_problem.hpp"
#include "structured_problem.hpp"

namespace {

using carom::ContactProblem, carom::FrictionLaw, carom::VectorX;
using carom::distributed::choose_owners, carom::distributed::ProblemPart;
using carom::fuzz::demand, carom::testing::petsc_rank_count, carom::testing::petsc_world;

void check_convex(const ContactProblem<double>& whole, const std::vector<int>& owners) {
  ProblemPart part(petsc_world(), whole, owners);
  carom::PetscSapSolver solver({.tolerance = 1e-9});
  VectorX<double> own = part.cut(whole.free_velocity());
  const auto report = solver.solve(part.problem(), own);
  const VectorX<double> found = part.join(own);
  demand(found.allFinite(), "the velocity is finite");
  carom::SapSolver<double> serial({.tolerance = 1e-9});
  VectorX<double> expected = whole.free_velocity();
  const auto alone = serial.solve(whole, expected);
  const double bound =
      certify(whole, found).velocity_error_bound + certify(whole, expected).velocity_error_bound;
  VectorX<double> apart = found - expected;
  whole.whiten(carom::as_span(apart));
  demand(!(apart.norm() > bound * (1 + 1e-12)), "ranks and one process agree within their bounds",
         apart.norm(), bound);
  demand(report.converged() || !alone.converged() || report.iterations > 0,
         "a report says why it ends");
}

void check_coulomb(const ContactProblem<double>& whole, const std::vector<int>& owners) {
  ProblemPart part(petsc_world(), whole, owners);
  carom::PetscContactSolver solver({.law = FrictionLaw::coulomb, .tolerance = 1e-6});
  VectorX<double> own = part.cut(whole.free_velocity());
  const auto report = solver.solve(part.problem(), own);
  const VectorX<double> impulse = part.join_rows(solver.impulse());
  demand(part.join(own).allFinite() && impulse.allFinite(), "the answer is finite");
  if (!report.converged() || whole.impulse_count() == 0) return;
  carom::DelassusForm<double> form;
  carom::DelassusProblem<double> dual;
  form.write(whole, dual);
  const double error = certify(dual, impulse, FrictionLaw::coulomb).natural_map_error;
  demand(error <= 1e-5, "what converged on ranks obeys the law on one process", error, 1e-6);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: carom_ranks_difference FIRST COUNT\n", stderr);
    return 2;
  }
  const long first = std::atol(argv[1]), count = std::atol(argv[2]);
  static_cast<void>(petsc_world());
  for (long seed = first; seed < first + count; ++seed) {
    std::mt19937_64 engine{std::uint64_t(seed)};
    std::uint8_t bytes[60];
    for (std::uint8_t& byte : bytes) byte = std::uint8_t(engine());
    carom::fuzz::Draws draws(bytes, sizeof bytes);
    const bool coulomb = seed % 4 == 0;
    carom::fuzz::ProblemShape shape;
    shape.most_bodies = 12;
    shape.most_blocks = 24;
    shape.softness = coulomb ? carom::fuzz::Softness::mixed : carom::fuzz::Softness::compliant;
    shape.decades = draws.pick({1.0, 4.0});
    const FrictionLaw law = coulomb ? FrictionLaw::coulomb : FrictionLaw::convex;
    const auto planted = carom::fuzz::plant_problem<double>(draws, shape, law);
    const auto owners = choose_owners(planted.problem, petsc_rank_count());
    if (coulomb) {
      check_coulomb(planted.problem, owners);
    } else if (planted.problem.rigid_count() == 0) {
      check_convex(planted.problem, owners);
    }
  }
  if (carom::testing::petsc_rank() == 0)
    std::printf("%ld problems on %d ranks\n", count, petsc_rank_count());
  return 0;
}
