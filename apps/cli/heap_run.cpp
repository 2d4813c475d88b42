// SPDX-License-Identifier: BSD-3-Clause
#include "cli/heap_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "carom/solvers/sap_options.hpp"
#include "carom/solvers/search/judged_rounds.hpp"

#include "cli/experiment.hpp"
#include "cli/heap_residual.hpp"

namespace carom::cli {
namespace {

/// Whether SapSolver alone solves the heap and proves its error.
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

// The largest resident memory was measured for heaps of 300 to 10,000 bodies. These numbers are
// above all measurements. If they were too small, an accepted heap could run out of memory.
constexpr double program_bytes = 1.6e7;
constexpr double body_bytes = 6000;     ///< of the problem and SapSolver, per body
constexpr double contact_bytes = 1450;  ///< the same, per contact
constexpr double copy_bytes = 1000;     ///< of ProximalSolver, with its bodies, per contact
constexpr double proximal_contacts = double(carom::detail::ContactSolverTuning::proximal_blocks);
constexpr double margin = 1.15;  ///< covers the differences between runs of one heap, and more

/// One triangle of a factor of all bodies [bytes]. A wide heap is a square of s × s columns with
/// ten bodies each, which have sixty unknowns. Nested dissection results in 31/4 s² log₂ s blocks
/// of such a square [george1973nested]. This number is doubled, because a minimum-degree order has
/// more blocks and fronts are stored in addition to the factor: 10,000 bodies needed 1.1 times this
/// number. Small heaps are pyramids and need less, 60 kB per body for a thousand bodies.
double factor_memory(const examples::PileShape& shape) {
  const double bodies = double(shape.body_count), side = double(shape.side());
  const double block = 60.0 * 60.0 * sizeof(double);
  const double small = 6e4 * bodies * std::pow(bodies / 1000, 0.8);
  return std::min(small, 2 * 7.75 * side * side * std::log2(side + 1) * block);
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
  const double linear = program_bytes + body_bytes * bodies + contact_bytes * contacts;
  if (is_convex(law)) return margin * linear;
  // ProximalSolver stores a copy of the problem instead of a factor.
  if (law.rigid == (law.law == FrictionLaw::convex) && contacts >= proximal_contacts) {
    return margin * (linear + copy_bytes * contacts);
  }
  // Under Coulomb's law a factor has two triangles. A compliant heap has one triangle in each of
  // two solvers.
  const double factors = law.law == FrictionLaw::convex ? 1 : law.rigid ? 2 : 4;
  return margin * (linear + factors * factor_memory(shape));
}

}  // namespace carom::cli
