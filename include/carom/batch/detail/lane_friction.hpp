// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "carom/batch/lanes.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Writes the numbers that depend on μ and R of a contact, in the order of LaneLayout: 1/Rₜ, 1/Rₙ,
/// 1/(Rₙ + μ² Rₜ), (μ Rₜ/Rₙ)².
template <typename Cells, typename Number>
CAROM_DEVICE void write_weights_of_lanes(const Number& mu, const Number& tangent,
                                         const Number& normal, const Cells& to) noexcept {
  const Number one(1), pull = mu * tangent, inverse_normal = one / normal;
  const Number slope = pull * inverse_normal;
  to.set(0, one / tangent);
  to.set(1, inverse_normal);
  to.set(2, one / (normal + mu * pull));
  to.set(3, slope * slope);
}

/// A friction contact in each lane: cone, weights and trial impulse.
template <typename Number>
struct LaneTrial {
  Number mu, tangent, normal;              ///< μ, Rₜ, Rₙ
  Number inverse_tangent, inverse_normal;  ///< 1/Rₜ, 1/Rₙ
  Number inverse_sliding;                  ///< 1/(Rₙ + μ² Rₜ)
  Number opening;                          ///< (μ Rₜ/Rₙ)²
  Number y1, y2, yn;

  /// ‖yₜ‖²
  [[nodiscard]] CAROM_DEVICE Number tangent_squared() const noexcept { return y1 * y1 + y2 * y2; }
  /// Lanes in which the impulse of the convex law is zero: y is in the polar cone, Rₙ yₙ ≤ −μ Rₜ
  /// ‖yₜ‖.
  [[nodiscard]] CAROM_DEVICE typename Number::Mask is_open(const Number& squared) const noexcept {
    return (yn <= Number(0)) & (opening * squared <= yn * yn);
  }
};

template <typename Number>
struct LaneImpulse {
  Number t1, t2, n;
};

/// γ = P(y) of the convex law, the nearest point of the cone in the metric of the weights. Roots
/// and quotients are omitted if no lane needs them: most contacts of a robot are open in all lanes.
template <typename Number>
[[nodiscard]] CAROM_DEVICE LaneImpulse<Number> project_lanes(const LaneTrial<Number>& k) noexcept {
  const Number zero(0), squared = k.tangent_squared();
  const auto open = k.is_open(squared);
  if (!any(!open)) return {zero, zero, zero};
  const Number r = sqrt(squared);
  const auto stuck = (r <= k.mu * k.yn) & (zero <= k.yn);
  const Number drive = larger(k.normal * k.yn + k.mu * k.tangent * r, zero);
  const Number normal = drive * k.inverse_sliding;
  const Number share = select(r > zero, k.mu * normal / r, zero);
  const auto of = [&](const Number& stick, const Number& slide) {
    return select(open, zero, select(stuck, stick, slide));
  };
  return {of(k.y1, share * k.y1), of(k.y2, share * k.y2), of(k.yn, normal)};
}

/// γ of Coulomb's law: the normal is max(yₙ, 0); friction is the nearest point of the disc for this
/// normal.
template <typename Number>
[[nodiscard]] CAROM_DEVICE LaneImpulse<Number> coulomb_lanes(const LaneTrial<Number>& k) noexcept {
  const Number zero(0);
  const Number r = sqrt(k.y1 * k.y1 + k.y2 * k.y2);
  const Number normal = larger(k.yn, zero);
  const Number most = k.mu * normal;
  const auto sticks = r <= most;
  const Number share = select(r > zero, most / r, zero);
  return {select(sticks, k.y1, share * k.y1), select(sticks, k.y2, share * k.y2), normal};
}

/// The curvature of a contact's cost, a symmetric 3×3 matrix.
template <typename Number>
struct LaneCurvature {
  Number xx, xy, yy, xz, yz, zz;
};

/// The same as write_dual_curvature(): the direction of friction ẑ is a separate unknown.
template <typename Number>
[[nodiscard]] CAROM_DEVICE LaneCurvature<Number> curvature_of_lanes(const LaneTrial<Number>& k,
                                                                    const Number& z1,
                                                                    const Number& z2) noexcept {
  const Number zero(0), one(1), squared = k.tangent_squared();
  const auto open = k.is_open(squared);
  if (!any(!open)) return {zero, zero, zero, zero, zero, zero};
  const Number r = sqrt(squared);
  const auto stuck = (r <= k.mu * k.yn) & (zero <= k.yn);
  const Number drive = larger(k.normal * k.yn + k.mu * k.tangent * r, zero);
  const Number along = k.inverse_sliding;
  const Number inverse = select(r > zero, one / r, zero);
  const Number tx = k.y1 * inverse, ty = k.y2 * inverse;
  const Number across = k.mu * drive * along * inverse * k.inverse_tangent;
  const Number px = k.mu * tx, py = k.mu * ty;
  const Number held = k.inverse_tangent;
  const auto of = [&](const Number& stick, const Number& slide) {
    return select(open, zero, select(stuck, stick, slide));
  };
  return {of(held, along * px * px + across * (one - z1 * tx)),
          of(zero, along * px * py - across * (z1 * ty + z2 * tx) * Number(0.5)),
          of(held, along * py * py + across * (one - z2 * ty)),
          of(zero, along * px),
          of(zero, along * py),
          of(k.inverse_normal, along)};
}

/// −∂γ/∂v_c under Coulomb's law, not symmetric in slide; the row of the normal is (0, 0, 1/Rₙ).
template <typename Number>
struct LaneSlope {
  Number xx, xy, yx, yy, xz, yz, zz;
};

/// The same as write_coulomb_curvature(): the direction of friction ẑ is a separate unknown.
template <typename Number>
[[nodiscard]] CAROM_DEVICE LaneSlope<Number> coulomb_slope_of_lanes(const LaneTrial<Number>& k,
                                                                    const Number& z1,
                                                                    const Number& z2) noexcept {
  const Number zero(0), one(1);
  const Number r = sqrt(k.y1 * k.y1 + k.y2 * k.y2);
  const Number most = k.mu * k.yn;
  const auto open = k.yn <= zero;
  const auto sticks = (r <= most) & (k.mu > zero);
  const Number inverse = select(r > zero, one / r, zero);
  const Number tx = k.y1 * inverse, ty = k.y2 * inverse;
  const Number across = most * inverse * k.inverse_tangent;
  const Number held = k.inverse_tangent, pressed = k.inverse_normal;
  const auto of = [&](const Number& stick, const Number& slide) {
    return select(open, zero, select(sticks, stick, slide));
  };
  return {of(held, across * (one - z1 * tx)),
          of(zero, zero - across * z1 * ty),
          of(zero, zero - across * z2 * tx),
          of(held, across * (one - z2 * ty)),
          of(zero, k.mu * tx * pressed),
          of(zero, k.mu * ty * pressed),
          of(pressed, pressed)};
}

/// A direction in the tangent plane.
template <typename Number>
struct LaneDirection {
  Number x, y;
};

/// yₜ/‖yₜ‖, or zero.
template <typename Number>
[[nodiscard]] CAROM_DEVICE LaneDirection<Number> direction_of_lanes(const Number& y1,
                                                                    const Number& y2) noexcept {
  const Number r = sqrt(y1 * y1 + y2 * y2);
  const Number inverse = select(r > Number(0), Number(1) / r, Number(0));
  return {y1 * inverse, y2 * inverse};
}

/// The same as predict_direction(): the direction of friction after a full step, inside the disc.
/// @param limit  μ γₙ
template <typename Number>
[[nodiscard]] CAROM_DEVICE LaneDirection<Number> predict_lanes(
    const LaneDirection<Number>& y, const Number& limit, const LaneDirection<Number>& z,
    const LaneDirection<Number>& step) noexcept {
  using Scalar = typename Number::scalar_type;
  const Number zero(0), one(1);
  if (!any(limit > zero)) return {zero, zero};
  const Number r = sqrt(y.x * y.x + y.y * y.y);
  const auto inside = r <= limit;
  const Number inverse = one / select(inside, limit, r);
  const Number tx = y.x * inverse, ty = y.y * inverse;
  const Number along = select(inside, zero, tx * step.x + ty * step.y);
  const Number nx = tx + (step.x - z.x * along) * inverse;
  const Number ny = ty + (step.y - z.y * along) * inverse;
  const Number squared = nx * nx + ny * ny;
  const auto usable = (limit > zero) & (squared <= Number((std::numeric_limits<Scalar>::max)()));
  const Number shrink =
      select(squared <= one, one,
             Number(Scalar(1) - 4 * std::numeric_limits<Scalar>::epsilon()) / sqrt(squared));
  return {select(usable, nx * shrink, zero), select(usable, ny * shrink, zero)};
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
