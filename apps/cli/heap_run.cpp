// SPDX-License-Identifier: BSD-3-Clause
#include "cli/heap_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "carom/solvers/sap_options.hpp"

#include "cli/experiment.hpp"
#include "cli/heap_residual.hpp"

namespace carom::cli {
namespace {

/// Whether SapSolver alone solves the heap, and proves how well.
bool is_convex(const HeapLaw& law) {
  return law.law == FrictionLaw::convex && !law.rigid;
}

ContactSolverOptions<double> settings_of(const HeapLaw& law) {
  ContactSolverOptions<double> settings;
  settings.law = law.law;
  settings.tolerance = law.tolerance;
  if (is_convex(law)) {
    settings.method = ContactMethod::sap;
    settings.iteration_limit = SapOptions<double>().iteration_limit;
  }
  return settings;
}

}  // namespace

HeapRun::HeapRun(const examples::PileShape& shape, examples::Pile pile, const HeapLaw& law)
    : shape_(shape), law_(law), problem_(std::move(pile.problem)), solver_(settings_of(law)) {
  if (law.rigid) problem_.make_rigid();
  velocity_ = VectorX<double>::Zero(problem_.velocity_count());
  displacement_ = velocity_;
}

SolveReport<double> HeapRun::solve(ThreadPool& pool, const SolveLimits& limits) {
  solver_.set_limits(limits);
  const bool from_impulse = solved_ && !is_convex(law_);
  const SolveReport<double> report = from_impulse
                                         ? solver_.solve_from(problem_, impulse_, velocity_, pool)
                                         : solver_.solve(problem_, velocity_, pool);
  impulse_ = solver_.impulse();
  solved_ = true;
  return report;
}

double HeapRun::residual() const {
  return heap_residual(problem_, law_.law, velocity_, impulse_);
}

void HeapRun::advance() {
  const double relaxed = shape_.time_step + shape_.dissipation_time;
  for (Index i = 0; i < problem_.block_count(); ++i) {
    const double opening = problem_.friction_contact(i).velocity(velocity_).z();
    WeightedContact<double> numbers = problem_.friction_contact_law(i);
    numbers.bias_velocity.z() -= shape_.time_step * opening / relaxed;  // v̂ₙ = −ϕ/(δt + τ_d)
    problem_.set_law(i, numbers);
  }
  displacement_ += shape_.time_step * velocity_;
  VectorX<double> free = velocity_;
  for (Index b = 0; b < problem_.body_count(); ++b) {
    free(6 * b + 5) -= earth_gravity * shape_.time_step;
  }
  problem_.set_free_velocity({free.data(), std::size_t(free.size())});
}

double HeapRun::farthest() const {
  double most = 0;
  for (Index b = 0; b < problem_.body_count(); ++b) {
    most = std::max(most, displacement_.segment<3>(6 * b + 3).norm());
  }
  return most;
}

double heap_memory(const examples::PileShape& shape, const HeapLaw& law) {
  const double bodies = double(shape.body_count), contacts = examples::expected_contacts(shape);
  return 3e7 + 2000 * bodies + 2000 * contacts + (is_convex(law) ? 0 : 1e4 * bodies);
}

}  // namespace carom::cli
