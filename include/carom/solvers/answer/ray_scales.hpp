// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/solvers/answer/ray_cone.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The inverse masses along the rows of a problem, and the size of a ray in them.
template <RealScalar Scalar>
class RayScales {
 public:
  /// @param problem  must stay where it is.
  explicit RayScales(const DelassusProblem<Scalar>& problem) noexcept : problem_(problem) {}

  /// Diagonal entry of W + R.
  [[nodiscard]] Scalar inverse_mass(Index contact, int row) const noexcept {
    return row_inverse_mass(problem_, contact, row);
  }
  /// The largest inverse mass of a contact's rows; 1 where none of its bodies moves.
  [[nodiscard]] Scalar largest_inverse_mass(Index contact) const noexcept {
    Scalar largest(0);
    for (int r = 0; r < problem_.set(contact).rows; ++r) {
      largest = (std::max)(largest, inverse_mass(contact, r));
    }
    return largest > Scalar(0) ? largest : Scalar(1);
  }
  /// The inverse mass of the normal row; the largest one of a contact without a normal.
  [[nodiscard]] Scalar normal_inverse_mass(Index contact) const noexcept {
    const int n = normal_row(problem_.set(contact).shape);
    const Scalar own = n >= 0 ? inverse_mass(contact, n) : Scalar(0);
    return own > Scalar(0) ? own : largest_inverse_mass(contact);
  }
  /// √(Σ ‖J_kᵀ‖² r_k²), what a ray moves if its rows do not cancel.
  [[nodiscard]] Scalar gross_norm(const VectorX<Scalar>& ray) const {
    using std::sqrt;
    Scalar squared(0);
    problem_.for_each_row([&](Index row, const auto& place) {
      squared += problem_.diagonal(place.part)(place.row, place.row) * ray(row) * ray(row);
    });
    return sqrt(squared);
  }

 private:
  const DelassusProblem<Scalar>& problem_;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
