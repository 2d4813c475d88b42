// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/linalg/detail/block_cholesky.hpp"
#include "carom/solvers/search/island_state.hpp"
#include "carom/solvers/systems/dual_curvature.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Newton's method on one island: a linear solver gives the directions.
template <RealScalar Scalar>
class IslandNewton {
 public:
  using State = IslandState<Scalar>;
  using Memory = typename State::Memory;
  using Packed = typename State::Packed;

  IslandNewton(State& state, Memory& memory, const NewtonLimits<Scalar>& limits) noexcept
      : state_(state), memory_(memory), limits_(limits) {}

  [[nodiscard]] const NewtonLimits<Scalar>& limits() const noexcept { return limits_; }
  [[nodiscard]] bool meets_target() const noexcept { return state_.meet(limits_.tolerance); }

  /// Iterates to the target from the iterate last evaluated.
  /// @param find_direction  find_direction(curvature) solves H d = −∇ℓ for the direction; false
  ///                        when it cannot.
  template <typename FindDirection>
  [[nodiscard]] SolveStatus iterate(int& iterations, FindDirection&& find_direction) noexcept {
    write_directions(false);  // with which the first step is Newton's own
    return walk_to_target(
        *this, [&] { return find_direction(*this); }, limits_, iterations);
  }
  // What walk_to_target() asks for.
  [[nodiscard]] const IslandMeasures<Scalar>& measures() const noexcept { return state_; }
  [[nodiscard]] Scalar advance() noexcept;
  void keep_iterate() noexcept {
    state_.for_each_piece(
        [](const State& part, Scalar*) { part.copy(Memory::whitened, Memory::best); });
  }
  void return_to_kept() noexcept {
    state_.copy(Memory::best, Memory::whitened);
    state_.evaluate();
  }

  /// G of a friction contact in the region noted; false where it is zero.
  [[nodiscard]] bool curvature(Index part, General3<Scalar>& g) const noexcept {
    const auto region = static_cast<SettledRegion>(memory_.regions()[part]);
    Symmetric3<Scalar> half;
    if (!write_dual_curvature(region, numbers(part), predicted(part), half)) return false;
    g = half.whole();
    return true;
  }

  /// Adds the curvature of the blocks of an edge to a matrix of blocks: low-low, high-low and
  /// high-high, of which those without data are left out.
  /// @pre  note_change() has seen the edge at this iterate.
  void add_curvature(const PackedEdge& edge, const Columns<Scalar> (&targets)[3]) const noexcept {
    const Packed& packed = state_.packed();
    const Scalar* const block = packed.jacobians(edge.jacobians);
    add_edge_curvature(
        edge, block, [this](Index part, General3<Scalar>& g) { return curvature(part, g); },
        targets);
    for (Index c = edge.first_other; c < edge.other_end; ++c) {
      const PackedBlock<Scalar>& other = packed.other(c);
      auto g = other.curvature(state_.rows_of(other, Memory::trial));
      for (int part = 0; part < other.direction_count(); ++part) {
        add_direction_curvature(rows_of(other, part), predicted(other.first_part + part), 3 * part,
                                g);
      }
      add_other_curvature(edge, block, other, g, targets);
    }
  }

  /// Says that nothing is known of the curvature last assembled.
  void forget_regions() const noexcept {
    const PackedIsland& island = state_.island();
    std::fill_n(memory_.regions() + island.first_part, island.part_count,
                static_cast<signed char>(SettledRegion::unsettled));
  }
  /// Notes the regions of an edge's parts; returns whether its curvature may have changed since
  /// they were last noted.
  [[nodiscard]] bool note_change(const PackedEdge& edge) const noexcept {
    bool changed = false;
    const auto note = [&](Index part, signed char region) {
      changed = changed || region < 0 || region != memory_.regions()[part];
      memory_.regions()[part] = region;
    };
    for (Index k = edge.first_part; k < edge.other_begin; ++k) {
      note(k, place_trial(numbers(k)).region);
    }
    for (Index c = edge.first_other; c < edge.other_end; ++c) {
      const PackedBlock<Scalar>& other = state_.packed().other(c);
      note(other.first_part, other.settled_region(state_.rows_of(other, Memory::trial)));
    }
    return changed;
  }

 private:
  [[nodiscard]] ContactNumbers<Scalar> numbers(Index k) const noexcept {
    const Packed& packed = state_.packed();
    return {packed.parameter(Packed::friction)[k], packed.parameter(Packed::tangent)[k],
            packed.parameter(Packed::normal)[k],   memory_.contact(Memory::trial, 0)[k],
            memory_.contact(Memory::trial, 1)[k],  memory_.contact(Memory::trial, 2)[k]};
  }
  [[nodiscard]] Tangent2<Scalar> predicted(Index k) const noexcept {
    return {memory_.predicted_direction(0)[k], memory_.predicted_direction(1)[k]};
  }
  [[nodiscard]] FrictionRows<Scalar> rows_of(Index k) const noexcept {
    const Scalar limit =
        state_.packed().parameter(Packed::friction)[k] * memory_.contact(Memory::impulse, 2)[k];
    return {{memory_.contact(Memory::trial, 0)[k], memory_.contact(Memory::trial, 1)[k]}, limit};
  }
  [[nodiscard]] FrictionRows<Scalar> rows_of(const PackedBlock<Scalar>& other,
                                             int part) const noexcept {
    return friction_rows(other, part, state_.rows_of(other, Memory::trial),
                         state_.rows_of(other, Memory::impulse));
  }
  /// Sets the predicted direction of all rows that friction bounds to that at the iterate, or to
  /// that after a full step.
  void write_directions(bool stepped) const noexcept;
  /// What the direction does to trial impulses.
  void write_steps() const noexcept;

  State& state_;
  Memory& memory_;
  NewtonLimits<Scalar> limits_;
};

// --- implementation ---

template <RealScalar Scalar>
void IslandNewton<Scalar>::write_directions(bool stepped) const noexcept {
  const auto write = [&](const FrictionRows<Scalar>& rows, Index k) {
    const Tangent2<Scalar> direction =
        stepped ? predict_direction(rows, predicted(k),
                                    {memory_.contact(Memory::trial_step, 0)[k],
                                     memory_.contact(Memory::trial_step, 1)[k]})
                : current_direction(rows);
    memory_.predicted_direction(0)[k] = direction.x;
    memory_.predicted_direction(1)[k] = direction.y;
  };
  state_.for_each_piece([&](const State& part, Scalar*) {
    for (Index e = part.island().first_edge; e < part.island().edge_end; ++e) {
      const PackedEdge& edge = part.packed().edge(e);
      for (Index k = edge.first_part; k < edge.other_begin; ++k) write(rows_of(k), k);
      for (Index c = edge.first_other; c < edge.other_end; ++c) {
        const PackedBlock<Scalar>& other = part.packed().other(c);
        for (int n = 0; n < other.direction_count(); ++n) {
          write(rows_of(other, n), other.first_part + n);
        }
      }
    }
  });
}

template <RealScalar Scalar>
void IslandNewton<Scalar>::write_steps() const noexcept {
  state_.for_each_piece([](const State& part, Scalar*) {
    part.write_velocities(Memory::direction, Memory::trial_step);
    for (int c = 0; c < 3; ++c) {
      Scalar* const step = part.start_of(Memory::trial_step, c);
      const Scalar* const weight = part.start_of(Packed::weight(c));
      for_each_packet<Scalar>(part.island().part_count, [&]<typename Numbers>(Index k) {
        (-Numbers::at(step + k) / Numbers::at(weight + k)).write_to(step + k);
      });
    }
  });
}

/// Goes along the direction to where the slope vanishes; returns the step length.
template <RealScalar Scalar>
Scalar IslandNewton<Scalar>::advance() noexcept {
  write_steps();
  const auto sums = state_.sum_pieces([](const State& part, Scalar* own) {
    const Scalar *const d = part.start_of(Memory::direction),
                        *const w = part.start_of(Memory::whitened),
                        *const w_free = part.start_of(Memory::free);
    own[0] = part.dot(Memory::gradient, Memory::direction);
    own[1] = sum_packets<Scalar>(part.island().vector_size, [&]<typename Numbers>(Index k) {
      return Numbers::at(d + k) * (Numbers::at(w + k) - Numbers::at(w_free + k));
    });
    own[2] = squared_norm(d, part.island().vector_size);
  });
  const Scalar step =
      find_step(DirectionSlope<Scalar>{sums[0], sums[1], sums[2]}, limits_.line_search_tolerance,
                [&](const Scalar& ahead) { return state_.push_slope(ahead); });
  write_directions(true);
  state_.for_each_piece([&](const State& part, Scalar*) {
    Scalar* const w = part.start_of(Memory::whitened);
    write_sum(w, step, part.start_of(Memory::direction), part.island().vector_size, w);
  });
  state_.evaluate();
  return step;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
