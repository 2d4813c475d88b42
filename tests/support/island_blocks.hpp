// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <Eigen/Core>

#include "carom/solvers/rows/packed_problem.hpp"

#include "support/raw_problem.hpp"

/// @file
/// Matrices I + Σ Bₑ over the edges of a contact graph, Bₑ drawn by the tests: what the solvers'
/// Hessians assemble and invert is compared with the dense matrix.
namespace carom::testing {

/// A drawn problem as its graph lays it out, and one symmetric matrix for each edge.
template <typename Scalar>
struct IslandBlocks {
  ContactProblem<Scalar> problem;
  ContactGraph graph;
  detail::PackedProblem<Scalar> packed;
  std::vector<Eigen::MatrixXd> edges;  ///< of the low body's unknowns, then the high one's

  /// @param work_limit  beyond which islands are not direct.
  IslandBlocks(VectorSource<double>& source, const RawShape& shape, double work_limit)
      : problem(build<Scalar>(draw_problem(source, shape))) {
    graph.analyse(problem, work_limit);
    packed.lay_out(graph);
    packed.pack(problem, graph);
    for (Index e = 0; e < packed.edge_count(); ++e) {
      const Index size = packed.edge(e).low_size + packed.edge(e).high_size;
      const Eigen::MatrixXd factor = draw_matrix(source, size, 3);
      edges.emplace_back(factor.lazyProduct(factor.transpose()));
    }
  }

  /// Adds an edge's matrix to its targets, as solvers add curvature.
  void add(const detail::PackedEdge& edge, const detail::Columns<Scalar> (&targets)[3]) const {
    Index e = 0;
    while (&packed.edge(e) != &edge) ++e;
    const Eigen::MatrixXd& block = edges[std::size_t(e)];
    const auto add_part = [&](const detail::Columns<Scalar>& target, Index row, Index column,
                              Index rows, Index columns) {
      for (Index c = 0; c < columns; ++c) {
        for (Index r = 0; r < rows; ++r) {
          target.data[c * target.stride + r] += Scalar(block(row + r, column + c));
        }
      }
    };
    const Index low = edge.low_size, high = edge.high_size;
    if (targets[0].data != nullptr) add_part(targets[0], 0, 0, low, low);
    if (edge.high_slot < 0) return;
    if (targets[0].data != nullptr) add_part(targets[1], low, 0, high, low);
    if (targets[2].data != nullptr) add_part(targets[2], low, low, high, high);
  }
  /// The same where targets without data are left out.
  void add_chosen(const detail::PackedEdge& edge,
                  const detail::Columns<Scalar> (&targets)[3]) const {
    std::vector<Scalar> unused(1000, Scalar(0));
    detail::Columns<Scalar> all[3] = {targets[0], targets[1], targets[2]};
    for (auto& target : all) {
      if (target.data == nullptr) target = {unused.data(), 30};
    }
    add(edge, all);
  }

  /// I + Σ Bₑ of an island over its part of a packed vector; ones on the padding.
  [[nodiscard]] Eigen::MatrixXd dense(const detail::PackedIsland& island) const {
    Eigen::MatrixXd matrix =
        Eigen::MatrixXd::Identity(Index(island.vector_size), Index(island.vector_size));
    for (Index e = island.first_edge; e < island.edge_end; ++e) {
      const detail::PackedEdge& edge = packed.edge(e);
      const Index size = edge.low_size + edge.high_size;
      const auto place = [&](Index k) {
        return (k < edge.low_size ? packed.starts()[edge.low_slot] + k
                                  : packed.starts()[edge.high_slot] + k - edge.low_size) -
               island.vector_start;
      };
      for (Index c = 0; c < size; ++c) {
        for (Index r = 0; r < size; ++r) {
          matrix(place(r), place(c)) += edges[std::size_t(e)](r, c);
        }
      }
    }
    return matrix;
  }

  /// A packed vector of numbers in [−1, 1], zero on the padding.
  [[nodiscard]] std::vector<Scalar> draw_vector(VectorSource<double>& source) const {
    std::vector<Scalar> x(std::size_t(packed.vector_size()), Scalar(0));
    for (Index slot = 0; slot < packed.slot_count(); ++slot) {
      for (Index k = 0; k < packed.size(slot); ++k) {
        x[std::size_t(packed.starts()[slot] + k)] = Scalar(2 * source.unit() - 1);
      }
    }
    return x;
  }
};

/// Shapes of graphs with one island and with many, of bodies without contact, and of none.
template <typename Visit>
void for_each_island_shape(const Visit& visit) {
  visit(RawShape{.sizes = {}, .contact_count = 0});
  visit(RawShape{.sizes = {6, 3}, .contact_count = 0});
  visit(RawShape{.sizes = {6}, .contact_count = 1});
  visit(RawShape{.sizes = {1, 2, 3, 6, 7}, .contact_count = 9});
  visit(RawShape{.sizes = {6, 6, 6, 6, 6, 6, 6, 6}, .contact_count = 30});
  visit(RawShape{.sizes = {3, 6, 3, 6, 1, 9, 3, 6, 6, 3, 2, 7}, .contact_count = 8});
}

/// ‖H x − b‖/‖b‖ on an island.
template <typename Scalar>
[[nodiscard]] double relative_residual(const IslandBlocks<Scalar>& blocks,
                                       const detail::PackedIsland& island,
                                       const std::vector<Scalar>& x, const std::vector<Scalar>& b) {
  using Numbers = Eigen::Map<const VectorX<Scalar>>;
  const Eigen::VectorXd given =
      Numbers(b.data() + island.vector_start, island.vector_size).template cast<double>();
  const Eigen::VectorXd found =
      Numbers(x.data() + island.vector_start, island.vector_size).template cast<double>();
  const Eigen::MatrixXd matrix = blocks.dense(island);
  return (matrix.lazyProduct(found) - given).norm() / given.norm();
}

}  // namespace carom::testing
