// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "carom/core/detail/plain_loops.hpp"
#include "carom/linalg/detail/conjugate_gradient.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The vectors of biconjugate_gradient(). Each has as many numbers as the unknown.
template <RealScalar Scalar>
struct BiconjugateGradientVectors {
  Scalar* solution;  ///< x, written
  Scalar* residual;  ///< b − H x; the caller writes b here before the solve
  Scalar *shadow, *direction, *moved, *preconditioned, *turned;  ///< scratch
  Index size;
};

/// Solves H x = b by stabilised biconjugate gradients, H any regular matrix. The iteration starts
/// at x = 0 and ends when ‖b − H x‖ ≤ target. Unlike conjugate gradients it may break down, and x
/// is then the last iterate.
/// @param multiply      multiply(p, q) writes q = H p.
/// @param precondition  precondition(r, z) writes z = M⁻¹ r. The nearer H M⁻¹ is to the identity,
///                      the fewer products are needed.
/// @param limit         of products.
/// @return  iterations: count of products; usable: whether x is finite, and at the target or
///          nearer than zero.
/// @note  Real-time safe when both callables are: no allocation, at most `limit` products and one
///        more.
/// @cite  barrett1994templates, Bi-CGSTAB.
template <RealScalar Scalar, typename Multiply, typename Precondition>
[[nodiscard]] ConjugateGradientReport<Scalar> biconjugate_gradient(
    const BiconjugateGradientVectors<Scalar>& vectors, const Scalar& target, int limit,
    Multiply&& multiply, Precondition&& precondition) noexcept {
  using std::sqrt;
  Scalar *const x = vectors.solution, *const r = vectors.residual, *const p = vectors.direction,
                *const v = vectors.moved, *const z = vectors.preconditioned,
                *const t = vectors.turned;
  const Index size = vectors.size;
  const auto norm = [&] { return Scalar(sqrt(detail::long_dot(r, r, size))); };
  std::fill_n(x, size, Scalar(0));
  std::copy_n(r, size, vectors.shadow);
  std::copy_n(r, size, p);
  ConjugateGradientReport<Scalar> report{0, norm(), true};
  const Scalar first = report.residual;
  Scalar rho = first * first;
  while (report.residual > target && report.iterations < limit) {
    precondition(p, z);
    multiply(z, v);
    ++report.iterations;
    const Scalar step = rho / detail::long_dot(vectors.shadow, v, size);
    if (!(step - step == Scalar(0))) break;
    detail::add_multiple(step, z, size, x);
    detail::add_multiple(-step, v, size, r);
    report.residual = norm();
    if (!(report.residual > target)) break;
    precondition(r, z);
    multiply(z, t);
    ++report.iterations;
    const Scalar turn = detail::long_dot(t, r, size) / detail::long_dot(t, t, size);
    if (!(turn - turn == Scalar(0))) break;
    detail::add_multiple(turn, z, size, x);
    detail::add_multiple(-turn, t, size, r);
    report.residual = norm();
    const Scalar next = detail::long_dot(vectors.shadow, r, size);
    const Scalar share = (next / rho) * (step / turn);
    if (!(share - share == Scalar(0))) break;
    for (Index i = 0; i < size; ++i) p[i] = r[i] + share * (p[i] - turn * v[i]);
    rho = next;
  }
  const bool nearer = report.residual <= target || report.residual < first;
  report.usable = nearer && detail::all_finite(x, size);
  return report;
}

}  // namespace CAROM_ABI
}  // namespace carom
