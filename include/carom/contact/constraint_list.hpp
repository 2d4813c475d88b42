// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "carom/contact/detail/faults.hpp"
#include "carom/contact/weighted_constraint.hpp"
#include "carom/linalg/cholesky.hpp"

namespace carom::inline CAROM_ABI {

/// The constraints of a ContactProblem beside its contacts: blocks of one to six rows on one or two
/// bodies.
///
/// Jacobians are kept transposed and in parts of three rows, the last padded with zeros, so that
/// every part looks like a contact triple.
/// @note  Keeps its memory when cleared.
template <RealScalar Scalar>
class ConstraintList {
 public:
  using Rows = RowNumbers<Scalar>;
  using PartMap = Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, 3>>;

  void clear() noexcept {
    items_.clear();
    parts_.clear();
    jacobian_.clear();
    whitened_jacobian_.clear();
    row_count_ = 0;
  }

  [[nodiscard]] Index count() const noexcept { return Index(items_.size()); }
  /// Rows of all constraints.
  [[nodiscard]] Index row_count() const noexcept { return row_count_; }
  /// Parts of all constraints.
  [[nodiscard]] Index part_count() const noexcept { return Index(parts_.size()); }

  [[nodiscard]] const WeightedConstraint<Scalar>& law(Index constraint) const noexcept {
    return item(constraint).law;
  }
  /// Replaces a law by one of as many rows; it is not checked.
  void set_law(Index constraint, const WeightedConstraint<Scalar>& law) noexcept {
    CAROM_EXPECTS(law.set.rows == rows(constraint));
    items_[std::size_t(constraint)].law = law;
  }
  [[nodiscard]] int rows(Index constraint) const noexcept { return law(constraint).set.rows; }
  /// Parts of one constraint: 1 or 2.
  [[nodiscard]] int parts(Index constraint) const noexcept { return (rows(constraint) + 2) / 3; }
  /// First row of a constraint among those of all constraints.
  [[nodiscard]] Index first_row(Index constraint) const noexcept {
    return item(constraint).first_row;
  }
  [[nodiscard]] int side_count(Index constraint) const noexcept {
    return item(constraint).bodies[1] < 0 ? 1 : 2;
  }
  [[nodiscard]] Index side_body(Index constraint, int side) const noexcept {
    return item(constraint).bodies[std::size_t(side)];
  }
  /// Jᵀ of one side and one part, size × 3.
  [[nodiscard]] PartMap jacobian(Index constraint, int side, int part) const noexcept {
    return map(jacobian_, constraint, side, part);
  }
  /// Ĵᵀ = L⁻¹ Jᵀ of one side and one part.
  [[nodiscard]] PartMap whitened_jacobian(Index constraint, int side, int part) const noexcept {
    return map(whitened_jacobian_, constraint, side, part);
  }
  /// The constraint a part belongs to, parts counted over all constraints.
  [[nodiscard]] Index part_constraint(Index part) const noexcept {
    return parts_[std::size_t(part)].constraint;
  }
  /// Which of its constraint's parts it is.
  [[nodiscard]] int part_number(Index part) const noexcept {
    return parts_[std::size_t(part)].number;
  }

  /// Adds a constraint of one body with the immobile world.
  /// @param bodies    the problem that holds the bodies.
  /// @param jacobian  J, m × n, 1 ≤ m ≤ 6.
  /// @param law       WeightedConstraint, or a law with constraint_fault() and make_weighted().
  template <typename Bodies, typename MatrixType, typename Law>
  Index add(const Bodies& bodies, Index body, const Eigen::MatrixBase<MatrixType>& jacobian,
            const Law& law) {
    detail::reject_if(check(bodies, body, jacobian, law));
    const Rows inverse_mass = bodies_inverse_mass(bodies, body, jacobian);
    append({body, -1}, make_weighted(law, bodies.time_step(), inverse_mass));
    append_side(bodies, 0, body, jacobian);
    return count() - 1;
  }
  /// Adds a constraint between two bodies, each with its own Jacobian block.
  template <typename Bodies, typename FirstType, typename SecondType, typename Law>
  Index add(const Bodies& bodies, Index first_body,
            const Eigen::MatrixBase<FirstType>& first_jacobian, Index second_body,
            const Eigen::MatrixBase<SecondType>& second_jacobian, const Law& law) {
    detail::reject_if(check(bodies, first_body, first_jacobian, second_body, second_jacobian, law));
    const Rows inverse_mass = bodies_inverse_mass(bodies, first_body, first_jacobian) +
                              bodies_inverse_mass(bodies, second_body, second_jacobian);
    append({first_body, second_body}, make_weighted(law, bodies.time_step(), inverse_mass));
    append_side(bodies, 0, first_body, first_jacobian);
    append_side(bodies, 1, second_body, second_jacobian);
    return count() - 1;
  }

  /// What add would object to, or nothing.
  template <typename Bodies, typename MatrixType, typename Law>
  [[nodiscard]] Fault check(const Bodies& bodies, Index body,
                            const Eigen::MatrixBase<MatrixType>& jacobian, const Law& law) const {
    const std::string item = "constraint " + std::to_string(count());
    if (Fault side = side_fault(item, bodies, body, jacobian); !side.empty()) return side;
    return law_fault(item, bodies, jacobian.rows(), law,
                     bodies_inverse_mass(bodies, body, jacobian));
  }
  template <typename Bodies, typename FirstType, typename SecondType, typename Law>
  [[nodiscard]] Fault check(const Bodies& bodies, Index first_body,
                            const Eigen::MatrixBase<FirstType>& first_jacobian, Index second_body,
                            const Eigen::MatrixBase<SecondType>& second_jacobian,
                            const Law& law) const {
    const std::string item = "constraint " + std::to_string(count());
    if (Fault f = side_fault(item, bodies, first_body, first_jacobian); !f.empty()) return f;
    if (Fault f = side_fault(item, bodies, second_body, second_jacobian); !f.empty()) return f;
    if (first_body == second_body) {
      return detail::fault(item + ": second body", "a body other than the first", second_body);
    }
    if (second_jacobian.rows() != first_jacobian.rows()) {
      return detail::fault(item + ": second Jacobian rows",
                           std::to_string(first_jacobian.rows()).c_str(), second_jacobian.rows());
    }
    return law_fault(item, bodies, first_jacobian.rows(), law,
                     bodies_inverse_mass(bodies, first_body, first_jacobian) +
                         bodies_inverse_mass(bodies, second_body, second_jacobian));
  }

  /// Orders constraints of the same two bodies by what they are: −1, 0 or 1. Those that compare
  /// equal are interchangeable.
  [[nodiscard]] int compare(Index a, Index b) const noexcept;

 private:
  struct Item {
    std::array<Index, 2> bodies;     ///< second −1 for the world
    std::array<Index, 2> jacobians;  ///< where the Jacobian blocks start
    std::array<Index, 2> sizes;      ///< unknowns of the bodies
    Index first_row;
    WeightedConstraint<Scalar> law;
  };
  struct Part {
    Index constraint;
    int number;
  };

  [[nodiscard]] const Item& item(Index constraint) const noexcept {
    return items_[std::size_t(constraint)];
  }
  [[nodiscard]] PartMap map(const std::vector<Scalar>& blocks, Index constraint, int side,
                            int part) const noexcept {
    const std::size_t s = std::size_t(side);
    const Item& at = item(constraint);
    return {blocks.data() + at.jacobians[s] + 3 * part * at.sizes[s], at.sizes[s], 3};
  }

  /// Diagonal of J diag(A)⁻¹ Jᵀ of one side: the rows' inverse masses.
  template <typename Bodies, typename MatrixType>
  [[nodiscard]] static Rows bodies_inverse_mass(
      const Bodies& bodies, Index body, const Eigen::MatrixBase<MatrixType>& jacobian) noexcept {
    Rows sum = Rows::Zero();
    const auto momentum = bodies.momentum_matrix(body);
    for (Index i = 0; i < jacobian.rows(); ++i) {
      for (Index k = 0; k < jacobian.cols(); ++k) {
        sum(i) += jacobian(i, k) * jacobian(i, k) / momentum(k, k);
      }
    }
    return sum;
  }
  template <typename Bodies, typename MatrixType>
  [[nodiscard]] static Fault side_fault(const std::string& item, const Bodies& bodies, Index body,
                                        const Eigen::MatrixBase<MatrixType>& jacobian) {
    if (Fault index = detail::body_index_fault(item, body, bodies.body_count()); !index.empty()) {
      return index;
    }
    if (jacobian.rows() < 1 || jacobian.rows() > 6) {
      return detail::fault(item + ": Jacobian rows", "a number in [1, 6]", jacobian.rows());
    }
    const Index size = bodies.body(body).size;
    if (jacobian.cols() != size) {
      return detail::fault(item + ": Jacobian columns", std::to_string(size).c_str(),
                           jacobian.cols());
    }
    if (jacobian.allFinite()) return {};
    return detail::finite_fault(item + ": Jacobian", jacobian);
  }
  /// What is wrong with a law, or with the numbers it leads to.
  template <typename Bodies, typename Law>
  [[nodiscard]] static Fault law_fault(const std::string& item, const Bodies& bodies, Index rows,
                                       const Law& law, const Rows& inverse_mass) {
    for (Index i = 0; i < rows; ++i) {
      if (!(inverse_mass(i) > Scalar(0))) {
        return item + ": Jacobian row " + std::to_string(i) + ": expected a non-zero row, got zero";
      }
    }
    if (Fault given = constraint_fault(item, law); !given.empty()) return given;
    const auto weighted = make_weighted(law, bodies.time_step(), inverse_mass);
    if (weighted.set.rows != rows) {
      return detail::fault(item + ": Jacobian rows", std::to_string(weighted.set.rows).c_str(),
                           rows);
    }
    return constraint_fault(item, weighted);
  }

  void append(const std::array<Index, 2>& bodies, const WeightedConstraint<Scalar>& law) {
    items_.push_back({bodies, {0, 0}, {0, 0}, row_count_, law});
    clear_unused(items_.back().law);
    row_count_ += law.set.rows;
    for (int part = 0; part < (law.set.rows + 2) / 3; ++part) parts_.push_back({count() - 1, part});
  }
  /// Numbers that have no meaning for a law are the same in all of its kind.
  static void clear_unused(WeightedConstraint<Scalar>& law) noexcept {
    ImpulseSet<Scalar>& set = law.set;
    for (int i = set.rows; i < 6; ++i) {
      law.regularization(i) = Scalar(1);
      law.bias_velocity(i) = set.shift(i) = set.lower(i) = set.upper(i) = Scalar(0);
    }
    const bool bounded = set.shape == ImpulseShape::intervals;
    if (bounded) set.shift.setZero();
    if (!bounded) set.lower.setZero();
    if (!bounded) set.upper.setZero();
    for (int i = friction_count(set.shape); i < 3; ++i) set.friction(i) = Scalar(0);
  }
  template <typename Bodies, typename MatrixType>
  void append_side(const Bodies& bodies, int side, Index body,
                   const Eigen::MatrixBase<MatrixType>& jacobian) {
    const std::size_t start = jacobian_.size(), s = std::size_t(side);
    const Index size = jacobian.cols(), rows = jacobian.rows();
    items_.back().jacobians[s] = Index(start);
    items_.back().sizes[s] = size;
    const Index width = 3 * ((rows + 2) / 3);
    jacobian_.resize(start + std::size_t(width * size), Scalar(0));
    whitened_jacobian_.resize(jacobian_.size(), Scalar(0));
    const auto factor = bodies.momentum_factor(body);
    Scalar* const given = jacobian_.data() + start;
    Scalar* const whitened = whitened_jacobian_.data() + start;
    for (Index row = 0; row < rows; ++row) {
      for (Index k = 0; k < size; ++k) {
        given[row * size + k] = whitened[row * size + k] = jacobian(row, k);
      }
    }
    solve_lower(factor.data(), size, size, whitened, rows);
  }

  std::vector<Item> items_;
  std::vector<Part> parts_;
  std::vector<Scalar> jacobian_, whitened_jacobian_;
  Index row_count_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
int ConstraintList<Scalar>::compare(Index a, Index b) const noexcept {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  const WeightedConstraint<Scalar>&first = law(a), &second = law(b);
  if (const int o = order(first.set.rows, second.set.rows); o != 0) return o;
  if (const int o = order(first.set.shape, second.set.shape); o != 0) return o;
  for (int i = 0; i < 3; ++i) {
    if (const int o = order(first.set.friction(i), second.set.friction(i)); o != 0) return o;
  }
  for (const auto& [x, y] : {std::pair(&first.set.lower, &second.set.lower),
                             std::pair(&first.set.upper, &second.set.upper),
                             std::pair(&first.set.shift, &second.set.shift),
                             std::pair(&first.regularization, &second.regularization),
                             std::pair(&first.bias_velocity, &second.bias_velocity)}) {
    for (int i = 0; i < first.set.rows; ++i) {
      if (const int o = order((*x)(i), (*y)(i)); o != 0) return o;
    }
  }
  const auto low_side = [&](Index i) {
    return side_count(i) == 2 && side_body(i, 1) < side_body(i, 0) ? 1 : 0;
  };
  for (int side = 0; side < side_count(a); ++side) {
    for (int part = 0; part < parts(a); ++part) {
      const PartMap x = jacobian(a, side ^ low_side(a), part);
      const PartMap y = jacobian(b, side ^ low_side(b), part);
      for (Index k = 0; k < x.size(); ++k) {
        if (const int o = order(x.data()[k], y.data()[k]); o != 0) return o;
      }
    }
  }
  return 0;
}

}  // namespace carom::inline CAROM_ABI
