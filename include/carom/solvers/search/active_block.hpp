// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/linalg/detail/block_lu.hpp"
#include "carom/solvers/rows/block_rows.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Constants of ActiveBlock and ActiveNewton: Newton's method on the law itself.
struct ActiveNewtonTuning {
  /// Softness of sticking rows, relative to w [√ε_m]. It makes a singular W harmless and costs the
  /// same relative accuracy of a Newton step. In hyperstatic contact the step is the change of
  /// least norm.
  static constexpr double held_softness = 0.1;
  /// Count of steps that may gain little while the guess of the sliding blocks converges.
  static constexpr int settling_steps = 2;
  /// The method continues only if the error decreases to this share, while the guess converges and
  /// after it. With `gain` 1 it continues too long: 4 % more systems.
  static constexpr double settling_gain = 0.95, gain = 0.5;
  /// Largest count of halvings of a step, and the least achieved share of the predicted decrease
  /// for acceptance.
  static constexpr int halvings = 5;
  static constexpr double descent = 0.1;
};

/// Softness of sticking rows, relative to the inverse mass of the block.
template <RealScalar Scalar>
[[nodiscard]] inline Scalar held_softness() noexcept {
  using std::sqrt;
  return Scalar(ActiveNewtonTuning::held_softness) * sqrt(std::numeric_limits<Scalar>::epsilon());
}

/// Newton's step on the law of one block, dγ = h − N du_w with du = du_w + R dγ. The trial impulse
/// y = γ − a u, a = 1/w, determines whether the block is open, sticks or slides.
///
/// A friction contact is solved in the frame of its friction, any other block by a dense system of
/// its rows.
template <RealScalar Scalar, int Parts>
class ActiveBlock {
 public:
  using Block = BlockRows<Scalar, Parts>;
  using Numbers = PartNumbers<Scalar, Parts>;
  using Response = BlockResponse<Scalar, Parts>;

  /// Writes N and h for the impulse γ with velocity u.
  /// @param softness  of sticking rows, relative to w [-].
  static void write(const Block& block, FrictionLaw law, const Numbers& impulse,
                    const Numbers& velocity, Response& response,
                    const Scalar& softness = held_softness<Scalar>()) noexcept {
    response = {};
    if constexpr (Parts == 1) {
      if (law == FrictionLaw::coulomb) {
        write_coulomb(block, impulse, velocity, softness, response);
      } else {
        write_convex(block, impulse, velocity, softness, response);
      }
    } else {
      write_general(block, law, impulse, velocity, softness, response);
    }
  }

  /// The weights w of a law's map γ = 𝒞(γ − u/w), part by part: the inverse mass; under the convex
  /// law those of the friction cone in units of μ, in which it is the Lorentz cone.
  static Numbers weights(const Block& block, FrictionLaw law) noexcept {
    if constexpr (Parts == 1) {
      if (law == FrictionLaw::convex) {
        const Scalar& mu = block.disc.friction[0];
        const Scalar w = convex_weight(block);
        return {w / (mu * mu), w / (mu * mu), w};
      }
    }
    return Numbers::filled(block.inverse_mass);
  }

  /// The law's 𝒞: under the convex law the nearest impulse of the set in the metric of the weights;
  /// under Coulomb's law friction is projected to its bound for the normal impulse.
  static Numbers nearest(const Block& block, FrictionLaw law, const Numbers& trial) noexcept {
    using std::sqrt;
    if (law == FrictionLaw::coulomb) return clip(block, trial);
    if constexpr (Parts == 2) {
      if (!block.is_cone()) return clip(block, trial);
      const RowNumbers<Scalar> ones = RowNumbers<Scalar>::Ones();
      return parts_of_rows(block, nearest_impulse(block.set, ones, rows_of_parts(block, trial)));
    } else {
      const Scalar& mu = block.disc.friction[0];
      const Numbers moved = trial + block.shift;
      const Scalar length = sqrt(moved(0) * moved(0) + moved(1) * moved(1)) / mu;
      if (length <= moved(2)) return trial;
      if (moved(2) <= -length) return -block.shift;
      const Scalar half = (moved(2) + length) / 2, share = half / length;
      return Numbers{share * moved(0), share * moved(1), half} - block.shift;
    }
  }

  /// Moves the impulse to its set: the normal is ≥ 0, friction is at most its bound.
  static Numbers clip(const Block& block, const Numbers& impulse) noexcept {
    if constexpr (Parts == 2) {
      return parts_of_rows(block,
                           coulomb_impulse(block.impulse_set(), rows_of_parts(block, impulse)));
    } else {
      using std::sqrt;
      const Numbers moved = impulse + block.shift;
      if (!(moved(2) > Scalar(0))) return -block.shift;
      const Scalar bound = block.disc.friction[0] * moved(2);
      const Scalar length = sqrt(moved(0) * moved(0) + moved(1) * moved(1));
      const Scalar share = length > bound ? bound / length : Scalar(1);
      return Numbers{share * moved(0), share * moved(1), moved(2)} - block.shift;
    }
  }

 private:
  /// The weight of all three rows in units of μ: the mean of μ² w, μ² w and w.
  static Scalar convex_weight(const Block& block) noexcept {
    const Scalar& mu = block.disc.friction[0];
    return block.inverse_mass * (1 + 2 * mu * mu) / 3;
  }

  /// An open block: the impulse becomes zero.
  static void open(const Block& block, const Numbers& impulse, Response& response) noexcept {
    response.offset = -(impulse + block.shift);
  }

  static void write_coulomb(const Block& block, const Numbers& impulse, const Numbers& velocity,
                            const Scalar& softness, Response& response) noexcept {
    using std::sqrt;
    const Scalar& mu = block.disc.friction[0];
    const Scalar& w = block.inverse_mass;
    const Scalar reach = impulse(2) + block.shift(2) - velocity(2) / w;
    if (!(reach > Scalar(0))) return open(block, impulse, response);
    const Scalar soft = softness * w;
    const Scalar held = Scalar(1) / (block.regularization(2) + soft);
    response.gain(2, 2) = held;
    response.offset(2) = -held * velocity(2);
    const Scalar x[2] = {impulse(0) + block.shift(0), impulse(1) + block.shift(1)};
    const Scalar y[2] = {x[0] - velocity(0) / w, x[1] - velocity(1) / w};
    const Scalar length = sqrt(y[0] * y[0] + y[1] * y[1]), bound = mu * reach;
    if (length <= bound) {
      for (int k = 0; k < 2; ++k) {
        const Scalar stuck = Scalar(1) / (block.regularization(k) + soft);
        response.gain(k, k) = stuck;
        response.offset(k) = -stuck * velocity(k);
      }
      return;
    }
    const Scalar t[2] = {y[0] / length, y[1] / length};
    // With β = bound/‖y‖ and the direction ẑ of the friction impulse as a separate unknown,
    // (I − β (I − ẑ tᵀ)) dγ_t = bound t − γ_t + t d(bound) − β (I − ẑ tᵀ) a du_t.
    const Scalar share = bound / length;
    const Scalar softness_t = (block.regularization(0) + soft) / w;
    const Turn turn(t, x, bound, 1 - share + share * softness_t, share * (1 - softness_t));
    const Scalar follow = mu * (1 + soft / w);
    // d(bound) = μ (dγₙ + a uₙ), as far as it does not depend on du.
    const Scalar pulled = bound + follow * response.offset(2) + mu * velocity(2) / w;
    const Vector<Scalar, 2> offset = turn.settle(t[0] * pulled - x[0], t[1] * pulled - x[1]);
    const Vector<Scalar, 2> normal = turn.settle(t[0], t[1]);
    for (int l = 0; l < 2; ++l) {
      const Scalar across = share / w, unit[2] = {Scalar(l == 0), Scalar(l == 1)};
      const Vector<Scalar, 2> tangent =
          turn.settle(across * (unit[0] - turn.z[0] * t[l]), across * (unit[1] - turn.z[1] * t[l]));
      for (int k = 0; k < 2; ++k) response.gain(k, l) = tangent(k);
    }
    for (int k = 0; k < 2; ++k) {
      response.offset(k) = offset(k);
      response.gain(k, 2) = normal(k) * follow * held;
    }
  }

  /// The matrix S = a I + c ẑ tᵀ of a sliding contact, with ẑ = γ_t/bound, at most of length 1 and
  /// not against t, so that S is regular. Where the direction has settled, ẑ = t.
  /// @cite  chan1999nonlinear for ẑ as an unknown, as in write_dual_curvature().
  struct Turn {
    Scalar t[2], z[2];
    Scalar stiff;  ///< a
    Scalar most;   ///< c/(a + c ẑ·t)

    Turn(const Scalar (&direction)[2], const Scalar (&impulse)[2], const Scalar& bound,
         const Scalar& a, const Scalar& c) noexcept
        : t{direction[0], direction[1]}, stiff(a) {
      using std::sqrt;
      const Scalar size = sqrt(impulse[0] * impulse[0] + impulse[1] * impulse[1]);
      const Scalar longest = (std::max)(bound, size);
      z[0] = impulse[0] / longest;
      z[1] = impulse[1] / longest;
      Scalar along = z[0] * t[0] + z[1] * t[1];
      if (along < Scalar(0)) {
        for (int k = 0; k < 2; ++k) z[k] -= along * t[k];
        along = Scalar(0);
      }
      most = c / (a + c * along);
    }
    /// S⁻¹ (x, y).
    [[nodiscard]] Vector<Scalar, 2> settle(const Scalar& x, const Scalar& y) const noexcept {
      const Scalar along = most * (t[0] * x + t[1] * y);
      return {(x - along * z[0]) / stiff, (y - along * z[1]) / stiff};
    }
  };

  /// In units of μ the cone is the Lorentz cone: the velocity along e₊ = (1, t)/√2 vanishes, the
  /// impulse along e₋ = (1, −t)/√2 vanishes, and perpendicular to both the impulse rotates with the
  /// velocity.
  static void write_convex(const Block& block, const Numbers& impulse, const Numbers& velocity,
                           const Scalar& softness, Response& response) noexcept {
    using std::sqrt;
    const Scalar& mu = block.disc.friction[0];
    const Scalar w = convex_weight(block);
    const Scalar r[3] = {(impulse(0) + block.shift(0)) / mu, (impulse(1) + block.shift(1)) / mu,
                         impulse(2) + block.shift(2)};
    const Scalar z[3] = {velocity(0) * mu, velocity(1) * mu, velocity(2)};
    const Scalar y[3] = {r[0] - z[0] / w, r[1] - z[1] / w, r[2] - z[2] / w};
    const Scalar length = sqrt(y[0] * y[0] + y[1] * y[1]);
    if (y[2] <= -length) return open(block, impulse, response);
    const Scalar soft = softness * w;
    if (length <= y[2]) {
      for (int k = 0; k < 3; ++k) {
        const Scalar unit = k < 2 ? mu : Scalar(1);
        const Scalar stuck = Scalar(1) / (block.regularization(k) + soft / (unit * unit));
        response.gain(k, k) = stuck;
        response.offset(k) = -stuck * velocity(k);
      }
      return;
    }
    const Scalar t[2] = {y[0] / length, y[1] / length};
    const Scalar share = (1 + y[2] / length) / 2;
    const Scalar tangent = mu * mu * block.regularization(0), normal = block.regularization(2);
    const Scalar along = r[0] * t[0] + r[1] * t[1], slip = z[0] * t[0] + z[1] * t[1];
    const Scalar held = 1 / ((normal + tangent) / 2 + soft);
    const Scalar stiff = 1 - share + share * (tangent + soft) / w;
    const Scalar across = share / (w * stiff);
    const Scalar root = sqrt(Scalar(0.5));
    const Scalar minus = -(r[2] - along) * root;
    const Scalar plus = -held * ((z[2] + slip) * root + (normal - tangent) / 2 * minus);
    response.offset(2) = (plus + minus) * root;
    response.gain(2, 2) = held / 2;
    for (int k = 0; k < 2; ++k) {
      response.offset(k) = mu * (t[k] * (plus - minus) * root - (r[k] - along * t[k]) / stiff);
      response.gain(k, 2) = response.gain(2, k) = mu * t[k] * held / 2;
      for (int l = 0; l < 2; ++l) {
        response.gain(k, l) =
            mu * mu *
            (across * ((k == l ? Scalar(1) : Scalar(0)) - t[k] * t[l]) + held / 2 * t[k] * t[l]);
      }
    }
  }

  /// a of each row for a law that clamps: 1/w, proportional to μ² in the rows of a disc.
  static SmallVector<Scalar, 6> clipping_mobility(const Block& block) noexcept {
    auto mobility = SmallVector<Scalar, 6>::filled(Scalar(1) / block.inverse_mass);
    for (const FrictionBlock<Scalar>& disc : FrictionBlocks<Scalar>(block.set)) {
      Scalar largest(0);
      for (int k = 0; k < disc.size; ++k) largest = (std::max)(largest, disc.mu(k));
      for (int k = 0; k < disc.size; ++k) {
        const Scalar part = largest > Scalar(0) ? disc.mu(k) / largest : Scalar(1);
        mobility(disc.row(k)) *= part * part;
      }
    }
    return mobility;
  }

  /// (I − D + D a (R + soft)) dγ = −(γ − 𝒞(y)) − D a du_w.
  static void write_general(const Block& block, FrictionLaw law, const Numbers& impulse,
                            const Numbers& velocity, const Scalar& softness,
                            Response& response) noexcept {
    using Six = SmallVector<Scalar, 6>;
    using Matrix = SmallMatrix<Scalar, 6>;
    const int rows = block.set.rows;
    const Scalar& w = block.inverse_mass;
    const auto by_rows = [&](const Numbers& x) { return Six::at(rows_of_parts(block, x).data()); };
    const Six gamma = by_rows(impulse), u = by_rows(velocity);
    const Six soft = by_rows(block.regularization + Numbers::filled(softness * w));
    const bool symmetric = law == FrictionLaw::convex || !block.is_cone();
    const bool clips = law == FrictionLaw::coulomb || !block.is_cone();
    const Six mobility = clips ? clipping_mobility(block) : Six::filled(Scalar(1) / w);
    const Six push = products(mobility, u);
    RowNumbers<Scalar> trial, weights;
    (gamma - push).write_to(trial.data());
    Six::filled(w).write_to(weights.data());
    const RowNumbers<Scalar> answer =
        clips ? coulomb_impulse(block.set, trial) : nearest_impulse(block.set, weights, trial);
    const SquareMatrix<Scalar, 6> slope =
        clips ? coulomb_slope(block.set, trial) : impulse_curvature(block.set, weights, trial);
    Matrix d;             // D = d𝒞/dy
    Scalar matrix[6][6];  // [column][row]
    for (int c = 0; c < 6; ++c) {
      for (int r = 0; r < 6; ++r) {
        const Scalar unit = r == c ? Scalar(1) : Scalar(0);
        d(r, c) = clips ? slope(r, c) : slope(r, c) * w;
        matrix[c][r] =
            r < rows && c < rows ? unit - d(r, c) + d(r, c) * mobility(c) * soft(c) : unit;
      }
    }
    // answer − γ, in which a u is not lost next to a large γ.
    Six offset = Six::at(answer.data()) - Six::at(trial.data()) - push;
    if (!invert_corner<6>(matrix)) return;
    Matrix inverse;
    for (int c = 0; c < 6; ++c) inverse.columns[c] = Six::at(matrix[c]);
    for (int r = rows; r < 6; ++r) offset(r) = 0;
    // D a (u + du_w + (R + soft) dγ): u is in y already.
    const Six moved = inverse * offset;
    Matrix gain = inverse * d;
    for (int c = 0; c < rows; ++c) gain.columns[c] *= mobility(c);
    for (int c = 0; c < rows; ++c) {
      for (int r = 0; r < rows; ++r) {
        response.gain(block.place(r), block.place(c)) =
            symmetric ? (gain(r, c) + gain(c, r)) / 2 : gain(r, c);
      }
      response.offset(block.place(c)) = moved(c);
    }
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
