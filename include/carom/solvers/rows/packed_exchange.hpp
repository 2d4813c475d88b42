// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/cholesky.hpp"
#include "carom/solvers/search/island_newton.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The contribution of bodies without a block to the measures of a problem.
template <RealScalar Scalar>
struct IdleMeasures {
  Scalar residual_squared = 0;  ///< ‖v − v*‖²_A [J]
  Scalar free_squared = 0;      ///< ‖v*‖²_A [J]
};

/// Carries velocities and impulses between a problem, body by body and block by block, and the
/// packed arrays of its layout, where they are whitened and stand island by island. A view:
/// take_guess() before the islands are solved, give_velocities() and give_impulses() after.
template <RealScalar Scalar>
class PackedExchange {
 public:
  using Memory = SolverMemory<Scalar>;
  using Packed = PackedProblem<Scalar>;

  PackedExchange(const ContactProblem<Scalar>& problem, const ContactGraph& graph,
                 const Packed& packed, Memory& memory) noexcept
      : problem_(problem), graph_(graph), packed_(packed), memory_(memory) {}

  /// Writes w = Lᵀv and w* = Lᵀv* of the bodies with blocks; measures the others.
  /// @param loop  shares the bodies.
  [[nodiscard]] IdleMeasures<Scalar> take_guess(const VectorX<Scalar>& velocity,
                                                const SharedLoop& loop = {}) const noexcept;
  /// v = L⁻ᵀw of the bodies of the islands that moved, v = v* of those without blocks.
  /// @param moved  moved(island): whether its velocities are to be written.
  template <typename Moved>
  void give_velocities(const Moved& moved, VectorX<Scalar>& velocity,
                       const SharedLoop& loop = {}) const noexcept;
  /// Writes γ and J v of the iterate last evaluated, by the rows of ContactProblem::first_row().
  void give_impulses(Scalar* impulse, Scalar* contact_velocity,
                     const SharedLoop& loop = {}) const noexcept;

 private:
  void take_body(Index body, Index slot, const VectorX<Scalar>& velocity) const noexcept;
  void give_block(const PackedBlock<Scalar>& other, Scalar* impulse,
                  Scalar* contact_velocity) const noexcept;

  const ContactProblem<Scalar>& problem_;
  const ContactGraph& graph_;
  const Packed& packed_;
  Memory& memory_;
};

// --- implementation ---

template <RealScalar Scalar>
void PackedExchange<Scalar>::take_body(Index body, Index slot,
                                       const VectorX<Scalar>& velocity) const noexcept {
  const auto [start, size] = problem_.body(body);
  const Index packed_start = packed_.starts()[slot];
  Scalar* const whitened = memory_.vector(Memory::whitened) + packed_start;
  std::copy_n(velocity.data() + start, size, whitened);
  multiply_lower_transposed(problem_.momentum_factor(body).data(), size, size, whitened);
  std::copy_n(problem_.whitened_free_velocity().data() + start, size,
              memory_.vector(Memory::free) + packed_start);
}

template <RealScalar Scalar>
IdleMeasures<Scalar> PackedExchange<Scalar>::take_guess(const VectorX<Scalar>& velocity,
                                                        const SharedLoop& loop) const noexcept {
  loop(problem_.body_count(), [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      if (const int slot = graph_.slot_of(b); slot >= 0) take_body(b, slot, velocity);
    }
  });
  IdleMeasures<Scalar> idle;
  const auto free = problem_.whitened_free_velocity();
  const bool none = graph_.slot_count() == problem_.body_count();
  for (Index b = 0; b < problem_.body_count() && !none; ++b) {
    if (graph_.slot_of(b) >= 0) continue;
    const auto [start, size] = problem_.body(b);
    const Scalar* const momentum = problem_.momentum_matrix(b).data();
    const Scalar* const v = velocity.data() + start;
    const Scalar* const v_free = problem_.free_velocity().data() + start;
    for (Index c = 0; c < size; ++c) {
      Scalar pushed(0);
      for (Index r = 0; r < size; ++r) pushed += momentum[c * size + r] * (v[r] - v_free[r]);
      idle.residual_squared += pushed * (v[c] - v_free[c]);
    }
    idle.free_squared += squared_norm(free.data() + start, size);
  }
  return idle;
}

template <RealScalar Scalar>
template <typename Moved>
void PackedExchange<Scalar>::give_velocities(const Moved& moved, VectorX<Scalar>& velocity,
                                             const SharedLoop& loop) const noexcept {
  const auto give = [&](int slot) {
    const int body = graph_.body_at(slot);
    const auto [start, size] = problem_.body(body);
    Scalar* const result = velocity.data() + start;
    std::copy_n(memory_.vector(Memory::whitened) + packed_.starts()[slot], size, result);
    solve_lower_transposed(problem_.momentum_factor(body).data(), size, size, result);
  };
  const Sequence<PackedIsland>& islands = packed_.islands();
  loop(graph_.slot_count(), [&](Index begin, Index end) {
    const auto first =
        std::partition_point(islands.begin(), islands.end(),
                             [&](const PackedIsland& a) { return a.range.slot_end <= begin; });
    Index i = first - islands.begin();
    for (int slot = int(begin); slot < end; ++slot) {
      if (slot == islands[i].range.slot_end) ++i;
      if (moved(i)) give(slot);
    }
  });
  if (graph_.slot_count() == problem_.body_count()) return;
  loop(problem_.body_count(), [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      if (graph_.slot_of(b) >= 0) continue;
      const auto [start, size] = problem_.body(b);
      std::copy_n(problem_.free_velocity().data() + start, size, velocity.data() + start);
    }
  });
}

template <RealScalar Scalar>
void PackedExchange<Scalar>::give_block(const PackedBlock<Scalar>& other, Scalar* impulse,
                                        Scalar* contact_velocity) const noexcept {
  const RowNumbers<Scalar> gamma = other.read(memory_.parts(Memory::impulse)),
                           velocity = other.read(memory_.parts(Memory::velocity));
  const Index first = problem_.first_row(other.number);
  for (int i = 0; i < other.set.rows; ++i) {
    impulse[first + i] = other.scale(i) * gamma(i);
    contact_velocity[first + i] = velocity(i) / other.scale(i);
  }
}

template <RealScalar Scalar>
void PackedExchange<Scalar>::give_impulses(Scalar* impulse, Scalar* contact_velocity,
                                           const SharedLoop& loop) const noexcept {
  loop(packed_.edge_count(), [&](Index begin, Index end) {
    packed_.for_each_friction_contact(graph_, begin, end, [&](Index block, Index part) {
      const Index first = problem_.first_row(block);
      for (int k = 0; k < 3; ++k) {
        impulse[first + k] = memory_.contact(Memory::impulse, k)[part];
        contact_velocity[first + k] = memory_.contact(Memory::velocity, k)[part];
      }
    });
  });
  loop(packed_.other_count(), [&](Index begin, Index end) {
    for (Index c = begin; c < end; ++c) give_block(packed_.other(c), impulse, contact_velocity);
  });
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
