// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <Eigen/Core>

#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/detail/anchor_derivative.hpp"
#include "carom/viscoelastic/detail/frozen_derivative.hpp"
#include "carom/viscoelastic/detail/mechanism_derivative.hpp"
#include "carom/viscoelastic/detail/stepper_inside.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Derivatives of what a part of a step leads to, by the data of the part: configuration, velocity,
/// points, anchors, and what vanishes where a contact is made or broken. Columns are PartColumns.
template <DifferentiableMechanism System>
class PartDerivative {
 public:
  using Scalar = typename System::scalar_type;
  using State = typename System::State;
  using Stepper = ViscoelasticStepper<System>;
  using Inside = StepperInside<Stepper>;
  using Matrix = Growing<MatrixX<Scalar>>;
  using Vector = Growing<VectorX<Scalar>>;

  /// Sizes all memory. Cold: allocates.
  void prepare(Index contact_count, Index velocity_count) {
    velocities_ = velocity_count;
    mechanism_.prepare(contact_count, velocity_count);
    end_.prepare(contact_count, velocity_count);
    active_.reserve(std::size_t(contact_count));
    end_velocity_.grow(velocity_count);
    turned_.grow(velocity_count);
    resize(contact_count, contact_count);
  }

  /// Takes the contacts that are active in a part.
  // NOLINTNEXTLINE(bugprone-exception-escape): memory has grown in prepare()
  void begin(const Stepper& stepper) noexcept {
    const Index n = stepper.system().contact_count();
    active_.clear();
    for (Index i = 0; i < n; ++i) {
      if (stepper.active(i)) active_.push_back(i);
    }
    resize(n, Index(active_.size()));
  }

  /// Differentiates a part that is solved and not yet committed.
  /// @param now  the state at its start.
  /// @return  false when a number leaves the range.
  /// @note  Real-time safe once prepared, if the mechanism's functions are.
  [[nodiscard]] bool evaluate(const Inside& inside, const State& now) noexcept {
    ended_ = false;
    const System& system = inside.stepper.system();
    auto& solved = inside.solved();
    mechanism_.evaluate(system, now, inside.data().velocity);
    const ActiveMechanism<System> active{mechanism_, active_};
    if (!frozen_.evaluate(inside.law(), solved, inside.data(), active)) return false;
    mechanism_.evaluate_advance(system, now, solved.displacement(), inside.next());
    const Index k = velocities_;
    place_by_.noalias() =
        mechanism_.advance_by().rightCols(k).lazyProduct(frozen_.displacement_by());
    place_by_.leftCols(k) += mechanism_.advance_by().leftCols(k);
    point_by_.noalias() = inside.next_jacobian().lazyProduct(place_by_);
    write_anchors(inside);
    return place_by_.allFinite() && anchor_by_.allFinite();
  }

  /// Writes the derivative of the height of a point, or of the normal force of its spring and
  /// damper at fixed K and B, at the end of the part.
  void write_crossing(const Inside& inside, Index i, bool by_height, Vector& out) noexcept {
    const Index row = 3 * i + 2, k = velocities_;
    out = point_by_.row(row).transpose();
    if (by_height) return;
    const auto& material = inside.material(i);
    if (!ended_) {
      end_velocity_ = inside.solved().velocity();
      end_.evaluate(inside.stepper.system(), inside.next(), end_velocity_);
      ended_ = true;
    }
    for (Index d = 0; d < k; ++d) turned_(d) = end_.jacobian_by(d).row(row).dot(end_velocity_);
    out *= material.stiffness(2);
    for (Index c = 0; c < out.size(); ++c) {
      out(c) += material.damping(2) * (inside.next_jacobian().row(row).dot(velocity_by().col(c)) +
                                       turned_.dot(place_by_.col(c)));
    }
  }

  [[nodiscard]] const PartColumns& columns() const noexcept { return frozen_.columns(); }
  /// Contacts that are active in the part, ascending.
  [[nodiscard]] const std::vector<Index>& active() const noexcept { return active_; }
  /// Of q⁺ in coordinates of its tangent, n_v rows.
  [[nodiscard]] const Matrix& place_by() const noexcept { return place_by_; }
  /// Of v⁺, n_v rows.
  [[nodiscard]] const Matrix& velocity_by() const noexcept { return frozen_.velocity_by(); }
  /// Of all points after the part, 3n rows.
  [[nodiscard]] const Matrix& point_by() const noexcept { return point_by_; }
  /// Of the anchors of active contacts after it; those of heights are zero.
  [[nodiscard]] const Matrix& anchor_by() const noexcept { return anchor_by_; }
  /// M⁻¹ at the start.
  [[nodiscard]] const Matrix& inverse_mass() const noexcept { return frozen_.inverse_mass(); }
  /// Whether an active contact is on the boundary between stick, slide and open.
  [[nodiscard]] bool one_sided(Index contact) const noexcept { return frozen_.one_sided(contact); }

 private:
  void resize(Index contacts, Index active) {
    frozen_.prepare(active, velocities_);
    const Index count = frozen_.columns().count();
    place_by_.grow(velocities_, count);
    point_by_.grow(3 * contacts, count);
    anchor_by_.grow(3 * active, count);
  }

  /// Derivatives of the anchors of active contacts after the part.
  void write_anchors(const Inside& inside) noexcept {
    const auto& data = inside.data();
    const auto& columns = frozen_.columns();
    anchor_by_.setZero();
    for (Index r = 0; r < anchor_by_.rows(); ++r) {
      if (r % 3 == 2) continue;  // on the plane
      const ConeRegion region = inside.solved().region(r / 3);
      if (region == ConeRegion::stick) {
        anchor_by_(r, columns.anchors() + r) = Scalar(1);
        continue;
      }
      anchor_by_.row(r) = point_by_.row(3 * active_[std::size_t(r / 3)] + r % 3);
      if (region == ConeRegion::separate) continue;
      const auto by = slip_stretch_derivative(
          Scalar(data.points(r) - data.anchors(r)), Scalar(inside.solved().force()(r)),
          Scalar(data.stiffness(r)), Scalar(data.damping(r)), data.time_step);
      anchor_by_.row(r) -= by.by_force * frozen_.force_by().row(r);
      anchor_by_.row(r).head(velocities_) -= by.by_stretch * data.jacobian.row(r);
      anchor_by_(r, columns.anchors() + r) += by.by_stretch;
      anchor_by_(r, columns.stiffness() + r) -= by.by_stiffness;
      anchor_by_(r, columns.damping() + r) -= by.by_damping;
      anchor_by_(r, columns.time()) -= by.by_time;
    }
  }

  Index velocities_ = 0;
  std::vector<Index> active_;
  MechanismDerivative<System> mechanism_, end_;
  FrozenDerivative<Scalar> frozen_;
  Matrix place_by_, point_by_, anchor_by_;
  Vector end_velocity_, turned_;
  bool ended_ = false;  ///< whether end_ is of the present part
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
