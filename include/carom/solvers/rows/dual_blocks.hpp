// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/core/detail/compiler.hpp"
#include "carom/solvers/rows/local_rows.hpp"
#include "carom/solvers/rows/local_triple.hpp"
#include "carom/solvers/search/dual_iterate.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of GaussSeidel.
struct GaussSeidelTuning {
  /// A contact that stays open sleeps for 2, 4, ... 2^most_doublings sweeps.
  static constexpr int most_doublings = 4;
  /// A measurement costs as much as a sweep: it comes after so many sweeps, and one more for each
  /// `sweeps_per_delay` sweeps that are done.
  static constexpr int sweeps_to_measure = 10, sweeps_per_delay = 8;
};

/// How a contact is visited by sweeps.
struct DualVisit {
  int part;
  int own;    ///< its block among those of its part
  int quiet;  ///< consecutive visits in which it was open and stayed open
  int wake;   ///< sweep of the next visit
};

/// How all contacts are visited.
template <RealScalar Scalar>
struct DualVisits {
  Scalar relaxation;  ///< ω
  int to_sleep;       ///< visits after which an open contact is visited less often
  int sweep;          ///< number of the sweep
};

/// W_ii + R of a contact by its rows, zero beyond them.
template <RealScalar Scalar>
[[nodiscard]] SquareMatrix<Scalar, 6> own_rows(const DelassusProblem<Scalar>& problem,
                                               Index contact) noexcept {
  const SquareMatrix<Scalar, 6> parts = own_block(problem, contact);
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

/// u += W_ij γ_j, what the impulse of a neighbour gives to a part.
template <RealScalar Scalar>
void add_response(const typename DelassusProblem<Scalar>::Neighbour& neighbour,
                  const Scalar* impulse, Scalar* velocity) noexcept {
  const Scalar* const w = neighbour.matrix.data();
  const Scalar* const x = impulse + 3 * Index(neighbour.part);
  CAROM_UNROLL
  for (int r = 0; r < 3; ++r) velocity[r] += w[r] * x[0] + w[3 + r] * x[1] + w[6 + r] * x[2];
}

/// u of a contact's rows without the share of its own impulse.
/// @param impulse  γ in parts.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> velocity_without(const DelassusProblem<Scalar>& problem,
                                                  Index contact, const Scalar* impulse) noexcept {
  const Index first = problem.first_part(contact), end = first + problem.parts(contact);
  Scalar sums[6] = {};
  for (Index part = first; part < end; ++part) {
    Scalar* const sum = sums + 3 * (part - first);
    for (int k = 0; k < 3; ++k) sum[k] = problem.load(part)(k);
    for (const auto* n = problem.begin(part); n != problem.end(part); ++n) {
      if (n->part < first || n->part >= end) add_response(*n, impulse, sum);
    }
  }
  RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
  for (int r = 0; r < problem.set(contact).rows; ++r) {
    const auto [part, row] = problem.place_of(contact, r);
    rows(r) = sums[3 * (part - first) + row];
  }
  return rows;
}

/// A contact of three rows, as sweep_blocks() asks for it.
/// @tparam Triple  LocalTriple.
template <RealScalar Scalar, typename Triple>
struct DualTriple {
  const DelassusProblem<Scalar>& problem;
  const DualVisits<Scalar>& visits;
  DualVisit& visit;
  Triple& triple;
  Scalar* impulse;
  Scalar& change;  ///< takes ‖γ − γ before‖² of all contacts
  Scalar before[3] = {};

  [[nodiscard]] Scalar* own() const noexcept { return impulse + 3 * Index(visit.part); }
  /// u without the share of its own impulse.
  [[nodiscard]] Vector3<Scalar> held() const noexcept {
    Vector3<Scalar> velocity = problem.load(visit.part);
    Scalar* const u = velocity.data();
    const auto *n = problem.begin(visit.part), *const diagonal = n + visit.own;
    for (; n != diagonal; ++n) add_response(*n, impulse, u);
    for (++n; n != problem.end(visit.part); ++n) add_response(*n, impulse, u);
    return velocity;
  }
  [[nodiscard]] Scalar solve(const Vector3<Scalar>& velocity) noexcept {
    for (int k = 0; k < 3; ++k) before[k] = own()[k];
    return triple.solve(velocity, own());
  }
  void spread(const Scalar& moved) const noexcept {
    Scalar* const gamma = own();
    const Scalar& omega = visits.relaxation;
    if (omega != Scalar(1) && moved > Scalar(0)) {
      for (int k = 0; k < 3; ++k) gamma[k] = before[k] + omega * (gamma[k] - before[k]);
      triple.pull_in(gamma);
    }
    const bool open = !(moved > Scalar(0)) && gamma[2] == Scalar(0);
    visit.quiet = open ? visit.quiet + 1 : 0;
    const int doublings =
        (std::min)(visit.quiet - visits.to_sleep + 1, GaussSeidelTuning::most_doublings);
    visit.wake = doublings > 0 ? visits.sweep + (1 << doublings) : 0;
    change += moved;
  }
};

/// A contact of any other rows.
template <RealScalar Scalar>
struct DualRows {
  const DelassusProblem<Scalar>& problem;
  Index contact;
  LocalRows<Scalar>& rows;
  Scalar* impulse;
  Scalar& change;

  [[nodiscard]] RowNumbers<Scalar> held() const noexcept {
    return velocity_without(problem, contact, impulse);
  }
  [[nodiscard]] RowNumbers<Scalar> solve(const RowNumbers<Scalar>& velocity) const noexcept {
    RowNumbers<Scalar> gamma = gather_rows(problem, contact, impulse);
    change += rows.solve(velocity, gamma);
    return gamma;
  }
  void spread(const RowNumbers<Scalar>& gamma) const noexcept {
    scatter_rows(problem, contact, gamma, impulse);
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
