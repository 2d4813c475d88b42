// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

#include "carom/batch/solve_batch.hpp"
#include "carom/contact/contact_problem.hpp"

#include "ensemble/island_kinds.hpp"

namespace carom::ensemble {

/// Contact problems of bodies with six velocities and friction contacts, solved in batches island
/// by island. An island is a set of bodies joined by contacts.
///
/// Islands with equal patterns share lanes. But two random islands of three bodies rarely have the
/// same count of contacts in the same places. The bodies of an island are therefore numbered in an
/// order that depends only on the contact graph, and contacts without effect, J = 0, fill each pair
/// up to `slots` contacts. The result of an island depends on the island only, and so do the bits
/// of a problem's answer.
/// @pre  no island has more than six bodies, nor both rigid and compliant contacts.
class IslandBatch {
 public:
  /// Removes all problems.
  void clear();
  /// Adds a problem with the velocities at which its solution starts.
  void add(const ContactProblem<double>& problem, const VectorX<double>& guess);
  void solve(const SapOptions<double>& options);

  /// The result of the i-th added problem: the status of an island that has not converged, if there
  /// is one; the largest iteration count and the largest residual of all islands.
  [[nodiscard]] BatchProblemReport<double> report(Index i) const;
  /// @param velocity,impulse  written: those of problem i.
  void write_answer(Index i, VectorX<double>& velocity, VectorX<double>& impulse) const;

 private:
  static constexpr int ground = IslandGraph::ground, size = IslandKinds::size,
                       rows = IslandKinds::rows;
  /// The contacts of each pair in islands of this count of bodies are filled up to a multiple of
  /// this.
  static constexpr std::array<int, IslandGraph::most_bodies + 1> slots{1, 1, 2, 4, 4, 4, 1};

  struct Island {
    std::vector<Index> bodies, contacts;  ///< indices in the problem
  };
  /// Numbers of all islands, one island after the other.
  struct Ragged {
    std::vector<double> numbers;
    std::vector<Index> offsets;

    void begin() { offsets.push_back(Index(numbers.size())); }
    void add(double x) { numbers.push_back(x); }
    [[nodiscard]] BatchArray<const double> view() const {
      return {numbers.data(), 0, offsets.data()};
    }
    void clear() { numbers.clear(), offsets.clear(); }
  };
  struct Problem {
    Index first_island = 0, first_body = 0, first_contact = 0;
  };

  void find_islands(const ContactProblem<double>& problem);
  [[nodiscard]] IslandGraph graph_of(const ContactProblem<double>& problem, const Island& island);
  void add_island(const ContactProblem<double>& problem, const VectorX<double>& guess,
                  const Island& island);
  void add_contact(const ContactProblem<double>& problem, Index contact, Index first, int sides);

  IslandKinds kinds_;
  std::vector<int> pattern_numbers_;
  Ragged mass_, free_, guess_, jacobian_, friction_, regularization_, bias_;
  std::vector<double> velocity_, impulse_;
  std::vector<BatchProblemReport<double>> reports_;
  BatchWorkspace<double> workspace_;

  std::vector<Problem> problems_;
  std::vector<Index> body_places_, contact_places_;  ///< of all problems, in the answers

  std::vector<Island> islands_;  ///< of the problem that is added
  std::size_t island_count_ = 0;
  std::vector<Index> local_;  ///< first the island of a body, then its index in the island
};

// --- implementation ---

inline void IslandBatch::clear() {
  pattern_numbers_.clear();
  for (Ragged* list : {&mass_, &free_, &guess_, &jacobian_, &friction_, &regularization_, &bias_}) {
    list->clear();
  }
  problems_.clear();
  body_places_.clear();
  contact_places_.clear();
}

inline void IslandBatch::find_islands(const ContactProblem<double>& problem) {
  std::vector<Index> root(std::size_t(problem.body_count()));
  std::iota(root.begin(), root.end(), Index(0));
  const auto find = [&](Index b) {
    while (root[std::size_t(b)] != b) b = root[std::size_t(b)];
    return b;
  };
  for (Index k = 0; k < problem.block_count(); ++k) {
    if (problem.side_count(k) < 2) continue;
    const Index a = find(problem.side_body(k, 0)), b = find(problem.side_body(k, 1));
    root[std::size_t((std::max)(a, b))] = (std::min)(a, b);
  }
  island_count_ = 0;
  local_.assign(root.size(), 0);
  for (Index b = 0; b < problem.body_count(); ++b) {
    if (root[std::size_t(b)] == b) {
      local_[std::size_t(b)] = Index(island_count_++);
      if (islands_.size() < island_count_) islands_.emplace_back();
      islands_[island_count_ - 1].bodies.clear();
      islands_[island_count_ - 1].contacts.clear();
    } else {
      local_[std::size_t(b)] = local_[std::size_t(find(b))];
    }
    islands_[std::size_t(local_[std::size_t(b)])].bodies.push_back(b);
  }
  for (Index k = 0; k < problem.block_count(); ++k) {
    islands_[std::size_t(local_[std::size_t(problem.side_body(k, 0))])].contacts.push_back(k);
  }
  for (std::size_t i = 0; i < island_count_; ++i) {
    const auto& bodies = islands_[i].bodies;
    for (std::size_t b = 0; b < bodies.size(); ++b) local_[std::size_t(bodies[b])] = Index(b);
  }
}

inline IslandGraph IslandBatch::graph_of(const ContactProblem<double>& problem,
                                         const Island& island) {
  IslandGraph graph;
  graph.bodies = int(island.bodies.size());
  for (const Index k : island.contacts) {
    const auto a = std::size_t(local_[std::size_t(problem.side_body(k, 0))]);
    graph.rigid = problem.law(k).rigid;
    if (problem.side_count(k) < 2) {
      ++graph.contacts[a][ground];
      continue;
    }
    const auto b = std::size_t(local_[std::size_t(problem.side_body(k, 1))]);
    ++graph.contacts[a][b];
    ++graph.contacts[b][a];
  }
  const int step = slots[std::size_t(graph.bodies)];
  for (auto& row : graph.contacts) {
    for (auto& count : row) count = (signed char)((count + step - 1) / step * step);
  }
  return graph;
}

/// Adds a contact whose first side in the pattern is that of body `first`, or a contact without
/// effect.
inline void IslandBatch::add_contact(const ContactProblem<double>& problem, Index contact,
                                     Index first, int sides) {
  if (contact < 0) {
    for (int i = 0; i < sides * rows * size; ++i) jacobian_.add(0);
    friction_.add(0);
    for (int i = 0; i < 2; ++i) regularization_.add(1);
    for (int r = 0; r < rows; ++r) bias_.add(0);
    return;
  }
  const int turned = problem.side_body(contact, 0) == first ? 0 : 1;
  for (int s = 0; s < sides; ++s) {
    const auto jacobian = problem.jacobian(contact, s == 0 ? turned : 1 - turned);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < size; ++c) jacobian_.add(jacobian(r, c));
    }
  }
  const WeightedContact<double>& law = problem.friction_contact_law(contact);
  friction_.add(law.friction);
  regularization_.add(law.regularization.tangent);
  regularization_.add(law.regularization.normal);
  for (int r = 0; r < rows; ++r) bias_.add(law.bias_velocity(r));
}

inline void IslandBatch::add_island(const ContactProblem<double>& problem,
                                    const VectorX<double>& guess, const Island& island) {
  const IslandKind& kind = kinds_.of(graph_of(problem, island));
  pattern_numbers_.push_back(kind.pattern);
  for (Ragged* list : {&mass_, &free_, &guess_, &jacobian_, &friction_, &regularization_, &bias_}) {
    list->begin();
  }
  const int bodies = kind.graph.bodies;
  const auto body_at = [&](int b) {
    return island.bodies[std::size_t(kind.order[std::size_t(b)])];
  };
  for (int b = 0; b < bodies; ++b) {
    const Index body = body_at(b), first = problem.body(body).start;
    body_places_[std::size_t(problems_.back().first_body + body)] = Index(free_.numbers.size());
    const auto mass = problem.momentum_matrix(body);
    for (int r = 0; r < size; ++r) {
      for (int c = 0; c < size; ++c) mass_.add(mass(r, c));
      free_.add(problem.free_velocity()(first + r));
      guess_.add(guess(first + r));
    }
  }
  const auto add_contacts = [&](int a, int b, int count) {
    const Index first = body_at(a), second = b == ground ? -1 : body_at(b);
    for (const Index k : island.contacts) {
      const Index x = problem.side_body(k, 0);
      const Index y = problem.side_count(k) < 2 ? -1 : problem.side_body(k, 1);
      if (!((x == first && y == second) || (x == second && y == first))) continue;
      contact_places_[std::size_t(problems_.back().first_contact + k)] =
          Index(bias_.numbers.size());
      add_contact(problem, k, first, b == ground ? 1 : 2);
      --count;
    }
    for (; count > 0; --count) add_contact(problem, -1, first, b == ground ? 1 : 2);
  };
  for (int a = 0; a < bodies; ++a) {
    const auto& counts = kind.graph.contacts[std::size_t(a)];
    if (counts[ground] > 0) add_contacts(a, ground, counts[ground]);
    for (int b = a + 1; b < bodies; ++b) {
      if (counts[std::size_t(b)] > 0) add_contacts(a, b, counts[std::size_t(b)]);
    }
  }
}

inline void IslandBatch::add(const ContactProblem<double>& problem, const VectorX<double>& guess) {
  problems_.push_back(
      {Index(pattern_numbers_.size()), Index(body_places_.size()), Index(contact_places_.size())});
  body_places_.resize(body_places_.size() + std::size_t(problem.body_count()));
  contact_places_.resize(contact_places_.size() + std::size_t(problem.block_count()));
  find_islands(problem);
  for (std::size_t i = 0; i < island_count_; ++i) add_island(problem, guess, islands_[i]);
}

inline void IslandBatch::solve(const SapOptions<double>& options) {
  BatchView<double> view;
  view.count = Index(pattern_numbers_.size());
  view.patterns = kinds_.patterns();
  view.pattern_count = kinds_.count();
  view.pattern_numbers = pattern_numbers_.data();
  view.mass = mass_.view();
  view.free_velocity = free_.view();
  view.guess = guess_.view();
  view.jacobian = jacobian_.view();
  view.friction = friction_.view();
  view.regularization = regularization_.view();
  view.bias = bias_.view();
  velocity_.resize(free_.numbers.size());
  impulse_.resize(bias_.numbers.size());
  reports_.resize(pattern_numbers_.size());
  const BatchAnswers<double> answers{{velocity_.data(), 0, free_.offsets.data()},
                                     {impulse_.data(), 0, bias_.offsets.data()},
                                     reports_.data()};
  workspace_.prepare(view, 1);
  (void)solve_batch(view, answers, options, workspace_);
}

inline BatchProblemReport<double> IslandBatch::report(Index i) const {
  const auto last = std::size_t(i) + 1;
  const auto end =
      last < problems_.size() ? std::size_t(problems_[last].first_island) : pattern_numbers_.size();
  BatchProblemReport<double> result{.status = SolveStatus::converged};
  for (auto k = std::size_t(problems_[std::size_t(i)].first_island); k < end; ++k) {
    if (reports_[k].status != SolveStatus::converged) result.status = reports_[k].status;
    result.iterations = (std::max)(result.iterations, reports_[k].iterations);
    result.residual = (std::max)(result.residual, reports_[k].residual);
  }
  return result;
}

inline void IslandBatch::write_answer(Index i, VectorX<double>& velocity,
                                      VectorX<double>& impulse) const {
  const Problem& problem = problems_[std::size_t(i)];
  for (Index b = 0; size * b < velocity.size(); ++b) {
    const Index place = body_places_[std::size_t(problem.first_body + b)];
    for (int r = 0; r < size; ++r) velocity(size * b + r) = velocity_[std::size_t(place + r)];
  }
  for (Index k = 0; rows * k < impulse.size(); ++k) {
    const Index place = contact_places_[std::size_t(problem.first_contact + k)];
    for (int r = 0; r < rows; ++r) impulse(rows * k + r) = impulse_[std::size_t(place + r)];
  }
}

}  // namespace carom::ensemble
