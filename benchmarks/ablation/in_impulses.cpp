// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>

#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/solvers/projected_gradient.hpp"
#include "carom/viscoelastic/detail/coulomb_slip.hpp"
#include "carom/viscoelastic/detail/slip_sweep.hpp"

#include "support/viscoelastic_cases.hpp"

#include "ablation/cases.hpp"
#include "io/cpf_file.hpp"
#include "io/file_text.hpp"
#include "io/friction_dual.hpp"

namespace carom::benchmarks {

namespace {

using Duals = std::vector<DelassusProblem<double>>;

Duals read_duals(const std::string& data) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(data + "/fclib")) {
    if (entry.path().extension() == ".cpf") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Duals duals;
  for (const auto& file : files) {
    duals.push_back(files::friction_dual(files::parse_cpf(files::read_file(file.string()))));
  }
  return duals;
}

/// Every problem under both laws, from no impulses.
template <typename Solver>
GroupResult solve_duals(const Duals& duals, double tolerance, int limit) {
  GroupResult result;
  for (const FrictionLaw law : {FrictionLaw::convex, FrictionLaw::coulomb}) {
    for (const auto& dual : duals) {
      Solver solver({.law = law, .tolerance = tolerance, .iteration_limit = limit});
      VectorX<double> impulse = VectorX<double>::Zero(dual.row_count());
      SolveReport<double> report;
      solver.prepare(dual);
      timed(result, [&] { report = solver.solve(dual, impulse); });
      result.add(report, impulse);
    }
  }
  return result;
}

/// Stiff viscoelastic contacts of 1e3 to 1e10 N/m.
template <typename Slip>
GroupResult slip(int count) {
  GroupResult result;
  testing::VectorSource<double> source(77u);
  Slip solver;
  for (int k = 0; k < count; ++k) {
    const testing::SlipCase<double> c(source, 1 + k % 10);
    solver.prepare(c.friction.size());
    SolveReport<double> report;
    timed(result, [&] {
      if constexpr (requires { solver.set(c.gain, c.friction); }) {
        solver.set(c.gain, c.friction);
        report = solver.solve(c.gain, c.average);
      } else {
        report = solver.solve(c.gain, c.average, c.friction);
      }
    });
    result.add(report, solver.force());
  }
  return result;
}

}  // namespace

std::vector<Group> groups_in_impulses(const std::string& data) {
  const Duals duals = read_duals(data);
  return {
      {"impulses", [=] { return solve_duals<InteriorPointSolver<double>>(duals, 1e-8, 400); }},
      {"sweeps", [=] { return solve_duals<GaussSeidel<double>>(duals, 1e-6, 1000); }},
      {"gradient", [=] { return solve_duals<ProjectedGradient<double>>(duals, 1e-6, 1000); }},
      {"slip", [] { return slip<CoulombSlip<double>>(120); }},
      {"convex slip", [] { return slip<ConvexSlip<double>>(120); }},
  };
}

}  // namespace carom::benchmarks
