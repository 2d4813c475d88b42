// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/detail/body_touches.hpp"
#include "carom/contact/dual.hpp"
#include "carom/linalg/detail/growing.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Turns contact problems given by bodies into their dual form, W = J A⁻¹ Jᵀ, q = J v* − v̂, block
/// by block. R is zero for a block that is rigid, and the problem's for one that gives way.
/// @note  Keeps its memory; allocates beyond the largest problem so far.
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

  /// The same with W as a function, W γ = J (A⁻¹ (Jᵀ γ)), body by body: memory and work grow with
  /// the contacts, not with the pairs of contacts that share a body.
  /// @param problem, dual  dual refers to problem and to this object, which must stay in place
  ///        while dual is used. Use it on one thread, as products share this object's memory.
  void write_matrix_free(const ContactProblem<Scalar>& problem, DelassusProblem<Scalar>& dual) {
    add_blocks(problem, dual);
    detail::BodyTouches::for_each_side(problem, [&](Index, int block, int side) {
      write_rows(problem, {block, side}, left_);
      product_ = left_.lazyProduct(left_.transpose());
      dual.add_coupling(block, block, product_);
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
    problem.for_each_block([&](const auto& block) {
      RowNumbers<Scalar> load = RowNumbers<Scalar>::Zero(), weights = load;
      constexpr int size = std::decay_t<decltype(block)>::Rows::SizeAtCompileTime;
      load.template head<size>() = block.velocity(problem.free_velocity()) - block.bias_velocity();
      if (!block.law().rigid) weights.template head<size>() = block.regularization();
      dual.add_contact(block.set(), load.head(block.rows()), weights);
    });
  }

  /// Ĵ of one block on one side, rows × size.
  using SideRows = Growing<MatrixX<Scalar>>;
  static void write_rows(const ContactProblem<Scalar>& problem, const detail::BodyTouch& touch,
                         SideRows& rows) {
    problem.visit(touch.block, [&](const auto& block) {
      const auto own = block.whitened_columns(touch.side);
      rows.grow(own.cols(), own.rows());
      rows = own.transpose();
    });
  }

  /// What one body contributes to W.
  void add_body(const ContactProblem<Scalar>& problem, Index body, DelassusProblem<Scalar>& dual) {
    const auto touches = touches_.of(body);
    for (auto a = touches.begin(); a != touches.end(); ++a) {
      write_rows(problem, *a, left_);
      for (auto b = touches.begin(); b <= a; ++b) {
        write_rows(problem, *b, right_);
        product_ = left_.lazyProduct(right_.transpose());
        dual.add_coupling(a->block, b->block, product_);
      }
    }
  }

  /// Calls visit(start of the body's unknowns, column of Ĵᵀ, place of the row in parts) for every
  /// row of every block, on every side.
  template <typename Visit>
  void for_each_row(const Visit& visit) const noexcept {
    problem_->for_each_block([&](const auto& block) {
      for (int s = 0; s < block.side_count(); ++s) {
        const auto columns = block.whitened_columns(s);
        for (int r = 0; r < block.rows(); ++r) {
          visit(block.side(s).range.start, columns.col(r), places_[block.first_row() + r]);
        }
      }
    });
  }

  void multiply(const Scalar* impulse, Scalar* product) noexcept {
    std::fill(momentum_.begin(), momentum_.end(), Scalar(0));
    std::fill(product, product + 3 * part_count_, Scalar(0));
    for_each_row([&](Index start, const auto& column, Index place) {
      Eigen::Map<VectorX<Scalar>>(momentum_.data() + start, column.size()) +=
          impulse[place] * column;
    });
    for_each_row([&](Index start, const auto& column, Index place) {
      product[place] +=
          column.dot(Eigen::Map<const VectorX<Scalar>>(momentum_.data() + start, column.size()));
    });
  }

  const ContactProblem<Scalar>* problem_ = nullptr;
  Index part_count_ = 0;
  Sequence<Index> places_;     ///< per row, in parts
  Sequence<Scalar> momentum_;  ///< L⁻¹ Jᵀ γ
  detail::BodyTouches touches_;
  SideRows left_, right_;
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6> product_;
};

}  // namespace CAROM_ABI
}  // namespace carom
