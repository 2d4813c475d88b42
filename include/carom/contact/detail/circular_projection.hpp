// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "carom/contact/impulse_set.hpp"
#include "carom/linalg/detail/rounded_number.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

template <std::floating_point Scalar>
using RoundedRows = std::array<RoundedNumber<Scalar>, 6>;

/// The projection P(y) of a y that is known but for its rounding, by its closed form and with the
/// errors of every step, where the contact slides or sticks for all such y.
///
/// With x_b = y_b/μ_b and w_b = R_b μ_b² a circular block, which has one μ and one R, slides where
/// ‖x_b‖ > zₙ. The normal is zₙ = (Rₙ yₙ + Σ w_b ‖x_b‖)/(Rₙ + Σ w_b), summed over the blocks that
/// slide, and the tangents z_b = μ_b zₙ x_b/‖x_b‖. The length of y_b does not count in them, so
/// that a huge tangent y = −v/R does not bring its own rounding.
/// @cite  docs/derivations/rounding.md
template <std::floating_point Scalar>
class CircularProjection {
 public:
  using Number = RoundedNumber<Scalar>;
  using Rows = RowNumbers<Scalar>;

  /// @param set      a cone without shift.
  /// @param weights  R, > 0.
  /// @param trial    y.
  CircularProjection(const ImpulseSet<Scalar>& set, const Rows& weights,
                     const RoundedRows<Scalar>& trial) noexcept
      : trial_(trial) {
    for (const FrictionBlock<Scalar>& block : FrictionBlocks<Scalar>(set)) {
      read(block, weights);
    }
    const int normal = normal_row(set.shape);
    const Number own = weights(normal);
    Number push = own * trial[std::size_t(normal)];
    Number weight = own;
    // A block that slides lowers the ratio for no other: those with the longest x slide first.
    for (int turn = 0; turn < count_; ++turn) {
      Part* const longest = longest_at_rest();
      const Number beyond = longest->length - push / weight;
      if (!(beyond.value > Scalar(0))) break;
      longest->slides = true;
      push += longest->weight * longest->length;
      weight += longest->weight;
    }
    const Number height = push / weight;
    known_ = known_ && surely_positive(height);
    for (int b = 0; b < count_; ++b) {
      const Part& part = parts_[std::size_t(b)];
      known_ = known_ && surely_positive(part.slides ? part.length - height : height - part.length);
    }
    if (!known_) return;
    rows_[std::size_t(normal)] = height;
    for (int b = 0; b < count_; ++b) write(parts_[std::size_t(b)], height);
  }

  /// Whether every y within its errors leads to one and the same choice of what slides.
  [[nodiscard]] bool known() const noexcept { return known_; }
  /// P(y), where it is known.
  [[nodiscard]] const RoundedRows<Scalar>& rows() const noexcept { return rows_; }

 private:
  struct Part {
    FrictionBlock<Scalar> block;  ///< its rows with μ > 0
    Number length, weight;        ///< ‖x_b‖ and w_b
    bool slides = false;
  };

  [[nodiscard]] static bool surely_positive(const Number& x) noexcept {
    return x.value > Scalar(0) && x.least() > Scalar(0);
  }

  void read(const FrictionBlock<Scalar>& block, const Rows& weights) noexcept {
    Part& part = parts_[std::size_t(count_++)];
    Number squared;
    for (int k = 0; k < block.size; ++k) {
      if (!(block.mu(k) > Scalar(0))) continue;  // P is zero in this row
      part.block.add(block.row(k), block.mu(k));
      const Number x = trial_[std::size_t(block.row(k))] / block.mu(k);
      squared += x * x;
      const bool circular =
          block.mu(k) == part.block.mu(0) && weights(block.row(k)) == weights(part.block.row(0));
      known_ = known_ && circular;
    }
    part.length = square_root(squared);
    if (part.block.size == 0) return;
    const Number mu = part.block.mu(0);
    part.weight = Number(weights(part.block.row(0))) * mu * mu;
  }

  [[nodiscard]] Part* longest_at_rest() noexcept {
    Part* longest = nullptr;
    for (int b = 0; b < count_; ++b) {
      Part& part = parts_[std::size_t(b)];
      if (part.slides) continue;
      if (longest == nullptr || part.length.value > longest->length.value) longest = &part;
    }
    return longest;
  }

  void write(const Part& part, const Number& height) noexcept {
    for (int k = 0; k < part.block.size; ++k) {
      const auto row = std::size_t(part.block.row(k));
      rows_[row] = part.slides ? height * (trial_[row] / part.length) : trial_[row];
    }
  }

  const RoundedRows<Scalar>& trial_;
  std::array<Part, 3> parts_{};
  int count_ = 0;
  bool known_ = true;
  RoundedRows<Scalar> rows_{};
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
