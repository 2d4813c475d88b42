// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "carom/cones/convex_contact.hpp"
#include "carom/cones/coulomb_contact.hpp"
#include "carom/core/solve_limits.hpp"
#include "carom/solvers/detail/dual_iterate.hpp"
#include "carom/solvers/detail/impulse_solver_tuning.hpp"
#include "carom/solvers/detail/local_rows.hpp"
#include "carom/solvers/detail/local_triple.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// In which order contacts are visited.
enum class VisitOrder {
  forward,      ///< as they were added
  alternating,  ///< forward, then backward
  outward,      ///< by distance from the contact with the largest load
};

/// What GaussSeidel is asked for, and how it sweeps.
template <RealScalar Scalar>
struct GaussSeidelOptions {
  FrictionLaw law = FrictionLaw::coulomb;
  /// Natural map error at which to stop [-], > 0: ImpulseCertificate::natural_map_error.
  Scalar tolerance = std::sqrt(std::numeric_limits<Scalar>::epsilon());
  int iteration_limit = 10000;  ///< Most sweeps, ≥ 0.
  /// ω [-], in (0, 2): impulses move by ω times what their own contact asks for.
  Scalar relaxation = 1;
  VisitOrder order = VisitOrder::forward;
  /// A contact that was open in this many visits, ≥ 1, is visited every second sweep, then every
  /// fourth, up to every sixteenth. What is reported is measured on all contacts.
  int visits_to_sleep = 3;
};

/// Block Gauss-Seidel on impulses: every contact in turn is solved exactly with the others held.
///
/// Cheap sweeps without any factorisation; good to a few digits in tens of sweeps, slow after that
/// on stacks and where masses differ. Singular blocks are solved in a proximal step.
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
  /// Bounds every solve() from now on; a default SolveLimits bounds none. Under a clock every sweep
  /// is measured, which doubles its cost.
  void set_limits(const SolveLimits& limits) noexcept { limits_ = limits; }

  /// Reads the contacts' own blocks and the order of visits. To be repeated when the problem
  /// changes, but not for another load.
  /// @note  Allocates beyond the largest problem so far.
  void prepare(const DelassusProblem<Scalar>& problem);

  /// Sweeps over all contacts.
  /// @param impulse  γ in parts, 3 part_count(), with zeros in empty rows; updated.
  /// @return  ‖change of γ‖ in the last sweep [N·s].
  /// @pre   prepare() has seen the problem.
  /// @note  Real-time safe: no allocation, no exception.
  Scalar sweep(const DelassusProblem<Scalar>& problem, std::span<Scalar> impulse,
               int count) noexcept {
    CAROM_EXPECTS(Index(impulse.size()) == 3 * problem.part_count());
    Scalar change(0);
    for (int k = 0; k < count; ++k) change = sweep_once(problem, impulse.data());
    return change;
  }

  /// Solves from a first guess.
  /// @param impulse  γ in rows, row_count(): guess in, best iterate out.
  /// @return  residual: natural map error [-], that of certify(); iterations: sweeps.
  /// @note  Real-time safe once prepare() has seen a problem of the size: no allocation, no
  ///        exception.
  SolveReport<Scalar> solve(const DelassusProblem<Scalar>& problem,
                            VectorX<Scalar>& impulse) noexcept {
    return solve(problem, as_span(impulse));
  }
  SolveReport<Scalar> solve(const DelassusProblem<Scalar>& problem,
                            std::span<Scalar> impulse) noexcept;

 private:
  using Tuning = detail::GaussSeidelTuning;

  enum class Kind : unsigned char { triple, rows };
  /// A contact among those of its kind, and how it rests.
  struct Visit {
    Kind kind;
    int place;
    int part;
    int own;    ///< its block among those of its part
    int quiet;  ///< visits in a row in which it was and stayed open
    int wake;   ///< sweep of the next visit
  };

  void find_order(const DelassusProblem<Scalar>& problem);
  /// False when all were awake.
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
  template <typename Triple>
  Scalar visit_triple(const DelassusProblem<Scalar>& problem, Visit& visit, Triple& triple,
                      Scalar* impulse) noexcept;
  Scalar visit_rows(const DelassusProblem<Scalar>& problem, Index contact, Visit& visit,
                    Scalar* impulse) noexcept;
  [[nodiscard]] RowNumbers<Scalar> velocity_without(const DelassusProblem<Scalar>& problem,
                                                    Index contact,
                                                    const Scalar* impulse) const noexcept;
  [[nodiscard]] SquareMatrix<Scalar, 6> own_matrix(const DelassusProblem<Scalar>& problem,
                                                   Index contact) const noexcept;

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
  const Scalar mean = problem.mean_diagonal() > Scalar(0) ? problem.mean_diagonal() : Scalar(1);
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
    visits_[i] = {Kind::triple, 0, int(part), int(own - problem.begin(part)), 0, 0};
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
    rows_[others++].prepare(options_.law, problem.set(i), own_matrix(problem, i), mean);
  }
  find_order(problem);
  sweeps_ = 0;
}

template <RealScalar Scalar>
void GaussSeidel<Scalar>::find_order(const DelassusProblem<Scalar>& problem) {
  const Index count = problem.count();
  order_.resize(count);
  for (Index i = 0; i < count; ++i) order_[i] = int(i);
  if (options_.order != VisitOrder::outward || count == 0) return;
  // Breadth first; a new start wherever nothing else is reached.
  std::sort(order_.begin(), order_.end(), [&](int a, int b) {
    const Scalar x = problem.load(problem.first_part(a)).squaredNorm();
    const Scalar y = problem.load(problem.first_part(b)).squaredNorm();
    return x != y ? x > y : a < b;
  });
  seen_.resize(2 * count);  // contacts in the order found, then whether they were
  std::fill(seen_.begin() + count, seen_.end(), 0);
  Index found = 0, next = 0;
  for (const int start : order_) {
    if (seen_[count + start] == 0) {
      seen_[count + start] = 1;
      seen_[found++] = start;
    }
    for (; next < found; ++next) {
      const Index contact = seen_[next];
      for (int p = 0; p < problem.parts(contact); ++p) {
        const Index part = problem.first_part(contact) + p;
        for (const auto* n = problem.begin(part); n != problem.end(part); ++n) {
          const int other = int(problem.part_contact(n->part));
          if (seen_[count + other] != 0) continue;
          seen_[count + other] = 1;
          seen_[found++] = other;
        }
      }
    }
  }
  std::copy_n(seen_.begin(), count, order_.begin());
}

template <RealScalar Scalar>
SquareMatrix<Scalar, 6> GaussSeidel<Scalar>::own_matrix(const DelassusProblem<Scalar>& problem,
                                                        Index contact) const noexcept {
  const SquareMatrix<Scalar, 6> parts = detail::own_block(problem, contact);
  const auto place = [&](int row) {
    const auto at = problem.place_of(contact, row);
    return 3 * (at.part - problem.first_part(contact)) + at.row;
  };
  SquareMatrix<Scalar, 6> w = SquareMatrix<Scalar, 6>::Zero();
  const int rows = problem.set(contact).rows;
  for (int c = 0; c < rows; ++c) {
    for (int r = 0; r < rows; ++r) w(r, c) = parts(place(r), place(c));
  }
  return w;
}

/// u of a contact's rows but for what its own impulse does.
template <RealScalar Scalar>
RowNumbers<Scalar> GaussSeidel<Scalar>::velocity_without(const DelassusProblem<Scalar>& problem,
                                                         Index contact,
                                                         const Scalar* impulse) const noexcept {
  const Index first = problem.first_part(contact), end = first + problem.parts(contact);
  Vector<Scalar, 6> sums = Vector<Scalar, 6>::Zero();
  for (Index part = first; part < end; ++part) {
    Vector3<Scalar> sum = problem.load(part);
    for (const auto* n = problem.begin(part); n != problem.end(part); ++n) {
      if (n->part >= first && n->part < end) continue;
      const Scalar* const x = impulse + 3 * Index(n->part);
      sum += n->matrix.col(0) * x[0] + n->matrix.col(1) * x[1] + n->matrix.col(2) * x[2];
    }
    sums.template segment<3>(3 * (part - first)) = sum;
  }
  RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
  for (int r = 0; r < problem.set(contact).rows; ++r) {
    const auto [part, row] = problem.place_of(contact, r);
    rows(r) = sums(3 * (part - first) + row);
  }
  return rows;
}

template <RealScalar Scalar>
template <typename Triple>
Scalar GaussSeidel<Scalar>::visit_triple(const DelassusProblem<Scalar>& problem, Visit& visit,
                                         Triple& triple, Scalar* impulse) noexcept {
  Vector3<Scalar> velocity = problem.load(visit.part);
  const auto add = [&](const auto* from, const auto* to) {
    for (const auto* n = from; n != to; ++n) {
      const Scalar* const x = impulse + 3 * Index(n->part);
      velocity += n->matrix.col(0) * x[0] + n->matrix.col(1) * x[1] + n->matrix.col(2) * x[2];
    }
  };
  const auto* const own = problem.begin(visit.part) + visit.own;
  add(problem.begin(visit.part), own);
  add(own + 1, problem.end(visit.part));
  Scalar* const gamma = impulse + 3 * Index(visit.part);
  const Scalar before[3] = {gamma[0], gamma[1], gamma[2]};
  Scalar change = triple.solve(velocity, gamma);
  const Scalar& omega = options_.relaxation;
  if (omega != Scalar(1) && change > Scalar(0)) {
    for (int k = 0; k < 3; ++k) gamma[k] = before[k] + omega * (gamma[k] - before[k]);
    triple.pull_in(gamma);
  }
  const bool open = !(change > Scalar(0)) && gamma[2] == Scalar(0);
  visit.quiet = open ? visit.quiet + 1 : 0;
  const int doublings =
      (std::min)(visit.quiet - options_.visits_to_sleep + 1, Tuning::most_doublings);
  visit.wake = doublings > 0 ? sweeps_ + (1 << doublings) : 0;
  return change;
}

template <RealScalar Scalar>
Scalar GaussSeidel<Scalar>::visit_rows(const DelassusProblem<Scalar>& problem, Index contact,
                                       Visit& visit, Scalar* impulse) noexcept {
  RowNumbers<Scalar> gamma = detail::gather_rows(problem, contact, impulse);
  const Scalar change =
      rows_[visit.place].solve(velocity_without(problem, contact, impulse), gamma);
  for (int r = 0; r < problem.set(contact).rows; ++r) {
    const auto [part, row] = problem.place_of(contact, r);
    impulse[3 * part + row] = gamma(r);
  }
  return change;
}

template <RealScalar Scalar>
template <typename Triples>
Scalar GaussSeidel<Scalar>::sweep_triples(const DelassusProblem<Scalar>& problem, Triples& triples,
                                          Scalar* impulse) noexcept {
  using std::sqrt;
  const Index count = order_.size();
  const bool backward = options_.order == VisitOrder::alternating && sweeps_ % 2 == 1;
  Scalar change(0);
  for (Index k = 0; k < count; ++k) {
    const Index contact = order_[backward ? count - 1 - k : k];
    Visit& visit = visits_[contact];
    if (visit.wake > sweeps_) continue;
    change += visit.kind == Kind::triple
                  ? visit_triple(problem, visit, triples[visit.place], impulse)
                  : visit_rows(problem, contact, visit, impulse);
  }
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
  // A measurement costs a sweep: one now and then, and where the change says that it may suffice.
  constexpr Scalar rounding = std::numeric_limits<Scalar>::epsilon();
  Scalar expected(1);  // error per change
  int sweep_number = 0, measured = 0;
  const bool timed = limits_.now != nullptr;  // every sweep may be the last, so each is measured
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
    if (relative > Scalar(0))
      expected = std::clamp(error / relative, Scalar(Tuning::least_expected),
                            Scalar(Tuning::most_expected));
    measured = sweep_number;
    if (error <= options_.tolerance) break;
    if (still && !wake_sleepers()) return finish(SolveStatus::no_progress, sweep_number);
  }
  return finish(SolveStatus::converged, sweep_number);
}

}  // namespace CAROM_ABI
}  // namespace carom
