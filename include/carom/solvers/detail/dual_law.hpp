// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/linalg/block_lu.hpp"
#include "carom/solvers/contact_certificate.hpp"

namespace carom::inline CAROM_ABI::detail {

/// 3 × 3 blocks of a matrix that couples the parts of one contact.
template <RealScalar Scalar>
struct PartBlocks {
  SquareMatrix<Scalar, 3> block[2][2];
};

/// P and Q of the Newton equation of one contact, P W δγ + Q δγ = h.
template <RealScalar Scalar>
struct ContactEquation {
  PartBlocks<Scalar> p, q;
  bool active;  ///< otherwise P = 0 and Q = diag(w)
};

/// The law of every contact of a problem as a map of trial impulses, γ = 𝒞(y), in parts; and what a
/// Newton step asks of its slope D.
///
/// y = c − a ∘ u / ρ: with the centre c = γ and ρ = 1 the map's fixed points obey the law; with c
/// held, those of a proximal step of weight ρ/a.
template <RealScalar Scalar>
class DualLaw {
 public:
  using Block = SquareMatrix<Scalar, 3>;
  using Six = SquareMatrix<Scalar, 6>;

  /// @note  Allocates beyond the largest problem so far.
  void prepare(const DelassusProblem<Scalar>& problem, FrictionLaw law) {
    law_ = law;
    inverse_mass_.resize(3 * problem.part_count());
    mobility_.resize(3 * problem.part_count());
    quick_.resize(problem.count());
    const Scalar mean = problem.mean_diagonal() > Scalar(0) ? problem.mean_diagonal() : Scalar(1);
    for (Index p = 0; p < problem.part_count(); ++p) {
      const auto& w = problem.diagonal(p);
      const int rows = problem.present(p, 0) + problem.present(p, 1) + problem.present(p, 2);
      const Scalar own = w.trace() / Scalar(rows);
      for (int r = 0; r < 3; ++r) {
        inverse_mass_[3 * p + r] = own > Scalar(0) ? own : mean;
        mobility_[3 * p + r] = Scalar(1) / inverse_mass_[3 * p + r];
      }
    }
    for (Index i = 0; i < problem.count(); ++i) {
      const ImpulseSet<Scalar>& set = problem.set(i);
      quick_[i] = law == FrictionLaw::coulomb && set.shape == ImpulseShape::friction &&
                  set.shift.isZero(Scalar(0));
      share_weight(problem, i);
      if (law != FrictionLaw::coulomb) continue;
      visit_friction_blocks(set, [&](const auto& block) {
        const Scalar largest = *std::max_element(block.friction.begin(), block.friction.end());
        for (int k = 0; k < block.size; ++k) {  // in proportion to μ²
          const Scalar share = largest > Scalar(0) ? block.mu(k) / largest : Scalar(1);
          mobility_[3 * problem.first_part(i) + place(problem, i, block.row(k))] *= share * share;
        }
      });
    }
  }

  /// w of a row of a part, the mean of the contact's own diagonal.
  [[nodiscard]] const Scalar& inverse_mass(Index row) const noexcept { return inverse_mass_[row]; }

  /// y = c − a ∘ u / ρ of one contact.
  void write_trial(const DelassusProblem<Scalar>& problem, Index i, const Scalar* centre,
                   const Scalar* velocity, const Scalar& rho, Scalar* y) const noexcept {
    const Index begin = 3 * problem.first_part(i), end = begin + 3 * problem.parts(i);
    for (Index k = begin; k < end; ++k) y[k - begin] = centre[k] - velocity[k] * mobility_[k] / rho;
  }

  /// γ = 𝒞(y) of one contact.
  void respond(const DelassusProblem<Scalar>& problem, Index i, const Scalar* y,
               Scalar* impulse) const noexcept {
    using std::sqrt;
    if (!quick_[i]) return respond_by_rows(problem, i, y, impulse);
    const Scalar normal = y[2] > Scalar(0) ? y[2] : Scalar(0);
    const Scalar bound = problem.set(i).friction(0) * normal;
    const Scalar squared = y[0] * y[0] + y[1] * y[1];
    const Scalar share = squared > bound * bound ? bound / sqrt(squared) : Scalar(1);
    impulse[0] = share * y[0];
    impulse[1] = share * y[1];
    impulse[2] = normal;
  }

  /// Equation of a proximal step: P = w N D a, Q = ρ w N, N = (ρ + D a w)⁻¹; h = −Q (γ − 𝒞(y)).
  /// @param coupled  whether friction is to follow the normal; false keeps the symmetric part of
  ///                 the law, friction of given bounds.
  void write_proximal(const DelassusProblem<Scalar>& problem, Index i, const Scalar* y,
                      const Scalar& rho, bool coupled,
                      ContactEquation<Scalar>& equation) const noexcept;

  /// Equation of a step on the law itself: P = w D a, Q = w (I − D) + ε w D; h = −w (γ − 𝒞(y)).
  void write_direct(const DelassusProblem<Scalar>& problem, Index i, const Scalar* y,
                    const Scalar& epsilon, ContactEquation<Scalar>& equation) const noexcept;

 private:
  /// Rows of two parts that one block of friction bounds together have one w: the law's map asks
  /// for it.
  void share_weight(const DelassusProblem<Scalar>& problem, Index i) noexcept {
    const ImpulseShape shape = problem.set(i).shape;
    if (shape != ImpulseShape::ellipsoidal_torsional &&
        shape != ImpulseShape::ellipsoidal_rolling) {
      return;
    }
    const Index part = problem.first_part(i);
    const Scalar trace = problem.diagonal(part).trace() + problem.diagonal(part + 1).trace();
    if (!(trace > Scalar(0))) return;
    const Scalar own = trace / Scalar(problem.set(i).rows);
    for (Index k = 3 * part; k < 3 * part + 6; ++k) {
      inverse_mass_[k] = own;
      mobility_[k] = Scalar(1) / own;
    }
  }
  /// Scatters rows of the contact to parts, or gathers them.
  [[nodiscard]] static Index place(const DelassusProblem<Scalar>& problem, Index i,
                                   int row) noexcept {
    const auto at = problem.place_of(i, row);
    return 3 * (at.part - problem.first_part(i)) + at.row;
  }
  [[nodiscard]] RowNumbers<Scalar> rows_of(const DelassusProblem<Scalar>& problem, Index i,
                                           const Scalar* parts) const noexcept {
    RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
    for (int r = 0; r < problem.set(i).rows; ++r) rows(r) = parts[place(problem, i, r)];
    return rows;
  }
  /// Weights of the metric the convex law projects in, 1/a.
  [[nodiscard]] RowNumbers<Scalar> weights(const DelassusProblem<Scalar>& problem,
                                           Index i) const noexcept {
    RowNumbers<Scalar> weights = RowNumbers<Scalar>::Ones();
    for (int r = 0; r < problem.set(i).rows; ++r) {
      weights(r) = inverse_mass_[3 * problem.first_part(i) + place(problem, i, r)];
    }
    return weights;
  }
  void respond_by_rows(const DelassusProblem<Scalar>& problem, Index i, const Scalar* y,
                       Scalar* impulse) const noexcept {
    const ImpulseSet<Scalar>& set = problem.set(i);
    const RowNumbers<Scalar> rows = rows_of(problem, i, y);
    const RowNumbers<Scalar> answer = law_ == FrictionLaw::coulomb
                                          ? coulomb_impulse(set, rows)
                                          : nearest_impulse(set, weights(problem, i), rows);
    std::fill(impulse, impulse + 3 * problem.parts(i), Scalar(0));
    for (int r = 0; r < set.rows; ++r) impulse[place(problem, i, r)] = answer(r);
  }
  /// D in parts.
  [[nodiscard]] Six slope(const DelassusProblem<Scalar>& problem, Index i, const Scalar* y,
                          bool coupled) const noexcept;
  template <int Size>
  void write_general(const Six& slope, Index begin, const Scalar& rho,
                     ContactEquation<Scalar>& equation) const noexcept;
  static void write_blocks(const Six& matrix, PartBlocks<Scalar>& blocks) noexcept {
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        blocks.block[a][b] = matrix.template block<3, 3>(3 * a, 3 * b);
      }
    }
  }
  void write_quick(const DelassusProblem<Scalar>& problem, Index i, const Scalar* y,
                   const Scalar& rho, bool coupled,
                   ContactEquation<Scalar>& equation) const noexcept;

  FrictionLaw law_ = FrictionLaw::coulomb;
  Sequence<Scalar> inverse_mass_, mobility_;
  Sequence<char> quick_;  ///< Coulomb's law for a triple
};

// --- implementation ---

template <RealScalar Scalar>
SquareMatrix<Scalar, 6> DualLaw<Scalar>::slope(const DelassusProblem<Scalar>& problem, Index i,
                                               const Scalar* y, bool coupled) const noexcept {
  const ImpulseSet<Scalar>& set = problem.set(i);
  const RowNumbers<Scalar> rows = rows_of(problem, i, y);
  Six given;
  if (law_ == FrictionLaw::coulomb) {
    given = coulomb_slope(set, rows);
    if (!coupled) {
      const int n = normal_row(set.shape);
      for (int r = 0; n >= 0 && r < set.rows; ++r) {
        if (r != n) given(r, n) = Scalar(0);
      }
    }
  } else {
    const RowNumbers<Scalar> metric = weights(problem, i);
    given = impulse_curvature(set, metric, rows);
    for (int c = 0; c < set.rows; ++c) given.col(c) *= metric(c);
  }
  Six placed = Six::Zero();
  for (int c = 0; c < set.rows; ++c) {
    for (int r = 0; r < set.rows; ++r) {
      placed(place(problem, i, r), place(problem, i, c)) = given(r, c);
    }
  }
  return placed;
}

template <RealScalar Scalar>
template <int Size>
void DualLaw<Scalar>::write_general(const Six& slope, Index begin, const Scalar& rho,
                                    ContactEquation<Scalar>& equation) const noexcept {
  Scalar inverse[std::size_t(Size)][std::size_t(Size)];  // [column][row]
  for (int c = 0; c < Size; ++c) {
    const Scalar scale = mobility_[begin + c] * inverse_mass_[begin + c];
    for (int r = 0; r < Size; ++r) {
      inverse[c][r] = slope(r, c) * scale + (r == c ? rho : Scalar(0));
    }
  }
  equation.active = !slope.isZero(Scalar(0)) && invert_corner<Size>(inverse);
  Six p = Six::Zero(), q = Six::Zero();
  for (int c = 0; c < Size; ++c) {
    for (int r = 0; r < Size; ++r) {
      const Scalar& w = inverse_mass_[begin + r];
      if (!equation.active) {
        q(r, c) = r == c ? w : Scalar(0);
        continue;
      }
      q(r, c) = rho * w * inverse[c][r];
      Scalar sum(0);
      for (int k = 0; k < Size; ++k) sum += inverse[k][r] * slope(k, c);
      p(r, c) = w * sum * mobility_[begin + c];
    }
  }
  write_blocks(p, equation.p);
  write_blocks(q, equation.q);
}

/// N in closed form. With t along the friction, b across, κ = μ yₙ/‖yₜ‖: ρ N is 1 along t, ρ/(ρ +
/// κ) along b, ρ/(ρ + 1) along n, and −μ/(ρ + 1) from n to t.
template <RealScalar Scalar>
void DualLaw<Scalar>::write_quick(const DelassusProblem<Scalar>& problem, Index i, const Scalar* y,
                                  const Scalar& rho, bool coupled,
                                  ContactEquation<Scalar>& equation) const noexcept {
  using std::sqrt;
  const Scalar& w = inverse_mass_[3 * problem.first_part(i)];
  const Scalar& mu = problem.set(i).friction(0);
  const Scalar length = sqrt(y[0] * y[0] + y[1] * y[1]);
  const Scalar stuck = rho / (rho + Scalar(1));
  equation.active = y[2] > Scalar(0);
  Block e = Block::Identity();
  if (equation.active && length <= mu * y[2]) {
    e *= stuck;
    if (mu == Scalar(0)) e(0, 0) = e(1, 1) = Scalar(1);  // no friction, so none to hold
  } else if (equation.active) {
    const Scalar t[2] = {y[0] / length, y[1] / length};
    const Scalar across = rho / (rho + mu * y[2] / length);
    for (int r = 0; r < 2; ++r) {
      for (int c = 0; c < 2; ++c) e(r, c) = across * e(r, c) + (1 - across) * t[r] * t[c];
      e(r, 2) = coupled ? -mu / (rho + Scalar(1)) * t[r] : Scalar(0);
    }
    e(2, 2) = stuck;
  }
  equation.q.block[0][0] = w * e;
  equation.p.block[0][0] = Block::Identity() - e;
}

template <RealScalar Scalar>
void DualLaw<Scalar>::write_proximal(const DelassusProblem<Scalar>& problem, Index i,
                                     const Scalar* y, const Scalar& rho, bool coupled,
                                     ContactEquation<Scalar>& equation) const noexcept {
  if (quick_[i]) return write_quick(problem, i, y, rho, coupled, equation);
  const Six d = slope(problem, i, y, coupled);
  const Index begin = 3 * problem.first_part(i);
  if (problem.parts(i) == 1) {
    write_general<3>(d, begin, rho, equation);
  } else {
    write_general<6>(d, begin, rho, equation);
  }
}

template <RealScalar Scalar>
void DualLaw<Scalar>::write_direct(const DelassusProblem<Scalar>& problem, Index i, const Scalar* y,
                                   const Scalar& epsilon,
                                   ContactEquation<Scalar>& equation) const noexcept {
  const Six d = slope(problem, i, y, true);
  const Index begin = 3 * problem.first_part(i);
  Six p = Six::Zero(), q = Six::Zero();
  for (int c = 0; c < 3 * problem.parts(i); ++c) {
    for (int r = 0; r < 3 * problem.parts(i); ++r) {
      const Scalar& w = inverse_mass_[begin + r];
      p(r, c) = w * d(r, c) * mobility_[begin + c];
      q(r, c) = w * ((r == c ? Scalar(1) : Scalar(0)) - (1 - epsilon) * d(r, c));
    }
  }
  equation.active = !d.isZero(Scalar(0));
  write_blocks(p, equation.p);
  write_blocks(q, equation.q);
}

}  // namespace carom::inline CAROM_ABI::detail
