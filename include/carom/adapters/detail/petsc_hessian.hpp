// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <mpi.h>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "carom/adapters/detail/petsc_exchange.hpp"
#include "carom/contact/detail/body_islands.hpp"
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
  /// Makes room for a pattern. Every rank calls it.
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

/// Own bodies in connected groups, each of about the same number.
/// @param graph  of own bodies and ghosts.
/// @return  per own body, its group; −1 without contact. Second the number of groups.
inline std::pair<std::vector<int>, int> gather_aggregates(const PetscContactProblem& problem,
                                                          const ContactGraph& graph,
                                                          Index bodies_per_aggregate) {
  const auto slot_count = std::size_t(graph.slot_count());
  std::vector<std::vector<int>> neighbours(slot_count);
  for (const ContactEdge& edge : graph.edges()) {
    if (edge.high_slot < 0) continue;
    neighbours[std::size_t(edge.low_slot)].push_back(edge.high_slot);
    neighbours[std::size_t(edge.high_slot)].push_back(edge.low_slot);
  }
  std::vector<int> group(std::size_t(problem.own_count()), -1);
  const auto group_of = [&](int slot) -> int* {
    const Index body = graph.body_at(slot);
    return problem.is_own(body) ? &group[std::size_t(body)] : nullptr;
  };
  int count = 0;
  std::vector<int> members, border;  // border: next to a group already made, where others begin
  Index full = 0;                    // members that the last group has
  const auto grow = [&](int seed) {
    members.assign(1, seed);
    *group_of(seed) = count;
    for (std::size_t k = 0; k < members.size(); ++k) {
      for (const int next : neighbours[std::size_t(members[k])]) {
        int* const there = group_of(next);
        if (there == nullptr || *there >= 0) continue;
        if (full + Index(members.size()) >= bodies_per_aggregate) {
          border.push_back(next);
          continue;
        }
        *there = count;
        members.push_back(next);
      }
    }
    full += Index(members.size());
  };
  for (int slot = 0; slot < int(slot_count); ++slot) {
    border.assign(1, slot);
    for (std::size_t k = 0; k < border.size(); ++k) {
      const int* const there = group_of(border[k]);
      if (there == nullptr || *there >= 0) continue;
      if (full >= bodies_per_aggregate) {
        ++count;
        full = 0;
      }
      grow(border[k]);
    }
  }
  return {std::move(group), full > 0 ? count + 1 : count};
}

/// A small sparse matrix of 6 × 6 blocks whose rows are made on several ranks, and its factor,
/// which every rank has.
class PetscCoarseMatrix {
 public:
  using Pairs = std::vector<std::pair<int, int>>;

  /// Makes room for a pattern. Every rank calls it.
  /// @param count  block rows of all ranks.
  /// @param pairs  (row, column ≤ row) of the blocks that this rank makes, in any order, also more
  ///               than once; (row, row) of each of its rows among them.
  void lay_out(MPI_Comm communicator, Index count, Pairs pairs) {
    communicator_ = communicator;
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    own_ = std::move(pairs);
    own_values_.assign(36 * own_.size(), 0.0);
    gather_pattern();
    lay_out_factor(count);
  }

  /// Sets the blocks of this rank to zero.
  void clear() { std::fill(own_values_.begin(), own_values_.end(), 0.0); }
  /// A block of this rank, column by column.
  [[nodiscard]] double* block(int row, int column) {
    const auto at = std::lower_bound(own_.begin(), own_.end(), std::pair{row, column});
    return own_values_.data() + 36 * (at - own_.begin());
  }
  /// Gathers the blocks of all ranks and factors; false where they are not finite. A diagonal entry
  /// of zero, whose row and column are zero, becomes one. Every rank calls it.
  [[nodiscard]] bool factor() {
    MPI_Allgatherv(own_values_.data(), int(own_values_.size()), MPI_DOUBLE, all_values_.data(),
                   counts_.data(), offsets_.data(), MPI_DOUBLE, communicator_);
    for (const FrontRange& range : ranges_) cholesky_.clear(range);
    for (std::size_t k = 0; k < all_.size(); ++k) {
      const int row = slot_[std::size_t(all_[k].first)],
                column = slot_[std::size_t(all_[k].second)];
      SquareMatrix<double, 6> e =
          Eigen::Map<const SquareMatrix<double, 6>>(all_values_.data() + 36 * k);
      const int low = (std::min)(row, column), high = (std::max)(row, column);
      if (row < column) e.transposeInPlace();
      const auto target = row == column ? cholesky_.diagonal(row)
                                        : cholesky_.block(cholesky_.place(low, high), low);
      for (int c = 0; c < 6; ++c) {
        if (row == column && e(c, c) == 0) e(c, c) = 1;
        for (int r = 0; r < 6; ++r) target.data[c * target.stride + r] += e(r, c);
      }
    }
    bool good = true;
    for (const FrontRange& range : ranges_) good = cholesky_.factor(range) && good;
    return good;
  }
  /// x ← E⁻¹ x, on this rank alone.
  void solve(double* x) noexcept {
    for (const FrontRange& range : ranges_) {
      cholesky_.solve(range, x, starts_.data(), scratch_.data());
    }
  }

 private:
  /// Tells all ranks who is next to whom.
  void gather_pattern() {
    int rank_count = 1;
    MPI_Comm_size(communicator_, &rank_count);
    counts_.assign(std::size_t(rank_count), 0);
    offsets_ = counts_;
    std::vector<int> sent;
    for (const auto& [row, column] : own_) sent.insert(sent.end(), {row, column});
    const int own = int(sent.size());
    MPI_Allgather(&own, 1, MPI_INT, counts_.data(), 1, MPI_INT, communicator_);
    for (std::size_t r = 1; r < counts_.size(); ++r) {
      offsets_[r] = offsets_[r - 1] + counts_[r - 1];
    }
    std::vector<int> received(std::size_t(offsets_.back() + counts_.back()));
    MPI_Allgatherv(sent.data(), own, MPI_INT, received.data(), counts_.data(), offsets_.data(),
                   MPI_INT, communicator_);
    all_.clear();
    for (std::size_t k = 0; k < received.size(); k += 2) {
      all_.emplace_back(received[k], received[k + 1]);
    }
    all_values_.assign(36 * all_.size(), 0.0);
    for (std::vector<int>* numbers : {&counts_, &offsets_}) {
      for (int& number : *numbers) number *= 18;  // a pair is two numbers, its block 36
    }
  }
  /// Finds an order of elimination, the same on all ranks.
  void lay_out_factor(Index count) {
    Sequence<BodyPair> pairs;
    for (const auto& [row, column] : all_) pairs.push_back({column, row == column ? -1 : row});
    Sequence<int> sizes;
    sizes.assign(count, 6);
    BodyIslands islands;
    islands.find(pairs, sizes);
    forest_.clear();
    ranges_.clear();
    slot_.assign(std::size_t(count), -1);
    std::vector<int> found(static_cast<std::size_t>(count));
    for (Index i = 0; i < islands.count(); ++i) {
      const WeightedGraph graph = islands.graph(i);
      static_cast<void>(order_.compute(graph, (std::numeric_limits<double>::max)()));
      ranges_.push_back(forest_.append(graph, order_, found.data()));
      for (Index k = 0; k < graph.node_count; ++k) {
        slot_[std::size_t(islands.member(i, k))] = found[std::size_t(k)];
      }
    }
    cholesky_.reset(forest_);
    starts_.resize(static_cast<std::size_t>(count));
    for (Index row = 0; row < count; ++row) {
      starts_[std::size_t(slot_[std::size_t(row)])] = 6 * row;
    }
    scratch_.resize(2 * std::size_t(forest_.largest_front()) + 16);
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  Pairs own_, all_;  ///< blocks of this rank, and of all
  std::vector<double> own_values_, all_values_;
  std::vector<int> counts_, offsets_;  ///< per rank, of the numbers of its blocks
  MinimumDegree order_;
  FrontForest forest_;
  BlockCholesky<double> cholesky_;
  std::vector<FrontRange> ranges_;
  std::vector<int> slot_;  ///< per block row
  std::vector<Index> starts_;
  std::vector<double> scratch_;
};

/// The coarse space of a two-level preconditioner: six motions of every aggregate of bodies, on
/// which the system is solved exactly, by every rank alike.
///
/// A preconditioner M of one level becomes P M + Q, with Q = Z E⁻¹ Zᵀ, E = Zᵀ H Z and P = I − Q H.
/// Conjugate gradients stay valid with it when they start from Q b.
/// @cite  tang2009comparison, method A-DEF2.
class PetscCoarse {
 public:
  /// Makes room for a pattern. Every rank calls it.
  void lay_out(const PetscContactProblem& problem, const PetscHessian& hessian,
               PetscExchange& exchange, Index bodies_per_aggregate);
  /// Computes E from the numbers of H. Every rank calls it; false where they are not finite.
  [[nodiscard]] bool assemble(const PetscHessian& hessian);

  /// Aggregates of all ranks; with one or none there is no coarse space.
  [[nodiscard]] Index aggregate_count() const noexcept { return aggregate_count_; }
  [[nodiscard]] bool is_used() const noexcept { return aggregate_count_ > 1; }

  /// x = Q b on own bodies. Every rank calls it.
  void start(const double* b, double* x) {
    coarse_.setZero(6 * aggregate_count_);
    add_projection(b);
    std::fill_n(x, problem_->own_size(), 0.0);
    correct(x);
  }
  /// Makes x = M r, on own bodies, P M r + Q r. Every rank calls it.
  void add(const double* r, double* x) {
    coarse_.setZero(6 * aggregate_count_);
    add_projection(r);
    for (const Product& product : products_) {
      coarse_.segment<6>(6 * product.aggregate).noalias() -=
          block(image_, product.place, product.size).transpose() *
          Eigen::Map<const VectorX<double>>(x + product.start, product.size);
    }
    correct(x);
  }

 private:
  using Block = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, 6>>;
  /// H Z of an own body and an aggregate.
  struct Product {
    Index body, start, size, aggregate, place;
  };
  [[nodiscard]] static Block block(std::vector<double>& numbers, Index place, Index size) {
    return {numbers.data() + place, size, 6};
  }
  [[nodiscard]] Block basis(Index body) {
    const auto [start, size] = problem_->local().body(body);
    return block(basis_, 6 * start, size);
  }
  [[nodiscard]] Index aggregate(Index body) const { return aggregate_[std::size_t(body)]; }

  void write_basis(PetscExchange& exchange, const std::vector<int>& group, int group_count);
  void make_orthonormal(const std::vector<Index>& bodies);
  void list_products(const PetscHessian& hessian);
  void add_product(Index body, Index other, const Eigen::Ref<const MatrixX<double>>& part);
  void add_projection(const double* numbers) {
    for (Index b = 0; b < problem_->own_count(); ++b) {
      if (aggregate(b) < 0) continue;
      const auto [start, size] = problem_->local().body(b);
      coarse_.segment<6>(6 * aggregate(b)).noalias() +=
          basis(b).transpose() * Eigen::Map<const VectorX<double>>(numbers + start, size);
    }
  }
  /// Sums the coarse numbers over the ranks and adds Z E⁻¹ of them.
  void correct(double* x) {
    MPI_Allreduce(MPI_IN_PLACE, coarse_.data(), int(coarse_.size()), MPI_DOUBLE, MPI_SUM,
                  problem_->communicator());
    matrix_.solve(coarse_.data());
    for (Index b = 0; b < problem_->own_count(); ++b) {
      if (aggregate(b) < 0) continue;
      const auto [start, size] = problem_->local().body(b);
      Eigen::Map<VectorX<double>>(x + start, size).noalias() +=
          basis(b) * coarse_.segment<6>(6 * aggregate(b));
    }
  }

  const PetscContactProblem* problem_ = nullptr;
  Index aggregate_count_ = 0;
  std::vector<Index> aggregate_;  ///< per body, own ones and ghosts; −1 without
  std::vector<double> basis_;     ///< Z, per body size × 6
  std::vector<Product> products_;
  std::vector<Index> product_start_;  ///< per own body, its first product; one more at the end
  std::vector<double> image_;         ///< H Z
  PetscCoarseMatrix matrix_;          ///< E
  VectorX<double> coarse_;
};

// --- implementation ---

inline void PetscCoarse::lay_out(const PetscContactProblem& problem, const PetscHessian& hessian,
                                 PetscExchange& exchange, Index bodies_per_aggregate) {
  problem_ = &problem;
  const auto [group, group_count] =
      gather_aggregates(problem, hessian.graph(), bodies_per_aggregate);
  write_basis(exchange, group, group_count);
  if (!is_used()) return;
  list_products(hessian);
}

/// Numbers the aggregates of all ranks, and writes Z of own bodies and ghosts.
inline void PetscCoarse::write_basis(PetscExchange& exchange, const std::vector<int>& group,
                                     int group_count) {
  const ContactProblem<double>& local = problem_->local();
  const Word own = group_count;
  Word first = 0, total = 0;
  int rank = 0;
  MPI_Comm_rank(problem_->communicator(), &rank);
  MPI_Exscan(&own, &first, 1, MPI_INT64_T, MPI_SUM, problem_->communicator());
  if (rank == 0) first = 0;
  MPI_Allreduce(&own, &total, 1, MPI_INT64_T, MPI_SUM, problem_->communicator());
  aggregate_count_ = total;
  if (!is_used()) return;
  aggregate_.assign(std::size_t(local.body_count()), -1);
  basis_.assign(std::size_t(6 * local.velocity_count()), 0.0);
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(group_count));
  for (Index b = 0; b < problem_->own_count(); ++b) {
    if (group[std::size_t(b)] < 0) continue;
    aggregate_[std::size_t(b)] = first + group[std::size_t(b)];
    members[std::size_t(group[std::size_t(b)])].push_back(b);
    const Index size = local.body(b).size;
    basis(b) = problem_->motions(b);
    for (int k = 0; k < 6; ++k) {
      multiply_lower_transposed(local.momentum_factor(b).data(), size, size,
                                basis(b).col(k).data());
    }
  }
  for (const std::vector<Index>& bodies : members) make_orthonormal(bodies);
  std::vector<double> column(std::size_t(local.velocity_count()));
  for (int k = 0; k < 7; ++k) {  // six columns, and the number of the aggregate
    for (Index b = 0; b < local.body_count(); ++b) {
      const auto [start, size] = local.body(b);
      for (Index i = 0; i < size; ++i) {
        column[std::size_t(start + i)] = k < 6 ? basis(b)(i, k) : double(aggregate(b));
      }
    }
    exchange.update_ghosts(column.data());
    for (Index b = problem_->own_count(); b < local.body_count(); ++b) {
      const auto [start, size] = local.body(b);
      for (Index i = 0; i < size && k < 6; ++i) basis(b)(i, k) = column[std::size_t(start + i)];
      if (k == 6) aggregate_[std::size_t(b)] = Index(column[std::size_t(start)]);
    }
  }
}

/// Gram and Schmidt on the columns of Z that belong to some bodies; a column that depends on those
/// before becomes zero.
inline void PetscCoarse::make_orthonormal(const std::vector<Index>& bodies) {
  const auto dot = [&](int i, int j) {
    double sum = 0;
    for (const Index b : bodies) sum += basis(b).col(i).dot(basis(b).col(j));
    return sum;
  };
  constexpr double dependent = 1e-6;  // share of a column left [-], rounding well below it
  for (int k = 0; k < 6; ++k) {
    const double before = std::sqrt(dot(k, k));
    for (int pass = 0; pass < 2; ++pass) {
      for (int j = 0; j < k; ++j) {
        const double share = dot(j, k);
        for (const Index b : bodies) basis(b).col(k) -= share * basis(b).col(j);
      }
    }
    const double left = std::sqrt(dot(k, k));
    const double factor = left > dependent * before ? 1 / left : 0;
    for (const Index b : bodies) basis(b).col(k) *= factor;
  }
}

/// Lists which blocks H Z has, and which E of this rank's aggregates.
inline void PetscCoarse::list_products(const PetscHessian& hessian) {
  const ContactProblem<double>& local = problem_->local();
  const BlockSymmetric<double>& h = hessian.blocks();
  std::vector<std::vector<Index>> next_to(std::size_t(problem_->own_count()));
  const auto meet = [&](Index body, Index other) {
    if (problem_->is_own(body)) next_to[std::size_t(body)].push_back(aggregate(other));
  };
  for (Index c = 0; c < h.column_count(); ++c) {
    const Index body = hessian.graph().body_at(c);
    meet(body, body);
    for (Index b = h.row_begin(c); b < h.row_end(c); ++b) {
      const Index other = hessian.graph().body_at(h.row(b));
      meet(body, other);
      meet(other, body);
    }
  }
  products_.clear();
  product_start_.assign(1, 0);
  std::vector<std::pair<int, int>> pairs;
  Index place = 0;
  for (Index body = 0; body < problem_->own_count(); ++body) {
    std::vector<Index>& aggregates = next_to[std::size_t(body)];
    std::sort(aggregates.begin(), aggregates.end());
    aggregates.erase(std::unique(aggregates.begin(), aggregates.end()), aggregates.end());
    const auto [start, size] = local.body(body);
    for (const Index other : aggregates) {
      products_.push_back({body, start, size, other, place});
      place += 6 * size;
      if (other <= aggregate(body)) pairs.emplace_back(int(aggregate(body)), int(other));
    }
    product_start_.push_back(Index(products_.size()));
  }
  image_.assign(std::size_t(place), 0.0);
  matrix_.lay_out(problem_->communicator(), aggregate_count_, std::move(pairs));
}

/// H Z of an own body += a block of H times Z of the other.
inline void PetscCoarse::add_product(Index body, Index other,
                                     const Eigen::Ref<const MatrixX<double>>& part) {
  auto product = products_.begin() + product_start_[std::size_t(body)];
  while (product->aggregate != aggregate(other)) ++product;
  block(image_, product->place, product->size).noalias() += part.lazyProduct(basis(other));
}

inline bool PetscCoarse::assemble(const PetscHessian& hessian) {
  const BlockSymmetric<double>& h = hessian.blocks();
  std::fill(image_.begin(), image_.end(), 0.0);
  using Map = Eigen::Map<const MatrixX<double>>;
  for (Index c = 0; c < h.column_count(); ++c) {
    const Index body = hessian.graph().body_at(c), size = h.size(c);
    const bool own = problem_->is_own(body);
    if (own) add_product(body, body, Map(h.diagonal(c), size, size));
    for (Index b = h.row_begin(c); b < h.row_end(c); ++b) {
      const Index other = hessian.graph().body_at(h.row(b));
      const Map below(h.below(b), h.size(h.row(b)), size);
      if (own) add_product(body, other, below.transpose());
      if (problem_->is_own(other)) add_product(other, body, below);
    }
  }
  matrix_.clear();
  for (const Product& product : products_) {
    const Index own = aggregate(product.body);
    if (product.aggregate > own) continue;
    Eigen::Map<SquareMatrix<double, 6>>(matrix_.block(int(own), int(product.aggregate)))
        .noalias() += basis(product.body).transpose() * block(image_, product.place, product.size);
  }
  return matrix_.factor();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
