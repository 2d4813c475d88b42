// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "carom/batch/detail/lane_map.hpp"
#include "carom/contact/contact_problem.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The common structure of problems in a batch: their bodies, their contacts between bodies, and
/// the columns of the Jacobians that are zero in all of them.
///
/// Problems with other contacts have another pattern. A batch may contain any count of patterns.
/// The pattern also defines the order of a problem's numbers in the arrays of a BatchView.
/// @note  Cold: construction allocates and may throw.
class BatchPattern {
 public:
  BatchPattern() = default;
  /// The pattern of a problem, with the zeros of its Jacobians.
  template <RealScalar Scalar>
  explicit BatchPattern(const ContactProblem<Scalar>& problem);

  /// Adds the columns of Jacobians that are nonzero in a problem to those that may be nonzero.
  /// @pre  the problem has the same bodies and contacts, see key().
  template <RealScalar Scalar>
  void widen(const ContactProblem<Scalar>& problem);
  /// Sizes of the bodies, and the bodies and type of each block. Problems with the same key differ
  /// only in zeros of Jacobians.
  template <RealScalar Scalar>
  [[nodiscard]] static std::vector<int> key(const ContactProblem<Scalar>& problem);

  [[nodiscard]] int velocity_count() const noexcept { return velocity_count_; }
  [[nodiscard]] int body_count() const noexcept { return int(bodies_.size()); }
  [[nodiscard]] int contact_count() const noexcept { return int(contacts_.size()); }
  /// Rows of all contacts and other blocks, those of γ and v̂.
  [[nodiscard]] int row_count() const noexcept { return row_count_; }
  /// Whether some block is rigid.
  [[nodiscard]] bool is_rigid() const noexcept { return rigid_; }
  /// Count of numbers of a problem's momentum matrices: those of body 0 row by row, then of body 1,
  /// ...
  [[nodiscard]] int mass_count() const noexcept { return mass_count_; }
  /// Count of numbers μ, R, and bounds or shifts of a problem, block by block.
  [[nodiscard]] int friction_count() const noexcept { return friction_count_; }
  [[nodiscard]] int regularization_count() const noexcept { return regularization_count_; }
  [[nodiscard]] int bound_count() const noexcept { return bound_count_; }
  /// Count of numbers of a problem's Jacobians: block by block, the first body's rows, then the
  /// second's.
  [[nodiscard]] int jacobian_count() const noexcept { return jacobian_count_; }
  /// The islands: bodies joined by contacts. Bodies without contacts, if there are any, form one
  /// more island.
  [[nodiscard]] const std::vector<detail::LaneMap>& islands() const noexcept { return islands_; }

 private:
  /// The properties by which the solver distinguishes blocks.
  template <RealScalar Scalar>
  [[nodiscard]] static detail::LaneContact kind_of(const ContactProblem<Scalar>& problem, Index k) {
    const bool friction_contact = problem.is_friction_contact(k);
    const ImpulseShape shape = friction_contact ? ImpulseShape::friction : problem.law(k).set.shape;
    return {int(k), shape, problem.rows(k), friction_contact, problem.is_rigid(k), 0, 0, 0, 0, {}};
  }
  void find_islands();

  std::vector<detail::LaneBody> bodies_;
  std::vector<detail::LaneContact> contacts_;
  std::vector<detail::LaneMap> islands_;
  int velocity_count_ = 0, mass_count_ = 0, jacobian_count_ = 0;
  int friction_count_ = 0, regularization_count_ = 0, row_count_ = 0, bound_count_ = 0;
  bool rigid_ = false;
};

// --- implementation ---

template <RealScalar Scalar>
BatchPattern::BatchPattern(const ContactProblem<Scalar>& problem) {
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [first, size] = problem.body(b);
    bodies_.push_back({int(b), int(first), int(size), mass_count_});
    mass_count_ += int(size * size);
  }
  velocity_count_ = int(problem.velocity_count());
  for (Index k = 0; k < problem.block_count(); ++k) {
    detail::LaneContact contact = kind_of(problem, k);
    contact.friction = friction_count_;
    contact.regularization = regularization_count_;
    contact.row = row_count_;
    contact.bounds = bound_count_;
    friction_count_ += carom::friction_count(contact.shape);
    row_count_ += contact.rows;
    regularization_count_ += contact.is_friction_contact ? 2 : contact.rows;
    const int bounds = contact.shape == ImpulseShape::intervals ? 2 : 1;
    bound_count_ += contact.is_friction_contact ? 0 : bounds * contact.rows;
    rigid_ = rigid_ || contact.rigid;
    for (int s = 0; s < int(problem.side_count(k)); ++s) {
      detail::LaneContactSide& side = contact.sides[s];
      side.body = int(problem.side_body(k, s));
      side.size = int(problem.body(side.body).size);
      side.jacobian = jacobian_count_;
      jacobian_count_ += contact.rows * side.size;
    }
    contacts_.push_back(contact);
  }
  widen(problem);
  find_islands();
}

template <RealScalar Scalar>
std::vector<int> BatchPattern::key(const ContactProblem<Scalar>& problem) {
  std::vector<int> numbers{int(problem.body_count())};
  for (Index b = 0; b < problem.body_count(); ++b) numbers.push_back(int(problem.body(b).size));
  for (Index k = 0; k < problem.block_count(); ++k) {
    const detail::LaneContact kind = kind_of(problem, k);
    numbers.push_back(int(problem.side_body(k, 0)));
    numbers.push_back(problem.side_count(k) == 2 ? int(problem.side_body(k, 1)) : -1);
    numbers.push_back(kind.is_friction_contact ? 0 : 1 + int(kind.shape));
    numbers.push_back(kind.rigid ? -kind.rows : kind.rows);
  }
  return numbers;
}

template <RealScalar Scalar>
void BatchPattern::widen(const ContactProblem<Scalar>& problem) {
  bool wider = false;
  for (Index k = 0; k < problem.block_count(); ++k) {
    for (int s = 0; s < int(problem.side_count(k)); ++s) {
      const auto jacobian = problem.jacobian(k, s);
      detail::LaneContactSide& side = contacts_[std::size_t(k)].sides[s];
      int first = 0, end = side.size;
      const auto is_zero = [&](int c) { return (jacobian.col(c).array() == Scalar(0)).all(); };
      while (first < end && is_zero(first)) ++first;
      while (first < end && is_zero(end - 1)) --end;
      if (first == end) continue;
      const int low = side.count > 0 ? (std::min)(side.first, first) : first;
      const int high = side.count > 0 ? (std::max)(side.first + side.count, end) : end;
      wider = wider || low != side.first || high - low != side.count;
      side.first = low;
      side.count = high - low;
    }
  }
  if (wider && !islands_.empty()) find_islands();
}

inline void BatchPattern::find_islands() {
  islands_.clear();
  std::vector<int> root(bodies_.size());
  for (std::size_t b = 0; b < root.size(); ++b) root[b] = int(b);
  const auto find = [&](int b) {
    while (root[std::size_t(b)] != b)
      b = root[std::size_t(b)] = root[std::size_t(root[std::size_t(b)])];
    return b;
  };
  std::vector<bool> touched(bodies_.size());
  for (const auto& contact : contacts_) {
    const auto& sides = contact.sides;
    for (const auto& side : sides) {
      if (side.body < 0) continue;
      touched[std::size_t(side.body)] = true;
      const int a = find(sides[0].body), b = find(side.body);
      root[std::size_t((std::max)(a, b))] = (std::min)(a, b);
    }
  }
  std::vector<int> idle;
  std::vector<std::vector<int>> members(bodies_.size());
  std::vector<std::vector<detail::LaneContact>> touching(bodies_.size());
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (touched[b]) members[std::size_t(find(int(b)))].push_back(int(b));
    if (!touched[b]) idle.push_back(int(b));
  }
  for (const auto& contact : contacts_) {
    touching[std::size_t(find(contact.sides[0].body))].push_back(contact);
  }
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    if (!members[b].empty()) islands_.emplace_back(bodies_, members[b], touching[b]);
  }
  if (!idle.empty()) islands_.emplace_back(bodies_, idle, std::vector<detail::LaneContact>());
}

}  // namespace CAROM_ABI
}  // namespace carom
