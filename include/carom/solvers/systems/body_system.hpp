// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "carom/contact/detail/block_error.hpp"
#include "carom/contact/detail/block_scales.hpp"
#include "carom/linalg/detail/block_cholesky.hpp"
#include "carom/linalg/detail/block_lu.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/panel_kernels.hpp"
#include "carom/solvers/rows/body_rows.hpp"
#include "carom/solvers/search/body_sweep.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The scales by which the errors of a problem's blocks are measured, those of BlockScales in the
/// parts of BodyRows.
template <RealScalar Scalar>
class PartScales {
 public:
  /// @param rows  of the problem.
  /// @note  Allocates only for a problem larger than every problem before.
  void write(const ContactProblem<Scalar>& problem, const BodyRows<Scalar>& rows) {
    by_row_.write(problem);
    velocities_.resize(3 * rows.part_count());
    inverse_masses_.resize(3 * rows.part_count());
    rows.for_each_row([&](Index row, Index place) {
      velocities_[place] = by_row_.velocity(row);
      inverse_masses_[place] = by_row_.inverse_mass(row);
    });
  }
  /// The scales of a block, row by row.
  template <int Parts>
  [[nodiscard]] auto of(const BlockRows<Scalar, Parts>& block) const noexcept {
    using Rows = Vector<Scalar, Parts == 1 ? 3 : 6>;
    RowScales<Scalar, Parts == 1 ? 3 : 6> scales{Rows::Zero(), Rows::Zero()};
    int rows = 3;
    if constexpr (Parts > 1) rows = block.set.rows;
    for (int r = 0; r < rows; ++r) {
      const int place = block.place(r);
      scales.velocity(r) = velocities_[3 * block.first_part + place];
      scales.inverse_mass(r) =
          inverse_masses_[3 * block.first_part + place] + block.regularization(place);
    }
    return scales;
  }

 private:
  BlockScales<Scalar> by_row_;
  Sequence<Scalar> velocities_, inverse_masses_;  ///< by places in parts
};

/// Velocities of bodies as separate unknowns in addition to impulses, island by island: w − w* of
/// each body, which PairedStep changes by Newton steps. lay_out() for the rows of a
/// problem; for each island begin(), then push() after each step.
template <RealScalar Scalar>
class BodyPairs {
 public:
  /// @note  Allocates beyond the largest problem so far.
  void lay_out(const BodyRows<Scalar>& rows) {
    for (Sequence<Scalar>* numbers : {&pushed_, &last_}) {
      if (numbers->size() != rows.vector_size()) numbers->assign(rows.vector_size(), Scalar(0));
    }
    gross_.resize(rows.graph().slot_count());
  }
  /// w − w* of the pairs of islands, a vector.
  [[nodiscard]] const Scalar* pushed() const noexcept { return pushed_.data(); }

  /// Begins a pair with the velocities that impulses lead to.
  void begin(const BodyRows<Scalar>& rows, Index island, const Scalar* impulse) noexcept {
    rows.write_momentum(island, impulse, pushed_.data());
    std::fill(last_.begin() + rows.vector_start(island), last_.begin() + rows.vector_end(island),
              Scalar(0));
  }
  /// Adds dw. If it is λ times the one before, as all later ones would be, their sum is dw/(1 − λ).
  /// @param all  whether to add this sum.
  /// @return  the multiple of dw that was added.
  [[nodiscard]] Scalar push(const BodyRows<Scalar>& rows, Index island, const Scalar* step,
                            bool all) noexcept {
    const Index begin = rows.vector_start(island), end = rows.vector_end(island);
    Scalar product(0), squared(0);
    for (Index u = begin; u < end; ++u) {
      product += step[u] * last_[u];
      squared += last_[u] * last_[u];
    }
    const bool alike = all && product > Scalar(0) && product < squared;
    const Scalar times = alike ? Scalar(squared / (squared - product)) : Scalar(1);
    for (Index u = begin; u < end; ++u) {
      pushed_[u] += times * step[u];
      last_[u] = step[u];
    }
    return times;
  }

  /// Writes v of an island's bodies.
  void write(const ContactProblem<Scalar>& problem, const BodyRows<Scalar>& rows, Index island,
             VectorX<Scalar>& velocity) const noexcept {
    const auto& range = rows.graph().islands()[island].range;
    for (int slot = range.first_slot; slot < range.slot_end; ++slot) {
      const Index body = rows.graph().body_at(slot);
      const auto [start, size] = problem.body(body);
      Scalar* const own = velocity.data() + start;
      std::copy_n(pushed_.begin() + rows.starts()[slot], size, own);
      solve_lower_transposed(problem.momentum_factor(body).data(), size, size, own);
      for (Index k = 0; k < size; ++k) own[k] += problem.free_velocity()(start + k);
    }
  }

  /// The distance of w − w* from Ĵᵀγ, for the worst body and relative to w − w* or the sum of the
  /// impulses on it [-]; infinite if a number is not finite.
  /// @param momentum  Ĵᵀγ.
  [[nodiscard]] Scalar balance(const BodyRows<Scalar>& rows, Index island, const Scalar* impulse,
                               const Scalar* momentum) noexcept {
    using std::sqrt;
    write_gross(rows, island, impulse, true);
    const auto& range = rows.graph().islands()[island].range;
    Scalar worst(0);
    for (int slot = range.first_slot; slot < range.slot_end; ++slot) {
      const Index start = rows.starts()[slot], size = rows.graph().forest().size(slot);
      Scalar off(0), moved(0);
      for (Index u = start; u < start + size; ++u) {
        off += (pushed_[u] - momentum[u]) * (pushed_[u] - momentum[u]);
        moved += pushed_[u] * pushed_[u];
      }
      if (off == Scalar(0)) continue;
      const Scalar own = sqrt(off) / (std::max)(gross_[slot], Scalar(sqrt(moved)));
      if (!is_finite(own)) return std::numeric_limits<Scalar>::infinity();
      worst = (std::max)(worst, own);
    }
    return worst;
  }

  /// The largest ‖Ĵ‖ Σ ‖Ĵᵀγ‖ divided by V of a row, where Σ is over all impulses on its bodies [-].
  [[nodiscard]] Scalar cancellation(const BodyRows<Scalar>& rows, const PartScales<Scalar>& scales,
                                    Index island, const Scalar* impulse) noexcept {
    using std::sqrt;
    write_gross(rows, island, impulse, false);
    const ContactIsland& own = rows.graph().islands()[island];
    Scalar worst(0);
    for (Index e = own.first_edge; e < own.edge_end; ++e) {
      const auto& edge = rows.edges()[e];
      Scalar gross = gross_[edge.packed.low_slot];
      if (edge.packed.high_slot >= 0) gross += gross_[edge.packed.high_slot];
      for (Index i = edge.first_block; i < edge.block_end; ++i) {
        rows.blocks().visit(i, [&](const auto& block) {
          const auto by_row = scales.of(block);
          for (Index k = 0; k < by_row.velocity.size(); ++k) {
            if (!(by_row.velocity(k) > Scalar(0))) continue;
            const Scalar moved = sqrt(by_row.inverse_mass(k)) * gross;
            worst = (std::max)(worst, Scalar(moved / by_row.velocity(k)));
          }
        });
      }
    }
    return worst;
  }

 private:
  /// gross_ ← Σ ‖Ĵᵀγ‖ on each body of an island, over the blocks, as a judge sums, or over their
  /// parts, which may cancel within a block.
  void write_gross(const BodyRows<Scalar>& rows, Index island, const Scalar* impulse,
                   bool by_blocks) noexcept;

  Sequence<Scalar> pushed_, last_;  ///< w − w*, and dw of the step before
  Sequence<Scalar> gross_;          ///< per body [√J]
};

// --- implementation ---

template <RealScalar Scalar>
void BodyPairs<Scalar>::write_gross(const BodyRows<Scalar>& rows, Index island,
                                    const Scalar* impulse, bool by_blocks) noexcept {
  using std::sqrt;
  const ContactIsland& own = rows.graph().islands()[island];
  for (int slot = own.range.first_slot; slot < own.range.slot_end; ++slot) gross_[slot] = Scalar(0);
  for (Index e = own.first_edge; e < own.edge_end; ++e) {
    const PackedEdge& edge = rows.edges()[e].packed;
    const int slot_of_side[2] = {edge.low_slot, edge.high_slot};
    const auto add = [&](Index first, Index end) {
      const PartRows<Scalar> shape(edge, rows.jacobians(edge), first);
      for (int s = 0; s < shape.side_count; ++s) {
        RowPacket<Scalar> squares = RowPacket<Scalar>::Zero();
        for (Index i = 0; i < shape.lanes[s]; i += row_lanes) {
          RowPacket<Scalar> sum = RowPacket<Scalar>::Zero();
          for (Index k = first; k < end; ++k) {
            const Scalar gamma[3] = {impulse[3 * k], impulse[3 * k + 1], impulse[3 * k + 2]};
            sum += PartRows<Scalar>(edge, rows.jacobians(edge), k).momentum(s, i, gamma);
          }
          squares += sum.square();
        }
        gross_[slot_of_side[s]] += sqrt(squares.sum());
      }
    };
    for (Index i = rows.edges()[e].first_block; i < rows.edges()[e].block_end; ++i) {
      rows.blocks().visit(i, [&](const auto& block) {
        const Index first = block.first_part, end = first + block.parts;
        if (by_blocks) return add(first, end);
        for (Index k = first; k < end; ++k) add(k, k + 1);
      });
    }
  }
}

/// Constants of the linear systems, BodySystem and ActiveSystem. The next step of a path corrects
/// the remaining error of a solve; a step on the law is affected only if the error is as large as
/// `enough`.
struct BodySystemTuning {
  static constexpr int refinements = 4;
  /// Permitted remaining share of the right-hand side; twice as much costs 5 % more systems on
  /// rigid files.
  static constexpr double enough = 1e-7;
  /// Refinement ends if the remaining error does not decrease to this share. It matters in float,
  /// where rounding leaves more than `enough`; in double it has no effect.
  static constexpr double gain = 0.5;
};

/// The output of solve_refined() for an island: dw and the sum of its corrections, both vectors of
/// which [begin, end) belongs to the island, and Ĵ times a correction, in parts.
template <typename Scalar>
struct RefinementMemory {
  Scalar *vector, *sum, *moved;
  Index begin, end;
};

/// dγ = h − N W dγ, and W dγ. The solve is refined until Ĵᵀ dγ and dw are equal up to a share, or
/// nothing more is gained: if N is large, one of them may be accurate and the other not.
/// @param system  blocks(); and, on the vector of the memory, write_momentum(dγ), which writes
///                Ĵᵀ dγ, apply_inverse(), write_velocities(), which writes Ĵ times it, and
///                squares(), which returns the squares of the sum and of the vector.
template <RealScalar Scalar, typename System>
void solve_refined(const System& system, const BlockIsland& island, const BlockGains<Scalar>& gains,
                   const Scalar* offset, const RefinementMemory<Scalar>& memory, Scalar* step,
                   Scalar* moved) {
  using Tuning = BodySystemTuning;
  using std::sqrt;
  const Index first = 3 * island.first_part, end = 3 * island.part_end;
  std::copy(offset + first, offset + end, step + first);
  std::fill(moved + first, moved + end, Scalar(0));
  std::fill(memory.sum + memory.begin, memory.sum + memory.end, Scalar(0));
  system.write_momentum(step);
  Scalar last = std::numeric_limits<Scalar>::infinity();
  for (int k = 0; k <= Tuning::refinements; ++k) {
    system.apply_inverse();
    system.write_velocities();
    for (Index i = island.first_block; i < island.block_end; ++i) {
      const Index row = 3 * system.blocks().first_part(i);
      gains.subtract_product(i, system.blocks().parts(i), memory.moved + row, step + row);
    }
    for (Index p = first; p < end; ++p) moved[p] += memory.moved[p];
    for (Index u = memory.begin; u < memory.end; ++u) memory.sum[u] += memory.vector[u];
    if (k == Tuning::refinements) break;
    system.write_momentum(step);
    for (Index u = memory.begin; u < memory.end; ++u) memory.vector[u] -= memory.sum[u];
    const std::array<Scalar, 2> squares = system.squares();
    const Scalar now = sqrt(squares[1]);
    if (!(now > Scalar(Tuning::enough) * sqrt(squares[0]))) break;
    if (now > Scalar(Tuning::gain) * last) break;
    last = now;
  }
}

/// Newton steps dγ = h − N W dγ of a ContactProblem's impulses, W = Ĵ Ĵᵀ never written down: with
/// dw = Ĵᵀ dγ they come from (I + Ĵᵀ N Ĵ) dw = Ĵᵀ h, which has as many unknowns as the bodies and
/// the pattern of SapSolver's Hessian. Islands are independent. take() copies a problem; for each
/// island factor() with the gains of its blocks, then solve() with these gains.
template <RealScalar Scalar>
class BodySystem {
 public:
  using scalar_type = Scalar;

  /// Copies a problem.
  /// @param symmetric  whether all N will be.
  /// @param loaded     whether load() and scales() are wanted.
  /// @note  Allocates beyond the largest problem so far.
  void take(const ContactProblem<Scalar>& problem, bool symmetric, bool loaded = true) {
    rows_.take(problem, loaded);
    if (loaded) {
      scales_.write(problem, rows_);
      pairs_.lay_out(rows_);
    }
    symmetric_ = symmetric;
    const int age = rows_.graph().analysis_count();
    if (age != branches_age_) lay_out_branches();
    branches_age_ = age;
    const FrontForest& forest = rows_.graph().forest();
    if (symmetric) {
      if (cholesky_age_ != age) cholesky_.reset(forest);
      cholesky_.follow(forest);
      cholesky_age_ = age;
    } else {
      if (lu_age_ != age) lu_.reset(forest);
      lu_.follow(forest);
      lu_age_ = age;
    }
    fit<Scalar>(rows_.vector_size(), {&vector_, &sum_, &scratch_});
    fit<Scalar>(3 * rows_.part_count(), {&rest_});
  }

  /// Whether an island is so large that a crew may share its factorisation.
  [[nodiscard]] bool is_large(Index island) const noexcept {
    return branches_.suit(rows_.graph().islands()[island].range);
  }
  /// Sets the crew that shares the work on large islands from now on, to the same bits; null for
  /// none. With a crew, only one island at a time may be worked on.
  void share(Crew* crew) noexcept { crew_ = crew; }
  /// Lets factorisations end as soon as limits are over; null for none.
  void watch(const SolveLimits* limits) noexcept {
    lu_.watch(limits);
    cholesky_.watch(limits);
  }

  /// Updates the pointers of the factors after this object has moved in memory.
  void follow() noexcept {
    lu_.follow(rows_.graph().forest());
    cholesky_.follow(rows_.graph().forest());
  }

  [[nodiscard]] const BodyRows<Scalar>& rows() const noexcept { return rows_; }
  [[nodiscard]] const BlockList<Scalar>& blocks() const noexcept { return rows_.blocks(); }
  [[nodiscard]] const Sequence<BlockIsland>& islands() const noexcept { return rows_.islands(); }
  [[nodiscard]] Index part_count() const noexcept { return rows_.part_count(); }
  [[nodiscard]] const Scalar* load() const noexcept { return rows_.load(); }
  void add_to_load(Index place, const Scalar& velocity) noexcept {
    rows_.add_to_load(place, velocity);
  }
  /// The index of a block in the problem; −1 if there is none.
  [[nodiscard]] Index block_number(Index block) const noexcept {
    if (block < 0) return block;
    return rows_.graph().part_at(blocks().first_part(block)).block;
  }
  /// The error scales of a block.
  template <int Parts>
  [[nodiscard]] auto scales(const BlockRows<Scalar, Parts>& block) const noexcept {
    return scales_.of(block);
  }

  /// product = W γ of an island, in parts.
  void multiply(Index island, const Scalar* impulse, Scalar* product) noexcept {
    rows_.write_momentum(island, impulse, vector_.data());
    rows_.write_velocities(island, vector_.data(), product, loop());
  }
  /// Sweeps over an island's blocks, as BodySweep does, while go_on().
  template <typename GoOn>
  void sweep(Index island, FrictionLaw law, Scalar* impulse, GoOn&& go_on) noexcept {
    BodySweep<Scalar>::sweep(rows_, island, law, impulse, vector_.data(), rest_.data(), go_on);
  }
  /// Factors an island with the current gains. Returns false if a pivot fails.
  [[nodiscard]] bool factor(Index island, const BlockGains<Scalar>& gains) noexcept;

  /// The largest pivot of an island's factor divided by the least, if N need not be symmetric.
  [[nodiscard]] Scalar pivot_ratio(Index island) const noexcept {
    return lu_.pivot_spread(rows_.graph().islands()[island].range).ratio();
  }
  /// The sign of the determinant of an island's I + Ĵᵀ N Ĵ, if N need not be symmetric: +1 or −1.
  [[nodiscard]] int determinant_sign(Index island) const noexcept {
    return lu_.determinant_sign(rows_.graph().islands()[island].range);
  }
  /// x ← (I + Ĵᵀ N Ĵ)⁻¹ x of an island by the factor, x a vector; with `Transposed`, of the
  /// transposed matrix.
  template <bool Transposed>
  void apply_inverse(Index island, Scalar* x) noexcept {
    const FrontRange& range = rows_.graph().islands()[island].range;
    Scalar* const scratch = scratch_.data() + rows_.vector_start(island);
    if (!Transposed && crew_ != nullptr && is_large(island)) return solve_shared(range, x);
    if (symmetric_) return cholesky_.solve(range, x, rows_.starts(), scratch);
    if constexpr (Transposed) {
      lu_.solve_transposed(range, x, rows_.starts(), scratch);
    } else {
      lu_.solve(range, x, rows_.starts(), scratch);
    }
  }

  /// Pairs of impulses and velocities, which PairedStep moves.
  [[nodiscard]] BodyPairs<Scalar>& pairs() noexcept { return pairs_; }
  [[nodiscard]] const BodyPairs<Scalar>& pairs() const noexcept { return pairs_; }
  /// Begins a pair with the velocities that impulses lead to.
  void begin_pair(Index island, const Scalar* impulse) noexcept {
    pairs_.begin(rows_, island, impulse);
  }
  /// Adds dw of the last solve to the pair.
  /// @param all  whether to add the sum of all later steps too, as BodyPairs::push() estimates it.
  /// @return  the factor of dw that was added.
  [[nodiscard]] Scalar push_pair(Index island, bool all) noexcept {
    return pairs_.push(rows_, island, sum_.data(), all);
  }
  void write_paired_velocities(Index island, Scalar* velocity) noexcept {
    rows_.write_velocities(island, pairs_.pushed(), velocity, loop());
  }
  /// The distance of the momentum of a pair from its impulses, for the worst body and relative to
  /// the sum of the impulses on it [-].
  [[nodiscard]] Scalar balance(Index island, const Scalar* impulse) noexcept {
    rows_.write_momentum(island, impulse, vector_.data());
    return pairs_.balance(rows_, island, impulse, vector_.data());
  }
  /// The cancellation of the impulses on a body, for the worst block and relative to the scales of
  /// its bodies [-]: multiplied by ε, it is the possible motion of the block by rounding of the
  /// impulses.
  [[nodiscard]] Scalar cancellation(Index island, const Scalar* impulse) noexcept {
    return pairs_.cancellation(rows_, scales_, island, impulse);
  }

  /// dγ = h − N W dγ, and W dγ, by solve_refined().
  void solve(Index island, const BlockGains<Scalar>& gains, const Scalar* offset, Scalar* step,
             Scalar* moved) noexcept;

 private:
  struct Refined;

  [[nodiscard]] SharedLoop loop() const noexcept {
    return crew_ == nullptr ? SharedLoop() : SharedLoop(*crew_);
  }
  void lay_out_branches() {
    branches_.clear(rows_.graph().forest());
    for (const ContactIsland& island : rows_.graph().islands()) {
      branches_.append(rows_.graph().forest(), island.range);
    }
    room_.resize(branches_.room());
  }
  void solve_shared(const FrontRange& range, Scalar* x) noexcept {
    if (symmetric_) {
      cholesky_.solve(range, x, rows_.starts(), room_.data(), branches_, *crew_);
    } else {
      lu_.solve(range, x, rows_.starts(), room_.data(), branches_, *crew_);
    }
  }
  template <typename Block>
  void fill(const ContactIsland& island, const BlockGains<Scalar>& gains, bool transposed,
            const Block& block) const noexcept;

  BodyRows<Scalar> rows_;
  PartScales<Scalar> scales_;
  BodyPairs<Scalar> pairs_;
  bool symmetric_ = true;
  int cholesky_age_ = -1, lu_age_ = -1, branches_age_ = -1;
  Crew* crew_ = nullptr;
  FrontBranches branches_;
  BlockCholesky<Scalar> cholesky_;
  BlockLu<Scalar> lu_;
  Sequence<Scalar> vector_, sum_, scratch_, rest_, room_;
};

// --- implementation ---

/// Adds I + Ĵᵀ N Ĵ of an island, or its transpose, to a matrix.
/// @param block  block(column, row) of two slots.
template <RealScalar Scalar>
template <typename Block>
void BodySystem<Scalar>::fill(const ContactIsland& island, const BlockGains<Scalar>& gains,
                              bool transposed, const Block& block) const noexcept {
  for (Index e = island.first_edge; e < island.edge_end; ++e) {
    add_to_blocks(rows_.edges()[e].packed, block, [&](const auto& targets) {
      add_edge_gains(rows_, e, gains, transposed, targets);
    });
  }
  for (int slot = island.range.first_slot; slot < island.range.slot_end; ++slot) {
    add_identity(block(slot, slot), rows_.graph().forest().size(slot));
  }
}

template <RealScalar Scalar>
bool BodySystem<Scalar>::factor(Index island, const BlockGains<Scalar>& gains) noexcept {
  const ContactIsland& own = rows_.graph().islands()[island];
  const bool shared = crew_ != nullptr && is_large(island);
  const auto factor = [&](auto& matrix) {
    return shared ? matrix.factor(own.range, branches_, *crew_) : matrix.factor(own.range);
  };
  if (symmetric_) {
    cholesky_.clear(own.range);
    fill(own, gains, false, [&](int column, int row) {
      return cholesky_.block(cholesky_.place(column, row), column);
    });
    return factor(cholesky_);
  }
  lu_.clear(own.range);
  // The matrix by columns for one factor, and its transpose for the other.
  RowShares{shared ? crew_ : nullptr}.both([&](bool transposed) {
    fill(own, gains, transposed, [&](int column, int row) {
      const Index place = lu_.place(column, row);
      return transposed ? lu_.upper(place, column) : lu_.lower(place, column);
    });
  });
  return factor(lu_);
}

template <RealScalar Scalar>
struct BodySystem<Scalar>::Refined {
  BodySystem& system;
  Index island;

  [[nodiscard]] const BlockList<Scalar>& blocks() const noexcept { return system.blocks(); }
  void write_momentum(const Scalar* step) const noexcept {
    system.rows_.write_momentum(island, step, system.vector_.data());
  }
  void apply_inverse() const noexcept {
    system.template apply_inverse<false>(island, system.vector_.data());
  }
  void write_velocities() const noexcept {
    system.rows_.write_velocities(island, system.vector_.data(), system.rest_.data(),
                                  system.loop());
  }
  [[nodiscard]] std::array<Scalar, 2> squares() const noexcept {
    std::array<Scalar, 2> result{};
    const Index end = system.rows_.vector_end(island);
    for (Index u = system.rows_.vector_start(island); u < end; ++u) {
      result[0] += system.sum_[u] * system.sum_[u];
      result[1] += system.vector_[u] * system.vector_[u];
    }
    return result;
  }
};

template <RealScalar Scalar>
void BodySystem<Scalar>::solve(Index island, const BlockGains<Scalar>& gains, const Scalar* offset,
                               Scalar* step, Scalar* moved) noexcept {
  const RefinementMemory<Scalar> memory{vector_.data(), sum_.data(), rest_.data(),
                                        rows_.vector_start(island), rows_.vector_end(island)};
  solve_refined(Refined{*this, island}, islands()[island], gains, offset, memory, step, moved);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
