// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "carom/contact/contact_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// What the worlds of a batch have in common: bodies, who touches whom, and which columns of a
/// Jacobian are not zero.
///
/// Worlds with other contacts have another pattern; a batch may mix as many as it likes. A world's
/// own contacts are numbered as in the ContactProblem that the pattern comes from.
class BatchPattern {
 public:
  /// Columns of a contact's Jacobian, those of one body, that may hold something else than zero.
  struct Side {
    int body = -1;     ///< −1: the contact has one side only.
    int column = 0;    ///< first velocity of the body.
    int size = 0;      ///< velocities of the body.
    int first = 0;     ///< first column that may not be zero, counted from `column`.
    int count = 0;     ///< columns from there on that may not be zero.
  };
  struct Contact {
    Side sides[2];
  };
  struct Body {
    int first;  ///< velocity
    int size;   ///< velocities
  };

  BatchPattern() = default;
  /// The pattern of a problem of friction contacts alone, zeros of its Jacobians included.
  /// @throws std::invalid_argument  where a block is no friction contact, naming it.
  template <RealScalar Scalar>
  explicit BatchPattern(const ContactProblem<Scalar>& problem);

  [[nodiscard]] int velocity_count() const noexcept { return velocity_count_; }
  [[nodiscard]] int contact_count() const noexcept { return int(contacts_.size()); }
  /// Numbers of all momentum matrices, body by body.
  [[nodiscard]] int mass_count() const noexcept { return mass_count_; }
  /// Numbers of all Jacobians, contact by contact, the first side before the second.
  [[nodiscard]] int jacobian_count() const noexcept { return jacobian_count_; }
  [[nodiscard]] const std::vector<Body>& bodies() const noexcept { return bodies_; }
  [[nodiscard]] const std::vector<Contact>& contacts() const noexcept { return contacts_; }

  /// Where a row of the matrix A + Jᵀ G J begins: entries of row i before column first_column(i)
  /// are zero, and so are those of its Cholesky factor.
  [[nodiscard]] int first_column(int row) const noexcept { return first_column_[std::size_t(row)]; }
  /// Place of the entry (row, 0) among the numbers of the lower half, row by row, each from its
  /// first column on; negative where that entry is none of them.
  [[nodiscard]] int row_place(int row) const noexcept { return row_place_[std::size_t(row)]; }
  /// Numbers of the lower half.
  [[nodiscard]] int matrix_count() const noexcept { return matrix_count_; }

 private:
  void place_rows();

  std::vector<Body> bodies_;
  std::vector<Contact> contacts_;
  std::vector<int> first_column_, row_place_;
  int velocity_count_ = 0, mass_count_ = 0, jacobian_count_ = 0, matrix_count_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
BatchPattern::BatchPattern(const ContactProblem<Scalar>& problem) {
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [first, size] = problem.body(b);
    bodies_.push_back({int(first), int(size)});
    mass_count_ += int(size * size);
  }
  velocity_count_ = int(problem.velocity_count());
  if (problem.friction_contact_count() != problem.block_count()) {
    for (Index k = 0; k < problem.block_count(); ++k) {
      if (!problem.is_friction_contact(k)) {
        detail::reject_if("block " + std::to_string(k) + ": expected a friction contact");
      }
    }
  }
  for (Index k = 0; k < problem.block_count(); ++k) {
    Contact contact;
    for (int s = 0; s < int(problem.side_count(k)); ++s) {
      const auto jacobian = problem.jacobian(k, s);
      Side& side = contact.sides[s];
      side.body = int(problem.side_body(k, s));
      side.column = bodies_[std::size_t(side.body)].first;
      side.size = bodies_[std::size_t(side.body)].size;
      int end = side.size;
      while (end > 0 && jacobian.col(end - 1).isZero(0)) --end;
      while (side.first < end && jacobian.col(side.first).isZero(0)) ++side.first;
      side.count = end - side.first;
      jacobian_count_ += 3 * side.size;
    }
    contacts_.push_back(contact);
  }
  place_rows();
}

inline void BatchPattern::place_rows() {
  first_column_.resize(std::size_t(velocity_count_));
  row_place_.resize(std::size_t(velocity_count_));
  for (const Body& body : bodies_) {
    std::fill_n(first_column_.begin() + body.first, body.size, body.first);
  }
  for (const Contact& contact : contacts_) {
    const auto& [a, b] = contact.sides;
    if (b.body < 0) continue;
    const auto& [low, high] = a.column < b.column ? std::pair(a, b) : std::pair(b, a);
    for (int c = 0; c < high.size; ++c) {
      int& first = first_column_[std::size_t(high.column + c)];
      first = (std::min)(first, low.column);
    }
  }
  matrix_count_ = 0;
  for (int i = 0; i < velocity_count_; ++i) {
    row_place_[std::size_t(i)] = matrix_count_ - first_column(i);
    matrix_count_ += i - first_column(i) + 1;
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
