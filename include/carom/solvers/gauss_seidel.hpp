// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

#include "carom/cones/convex_contact.hpp"
#include "carom/cones/coulomb_contact.hpp"
#include "carom/core/solve_limits.hpp"
#include "carom/solvers/rows/dual_blocks.hpp"
#include "carom/solvers/search/block_sweep.hpp"
#include "carom/solvers/search/dual_iterate.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The order in which contacts are visited.
enum class VisitOrder {
  forward,      ///< in the order of addition
  alternating,  ///< forward, then backward
  outward,      ///< by distance from the contact with the largest load
};

/// Options of GaussSeidel.
template <RealScalar Scalar>
struct GaussSeidelOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// The solve ends at this natural map error [-], > 0: ImpulseCertificate::natural_map_error.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  int iteration_limit = 10000;  ///< Largest count of sweeps, ≥ 0.
  /// ω [-], in (0, 2): impulses move by ω times the change for their own contact.
  Scalar relaxation = 1;
  VisitOrder order = VisitOrder::forward;
  /// A contact that was open in this count of visits, ≥ 1, is visited in every second sweep, then
  /// in every fourth, up to every sixteenth. The reported error is measured on all contacts.
  int visits_to_sleep = 3;
};

/// Block Gauss-Seidel on impulses: each contact in turn is solved exactly with the others fixed.
///
/// Sweeps are cheap and need no factorisation. Some tens of them result in a few digits; more
/// digits need many sweeps for stacks and different masses. Singular blocks are solved in a
/// proximal step. The unknowns are impulses γ whose velocities u = (W + R) γ + q obey the law. The
/// sweeps end if the natural map error is at most the tolerance, or if they change only the last
/// digit.
///
/// ```
/// carom::GaussSeidel<double> solver({.tolerance = 1e-6});
/// Eigen::VectorXd impulse = Eigen::VectorXd::Zero(problem.row_count());
/// const auto report = solver.solve(problem, impulse);
/// ```
/// @cite acary2018coulomb, NSGS, with the contact solved as in coulomb_contact.hpp; no proof of
///       convergence exists for Coulomb's law. For the convex law it descends.
template <RealScalar Scalar>
class GaussSeidel {
 public:
  using scalar_type = Scalar;

  explicit GaussSeidel(const GaussSeidelOptions<Scalar>& options = {}) noexcept
      : options_(options) {
    CAROM_EXPECTS(options.tolerance > Scalar(0));
    CAROM_EXPECTS(options.iteration_limit >= 0);
    CAROM_EXPECTS(options.relaxation > Scalar(0) && options.relaxation < Scalar(2));
    CAROM_EXPECTS(options.visits_to_sleep >= 1);
  }
  [[nodiscard]] const GaussSeidelOptions<Scalar>& options() const noexcept { return options_; }
  /// Sets the residual for all later solves [-], > 0.
  void set_tolerance(Scalar tolerance) noexcept {
    CAROM_EXPECTS(tolerance > Scalar(0));
    options_.tolerance = tolerance;
  }
  /// Sets the limits of all later solves; a default SolveLimits has no limit. With a clock each
  /// sweep is measured, which doubles its cost.
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }

  /// Reads the contacts' own blocks and the order of visits. Call it again if the problem changes,
  /// except for another load.
  /// @note  Allocates only for a problem larger than every problem before.
  void prepare(const DelassusProblem<Scalar>& problem);

  /// Sweeps over all contacts.
  /// @param impulse  γ in parts, 3 part_count(), with zeros in empty rows; updated.
  /// @return  ‖change of γ‖ in the last sweep [N·s].
  /// @pre   prepare() was called for the problem.
  /// @note  Real-time safe: no allocation, no exception.
  Scalar sweep(const DelassusProblem<Scalar>& problem, std::span<Scalar> impulse,
               int count) noexcept {
    CAROM_EXPECTS(Index(impulse.size()) == 3 * problem.part_count());
    Scalar change(0);
    for (int k = 0; k < count; ++k) change = sweep_once(problem, impulse.data());
    return change;
  }

  /// Solves from a first guess.
  /// @param impulse  γ in rows, row_count(): in: guess, out: best iterate.
  /// @return  residual: natural map error [-], that of certify(); iterations: sweeps.
  /// @note  Real-time safe after prepare() for a problem of this size: no allocation, no exception.
  SolveReport<Scalar> solve(const DelassusProblem<Scalar>& problem,
                            VectorX<Scalar>& impulse) noexcept {
    return solve(problem, as_span(impulse));
  }
  SolveReport<Scalar> solve(const DelassusProblem<Scalar>& problem,
                            std::span<Scalar> impulse) noexcept;

 private:
  using Tuning = detail::GaussSeidelTuning;

  enum class Kind : unsigned char { triple, rows };
  /// A contact in the list of its type, and its state of rest.
  struct Visit : detail::DualVisit {
    Kind kind;
    int place;
  };

  void find_order(const DelassusProblem<Scalar>& problem) {
    order_.resize(problem.count());
    for (Index i = 0; i < problem.count(); ++i) order_[i] = int(i);
    if (options_.order == VisitOrder::outward && problem.count() > 0) {
      detail::order_outward(problem, order_, seen_);
    }
  }
  /// Returns false if all contacts were awake.
  bool wake_sleepers() noexcept {
    bool any = false;
    for (Visit& visit : visits_) {
      any = any || visit.wake > sweeps_;
      visit.quiet = visit.wake = 0;
    }
    return any;
  }
  Scalar sweep_once(const DelassusProblem<Scalar>& problem, Scalar* impulse) noexcept {
    return options_.law == FrictionLaw::coulomb ? sweep_triples(problem, coulomb_, impulse)
                                                : sweep_triples(problem, convex_, impulse);
  }
  template <typename Triples>
  Scalar sweep_triples(const DelassusProblem<Scalar>& problem, Triples& triples,
                       Scalar* impulse) noexcept;

  GaussSeidelOptions<Scalar> options_;
  SolveLimits limits_;
  Sequence<Visit> visits_;
  Sequence<detail::LocalTriple<Scalar, CoulombInverseMass<Scalar>>> coulomb_;
  Sequence<detail::LocalTriple<Scalar, ConvexInverseMass<Scalar>>> convex_;
  Sequence<detail::LocalRows<Scalar>> rows_;
  Sequence<int> order_, seen_;
  detail::DualIterate<Scalar> iterate_;
  int sweeps_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
void GaussSeidel<Scalar>::prepare(const DelassusProblem<Scalar>& problem) {
  iterate_.reserve(problem);
  const bool coulomb = options_.law == FrictionLaw::coulomb;
  const Scalar mean = problem.inverse_mass_scale();
  Index triples = 0, others = 0;
  const auto is_triple = [&](Index i) {
    const ImpulseShape shape = problem.set(i).shape;
    return shape == ImpulseShape::friction || shape == ImpulseShape::planar ||
           shape == ImpulseShape::elliptic;
  };
  for (Index i = 0; i < problem.count(); ++i) ++(is_triple(i) ? triples : others);
  coulomb_.resize(coulomb ? triples : 0);
  convex_.resize(coulomb ? 0 : triples);
  rows_.resize(others);
  visits_.resize(problem.count());
  triples = others = 0;
  for (Index i = 0; i < problem.count(); ++i) {
    const Index part = problem.first_part(i);
    const auto* own = problem.begin(part);
    while (own->part != part) ++own;
    visits_[i] = {{int(part), int(own - problem.begin(part)), 0, 0}, Kind::triple, 0};
    if (is_triple(i)) {
      visits_[i].place = int(triples);
      if (coulomb) {
        coulomb_[triples++].prepare(problem.set(i), problem.diagonal(part), mean);
      } else {
        convex_[triples++].prepare(problem.set(i), problem.diagonal(part), mean);
      }
      continue;
    }
    visits_[i].kind = Kind::rows;
    visits_[i].place = int(others);
    rows_[others++].prepare(options_.law, problem.set(i), detail::own_rows(problem, i), mean);
  }
  find_order(problem);
  sweeps_ = 0;
}

template <RealScalar Scalar>
template <typename Triples>
Scalar GaussSeidel<Scalar>::sweep_triples(const DelassusProblem<Scalar>& problem, Triples& triples,
                                          Scalar* impulse) noexcept {
  using std::sqrt;
  const bool backward = options_.order == VisitOrder::alternating && sweeps_ % 2 == 1;
  Scalar change(0);
  const detail::DualVisits<Scalar> visits{options_.relaxation, options_.visits_to_sleep, sweeps_};
  detail::sweep_blocks(order_.size(), backward, [&](Index k, auto&& solve) noexcept {
    const Index contact = order_[k];
    Visit& visit = visits_[contact];
    if (visit.wake > sweeps_) return;
    if (visit.kind == Kind::triple) {
      auto& triple = triples[visit.place];
      using Triple = std::remove_reference_t<decltype(triple)>;
      solve(detail::DualTriple<Scalar, Triple>{problem, visits, visit, triple, impulse, change});
    } else {
      solve(detail::DualRows<Scalar>{problem, contact, rows_[visit.place], impulse, change});
    }
  });
  ++sweeps_;
  return sqrt(change);
}

template <RealScalar Scalar>
SolveReport<Scalar> GaussSeidel<Scalar>::solve(const DelassusProblem<Scalar>& problem,
                                               std::span<Scalar> impulse) noexcept {
  CAROM_EXPECTS(!problem.matrix_free());
  CAROM_EXPECTS(Index(impulse.size()) == problem.row_count());
  Eigen::Map<VectorX<Scalar>> rows(impulse.data(), Index(impulse.size()));
  prepare(problem);
  const auto finish = [&](SolveStatus status, int sweeps) {
    return iterate_.finish(problem, status, sweeps, options_.tolerance, rows);
  };
  if (!iterate_.start(problem, rows)) return finish(SolveStatus::not_finite, 0);
  Scalar error = iterate_.measure(problem, options_.law);
  if (!detail::is_finite(error)) return finish(SolveStatus::not_finite, 0);
  // A measurement costs a sweep: it is done from time to time, and if the change is small enough.
  constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
  Scalar expected(1);  // error per change
  int sweep_number = 0, measured = 0;
  const bool timed = limits_.now != nullptr;  // any sweep may be the last, so each is measured
  if (timed) iterate_.confine_best(problem, options_.law);
  const int limit = (std::min)(options_.iteration_limit, limits_.iteration_limit);
  while (!(iterate_.best_error() <= options_.tolerance)) {
    if (sweep_number == limit) return finish(SolveStatus::iteration_limit, sweep_number);
    if (limits_.is_over()) return finish(SolveStatus::deadline, sweep_number);
    const Scalar change = sweep_once(problem, iterate_.impulse());
    ++sweep_number;
    const Scalar size =
        Eigen::Map<const VectorX<Scalar>>(iterate_.impulse(), 3 * problem.part_count()).norm();
    const Scalar relative =
        change /
        (std::max)(size, problem.load_norm() / (std::max)(problem.mean_diagonal(),
                                                          (std::numeric_limits<Scalar>::min)()));
    const bool still = !(relative > 2 * rounding);
    const bool due =
        problem.count() == 1 ||
        sweep_number - measured >= Tuning::sweeps_to_measure + measured / Tuning::sweeps_per_delay;
    if (!timed && !still && !due && relative * expected > options_.tolerance &&
        sweep_number < limit) {
      continue;
    }
    error = iterate_.measure(problem, options_.law);
    if (!detail::is_finite(error)) return finish(SolveStatus::not_finite, sweep_number);
    if (relative > Scalar(0)) expected = error / relative;
    measured = sweep_number;
    if (error <= options_.tolerance) break;
    if (still && !wake_sleepers()) return finish(SolveStatus::no_progress, sweep_number);
  }
  return finish(SolveStatus::converged, sweep_number);
}

}  // namespace CAROM_ABI
}  // namespace carom
