// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "carom/core/elementary.hpp"
#include "carom/core/invalid_input.hpp"
#include "carom/variational/concepts.hpp"
#include "carom/variational/planar_body.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// A tree of rigid bodies in the plane, connected by hinges, with a fixed or floating base. It
/// computes its Lagrangian with all first and second derivatives in O(n²), with n sines and
/// cosines.
///
/// In angles φ to the horizontal, each centre of mass is r + Σ R(φ_k) s_ik with constant s_ik. The
/// kinetic energy is therefore ½ Σ ω_k ω_l (A_kl cos(φ_k−φ_l) + B_kl sin(φ_k−φ_l)) plus the terms
/// of a moving base; A and B are computed once. Hinge angles are sums along the tree, computed
/// afterwards. A frame at angle zero points along x. A derived class adds springs, actuators and
/// gaps.
/// @note  Hot calls are noexcept and allocate nothing. They use memory of the object, so each
///        thread needs its own object.
template <RealScalar Scalar>
class PlanarTree {
 public:
  using scalar_type = Scalar;
  using Point = Vector<Scalar, 2>;
  using Bodies = std::vector<PlanarBody<Scalar>>;

  /// The fault of the bodies; empty if there is none.
  [[nodiscard]] static Fault check(const Bodies& bodies) { return check_bodies(bodies); }

  /// @note  Cold: allocates, throws std::invalid_argument naming the body.
  explicit PlanarTree(Bodies bodies, const PlanarTreeOptions<Scalar>& options = {});

  [[nodiscard]] Index size() const noexcept { return base_ + count_; }
  [[nodiscard]] Index body_count() const noexcept { return count_; }
  [[nodiscard]] const Bodies& bodies() const noexcept { return bodies_; }

  /// Angle of a body to the horizontal [rad].
  [[nodiscard]] Scalar angle(const VectorX<Scalar>& q, Index body) const noexcept {
    if (!options_.relative) return q(base_ + body);
    Scalar sum = 0;
    for (Index k = body; k >= 0; k = parent(k)) sum += q(base_ + k);
    return sum;
  }

  /// Position of a point fixed to a body [m].
  /// @param offset  from the body's hinge, in its frame [m].
  [[nodiscard]] Point point(const VectorX<Scalar>& q, Index body,
                            const Point& offset) const noexcept;

  /// The same with its gradients.
  /// @param x_gradient, y_gradient  written: ∂x/∂q, ∂y/∂q, size() numbers each.
  Point write_point(const VectorX<Scalar>& q, Index body, const Point& offset,
                    VectorX<Scalar>& x_gradient, VectorX<Scalar>& y_gradient) const noexcept;

  void write_lagrangian(const VectorX<Scalar>& q, const VectorX<Scalar>& v, const Scalar&,
                        LagrangianDerivatives<Scalar>& out) const noexcept {
    place(q, v);
    write_slopes(v, out);
    if (options_.relative) gather(out.by_q), gather(out.by_v);
  }

  void write_lagrangian_curvature(const VectorX<Scalar>& q, const VectorX<Scalar>& v, const Scalar&,
                                  LagrangianDerivatives<Scalar>& out) const noexcept {
    place(q, v);
    write_slopes(v, out);
    write_curvature(v, out);
    if (!options_.relative) return;
    gather(out.by_q), gather(out.by_v);
    gather(out.by_qq), gather(out.by_qv), gather(out.by_vv);
  }

 private:
  [[nodiscard]] Index parent(Index body) const noexcept {
    return bodies_[std::size_t(body)].parent;
  }

  /// Rotates a constant vector of a body: R(φ_k) (x, y).
  [[nodiscard]] Point turned(Index k, const Point& x) const noexcept {
    return Point(cos_(k) * x(0) - sin_(k) * x(1), sin_(k) * x(0) + cos_(k) * x(1));
  }

  /// Computes angles, their rates, sines and cosines.
  void place(const VectorX<Scalar>& q, const VectorX<Scalar>& v) const noexcept {
    using elementary::cos, elementary::sin;
    if (options_.floating) base_place_ = Point(q(0), q(1));
    for (Index k = 0; k < count_; ++k) {
      const bool adds = options_.relative && parent(k) >= 0;
      angle_(k) = q(base_ + k) + (adds ? angle_(parent(k)) : Scalar(0));
      rate_(k) = v(base_ + k) + (adds ? rate_(parent(k)) : Scalar(0));
      cos_(k) = cos(angle_(k));
      sin_(k) = sin(angle_(k));
    }
  }

  void write_slopes(const VectorX<Scalar>& v, LagrangianDerivatives<Scalar>& out) const noexcept;
  void write_curvature(const VectorX<Scalar>& v, LagrangianDerivatives<Scalar>& out) const noexcept;

  /// Converts derivatives by angles to the horizontal to derivatives by hinge angles: children add
  /// to their parents.
  void gather(VectorX<Scalar>& slope) const noexcept {
    for (Index k = count_ - 1; k >= 0; --k) {
      if (parent(k) >= 0) slope(base_ + parent(k)) += slope(base_ + k);
    }
  }
  void gather(MatrixX<Scalar>& curvature) const noexcept {
    const Index n = size();
    Scalar* const a = curvature.data();
    for (Index k = count_ - 1; k >= 0; --k) {
      if (parent(k) < 0) continue;
      const Scalar* const from = a + (base_ + k) * n;
      Scalar* const to = a + (base_ + parent(k)) * n;
      for (Index i = 0; i < n; ++i) to[i] += from[i];
    }
    for (Index c = 0; c < n; ++c) {
      Scalar* const column = a + c * n + base_;
      for (Index k = count_ - 1; k >= 0; --k) {
        if (parent(k) >= 0) column[parent(k)] += column[k];
      }
    }
  }

  Bodies bodies_;
  PlanarTreeOptions<Scalar> options_;
  Index count_ = 0, base_ = 0;
  Scalar mass_ = 0;
  MatrixX<Scalar> aligned_, crossed_;  ///< A with the inertias on its diagonal, B
  std::vector<Point> moment_;          ///< Σ_i m_i s_ik
  mutable VectorX<Scalar> angle_, rate_, cos_, sin_;
  mutable MatrixX<Scalar> coupling_, twist_;  ///< M_kl and D_kl = ∂M_kl/∂φ_k
  mutable Point base_place_ = Point::Zero();
};

// --- implementation ---

template <RealScalar Scalar>
PlanarTree<Scalar>::PlanarTree(Bodies bodies, const PlanarTreeOptions<Scalar>& options)
    : bodies_(std::move(bodies)), options_(options) {
  detail::reject_if(check(bodies_));
  detail::reject_if(detail::finite_fault("gravity", options_.gravity));
  count_ = Index(bodies_.size());
  base_ = options_.floating ? 2 : 0;
  aligned_.setZero(count_, count_);
  crossed_.setZero(count_, count_);
  moment_.assign(bodies_.size(), Point::Zero());
  for (VectorX<Scalar>* vector : {&angle_, &rate_, &cos_, &sin_}) vector->setZero(count_);
  for (MatrixX<Scalar>* matrix : {&coupling_, &twist_}) matrix->setZero(count_, count_);
  std::vector<std::pair<Index, Point>> path;  // (k, s_ik) from body i to the base
  for (Index i = 0; i < count_; ++i) {
    const PlanarBody<Scalar>& body = bodies_[std::size_t(i)];
    path.assign(1, {i, body.centre});
    for (Index k = i; parent(k) >= 0; k = parent(k)) {
      path.push_back({parent(k), bodies_[std::size_t(k)].hinge});
    }
    mass_ += body.mass;
    aligned_(i, i) += body.inertia;
    for (const auto& [k, s] : path) {
      moment_[std::size_t(k)] += body.mass * s;
      for (const auto& [l, u] : path) {
        aligned_(k, l) += body.mass * s.dot(u);
        crossed_(k, l) += body.mass * (s(0) * u(1) - s(1) * u(0));
      }
    }
  }
}

template <RealScalar Scalar>
auto PlanarTree<Scalar>::point(const VectorX<Scalar>& q, Index body,
                               const Point& offset) const noexcept -> Point {
  using elementary::cos, elementary::sin;
  Point place = options_.floating ? Point(q(0), q(1)) : Point(Point::Zero());
  Point arm = offset;
  for (Index k = body; k >= 0; k = parent(k)) {
    const Scalar phi = angle(q, k), c = cos(phi), s = sin(phi);
    place += Point(c * arm(0) - s * arm(1), s * arm(0) + c * arm(1));
    arm = bodies_[std::size_t(k)].hinge;
    if (parent(k) < 0) place += arm;
  }
  return place;
}

template <RealScalar Scalar>
auto PlanarTree<Scalar>::write_point(const VectorX<Scalar>& q, Index body, const Point& offset,
                                     VectorX<Scalar>& x_gradient,
                                     VectorX<Scalar>& y_gradient) const noexcept -> Point {
  using elementary::cos, elementary::sin;
  CAROM_EXPECTS(x_gradient.size() == size() && y_gradient.size() == size());
  x_gradient.setZero();
  y_gradient.setZero();
  if (options_.floating) x_gradient(0) = y_gradient(1) = 1;
  Point arm = offset;
  for (Index k = body; k >= 0; k = parent(k)) {
    const Scalar phi = angle(q, k), c = cos(phi), s = sin(phi);
    x_gradient(base_ + k) = -(s * arm(0) + c * arm(1));
    y_gradient(base_ + k) = c * arm(0) - s * arm(1);
    arm = bodies_[std::size_t(k)].hinge;
  }
  if (options_.relative) gather(x_gradient), gather(y_gradient);
  return point(q, body, offset);
}

template <RealScalar Scalar>
void PlanarTree<Scalar>::write_slopes(const VectorX<Scalar>& v,
                                      LagrangianDerivatives<Scalar>& out) const noexcept {
  const Point gravity = options_.gravity;
  const Point velocity = options_.floating ? Point(v(0), v(1)) : Point(Point::Zero());
  Point drift = Point::Zero();  // Σ ω_k N_k, N_k = dR(φ_k)/dφ Σ_i m_i s_ik
  Scalar potential = 0, kinetic = 0;
  for (Index l = 0; l < count_; ++l) {
    const Scalar* const a = aligned_.data() + l * count_;
    const Scalar* const b = crossed_.data() + l * count_;
    Scalar* const m = coupling_.data() + l * count_;
    Scalar* const d = twist_.data() + l * count_;
    Scalar by_rate = 0, by_angle = 0;
    for (Index k = 0; k < count_; ++k) {
      const Scalar c = cos_(k) * cos_(l) + sin_(k) * sin_(l);
      const Scalar s = sin_(k) * cos_(l) - cos_(k) * sin_(l);
      m[k] = a[k] * c + b[k] * s;
      d[k] = b[k] * c - a[k] * s;
      by_rate += m[k] * rate_(k);
      by_angle -= d[k] * rate_(k);  // D is antisymmetric: this is row l
    }
    const Point arm = turned(l, moment_[std::size_t(l)]);
    const Point normal(-arm(1), arm(0));
    drift += rate_(l) * normal;
    potential -= gravity.dot(arm);
    kinetic += rate_(l) * by_rate / 2;
    out.by_v(base_ + l) = by_rate + velocity.dot(normal);
    out.by_q(base_ + l) = rate_(l) * (by_angle - velocity.dot(arm)) + gravity.dot(normal);
  }
  if (options_.floating) {
    for (Index i = 0; i < 2; ++i) {
      out.by_v(i) = mass_ * velocity(i) + drift(i);
      out.by_q(i) = mass_ * gravity(i);
    }
  }
  kinetic += velocity.dot(drift) + mass_ * velocity.squaredNorm() / 2;
  // The height of the base counts if the base is free to fall.
  out.value = kinetic - potential;
  if (options_.floating) out.value += mass_ * gravity.dot(base_place_);
}

template <RealScalar Scalar>
void PlanarTree<Scalar>::write_curvature(const VectorX<Scalar>& v,
                                         LagrangianDerivatives<Scalar>& out) const noexcept {
  const Point gravity = options_.gravity;
  const Point velocity = options_.floating ? Point(v(0), v(1)) : Point(Point::Zero());
  const Index n = size();
  for (Index l = 0; l < count_; ++l) {
    const Scalar* const m = coupling_.data() + l * count_;
    const Scalar* const d = twist_.data() + l * count_;
    Scalar* const vv = out.by_vv.data() + (base_ + l) * n + base_;
    Scalar* const qv = out.by_qv.data() + (base_ + l) * n + base_;
    Scalar* const qq = out.by_qq.data() + (base_ + l) * n + base_;
    const Scalar rate = rate_(l);
    Scalar bend = 0, twist = 0;
    for (Index k = 0; k < count_; ++k) {
      vv[k] = m[k];
      qv[k] = rate_(k) * d[k];
      qq[k] = rate_(k) * m[k] * rate;
      bend += rate_(k) * m[k];
      twist -= rate_(k) * d[k];
    }
    const Point arm = turned(l, moment_[std::size_t(l)]);
    const Point normal(-arm(1), arm(0));
    qv[l] += twist - velocity.dot(arm);
    qq[l] -= rate * bend + rate * velocity.dot(normal) + gravity.dot(arm);
    for (Index i = 0; i < base_; ++i) {
      out.by_vv(i, base_ + l) = out.by_vv(base_ + l, i) = normal(i);
      out.by_qv(base_ + l, i) = -rate * arm(i);
      out.by_qv(i, base_ + l) = 0;
      out.by_qq(i, base_ + l) = out.by_qq(base_ + l, i) = 0;
    }
  }
  for (Index i = 0; i < base_; ++i) {
    for (Index j = 0; j < base_; ++j) {
      out.by_vv(i, j) = i == j ? mass_ : Scalar(0);
      out.by_qv(i, j) = out.by_qq(i, j) = 0;
    }
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
