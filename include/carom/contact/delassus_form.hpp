// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/contact/delassus_problem.hpp"
#include "carom/contact/dual.hpp"
#include "carom/linalg/growing.hpp"

namespace carom::inline CAROM_ABI {

namespace detail {

/// What a body is touched by: contacts, then constraints, and the side they are on.
struct BodyTouch {
  int contact, side;
};

}  // namespace detail

/// Turns contact problems given by bodies into their dual form, W = J A⁻¹ Jᵀ, q = J v* − v̂:
/// contacts and constraints in the order of the impulses. R is zero for a contact that is rigid,
/// and the problem's for one that gives way; constraints keep theirs, which is a motor's gains, a
/// spring.
/// @note  Keeps its memory; allocates beyond the largest problem so far.
template <RealScalar Scalar>
class DelassusForm {
 public:
  /// @param dual  written and assembled.
  void write(const ContactProblem<Scalar>& problem, DelassusProblem<Scalar>& dual) {
    add_contacts(problem, dual);
    gather_touches(problem);
    for (Index b = 0; b < problem.body_count(); ++b) add_body(problem, b, dual);
    dual.assemble();
  }

  /// The same with W as a function, W γ = J (A⁻¹ (Jᵀ γ)), body by body: memory and work grow with
  /// the contacts, not with the pairs of contacts that share a body.
  /// @param problem, dual  dual refers to problem and to this object, which must stay where they
  ///        are while it is used: on one thread, as products share this object's memory.
  void write_matrix_free(const ContactProblem<Scalar>& problem, DelassusProblem<Scalar>& dual) {
    add_contacts(problem, dual);
    for_each_side(problem, [&](Index, int contact, int side) {
      write_rows(problem, {contact, side}, left_);
      product_ = left_.lazyProduct(left_.transpose());
      dual.add_block(contact, contact, product_);
    });
    problem_ = &problem;
    places_.resize(dual.row_count());
    dual.for_each_row(
        [&](Index row, const auto& place) { places_[row] = 3 * place.part + place.row; });
    part_count_ = dual.part_count();
    momentum_.resize(problem.velocity_count());
    dual.set_operator({this, [](void* form, const Scalar* impulse, Scalar* product) noexcept {
                         static_cast<DelassusForm*>(form)->multiply(impulse, product);
                       }});
    dual.assemble();
  }

 private:
  static void add_contacts(const ContactProblem<Scalar>& problem, DelassusProblem<Scalar>& dual) {
    dual.reset();
    for (Index i = 0; i < problem.contact_count(); ++i) add_contact(problem, i, dual);
    const ConstraintList<Scalar>& list = problem.constraints();
    for (Index c = 0; c < list.count(); ++c) {
      const WeightedConstraint<Scalar>& law = list.law(c);
      const RowNumbers<Scalar> load =
          constraint_velocity(problem, c, problem.free_velocity()) - law.bias_velocity;
      dual.add_contact(law.set, load.head(law.set.rows), law.regularization);
    }
  }
  static void add_contact(const ContactProblem<Scalar>& problem, Index i,
                          DelassusProblem<Scalar>& dual) {
    const Vector3<Scalar> load =
        contact_velocity(problem, i, problem.free_velocity()) - problem.bias_velocity(i);
    RowNumbers<Scalar> weights = RowNumbers<Scalar>::Zero();
    const auto [tangent, normal] = problem.own_regularization(i);
    weights.template head<3>() << tangent, tangent, normal;
    dual.add_contact(friction_impulses(problem.cone(i).friction), load, weights);
  }

  void gather_touches(const ContactProblem<Scalar>& problem) {
    starts_.assign(problem.body_count() + 1, 0);
    for_each_side(problem, [&](Index body, int, int) { ++starts_[body + 1]; });
    for (Index b = 0; b < problem.body_count(); ++b) starts_[b + 1] += starts_[b];
    touches_.resize(starts_[problem.body_count()]);
    next_ = starts_;
    for_each_side(problem, [&](Index body, int contact, int side) {
      touches_[next_[body]++] = {contact, side};
    });
  }
  template <typename Visit>
  static void for_each_side(const ContactProblem<Scalar>& problem, const Visit& visit) {
    const int contacts = int(problem.contact_count());
    const ConstraintList<Scalar>& list = problem.constraints();
    for (int i = 0; i < contacts; ++i) {
      for (int s = 0; s < problem.side_count(i); ++s) visit(problem.side_body(i, s), i, s);
    }
    for (int c = 0; c < int(list.count()); ++c) {
      for (int s = 0; s < list.side_count(c); ++s) visit(list.side_body(c, s), contacts + c, s);
    }
  }

  /// Ĵ of one contact or constraint on one side, rows × size.
  using SideRows = Growing<MatrixX<Scalar>>;
  void write_rows(const ContactProblem<Scalar>& problem, const detail::BodyTouch& touch,
                  SideRows& rows) const {
    const Index contacts = problem.contact_count();
    if (touch.contact < contacts) {
      const auto own = problem.whitened_jacobian(touch.contact, touch.side);
      rows.grow(own.cols(), own.rows());
      rows = own.transpose();
      return;
    }
    const ConstraintList<Scalar>& list = problem.constraints();
    const Index c = touch.contact - contacts;
    const auto first = list.whitened_jacobian(c, touch.side, 0);
    rows.grow(list.rows(c), first.rows());
    for (int r = 0; r < list.rows(c); ++r) {
      rows.row(r) = list.whitened_jacobian(c, touch.side, r / 3).col(r % 3).transpose();
    }
  }

  /// What one body contributes to W.
  void add_body(const ContactProblem<Scalar>& problem, Index body, DelassusProblem<Scalar>& dual) {
    for (int a = starts_[body]; a < starts_[body + 1]; ++a) {
      write_rows(problem, touches_[a], left_);
      for (int b = starts_[body]; b <= a; ++b) {
        write_rows(problem, touches_[b], right_);
        product_ = left_.lazyProduct(right_.transpose());
        dual.add_block(touches_[a].contact, touches_[b].contact, product_);
      }
    }
  }

  /// Calls visit(start of the body's unknowns, column of Ĵᵀ, place of the row in parts) for every
  /// row of every contact and constraint, on every side.
  template <typename Visit>
  void for_each_row(const Visit& visit) const noexcept {
    const Index contacts = problem_->contact_count();
    const ConstraintList<Scalar>& list = problem_->constraints();
    for_each_side(*problem_, [&](Index body, Index contact, int side) {
      const Index start = problem_->body(body).start, constraint = contact - contacts;
      const int rows = constraint < 0 ? 3 : list.rows(constraint);
      const Index first = constraint < 0 ? 3 * contact : 3 * contacts + list.first_row(constraint);
      for (int r = 0; r < rows; ++r) {
        const Index place = places_[first + r];
        if (constraint < 0) {
          visit(start, problem_->whitened_jacobian(contact, side).col(r), place);
        } else {
          visit(start, list.whitened_jacobian(constraint, side, r / 3).col(r % 3), place);
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
  Sequence<int> starts_, next_;
  Sequence<detail::BodyTouch> touches_;
  SideRows left_, right_;
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6> product_;
};

}  // namespace carom::inline CAROM_ABI
