// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/detail/body_touches.hpp"
#include "carom/contact/dual.hpp"
#include "carom/solvers/answer/infeasibility_tuning.hpp"
#include "carom/solvers/answer/ray_cone.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Whether a row of a set is a normal or a tangent of a contact, and no row of another unit.
template <RealScalar Scalar>
[[nodiscard]] bool is_of_point(const ImpulseSet<Scalar>& set, int row) noexcept {
  const int n = normal_row(set.shape);
  return row <= n;
}

/// The norm of every row of a block on one side, and of the rows of a contact's point the largest
/// of them: axes are turned with rounding, so that a normal that nothing moves has some of the
/// tangents in it.
/// @param columns  Jᵀ or Ĵᵀ, size × rows.
template <RealScalar Scalar, typename Columns>
[[nodiscard]] RowNumbers<Scalar> point_norms(const ImpulseSet<Scalar>& set,
                                             const Columns& columns) noexcept {
  RowNumbers<Scalar> norms = RowNumbers<Scalar>::Zero();
  for (int r = 0; r < set.rows; ++r) norms(r) = columns.col(r).norm();
  const int n = normal_row(set.shape);
  if (n >= 0) norms.head(n + 1).setConstant(norms.head(n + 1).maxCoeff());
  return norms;
}
/// ‖J_k‖_{A⁻¹} of every row, as point_norms() has it.
template <typename Block>
[[nodiscard]] auto side_weights(const Block& block, int side) noexcept {
  return point_norms(block.set(), block.whitened_columns(side));
}

/// The speeds of the rows of a problem, and what part of a row's bias may be nothing but rounding:
/// docs/derivations/infeasibility.md.
template <RealScalar Scalar>
class DemandRounding {
 public:
  /// Of a problem given by bodies: |v̂_k| + Σ ‖J_k‖_{A⁻¹} ‖v*‖_A over the bodies of the row, with
  /// the weights of side_weights(). A body's part is at most ‖J_k‖ ‖v*‖ of its coordinates, which
  /// it would exceed where heavy and light parts are in one A.
  explicit DemandRounding(const ContactProblem<Scalar>& problem) {
    using std::abs;
    prepare(problem.impulse_count());
    const auto whitened = problem.whitened_free_velocity(), free = problem.free_velocity();
    problem.for_each_block([&](const auto& block) {
      const ImpulseSet<Scalar> set = block.set();
      for (int r = 0; r < block.rows(); ++r) {
        const Index row = block.first_row() + r;
        kind_[std::size_t(row)] = is_of_point(set, r) ? 1 : 0;
        speed_(row) = bias_(row) = abs(block.least_bias_velocity()(r));
      }
      for (int s = 0; s < block.side_count(); ++s) {
        const auto [start, size] = block.side(s).range;
        const RowNumbers<Scalar> by_energy =
            side_weights(block, s) * whitened.segment(start, size).norm();
        const RowNumbers<Scalar> by_entries =
            point_norms(set, block.columns(s)) * free.segment(start, size).norm();
        for (int r = 0; r < block.rows(); ++r) {
          const Index row = block.first_row() + r;
          if (side_weights(block, s)(r) > Scalar(0)) moves_[std::size_t(row)] = 1;
          speed_(row) += (std::min)(by_energy(r), by_entries(r));
        }
      }
    });
    finish(free.size() > 0 ? Scalar(free.cwiseAbs().maxCoeff()) : Scalar(0));
  }
  /// Of a problem in impulses: the largest |q| of the contact's point; |q_k| of other rows.
  explicit DemandRounding(const DelassusProblem<Scalar>& problem) {
    using std::abs;
    prepare(problem.row_count());
    problem.for_each_row([&](Index row, const auto& place) {
      bias_(row) = abs(problem.load(place.part)(place.row));
    });
    speed_ = bias_;
    for (Index i = 0; i < problem.count(); ++i) {
      Scalar largest(0);
      for (int r = 0; r < problem.set(i).rows; ++r) {
        const std::size_t row = std::size_t(problem.first_row(i) + r);
        kind_[row] = is_of_point(problem.set(i), r) ? 1 : 0;
        moves_[row] = row_inverse_mass(problem, i, r) > Scalar(0) ? 1 : 0;
        if (kind_[row] != 0) largest = (std::max)(largest, bias_(Index(row)));
      }
      for (int r = 0; r < problem.set(i).rows; ++r) {
        const Index row = problem.first_row(i) + r;
        if (kind_[std::size_t(row)] != 0) speed_(row) = largest;
      }
    }
    finish(Scalar(0));
  }

  /// Of every row [m/s, rad/s].
  [[nodiscard]] const VectorX<Scalar>& rows() const noexcept { return rounding_; }

 private:
  void prepare(Index rows) {
    bias_.setZero(rows);
    speed_.setZero(rows);
    kind_.assign(std::size_t(rows), 0);
    moves_.assign(std::size_t(rows), 0);
  }
  /// @param fallback  the speed where no row that moves anything has one.
  void finish(const Scalar& fallback) {
    using std::pow;
    constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
    const Scalar share = pow(epsilon, Scalar(InfeasibilityTuning::demand_power));
    Scalar speeds[] = {0, 0}, biases[] = {0, 0};  // largest ones by kind
    for (Index row = 0; row < bias_.size(); ++row) {
      const std::size_t kind = std::size_t(kind_[std::size_t(row)]);
      biases[kind] = (std::max)(biases[kind], bias_(row));
      if (moves_[std::size_t(row)] == 0) continue;
      speeds[kind] = (std::max)(speeds[kind], speed_(row));
    }
    for (Scalar& speed : speeds) speed = speed > Scalar(0) ? speed : fallback;
    rounding_.resize(bias_.size());
    for (Index row = 0; row < bias_.size(); ++row) {
      const std::size_t kind = std::size_t(kind_[std::size_t(row)]);
      Scalar speed = speed_(row);
      if (moves_[std::size_t(row)] == 0) speed = (std::max)(speed, speeds[kind]);
      rounding_(row) =
          share * speed + InfeasibilityTuning::product_roundings * epsilon * biases[kind];
    }
  }

  VectorX<Scalar> bias_, speed_, rounding_;
  std::vector<signed char> kind_;   ///< 1: of a contact's point, in m/s
  std::vector<signed char> moves_;  ///< 0: J_k = 0, the row moves nothing
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
