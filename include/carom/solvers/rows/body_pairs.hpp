// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/linalg/detail/cholesky.hpp"
#include "carom/solvers/search/part_scales.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Velocities of bodies as numbers of their own beside impulses, island by island: w − w* of every
/// body, which PairedStep moves by the steps of Newton's method.
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
  /// Adds dw. Where it is λ times the one before, as all later ones would be, their sum is
  /// dw/(1 − λ).
  /// @param all  whether to add that sum.
  /// @return  how many times dw was added.
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

  /// How far w − w* is from Ĵᵀγ, of the worst body and relative to all that acts on it [-].
  /// @param momentum  Ĵᵀγ.
  [[nodiscard]] Scalar balance(const BodyRows<Scalar>& rows, Index island, const Scalar* impulse,
                               const Scalar* momentum) noexcept {
    using std::sqrt;
    write_gross(rows, island, impulse);
    const auto& range = rows.graph().islands()[island].range;
    Scalar worst(0);
    for (int slot = range.first_slot; slot < range.slot_end; ++slot) {
      const Index start = rows.starts()[slot], size = rows.graph().forest().size(slot);
      Scalar off(0);
      for (Index u = start; u < start + size; ++u) {
        off += (pushed_[u] - momentum[u]) * (pushed_[u] - momentum[u]);
      }
      if (off > Scalar(0)) worst = (std::max)(worst, Scalar(sqrt(off) / gross_[slot]));
    }
    return is_finite(worst) ? worst : std::numeric_limits<Scalar>::infinity();
  }

  /// The largest of ‖Ĵ‖ Σ ‖Ĵᵀγ‖ over V of a row, Σ over all that acts on its bodies [-].
  [[nodiscard]] Scalar cancellation(const BodyRows<Scalar>& rows, const PartScales<Scalar>& scales,
                                    Index island, const Scalar* impulse) noexcept {
    using std::sqrt;
    write_gross(rows, island, impulse);
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
  /// gross_ ← Σ ‖Ĵᵀγ‖ over the parts that act on each body of an island.
  void write_gross(const BodyRows<Scalar>& rows, Index island, const Scalar* impulse) noexcept;

  Sequence<Scalar> pushed_, last_;  ///< w − w*, and dw of the step before
  Sequence<Scalar> gross_;          ///< per body [√J]
};

// --- implementation ---

template <RealScalar Scalar>
void BodyPairs<Scalar>::write_gross(const BodyRows<Scalar>& rows, Index island,
                                    const Scalar* impulse) noexcept {
  using std::sqrt;
  const ContactIsland& own = rows.graph().islands()[island];
  for (int slot = own.range.first_slot; slot < own.range.slot_end; ++slot) gross_[slot] = Scalar(0);
  for (Index e = own.first_edge; e < own.edge_end; ++e) {
    const PackedEdge& edge = rows.edges()[e].packed;
    const Scalar* block = rows.jacobians(edge);
    const Index lanes[2] = {lanes_above(edge.low_size), lanes_above(edge.high_size)};
    const Index ends[2] = {edge.low_slot, edge.high_slot};
    for (Index k = edge.first_part; k < edge.part_end; ++k) {
      for (int s = 0; s < 2; ++s) {
        RowPacket<Scalar> squares = RowPacket<Scalar>::Zero();
        for (Index i = 0; i < lanes[s]; i += row_lanes) {
          RowPacket<Scalar> sum = RowPacket<Scalar>::Zero();
          for (int c = 0; c < 3; ++c) {
            sum += impulse[3 * k + c] * packet_at(block + c * lanes[s] + i);
          }
          squares += sum.square();
        }
        if (lanes[s] > 0) gross_[ends[s]] += sqrt(squares.sum());
        block += 3 * lanes[s];
      }
    }
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
