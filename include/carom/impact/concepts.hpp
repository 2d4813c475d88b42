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

// clang-format 14 pulls compound requirements apart, so this part is laid out by hand.
// clang-format off

/// What impacts need of a mass matrix: its size, and M⁻¹ applied to a covector in place. An
/// operator of yours serves as well as MassMatrix. Law: symmetric and positive definite.
template <typename Mass>
concept InverseMassLike =
    RealScalar<typename Mass::scalar_type> &&
    requires(const Mass& mass, VectorX<typename Mass::scalar_type>& covector) {
      { mass.size() } -> std::same_as<Index>;
      { mass.apply_inverse(covector) } -> std::same_as<void>;
    };

/// Decides which infeasible contact reflects next. prepare() grows memory for a number of contacts,
/// start() sees all rates, update() each one that changes, pick() names a contact with a rate below
/// the limit, or −1 when there is none.
template <typename Order, typename Scalar>
concept ReflectionOrderLike =
    RealScalar<Scalar> &&
    requires(Order& order, std::span<const Scalar> rates, Index i, Scalar value, Scalar limit) {
      order.prepare(i);
      { order.start(rates) } noexcept;
      { order.update(i, value) } noexcept;
      { order.pick(rates, limit) } noexcept -> std::same_as<Index>;
    };

/// What every impact law without friction offers: it maps the momentum p⁻ to p⁺ and tells the
/// impulse of each contact.
template <typename Law, typename Scalar>
concept ImpactLawLike =
    requires(Law& law, const Law& used, const ImpactProblem<Scalar>& problem,
             VectorX<Scalar>& momentum) {
      { law.resolve(problem, momentum) } noexcept -> std::same_as<ImpactReport<Scalar>>;
      { used.impulses().data() } -> std::convertible_to<const Scalar*>;
    };

/// A law that a stepper can use at every impact, because the problem is all that its prepare()
/// needs: ImpactResolver, RestitutionImpact, PlasticImpact, GeneralizedReflections or a law of the
/// user. Law: the contacts separate or rest afterwards.
template <typename Law, typename Scalar>
concept ImpactLawFor =
    ImpactLawLike<Law, Scalar> &&
    requires(Law& law, const ImpactProblem<Scalar>& problem) { law.prepare(problem); };

// clang-format on

}  // namespace CAROM_ABI
}  // namespace carom
