// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/detail/block_error.hpp"
#include "carom/contact/detail/block_scales.hpp"
#include "carom/solvers/rows/body_rows.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// What the errors of a problem's blocks are measured by, as BlockScales finds it, in the parts of
/// BodyRows.
template <RealScalar Scalar>
class PartScales {
 public:
  /// @param rows  of the problem.
  /// @note  Allocates beyond the largest problem so far.
  void write(const ContactProblem<Scalar>& problem, const BodyRows<Scalar>& rows) {
    by_row_.write(problem);
    velocities_.resize(3 * rows.part_count());
    inverse_masses_.resize(3 * rows.part_count());
    rows.for_each_row([&](Index row, Index place) {
      velocities_[place] = by_row_.velocity(row);
      inverse_masses_[place] = by_row_.inverse_mass(row);
    });
  }
  /// The scales of a block, row by row.
  template <int Parts>
  [[nodiscard]] auto of(const BlockRows<Scalar, Parts>& block) const noexcept {
    using Rows = Vector<Scalar, Parts == 1 ? 3 : 6>;
    RowScales<Scalar, Parts == 1 ? 3 : 6> scales{Rows::Zero(), Rows::Zero()};
    int rows = 3;
    if constexpr (Parts > 1) rows = block.set.rows;
    for (int r = 0; r < rows; ++r) {
      const int place = block.place(r);
      scales.velocity(r) = velocities_[3 * block.first_part + place];
      scales.inverse_mass(r) =
          inverse_masses_[3 * block.first_part + place] + block.regularization(place);
    }
    return scales;
  }

 private:
  BlockScales<Scalar> by_row_;
  Sequence<Scalar> velocities_, inverse_masses_;  ///< by places in parts
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
