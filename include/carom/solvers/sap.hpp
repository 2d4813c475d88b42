// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/contact/detail/contact_graph.hpp"
#include "carom/contact/primal.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/solvers/detail/coulomb_newton.hpp"
#include "carom/solvers/detail/direct_directions.hpp"
#include "carom/solvers/detail/iterative_directions.hpp"
#include "carom/solvers/detail/paced_limits.hpp"
#include "carom/solvers/detail/small_solver.hpp"
#include "carom/solvers/sap_options.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// SAP: Newton's method with an exact line search on the unconstrained form of compliant contact.
///
/// Works in whitened velocities w = Lᵀv, where ℓ(w) = ½‖w − w*‖² + ½‖P(y)‖²_R, the Hessian is
/// I + Ĵᵀ G Ĵ, and the norm of the gradient bounds the distance to the solution in kinetic energy.
/// The step length is the root of the slope along the step, an increasing function, so no
/// difference of costs is ever taken. Islands, bodies connected by contacts, are solved apart; the
/// Hessian of each is sparse, and factored in an order found once per pattern.
///
/// ```
/// carom::SapSolver<double> solver;
/// Eigen::VectorXd velocity = problem.free_velocity();  // or the last step's, as a warm start
/// const auto report = solver.solve(problem, velocity);
/// ```
/// @cite castro2021unconstrained; globally convergent because ℓ is strongly convex and every step
///       is a descent direction with an exact line search. G with the direction of friction as an
///       unknown of its own (chan1999nonlinear) takes half the iterations.
template <RealScalar Scalar>
class SapSolver {
 public:
  using scalar_type = Scalar;

  explicit SapSolver(const SapOptions<Scalar>& options = {}) noexcept : options_(options) {
    CAROM_EXPECTS(options.is_valid());
  }

  /// Movable, not copyable: results are read from the solver's own memory.
  SapSolver(SapSolver&&) noexcept = default;
  SapSolver& operator=(SapSolver&&) noexcept = default;

  [[nodiscard]] const SapOptions<Scalar>& options() const noexcept { return options_; }
  /// Bounds every solve from now on, island by island; a default SolveLimits bounds none. The best
  /// iterate is that of the least ‖∇ℓ‖_{A⁻¹}, under Coulomb's law among those where a stage ends.
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }

  /// Grows memory to the problem's size, so that solve() need not.
  void prepare(const ContactProblem<Scalar>& problem);

  /// Solves the problem from a first guess.
  ///
  /// @param velocity  v [m/s, rad/s], n_v: first guess in, best iterate out. If the guess meets the
  ///                  tolerance it is returned unchanged, in zero iterations. The better of guess,
  ///                  rest and free velocity starts the iteration otherwise, island by island.
  /// @return  residual: ‖∇ℓ‖_{A⁻¹} relative to the momentum_scale() [-]; error_bound:
  ///          ‖∇ℓ‖_{A⁻¹} [√J], which ‖v − v_opt‖_A never exceeds; the duality gap is error_bound²/2
  ///          [J]; infinite under Coulomb's law; iterations: those of the island that took most.
  /// @note  Real-time safe once prepare() has seen a problem of the size: no allocation, no
  ///        exception, at most iteration_limit iterations on every island, each with one
  ///        factorisation, or up to five where round-off asks for more. Another pattern of contacts
  ///        of the same size may need more room, which is then made.
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem,
                            VectorX<Scalar>& velocity) noexcept;

  /// The same with the islands given to an executor.
  /// @param executor  executor(count, task) calls task(i) for every i in [0, count), in any order,
  ///                  on any threads, and returns when all are done; it must not throw. The result
  ///                  is the same to the last bit whatever it does.
  template <typename Executor>
  SolveReport<Scalar> solve(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity,
                            Executor&& executor) noexcept;

  /// γ of the last solve [N·s], stacked block by block, see ContactProblem::first_row(). Zero
  /// where the guess was refused as not finite.
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> impulse() const noexcept {
    return {impulses_.data(), impulses_.size()};
  }
  /// J v of the last solve [m/s, rad/s], stacked alike.
  [[nodiscard]] Eigen::Map<const VectorX<Scalar>> contact_velocity() const noexcept {
    return {row_velocities_.data(), row_velocities_.size()};
  }
  /// Who touches whom in the last problem seen: its islands, and which of them are factored. Of a
  /// small problem, part_at() has the order of an earlier one of the same size.
  [[nodiscard]] const ContactGraph& graph() const noexcept { return graph_; }

 private:
  using Memory = detail::SolverMemory<Scalar>;
  using State = detail::IslandState<Scalar>;
  using Newton = detail::IslandNewton<Scalar>;

  /// What an island's solve came to.
  struct Outcome {
    typename State::Measures measures;
    SolveStatus status;
    int iterations;
    double pace;  ///< longest time between two looks at the clock [s]
    bool moved;
  };
  struct Totals {
    Scalar residual, scale;
  };

  void lay_out(const ContactProblem<Scalar>& problem);
  [[nodiscard]] bool is_small(const ContactProblem<Scalar>& problem) const noexcept;
  SolveReport<Scalar> solve_small(const ContactProblem<Scalar>& problem,
                                  VectorX<Scalar>& velocity) noexcept;
  void take_guess(const ContactProblem<Scalar>& problem, const VectorX<Scalar>& velocity) noexcept;
  void solve_island(Index i, bool iterate) noexcept;
  [[nodiscard]] SolveStatus solve_convex(Index i, State& state, const Scalar& tolerance,
                                         const SolveLimits& limits, int& iterations) noexcept;
  [[nodiscard]] SolveStatus solve_coulomb(Index i, State& state, const SolveLimits& limits,
                                          int& iterations) noexcept;
  [[nodiscard]] Totals total() const noexcept;
  void give_velocity(const ContactProblem<Scalar>& problem, VectorX<Scalar>& velocity) noexcept;
  void write_results(const ContactProblem<Scalar>& problem) noexcept;
  SolveReport<Scalar> refuse_guess() noexcept;

  [[nodiscard]] int iteration_limit() const noexcept {
    return (std::min)(options_.iteration_limit, limits_.iteration_limit);
  }

  SapOptions<Scalar> options_;
  SolveLimits limits_;
  detail::Pace pace_;
  ContactGraph graph_;
  detail::PackedProblem<Scalar> packed_;
  Memory memory_;
  detail::DirectDirections<Scalar> direct_;
  detail::IterativeDirections<Scalar> iterative_;
  detail::CoulombNewton<Scalar> coulomb_;
  Sequence<Outcome> outcomes_;
  Scalar idle_squared_ = 0, idle_free_squared_ = 0;  ///< of bodies without contact
  Sequence<Scalar> impulses_, row_velocities_;
  detail::SmallSolver<Scalar> small_;
  bool small_seen_ = false;  ///< whether the last problem was small
};

// --- implementation ---

// Outside of the class, so that carom::compiled takes their compile time away.
template <RealScalar Scalar>
void SapSolver<Scalar>::prepare(const ContactProblem<Scalar>& problem) {
  lay_out(problem);
}

template <RealScalar Scalar>
SolveReport<Scalar> SapSolver<Scalar>::solve(const ContactProblem<Scalar>& problem,
                                             VectorX<Scalar>& velocity) noexcept {
  return solve(problem, velocity, [](Index count, auto&& task) {
    for (Index i = 0; i < count; ++i) task(i);
  });
}

template <RealScalar Scalar>
void SapSolver<Scalar>::lay_out(const ContactProblem<Scalar>& problem) {
  const int analysed = graph_.analysis_count(), laid_out = graph_.layout_count();
  graph_.analyse(problem, options_.factor_work_limit);
  small_seen_ = false;
  impulses_.resize(problem.impulse_count());
  row_velocities_.resize(problem.impulse_count());
  direct_.follow(graph_);  // the solver may have been moved
  coulomb_.follow(graph_);
  if (laid_out == graph_.layout_count()) return;
  small_.reserve(problem.velocity_count(), problem.block_count());
  packed_.lay_out(graph_);
  memory_.lay_out(packed_);
  outcomes_.reserve(problem.body_count());
  outcomes_.resize(graph_.islands().size());
  if (options_.law == FrictionLaw::coulomb) coulomb_.lay_out_contacts(packed_);
  if (analysed == graph_.analysis_count()) return;
  direct_.lay_out(graph_, packed_);
  if (options_.law == FrictionLaw::coulomb) coulomb_.lay_out(graph_, packed_);
  iterative_.lay_out(packed_);
}

template <RealScalar Scalar>
bool SapSolver<Scalar>::is_small(const ContactProblem<Scalar>& problem) const noexcept {
  return options_.law == FrictionLaw::convex && options_.factor_work_limit > 0 &&
         problem.block_count() <= options_.small_contact_limit && detail::is_small(problem);
}

template <RealScalar Scalar>
SolveReport<Scalar> SapSolver<Scalar>::solve_small(const ContactProblem<Scalar>& problem,
                                                   VectorX<Scalar>& velocity) noexcept {
  // The pattern, which graph() is to know, is no more than these numbers.
  if (!small_seen_ || !small_.fits(problem)) lay_out(problem);
  small_seen_ = true;
  small_.lay_out(problem);
  impulses_.resize(problem.impulse_count());
  row_velocities_.resize(problem.impulse_count());
  if (!velocity.allFinite()) return refuse_guess();
  return small_.solve(
      problem, velocity,
      {options_.tolerance, iteration_limit(), options_.line_search_tolerance, limits_},
      impulses_.data(), row_velocities_.data());
}

/// Whitens guess and free velocity into the packed vectors; measures the bodies left out.
template <RealScalar Scalar>
void SapSolver<Scalar>::take_guess(const ContactProblem<Scalar>& problem,
                                   const VectorX<Scalar>& velocity) noexcept {
  idle_squared_ = idle_free_squared_ = 0;
  const auto free = problem.whitened_free_velocity();
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    if (const int slot = graph_.slot_of(b); slot >= 0) {
      const Index place = packed_.starts()[slot];
      Scalar* const whitened = memory_.vector(Memory::whitened) + place;
      std::copy_n(velocity.data() + start, size, whitened);
      multiply_lower_transposed(problem.momentum_factor(b).data(), size, size, whitened);
      std::copy_n(free.data() + start, size, memory_.vector(Memory::free) + place);
      continue;
    }
    const auto change =
        velocity.segment(start, size) - problem.free_velocity().segment(start, size);
    const auto momentum = problem.momentum_matrix(b);
    for (Index c = 0; c < size; ++c) idle_squared_ += momentum.col(c).dot(change) * change(c);
    idle_free_squared_ += free.segment(start, size).squaredNorm();
  }
}

/// Evaluates an island at the guess, or solves it from there.
template <RealScalar Scalar>
void SapSolver<Scalar>::solve_island(Index i, bool iterate) noexcept {
  State state(packed_, memory_, packed_.islands()[i], options_.law);
  Outcome& outcome = outcomes_[i];
  if (!iterate) {
    state.evaluate();
  } else {
    static_cast<typename State::Measures&>(state) = outcome.measures;
    const Newton newton(state, memory_, {options_.tolerance, 0, Scalar(0)});
    if (newton.meets_target()) {
      outcome.status = SolveStatus::converged;
    } else {
      detail::PacedLimits pace(limits_, pace_.expected);
      const SolveLimits limits = pace.limits();
      outcome.status = options_.law == FrictionLaw::coulomb
                           ? solve_coulomb(i, state, limits, outcome.iterations)
                           : solve_convex(i, state, options_.tolerance, limits, outcome.iterations);
      outcome.pace = pace.longest();
      // A start that leaves the range of numbers stays what it was.
      outcome.moved = state.residual <= (std::numeric_limits<Scalar>::max)();
    }
  }
  outcome.measures = state;
}

/// Solves an island under the convex law from the iterate last evaluated.
template <RealScalar Scalar>
SolveStatus SapSolver<Scalar>::solve_convex(Index i, State& state, const Scalar& tolerance,
                                            const SolveLimits& limits, int& iterations) noexcept {
  Newton newton(state, memory_,
                {tolerance, iteration_limit(), options_.line_search_tolerance, limits});
  newton.start_from_best();
  if (newton.meets_target()) return SolveStatus::converged;
  if (!(state.residual <= (std::numeric_limits<Scalar>::max)())) return SolveStatus::not_finite;
  newton.forget_regions();
  return newton.iterate(iterations, [&](const Newton& now) {
    return state.island().direct ? direct_.find_direction(now, state)
                                 : iterative_.find_direction(now, state, i);
  });
}

/// Solves an island under Coulomb's law from the iterate last evaluated.
template <RealScalar Scalar>
SolveStatus SapSolver<Scalar>::solve_coulomb(Index i, State& state, const SolveLimits& limits,
                                             int& iterations) noexcept {
  const Newton judge(state, memory_, {options_.tolerance, iteration_limit(), Scalar(0), limits});
  return coulomb_.solve(packed_, state, memory_, judge, iterations, [&](const Scalar& tolerance) {
    State convex(packed_, memory_, state.island());
    convex.evaluate();
    return solve_convex(i, convex, tolerance, limits, iterations);
  });
}

template <RealScalar Scalar>
typename SapSolver<Scalar>::Totals SapSolver<Scalar>::total() const noexcept {
  using std::sqrt;
  Scalar residual = idle_squared_, free = idle_free_squared_, pushed = 0, gross = 0;
  for (const Outcome& outcome : outcomes_) {
    const auto& own = outcome.measures;
    residual += own.residual * own.residual;
    free += own.free_squared;
    pushed += own.pushed_squared;
    gross += own.gross_squared;
  }
  return {sqrt(residual), momentum_scale(free, pushed, gross)};
}

/// Writes the velocities of the islands that moved, and of bodies without contact.
template <RealScalar Scalar>
void SapSolver<Scalar>::give_velocity(const ContactProblem<Scalar>& problem,
                                      VectorX<Scalar>& velocity) noexcept {
  for (Index b = 0; b < problem.body_count(); ++b) {
    if (graph_.slot_of(b) >= 0) continue;
    const auto [start, size] = problem.body(b);
    velocity.segment(start, size) = problem.free_velocity().segment(start, size);
  }
  idle_squared_ = 0;
  for (Index i = 0; i < outcomes_.size(); ++i) {
    if (!outcomes_[i].moved) continue;
    const FrontRange& range = packed_.islands()[i].range;
    for (int slot = range.first_slot; slot < range.slot_end; ++slot) {
      const int body = graph_.body_at(slot);
      const auto [start, size] = problem.body(body);
      std::copy_n(memory_.vector(Memory::whitened) + packed_.starts()[slot], size,
                  velocity.data() + start);
      solve_lower_transposed(problem.momentum_factor(body).data(), size, size,
                             velocity.data() + start);
    }
  }
}

template <RealScalar Scalar>
void SapSolver<Scalar>::write_results(const ContactProblem<Scalar>& problem) noexcept {
  packed_.for_each_friction_contact(graph_, [&](Index block, Index place) {
    const Index first = problem.first_row(block);
    for (int k = 0; k < 3; ++k) {
      impulses_[first + k] = memory_.contact(Memory::impulse, k)[place];
      row_velocities_[first + k] = memory_.contact(Memory::velocity, k)[place];
    }
  });
  for (const detail::PackedIsland& island : packed_.islands()) {
    const State state(packed_, memory_, island);
    for (Index c = island.first_other; c < island.other_end; ++c) {
      const detail::PackedBlock<Scalar>& other = packed_.other(c);
      const auto gamma = state.rows_of(other, Memory::impulse);
      const auto velocity = state.rows_of(other, Memory::velocity);
      const Index first = problem.first_row(other.number);
      for (int i = 0; i < other.set.rows; ++i) {
        impulses_[first + i] = other.scale(i) * gamma(i);
        row_velocities_[first + i] = velocity(i) / other.scale(i);
      }
    }
  }
}

template <RealScalar Scalar>
SolveReport<Scalar> SapSolver<Scalar>::refuse_guess() noexcept {
  SolveReport<Scalar> report;
  report.residual_target = options_.tolerance;
  report.residual = report.error_bound = std::numeric_limits<Scalar>::infinity();
  report.measure = ResidualMeasure::momentum_balance;
  for (Sequence<Scalar>* triples : {&impulses_, &row_velocities_}) {
    std::fill(triples->begin(), triples->end(), Scalar(0));
  }
  return report;
}

template <RealScalar Scalar>
template <typename Executor>
SolveReport<Scalar> SapSolver<Scalar>::solve(const ContactProblem<Scalar>& problem,
                                             VectorX<Scalar>& velocity,
                                             Executor&& executor) noexcept {
  CAROM_EXPECTS(velocity.size() == problem.velocity_count());
  if (is_small(problem)) return solve_small(problem, velocity);
  lay_out(problem);
  if (!velocity.allFinite()) return refuse_guess();
  packed_.pack(problem, graph_);
  take_guess(problem, velocity);
  const Index islands = packed_.islands().size();
  for (Outcome& outcome : outcomes_) outcome = Outcome{};
  executor(islands, [this](Index i) { solve_island(i, false); });
  SolveReport<Scalar> report;
  report.residual_target = options_.tolerance;
  Totals totals = total();
  const auto met = [&] {
    return detail::meets_tolerance(totals.residual, totals.scale, options_.tolerance);
  };
  report.status = SolveStatus::converged;
  if (!met()) {
    executor(islands, [this](Index i) { solve_island(i, true); });
    give_velocity(problem, velocity);
    totals = total();
    double pace = 0;
    for (const Outcome& outcome : outcomes_) {
      pace = (std::max)(pace, outcome.pace);
      report.iterations = (std::max)(report.iterations, outcome.iterations);
      if (outcome.status != SolveStatus::converged) report.status = outcome.status;
    }
    pace_.learn(pace);
    if (met()) report.status = SolveStatus::converged;
  }
  write_results(problem);
  detail::finish_report(totals.residual, totals.scale, report);
  if (options_.law == FrictionLaw::coulomb) {
    report.error_bound = std::numeric_limits<Scalar>::infinity();
  }
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
