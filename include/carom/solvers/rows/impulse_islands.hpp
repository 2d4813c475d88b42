// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "carom/contact/detail/delassus_islands.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/search/island_law.hpp"
#include "carom/solvers/search/law_iterate.hpp"
#include "carom/solvers/systems/impulse_system.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A problem in impulses, solved island by island for InteriorPointSolver: an island without a
/// guess begins with sweeps of Gauss-Seidel, then IslandLaw solves it. prepare() or find() for a
/// problem, then solve() for each of its count() islands.
template <RealScalar Scalar>
class ImpulseIslands {
 public:
  using Law = IslandLaw<ImpulseSystem<Scalar>>;
  using Outcome = typename Law::Outcome;

  /// How accurately and how long an island is solved.
  struct Request {
    Scalar tolerance;  ///< natural map error [-]
    int sweeps;        ///< of Gauss-Seidel before the first system, ≥ 0
    SolveLimits limits;
  };

  explicit ImpulseIslands(FrictionLaw law) noexcept : kind_(law), sweeps_({.law = law}) {}

  /// Allocates memory for the problem's size and pattern: for that of its largest island.
  void prepare(const DelassusProblem<Scalar>& problem) {
    find(problem);
    for (Index k = 0; k < count(); ++k) sweeps_.prepare(take(problem, k));
  }
  /// Finds the islands, which may then be solved in any order.
  void find(const DelassusProblem<Scalar>& problem) {
    CAROM_EXPECTS(!problem.matrix_free());
    islands_.find(problem);
    rows_.reserve(problem.row_count());
    yardstick_ = {kind_, problem.load_norm(), problem.inverse_mass_scale()};
  }
  [[nodiscard]] Index count() const noexcept { return islands_.count(); }
  /// The error scales of the whole problem.
  [[nodiscard]] const Yardstick<Scalar>& yardstick() const noexcept { return yardstick_; }

  /// Solves an island.
  /// @param impulse  γ in rows of the whole problem: in: guess, if it is not zero; out: answer.
  /// @param limits   of the systems; those of the request bound the sweeps.
  Outcome solve(const DelassusProblem<Scalar>& problem, Index island, std::span<Scalar> impulse,
                const Request& request, const SolveLimits& limits) noexcept;

 private:
  const DelassusProblem<Scalar>& take(const DelassusProblem<Scalar>& problem, Index island);
  void sweep(const DelassusProblem<Scalar>& problem, const Request& request) noexcept;

  FrictionLaw kind_;
  GaussSeidel<Scalar> sweeps_;
  DelassusIslands<Scalar> islands_;
  DelassusProblem<Scalar> island_;
  ImpulseSystem<Scalar> system_;
  Law law_;
  Yardstick<Scalar> yardstick_{};
  Sequence<Index> rows_;  ///< of the whole problem, per row of the island
};

// --- implementation ---

/// Prepares an island for its solve.
/// @return  the problem of the island.
template <RealScalar Scalar>
const DelassusProblem<Scalar>& ImpulseIslands<Scalar>::take(const DelassusProblem<Scalar>& problem,
                                                            Index island) {
  const bool alone = count() == 1;
  if (!alone) islands_.write(problem, island, island_);
  const DelassusProblem<Scalar>& part = alone ? problem : island_;
  system_.take(part);
  law_.lay_out(system_, yardstick_);
  // Rows of the island are in the order of its contacts.
  rows_.clear();
  for (const int i : islands_.contacts(island)) {
    for (int r = 0; r < problem.set(i).rows; ++r) rows_.push_back(problem.first_row(i) + r);
  }
  return part;
}

/// Sweeps of Gauss-Seidel over an island until they hardly change anything or gain too little. For
/// problems in impulses they are cheap, and with few or distant contacts Newton's method converges
/// from their result.
template <RealScalar Scalar>
void ImpulseIslands<Scalar>::sweep(const DelassusProblem<Scalar>& problem,
                                   const Request& request) noexcept {
  using Tuning = InteriorPointTuning;
  const int most = Tuning::sweep_extension * request.sweeps;
  sweeps_.prepare(problem);
  Eigen::Map<VectorX<Scalar>> impulse(law_.impulse(), 3 * problem.part_count());
  const auto idle =
      law_.solve(system_, 0, true, request.tolerance, request.limits.with_iterations(0));
  if (idle.status == SolveStatus::converged) return;
  Scalar last = std::numeric_limits<Scalar>::infinity();
  for (int done = 0; done < most && !request.limits.is_over();) {
    const int count = (std::min)(Tuning::sweeps_together, most - done);
    const Scalar change = sweeps_.sweep(problem, as_span(impulse), count);
    done += count;
    if (!impulse.allFinite()) {
      impulse.setZero();
      return;
    }
    if (!(change > Scalar(Tuning::sweep_rest) * request.tolerance * impulse.norm())) return;
    if (done >= request.sweeps && !(change < Scalar(Tuning::sweep_gain) * last)) return;
    last = change;
  }
}

template <RealScalar Scalar>
typename ImpulseIslands<Scalar>::Outcome ImpulseIslands<Scalar>::solve(
    const DelassusProblem<Scalar>& problem, Index island, std::span<Scalar> impulse,
    const Request& request, const SolveLimits& limits) noexcept {
  const DelassusProblem<Scalar>& part = take(problem, island);
  std::fill_n(law_.impulse(), 3 * part.part_count(), Scalar(0));
  bool warm = false;
  system_.for_each_row([&](Index own, Index place) {
    const Scalar x = impulse[std::size_t(rows_[own])];
    law_.impulse()[place] = x;
    warm = warm || x != Scalar(0);
  });
  if (!warm) sweep(part, request);
  const Outcome outcome = law_.solve(system_, 0, true, request.tolerance, limits);
  system_.for_each_row(
      [&](Index own, Index place) { impulse[std::size_t(rows_[own])] = law_.impulse()[place]; });
  return outcome;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
