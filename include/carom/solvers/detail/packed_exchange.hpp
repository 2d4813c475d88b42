// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "carom/linalg/detail/cholesky.hpp"
#include "carom/solvers/detail/island_state.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// What bodies without a block add to the measures of a problem.
template <RealScalar Scalar>
struct IdleMeasures {
  Scalar residual_squared = 0;  ///< ‖v − v*‖²_A [J]
  Scalar free_squared = 0;      ///< ‖v*‖²_A [J]
};

/// Carries velocities and impulses between a problem, body by body and block by block, and the
/// packed arrays of its layout, which hold them whitened and by islands. A view.
template <RealScalar Scalar>
class PackedExchange {
 public:
  using Memory = SolverMemory<Scalar>;
  using Packed = PackedProblem<Scalar>;

  PackedExchange(const ContactProblem<Scalar>& problem, const ContactGraph& graph,
                 const Packed& packed, Memory& memory) noexcept
      : problem_(problem), graph_(graph), packed_(packed), memory_(memory) {}

  /// Writes w = Lᵀv and w* = Lᵀv* of the bodies with blocks; measures the others.
  [[nodiscard]] IdleMeasures<Scalar> take_guess(const VectorX<Scalar>& velocity) const noexcept;
  /// v = v* of the bodies without blocks.
  void give_free_velocities(VectorX<Scalar>& velocity) const noexcept;
  /// v = L⁻ᵀw of the bodies of an island.
  void give_velocities(const PackedIsland& island, VectorX<Scalar>& velocity) const noexcept;
  /// Writes γ and J v of the iterate last evaluated, stacked as ContactProblem::first_row() says.
  void give_impulses(Scalar* impulse, Scalar* contact_velocity) const noexcept;

 private:
  const ContactProblem<Scalar>& problem_;
  const ContactGraph& graph_;
  const Packed& packed_;
  Memory& memory_;
};

// --- implementation ---

template <RealScalar Scalar>
IdleMeasures<Scalar> PackedExchange<Scalar>::take_guess(
    const VectorX<Scalar>& velocity) const noexcept {
  IdleMeasures<Scalar> idle;
  const auto free = problem_.whitened_free_velocity();
  for (Index b = 0; b < problem_.body_count(); ++b) {
    const auto [start, size] = problem_.body(b);
    if (const int slot = graph_.slot_of(b); slot >= 0) {
      const Index packed_start = packed_.starts()[slot];
      Scalar* const whitened = memory_.vector(Memory::whitened) + packed_start;
      std::copy_n(velocity.data() + start, size, whitened);
      multiply_lower_transposed(problem_.momentum_factor(b).data(), size, size, whitened);
      std::copy_n(free.data() + start, size, memory_.vector(Memory::free) + packed_start);
      continue;
    }
    const auto change =
        velocity.segment(start, size) - problem_.free_velocity().segment(start, size);
    const auto momentum = problem_.momentum_matrix(b);
    for (Index c = 0; c < size; ++c) {
      idle.residual_squared += momentum.col(c).dot(change) * change(c);
    }
    idle.free_squared += free.segment(start, size).squaredNorm();
  }
  return idle;
}

template <RealScalar Scalar>
void PackedExchange<Scalar>::give_free_velocities(VectorX<Scalar>& velocity) const noexcept {
  for (Index b = 0; b < problem_.body_count(); ++b) {
    if (graph_.slot_of(b) >= 0) continue;
    const auto [start, size] = problem_.body(b);
    velocity.segment(start, size) = problem_.free_velocity().segment(start, size);
  }
}

template <RealScalar Scalar>
void PackedExchange<Scalar>::give_velocities(const PackedIsland& island,
                                             VectorX<Scalar>& velocity) const noexcept {
  for (int slot = island.range.first_slot; slot < island.range.slot_end; ++slot) {
    const int body = graph_.body_at(slot);
    const auto [start, size] = problem_.body(body);
    Scalar* const result = velocity.data() + start;
    std::copy_n(memory_.vector(Memory::whitened) + packed_.starts()[slot], size, result);
    solve_lower_transposed(problem_.momentum_factor(body).data(), size, size, result);
  }
}

template <RealScalar Scalar>
void PackedExchange<Scalar>::give_impulses(Scalar* impulse,
                                           Scalar* contact_velocity) const noexcept {
  packed_.for_each_friction_contact(graph_, [&](Index block, Index part) {
    const Index first = problem_.first_row(block);
    for (int k = 0; k < 3; ++k) {
      impulse[first + k] = memory_.contact(Memory::impulse, k)[part];
      contact_velocity[first + k] = memory_.contact(Memory::velocity, k)[part];
    }
  });
  for (Index c = 0; c < packed_.other_count(); ++c) {
    const PackedBlock<Scalar>& other = packed_.other(c);
    const auto read = [&](typename Memory::TripleName name) {
      return other.read(
          {memory_.contact(name, 0), memory_.contact(name, 1), memory_.contact(name, 2)});
    };
    const RowNumbers<Scalar> gamma = read(Memory::impulse), velocity = read(Memory::velocity);
    const Index first = problem_.first_row(other.number);
    for (int i = 0; i < other.set.rows; ++i) {
      impulse[first + i] = other.scale(i) * gamma(i);
      contact_velocity[first + i] = velocity(i) / other.scale(i);
    }
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
