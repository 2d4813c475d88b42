// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <type_traits>

#include "carom/contact/detail/impulse_derivative.hpp"
#include "carom/contact/primal.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/solvers/derivative/data_products.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The impulses of all blocks as functions of the data at one velocity, with their derivatives:
/// what they add to the momentum of a change, and its transpose.
template <RealScalar Scalar>
class LinearizedImpulses {
 public:
  void reserve(const ContactProblem<Scalar>& problem) {
    const Index contacts = problem.friction_contact_count();
    contacts_.resize(contacts);
    others_.resize(problem.block_count() - contacts);
    places_.resize(problem.block_count());
    velocity_.grow(problem.velocity_count());
  }

  /// Differentiates all impulses at a velocity.
  /// @param tolerance  of boundaries, as SapDerivativeOptions::boundary_tolerance.
  /// @return  false when a block's numbers are not finite.
  [[nodiscard]] bool differentiate(const ContactProblem<Scalar>& problem,
                                   const VectorX<Scalar>& velocity,
                                   const Scalar& tolerance) noexcept;

  [[nodiscard]] const Growing<VectorX<Scalar>>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const ImpulseDerivative<Scalar, 3>& friction_contact(Index block) const noexcept {
    return contacts_[places_[block]];
  }
  [[nodiscard]] const BlockImpulseDerivative<Scalar>& other_block(Index block) const noexcept {
    return others_[-1 - places_[block]];
  }
  [[nodiscard]] RegionBoundary boundary(Index block) const noexcept {
    return places_[block] >= 0 ? friction_contact(block).nearest : other_block(block).nearest;
  }
  /// Blocks on a boundary.
  [[nodiscard]] Index boundary_count() const noexcept { return boundary_count_; }

  /// momentum += d(Jᵀγ) of a change of the data at fixed velocity.
  void push(const ContactProblem<Scalar>& problem, const ProblemDifferential<Scalar>& change,
            VectorX<Scalar>& momentum) const noexcept {
    problem.for_each_block_by_kind([&](const auto& block) { push_block(block, change, momentum); });
  }
  /// Its transpose: the gradient of λ·Jᵀγ by the data.
  void pull(const ContactProblem<Scalar>& problem, const Growing<VectorX<Scalar>>& lambda,
            ProblemDifferential<Scalar>& gradient) const noexcept {
    problem.for_each_block_by_kind([&](const auto& block) { pull_block(block, lambda, gradient); });
  }

 private:
  /// The derivative of a block, whose type follows from the block's.
  template <typename Block>
  [[nodiscard]] const auto& derivative(const Block& block) const noexcept {
    if constexpr (Block::capacity == 3) {
      return friction_contact(block.number());
    } else {
      return other_block(block.number());
    }
  }
  template <typename Block>
  void push_block(const Block& block, const ProblemDifferential<Scalar>& change,
                  VectorX<Scalar>& momentum) const noexcept;
  template <typename Block>
  void pull_block(const Block& block, const Growing<VectorX<Scalar>>& lambda,
                  ProblemDifferential<Scalar>& gradient) const noexcept;

  Sequence<ImpulseDerivative<Scalar, 3>> contacts_;
  Sequence<BlockImpulseDerivative<Scalar>> others_;
  Sequence<Index> places_;  ///< per block, among the friction contacts, or −1 less among the others
  Growing<VectorX<Scalar>> velocity_;
  Index boundary_count_ = 0;
};

// --- implementation ---

template <RealScalar Scalar>
bool LinearizedImpulses<Scalar>::differentiate(const ContactProblem<Scalar>& problem,
                                               const VectorX<Scalar>& velocity,
                                               const Scalar& tolerance) noexcept {
  velocity_ = velocity;
  boundary_count_ = 0;
  Index contacts = 0, others = 0;
  bool finite = true;
  const auto see = [&](const auto& block, auto& result) {
    using Rows = typename std::decay_t<decltype(block)>::Rows;
    const Rows of_block = block.velocity(velocity_);
    finite = finite && block.trial(of_block).allFinite();
    if (!finite) return;
    result = make_impulse_derivative(block.law(), Rows(block.bias_velocity() - of_block));
    if (result.margin > tolerance * speed_of(block, velocity_))
      result.nearest = RegionBoundary::none;
    if (result.nearest != RegionBoundary::none) ++boundary_count_;
  };
  for (Index i = 0; finite && i < problem.block_count(); ++i) {
    if (problem.is_friction_contact(i)) {
      places_[i] = contacts;
      see(problem.friction_contact(i), contacts_[contacts++]);
    } else {
      places_[i] = -1 - others;
      see(problem.other_block(i), others_[others++]);
    }
  }
  return finite;
}

template <RealScalar Scalar>
template <typename Block>
void LinearizedImpulses<Scalar>::push_block(const Block& block,
                                            const ProblemDifferential<Scalar>& change,
                                            VectorX<Scalar>& momentum) const noexcept {
  using Rows = typename Block::Rows;
  const auto& of_block = derivative(block);
  const Rows excess = block.read(change.bias_velocity) -
                      push_jacobian(block, change, velocity_, of_block.impulse, momentum);
  Rows moved =
      of_block.change(excess, block.read(change.regularization), change.friction(block.number()));
  if constexpr (Block::capacity != 3) {
    moved += of_block.bounds_change(block.read(change.lower), block.read(change.upper));
  }
  block.add_momentum(moved, momentum);
}

template <RealScalar Scalar>
template <typename Block>
void LinearizedImpulses<Scalar>::pull_block(const Block& block,
                                            const Growing<VectorX<Scalar>>& lambda,
                                            ProblemDifferential<Scalar>& gradient) const noexcept {
  using Rows = typename Block::Rows;
  const auto& of_block = derivative(block);
  const Rows velocity = block.velocity(lambda);
  const Rows pressed = of_block.by_excess * velocity;
  block.write(pressed, gradient.bias_velocity);
  block.write(Rows(-of_block.impulse.cwiseProduct(pressed)), gradient.regularization);
  gradient.friction(block.number()) = of_block.by_friction.dot(velocity);
  if constexpr (Block::capacity != 3) {
    block.write(Rows(of_block.by_lower.cwiseProduct(velocity)), gradient.lower);
    block.write(Rows(of_block.by_upper.transpose() * velocity), gradient.upper);
  }
  pull_jacobian(block, velocity_, lambda, of_block.impulse, pressed, gradient);
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
