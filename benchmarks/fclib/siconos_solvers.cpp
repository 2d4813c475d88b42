// SPDX-License-Identifier: BSD-3-Clause
#include "fclib/solver_run.hpp"

#ifndef CAROM_PEER_SICONOS

namespace carom::benchmarks {

std::vector<Solver> siconos_solvers() {
  return {};
}

}  // namespace carom::benchmarks

#else

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsSparseMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <algorithm>
#include <memory>
#include <utility>

#include "io/friction_dual.hpp"

namespace carom::benchmarks {

namespace {

/// How Siconos wants W for a solver.
enum class Storage { dense, sparse, blocks };

struct Method {
  const char* name;
  Index dimension;
  int identifier;
  Storage storage;
};

constexpr Method methods[] = {
    {"siconos:NSGS", 3, SICONOS_FRICTION_3D_NSGS, Storage::blocks},
    {"siconos:NSGS", 2, SICONOS_FRICTION_2D_NSGS, Storage::blocks},
    {"siconos:PROX", 3, SICONOS_FRICTION_3D_PROX, Storage::sparse},
    {"siconos:NSN_AC", 3, SICONOS_FRICTION_3D_NSN_AC, Storage::sparse},
    {"siconos:NSN_FB", 3, SICONOS_FRICTION_3D_NSN_FB, Storage::sparse},
    {"siconos:ADMM", 3, SICONOS_FRICTION_3D_ADMM, Storage::sparse},
    {"siconos:LEMKE2D", 2, SICONOS_FRICTION_2D_LEMKE, Storage::dense},
    {"siconos:CPG2D", 2, SICONOS_FRICTION_2D_CPG, Storage::dense},
};

/// A file's problem in nondimensional form, W/w and q/‖q‖, as Siconos takes it: its tolerances are
/// then of the same measure as carom's. What Siconos allocates stays until the process ends.
class SiconosProblem {
 public:
  SiconosProblem(const ContactFile& file, const Method& method)
      : file_(file),
        method_(method),
        inverse_mass_(positive(file.dual.mean_diagonal())),
        load_(positive(file.dual.load_norm())) {
    const Index rows = file.problem.row_count();
    const VectorX<double> q = load_vector();
    velocity_.resize(rows);
    impulse_.resize(rows);
    q_ = q / load_;
    friction_ = file.problem.friction;
    problem_ =
        frictionContactProblem_new_with_data(int(method.dimension), int(file.problem.contact_count),
                                             matrix(), q_.data(), friction_.data());
    numerics_set_verbose(0);
  }

  Answer solve(double tolerance) {
    SolverOptions* const options = solver_options_create(method_.identifier);
    options->dparam[SICONOS_DPARAM_TOL] = tolerance;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = 100'000'000;
    impulse_.setZero();
    velocity_.setZero();
    const auto drive = method_.dimension == 3 ? fc3d_driver : fc2d_driver;
    Answer answer;
    const double begin = thread_seconds();
    answer.info = drive(problem_, impulse_.data(), velocity_.data(), options);
    answer.cpu_seconds = thread_seconds() - begin;
    answer.iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
    answer.residual = options->dparam[SICONOS_DPARAM_RESIDU];
    answer.impulse = files::to_row_order(method_.dimension, impulse_) * (load_ / inverse_mass_);
    solver_options_delete(options);
    return answer;
  }

 private:
  static double positive(double number) { return number > 0 ? number : 1; }

  /// q in the order of the file.
  VectorX<double> load_vector() const {
    VectorX<double> parts(3 * file_.dual.part_count()), rows;
    for (Index part = 0; part < file_.dual.part_count(); ++part) {
      parts.segment<3>(3 * part) = file_.dual.load(part);
    }
    file_.dual.write_rows(parts, rows);
    return files::to_file_order(method_.dimension, rows);
  }

  /// Calls visit(row, column, value) for the entries of W/w in the order of the file.
  template <typename Visit>
  void for_each_entry(const Visit& visit) const {
    const DelassusProblem<double>& dual = file_.dual;
    const Index d = method_.dimension;
    for (Index i = 0; i < dual.count(); ++i) {
      for (const auto* block = dual.begin(i); block != dual.end(i); ++block) {
        for (Index r = 0; r < d; ++r) {
          for (Index c = 0; c < d; ++c) {
            const double value =
                block->matrix(dual.place_of(i, int(r)).row, dual.place_of(block->part, int(c)).row);
            visit(d * i + (r + 1) % d, d * block->part + (c + 1) % d, value / inverse_mass_);
          }
        }
      }
    }
  }

  NumericsMatrix* matrix() const {
    const int size = int(file_.problem.row_count());
    if (method_.storage == Storage::dense) {
      NumericsMatrix* const dense = NM_create(NM_DENSE, size, size);
      std::fill_n(dense->matrix0, Index(size) * size, 0.0);
      for_each_entry([&](Index r, Index c, double value) { dense->matrix0[r + c * size] = value; });
      return dense;
    }
    NumericsMatrix* const sparse = NM_create(NM_SPARSE, size, size);
    const Index d = method_.dimension;
    NM_triplet_alloc(sparse, CS_INT(file_.dual.coupling_count() * d * d));
    for_each_entry([&](Index r, Index c, double value) {
      if (value != 0) NM_entry(sparse, int(r), int(c), value);
    });
    if (method_.storage == Storage::sparse) return sparse;
    SparseBlockStructuredMatrix* const blocks = SBM_new();
    SBM_from_csparse(int(d), NM_csc(sparse), blocks);
    return NM_create_from_data(NM_SPARSE_BLOCK, size, size, blocks);
  }

  const ContactFile& file_;
  Method method_;
  double inverse_mass_, load_;
  VectorX<double> q_, friction_, velocity_, impulse_;
  FrictionContactProblem* problem_ = nullptr;
};

}  // namespace

std::vector<Solver> siconos_solvers() {
  std::vector<Solver> solvers;
  for (const Method& named : methods) {
    const std::string name = named.name;
    const auto same = [&](const Solver& solver) { return solver.name == name; };
    if (std::any_of(solvers.begin(), solvers.end(), same)) continue;
    const auto prepare = [name](const ContactFile& file, double tolerance) -> Solve {
      for (const Method& method : methods) {
        if (name != method.name || method.dimension != file.problem.dimension ||
            file.problem.equality_count() > 0) {
          continue;
        }
        auto problem = std::make_shared<SiconosProblem>(file, method);
        return [problem = std::move(problem), tolerance] { return problem->solve(tolerance); };
      }
      return {};
    };
    solvers.push_back({name, prepare});
  }
  return solvers;
}

}  // namespace carom::benchmarks

#endif
