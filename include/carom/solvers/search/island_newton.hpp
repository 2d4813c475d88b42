// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "carom/cones/friction_cone_batch.hpp"
#include "carom/contact/coulomb_law.hpp"
#include "carom/linalg/detail/block_cholesky.hpp"
#include "carom/solvers/rows/edge_kernels.hpp"
#include "carom/solvers/rows/island_view.hpp"
#include "carom/solvers/search/newton_walk.hpp"
#include "carom/solvers/systems/dual_curvature.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The cost ℓ of one island and its derivatives at an iterate, in whitened velocities. A view of
/// the packed problem and of the memory, cheap to make.
template <RealScalar Scalar>
class IslandState : public IslandMeasures<Scalar>, public IslandView<Scalar, IslandState<Scalar>> {
 public:
  using View = IslandView<Scalar, IslandState<Scalar>>;
  using Memory = SolverMemory<Scalar>;
  using Packed = PackedProblem<Scalar>;

  /// @param law  γ(y) of the blocks; that of Coulomb's law is not a gradient, and has no cost.
  IslandState(const Packed& packed, Memory& memory, const PackedIsland& extent,
              FrictionLaw law = FrictionLaw::convex) noexcept
      : View(packed, memory, extent), law_(law) {}
  /// The state of a piece of the island.
  [[nodiscard]] IslandState part(const PackedIsland& piece) const noexcept {
    return {packed_, memory_, piece, law_};
  }

  using View::rows_of, View::start_of, View::clear;

  /// Computes all functions of the iterate: v_c, y, γ, Ĵᵀγ, the gradient and its norm.
  void evaluate() noexcept;
  /// ℓ at the last evaluated iterate; infinite if numbers left the range of the type.
  [[nodiscard]] Scalar cost() const noexcept {
    if (!this->are_finite()) return std::numeric_limits<Scalar>::infinity();
    return this->sum_pieces([](const IslandState& part, Scalar* cost) {
      *cost = part.cost_of(Memory::whitened, Memory::trial, Memory::impulse);
    })[0];
  }
  /// ℓ at another point. The iterate and its functions do not change, except the step along d.
  /// @param at_rest  whether the point is known to be zero, which saves the product Ĵ x.
  [[nodiscard]] Scalar cost_at(typename Memory::VectorName point, bool at_rest) const noexcept;
  /// −γ(α)·Ĵd at any step α; infinite if a trial impulse is not finite. It overwrites the contact
  /// velocities.
  [[nodiscard]] Scalar push_slope(const Scalar& step) const noexcept;

  // The functions that start_from_best() needs. The direction is zero after cost_at_rest().
  [[nodiscard]] Scalar cost_at_rest() const noexcept {
    clear(Memory::direction);
    return cost_at(Memory::direction, true);
  }
  [[nodiscard]] Scalar cost_when_free() const noexcept { return cost_at(Memory::free, false); }
  void start_at_rest() noexcept {
    clear(Memory::whitened);
    evaluate();
  }
  void start_free() noexcept {
    this->copy(Memory::free, Memory::whitened);
    evaluate();
  }

  /// Writes Ĵ x, and zeros in the padding of the parts.
  void write_velocities(typename Memory::VectorName from,
                        typename Memory::TripleName to) const noexcept;
  /// γ = P(y). Returns false and writes nothing if a trial impulse is not finite.
  [[nodiscard]] bool write_projections(typename Memory::TripleName trial,
                                       typename Memory::TripleName impulse) const noexcept;

  using Measures = IslandMeasures<Scalar>;
  using Measures::free_squared, Measures::gross_squared, Measures::pushed_squared,
      Measures::residual;

 private:
  /// evaluate() piece by piece.
  void evaluate_pieces() noexcept;
  /// Writes Ĵᵀγ of a piece, and ‖∇ℓ‖², ‖w*‖², ‖Ĵᵀγ‖² and gross_squared.
  void balance_piece(const IslandState& part, Scalar* sums) const noexcept;
  /// Computes the functions of Ĵᵀγ: the gradient, and the same sums.
  void balance(Scalar* sums) const noexcept;
  /// γ(y) of the blocks that are not friction contacts. Returns false if one is not finite.
  [[nodiscard]] bool write_other_projections(typename Memory::TripleName trial,
                                             typename Memory::TripleName impulse) const noexcept;
  /// y = R⁻¹(v̂ − v_c).
  void write_trial(typename Memory::TripleName velocity,
                   typename Memory::TripleName trial) const noexcept;
  /// ½‖w − w*‖² + ½‖γ‖²_R + γᵀR(y − γ); the last term is zero for cones.
  [[nodiscard]] Scalar cost_of(typename Memory::VectorName point, typename Memory::TripleName trial,
                               typename Memory::TripleName impulse) const noexcept;

  /// γ of the friction contacts under Coulomb's law: γₙ = max(yₙ, 0), then γₜ = yₜ, in the disc of
  /// μ γₙ.
  void write_coulomb_impulses(typename Memory::TripleName trial,
                              typename Memory::TripleName impulse) const noexcept;

  using View::island_, View::memory_, View::packed_, View::pieces_;

  FrictionLaw law_;
};

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

  /// Iterates to the target from the last evaluated iterate.
  /// @param find_direction  find_direction(curvature) solves H d = −∇ℓ for the direction; false
  ///                        when it cannot.
  template <typename FindDirection>
  [[nodiscard]] SolveStatus iterate(int& iterations, FindDirection&& find_direction) noexcept {
    write_directions(false);  // then the first step is Newton's own
    return walk_to_target(
        *this, [&] { return find_direction(*this); }, limits_, iterations);
  }
  // The functions that walk_to_target() needs.
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

  /// G of a friction contact in the stored region. Returns false if it is zero.
  [[nodiscard]] bool curvature(Index part, General3<Scalar>& g) const noexcept {
    const auto region = static_cast<SettledRegion>(memory_.regions()[part]);
    Symmetric3<Scalar> half;
    if (!write_dual_curvature(region, numbers(part), predicted(part), half)) return false;
    g = half.whole();
    return true;
  }

  /// Adds the curvature of the blocks of an edge to a matrix of blocks: low-low, high-low and
  /// high-high, of which those without data are left out.
  /// @pre  note_change() was called for the edge at this iterate.
  void add_curvature(const PackedEdge& edge, const Columns<Scalar> (&targets)[3]) const noexcept {
    const Packed& packed = state_.packed();
    const Scalar* const block = packed.jacobians(edge.jacobians);
    add_edge_curvature(
        edge, block, [this](Index part, General3<Scalar>& g) { return curvature(part, g); },
        targets);
    for (Index c = edge.first_other; c < edge.other_end; ++c) {
      const PackedBlock<Scalar>& other = packed.other(c);
      auto g = other.curvature(state_.rows_of(other, Memory::trial));
      turn_directions(other, g);
      add_other_curvature(edge, block, other, g, targets);
    }
  }

  /// Replaces the directions of friction in the curvature of a block by the predicted ones.
  void turn_directions(const PackedBlock<Scalar>& other,
                       SquareMatrix<Scalar, 6>& g) const noexcept {
    for (int part = 0; part < other.direction_count(); ++part) {
      add_direction_curvature(rows_of(other, part), predicted(other.first_part + part), 3 * part,
                              g);
    }
  }
  /// The predicted direction of friction of a part.
  [[nodiscard]] Tangent2<Scalar> predicted(Index k) const noexcept {
    return {memory_.predicted_direction(0)[k], memory_.predicted_direction(1)[k]};
  }
  /// Sets the predicted direction of all rows with a friction bound to that at the iterate, or to
  /// that after a full step.
  void write_directions(bool stepped) const noexcept;
  /// Computes the change of trial impulses along the direction.
  void write_steps() const noexcept;

  /// Marks the curvature last assembled as unknown.
  void forget_regions() const noexcept {
    const PackedIsland& island = state_.island();
    std::fill_n(memory_.regions() + island.first_part, island.part_count,
                static_cast<signed char>(SettledRegion::unsettled));
  }
  /// Stores the regions of an edge's parts. Returns whether its curvature may have changed since
  /// they were last stored.
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
  State& state_;
  Memory& memory_;
  NewtonLimits<Scalar> limits_;
};

// --- implementation ---

template <RealScalar Scalar>
void IslandState<Scalar>::write_velocities(typename Memory::VectorName from,
                                           typename Memory::TripleName to) const noexcept {
  const PartArray<Scalar> result = memory_.parts(to);
  for (Index e = island_.first_edge; e < island_.edge_end; ++e) {
    const PackedEdge& edge = packed_.edge(e);
    write_edge_velocities(edge, packed_.jacobians(edge.jacobians), memory_.vector(from), result);
  }
  for (Scalar* const component : result.components) {
    std::fill_n(component + island_.first_part + island_.true_count,
                island_.part_count - island_.true_count, Scalar(0));
  }
}

template <RealScalar Scalar>
bool IslandState<Scalar>::write_projections(typename Memory::TripleName trial,
                                            typename Memory::TripleName impulse) const noexcept {
  const Scalar *const y1 = start_of(trial, 0), *const y2 = start_of(trial, 1),
                      *const y3 = start_of(trial, 2);
  const Scalar size = sum_packets<Scalar>(island_.part_count, [&]<typename Numbers>(Index k) {
    return Numbers::at(y1 + k).abs() + Numbers::at(y2 + k).abs() + Numbers::at(y3 + k).abs();
  });
  if (!(size <= (std::numeric_limits<Scalar>::max)())) return false;
  if (law_ == FrictionLaw::coulomb) {
    write_coulomb_impulses(trial, impulse);
  } else {
    project(FrictionConeBatch<Scalar>{island_.projected_count,
                                      {y1, y2, y3},
                                      {start_of(Packed::friction)},
                                      {start_of(Packed::tangent)},
                                      {start_of(Packed::normal)}},
            {start_of(impulse, 0), start_of(impulse, 1), start_of(impulse, 2)});
  }
  return island_.first_other == island_.other_end || write_other_projections(trial, impulse);
}

template <RealScalar Scalar>
void IslandState<Scalar>::write_coulomb_impulses(
    typename Memory::TripleName trial, typename Memory::TripleName impulse) const noexcept {
  constexpr Scalar tiny = (std::numeric_limits<Scalar>::min)();
  const Scalar* const mu = start_of(Packed::friction);
  const Scalar *const y1 = start_of(trial, 0), *const y2 = start_of(trial, 1),
                      *const y3 = start_of(trial, 2);
  Scalar *const gamma1 = start_of(impulse, 0), *const gamma2 = start_of(impulse, 1),
                *const gamma3 = start_of(impulse, 2);
  for_each_packet<Scalar>(island_.part_count, [&]<typename Numbers>(Index k) {
    const Numbers normal = Numbers::at(y3 + k).larger_of(Numbers::Zero());
    const Numbers tangent1 = Numbers::at(y1 + k), tangent2 = Numbers::at(y2 + k);
    const Numbers length = (tangent1.square() + tangent2.square()).sqrt();
    const Numbers share =  // min(1, μ γₙ/‖yₜ‖)
        (Numbers::at(mu + k) * normal).smaller_of(length) /
        length.larger_of(Numbers::Constant(tiny));
    (share * tangent1).write_to(gamma1 + k);
    (share * tangent2).write_to(gamma2 + k);
    normal.write_to(gamma3 + k);
  });
}

template <RealScalar Scalar>
bool IslandState<Scalar>::write_other_projections(
    typename Memory::TripleName trial, typename Memory::TripleName impulse) const noexcept {
  using std::abs;
  Scalar size = 0;
  for (Index c = island_.first_other; c < island_.other_end; ++c) {
    const PackedBlock<Scalar>& other = packed_.other(c);
    const RowNumbers<Scalar> projected = other.impulse_scaled(law_, rows_of(other, trial));
    other.write(projected, memory_.parts(impulse));
    for (int r = 0; r < 6; ++r) size += abs(projected(r));
  }
  return size <= (std::numeric_limits<Scalar>::max)();
}

template <RealScalar Scalar>
void IslandState<Scalar>::write_trial(typename Memory::TripleName velocity,
                                      typename Memory::TripleName trial) const noexcept {
  for (int c = 0; c < 3; ++c) {
    const Scalar* const bias = start_of(Packed::bias(c));
    const Scalar* const weight = start_of(Packed::weight(c));
    const Scalar* const v = start_of(velocity, c);
    Scalar* const y = start_of(trial, c);
    for_each_packet<Scalar>(island_.part_count, [&]<typename Numbers>(Index k) {
      ((Numbers::at(bias + k) - Numbers::at(v + k)) / Numbers::at(weight + k)).write_to(y + k);
    });
  }
}

template <RealScalar Scalar>
void IslandState<Scalar>::evaluate() noexcept {
  if (pieces_ != nullptr) return evaluate_pieces();
  write_velocities(Memory::whitened, Memory::velocity);
  write_trial(Memory::velocity, Memory::trial);
  if (!write_projections(Memory::trial, Memory::impulse)) {
    clear(Memory::impulse);
    residual = std::numeric_limits<Scalar>::infinity();
    return;
  }
  const PartArray<Scalar> impulse = memory_.parts(Memory::impulse);
  clear(Memory::momentum);
  for (Index e = island_.first_edge; e < island_.edge_end; ++e) {
    const PackedEdge& edge = packed_.edge(e);
    add_edge_momentum(edge, packed_.jacobians(edge.jacobians), impulse,
                      memory_.vector(Memory::momentum));
  }
  std::array<Scalar, 4> sums;
  balance(sums.data());
  Measures::take(sums);
}

template <RealScalar Scalar>
void IslandState<Scalar>::balance(Scalar* sums) const noexcept {
  const Scalar* const w = start_of(Memory::whitened);
  const Scalar* const w_free = start_of(Memory::free);
  const Scalar* const pushed = start_of(Memory::momentum);
  Scalar* const gradient = start_of(Memory::gradient);
  const Index size = island_.vector_size;
  sums[0] = sum_packets<Scalar>(size, [&]<typename Numbers>(Index k) {
    const Numbers own = Numbers::at(w + k) - Numbers::at(w_free + k) - Numbers::at(pushed + k);
    own.write_to(gradient + k);
    return own.square();
  });
  sums[1] = squared_norm(w_free, size);
  sums[2] = squared_norm(pushed, size);
  sums[3] = Scalar(0);
  for (int c = 0; c < 3; ++c) {
    const Scalar* const gamma = start_of(Memory::impulse, c);
    sums[3] += weighted_square(start_of(Packed::row_square(c)), gamma, island_.part_count);
  }
}

template <RealScalar Scalar>
void IslandState<Scalar>::evaluate_pieces() noexcept {
  const Scalar refused = this->sum_pieces([](const IslandState& part, Scalar* count) {
    part.write_velocities(Memory::whitened, Memory::velocity);
    part.write_trial(Memory::velocity, Memory::trial);
    *count = Scalar(part.write_projections(Memory::trial, Memory::impulse) ? 0 : 1);
  })[0];
  if (refused > Scalar(0)) {
    clear(Memory::impulse);
    residual = std::numeric_limits<Scalar>::infinity();
    return;
  }
  Measures::take(this->sum_pieces(
      [this](const IslandState& part, Scalar* sums) { balance_piece(part, sums); }));
}

template <RealScalar Scalar>
void IslandState<Scalar>::balance_piece(const IslandState& part, Scalar* sums) const noexcept {
  const PartArray<Scalar> impulse = memory_.parts(Memory::impulse);
  Scalar* const momentum = memory_.vector(Memory::momentum);
  part.clear(Memory::momentum);
  pieces_->for_each_side(packed_, island_, part.island(), [&](const PackedEdge& edge, int side) {
    add_edge_momentum(edge, packed_.jacobians(edge.jacobians), impulse, momentum, side == 0,
                      side == 1);
  });
  part.balance(sums);
}

template <RealScalar Scalar>
Scalar IslandState<Scalar>::cost_of(typename Memory::VectorName point,
                                    typename Memory::TripleName trial,
                                    typename Memory::TripleName impulse) const noexcept {
  Scalar beyond = 0;
  for (Index c = island_.first_other; c < island_.other_end; ++c) {
    const PackedBlock<Scalar>& other = packed_.other(c);
    const RowNumbers<Scalar> gamma = rows_of(other, impulse);
    const RowNumbers<Scalar> y = rows_of(other, trial);
    for (int r = 0; r < 6; ++r) beyond += gamma(r) * (y(r) - gamma(r));
  }
  const Scalar *const w = start_of(point), *const w_free = start_of(Memory::free);
  Scalar sum = sum_packets<Scalar>(island_.vector_size, [&]<typename Numbers>(Index k) {
    return (Numbers::at(w + k) - Numbers::at(w_free + k)).square();
  });
  for (int c = 0; c < 3; ++c) {
    sum += weighted_square(start_of(Packed::weight(c)), start_of(impulse, c), island_.part_count);
  }
  return beyond + sum / 2;
}

template <RealScalar Scalar>
Scalar IslandState<Scalar>::cost_at(typename Memory::VectorName point,
                                    bool at_rest) const noexcept {
  if (pieces_ != nullptr) {
    return this->sum_pieces(
        [&](const IslandState& part, Scalar* cost) { *cost = part.cost_at(point, at_rest); })[0];
  }
  if (at_rest) {
    clear(Memory::trial_step);
  } else {
    write_velocities(point, Memory::trial_step);
  }
  write_trial(Memory::trial_step, Memory::trial_step);
  if (!write_projections(Memory::trial_step, Memory::impulse_ahead)) {
    return std::numeric_limits<Scalar>::infinity();
  }
  return cost_of(point, Memory::trial_step, Memory::impulse_ahead);
}

template <RealScalar Scalar>
Scalar IslandState<Scalar>::push_slope(const Scalar& step) const noexcept {
  if (pieces_ != nullptr) {
    return this->sum_pieces(
        [&](const IslandState& part, Scalar* own) { *own = part.push_slope(step); })[0];
  }
  for (int c = 0; c < 3; ++c) {
    write_sum(start_of(Memory::trial, c), step, start_of(Memory::trial_step, c), island_.part_count,
              start_of(Memory::velocity, c));
  }
  if (!write_projections(Memory::velocity, Memory::impulse_ahead)) {
    return std::numeric_limits<Scalar>::infinity();  // too far: any γ here ascends
  }
  Scalar work = 0;
  for (int c = 0; c < 3; ++c) {
    const Scalar* const gamma = start_of(Memory::impulse_ahead, c);
    const Scalar* const weight = start_of(Packed::weight(c));
    const Scalar* const dy = start_of(Memory::trial_step, c);
    work += sum_packets<Scalar>(island_.part_count, [&]<typename Numbers>(Index k) {
      return Numbers::at(gamma + k) * (Numbers::at(weight + k) * Numbers::at(dy + k));
    });
  }
  return work;
}

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

/// Moves along the direction to the point where the derivative vanishes; returns the step length.
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
