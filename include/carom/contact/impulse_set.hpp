// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <limits>
#include <string>

#include "carom/cones/box.hpp"
#include "carom/cones/ellipsoidal_cone.hpp"
#include "carom/cones/friction_cone.hpp"
#include "carom/cones/planar_cone.hpp"
#include "carom/cones/wrench_cone.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/core/invalid_input.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Numbers for the rows of one constraint. Numbers beyond its rows are zero.
template <RealScalar Scalar>
using RowNumbers = Vector<Scalar, 6>;

/// The kind of the set of impulses of a constraint.
enum class ImpulseShape {
  intervals,              ///< Box: each row between its bounds, which may be infinite.
  friction,               ///< FrictionCone, 3 rows.
  planar,                 ///< PlanarCone, 2 rows.
  elliptic,               ///< EllipticCone, 3 rows.
  torsional,              ///< TorsionalCone, 4 rows.
  rolling,                ///< RollingCone, 6 rows.
  ellipsoidal_torsional,  ///< EllipsoidalTorsionalCone, 4 rows.
  ellipsoidal_rolling,    ///< EllipsoidalRollingCone, 6 rows.
  spinless_rolling,       ///< SpinlessRollingCone, 5 rows.
};

/// Count of friction coefficients of a shape.
[[nodiscard]] constexpr int friction_count(ImpulseShape shape) noexcept {
  switch (shape) {
    case ImpulseShape::intervals:
      return 0;
    case ImpulseShape::friction:
    case ImpulseShape::planar:
      return 1;
    case ImpulseShape::elliptic:
    case ImpulseShape::torsional:
    case ImpulseShape::ellipsoidal_torsional:
    case ImpulseShape::spinless_rolling:
      return 2;
    case ImpulseShape::rolling:
    case ImpulseShape::ellipsoidal_rolling:
      return 3;
  }
  return 0;
}

/// Count of rows of a cone.
/// @param shape  not intervals, whose count of rows is arbitrary.
[[nodiscard]] constexpr int cone_row_count(ImpulseShape shape) noexcept {
  switch (shape) {
    case ImpulseShape::planar:
      return 2;
    case ImpulseShape::torsional:
    case ImpulseShape::ellipsoidal_torsional:
      return 4;
    case ImpulseShape::spinless_rolling:
      return 5;
    case ImpulseShape::rolling:
    case ImpulseShape::ellipsoidal_rolling:
      return 6;
    case ImpulseShape::intervals:
    case ImpulseShape::friction:
    case ImpulseShape::elliptic:
      break;
  }
  return 3;
}

/// A set of impulses with one to six rows, from a closed list of shapes, translated by a constant:
/// { γ : γ + shift ∈ C }.
template <RealScalar Scalar>
struct ImpulseSet {
  using scalar_type = Scalar;
  using Rows = RowNumbers<Scalar>;

  ImpulseShape shape = ImpulseShape::intervals;
  int rows = 1;
  Rows lower = Rows::Zero();  ///< of intervals [N·s, N·m·s], ≤ upper; −∞ allowed.
  Rows upper = Rows::Zero();  ///< of intervals, ≥ lower; +∞ allowed.
  /// Friction of cones, ≥ 0: μ; μ; (μ₁, μ₂); (μ, μₛ); (μ, μᵣ, μₛ) [-, m]; the last two again for
  /// ellipsoids; (μ, μᵣ) for the rolling cone without spin.
  Vector3<Scalar> friction = Vector3<Scalar>::Zero();
  Rows shift = Rows::Zero();  ///< of cones [N·s]: adhesion; the apex is at −shift.
};

/// The set of all impulses: an equality constraint.
template <RealScalar Scalar>
[[nodiscard]] ImpulseSet<Scalar> free_impulses(int rows) noexcept {
  ImpulseSet<Scalar> set;
  set.rows = rows;
  for (int i = 0; i < rows; ++i) {
    set.lower(i) = -std::numeric_limits<Scalar>::infinity();
    set.upper(i) = std::numeric_limits<Scalar>::infinity();
  }
  return set;
}

/// One row between bounds.
template <RealScalar Scalar>
[[nodiscard]] ImpulseSet<Scalar> bounded_impulse(const Scalar& lower,
                                                 const Scalar& upper) noexcept {
  ImpulseSet<Scalar> set;
  set.lower(0) = lower;
  set.upper(0) = upper;
  return set;
}

/// One row with impulses ≥ 0.
template <RealScalar Scalar>
[[nodiscard]] ImpulseSet<Scalar> pushing_impulse() noexcept {
  return bounded_impulse(Scalar(0), std::numeric_limits<Scalar>::infinity());
}

/// A cone by its coefficients of friction.
/// @param shape     not intervals.
/// @param friction  as in ImpulseSet; entries that the cone does not have are zero.
template <RealScalar Scalar>
[[nodiscard]] ImpulseSet<Scalar> cone_impulses(ImpulseShape shape,
                                               const Vector3<Scalar>& friction) noexcept {
  CAROM_EXPECTS(shape != ImpulseShape::intervals);
  ImpulseSet<Scalar> set;
  set.shape = shape;
  set.rows = cone_row_count(shape);
  set.friction = friction;
  return set;
}

/// Coulomb friction in space.
template <RealScalar Scalar>
[[nodiscard]] ImpulseSet<Scalar> friction_impulses(const Scalar& friction) noexcept {
  return cone_impulses<Scalar>(ImpulseShape::friction, {friction, Scalar(0), Scalar(0)});
}

namespace detail {

/// Whether the apex of a set differs from zero.
template <RealScalar Scalar>
[[nodiscard]] bool is_shifted(const ImpulseSet<Scalar>& set) noexcept {
  for (Index i = 0; i < set.shift.size(); ++i) {
    if (set.shift(i) != Scalar(0)) return true;
  }
  return false;
}

/// x + sign · shift.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> moved_by_shift(const ImpulseSet<Scalar>& set,
                                                const RowNumbers<Scalar>& x,
                                                const Scalar& sign) noexcept {
  RowNumbers<Scalar> result;
  for (int i = 0; i < 6; ++i) result(i) = x(i) + sign * set.shift(i);
  return result;
}

[[nodiscard]] constexpr bool is_ellipsoidal(ImpulseShape shape) noexcept {
  return shape == ImpulseShape::elliptic || shape == ImpulseShape::ellipsoidal_torsional ||
         shape == ImpulseShape::ellipsoidal_rolling;
}

/// The row of a cone's normal; −1 for intervals.
[[nodiscard]] constexpr int normal_row(ImpulseShape shape) noexcept {
  if (shape == ImpulseShape::intervals) return -1;
  return shape == ImpulseShape::planar ? 1 : 2;
}

/// The place of a row among the parts of three rows that a block consists of. The rows of a plane,
/// (t, n), are the first and the last of a part, so that a normal is always the last of a part.
[[nodiscard]] constexpr int part_place(ImpulseShape shape, int row) noexcept {
  return shape == ImpulseShape::planar ? 2 * row : row;
}
/// The row at a place of a block of `rows` rows; −1 where the place is empty.
[[nodiscard]] constexpr int row_at_place(ImpulseShape shape, int rows, int place) noexcept {
  if (shape == ImpulseShape::planar) return place == 0 ? 0 : place == 2 ? 1 : -1;
  return place < rows ? place : -1;
}

/// Rows with one common bound, ‖(γ_i/μ_i)‖ ≤ γₙ, and their μ.
template <RealScalar Scalar>
struct FrictionBlock {
  int size = 0;
  std::array<int, 5> rows{};
  std::array<Scalar, 5> friction{};

  void add(int row, const Scalar& mu) noexcept {
    rows[std::size_t(size)] = row;
    friction[std::size_t(size)] = mu;
    ++size;
  }
  [[nodiscard]] int row(int k) const noexcept { return rows[std::size_t(k)]; }
  [[nodiscard]] const Scalar& mu(int k) const noexcept { return friction[std::size_t(k)]; }
};

/// The blocks of rows that a cone's normal bounds; none for intervals.
template <RealScalar Scalar>
class FrictionBlocks {
 public:
  explicit FrictionBlocks(const ImpulseSet<Scalar>& set) noexcept {
    const int normal = normal_row(set.shape);
    if (normal < 0) return;
    const bool ellipsoidal = is_ellipsoidal(set.shape);
    const Vector3<Scalar>& mu = set.friction;
    FrictionBlock<Scalar>* block = blocks_;
    for (int r = 0; r < set.rows; ++r) {
      if (r == normal) continue;
      const bool spin = r == set.rows - 1;
      if (!ellipsoidal && (r == 3 || r == 5)) ++block;  // a new block begins
      if (r < 2) {
        block->add(r, set.shape == ImpulseShape::elliptic ? mu(r) : mu.x());
      } else {
        block->add(r, spin && set.rows == 6 ? mu.z() : mu.y());
      }
    }
    count_ = int(block - blocks_) + 1;
  }

  [[nodiscard]] const FrictionBlock<Scalar>* begin() const noexcept { return blocks_; }
  [[nodiscard]] const FrictionBlock<Scalar>* end() const noexcept { return blocks_ + count_; }

 private:
  FrictionBlock<Scalar> blocks_[3];
  int count_ = 0;
};

/// Calls visit(block) for each block of rows that the normal bounds, and returns the row of the
/// normal; −1 for intervals.
template <RealScalar Scalar, typename Visit>
int visit_friction_blocks(const ImpulseSet<Scalar>& set, Visit&& visit) noexcept {
  for (const FrictionBlock<Scalar>& block : FrictionBlocks<Scalar>(set)) visit(block);
  return normal_row(set.shape);
}

/// The places of the entries of a cone that is neither a friction cone nor ellipsoidal. The μ of
/// its blocks are those of the set.
[[nodiscard]] constexpr ConeLayout<3> shared_layout(ImpulseShape shape) noexcept {
  switch (shape) {
    case ImpulseShape::planar:
      return layout_of<PlanarCone<double>>();
    case ImpulseShape::torsional:
      return layout_of<TorsionalCone<double>>();
    case ImpulseShape::spinless_rolling:
      return layout_of<SpinlessRollingCone<double>>();
    default:
      return layout_of<RollingCone<double>>();
  }
}

/// Calls act(layout, μ) with the places of the entries of a cone that is not a friction cone.
template <RealScalar Scalar, typename Act>
void with_layout(const ImpulseSet<Scalar>& set, const Act& act) noexcept {
  if (!is_ellipsoidal(set.shape)) return act(shared_layout(set.shape), set.friction.data());
  const FrictionBlocks<Scalar> tangents(set);  // one block
  act(EllipsoidLayout{set.rows}, tangents.begin()->friction.data());
}

}  // namespace detail

/// P(y) = argmin ½ (γ − y)ᵀ R (γ − y) over the set, R = diag(weights).
/// @pre   weights > 0 in the set's rows, y finite.
/// @note  Real-time safe: no allocation, no exception, bounded work.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> nearest_impulse(const ImpulseSet<Scalar>& set,
                                                 const RowNumbers<Scalar>& weights,
                                                 const RowNumbers<Scalar>& y) noexcept {
  RowNumbers<Scalar> nearest = RowNumbers<Scalar>::Zero();
  if (set.shape == ImpulseShape::intervals) {
    for (int i = 0; i < set.rows; ++i) {
      nearest(i) = detail::clamped(set.lower(i), y(i), set.upper(i));
    }
    return nearest;
  }
  const RowNumbers<Scalar> moved = detail::moved_by_shift(set, y, Scalar(1));
  if (set.shape == ImpulseShape::friction) {
    const Vector3<Scalar> trial(moved(0), moved(1), moved(2)),
        w(weights(0), weights(1), weights(2));
    const Vector3<Scalar> point = project(FrictionCone<Scalar>{set.friction(0)}, w, trial).point;
    for (int i = 0; i < 3; ++i) nearest(i) = point(i);
  } else {
    detail::with_layout(set, [&](const auto& cone, const Scalar* mu) {
      detail::write_nearest(cone, mu, weights.data(), moved.data(), nearest.data());
    });
  }
  for (int i = 0; i < set.rows; ++i) nearest(i) -= set.shift(i);
  return nearest;
}

/// The same with all weights equal: the nearest impulse of the set in N·s.
template <RealScalar Scalar>
[[nodiscard]] RowNumbers<Scalar> nearest_impulse_unweighted(const ImpulseSet<Scalar>& set,
                                                            const RowNumbers<Scalar>& y) noexcept {
  RowNumbers<Scalar> ones;
  for (int i = 0; i < 6; ++i) ones(i) = Scalar(1);
  return nearest_impulse(set, ones, y);
}

/// G = (dP/dy) R⁻¹, symmetric positive semidefinite; on a boundary one generalised derivative.
/// Zero beyond the set's rows.
/// @note  Real-time safe: no allocation, no exception, bounded work.
template <RealScalar Scalar>
[[nodiscard]] SquareMatrix<Scalar, 6> impulse_curvature(const ImpulseSet<Scalar>& set,
                                                        const RowNumbers<Scalar>& weights,
                                                        const RowNumbers<Scalar>& y) noexcept {
  SquareMatrix<Scalar, 6> curvature = SquareMatrix<Scalar, 6>::Zero();
  if (set.shape == ImpulseShape::intervals) {
    for (int i = 0; i < set.rows; ++i) {
      const bool moves = detail::is_between(set.lower(i), y(i), set.upper(i));
      if (moves) curvature(i, i) = Scalar(1) / weights(i);
    }
    return curvature;
  }
  const RowNumbers<Scalar> moved = detail::moved_by_shift(set, y, Scalar(1));
  Scalar slope[36];
  if (set.shape == ImpulseShape::friction) {
    const Vector3<Scalar> trial(moved(0), moved(1), moved(2)),
        w(weights(0), weights(1), weights(2));
    const SquareMatrix<Scalar, 3> own =
        projection_derivative(FrictionCone<Scalar>{set.friction(0)}, w, trial);
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) slope[i + 6 * j] = own(i, j);
    }
  } else {
    detail::with_layout(set, [&](const auto& cone, const Scalar* mu) {
      detail::write_slope(cone, mu, weights.data(), moved.data(), 6, slope);
    });
  }
  for (int j = 0; j < set.rows; ++j) {
    for (int i = 0; i < set.rows; ++i) {
      curvature(i, j) = (slope[i + 6 * j] / weights(j) + slope[j + 6 * i] / weights(i)) / 2;
    }
  }
  return curvature;
}

/// The fault of a set; empty if there is none.
template <RealScalar Scalar>
[[nodiscard]] Fault set_fault(const std::string& item, const ImpulseSet<Scalar>& set) {
  if (set.shape == ImpulseShape::intervals) {
    if (set.rows < 1 || set.rows > 6) {
      return detail::fault(item + ": rows", "a number in [1, 6]", Index(set.rows));
    }
    for (int i = 0; i < set.rows; ++i) {
      const Scalar& lower = set.lower(i);
      if (!(lower < std::numeric_limits<Scalar>::infinity())) {
        return detail::fault(detail::entry(item + ": lower bound", i), "a number below infinity",
                             lower);
      }
      if (!(set.upper(i) >= lower && set.upper(i) > -std::numeric_limits<Scalar>::infinity())) {
        return detail::fault(detail::entry(item + ": upper bound", i),
                             "a number no less than the lower bound", set.upper(i));
      }
    }
    return {};
  }
  for (int i = 0; i < 3; ++i) {
    if (!detail::is_nonnegative(set.friction(i))) {
      return detail::fault(detail::entry(item + ": friction", i), "a finite number >= 0",
                           set.friction(i));
    }
  }
  const int rows = cone_impulses(set.shape, set.friction).rows;
  if (set.rows != rows) {
    return detail::fault(item + ": rows", std::to_string(rows).c_str(), Index(set.rows));
  }
  if (detail::all_finite(set.shift.data(), set.shift.size())) return {};
  return detail::finite_fault(item + ": shift", set.shift);
}

}  // namespace CAROM_ABI
}  // namespace carom
