// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/linalg/detail/block_cholesky.hpp"
#include "carom/linalg/detail/increasing_root.hpp"
#include "carom/solvers/detail/chosen_curvature.hpp"
#include "carom/solvers/detail/dual_curvature.hpp"
#include "carom/solvers/detail/island_state.hpp"
#include "carom/solvers/detail/newton_walk.hpp"
#include "carom/solvers/detail/sap_tuning.hpp"

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

  /// What the residual is compared with.
  [[nodiscard]] Scalar scale() const noexcept {
    return island_scale(state_.free_squared, state_.pushed_squared, state_.gross_squared);
  }
  [[nodiscard]] const NewtonLimits<Scalar>& limits() const noexcept { return limits_; }
  [[nodiscard]] bool meets_target() const noexcept {
    return meets_tolerance(state_.residual, scale(), limits_.tolerance);
  }

  /// Moves to rest or to the free velocity if the cost there is lower than at the guess.
  void start_from_best() noexcept;

  /// Iterates to the target from the iterate last evaluated.
  /// @param find_direction  find_direction(curvature) solves H d = −∇ℓ for the direction; false
  ///                        when it cannot.
  template <typename FindDirection>
  [[nodiscard]] SolveStatus iterate(int& iterations, FindDirection&& find_direction) noexcept;

  /// G of a friction contact in the region noted; false where it is zero.
  [[nodiscard]] bool curvature(Index part, Symmetric3<Scalar>& g) const noexcept {
    const auto region = static_cast<SettledRegion>(memory_.regions()[part]);
    return write_dual_curvature(region, numbers(part), predicted(part), g);
  }

  /// Adds the curvature of the blocks of an edge to a matrix of blocks: low-low, high-low and
  /// high-high.
  /// @pre  note_change() has seen the edge at this iterate.
  void add_curvature(const PackedEdge& edge, const Columns<Scalar> (&targets)[3]) const noexcept {
    add_edge_curvature(
        edge, state_.packed().jacobians(edge.jacobians),
        [this](Index part, auto& g) { return curvature(part, g); }, targets);
    add_others_curvature(edge, targets, false);
  }
  /// The same for those of the blocks whose targets have data.
  void add_chosen_curvature(const PackedEdge& edge,
                            const Columns<Scalar> (&targets)[3]) const noexcept {
    add_chosen_edge_curvature(
        edge, state_.packed().jacobians(edge.jacobians),
        [this](Index part, auto& g) { return curvature(part, g); }, targets);
    add_others_curvature(edge, targets, true);
  }
  /// @param chosen  as any_target of add_other_curvature().
  void add_others_curvature(const PackedEdge& edge, const Columns<Scalar> (&targets)[3],
                            bool chosen) const noexcept {
    const Packed& packed = state_.packed();
    const Scalar* const block = packed.jacobians(edge.jacobians);
    for (Index c = edge.first_other; c < edge.other_end; ++c) {
      const PackedBlock<Scalar>& other = packed.other(c);
      auto g = other.curvature(state_.rows_of(other, Memory::trial));
      for (int part = 0; part < other.direction_count(); ++part) {
        add_direction_curvature(rows_of(other, part), predicted(other.first_part + part), 3 * part,
                                g);
      }
      add_other_curvature(edge, block, other, g, targets, chosen);
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
  /// Sets the predicted direction of all rows that friction bounds: find(rows, part).
  template <typename Find>
  void write_directions(Find&& find) const noexcept;
  void start_directions() noexcept;
  void step_directions() noexcept;
  void write_steps() noexcept {
    state_.for_each_piece([](State& part) { write_steps(part); });
  }
  static void write_steps(State& part) noexcept;
  /// Calls run(newton) for the pieces of the island, or for the whole.
  template <typename Run>
  void for_each_piece(const Run& run) noexcept {
    state_.for_each_piece([&](State& part) { run(IslandNewton(part, memory_, limits_)); });
  }
  [[nodiscard]] Scalar find_step() noexcept;

  State& state_;
  Memory& memory_;
  NewtonLimits<Scalar> limits_;
};

// --- implementation ---

template <RealScalar Scalar>
void IslandNewton<Scalar>::start_from_best() noexcept {
  const Scalar here = state_.cost();
  state_.vector(Memory::direction).setZero();
  const Scalar at_rest = state_.cost_at(Memory::direction, true);
  const Scalar when_free = state_.cost_at(Memory::free, false);
  if (when_free < here && when_free < at_rest) {
    state_.vector(Memory::whitened) = state_.vector(Memory::free);
  } else if (at_rest < here) {
    state_.vector(Memory::whitened).setZero();
  } else {
    return;
  }
  state_.evaluate();
}

template <RealScalar Scalar>
template <typename Find>
void IslandNewton<Scalar>::write_directions(Find&& find) const noexcept {
  const PackedIsland& island = state_.island();
  const auto write = [&](const FrictionRows<Scalar>& rows, Index k) {
    const Tangent2<Scalar> direction = find(rows, k);
    memory_.predicted_direction(0)[k] = direction.x;
    memory_.predicted_direction(1)[k] = direction.y;
  };
  for (Index e = island.first_edge; e < island.edge_end; ++e) {
    const PackedEdge& edge = state_.packed().edge(e);
    for (Index k = edge.first_part; k < edge.other_begin; ++k) {
      write(rows_of(k), k);
    }
    for (Index c = edge.first_other; c < edge.other_end; ++c) {
      const PackedBlock<Scalar>& other = state_.packed().other(c);
      for (int part = 0; part < other.direction_count(); ++part) {
        write(rows_of(other, part), other.first_part + part);
      }
    }
  }
}

/// The directions of friction at the iterate, with which the first step is Newton's own.
template <RealScalar Scalar>
void IslandNewton<Scalar>::start_directions() noexcept {
  for_each_piece([](const IslandNewton& part) {
    part.write_directions(
        [](const FrictionRows<Scalar>& rows, Index) { return current_direction(rows); });
  });
}

template <RealScalar Scalar>
void IslandNewton<Scalar>::step_directions() noexcept {
  for_each_piece([this](const IslandNewton& part) {
    part.write_directions([&](const FrictionRows<Scalar>& rows, Index k) {
      return predict_direction(
          rows, predicted(k),
          {memory_.contact(Memory::trial_step, 0)[k], memory_.contact(Memory::trial_step, 1)[k]});
    });
  });
}

/// What the direction does to trial impulses.
template <RealScalar Scalar>
void IslandNewton<Scalar>::write_steps(State& part) noexcept {
  part.write_velocities(Memory::direction, Memory::trial_step);
  const auto weights = {Packed::tangent, Packed::tangent, Packed::normal};
  int k = 0;
  for (const auto weight : weights) {
    part.contacts(Memory::trial_step, k) =
        -part.contacts(Memory::trial_step, k) / part.parameter(weight);
    ++k;
  }
}

/// Step length α where the slope along the direction vanishes.
template <RealScalar Scalar>
Scalar IslandNewton<Scalar>::find_step() noexcept {
  const auto [slope_at_zero, momentum_slope, momentum_curvature] =
      state_.template sum_pieces<3>([](const State& part) {
        const auto direction = part.vector(Memory::direction);
        return std::array<Scalar, 3>{
            (part.vector(Memory::gradient) * direction).sum(),
            (direction * (part.vector(Memory::whitened) - part.vector(Memory::free))).sum(),
            direction.square().sum()};
      });
  if (!(slope_at_zero < Scalar(0))) return Scalar(1);  // round-off: nothing left to search
  const auto slope = [&, linear = momentum_slope, square = momentum_curvature](const Scalar& step) {
    return state_.slope(step, linear, square);
  };
  return find_increasing_root<Scalar>(slope, slope_at_zero,
                                      {.tolerance = -limits_.line_search_tolerance * slope_at_zero,
                                       .evaluation_limit = LineSearchTuning::evaluation_limit})
      .argument;
}

template <RealScalar Scalar>
template <typename FindDirection>
SolveStatus IslandNewton<Scalar>::iterate(int& iterations,
                                          FindDirection&& find_direction) noexcept {
  struct Steps {
    IslandNewton& newton;
    FindDirection& find;

    [[nodiscard]] Scalar residual() const noexcept { return newton.state_.residual; }
    [[nodiscard]] Scalar scale() const noexcept { return newton.scale(); }
    [[nodiscard]] bool find_direction() noexcept { return find(newton); }
    [[nodiscard]] Scalar advance() noexcept {
      newton.write_steps();
      const Scalar step = newton.find_step();
      newton.step_directions();
      newton.state_.for_each_piece([&](State& part) {
        part.vector(Memory::whitened) += step * part.vector(Memory::direction);
      });
      newton.state_.evaluate();
      return step;
    }
    void keep_iterate() noexcept {
      newton.state_.for_each_piece(
          [](State& part) { part.vector(Memory::best) = part.vector(Memory::whitened); });
    }
    void return_to_kept() noexcept {
      newton.state_.vector(Memory::whitened) = newton.state_.vector(Memory::best);
      newton.state_.evaluate();
    }
  };
  start_directions();
  return walk_to_target(Steps{*this, find_direction}, limits_, iterations);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
