// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "carom/adapters/detail/petsc_exchange.hpp"
#include "carom/contact/detail/contact_graph.hpp"
#include "carom/linalg/detail/block_cholesky.hpp"
#include "carom/linalg/detail/block_incomplete_cholesky.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// This rank's part of H = I + Ĵᵀ G Ĵ: the rows of own bodies with all their entries, in blocks,
/// and a factor of the square of own bodies and ghosts.
class PetscHessian {
 public:
  /// Takes on a pattern. Every rank calls it.
  void lay_out(const PetscContactProblem& problem, double factor_work_limit) {
    problem_ = &problem;
    const ContactProblem<double>& local = problem.local();
    graph_.analyse(local, factor_work_limit);
    hessian_.clear_pattern();
    below_.assign(std::size_t(graph_.edges().size()), -1);
    Index e = 0;
    for (Index slot = 0; slot < graph_.slot_count(); ++slot) {
      const auto [start, size] = local.body(graph_.body_at(slot));
      hessian_.append_column(int(size), start);
      for (; e < graph_.edges().size() && graph_.edges()[e].low_slot == slot; ++e) {
        const int high = graph_.edges()[e].high_slot;
        if (high < 0) continue;
        below_[std::size_t(e)] = hessian_.block_count();
        hessian_.append_row(high, int(local.body(graph_.body_at(high)).size));
      }
    }
    hessian_.allocate();
    incomplete_.reset(hessian_);
    cholesky_.reset(graph_.forest());
    starts_.resize(std::size_t(graph_.slot_count()));
    for (Index s = 0; s < graph_.slot_count(); ++s) starts_[std::size_t(s)] = hessian_.start(s);
    scratch_.resize(2 * std::size_t(graph_.forest().largest_front()) + 16);
    int largest = 0;
    for (Index b = 0; b < local.body_count(); ++b) {
      largest = (std::max)(largest, int(local.body(b).size));
    }
    MPI_Allreduce(&largest, &largest_size_, 1, MPI_INT, MPI_MAX, problem.communicator());
  }

  [[nodiscard]] const ContactGraph& graph() const noexcept { return graph_; }
  /// The blocks; column k is slot k of graph().
  [[nodiscard]] const BlockSymmetric<double>& blocks() const noexcept { return hessian_; }

  /// Assembles the blocks.
  /// @param curvature  curvature(view) gives G of a block.
  template <typename Curvature>
  void assemble(const Curvature& curvature) {
    const ContactProblem<double>& local = problem_->local();
    hessian_.clear({0, hessian_.column_count()});
    for (Index c = 0; c < hessian_.column_count(); ++c) {
      for (Index k = 0; k < hessian_.size(c); ++k) {
        hessian_.diagonal(c)[k * (hessian_.size(c) + 1)] = 1;
      }
    }
    for (Index e = 0; e < graph_.edges().size(); ++e) {
      const ContactEdge& edge = graph_.edges()[e];
      for (int p = edge.first_part; p < edge.part_end; ++p) {
        const BlockPart& part = graph_.part_at(p);
        if (part.number > 0) continue;  // the whole block has been added
        local.visit_by_kind(part.block, [&](const auto& view) { add(view, curvature(view), e); });
      }
    }
  }
  /// Fetches the ghosts' diagonal blocks from their owners. Every rank calls it.
  void complete_ghosts(PetscExchange& exchange) {
    const ContactProblem<double>& local = problem_->local();
    column_.resize(std::size_t(local.velocity_count()));
    for (int k = 0; k < largest_size_; ++k) {
      const auto for_each = [&](const auto& visit) {
        for (Index c = 0; c < hessian_.column_count(); ++c) {
          const Index size = hessian_.size(c);
          if (k < size)
            visit(c, hessian_.diagonal(c) + k * size, column_.data() + starts_[std::size_t(c)],
                  size);
        }
      };
      std::fill(column_.begin(), column_.end(), 0.0);
      for_each([](Index, const double* block, double* there, Index size) {
        std::copy_n(block, size, there);
      });
      exchange.update_ghosts(column_.data());
      for_each([&](Index c, double* block, const double* there, Index size) {
        if (!problem_->is_own(graph_.body_at(c))) std::copy_n(there, size, block);
      });
    }
  }

  /// Factors the square of own bodies and ghosts, island by island; false where H has NaN.
  [[nodiscard]] bool factor() noexcept {
    bool good = true;
    for (const ContactIsland& island : graph_.islands()) {
      const bool done = island.direct ? factor_directly(island)
                                      : incomplete_.factor(hessian_, columns_of(island));
      good = good && done;
    }
    return good;
  }
  /// x ← (that square)⁻¹ x, on own bodies and ghosts.
  void solve(double* x) noexcept {
    for (const ContactIsland& island : graph_.islands()) {
      if (island.direct) {
        cholesky_.solve(island.range, x, starts_.data(), scratch_.data());
      } else {
        incomplete_.solve(columns_of(island), x);
      }
    }
  }

  /// y = H x on own bodies; what it writes for ghosts has no meaning.
  void multiply(const double* x, double* y) const noexcept {
    std::copy_n(x, problem_->local().velocity_count(), y);
    hessian_.multiply({0, hessian_.column_count()}, x, y);
  }

 private:
  [[nodiscard]] static ColumnRange columns_of(const ContactIsland& island) noexcept {
    return {island.range.first_slot, island.range.slot_end};
  }
  template <typename View, typename Curvature>
  void add(const View& view, const Curvature& curvature, Index e) noexcept {
    const ContactEdge& edge = graph_.edges()[e];
    const auto g = curvature.topLeftCorner(view.rows(), view.rows());
    int sides[2] = {0, 1};
    if (graph_.slot_of(view.side(0).body) != edge.low_slot) std::swap(sides[0], sides[1]);
    const auto add_product = [&](double* target, int row, int column) {
      const auto rows = view.whitened_columns(row), columns = view.whitened_columns(column);
      if constexpr (View::capacity == 3) {
        if (rows.rows() == 6 && columns.rows() == 6) {
          using Side = Eigen::Map<const Eigen::Matrix<double, 6, 3>>;
          const Eigen::Matrix<double, 6, 3> pushed = Side(rows.data()).lazyProduct(curvature);
          Eigen::Map<SquareMatrix<double, 6>>(target).noalias() +=
              pushed.lazyProduct(Side(columns.data()).transpose());
          return;
        }
      }
      Eigen::Map<MatrixX<double>>(target, rows.rows(), columns.rows()) +=
          rows.lazyProduct(g).eval().lazyProduct(columns.transpose());
    };
    add_product(hessian_.diagonal(edge.low_slot), sides[0], sides[0]);
    if (edge.high_slot < 0) return;
    add_product(hessian_.below(below_[std::size_t(e)]), sides[1], sides[0]);
    add_product(hessian_.diagonal(edge.high_slot), sides[1], sides[1]);
  }
  [[nodiscard]] bool factor_directly(const ContactIsland& island) noexcept {
    cholesky_.clear(island.range);
    const auto copy = [](const Columns<double>& to, const double* from, Index rows, Index columns) {
      for (Index c = 0; c < columns; ++c)
        std::copy_n(from + c * rows, rows, to.data + c * to.stride);
    };
    for (Index c = island.range.first_slot; c < island.range.slot_end; ++c) {
      const Index size = hessian_.size(c);
      copy(cholesky_.diagonal(c), hessian_.diagonal(c), size, size);
      for (Index b = hessian_.row_begin(c); b < hessian_.row_end(c); ++b) {
        const int row = hessian_.row(b);
        copy(cholesky_.block(cholesky_.place(c, row), c), hessian_.below(b), hessian_.size(row),
             size);
      }
    }
    return cholesky_.factor(island.range);
  }

  const PetscContactProblem* problem_ = nullptr;
  ContactGraph graph_;
  BlockSymmetric<double> hessian_;
  BlockIncompleteCholesky<double> incomplete_;
  BlockCholesky<double> cholesky_;
  std::vector<Index> below_, starts_;
  std::vector<double> scratch_, column_;
  int largest_size_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
