// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "carom/adapters/petsc_problem.hpp"
#include "carom/contact/detail/contact_graph.hpp"

namespace carom::distributed {

/// Assigns each body of a problem to a rank. Bodies with contacts are in breadth-first order,
/// divided into ranges with about the same count of contact sides. Bodies without contacts are
/// assigned in turn.
[[nodiscard]] inline std::vector<int> choose_owners(const ContactProblem<double>& problem,
                                                    int rank_count) {
  ContactGraph graph;
  graph.analyse(problem, 0);  // no factor: slots in breadth-first order
  std::vector<Index> sides(std::size_t(problem.body_count()), 0);
  Index total = 0, seen = 0;
  for (Index i = 0; i < problem.block_count(); ++i) {
    for (int side = 0; side < problem.side_count(i); ++side, ++total) {
      ++sides[std::size_t(problem.side_body(i, side))];
    }
  }
  std::vector<int> owner(std::size_t(problem.body_count()));
  for (std::size_t b = 0; b < owner.size(); ++b) owner[b] = int(b % std::size_t(rank_count));
  for (Index slot = 0; slot < graph.slot_count(); ++slot) {
    const auto b = std::size_t(graph.body_at(slot));
    owner[b] = int(std::min<Index>(rank_count - 1, seen * rank_count / total));
    seen += sides[b];
  }
  return owner;
}

/// A rank's part of a problem that each process has completely: for tests, and as an example of how
/// to make a part. Programs for large problems make each part on its own rank.
class ProblemPart {
 public:
  /// All ranks call it.
  /// @param owner  rank of each body.
  ProblemPart(MPI_Comm communicator, const ContactProblem<double>& whole,
              const std::vector<int>& owner)
      : problem_(communicator, whole.time_step()), whole_(&whole) {
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    problem_.fill([&](PetscContactProblem& part) { add(part, owner, rank); });
  }

  [[nodiscard]] PetscContactProblem& problem() noexcept { return problem_; }
  /// Indices in the whole problem of the part's blocks.
  [[nodiscard]] const std::vector<Index>& blocks() const noexcept { return blocks_; }

  /// The part of a velocity of the whole problem: own bodies and ghosts.
  [[nodiscard]] VectorX<double> cut(const VectorX<double>& velocity) const {
    VectorX<double> result(problem_.local().velocity_count());
    for_each(problem_.local().body_count(), [&](Index here, Index there, Index size) {
      result.segment(here, size) = velocity.segment(there, size);
    });
    return result;
  }
  /// The velocity of the whole problem from the parts of all ranks, on all ranks. All ranks call
  /// it.
  [[nodiscard]] VectorX<double> join(const VectorX<double>& part) const {
    VectorX<double> result = VectorX<double>::Zero(whole_->velocity_count());
    for_each(problem_.own_count(), [&](Index here, Index there, Index size) {
      result.segment(there, size) = part.segment(here, size);
    });
    MPI_Allreduce(MPI_IN_PLACE, result.data(), int(result.size()), MPI_DOUBLE, MPI_SUM,
                  problem_.communicator());
    return result;
  }

  /// The rows of the whole problem, for example impulses, from the parts of all ranks, on all
  /// ranks. All ranks call it.
  [[nodiscard]] VectorX<double> join_rows(const VectorX<double>& part) const {
    VectorX<double> result = VectorX<double>::Zero(whole_->impulse_count());
    for (Index i = 0; i < Index(blocks_.size()); ++i) {
      if (!problem_.counts(i)) continue;
      const Index block = blocks_[std::size_t(i)], rows = whole_->rows(block);
      result.segment(whole_->first_row(block), rows) =
          part.segment(problem_.local().first_row(i), rows);
    }
    MPI_Allreduce(MPI_IN_PLACE, result.data(), int(result.size()), MPI_DOUBLE, MPI_SUM,
                  problem_.communicator());
    return result;
  }

 private:
  template <typename Visit>
  void for_each(Index bodies, const Visit& visit) const {
    for (Index b = 0; b < bodies; ++b) {
      const auto [start, size] = problem_.local().body(b);
      visit(start, whole_->body(problem_.id(b)).start, size);
    }
  }
  void add(PetscContactProblem& part, const std::vector<int>& owner, int rank) {
    const ContactProblem<double>& whole = *whole_;
    const auto is_own = [&](Index body) { return owner[std::size_t(body)] == rank; };
    const auto free = [&](Index body) {
      const auto [start, size] = whole.body(body);
      return whole.free_velocity().segment(start, size);
    };
    std::map<Index, Index> place;
    for (Index b = 0; b < whole.body_count(); ++b) {
      if (is_own(b)) place[b] = part.add_body(b, whole.momentum_matrix(b), free(b));
    }
    for (Index i = 0; i < whole.block_count(); ++i) {
      const Index first = whole.side_body(i, 0);
      const Index second = whole.side_count(i) > 1 ? whole.side_body(i, 1) : first;
      if (!is_own(first) && !is_own(second)) continue;
      for (const Index body : {first, second}) {
        if (!place.contains(body)) {
          place[body] = part.add_ghost(body, whole.momentum_matrix(body), free(body));
        }
      }
    }
    for (Index i = 0; i < whole.block_count(); ++i) {
      const bool two = whole.side_count(i) > 1;
      if (!place.contains(whole.side_body(i, 0))) continue;
      if (two && !place.contains(whole.side_body(i, 1))) continue;
      if (!two && !is_own(whole.side_body(i, 0))) continue;
      blocks_.push_back(i);
      const Index first = place[whole.side_body(i, 0)];
      if (whole.side_count(i) == 1) {
        part.local().add_constraint(first, whole.jacobian(i, 0), whole.law(i));
      } else {
        part.local().add_constraint(first, whole.jacobian(i, 0), place[whole.side_body(i, 1)],
                                    whole.jacobian(i, 1), whole.law(i));
      }
    }
  }

  PetscContactProblem problem_;
  const ContactProblem<double>* whole_;
  std::vector<Index> blocks_;
};

}  // namespace carom::distributed
