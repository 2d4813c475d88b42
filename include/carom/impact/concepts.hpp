// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <span>

#include "carom/core/scalar.hpp"

namespace carom {
inline namespace CAROM_ABI {

template <RealScalar Scalar>
class ImpactProblem;
template <RealScalar Scalar>
struct ImpactReport;

// clang-format 14 breaks compound requirements over lines, so this part is formatted by hand.
// clang-format off

/// The mass matrix as impacts need it: its size, and M⁻¹ applied to a covector in place. A user's
/// operator is valid too, not only MassMatrix. Law: symmetric and positive definite.
template <typename Mass>
concept InverseMassLike =
    RealScalar<typename Mass::scalar_type> &&
    requires(const Mass& mass, VectorX<typename Mass::scalar_type>& covector) {
      { mass.size() } -> std::same_as<Index>;
      { mass.apply_inverse(covector) } -> std::same_as<void>;
    };

/// Chooses the infeasible contact that reflects next. prepare() allocates memory for a count of
/// contacts, start() receives all rates, update() receives each rate that changes. pick() returns a
/// contact with a rate below the limit, or −1 if there is none.
template <typename Order, typename Scalar>
concept ReflectionOrderLike =
    RealScalar<Scalar> &&
    requires(Order& order, std::span<const Scalar> rates, Index i, Scalar value, Scalar limit) {
      order.prepare(i);
      { order.start(rates) } noexcept;
      { order.update(i, value) } noexcept;
      { order.pick(rates, limit) } noexcept -> std::same_as<Index>;
    };

/// The interface of all impact laws without friction: they map the momentum p⁻ to p⁺ and return the
/// impulse of each contact.
template <typename Law, typename Scalar>
concept ImpactLawLike =
    requires(Law& law, const Law& used, const ImpactProblem<Scalar>& problem,
             VectorX<Scalar>& momentum) {
      { law.resolve(problem, momentum) } noexcept -> std::same_as<ImpactReport<Scalar>>;
      { used.impulses().data() } -> std::convertible_to<const Scalar*>;
    };

/// A law that a stepper can use at each impact, because its prepare() needs only the problem:
/// ImpactResolver, RestitutionImpact, PlasticImpact, GeneralizedReflections or a law of the user.
/// Law: afterwards the contacts separate or rest.
template <typename Law, typename Scalar>
concept ImpactLawFor =
    ImpactLawLike<Law, Scalar> &&
    requires(Law& law, const ImpactProblem<Scalar>& problem) { law.prepare(problem); };

// clang-format on

}  // namespace CAROM_ABI
}  // namespace carom
