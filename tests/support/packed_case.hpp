// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <Eigen/Cholesky>

#include "carom/solvers/rows/island_view.hpp"

#include "support/constrained_problem.hpp"

/// @file
/// A problem laid out as SapSolver lays it out, beside the same numbers in dense matrices that
/// share no code with the layout: what passes over the packed arrays find is compared with these.
namespace carom::testing {

/// Every number of a problem as the scalar type holds it.
template <typename Scalar>
[[nodiscard]] ConstrainedProblem round_numbers(ConstrainedProblem raw) {
  const auto round = [](auto& numbers) {
    numbers = numbers.template cast<Scalar>().template cast<double>().eval();
  };
  for (RawBody& body : raw.contacts.bodies) {
    round(body.momentum);
    round(body.free_velocity);
  }
  for (RawContact& contact : raw.contacts.contacts) {
    round(contact.first_jacobian);
    round(contact.second_jacobian);
    round(contact.law.bias_velocity);
    contact.law.friction = double(Scalar(contact.law.friction));
    auto& [tangent, normal] = contact.law.regularization;
    tangent = double(Scalar(tangent));
    normal = double(Scalar(normal));
  }
  for (RawConstraint& constraint : raw.constraints) {
    round(constraint.first_jacobian);
    round(constraint.second_jacobian);
    WeightedBlock<double>& law = constraint.law;
    for (auto* rows : {&law.set.lower, &law.set.upper, &law.set.shift, &law.regularization,
                       &law.bias_velocity}) {
      round(*rows);
    }
    round(law.set.friction);
  }
  return raw;
}

/// A problem with blocks of every shape beside friction contacts.
[[nodiscard]] inline ConstrainedProblem draw_blocks(VectorSource<double>& source,
                                                    const RawShape& shape, int constraint_count) {
  ConstrainedProblem raw;
  if (shape.sizes.empty()) return raw;
  raw = draw_constrained(source, shape.sizes, constraint_count);
  raw.contacts = draw_problem(source, shape);
  for (std::size_t i = 3; i < raw.constraints.size(); i += 4) {  // shapes that none has yet
    RawConstraint& constraint = raw.constraints[i];
    constraint.law = draw_law(source, 9 + int(source.unit() * 3));
    const Index rows = constraint.law.set.rows;
    constraint.first_jacobian = draw_matrix(source, rows, constraint.first_jacobian.cols());
    if (constraint.second < 0) continue;
    constraint.second_jacobian = draw_matrix(source, rows, constraint.second_jacobian.cols());
  }
  return raw;
}

/// Drawn problems: of no block, of one, of many on one island and on several; of zero friction now
/// and then; of weights over twelve decades in double, over four in float.
template <typename Scalar, typename Visit>
void for_each_packed_problem(std::uint32_t seed, const Visit& visit) {
  VectorSource<double> source(seed);
  const double decades = sizeof(Scalar) == 4 ? 4 : 12;
  const auto draw = [&](const std::vector<int>& sizes, int contacts, int constraints,
                        double spread) {
    const RawShape shape{
        .sizes = sizes, .contact_count = contacts, .mass_decades = 2, .stiffness_decades = spread};
    visit(round_numbers<Scalar>(draw_blocks(source, shape, constraints)), source);
  };
  draw({}, 0, 0, 1);
  draw({6, 3}, 0, 0, 1);
  draw({6}, 1, 0, 1);
  draw({6}, 0, 1, 1);
  for (int sample = 0; sample < 6; ++sample) {
    draw({6, 6, 6, 6}, 1 + 4 * sample, 0, sample % 2 == 0 ? 3 : decades);
    draw({1, 2, 3, 6, 7, 9}, sample, 2 * sample, sample % 2 == 0 ? 1 : decades);
    draw({3, 6, 3, 6, 1, 9, 3, 6, 6, 3, 2, 7}, 4 + sample, 4, 2);
    draw({6, 6}, 20, 3, 3);
    draw({5, 3, 3}, 9, 5, 1);
  }
}

/// A problem, its layout, and the memory that an iteration works on.
template <typename Scalar>
struct PackedCase {
  using Memory = detail::SolverMemory<Scalar>;

  ConstrainedProblem raw;
  ContactProblem<Scalar> problem;
  ContactGraph graph;
  detail::PackedProblem<Scalar> packed;
  Memory memory;
  DenseDual dense;
  Eigen::MatrixXd factor;  ///< L of A = L Lᵀ
  Eigen::VectorXd row_scale;  ///< D = √R⁻¹ of the rows of blocks that are not friction contacts; 1

  explicit PackedCase(const ConstrainedProblem& given, double work_limit = 1e300)
      : raw(given), problem(build<Scalar>(given)), dense(given) {
    graph.analyse(problem, work_limit);
    packed.lay_out(graph);
    packed.pack(problem, graph);
    memory.lay_out(packed);
    factor = dense.momentum.llt().matrixL();
    row_scale = Eigen::VectorXd::Ones(dense.weights.size());
    for (Index r = 0; r < row_scale.size(); ++r) {
      if (!is_contact_row(r)) row_scale(r) = 1 / std::sqrt(dense.weights(r));
    }
  }

  /// The block that a row belongs to.
  [[nodiscard]] std::size_t block_of(Index row) const {
    return std::size_t(std::upper_bound(dense.starts.begin(), dense.starts.end(), row) -
                       dense.starts.begin() - 1);
  }
  /// Whether a row is one of a friction contact, whichever way the block was added.
  [[nodiscard]] bool is_contact_row(Index row) const {
    return problem.is_friction_contact(Index(block_of(row)));
  }
  /// Lᵀv.
  [[nodiscard]] Eigen::VectorXd whiten(const Eigen::VectorXd& velocity) const {
    return factor.transpose().lazyProduct(velocity);
  }
  /// L⁻ᵀw.
  [[nodiscard]] Eigen::VectorXd unwhiten(const Eigen::VectorXd& whitened) const {
    return factor.transpose().triangularView<Eigen::Upper>().solve(whitened);
  }
  /// Ĵ = J L⁻ᵀ, row by row of the problem.
  [[nodiscard]] Eigen::MatrixXd whitened_jacobian() const {
    const Eigen::MatrixXd transposed =
        factor.triangularView<Eigen::Lower>().solve(dense.jacobian.transpose());
    return transposed.transpose();
  }
  /// Calls visit(index in a packed vector, index in a vector of all bodies).
  template <typename Visit>
  void for_each_unknown(const Visit& visit) const {
    for (Index b = 0; b < problem.body_count(); ++b) {
      if (graph.slot_of(b) < 0) continue;
      const auto [start, size] = problem.body(b);
      for (Index k = 0; k < size; ++k) visit(packed.starts()[graph.slot_of(b)] + k, start + k);
    }
  }
  /// Calls visit(part, component, row of the problem).
  template <typename Visit>
  void for_each_row(const Visit& visit) const {
    for (Index e = 0; e < graph.edges().size(); ++e) {
      const Index first = graph.edges()[e].first_part;
      for (Index k = first; k < graph.edges()[e].part_end; ++k) {
        const auto [block, number] = graph.part_at(k);
        const bool planar = !problem.is_friction_contact(block) && problem.rows(block) == 2 &&
                            problem.other_block(block).law().set.shape == ImpulseShape::planar;
        for (int r = 0; r < problem.rows(block); ++r) {
          const int component = (planar ? 2 * r : r) - 3 * number;
          if (component < 0 || component > 2) continue;
          visit(packed.edge(e).first_part + k - first, component, problem.first_row(block) + r);
        }
      }
    }
  }
  void set(typename Memory::VectorName name, const Eigen::VectorXd& numbers) {
    for_each_unknown(
        [&](Index to, Index from) { memory.vector(name)[to] = Scalar(numbers(from)); });
  }
  /// What a vector holds, zero for bodies without blocks.
  [[nodiscard]] Eigen::VectorXd get(typename Memory::VectorName name) {
    Eigen::VectorXd numbers = Eigen::VectorXd::Zero(dense.free_velocity.size());
    for_each_unknown(
        [&](Index from, Index to) { numbers(to) = double(memory.vector(name)[from]); });
    return numbers;
  }
  /// What an array over parts holds, row by row of the problem.
  [[nodiscard]] Eigen::VectorXd get(typename Memory::TripleName name) {
    Eigen::VectorXd numbers = Eigen::VectorXd::Zero(dense.weights.size());
    for_each_row([&](Index part, int component, Index row) {
      numbers(row) = double(memory.contact(name, component)[part]);
    });
    return numbers;
  }
  /// Numbers of bodies with blocks; zero for the others.
  [[nodiscard]] Eigen::VectorXd touched(const Eigen::VectorXd& numbers) const {
    Eigen::VectorXd kept = Eigen::VectorXd::Zero(numbers.size());
    for_each_unknown([&](Index, Index at) { kept(at) = numbers(at); });
    return kept;
  }
};

}  // namespace carom::testing
