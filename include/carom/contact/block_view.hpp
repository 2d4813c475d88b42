// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <type_traits>

#include <Eigen/Core>

#include "carom/contact/bodies.hpp"
#include "carom/contact/compliance.hpp"
#include "carom/contact/detail/inverse_mass.hpp"
#include "carom/contact/weighted_block.hpp"
#include "carom/core/detail/plain_loops.hpp"
#include "carom/core/detail/small_vector.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The data of a block on one of its bodies.
template <RealScalar Scalar>
struct BlockSide {
  Index body;
  BodyRange range;         ///< of the body
  const Scalar* jacobian;  ///< Jᵀ, size × rows, stored by columns
  const Scalar* whitened;  ///< Ĵᵀ = L⁻¹ Jᵀ
};

namespace detail {

/// Adds Ĵ w of a friction contact on a rigid body: three rows of six numbers.
template <RealScalar Scalar>
inline void add_six_dots(const Scalar* rows, const Scalar* w, Scalar* velocity) noexcept {
  using Four = SmallVector<Scalar, 4>;
  using Two = SmallVector<Scalar, 2>;
  const Four first = Four::at(w);
  const Two last = Two::at(w + 4);
  CAROM_UNROLL
  for (int r = 0; r < 3; ++r) {
    const Four four = Four::at(rows + 6 * r);
    const Two two = Two::at(rows + 6 * r + 4);
    Scalar product[6];
    CAROM_UNROLL
    for (int k = 0; k < 4; ++k) product[k] = four(k) * first(k);
    CAROM_UNROLL
    for (int k = 0; k < 2; ++k) product[4 + k] = two(k) * last(k);
    velocity[r] +=
        ((product[0] + product[2]) + product[4]) + ((product[1] + product[3]) + product[5]);
  }
}
/// Adds Ĵᵀ γ of a friction contact to the six whitened velocities of a rigid body.
template <RealScalar Scalar>
inline void add_six_multiples(const Scalar* impulse, const Scalar* rows, Scalar* w) noexcept {
  using Four = SmallVector<Scalar, 4>;
  using Two = SmallVector<Scalar, 2>;
  Four first = Four::at(w);
  Two last = Two::at(w + 4);
  CAROM_UNROLL
  for (int r = 0; r < 3; ++r) {
    first += impulse[r] * Four::at(rows + 6 * r);
    last += impulse[r] * Two::at(rows + 6 * r + 4);
  }
  first.write_to(w);
  last.write_to(w + 4);
}

}  // namespace detail

/// One block of rows of a ContactProblem: its bodies, J, its law, and quantities computed from
/// them. A loop over all blocks is therefore written once.
///
/// ```
/// problem.for_each_block([&](const auto& block) {
///   block.add_momentum(block.impulse(velocity), momentum);  // momentum += Jᵀ P(y(v))
/// });
/// ```
/// @tparam Capacity  6: any block; numbers beyond its rows are zero. 3: a friction contact by its
///                   own type; its rows are (t₁, t₂, n).
/// @note  The view refers to the memory of the problem. Real-time safe: no allocation, no
///        exception.
template <RealScalar Scalar, int Capacity = 6>
class BlockView {
 public:
  static constexpr int capacity = Capacity;
  using Rows = Vector<Scalar, Capacity>;
  using Law = std::conditional_t<Capacity == 3, WeightedContact<Scalar>, WeightedBlock<Scalar>>;
  using Columns =
      Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, Capacity == 3 ? 3 : Eigen::Dynamic>>;

  using Side = BlockSide<Scalar>;

  BlockView(Index number, Index first_row, const Law& law, int side_count,
            const std::array<Side, 2>& sides) noexcept
      : number_(number), first_row_(first_row), law_(law), side_count_(side_count), sides_(sides) {}

  /// Its index in the problem.
  [[nodiscard]] Index number() const noexcept { return number_; }
  /// Where its rows begin in the stacked impulses.
  [[nodiscard]] Index first_row() const noexcept { return first_row_; }
  [[nodiscard]] int rows() const noexcept {
    if constexpr (Capacity == 3) {
      return 3;
    } else {
      return law_.set.rows;
    }
  }
  [[nodiscard]] const Law& law() const noexcept { return law_; }
  [[nodiscard]] int side_count() const noexcept { return side_count_; }
  [[nodiscard]] const Side& side(int side) const noexcept { return sides_[std::size_t(side)]; }
  /// Jᵀ of one side, size × rows.
  [[nodiscard]] Columns columns(int s) const noexcept {
    return {side(s).jacobian, side(s).range.size, rows()};
  }
  /// Ĵᵀ = L⁻¹ Jᵀ of one side.
  [[nodiscard]] Columns whitened_columns(int s) const noexcept {
    return {side(s).whitened, side(s).range.size, rows()};
  }
  /// One row of J of one side, with as many numbers as the body has velocities.
  [[nodiscard]] const Scalar* jacobian_row(int s, int row) const noexcept {
    return side(s).jacobian + row * side(s).range.size;
  }
  /// The same row of Ĵ.
  [[nodiscard]] const Scalar* whitened_row(int s, int row) const noexcept {
    return side(s).whitened + row * side(s).range.size;
  }

  // --- stacked impulses ---

  /// Its rows of a stacked vector.
  template <typename VectorType>
  [[nodiscard]] Rows read(const Eigen::MatrixBase<VectorType>& stacked) const noexcept {
    return read(numbers_of(stacked));
  }
  [[nodiscard]] Rows read(const Scalar* stacked) const noexcept {
    Rows result = Rows::Zero();
    for (int i = 0; i < rows(); ++i) result(i) = stacked[first_row_ + i];
    return result;
  }
  template <typename VectorType>
  void write(const Rows& numbers, VectorType& stacked) const noexcept {
    for (int i = 0; i < rows(); ++i) stacked(first_row_ + i) = numbers(i);
  }

  // --- the Jacobian ---

  /// J v [m/s, rad/s].
  template <typename VectorType>
  [[nodiscard]] Rows velocity(const Eigen::MatrixBase<VectorType>& v) const noexcept {
    return velocity(numbers_of(v));
  }
  [[nodiscard]] Rows velocity(const Scalar* v) const noexcept {
    Rows result = Rows::Zero();
    for (int s = 0; s < side_count_; ++s) {
      const Side& own = side(s);
      detail::with_count(own.range.size, [&](auto size) noexcept {
        for (int row = 0; row < rows(); ++row) {
          result(row) += detail::long_dot(own.jacobian + row * size, v + own.range.start, size);
        }
      });
    }
    return result;
  }
  /// Adds Jᵀ γ to a momentum.
  template <typename VectorType>
  void add_momentum(const Rows& impulse, VectorType& momentum) const noexcept {
    for (int s = 0; s < side_count_; ++s) add_momentum(s, impulse, momentum);
  }
  /// Adds Jᵀ γ of one side only.
  template <typename VectorType>
  void add_momentum(int s, const Rows& impulse, VectorType& momentum) const noexcept {
    add_momentum(s, impulse, momentum.data());
  }
  void add_momentum(int s, const Rows& impulse, Scalar* momentum) const noexcept {
    const auto [start, size] = side(s).range;
    for (int row = 0; row < rows(); ++row) {
      detail::add_multiple(impulse(row), jacobian_row(s, row), size, momentum + start);
    }
  }
  /// Adds Ĵ w to velocities of the rows.
  /// @param w  whitened velocities of all bodies.
  void add_whitened_velocity(const Scalar* w, Scalar* velocity) const noexcept {
    for (int s = 0; s < side_count_; ++s) {
      const auto [start, size] = side(s).range;
      if (Capacity == 3 && size == 6) {
        detail::add_six_dots(side(s).whitened, w + start, velocity);
        continue;
      }
      for (int row = 0; row < rows(); ++row) {
        velocity[row] += detail::long_dot(whitened_row(s, row), w + start, size);
      }
    }
  }
  /// Adds Ĵᵀ γ to whitened velocities of all bodies.
  void add_whitened_impulse(const Scalar* impulse, Scalar* w) const noexcept {
    for (int s = 0; s < side_count_; ++s) {
      const auto [start, size] = side(s).range;
      if (Capacity == 3 && size == 6) {
        detail::add_six_multiples(impulse, side(s).whitened, w + start);
        continue;
      }
      for (int row = 0; row < rows(); ++row) {
        detail::add_multiple(impulse[row], whitened_row(s, row), size, w + start);
      }
    }
  }
  /// W_ii = J A⁻¹ Jᵀ of the rows, zero beyond them.
  [[nodiscard]] SquareMatrix<Scalar, Capacity> own_delassus() const noexcept {
    SquareMatrix<Scalar, Capacity> own = SquareMatrix<Scalar, Capacity>::Zero();
    for (int s = 0; s < side_count_; ++s) {
      detail::add_own_delassus(side(s).whitened, side(s).range.size, rows(), own);
    }
    return own;
  }
  /// Σ ‖Jₖ‖²_{A⁻¹} γₖ² over the rows [J].
  [[nodiscard]] Scalar gross_squared(const Rows& impulse) const noexcept {
    Scalar sum = 0;
    for (int s = 0; s < side_count_; ++s) {
      for (int row = 0; row < rows(); ++row) {
        const Scalar* const whitened = whitened_row(s, row);
        sum +=
            detail::long_dot(whitened, whitened, side(s).range.size) * impulse(row) * impulse(row);
      }
    }
    return sum;
  }
  /// The trace of J A⁻¹ Jᵀ [1/kg].
  [[nodiscard]] Scalar own_trace() const noexcept {
    Scalar sum = 0;
    for (int s = 0; s < side_count_; ++s) {
      const Scalar* const all = side(s).whitened;
      sum += detail::dot(all, all, rows() * side(s).range.size);
    }
    return sum;
  }

  // --- the law ---

  /// R [1/kg, 1/(kg·m²)]. For a rigid block it is the R for solvers that need one. It is 1 beyond
  /// the rows.
  [[nodiscard]] Rows regularization() const noexcept {
    if constexpr (Capacity == 3) {
      const auto [tangent, normal] = law_.regularization;
      return {tangent, tangent, normal};
    } else {
      return law_.regularization;
    }
  }
  /// v̂ [m/s, rad/s].
  [[nodiscard]] const Rows& bias_velocity() const noexcept { return law_.bias_velocity; }
  /// v̂ without the part that removes the overlap of a rigid contact. An answer need not satisfy
  /// that part.
  [[nodiscard]] Rows least_bias_velocity() const noexcept {
    Rows result = law_.bias_velocity;
    if (law_.rigid) result(2) -= law_.overlap_velocity;
    return result;
  }
  [[nodiscard]] ImpulseSet<Scalar> set() const noexcept {
    if constexpr (Capacity == 3) {
      return friction_impulses(law_.friction);
    } else {
      return law_.set;
    }
  }
  /// Whether the set is a cone with its apex at zero.
  [[nodiscard]] bool is_cone() const noexcept {
    if constexpr (Capacity == 3) {
      return true;
    } else {
      return law_.set.shape != ImpulseShape::intervals && !detail::is_shifted(law_.set);
    }
  }
  /// y = R⁻¹(v̂ − u) [N·s], the impulse for a velocity u of the rows without the set.
  [[nodiscard]] Rows trial(const Rows& velocity) const noexcept {
    const Rows& bias = bias_velocity();
    Rows result = regularization();
    for (int i = 0; i < Capacity; ++i) result(i) = (bias(i) - velocity(i)) / result(i);
    return result;
  }
  /// P(y), the nearest impulse in the set in the metric R.
  [[nodiscard]] Rows nearest(const Rows& y) const noexcept {
    if constexpr (Capacity == 3) {
      return project(FrictionCone<Scalar>{law_.friction}, law_.regularization, y).point;
    } else {
      return nearest_impulse(law_.set, law_.regularization, y);
    }
  }
  /// G = (dP/dy) R⁻¹ [kg], symmetric positive semidefinite; on a boundary one generalised
  /// derivative.
  [[nodiscard]] SquareMatrix<Scalar, Capacity> curvature(const Rows& y) const noexcept {
    if constexpr (Capacity == 3) {
      return projection_curvature(FrictionCone<Scalar>{law_.friction}, regularization(), y);
    } else {
      return impulse_curvature(law_.set, law_.regularization, y);
    }
  }
  /// The nearest impulse in the set in the Euclidean norm [N·s].
  [[nodiscard]] Rows nearest_unweighted(const Rows& y) const noexcept {
    if constexpr (Capacity == 3) {
      return project(FrictionCone<Scalar>{law_.friction}, y).point;
    } else {
      return nearest_impulse_unweighted(law_.set, y);
    }
  }
  /// Inverse dynamics: γ = P(y(v)) [N·s] for a velocity of the bodies.
  template <typename VectorType>
  [[nodiscard]] Rows impulse(const Eigen::MatrixBase<VectorType>& v) const noexcept {
    return nearest(trial(velocity(v)));
  }
  /// ½‖γ‖²_R [J].
  [[nodiscard]] Scalar regularization_cost(const Rows& impulse) const noexcept {
    const Rows weights = regularization();
    Scalar sum(0);
    for (int i = 0; i < rows(); ++i) sum += weights(i) * (impulse(i) * impulse(i));
    return sum / 2;
  }
  /// γᵀR y − ½‖γ‖²_R [J] for γ = P(y). For cones it is ½‖γ‖²_R.
  [[nodiscard]] Scalar cost(const Rows& y, const Rows& impulse) const noexcept {
    if (is_cone()) return regularization_cost(impulse);
    const Rows weights = regularization();
    Scalar sum(0);
    for (int i = 0; i < rows(); ++i) sum += weights(i) * impulse(i) * (y(i) - impulse(i) / 2);
    return sum;
  }
  /// u = J v − v̂ + R γ [m/s, rad/s] for a velocity J v of the rows.
  [[nodiscard]] Rows slope(const Rows& velocity, const Rows& impulse) const noexcept {
    const Rows& bias = bias_velocity();
    Rows result = regularization();
    for (int i = 0; i < Capacity; ++i) result(i) = velocity(i) - bias(i) + result(i) * impulse(i);
    return result;
  }
  /// The same without R γ if the law is rigid.
  [[nodiscard]] Rows law_slope(const Rows& velocity, const Rows& impulse) const noexcept {
    return law_.rigid ? slope(velocity, Rows::Zero()) : slope(velocity, impulse);
  }

 private:
  template <typename VectorType>
  [[nodiscard]] static const Scalar* numbers_of(
      const Eigen::MatrixBase<VectorType>& vector) noexcept {
    static_assert(VectorType::InnerStrideAtCompileTime == 1, "the numbers stand side by side");
    return vector.derived().data();
  }

  Index number_, first_row_;
  const Law& law_;
  int side_count_;
  std::array<Side, 2> sides_;
};

}  // namespace CAROM_ABI
}  // namespace carom
