// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "carom/cones/concepts.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The product F₁ × … × F_k of sets over the same scalar. Their entries are concatenated.
template <ConvexSetLike First, ConvexSetLike... Rest>
struct ProductSet {
  using scalar_type = typename First::scalar_type;
  static_assert((std::is_same_v<scalar_type, typename Rest::scalar_type> && ...),
                "all factors of a product use one scalar type");
  static constexpr int dimension = First::dimension + (0 + ... + Rest::dimension);

  std::tuple<First, Rest...> factors;
};

namespace detail {

/// Calls visit(factor, start) for each factor; start is its first entry.
template <typename... Sets, typename Visit>
constexpr void for_each_factor(const ProductSet<Sets...>& product, Visit&& visit) noexcept {
  int start = 0;
  std::apply(
      [&](const auto&... factor) {
        (..., (visit(factor, start), start += std::remove_cvref_t<decltype(factor)>::dimension));
      },
      product.factors);
}

/// The entries of x of one factor.
template <typename Set>
[[nodiscard]] SetVector<Set> entries_of(const Set&, const auto& x, int start) noexcept {
  return x.template segment<Set::dimension>(start);
}

}  // namespace detail

/// Whether every factor contains its entries of γ, up to slack [unit of γ].
template <typename... Sets>
[[nodiscard]] bool contains(const ProductSet<Sets...>& product,
                            const SetVector<ProductSet<Sets...>>& impulse,
                            typename ProductSet<Sets...>::scalar_type slack = 0) noexcept {
  bool inside = true;
  detail::for_each_factor(product, [&](const auto& factor, int start) {
    inside = inside && contains(factor, detail::entries_of(factor, impulse, start), slack);
  });
  return inside;
}

/// The dual of a product of cones is the product of the duals.
template <ConvexConeLike... Cones>
[[nodiscard]] bool in_dual(const ProductSet<Cones...>& product,
                           const SetVector<ProductSet<Cones...>>& u,
                           typename ProductSet<Cones...>::scalar_type slack = 0) noexcept {
  bool inside = true;
  detail::for_each_factor(product, [&](const auto& factor, int start) {
    inside = inside && in_dual(factor, detail::entries_of(factor, u, start), slack);
  });
  return inside;
}

/// Projection factor by factor. The region is stick or separate if all factors agree on it,
/// otherwise slide.
/// @note  Real-time safe when the factors are.
template <typename... Sets>
[[nodiscard]] CAROM_DEVICE
    ConeProjection<typename ProductSet<Sets...>::scalar_type, ProductSet<Sets...>::dimension>
    project(const ProductSet<Sets...>& product, const SetVector<ProductSet<Sets...>>& weights,
            const SetVector<ProductSet<Sets...>>& y) noexcept {
  ConeProjection<typename ProductSet<Sets...>::scalar_type, ProductSet<Sets...>::dimension> result{
      y, ConeRegion::slide};
  int stick_count = 0;
  int separate_count = 0;
  detail::for_each_factor(product, [&](const auto& factor, int start) {
    using Factor = std::remove_cvref_t<decltype(factor)>;
    const auto part = project(factor, detail::entries_of(factor, weights, start),
                              detail::entries_of(factor, y, start));
    result.point.template segment<Factor::dimension>(start) = part.point;
    stick_count += part.region == ConeRegion::stick;
    separate_count += part.region == ConeRegion::separate;
  });
  if (stick_count == int(sizeof...(Sets))) result.region = ConeRegion::stick;
  if (separate_count == int(sizeof...(Sets))) result.region = ConeRegion::separate;
  return result;
}

/// Block-diagonal derivative.
template <typename... Sets>
[[nodiscard]] SetMatrix<ProductSet<Sets...>> projection_derivative(
    const ProductSet<Sets...>& product, const SetVector<ProductSet<Sets...>>& weights,
    const SetVector<ProductSet<Sets...>>& y) noexcept {
  SetMatrix<ProductSet<Sets...>> slope = SetMatrix<ProductSet<Sets...>>::Zero();
  detail::for_each_factor(product, [&](const auto& factor, int start) {
    constexpr int size = std::remove_cvref_t<decltype(factor)>::dimension;
    slope.template block<size, size>(start, start) = projection_derivative(
        factor, detail::entries_of(factor, weights, start), detail::entries_of(factor, y, start));
  });
  return slope;
}

}  // namespace CAROM_ABI
}  // namespace carom
