// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/detail/body_touches.hpp"
#include "carom/contact/dual.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Converts contact problems given by bodies to their dual form, W = J A⁻¹ Jᵀ, q = J v* − v̂, block
/// by block. R is zero for a rigid block, and that of the problem for a compliant one. Products of
/// finite numbers that are beyond the range of the type are written as they are: is_finite() of the
/// dual form tells.
/// @note  The memory is reused. Allocates only for a problem larger than every problem before.
template <RealScalar Scalar>
class DelassusForm {
 public:
  /// @param dual  written and assembled.
  void write(const ContactProblem<Scalar>& problem, DelassusProblem<Scalar>& dual) {
    add_blocks(problem, dual);
    touches_.gather(problem);
    for (Index b = 0; b < problem.body_count(); ++b) add_body(problem, b, dual);
    dual.assemble();
  }

  /// The same with W as a function, W γ = J (A⁻¹ (Jᵀ γ)), body by body. Memory and work are
  /// proportional to the count of contacts, not to the count of pairs of contacts on one body.
  /// @param problem, dual  dual refers to problem and to this object; both must stay at their
  ///                       address while dual is used. Use it on one thread only, because products
  ///                       share the memory of this object.
  void write_matrix_free(const ContactProblem<Scalar>& problem, DelassusProblem<Scalar>& dual) {
    add_blocks(problem, dual);
    detail::BodyTouches::for_each_side(problem, [&](Index, int block, int side) {
      add_product(problem, {block, side}, {block, side}, dual);
    });
    problem_ = &problem;
    places_.resize(dual.row_count());
    dual.for_each_row(
        [&](Index row, const auto& place) { places_[row] = 3 * place.part + place.row; });
    part_count_ = dual.part_count();
    momentum_.resize(problem.velocity_count());
    dual.set_operator(
        {this, [](void* form, std::span<const Scalar> impulse, std::span<Scalar> product) noexcept {
           static_cast<DelassusForm*>(form)->multiply(impulse.data(), product.data());
         }});
    dual.assemble();
  }

 private:
  static void add_blocks(const ContactProblem<Scalar>& problem, DelassusProblem<Scalar>& dual) {
    dual.reset();
    problem.for_each_block([&](const BlockView<Scalar>& block) {
      RowNumbers<Scalar> load = block.velocity(problem.free_velocity());
      RowNumbers<Scalar> weights = RowNumbers<Scalar>::Zero();
      for (int r = 0; r < block.rows(); ++r) {
        load(r) -= block.bias_velocity()(r);
        if (!block.law().rigid) weights(r) = block.law().regularization(r);
      }
      dual.append_rows(block.law().set, load, weights);
    });
  }

  /// Adds Ĵ_a Ĵ_bᵀ of two sides on one body.
  static void add_product(const ContactProblem<Scalar>& problem, const detail::BodyTouch& a,
                          const detail::BodyTouch& b, DelassusProblem<Scalar>& dual) {
    const detail::BlockSides<Scalar> first = detail::sides_of(problem, a.block);
    const detail::BlockSides<Scalar> second = detail::sides_of(problem, b.block);
    const BlockSide<Scalar>& left = first.all[std::size_t(a.side)];
    const BlockSide<Scalar>& right = second.all[std::size_t(b.side)];
    const Index size = left.range.size;
    std::array<Scalar, 36> product;
    for (Index c = 0; c < second.rows; ++c) {
      for (Index r = 0; r < first.rows; ++r) {
        product[std::size_t(r + first.rows * c)] =
            detail::long_dot(left.whitened + r * size, right.whitened + c * size, size);
      }
    }
    const Eigen::Map<const MatrixX<Scalar>> block(product.data(), first.rows, second.rows);
    dual.append_coupling(a.block, b.block, detail::entries_of(block));
  }

  /// Adds the contribution of one body to W.
  void add_body(const ContactProblem<Scalar>& problem, Index body, DelassusProblem<Scalar>& dual) {
    const auto touches = touches_.of(body);
    for (auto a = touches.begin(); a != touches.end(); ++a) {
      for (auto b = touches.begin(); b <= a; ++b) add_product(problem, *a, *b, dual);
    }
  }

  /// Calls visit(row of Ĵ on one side, the body's unknowns, place of the row in parts) for each row
  /// of each side of each block.
  template <typename Visit>
  void for_each_row(const Visit& visit) const noexcept {
    for (Index i = 0; i < problem_->block_count(); ++i) {
      const detail::BlockSides<Scalar> sides = detail::sides_of(*problem_, i);
      for (int s = 0; s < sides.count; ++s) {
        const BlockSide<Scalar>& side = sides.all[std::size_t(s)];
        for (Index r = 0; r < sides.rows; ++r) {
          visit(side.whitened + r * side.range.size, side.range,
                places_[problem_->first_row(i) + r]);
        }
      }
    }
  }

  void multiply(const Scalar* impulse, Scalar* product) noexcept {
    std::fill(momentum_.begin(), momentum_.end(), Scalar(0));
    std::fill(product, product + 3 * part_count_, Scalar(0));
    for_each_row([&](const Scalar* row, const BodyRange& body, Index place) {
      detail::add_multiple(impulse[place], row, body.size, momentum_.data() + body.start);
    });
    for_each_row([&](const Scalar* row, const BodyRange& body, Index place) {
      product[place] += detail::long_dot(row, momentum_.data() + body.start, body.size);
    });
  }

  const ContactProblem<Scalar>* problem_ = nullptr;
  Index part_count_ = 0;
  Sequence<Index> places_;     ///< per row: its place in parts
  Sequence<Scalar> momentum_;  ///< L⁻¹ Jᵀ γ
  detail::BodyTouches touches_;
};

}  // namespace CAROM_ABI
}  // namespace carom
