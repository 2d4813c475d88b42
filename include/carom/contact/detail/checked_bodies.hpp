// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/detail/projection_rounding.hpp"
#include "carom/linalg/detail/checked_inverse.hpp"
#include "carom/linalg/detail/range_loop.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The momentum of a body with bounds on its rounding error.
template <std::floating_point Scalar>
struct CheckedMomentum {
  Sequence<RoundedNumber<Scalar>> sum;
  /// Whitened: an upper bound of the contribution of errors in the impulses.
  Sequence<Scalar> doubt;
};

/// The bodies of a problem with checked inverses of their momentum factors: norms ‖p‖_{A⁻¹} that
/// are valid including all rounding.
/// @note  Cold: allocates.
template <std::floating_point Scalar>
class CheckedBodies {
 public:
  using Number = RoundedNumber<Scalar>;

  explicit CheckedBodies(const ContactProblem<Scalar>& problem, const FixedRanges& ranges = {})
      : problem_(problem) {
    inverses_.resize(problem.body_count());
    ranges.run_cold(problem.body_count(), [&](Index begin, Index end) {
      for (Index b = begin; b < end; ++b) {
        inverses_[b] =
            CheckedInverse<Scalar>(problem.momentum_matrix(b), problem.momentum_factor(b));
      }
    });
  }

  /// Computes A (v − v*) of a body.
  void write_momentum(Index body, const VectorX<Scalar>& velocity,
                      CheckedMomentum<Scalar>& momentum) const {
    const auto [start, size] = problem_.body(body);
    momentum.sum.assign(size, Number());
    momentum.doubt.assign(size, Scalar(0));
    const Scalar* const matrix = problem_.momentum_matrix(body).data();
    const Scalar* const free_velocity = problem_.free_velocity().data() + start;
    for (Index c = 0; c < size; ++c) {
      const Number change = Number(velocity(start + c)) - free_velocity[c];
      for (Index r = 0; r < size; ++r) {
        momentum.sum[r] += Number(matrix[r + c * size]) * change;
      }
    }
  }

  /// Subtracts Jᵀγ of a block from momenta of the body on one side.
  template <typename Rows, typename... Momenta>
  static void subtract(const BlockView<Scalar>& block, int s, const Rows& impulse,
                       Momenta&... momenta) noexcept {
    const Index size = block.side(s).range.size;
    for (int row = 0; row < block.rows(); ++row) {
      if (impulse(row) == Scalar(0)) continue;
      const Scalar* const jacobian = block.jacobian_row(s, row);
      for (Index i = 0; i < size; ++i) {
        const Number part = Number(jacobian[i]) * impulse(row);
        ((momenta.sum[i] -= part), ...);
      }
    }
  }

  /// Adds the uncertainty of impulses that were already subtracted.
  /// @param doubt  an upper bound of the error of γ, row by row.
  template <typename Rows>
  void add_doubt(const BlockView<Scalar>& block, int s, const Rows& doubt,
                 CheckedMomentum<Scalar>& momentum) const noexcept {
    for (int row = 0; row < block.rows(); ++row) {
      if (doubt(row) == Scalar(0)) continue;
      const Scalar* const jacobian = block.jacobian_row(s, row);
      for (Index i = 0; i < momentum.doubt.size(); ++i) {
        const Scalar reach = inverse_of(block, s).row_times(i, jacobian).most();
        momentum.doubt[i] = add_bounds(momentum.doubt[i], reach, doubt(row));
      }
    }
  }

  /// An upper bound of ‖p‖_{A⁻¹} of a body.
  [[nodiscard]] Scalar norm(Index body, const CheckedMomentum<Scalar>& momentum) const {
    const CheckedInverse<Scalar>& inverse = inverses_[body];
    VectorX<Scalar> whitened(momentum.doubt.size());
    for (Index i = 0; i < whitened.size(); ++i) {
      const Scalar known = inverse.row_times(i, momentum.sum.data()).most();
      whitened(i) = raised(known + momentum.doubt[i], 1);
    }
    const Scalar norm = norm_of_bounds(whitened);
    return norm == Scalar(0) ? norm : raised(inverse.factor() * norm, 1);
  }

  /// ‖J_i‖²_{A⁻¹} of a row on one side of a block.
  [[nodiscard]] Number row_squared(const BlockView<Scalar>& block, int s, int row) const noexcept {
    const CheckedInverse<Scalar>& inverse = inverse_of(block, s);
    Number sum;
    for (Index i = 0; i < block.side(s).range.size; ++i) {
      const Number entry = inverse.row_times(i, block.jacobian_row(s, row));
      sum += entry * entry;
    }
    const Number share = Number(inverse.defect()) / (Number(Scalar(1)) - inverse.defect());
    const Scalar spread = inverse.defect() < Scalar(1) ? (sum * share).most()
                                                       : std::numeric_limits<Scalar>::infinity();
    return {sum.value, raised(sum.error + spread, 2)};
  }

  /// J v of the rows of a block.
  [[nodiscard]] static RoundedRows<Scalar> velocity(const BlockView<Scalar>& block,
                                                    const VectorX<Scalar>& v) noexcept {
    RoundedRows<Scalar> result{};
    for (int s = 0; s < block.side_count(); ++s) {
      const auto [start, size] = block.side(s).range;
      for (int row = 0; row < block.rows(); ++row) {
        const Scalar* const jacobian = block.jacobian_row(s, row);
        Number& sum = result[std::size_t(row)];
        for (Index i = 0; i < size; ++i) sum += Number(jacobian[i]) * v(start + i);
      }
    }
    return result;
  }

 private:
  [[nodiscard]] const CheckedInverse<Scalar>& inverse_of(const BlockView<Scalar>& block,
                                                         int s) const noexcept {
    return inverses_[block.side(s).body];
  }

  const ContactProblem<Scalar>& problem_;
  Sequence<CheckedInverse<Scalar>> inverses_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
