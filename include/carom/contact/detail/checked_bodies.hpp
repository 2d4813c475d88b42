// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/detail/projection_rounding.hpp"
#include "carom/linalg/detail/checked_inverse.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// A momentum of all bodies, of which is known what rounding can have done to it.
template <std::floating_point Scalar>
struct CheckedMomentum {
  std::vector<RoundedNumber<Scalar>> sum;
  /// Whitened, what errors of the impulses can have added, at most.
  VectorX<Scalar> doubt;
};

/// The bodies of a problem with checked inverses of their momentum factors: norms ‖p‖_{A⁻¹} that
/// hold with all rounding.
/// @note  Cold: allocates.
template <std::floating_point Scalar>
class CheckedBodies {
 public:
  using Number = RoundedNumber<Scalar>;

  explicit CheckedBodies(const ContactProblem<Scalar>& problem) : problem_(problem) {
    inverses_.reserve(std::size_t(problem.body_count()));
    for (Index b = 0; b < problem.body_count(); ++b) {
      inverses_.emplace_back(problem.momentum_matrix(b), problem.momentum_factor(b));
    }
  }

  /// A (v − v*).
  [[nodiscard]] CheckedMomentum<Scalar> momentum_of(const VectorX<Scalar>& velocity) const {
    CheckedMomentum<Scalar> result{std::vector<Number>(std::size_t(velocity.size())),
                                   VectorX<Scalar>::Zero(velocity.size())};
    for (Index b = 0; b < problem_.body_count(); ++b) {
      const auto [start, size] = problem_.body(b);
      const auto matrix = problem_.momentum_matrix(b);
      for (Index c = start; c < start + size; ++c) {
        const Number change = Number(velocity(c)) - problem_.free_velocity()(c);
        for (Index r = 0; r < size; ++r) {
          result.sum[std::size_t(start + r)] += Number(matrix(r, c - start)) * change;
        }
      }
    }
    return result;
  }

  /// Takes Jᵀγ of a block off a momentum.
  /// @param doubt  at least what γ is off, row by row.
  template <typename Block, typename Rows>
  void subtract(const Block& block, const Rows& impulse, const RowNumbers<Scalar>& doubt,
                CheckedMomentum<Scalar>& momentum) const noexcept {
    for (int s = 0; s < block.side_count(); ++s) {
      const auto [start, size] = block.side(s).range;
      const auto columns = block.columns(s);
      for (int row = 0; row < block.rows(); ++row) {
        const Scalar* const jacobian = columns.col(row).data();
        for (Index i = 0; i < size && impulse(row) != Scalar(0); ++i) {
          momentum.sum[std::size_t(start + i)] -= Number(jacobian[i]) * impulse(row);
        }
        for (Index i = 0; i < size && doubt(row) != Scalar(0); ++i) {
          const Scalar reach = inverse_of(block, s).row_times(i, jacobian).most();
          Scalar& sum = momentum.doubt(start + i);
          sum = raised(sum + reach * doubt(row), 2);
        }
      }
    }
  }

  /// An upper bound of ‖p‖_{A⁻¹} of each body.
  [[nodiscard]] VectorX<Scalar> norms(const CheckedMomentum<Scalar>& momentum) const {
    VectorX<Scalar> result(problem_.body_count());
    for (Index b = 0; b < problem_.body_count(); ++b) {
      const auto [start, size] = problem_.body(b);
      const auto& inverse = inverses_[std::size_t(b)];
      VectorX<Scalar> whitened(size);
      for (Index i = 0; i < size; ++i) {
        const Scalar known = inverse.row_times(i, momentum.sum.data() + start).most();
        whitened(i) = raised(known + momentum.doubt(start + i), 1);
      }
      const Scalar norm = norm_of_bounds(whitened);
      result(b) = norm == Scalar(0) ? norm : raised(inverse.factor() * norm, 1);
    }
    return result;
  }

  /// ‖J_i‖²_{A⁻¹} of a row on one side of a block.
  template <typename Block>
  [[nodiscard]] Number row_squared(const Block& block, int s, int row) const noexcept {
    const auto columns = block.columns(s);
    const CheckedInverse<Scalar>& inverse = inverse_of(block, s);
    Number sum;
    for (Index i = 0; i < columns.rows(); ++i) {
      const Number entry = inverse.row_times(i, columns.col(row).data());
      sum += entry * entry;
    }
    const Number share = Number(inverse.defect()) / (Number(Scalar(1)) - inverse.defect());
    const Scalar spread = inverse.defect() < Scalar(1) ? (sum * share).most()
                                                       : std::numeric_limits<Scalar>::infinity();
    return {sum.value, raised(sum.error + spread, 2)};
  }

  /// J v of a block's rows.
  /// @param off  at most how far v is from the exact one in the norm of A, body by body.
  template <typename Block>
  [[nodiscard]] RoundedRows<Scalar> velocity(const Block& block, const VectorX<Scalar>& v,
                                             const VectorX<Scalar>& off) const noexcept {
    RoundedRows<Scalar> result{};
    for (int s = 0; s < block.side_count(); ++s) {
      const auto [start, size] = block.side(s).range;
      const auto columns = block.columns(s);
      const Scalar& distance = off(block.side(s).body);
      for (int row = 0; row < block.rows(); ++row) {
        Number& sum = result[std::size_t(row)];
        for (Index i = 0; i < size; ++i) sum += Number(columns(i, row)) * v(start + i);
        if (distance == Scalar(0)) continue;
        const Scalar reach = square_root(row_squared(block, s, row)).most();
        sum.error = raised(sum.error + reach * distance, 2);
      }
    }
    return result;
  }

 private:
  template <typename Block>
  [[nodiscard]] const CheckedInverse<Scalar>& inverse_of(const Block& block, int s) const noexcept {
    return inverses_[std::size_t(block.side(s).body)];
  }

  const ContactProblem<Scalar>& problem_;
  std::vector<CheckedInverse<Scalar>> inverses_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
