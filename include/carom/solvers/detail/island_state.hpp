// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "carom/cones/friction_cone_batch.hpp"
#include "carom/contact/coulomb_law.hpp"
#include "carom/solvers/detail/edge_kernels.hpp"
#include "carom/solvers/detail/island_view.hpp"

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

  /// @param law  γ(y) of the blocks; Coulomb's is no gradient, and has no cost.
  IslandState(const Packed& packed, Memory& memory, const PackedIsland& extent,
              FrictionLaw law = FrictionLaw::convex) noexcept
      : View(packed, memory, extent), law_(law) {}
  /// The state of a piece of the island.
  [[nodiscard]] IslandState part(const PackedIsland& piece) const noexcept {
    return {packed_, memory_, piece, law_};
  }

  using View::contacts, View::parameter, View::rows_of, View::vector;

  /// Everything that follows from the iterate: v_c, y, γ, Ĵᵀγ, the gradient and its norm.
  void evaluate() noexcept;
  /// ℓ at the iterate last evaluated; infinite where that left the range of numbers.
  [[nodiscard]] Scalar cost() const noexcept {
    if (!(residual <= (std::numeric_limits<Scalar>::max)())) {
      return std::numeric_limits<Scalar>::infinity();
    }
    return this->template sum_pieces<1>([](const IslandState& part) {
      return std::array<Scalar, 1>{part.cost_of(Memory::whitened, Memory::trial, Memory::impulse)};
    })[0];
  }
  /// ℓ at another point; the iterate and all that follows from it stay, but no step along d.
  /// @param at_rest  whether the point is known to be zero, which saves the product Ĵ x.
  [[nodiscard]] Scalar cost_at(typename Memory::VectorName point, bool at_rest) const noexcept;
  /// d·(w + α d − w*) − γ(α)·Ĵd at any step α; infinite where a trial impulse is not finite. It
  /// writes over the contact velocities.
  [[nodiscard]] Scalar slope(const Scalar& step, const Scalar& momentum_slope,
                             const Scalar& momentum_curvature) const noexcept;

  /// Writes Ĵ x, and zeros where the parts are padded.
  void write_velocities(typename Memory::VectorName from,
                        typename Memory::TripleName to) const noexcept;
  /// γ = P(y); false, and nothing written, if a trial impulse is not finite.
  [[nodiscard]] bool write_projections(typename Memory::TripleName trial,
                                       typename Memory::TripleName impulse) const noexcept;

  using Measures = IslandMeasures<Scalar>;
  using Measures::free_squared, Measures::gross_squared, Measures::pushed_squared,
      Measures::residual;

 private:
  /// evaluate() piece by piece.
  void evaluate_pieces() noexcept;
  /// Writes Ĵᵀγ of a piece, and returns ‖∇ℓ‖², ‖w*‖², ‖Ĵᵀγ‖² and the sum of gross_squared.
  [[nodiscard]] std::array<Scalar, 4> balance_piece(const IslandState& part) const noexcept;
  /// What follows from Ĵᵀγ: the gradient, and the same sums.
  [[nodiscard]] std::array<Scalar, 4> balance() const noexcept;
  /// γ(y) of the blocks that are not friction contacts; false if one is not finite.
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

// --- implementation ---

template <RealScalar Scalar>
void IslandState<Scalar>::write_velocities(typename Memory::VectorName from,
                                           typename Memory::TripleName to) const noexcept {
  Scalar* const result[3] = {memory_.contact(to, 0), memory_.contact(to, 1),
                             memory_.contact(to, 2)};
  for (Index e = island_.first_edge; e < island_.edge_end; ++e) {
    const PackedEdge& edge = packed_.edge(e);
    write_edge_velocities(edge, packed_.jacobians(edge.jacobians),
                          static_cast<const Scalar*>(memory_.vector(from)), result);
  }
  for (Scalar* const component : result) {
    std::fill_n(component + island_.first_part + island_.true_count,
                island_.part_count - island_.true_count, Scalar(0));
  }
}

template <RealScalar Scalar>
bool IslandState<Scalar>::write_projections(typename Memory::TripleName trial,
                                            typename Memory::TripleName impulse) const noexcept {
  const Scalar size =
      (contacts(trial, 0).abs() + contacts(trial, 1).abs() + contacts(trial, 2).abs()).sum();
  if (!(size <= (std::numeric_limits<Scalar>::max)())) return false;
  if (law_ == FrictionLaw::coulomb) {
    write_coulomb_impulses(trial, impulse);
  } else {
    project(
        FrictionConeBatch<Scalar>{
            island_.projected_count,
            {contacts(trial, 0).data(), contacts(trial, 1).data(), contacts(trial, 2).data()},
            {parameter(Packed::friction).data()},
            {parameter(Packed::tangent).data()},
            {parameter(Packed::normal).data()}},
        {contacts(impulse, 0).data(), contacts(impulse, 1).data(), contacts(impulse, 2).data()});
  }
  return island_.first_other == island_.other_end || write_other_projections(trial, impulse);
}

template <RealScalar Scalar>
void IslandState<Scalar>::write_coulomb_impulses(
    typename Memory::TripleName trial, typename Memory::TripleName impulse) const noexcept {
  constexpr Scalar tiny = (std::numeric_limits<Scalar>::min)();
  auto normal = contacts(impulse, 2);
  normal = (contacts(trial, 2).max)(Scalar(0));
  auto share = contacts(impulse, 1);  // holds min(1, μ γₙ/‖yₜ‖) until it is overwritten below
  share = (contacts(trial, 0).square() + contacts(trial, 1).square()).sqrt();
  share = ((parameter(Packed::friction) * normal).min)(share) / (share.max)(tiny);
  contacts(impulse, 0) = share * contacts(trial, 0);
  contacts(impulse, 1) = share * contacts(trial, 1);
}

template <RealScalar Scalar>
bool IslandState<Scalar>::write_other_projections(
    typename Memory::TripleName trial, typename Memory::TripleName impulse) const noexcept {
  Scalar size = 0;
  for (Index c = island_.first_other; c < island_.other_end; ++c) {
    const PackedBlock<Scalar>& other = packed_.other(c);
    const RowNumbers<Scalar> projected = other.impulse_scaled(law_, rows_of(other, trial));
    other.write(projected, {memory_.contact(impulse, 0), memory_.contact(impulse, 1),
                            memory_.contact(impulse, 2)});
    size += projected.cwiseAbs().sum();
  }
  return size <= (std::numeric_limits<Scalar>::max)();
}

template <RealScalar Scalar>
void IslandState<Scalar>::write_trial(typename Memory::TripleName velocity,
                                      typename Memory::TripleName trial) const noexcept {
  contacts(trial, 0) =
      (parameter(Packed::bias1) - contacts(velocity, 0)) / parameter(Packed::tangent);
  contacts(trial, 1) =
      (parameter(Packed::bias2) - contacts(velocity, 1)) / parameter(Packed::tangent);
  contacts(trial, 2) =
      (parameter(Packed::bias3) - contacts(velocity, 2)) / parameter(Packed::normal);
}

template <RealScalar Scalar>
void IslandState<Scalar>::evaluate() noexcept {
  if (pieces_ != nullptr) return evaluate_pieces();
  write_velocities(Memory::whitened, Memory::velocity);
  write_trial(Memory::velocity, Memory::trial);
  if (!write_projections(Memory::trial, Memory::impulse)) {
    for (int k = 0; k < 3; ++k) contacts(Memory::impulse, k).setZero();
    residual = std::numeric_limits<Scalar>::infinity();
    return;
  }
  const Scalar* const impulse[3] = {memory_.contact(Memory::impulse, 0),
                                    memory_.contact(Memory::impulse, 1),
                                    memory_.contact(Memory::impulse, 2)};
  vector(Memory::momentum).setZero();
  for (Index e = island_.first_edge; e < island_.edge_end; ++e) {
    const PackedEdge& edge = packed_.edge(e);
    add_edge_momentum(edge, packed_.jacobians(edge.jacobians), impulse,
                      memory_.vector(Memory::momentum));
  }
  Measures::take(balance());
}

template <RealScalar Scalar>
std::array<Scalar, 4> IslandState<Scalar>::balance() const noexcept {
  vector(Memory::gradient) =
      vector(Memory::whitened) - vector(Memory::free) - vector(Memory::momentum);
  return {vector(Memory::gradient).square().sum(), vector(Memory::free).square().sum(),
          vector(Memory::momentum).square().sum(),
          (parameter(Packed::row_square1) * contacts(Memory::impulse, 0).square() +
           parameter(Packed::row_square2) * contacts(Memory::impulse, 1).square() +
           parameter(Packed::row_square3) * contacts(Memory::impulse, 2).square())
              .sum()};
}

template <RealScalar Scalar>
void IslandState<Scalar>::evaluate_pieces() noexcept {
  const Scalar refused = this->template sum_pieces<1>([](const IslandState& part) {
    part.write_velocities(Memory::whitened, Memory::velocity);
    part.write_trial(Memory::velocity, Memory::trial);
    const bool good = part.write_projections(Memory::trial, Memory::impulse);
    return std::array<Scalar, 1>{Scalar(good ? 0 : 1)};
  })[0];
  if (refused > Scalar(0)) {
    for (int k = 0; k < 3; ++k) contacts(Memory::impulse, k).setZero();
    residual = std::numeric_limits<Scalar>::infinity();
    return;
  }
  Measures::take(this->template sum_pieces<4>(
      [this](const IslandState& part) { return balance_piece(part); }));
}

template <RealScalar Scalar>
std::array<Scalar, 4> IslandState<Scalar>::balance_piece(const IslandState& part) const noexcept {
  const Scalar* const impulse[3] = {memory_.contact(Memory::impulse, 0),
                                    memory_.contact(Memory::impulse, 1),
                                    memory_.contact(Memory::impulse, 2)};
  Scalar* const momentum = memory_.vector(Memory::momentum);
  part.vector(Memory::momentum).setZero();
  pieces_->for_each_side(packed_, island_, part.island(), [&](const PackedEdge& edge, int side) {
    add_side_momentum(edge, side, packed_.jacobians(edge.jacobians), impulse, momentum);
  });
  return part.balance();
}

template <RealScalar Scalar>
Scalar IslandState<Scalar>::cost_of(typename Memory::VectorName point,
                                    typename Memory::TripleName trial,
                                    typename Memory::TripleName impulse) const noexcept {
  Scalar beyond = 0;
  for (Index c = island_.first_other; c < island_.other_end; ++c) {
    const PackedBlock<Scalar>& other = packed_.other(c);
    const RowNumbers<Scalar> gamma = rows_of(other, impulse);
    beyond += gamma.dot(rows_of(other, trial) - gamma);
  }
  return beyond + ((vector(point) - vector(Memory::free)).square().sum() +
                   (parameter(Packed::tangent) *
                    (contacts(impulse, 0).square() + contacts(impulse, 1).square()))
                       .sum() +
                   (parameter(Packed::normal) * contacts(impulse, 2).square()).sum()) /
                      2;
}

template <RealScalar Scalar>
Scalar IslandState<Scalar>::cost_at(typename Memory::VectorName point,
                                    bool at_rest) const noexcept {
  if (pieces_ != nullptr) {
    return this->template sum_pieces<1>([&](const IslandState& part) {
      return std::array<Scalar, 1>{part.cost_at(point, at_rest)};
    })[0];
  }
  if (at_rest) {
    for (int k = 0; k < 3; ++k) contacts(Memory::trial_step, k).setZero();
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
Scalar IslandState<Scalar>::slope(const Scalar& step, const Scalar& momentum_slope,
                                  const Scalar& momentum_curvature) const noexcept {
  if (pieces_ != nullptr) {
    return momentum_slope + step * momentum_curvature +
           this->template sum_pieces<1>([&](const IslandState& part) {
             return std::array<Scalar, 1>{part.slope(step, Scalar(0), Scalar(0))};
           })[0];
  }
  for (int k = 0; k < 3; ++k) {
    contacts(Memory::velocity, k) =
        contacts(Memory::trial, k) + step * contacts(Memory::trial_step, k);
  }
  if (!write_projections(Memory::velocity, Memory::impulse_ahead)) {
    return std::numeric_limits<Scalar>::infinity();  // too far: any γ here ascends
  }
  Scalar work = 0;  // −γ(α)·Ĵd
  for (int k = 0; k < 3; ++k) {
    const auto weight = parameter(k < 2 ? Packed::tangent : Packed::normal);
    work += (contacts(Memory::impulse_ahead, k) * (weight * contacts(Memory::trial_step, k))).sum();
  }
  return momentum_slope + step * momentum_curvature + work;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
