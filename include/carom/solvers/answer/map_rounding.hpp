// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/coulomb_law.hpp"
#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/detail/projection_rounding.hpp"
#include "carom/core/detail/plain_loops.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A point near P(y) of a y with rounding, and a bound of its error, row by row.
template <std::floating_point Scalar>
struct CheckedPoint {
  RowNumbers<Scalar> value, doubt;
};

/// @param trial  y; where its value is not finite the point is zero.
template <std::floating_point Scalar>
[[nodiscard]] CheckedPoint<Scalar> nearest_point(const ImpulseSet<Scalar>& set,
                                                 const RowNumbers<Scalar>& weights,
                                                 const RoundedRows<Scalar>& trial) noexcept {
  RowNumbers<Scalar> y, nearest = RowNumbers<Scalar>::Zero();
  for (Index i = 0; i < y.size(); ++i) y(i) = trial[std::size_t(i)].value;
  if (all_finite(y.data(), y.size())) nearest = nearest_impulse(set, weights, y);
  return {nearest, ProjectionRounding<Scalar>(set, weights, trial, nearest).rows()};
}

/// Sums that make up a natural map error.
///
/// The map is computed with the computed w as an exact number. With the exact number w' it is
/// larger by at most max(1, w'/w). The projected points therefore do not contain the rounding of w.
template <std::floating_point Scalar>
class CheckedMap {
 public:
  using Number = RoundedNumber<Scalar>;

  /// @param mobility  w, the mean diagonal of W + R, > 0.
  /// @param load      ‖q‖.
  CheckedMap(const Number& mobility, const Number& load) noexcept
      : mobility_(mobility), load_(load) {}

  /// Adds the rows of a block.
  /// @param gamma   γ.
  /// @param lifted  ũ of the law.
  /// @param u       rows of u.
  void add(const ImpulseSet<Scalar>& set, const RowNumbers<Scalar>& gamma,
           const RoundedRows<Scalar>& lifted, const RoundedRows<Scalar>& u) noexcept {
    const RowNumbers<Scalar> ones = RowNumbers<Scalar>::Ones();
    const Number w = mobility_.value;
    RoundedRows<Scalar> trial{};
    for (int i = 0; i < set.rows; ++i) {
      trial[std::size_t(i)] = Number(gamma(i)) - lifted[std::size_t(i)] / w;
    }
    const CheckedPoint<Scalar> nearest = nearest_point(set, ones, trial);
    for (int i = 0; i < set.rows; ++i) {
      const Number miss = (Number(gamma(i)) - Number(nearest.value(i), nearest.doubt(i))) * w;
      const Number push = mobility_ * gamma(i);
      map_ += miss * miss;
      impulse_ += push * push;
      velocity_ += u[std::size_t(i)] * u[std::size_t(i)];
    }
  }
  /// Adds the sums of another map with the same w and ‖q‖.
  CheckedMap& operator+=(const CheckedMap& other) noexcept {
    map_ += other.map_;
    impulse_ += other.impulse_;
    velocity_ += other.velocity_;
    return *this;
  }
  /// An upper bound of ‖r − P(r − ũ)‖ relative to max(‖q‖, ‖γ‖ w, ‖u‖).
  [[nodiscard]] Scalar relative() const noexcept {
    const Scalar scale =
        (std::max)({load_.least(), square_root(impulse_).least(), square_root(velocity_).least()});
    return relative_to(scale);
  }
  /// The same relative to ‖q‖ alone.
  [[nodiscard]] Scalar absolute() const noexcept { return relative_to(load_.least()); }

 private:
  [[nodiscard]] Scalar relative_to(const Scalar& scale) const noexcept {
    const Number more = (mobility_ - mobility_.value) / mobility_.value;  // w'/w − 1
    const Scalar most = raised(square_root(map_).most() * (1 + more.most_or_zero()), 2);
    if (most == Scalar(0) || !(scale > Scalar(0))) return most;
    return raised(most / scale, 2);
  }

  Number mobility_, load_;
  Number map_, impulse_, velocity_;  ///< squares of their norms
};

/// A mean or norm of a problem's rows as the problem stores it. It is computed with rounding, or it
/// is that of another problem of which this one is an island; then it counts as exact.
/// @param lost  a bound of the loss by underflow in the stored number.
template <std::floating_point Scalar>
[[nodiscard]] RoundedNumber<Scalar> choose_yardstick(const RoundedNumber<Scalar>& own,
                                                     const Scalar& stored, Index rows,
                                                     const Scalar& lost) noexcept {
  const Scalar rounded = Scalar(rows + 4) * unit_rounding<Scalar> * std::abs(own.value);
  const Scalar doubt = raised(own.error + rounded + lost, 4);
  return std::abs(stored - own.value) <= doubt ? own : RoundedNumber<Scalar>(stored);
}

/// w, the mean diagonal of W + R; 1 where it is not positive.
template <std::floating_point Scalar>
[[nodiscard]] RoundedNumber<Scalar> rounded_scale(const DelassusProblem<Scalar>& problem) noexcept {
  using Number = RoundedNumber<Scalar>;
  Number diagonal;
  for (Index part = 0; part < problem.part_count(); ++part) {
    for (const auto* n = problem.begin(part); n != problem.end(part); ++n) {
      if (Index(n->part) != part) continue;
      for (int row = 0; row < 3; ++row) diagonal += n->matrix(row, row);
    }
    for (int row = 0; row < 3; ++row) diagonal += problem.regularization(part)(row);
  }
  if (!(diagonal.value > Scalar(0))) return problem.inverse_mass_scale();
  return choose_yardstick(diagonal / Number(Scalar(problem.row_count())),
                          problem.inverse_mass_scale(), problem.row_count(),
                          2 * (std::numeric_limits<Scalar>::min)());
}

/// ‖q‖.
template <std::floating_point Scalar>
[[nodiscard]] RoundedNumber<Scalar> rounded_load(const DelassusProblem<Scalar>& problem) noexcept {
  RoundedNumber<Scalar> squared;
  for (Index part = 0; part < problem.part_count(); ++part) {
    for (int row = 0; row < 3; ++row) {
      const RoundedNumber<Scalar> q = problem.load(part)(row);
      squared += q * q;
    }
  }
  // Each square that underflows loses at most the smallest normal number.
  const Scalar lost = std::sqrt(Scalar(problem.row_count()) * (std::numeric_limits<Scalar>::min)());
  return choose_yardstick(square_root(squared), problem.load_norm(), problem.row_count(), lost);
}

/// One row of u = (W + R) γ + q. If W is a function, its product counts as exact.
/// @param impulse, product  γ, and W γ where W is a function, in parts.
template <std::floating_point Scalar>
[[nodiscard]] RoundedNumber<Scalar> rounded_velocity(const DelassusProblem<Scalar>& problem,
                                                     Index part, int row,
                                                     const VectorX<Scalar>& impulse,
                                                     const VectorX<Scalar>& product) noexcept {
  using Number = RoundedNumber<Scalar>;
  Number sum = Number(problem.regularization(part)(row)) * impulse(3 * part + row);
  if (problem.matrix_free()) return sum + product(3 * part + row) + problem.load(part)(row);
  for (const auto* n = problem.begin(part); n != problem.end(part); ++n) {
    for (int c = 0; c < 3; ++c) {
      sum += Number(n->matrix(row, c)) * impulse(3 * Index(n->part) + c);
    }
  }
  return sum + problem.load(part)(row);
}

/// The sums of the natural map error of impulses under a law.
/// @param impulse  γ in parts.
/// @note  Cold: allocates.
template <std::floating_point Scalar>
[[nodiscard]] CheckedMap<Scalar> check_natural_map(const DelassusProblem<Scalar>& problem,
                                                   FrictionLaw law,
                                                   const VectorX<Scalar>& impulse) {
  VectorX<Scalar> product = VectorX<Scalar>::Zero(impulse.size());
  if (problem.matrix_free()) {
    problem.product().multiply(problem.product().context, as_span(impulse), as_span(product));
  }
  CheckedMap<Scalar> map(rounded_scale(problem), rounded_load(problem));
  for (Index i = 0; i < problem.count(); ++i) {
    const ImpulseSet<Scalar>& set = problem.set(i);
    RoundedRows<Scalar> u{};
    RowNumbers<Scalar> gamma = RowNumbers<Scalar>::Zero();
    for (int r = 0; r < set.rows; ++r) {
      const auto [part, row] = problem.place_of(i, r);
      gamma(r) = impulse(3 * part + row);
      u[std::size_t(r)] = rounded_velocity(problem, part, row, impulse, product);
    }
    RoundedRows<Scalar> lifted = u;
    if (const int n = normal_row(set.shape); n >= 0 && law == FrictionLaw::coulomb) {
      lifted[std::size_t(n)] += add_lift(RoundedNumber<Scalar>(), set, u);
    }
    map.add(set, gamma, lifted, u);
  }
  return map;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
