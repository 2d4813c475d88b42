// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "carom/impact/outcome/kinetic_contacts.hpp"
#include "carom/impact/outcome/reach_polytope.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The cells of velocities in which each contact closes or opens, and slips forwards or backwards
/// or sticks: in a cell, the directions in which impulses can move the velocity do not change, and
/// form a convex cone.
///
/// A cell gives a sign to each plane through the origin on which a contact's normal or tangential
/// speed is zero; planes that coincide are one. Contact i acts where its normal speed is ≤ 0, and
/// the impact goes on while some contact closes, a_i·x < 0.
/// @cite halm2021setvalued, for the law
template <RealScalar Scalar>
class ContactCells {
 public:
  /// One sign per plane.
  using Cell = std::vector<int>;
  /// The sign of a plane that does not matter: only open contacts have it as their slip.
  static constexpr int any = 2;

  explicit ContactCells(const KineticContacts<Scalar>& contacts) : contacts_(contacts) {
    planes_.resize(contacts.dimension(), 0);
    for (Index i = 0; i < contacts.count(); ++i) {
      gaps_.push_back(add_plane(contacts.normal(i)));
      const bool rubs = contacts.friction(i) > Scalar(0) &&
                        contacts.tangent(i).norm() > parallel * contacts.normal(i).norm();
      slips_.push_back(rubs ? add_plane(contacts.tangent(i)) : Side{-1, 0});
    }
  }

  [[nodiscard]] Index plane_count() const noexcept { return planes_.cols(); }
  /// The unit normal of a plane.
  [[nodiscard]] auto plane(Index p) const noexcept { return planes_.col(p); }

  /// The sign of a contact's normal speed in a cell: −1 where it closes.
  [[nodiscard]] int gap_sign(const Cell& cell, Index i) const noexcept {
    const Side& side = gaps_[std::size_t(i)];
    return cell[std::size_t(side.plane)] * side.sign;
  }
  /// Whether some contact closes, so that the impact goes on.
  [[nodiscard]] bool goes_on(const Cell& cell) const noexcept {
    for (Index i = 0; i < contacts_.count(); ++i) {
      if (gap_sign(cell, i) < 0) return true;
    }
    return false;
  }
  /// Whether some contact acts: whether the velocity can change.
  [[nodiscard]] bool has_motions(const Cell& cell) const noexcept {
    for (Index i = 0; i < contacts_.count(); ++i) {
      if (gap_sign(cell, i) <= 0) return true;
    }
    return false;
  }
  /// Whether a plane is where a normal speed is zero.
  [[nodiscard]] bool is_gap(Index p) const noexcept {
    for (const Side& side : gaps_) {
      if (side.plane == p) return true;
    }
    return false;
  }
  /// Whether a plane's sign matters, where the signs of all normal speeds are known.
  [[nodiscard]] bool matters(const Cell& cell, Index p) const noexcept {
    if (is_gap(p)) return true;
    for (Index i = 0; i < contacts_.count(); ++i) {
      if (slips_[std::size_t(i)].plane == p && gap_sign(cell, i) <= 0) return true;
    }
    return false;
  }

  /// The directions of length one that span the cone of motions within a cell, with the impulses
  /// (normal, tangential of each contact) below them: slip determines friction, and a contact that
  /// sticks has any friction up to μ.
  /// @param stays  whether only motions count that keep the speeds of sign 0.
  [[nodiscard]] MatrixX<Scalar> motions(const Cell& cell, bool stays) const {
    const Index r = contacts_.dimension(), count = contacts_.count();
    std::vector<VectorX<Scalar>> found;
    for (Index i = 0; i < count; ++i) {
      if (gap_sign(cell, i) > 0) continue;
      for (const int sign : friction_signs(cell, i)) {
        const Scalar friction = Scalar(sign) * contacts_.friction(i);
        VectorX<Scalar> motion = VectorX<Scalar>::Zero(r + 2 * count);
        motion.head(r) = contacts_.normal(i) + friction * contacts_.tangent(i);
        motion(r + 2 * i) = Scalar(1);
        motion(r + 2 * i + 1) = friction;
        found.push_back(motion / motion.head(r).norm());
      }
    }
    MatrixX<Scalar> rays(r + 2 * count, Index(found.size()));
    for (std::size_t k = 0; k < found.size(); ++k) rays.col(Index(k)) = found[k];
    ReachPolytope<Scalar> cone(r, MatrixX<Scalar>::Zero(r + 2 * count, 1), rays, Scalar(0));
    for (Index p = 0; stays && p < plane_count(); ++p) {
      if (cell[std::size_t(p)] != 0) continue;
      cone.cut(plane(p), Scalar(0));
      cone.cut(-plane(p), Scalar(0));
    }
    cone.reduce();
    return cone.rays();
  }

 private:
  struct Side {
    Index plane;  ///< −1 for none
    int sign;     ///< of the speed on the side to which the plane's normal points
  };
  /// Unit normals that differ by less are of one plane [-].
  static constexpr Scalar parallel = 1024 * std::numeric_limits<Scalar>::epsilon();

  [[nodiscard]] Side add_plane(const VectorX<Scalar>& row) {
    const VectorX<Scalar> unit = row.normalized();
    for (Index p = 0; p < planes_.cols(); ++p) {
      for (const int sign : {1, -1}) {
        if ((unit - Scalar(sign) * planes_.col(p)).norm() < parallel) return {p, sign};
      }
    }
    planes_.conservativeResize(Eigen::NoChange, planes_.cols() + 1);
    planes_.col(planes_.cols() - 1) = unit;
    return {planes_.cols() - 1, 1};
  }
  /// The signs of friction: against the slip, both where the contact sticks, 0 without friction.
  [[nodiscard]] std::vector<int> friction_signs(const Cell& cell, Index i) const {
    const Side& side = slips_[std::size_t(i)];
    if (side.plane < 0) return {0};
    const int slip = cell[std::size_t(side.plane)];
    if (slip == 0) return {-1, 1};
    return {-slip * side.sign};
  }

  const KineticContacts<Scalar>& contacts_;
  MatrixX<Scalar> planes_;
  std::vector<Side> gaps_, slips_;  ///< of each contact
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
