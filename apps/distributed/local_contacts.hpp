// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include <Eigen/Core>

#include "distributed/newton_system.hpp"
#include "distributed/partition.hpp"

namespace carom::examples {

/// What one process keeps of a NewtonSystem: the contacts that touch its bodies. A contact between
/// bodies of two processes is kept by both; each moves its own body only, so that one exchange of
/// velocities, of the bodies on the far sides, is all a product needs.
class LocalContacts {
 public:
  LocalContacts(const NewtonSystem& system, const BodyPartition& parts, int rank)
      : own_problem_(system.problem->time_step()) {
    const ContactProblem<double>& problem = *system.problem;
    const Index first = parts.rank_starts[std::size_t(rank)];
    own_count_ = parts.rank_starts[std::size_t(rank) + 1] - first;
    gather_ghosts(problem, parts, rank);
    std::map<Index, Index> own_body;  // by start, which is the order of the vectors
    for (Index b = 0; b < problem.body_count(); ++b) {
      if (parts.owner[std::size_t(b)] == rank) own_body.emplace(parts.start[std::size_t(b)], b);
    }
    for (auto& [start, body] : own_body) {
      const Index size = problem.body(body).size;
      body =
          own_problem_.add_body(MatrixX<double>::Identity(size, size), VectorX<double>::Zero(size));
    }
    for (Index i = 0; i < problem.block_count(); ++i) {
      Contact contact{};
      int own = 0;
      for (int side = 0; side < problem.side_count(i); ++side) {
        const auto body = std::size_t(problem.side_body(i, side));
        own += parts.owner[body] == rank ? 1 : 0;
      }
      if (own == 0) continue;
      contact.curvature = system.curvature[std::size_t(i)];
      contact.side_count = problem.side_count(i);
      for (int side = 0; side < contact.side_count; ++side) {
        const Index body = problem.side_body(i, side);
        Side& kept = contact.sides[std::size_t(side)];
        kept.own = parts.owner[std::size_t(body)] == rank;
        kept.start = kept.own ? parts.start[std::size_t(body)] - first : ghost_start_.at(body);
        kept.size = problem.body(body).size;
        kept.jacobian = Index(jacobians_.size());
        const auto block = problem.friction_contact(i).whitened_columns(side);
        jacobians_.insert(jacobians_.end(), block.data(), block.data() + block.size());
      }
      (own == contact.side_count ? inner_ : cut_).push_back(contact);
      add_own(contact, own_body, first);
    }
  }

  /// Unknowns of this process.
  [[nodiscard]] Index own_count() const noexcept { return own_count_; }
  /// Places in the distributed vectors of the foreign unknowns that it needs.
  [[nodiscard]] const std::vector<Index>& ghosts() const noexcept { return ghosts_; }
  [[nodiscard]] Index inner_count() const noexcept { return Index(inner_.size()); }
  [[nodiscard]] Index cut_count() const noexcept { return Index(cut_.size()); }

  /// y += Ĵᵀ G Ĵ x of the contacts among own bodies.
  void add_inner(const double* x, double* y) const noexcept {
    for (const Contact& contact : inner_) add(contact, x, nullptr, y);
  }
  /// The same of the contacts with bodies of others, own rows alone.
  /// @param ghost  values at ghosts().
  void add_cut(const double* x, const double* ghost, double* y) const noexcept {
    for (const Contact& contact : cut_) add(contact, x, ghost, y);
  }
  /// The system of own bodies when those of other processes do not move: H's diagonal block.
  [[nodiscard]] NewtonSystem own_system() const { return {own_problem_, own_curvature_}; }
  /// Calls visit(start, size, block) for every own body's diagonal block of I + Ĵᵀ G Ĵ.
  template <typename Visit>
  void for_each_block(const Visit& visit) const {
    std::map<Index, MatrixX<double>> blocks;
    for (const std::vector<Contact>* list : {&inner_, &cut_}) {
      for (const Contact& contact : *list) {
        for (int side = 0; side < contact.side_count; ++side) {
          const Side& kept = contact.sides[std::size_t(side)];
          if (!kept.own) continue;
          MatrixX<double>& block = blocks[kept.start];
          if (block.size() == 0) block.setIdentity(kept.size, kept.size);
          const auto columns = jacobian(kept);
          block += columns * contact.curvature * columns.transpose();
        }
      }
    }
    for (auto& [start, block] : blocks) visit(start, block.rows(), block);
  }

 private:
  struct Side {
    Index start, size, jacobian;
    bool own;
  };
  struct Contact {
    SquareMatrix<double, 3> curvature;
    std::array<Side, 2> sides;
    int side_count;
  };
  using Columns = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 3>>;

  [[nodiscard]] Columns jacobian(const Side& side) const noexcept {
    return {jacobians_.data() + side.jacobian, side.size, 3};
  }
  void gather_ghosts(const ContactProblem<double>& problem, const BodyPartition& parts, int rank) {
    for (Index i = 0; i < problem.block_count(); ++i) {
      if (problem.side_count(i) < 2) continue;
      for (int side = 0; side < 2; ++side) {
        const Index body = problem.side_body(i, side), other = problem.side_body(i, 1 - side);
        if (parts.owner[std::size_t(other)] != rank || parts.owner[std::size_t(body)] == rank) {
          continue;
        }
        if (!ghost_start_.emplace(body, Index(ghosts_.size())).second) continue;
        for (Index k = 0; k < problem.body(body).size; ++k) {
          ghosts_.push_back(parts.start[std::size_t(body)] + k);
        }
      }
    }
  }
  /// Adds the own sides of a contact to the problem of own bodies.
  void add_own(const Contact& contact, const std::map<Index, Index>& own_body, Index first) {
    const WeightedContact<double> any{0, {1, 1}, Vector3<double>::Zero()};  // G is given
    const auto body_of = [&](const Side& side) { return own_body.at(first + side.start); };
    const auto& [a, b] = contact.sides;
    const bool two_sided = contact.side_count == 2 && a.own && b.own;
    if (two_sided) {
      own_problem_.add_contact(body_of(a), jacobian(a).transpose(), body_of(b),
                               jacobian(b).transpose(), any);
    } else {
      const Side& side = a.own ? a : b;
      own_problem_.add_contact(body_of(side), jacobian(side).transpose(), any);
    }
    own_curvature_.push_back(contact.curvature);
  }
  void add(const Contact& contact, const double* x, const double* ghost, double* y) const noexcept {
    using Numbers = VectorX<double>;
    Vector3<double> rate = Vector3<double>::Zero();
    for (int s = 0; s < contact.side_count; ++s) {
      const Side& side = contact.sides[std::size_t(s)];
      rate.noalias() += jacobian(side).transpose() *
                        Eigen::Map<const Numbers>((side.own ? x : ghost) + side.start, side.size);
    }
    const Vector3<double> impulse = contact.curvature * rate;
    for (int s = 0; s < contact.side_count; ++s) {
      const Side& side = contact.sides[std::size_t(s)];
      if (!side.own) continue;
      Eigen::Map<Numbers>(y + side.start, side.size).noalias() += jacobian(side) * impulse;
    }
  }

  Index own_count_ = 0;
  std::vector<Contact> inner_, cut_;
  std::vector<double> jacobians_;
  std::vector<Index> ghosts_;
  ContactProblem<double> own_problem_;  ///< whitened: masses of one, Ĵ for J
  std::vector<SquareMatrix<double, 3>> own_curvature_;
  std::map<Index, Index> ghost_start_;  ///< per foreign body, its place among the ghosts
};

}  // namespace carom::examples
