// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/lu.hpp"
#include "carom/solvers/impulse_certificate.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of LocalRows, one contact of up to six rows solved with the others held.
struct LocalRowsTuning {
  /// Most steps. More are wasted, because the contacts around it move this one again.
  static constexpr int steps = 12;
  /// Shares of a Newton step that are tried, each half of the one before, and the share of its
  /// promise that it must keep to be taken.
  static constexpr int shares = 4;
  static constexpr double descent = 0.125;
  /// Error at which to stop, relative to the impulse [ε_m].
  static constexpr double rounding = 4;
};

/// Solves one contact of up to six rows by iteration while the others are held: rows between
/// bounds, torsion and rolling. It is Newton's method on γ = 𝒞(γ − a ∘ u), 𝒞 the law's map; where a
/// Newton step does not descend, a plain step of the map takes its place. It ends early, because
/// the contacts around will change this one anyway.
template <RealScalar Scalar>
class LocalRows {
 public:
  using Rows = RowNumbers<Scalar>;
  using Matrix = SquareMatrix<Scalar, 6>;

  /// @param w      the contact's own block, R included, zero beyond its rows.
  /// @param scale  what to measure a block of zeros by [1/kg], > 0.
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
    // The rows of a friction disc share one step that is safe for all of them together.
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
  /// 𝒞(γ − a ∘ u) and how far γ is from it.
  Scalar evaluate(const Rows& load, const Rows& impulse, Rows& map) const noexcept {
    map = law_map(trial(load, impulse));
    for (int r = set_.rows; r < 6; ++r) map(r) = Scalar(0);
    using std::sqrt;
    return sqrt(squared_distance(impulse, map));
  }
  /// One step of Newton's method, shortened until the error falls.
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

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
