// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <utility>
#include <vector>

#include "carom/core/elementary.hpp"
#include "carom/variational/concepts.hpp"
#include "carom/variational/spatial_body.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// A twist (angular velocity; velocity of the point at o), or a wrench and momentum (about o;
/// linear).
template <RealScalar Scalar>
struct Screw {
  Vector3<Scalar> angular = Vector3<Scalar>::Zero(), linear = Vector3<Scalar>::Zero();

  [[nodiscard]] Scalar dot(const Screw& b) const noexcept {
    return angular.dot(b.angular) + linear.dot(b.linear);
  }
  Screw& operator+=(const Screw& b) noexcept {
    angular += b.angular;
    linear += b.linear;
    return *this;
  }
  /// Derivative of a twist by a twist, a × b.
  [[nodiscard]] Screw cross(const Screw& b) const noexcept {
    return {detail::cross(angular, b.angular),
            detail::cross(angular, b.linear) + detail::cross(linear, b.angular)};
  }
  /// Derivative of a momentum by a twist, a ×* p.
  [[nodiscard]] Screw cross_momentum(const Screw& p) const noexcept {
    return {detail::cross(angular, p.angular) + detail::cross(linear, p.linear),
            detail::cross(angular, p.linear)};
  }
};

/// Inertia about o in the world's axes.
template <RealScalar Scalar>
struct SpatialInertia {
  Scalar mass = 0;
  Vector3<Scalar> moment = Vector3<Scalar>::Zero();                   ///< Σ m c [kg·m]
  SquareMatrix<Scalar, 3> turning = SquareMatrix<Scalar, 3>::Zero();  ///< about o [kg·m²]

  SpatialInertia& operator+=(const SpatialInertia& b) noexcept {
    mass += b.mass;
    moment += b.moment;
    turning += b.turning;
    return *this;
  }
  [[nodiscard]] Screw<Scalar> operator*(const Screw<Scalar>& s) const noexcept {
    return {turning * s.angular + detail::cross(moment, s.linear),
            mass * s.linear + detail::cross(s.angular, moment)};
  }
};

}  // namespace detail

/// A tree of rigid bodies in space with one revolute or prismatic joint each. It computes its
/// Lagrangian with the first derivatives in O(n) and all second derivatives in O(n d), where d is
/// the depth of the tree, with n sines and cosines.
///
/// With joint screws s_k in the world, ṡ_k = V_parent × s_k, and inertia I_k and momentum p_k of
/// all bodies beyond joint k, for an ancestor j of k or k itself:
///
///   ∂T/∂v_k = s_k·p_k          ∂²T/∂v_j∂v_k = s_j·I_k s_k      w_k = I_k ṡ_k + s_k ×* p_k
///   ∂T/∂q_k = ṡ_k·p_k          ∂²T/∂q_j∂v_k = ṡ_j·I_k s_k      ∂²T/∂v_j∂q_k = s_j·w_k
///                                                              ∂²T/∂q_j∂q_k = ṡ_j·w_k
///
/// All quantities are about the common centre of mass, so that no digits are lost far from the
/// origin. A derived class adds springs, actuators and gaps; append_floating_body adds a free base.
/// @note  Hot calls are noexcept and allocate nothing. They use memory of the object, so each
///        thread needs its own object.
/// @cite  featherstone2008rigid for spatial vectors; docs/derivations/spatial_tree.md
template <RealScalar Scalar>
class SpatialTree {
 public:
  using scalar_type = Scalar;
  using Point = Vector3<Scalar>;
  using Rotation = SquareMatrix<Scalar, 3>;
  using Bodies = std::vector<SpatialBody<Scalar>>;

  /// @note  Cold: allocates, throws std::invalid_argument naming the body, see check_bodies.
  explicit SpatialTree(Bodies bodies, const SpatialTreeOptions<Scalar>& options = {});

  [[nodiscard]] Index size() const noexcept { return Index(bodies_.size()); }
  [[nodiscard]] const Bodies& bodies() const noexcept { return bodies_; }
  [[nodiscard]] Scalar mass() const noexcept { return mass_; }  ///< of all bodies [kg].

  /// Rotation from a body's frame to the world's [-].
  [[nodiscard]] Rotation rotation(const VectorX<Scalar>& q, Index body) const noexcept {
    place(q);
    return at(body).rotation;
  }

  /// Position of a point fixed to a body [m].
  /// @param offset  in the body's frame [m].
  [[nodiscard]] Point point(const VectorX<Scalar>& q, Index body,
                            const Point& offset) const noexcept {
    place(q);
    return at(body).place + at(body).rotation * offset;
  }

  /// The same with its gradients.
  /// @param gradient  written: ∂(x, y, z)/∂q, 3×n.
  Point write_point(const VectorX<Scalar>& q, Index body, const Point& offset,
                    MatrixX<Scalar>& gradient) const noexcept;

  /// Centre of mass of all bodies [m], or the position of the first joint if there is no mass.
  [[nodiscard]] Point centre(const VectorX<Scalar>& q) const noexcept {
    place(q);
    return origin_;
  }

  void write_lagrangian(const VectorX<Scalar>& q, const VectorX<Scalar>& v, const Scalar&,
                        LagrangianDerivatives<Scalar>& out) const noexcept {
    place(q);
    gather_inertia();
    write_slopes(v, out);
  }

  void write_lagrangian_curvature(const VectorX<Scalar>& q, const VectorX<Scalar>& v, const Scalar&,
                                  LagrangianDerivatives<Scalar>& out) const noexcept {
    place(q);
    gather_inertia();
    write_slopes(v, out);
    write_curvature(out);
  }

 private:
  using Screw = detail::Screw<Scalar>;
  using Inertia = detail::SpatialInertia<Scalar>;

  /// The constants of a joint: rotation from body to parent = fixed + cos q even + sin q odd.
  struct Joint {
    Index parent = -1;
    bool turns = true, has_inertia = false;
    Point axis = Point::Zero();  ///< in the parent's frame
    Rotation fixed = Rotation::Zero(), even = Rotation::Zero(), odd = Rotation::Zero();
  };
  /// The position and motion of a body in the world.
  struct Link {
    Rotation rotation = Rotation::Identity();
    Point place = Point::Zero(), axis = Point::Zero(), centre = Point::Zero();
    Inertia own, carried;
    Screw screw, drift;     ///< s and ṡ
    Screw twist, momentum;  ///< V, and p of all bodies beyond the joint
  };

  [[nodiscard]] Link& at(Index body) const noexcept { return links_[std::size_t(body)]; }
  [[nodiscard]] const Joint& joint(Index body) const noexcept { return joints_[std::size_t(body)]; }

  void place(const VectorX<Scalar>& q) const noexcept;
  void gather_inertia() const noexcept;
  void write_slopes(const VectorX<Scalar>& v, LagrangianDerivatives<Scalar>& out) const noexcept;
  void write_curvature(LagrangianDerivatives<Scalar>& out) const noexcept;

  /// Whether the links are already computed at q. Numbers with derivatives are compared by value
  /// only.
  [[nodiscard]] bool stands_at(const VectorX<Scalar>& q) const noexcept {
    if constexpr (!std::floating_point<Scalar>) return false;
    for (Index k = 0; k < q.size(); ++k) {
      if (!(placed_(k) == q(k))) return false;
    }
    return placed_any_;
  }

  Bodies bodies_;
  Point gravity_;
  std::vector<Joint> joints_;
  Scalar mass_ = 0;
  mutable std::vector<Link> links_;
  mutable VectorX<Scalar> placed_;  ///< configuration of the links
  mutable bool placed_any_ = false, inertia_ready_ = false;
  mutable Point origin_ = Point::Zero();  ///< o
};

// --- implementation ---

template <RealScalar Scalar>
SpatialTree<Scalar>::SpatialTree(Bodies bodies, const SpatialTreeOptions<Scalar>& options)
    : bodies_(std::move(bodies)), gravity_(options.gravity) {
  detail::reject_if(check_bodies(bodies_));
  detail::reject_if(detail::finite_fault("gravity", gravity_));
  joints_.resize(bodies_.size());
  links_.resize(bodies_.size());
  placed_.setZero(size());
  for (Index k = 0; k < size(); ++k) {
    SpatialBody<Scalar>& body = bodies_[std::size_t(k)];
    // One Newton step to the nearest unit vector and rotation.
    body.axis *= (3 - body.axis.squaredNorm()) / 2;
    const Rotation square = body.turn.transpose() * body.turn;
    body.turn = Rotation(body.turn * (Rotation::Identity() * Scalar(3) - square)) / Scalar(2);
    Joint& joint = joints_[std::size_t(k)];
    joint.parent = body.parent;
    joint.turns = body.joint == JointKind::revolute;
    // Numbers with derivatives may have nonzero derivatives at the value zero.
    joint.has_inertia =
        !std::floating_point<Scalar> || body.mass > Scalar(0) || body.inertia != Rotation::Zero();
    joint.axis = body.turn * body.axis;
    mass_ += body.mass;
    if (!joint.turns) {
      joint.fixed = body.turn;
      continue;
    }
    Rotation odd;
    for (Index c = 0; c < 3; ++c) odd.col(c) = detail::cross<Scalar>(body.axis, Point::Unit(c));
    const Rotation along = body.axis * body.axis.transpose();
    joint.fixed = body.turn * along;
    joint.even = body.turn - joint.fixed;
    joint.odd = body.turn * odd;
  }
}

/// Computes frames, axes and the common centre of mass.
template <RealScalar Scalar>
void SpatialTree<Scalar>::place(const VectorX<Scalar>& q) const noexcept {
  using elementary::cos, elementary::sin;
  CAROM_EXPECTS(q.size() == size());
  if (stands_at(q)) return;
  Point sum = Point::Zero();
  for (Index k = 0; k < size(); ++k) {
    const Joint& joint = this->joint(k);
    const SpatialBody<Scalar>& body = bodies_[std::size_t(k)];
    Link& link = at(k);
    if (joint.turns) {
      link.rotation = joint.fixed + cos(q(k)) * joint.even + sin(q(k)) * joint.odd;
    } else {
      link.rotation = joint.fixed;
    }
    link.place = body.place;
    link.axis = joint.axis;
    if (!joint.turns) link.place += q(k) * joint.axis;
    if (joint.parent >= 0) {
      const Link& parent = at(joint.parent);
      link.rotation = Rotation(parent.rotation * link.rotation);
      link.place = Point(parent.place + parent.rotation * link.place);
      link.axis = Point(parent.rotation * link.axis);
    }
    placed_(k) = q(k);
    if (!joint.has_inertia) continue;
    link.centre = link.place + link.rotation * body.centre;
    sum += body.mass * link.centre;
  }
  origin_ = mass_ > Scalar(0) ? Point(sum / mass_) : at(0).place;
  placed_any_ = true;
  inertia_ready_ = false;
}

/// Computes joint screws and inertias about o, of each body and of all bodies beyond each joint.
template <RealScalar Scalar>
void SpatialTree<Scalar>::gather_inertia() const noexcept {
  if (inertia_ready_) return;
  inertia_ready_ = true;
  for (Index k = 0; k < size(); ++k) {
    const SpatialBody<Scalar>& body = bodies_[std::size_t(k)];
    Link& link = at(k);
    if (joint(k).turns) {
      link.screw = {link.axis, detail::cross<Scalar>(link.place - origin_, link.axis)};
    } else {
      link.screw.linear = link.axis;
    }
    if (joint(k).has_inertia) {
      const Point arm = link.centre - origin_;
      const Rotation half = link.rotation * body.inertia;
      link.own.mass = body.mass;
      link.own.moment = body.mass * arm;
      link.own.turning.noalias() = half.lazyProduct(link.rotation.transpose());
      link.own.turning -= link.own.moment * arm.transpose();
      link.own.turning.diagonal().array() += link.own.moment.dot(arm);
    }
    link.carried = link.own;
  }
  for (Index k = size() - 1; k >= 0; --k) {
    if (joint(k).parent >= 0) at(joint(k).parent).carried += at(k).carried;
  }
}

template <RealScalar Scalar>
auto SpatialTree<Scalar>::write_point(const VectorX<Scalar>& q, Index body, const Point& offset,
                                      MatrixX<Scalar>& gradient) const noexcept -> Point {
  CAROM_EXPECTS(gradient.rows() == 3 && gradient.cols() == size());
  Point result = point(q, body, offset);
  gradient.setZero();
  for (Index k = body; k >= 0; k = joint(k).parent) {
    const Link& link = at(k);
    const Point slope =
        joint(k).turns ? detail::cross<Scalar>(link.axis, result - link.place) : link.axis;
    for (Index i = 0; i < 3; ++i) gradient(i, k) = slope(i);
  }
  return result;
}

template <RealScalar Scalar>
void SpatialTree<Scalar>::write_slopes(const VectorX<Scalar>& v,
                                       LagrangianDerivatives<Scalar>& out) const noexcept {
  for (Index k = 0; k < size(); ++k) {
    Link& link = at(k);
    link.twist = {v(k) * link.screw.angular, v(k) * link.screw.linear};
    if (joint(k).parent >= 0) {
      const Screw& carrier = at(joint(k).parent).twist;
      link.drift = carrier.cross(link.screw);
      link.twist += carrier;
    }
    link.momentum = joint(k).has_inertia ? link.own * link.twist : Screw();
  }
  Scalar kinetic = 0;
  for (Index k = size() - 1; k >= 0; --k) {
    const Link& link = at(k);
    const Inertia& carried = link.carried;
    if (joint(k).parent >= 0) at(joint(k).parent).momentum += link.momentum;
    out.by_v(k) = link.screw.dot(link.momentum);
    // The derivative of the position of the bodies beyond the joint, times their mass.
    const Point rise =
        carried.mass * link.screw.linear + detail::cross(link.screw.angular, carried.moment);
    out.by_q(k) = link.drift.dot(link.momentum) + gravity_.dot(rise);
    kinetic += v(k) * out.by_v(k);
  }
  out.value = kinetic / 2 + mass_ * gravity_.dot(origin_);
}

template <RealScalar Scalar>
void SpatialTree<Scalar>::write_curvature(LagrangianDerivatives<Scalar>& out) const noexcept {
  for (MatrixX<Scalar>* matrix : {&out.by_qq, &out.by_qv, &out.by_vv}) matrix->setZero();
  for (Index k = 0; k < size(); ++k) {
    const Link& link = at(k);
    const Screw held = link.carried * link.screw;
    Screw bend = link.carried * link.drift;
    bend += link.screw.cross_momentum(link.momentum);
    const Point weight = detail::cross(held.linear, gravity_);
    for (Index j = k; j >= 0; j = joint(j).parent) {
      const Link& above = at(j);
      out.by_vv(j, k) = out.by_vv(k, j) = above.screw.dot(held);
      out.by_qv(k, j) = above.screw.dot(bend);
      out.by_qv(j, k) = above.drift.dot(held);
      out.by_qq(j, k) = out.by_qq(k, j) = above.drift.dot(bend) + above.screw.angular.dot(weight);
    }
  }
}

}  // namespace CAROM_ABI
}  // namespace carom
