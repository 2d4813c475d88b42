// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/core/detail/compiler.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/lu.hpp"
#include "carom/linalg/detail/sequence.hpp"
#include "carom/solvers/impulse_certificate.hpp"
#include "carom/solvers/search/dual_iterate.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Orders contacts by how many contacts are between them and the one with the largest load.
/// @param order  the contacts in any order on entry, in the new order on return.
/// @param seen   scratch memory.
template <RealScalar Scalar>
void order_outward(const DelassusProblem<Scalar>& problem, Sequence<int>& order,
                   Sequence<int>& seen) {
  const Index count = order.size();
  // The search is breadth first. It starts again at a contact that no other contact reaches.
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const Scalar x = problem.load(problem.first_part(a)).squaredNorm();
    const Scalar y = problem.load(problem.first_part(b)).squaredNorm();
    return x != y ? x > y : a < b;
  });
  seen.resize(2 * count);  // contacts in the order of discovery, then whether they were discovered
  std::fill(seen.begin() + count, seen.end(), 0);
  Index found = 0, next = 0;
  for (const int start : order) {
    if (seen[count + start] == 0) {
      seen[count + start] = 1;
      seen[found++] = start;
    }
    for (; next < found; ++next) {
      const Index contact = seen[next];
      for (int p = 0; p < problem.parts(contact); ++p) {
        const Index part = problem.first_part(contact) + p;
        for (const auto* n = problem.begin(part); n != problem.end(part); ++n) {
          const int other = int(problem.part_contact(n->part));
          if (seen[count + other] != 0) continue;
          seen[count + other] = 1;
          seen[found++] = other;
        }
      }
    }
  }
  std::copy_n(seen.begin(), count, order.begin());
}

/// The number that is added to the diagonal of a contact's own block to make it invertible: zero if
/// it is clearly positive definite. Otherwise a proximal step is solved, which has the same
/// solutions.
/// @param scale  reference for a block of zeros, > 0.
template <RealScalar Scalar>
[[nodiscard]] Scalar proximal_weight(const SquareMatrix<Scalar, 3>& w,
                                     const Scalar& scale) noexcept {
  using std::sqrt;
  const Scalar size = (w(0, 0) + w(1, 1) + w(2, 2)) / 3;
  const Scalar root = sqrt(std::numeric_limits<Scalar>::epsilon());
  if (!(size > root * root * scale)) return root * scale;
  const Scalar floor = root * size;
  const Scalar xx = w(0, 0) - w(2, 0) * w(2, 0) / w(2, 2);
  const Scalar yy = w(1, 1) - w(2, 1) * w(2, 1) / w(2, 2);
  const Scalar xy = w(1, 0) - w(2, 0) * w(2, 1) / w(2, 2);
  const bool positive = w(2, 2) > floor && xx > floor && yy - xy * xy / xx > floor;
  return positive ? Scalar(0) : floor;
}

/// A friction contact solved exactly while the impulses of all other contacts are constant.
/// prepare() reads its block of W + R; solve() then solves for its impulse as often as its velocity
/// changes.
/// @tparam Block  CoulombInverseMass or ConvexInverseMass.
template <RealScalar Scalar, typename Block>
class FrictionTriple {
 public:
  /// @param w      the contact's own block, R included, in rows (t₁, t₂, n).
  /// @param scale  reference for a block of zeros [1/kg], > 0.
  void prepare(SquareMatrix<Scalar, 3> w, const Scalar& friction, const Scalar& scale) noexcept {
    friction_ = friction;
    ratio_ = Scalar(0);
    proximal_ = proximal_weight(w, scale);
    for (int k = 0; k < 3; ++k) w(k, k) += proximal_;
    block_ = Block(w);
  }
  [[nodiscard]] const Scalar& friction() const noexcept { return friction_; }

  /// γ for a velocity u without γ.
  /// @param before  γ of the last visit, from which a proximal step is made.
  [[nodiscard]] Vector3<Scalar> solve(Vector3<Scalar> velocity, const Scalar* before) noexcept {
    if (proximal_ > Scalar(0)) {
      for (int k = 0; k < 3; ++k) velocity(k) -= proximal_ * before[k];
    }
    const auto contact = block_.solve(velocity, friction_, ratio_);
    if (contact.ratio > Scalar(0)) ratio_ = contact.ratio;
    return contact.impulse;
  }

 private:
  Block block_;
  Scalar friction_, proximal_;
  Scalar ratio_;  ///< ‖uₜ‖/‖γₜ‖ of the last visit in which the contact slid
};

/// A contact of three rows solved exactly while the impulses of all other contacts are constant:
/// friction in space, in a plane or by an ellipse, all of which the friction cone covers once rows
/// are scaled. prepare() reads the contact's block of W + R; solve() then solves for its impulse as
/// often as its velocity changes.
/// @tparam Block  CoulombInverseMass or ConvexInverseMass.
template <RealScalar Scalar, typename Block>
class LocalTriple {
 public:
  /// @param w  the contact's own block, R included, in the rows of its part.
  void prepare(const ImpulseSet<Scalar>& set, SquareMatrix<Scalar, 3> w,
               const Scalar& scale) noexcept {
    scale_[0] = scale_[1] = Scalar(1);
    Scalar friction = set.friction.x();
    const bool planar = set.shape == ImpulseShape::planar;
    if (planar) scale_[1] = Scalar(0);
    if (set.shape == ImpulseShape::elliptic) {
      const Scalar mx = set.friction.x(), my = set.friction.y();
      friction = mx > my ? mx : my;
      for (int k = 0; k < 2 && friction > Scalar(0); ++k) scale_[k] = set.friction(k) / friction;
    }
    shift_ =
        Vector3<Scalar>(set.shift(0), planar ? Scalar(0) : set.shift(1), set.shift(planar ? 1 : 2));
    plain_ = scale_[0] == Scalar(1) && scale_[1] == Scalar(1);
    for (int r = 0; r < 3; ++r) {
      shifted_velocity_(r) = w(r, 0) * shift_(0) + w(r, 1) * shift_(1) + w(r, 2) * shift_(2);
      plain_ = plain_ && shift_(r) == Scalar(0);
    }
    for (int k = 0; k < 2; ++k) {
      for (int r = 0; r < 3; ++r) w(k, r) *= scale_[k];
      for (int r = 0; r < 3; ++r) w(r, k) *= scale_[k];
      if (!(w(k, k) > Scalar(0))) w(k, k) = w(1 - k, 1 - k);  // a row that is not there
    }
    round_.prepare(w, friction, scale);
  }

  /// Solves for γ in place.
  /// @param velocity  u without γ.
  /// @return  ‖γ − γ before‖².
  Scalar solve(const Vector3<Scalar>& velocity, Scalar* impulse) noexcept {
    if (!plain_) return solve_scaled(velocity, impulse);
    const Vector3<Scalar> found = round_.solve(velocity, impulse);
    Scalar change(0);
    for (int k = 0; k < 3; ++k) {
      const Scalar step = found(k) - impulse[k];
      change += step * step;
      impulse[k] = found(k);
    }
    return change;
  }

  /// Moves an impulse to a near one in the set.
  void pull_in(Scalar* impulse) const noexcept {
    using std::sqrt;
    Scalar y[3];
    for (int k = 0; k < 3; ++k) y[k] = impulse[k] + shift_(k);
    for (int k = 0; k < 2; ++k) y[k] = scale_[k] > Scalar(0) ? y[k] / scale_[k] : Scalar(0);
    if (!(y[2] > Scalar(0))) y[2] = Scalar(0);
    const Scalar tangent = sqrt(y[0] * y[0] + y[1] * y[1]), most = round_.friction() * y[2];
    const Scalar share = tangent > most ? most / tangent : Scalar(1);
    for (int k = 0; k < 2; ++k) impulse[k] = share * scale_[k] * y[k] - shift_(k);
    impulse[2] = y[2] - shift_(2);
  }

 private:
  Scalar solve_scaled(Vector3<Scalar> velocity, Scalar* impulse) noexcept {
    Scalar before[3];
    for (int k = 0; k < 3; ++k) {
      const Scalar scale = k < 2 ? scale_[k] : Scalar(1);
      velocity(k) = (velocity(k) - shifted_velocity_(k)) * scale;
      before[k] = scale > Scalar(0) ? Scalar((impulse[k] + shift_(k)) / scale) : Scalar(0);
    }
    const Vector3<Scalar> found = round_.solve(velocity, before);
    Scalar change(0);
    for (int k = 0; k < 3; ++k) {
      const Scalar now = (k < 2 ? scale_[k] : Scalar(1)) * found(k) - shift_(k);
      change += (now - impulse[k]) * (now - impulse[k]);
      impulse[k] = now;
    }
    return change;
  }

  FrictionTriple<Scalar, Block> round_;  ///< in scaled rows
  bool plain_;
  Scalar scale_[2];  ///< γ of the set = scale × γ of the round cone
  Vector3<Scalar> shift_, shifted_velocity_;
};

/// Constants of LocalRows, one contact of up to six rows solved with constant impulses of the
/// others.
struct LocalRowsTuning {
  /// Most steps. More are wasted, because the contacts around this one change it again.
  static constexpr int steps = 12;
  /// Shares of a Newton step that are tried, each half of the one before, and the least share of
  /// the predicted decrease of the error with which a step is accepted.
  static constexpr int shares = 4;
  static constexpr double descent = 0.125;
  /// The steps end at this error, relative to the impulse [ε_m].
  static constexpr double rounding = 4;
};

/// Solves one contact of up to six rows by iteration while the impulses of all others are constant:
/// rows between bounds, torsion and rolling. It is Newton's method on γ = 𝒞(γ − a ∘ u), 𝒞 the law's
/// map; where a Newton step does not descend, a plain step of the map replaces it. It ends early,
/// because the contacts around will change this one anyway. prepare(), then solve().
template <RealScalar Scalar>
class LocalRows {
 public:
  using Rows = RowNumbers<Scalar>;
  using Matrix = SquareMatrix<Scalar, 6>;

  /// @param w      the contact's own block, R included, zero beyond its rows.
  /// @param scale  reference for a block of zeros [1/kg], > 0.
  void prepare(FrictionLaw law, const ImpulseSet<Scalar>& set, const Matrix& w,
               const Scalar& scale) noexcept {
    using std::sqrt;
    law_ = law;
    set_ = set;
    Scalar trace(0);
    for (int r = 0; r < 6; ++r) trace += w(r, r);
    const Scalar mean = trace / Scalar(set.rows);
    const Scalar root = sqrt(std::numeric_limits<Scalar>::epsilon());
    proximal_ = root * (mean > root * scale ? mean : scale);
    w_ = w;
    for (int r = 0; r < 6; ++r) {
      w_(r, r) += proximal_;
      steps_(r) = Scalar(1) / w_(r, r);
    }
    // The rows of a friction disc have one common step that is safe for all of them together.
    visit_friction_blocks(set, [&](const auto& block) {
      const Scalar largest = *std::max_element(block.friction.begin(), block.friction.end());
      Scalar sum(0);
      for (int k = 0; k < block.size; ++k) sum += w_(block.row(k), block.row(k));
      for (int k = 0; k < block.size; ++k) {  // in proportion to μ²
        const Scalar share = largest > Scalar(0) ? block.mu(k) / largest : Scalar(1);
        steps_(block.row(k)) = (share > Scalar(0) ? share * share : Scalar(1)) / sum;
      }
    });
  }

  /// Solves for γ in place.
  /// @param velocity  u without γ.
  /// @return  ‖γ − γ before‖².
  Scalar solve(const Rows& velocity, Rows& impulse) noexcept {
    const Rows before = impulse;
    Rows load, map;
    for (int r = 0; r < 6; ++r) load(r) = velocity(r) - proximal_ * before(r);
    Scalar error = evaluate(load, impulse, map);
    const Scalar enough = Scalar(Tuning::rounding) * std::numeric_limits<Scalar>::epsilon();
    for (int k = 0; k < Tuning::steps && error > enough * (norm(impulse) + norm(map)); ++k) {
      if (descend(load, impulse, map, error)) continue;
      impulse = map;
      error = evaluate(load, impulse, map);
    }
    impulse = map;  // in the set
    if (!all_finite(impulse.data(), 6)) impulse = before;
    return squared_distance(impulse, before);
  }

 private:
  using Tuning = LocalRowsTuning;

  [[nodiscard]] Rows trial(const Rows& load, const Rows& impulse) const noexcept {
    Rows y;
    for (int r = 0; r < 6; ++r) {
      Scalar u = load(r);
      for (int c = 0; c < 6; ++c) u += w_(r, c) * impulse(c);
      y(r) = impulse(r) - steps_(r) * u;
    }
    return y;
  }
  /// 1/a.
  [[nodiscard]] Rows weights() const noexcept {
    Rows result;
    for (int r = 0; r < 6; ++r) result(r) = Scalar(1) / steps_(r);
    return result;
  }
  [[nodiscard]] static Scalar norm(const Rows& x) noexcept {
    using std::sqrt;
    return sqrt(dot(x.data(), x.data(), 6));
  }
  [[nodiscard]] static Scalar squared_distance(const Rows& x, const Rows& y) noexcept {
    Scalar sum(0);
    for (int r = 0; r < 6; ++r) sum += (x(r) - y(r)) * (x(r) - y(r));
    return sum;
  }
  [[nodiscard]] Rows law_map(const Rows& y) const noexcept {
    return law_ == FrictionLaw::coulomb ? coulomb_impulse(set_, y)
                                        : nearest_impulse(set_, weights(), y);
  }
  /// 𝒞(γ − a ∘ u) and the distance of γ from it.
  Scalar evaluate(const Rows& load, const Rows& impulse, Rows& map) const noexcept {
    map = law_map(trial(load, impulse));
    for (int r = set_.rows; r < 6; ++r) map(r) = Scalar(0);
    using std::sqrt;
    return sqrt(squared_distance(impulse, map));
  }
  /// One Newton step, shortened until the error decreases.
  bool descend(const Rows& load, Rows& impulse, Rows& map, Scalar& error) const noexcept {
    const Rows y = trial(load, impulse);
    Matrix slope;  // 𝒞'
    if (law_ == FrictionLaw::coulomb) {
      slope = coulomb_slope(set_, y);
    } else {
      const Rows w = weights();
      slope = impulse_curvature(set_, w, y);
      for (int c = 0; c < 6; ++c) {
        for (int r = 0; r < 6; ++r) slope(r, c) *= w(c);
      }
    }
    Matrix jacobian;  // I − 𝒞' (I − a ∘ w)
    Rows step;
    for (int c = 0; c < 6; ++c) {
      step(c) = impulse(c) - map(c);
      for (int r = 0; r < 6; ++r) {
        Scalar sum = (r == c ? Scalar(1) : Scalar(0)) - slope(r, c);
        for (int k = 0; k < 6; ++k) sum += slope(r, k) * (steps_(k) * w_(k, c));
        jacobian(r, c) = sum;
      }
    }
    constexpr std::integral_constant<Index, 6> size{};
    int exchanges[6];
    if (!factor_lu<DivideByPivots>(jacobian.data(), size, exchanges)) return false;
    solve_lu<DivideByPivots>(jacobian.data(), size, exchanges, step.data());
    Scalar length(1);
    for (int halving = 0; halving < Tuning::shares; ++halving, length /= 2) {
      Rows next;
      for (int r = 0; r < 6; ++r) next(r) = impulse(r) - length * step(r);
      Rows next_map;
      const Scalar next_error = evaluate(load, next, next_map);
      if (!(next_error < (Scalar(1) - Scalar(Tuning::descent) * length) * error)) continue;
      impulse = next;
      map = next_map;
      error = next_error;
      return true;
    }
    return false;
  }

  FrictionLaw law_;
  ImpulseSet<Scalar> set_;
  Matrix w_;
  Rows steps_;  ///< a
  Scalar proximal_;
};

/// Constants of GaussSeidel.
struct GaussSeidelTuning {
  /// A contact that stays open is skipped for 2, 4, ... 2^most_doublings sweeps.
  static constexpr int most_doublings = 4;
  /// A measurement costs as much as a sweep: it comes after `sweeps_to_measure` sweeps, and one
  /// more for each `sweeps_per_delay` sweeps that are done.
  static constexpr int sweeps_to_measure = 10, sweeps_per_delay = 8;
};

/// The state of a contact's visits.
struct DualVisit {
  int part;
  int own;    ///< its block among those of its part
  int quiet;  ///< consecutive visits in which it was open and stayed open
  int wake;   ///< sweep of the next visit
};

/// The state of the visits of all contacts.
template <RealScalar Scalar>
struct DualVisits {
  Scalar relaxation;  ///< ω
  int to_sleep;       ///< count of visits after which an open contact is visited less often
  int sweep;          ///< index of the sweep
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

/// u += W_ij γ_j, the velocity of a part by the impulse of a neighbour.
template <RealScalar Scalar>
void add_response(const typename DelassusProblem<Scalar>::Neighbour& neighbour,
                  const Scalar* impulse, Scalar* velocity) noexcept {
  const Scalar* const w = neighbour.matrix.data();
  const Scalar* const x = impulse + 3 * Index(neighbour.part);
  CAROM_UNROLL
  for (int r = 0; r < 3; ++r) velocity[r] += w[r] * x[0] + w[3 + r] * x[1] + w[6 + r] * x[2];
}

/// u of a contact's rows without the contribution of its own impulse.
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

/// A contact of three rows, a block of sweep_blocks().
/// @tparam Triple  LocalTriple.
template <RealScalar Scalar, typename Triple>
struct DualTriple {
  const DelassusProblem<Scalar>& problem;
  const DualVisits<Scalar>& visits;
  DualVisit& visit;
  Triple& triple;
  Scalar* impulse;
  Scalar& change;  ///< the sum of ‖γ − γ before‖² over the contacts is added here
  Scalar before[3] = {};

  [[nodiscard]] Scalar* own() const noexcept { return impulse + 3 * Index(visit.part); }
  /// u without the contribution of its own impulse.
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
