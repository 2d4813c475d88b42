// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <unordered_map>

#include <Eigen/Core>

#include "carom/adapters/petsc_problem.hpp"

#include "distributed/heap_layout.hpp"
#include "scenes/pile.hpp"

namespace carom::distributed {

/// Makes a rank's part of a heap: exactly the bodies and contacts of examples::make_pile, by their
/// indices. Only this rank's bodies and their neighbours are stored.
class HeapPart {
 public:
  using Momentum = SquareMatrix<double, 6>;
  using Numbers = Vector<double, 6>;

  HeapPart(const examples::PileShape& shape, const HeapLayout& layout, int rank)
      : shape_(shape), layout_(layout), rank_(rank) {}

  /// Adds the part to an empty problem.
  void add_to(PetscContactProblem& problem) {
    problem_ = &problem;
    const auto walk = [&] {
      count_ = 0;
      examples::detail::PileWalk(shape_, *this).make(1, [](Index) {});
    };
    walk();
    for (const auto& [body, used] : used_) {
      const Body& ghost = near_.at(body);
      places_[body] = problem.add_ghost(body, ghost.momentum, ghost.free_velocity);
    }
    near_.clear();
    contacts_too_ = true;
    walk();
  }

  // --- callbacks of PileWalk ---

  void add_body(const Vector3<double>& place, const Momentum& momentum, const Numbers& /*velocity*/,
                const Numbers& free_velocity) {
    const Index body = count_++;
    is_near_ = layout_.is_near(place, rank_);
    if (!is_near_ || contacts_too_) return;
    if (layout_.owner(place) == rank_) {
      places_[body] = problem_->add_body(body, momentum, free_velocity);
      problem_->set_position(places_[body], place);
    } else {
      near_[body] = {momentum, free_velocity};
    }
  }
  [[nodiscard]] bool wants(Index body, Index other) {
    if (!is_near_) return false;
    const bool own = is_own(body), own_other = is_own(other);
    if (contacts_too_) return own || own_other || (other >= 0 && has(body) && has(other));
    if (own && other >= 0 && !own_other) used_[other] = true;
    if (own_other && !own) used_[body] = true;
    return false;
  }
  template <typename Jacobian, typename Law>
  void add_contact(Index body, const Jacobian& jacobian, const Law& law) {
    problem_->local().add_contact(places_.at(body), jacobian, law);
  }
  template <typename Jacobian, typename Law>
  void add_contact(Index body, const Jacobian& jacobian, Index other,
                   const Jacobian& other_jacobian, const Law& law) {
    problem_->local().add_contact(places_.at(body), jacobian, places_.at(other), other_jacobian,
                                  law);
  }

 private:
  struct Body {
    Momentum momentum;
    Numbers free_velocity;
  };
  [[nodiscard]] bool has(Index body) const { return places_.contains(body); }
  [[nodiscard]] bool is_own(Index body) const {
    const auto at = places_.find(body);
    return at != places_.end() && problem_->is_own(at->second);
  }

  examples::PileShape shape_;
  const HeapLayout& layout_;
  int rank_;
  PetscContactProblem* problem_ = nullptr;
  Index count_ = 0;
  bool is_near_ = false, contacts_too_ = false;
  std::unordered_map<Index, Index> places_;  ///< of own bodies and ghosts in the problem
  std::unordered_map<Index, Body> near_;     ///< other bodies, which may become ghosts
  std::map<Index, bool> used_;               ///< those that become ghosts
};

}  // namespace carom::distributed
