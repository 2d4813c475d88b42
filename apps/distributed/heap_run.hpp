// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include <Eigen/Core>

#include "carom/adapters/petsc_certificate.hpp"
#include "carom/adapters/petsc_contact.hpp"

#include "distributed/heap_part.hpp"

namespace carom::distributed {

/// How a heap is solved.
struct HeapLaw {
  FrictionLaw law = FrictionLaw::convex;
  bool rigid = false;
  double tolerance = 1e-8;  ///< PetscContactOptions::tolerance, > 0.
};

/// A heap on all ranks that moves in steps of time. The velocities follow the contact solver, the
/// gaps of the contacts follow the velocities. Points and normals stay where they are, and so does
/// the list of contacts, which is right as long as bodies move by much less than their size.
class HeapRun {
 public:
  /// Every rank calls it, and makes its own part.
  HeapRun(MPI_Comm communicator, const examples::PileShape& shape, const HeapLaw& law)
      : shape_(shape), law_(law), problem_(communicator, shape.time_step) {
    int rank = 0, rank_count = 1;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &rank_count);
    const HeapLayout layout(shape, rank_count);
    problem_.fill([&](PetscContactProblem& part) { HeapPart(shape, layout, rank).add_to(part); });
    if (law.rigid) problem_.local().make_rigid();
    velocity_ = VectorX<double>::Zero(problem_.local().velocity_count());
    solver_ = std::make_unique<PetscContactSolver>(settings());
  }

  [[nodiscard]] const PetscContactProblem& problem() const noexcept { return problem_; }
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const PetscCounts& counts() const noexcept { return solver_->counts(); }

  /// Solves the step. The first one begins at rest, those that follow at the answer before.
  SolveReport<double> solve() { return solver_->solve(problem_, velocity_); }
  /// Residual of the answer, computed anew [-]: the balance of momenta of compliant contact under
  /// the convex law, the natural map of other laws.
  [[nodiscard]] double residual() const {
    const PetscCertificate found = certify(problem_, velocity_, solver_->impulse(), law_.law);
    return is_convex() ? found.velocity_residual : found.natural_map_error;
  }
  /// Goes on to the next step: its free velocities and gaps.
  void advance() {
    ContactProblem<double>& local = problem_.local();
    const double relaxed = shape_.time_step + shape_.dissipation_time;
    for (Index i = 0; i < local.block_count(); ++i) {
      const double opening = local.friction_contact(i).velocity(velocity_).z();
      WeightedContact<double> numbers = local.friction_contact_law(i);
      numbers.bias_velocity.z() -= shape_.time_step * opening / relaxed;  // v̂ₙ = −ϕ/(δt + τ_d)
      local.set_law(i, numbers);
    }
    constexpr double earth_gravity = 9.81;  // [m/s²]
    VectorX<double> free = velocity_;
    for (Index b = 0; b < local.body_count(); ++b) {
      free(6 * b + 5) -= earth_gravity * shape_.time_step;
    }
    local.set_free_velocity({free.data(), std::size_t(free.size())});
  }

 private:
  [[nodiscard]] bool is_convex() const noexcept {
    return law_.law == FrictionLaw::convex && !law_.rigid;
  }
  [[nodiscard]] PetscContactOptions settings() const {
    PetscContactOptions settings;
    settings.law = law_.law;
    settings.tolerance = law_.tolerance;
    return settings;
  }

  examples::PileShape shape_;
  HeapLaw law_;
  PetscContactProblem problem_;
  VectorX<double> velocity_;
  std::unique_ptr<PetscContactSolver> solver_;
};

}  // namespace carom::distributed
