// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "carom/linalg/detail/growing.hpp"
#include "carom/linalg/detail/second_order.hpp"
#include "carom/viscoelastic/concepts.hpp"
#include "carom/viscoelastic/detail/anchor.hpp"
#include "carom/viscoelastic/detail/frozen_derivative.hpp"
#include "carom/viscoelastic/stepper.hpp"

namespace carom {
inline namespace CAROM_ABI {

namespace detail {

/// Derivatives of the functions of a mechanism by its configuration (in coordinates of the tangent,
/// q ⊕ δ) and its velocity. The functions are evaluated on numbers with four derivatives at a time.
template <DifferentiableMechanism System>
class MechanismDerivative {
 public:
  using Scalar = typename System::scalar_type;
  using State = typename System::State;
  using Number = FirstOrder<Scalar>;
  using Matrix = Growing<MatrixX<Scalar>>;
  using Vector = Growing<VectorX<Scalar>>;

  /// Sets the sizes. Cold: allocates only for sizes larger than all before.
  void prepare(Index contact_count, Index velocity_count) {
    const Index n = 3 * contact_count, k = velocity_count;
    mass_.grow(k, k);
    jacobian_.grow(n, k);
    for (Growing<VectorX<Number>>* v : {&acceleration_, &displacement_, &velocity_}) v->grow(k);
    for (Growing<VectorX<Number>>* v : {&points_, &drift_}) v->grow(n);
    mass_by_.grow(k, k * k);
    jacobian_by_.grow(n, k * k);
    acceleration_by_.grow(k, 2 * k);
    drift_by_.grow(n, 2 * k);
    advance_by_.grow(k, 2 * k);
  }

  /// Differentiates M, v̇_free, J and J̇ v.
  /// @note  Real-time safe if the mechanism's functions and its state's copies are.
  void evaluate(const System& system, const State& state, const Vector& velocity) noexcept {
    const Index k = velocity.size();
    for (Index first = 0; first < 2 * k; first += Number::inners) {
      const Index count = (std::min)(Index(Number::inners), 2 * k - first);
      const auto seeded = seed(system, state, velocity, first);
      system.write_dynamics(seeded, mass_, acceleration_);
      system.write_contacts(seeded, points_, jacobian_, drift_);
      for (Index s = 0; s < count; ++s) take(first + s, s);
    }
  }

  /// Differentiates the tangent coordinates of q ⊕ d by those of q and by d.
  void evaluate_advance(const System& system, const State& state, const Vector& displacement,
                        const State& next) noexcept {
    const Index k = displacement.size();
    const auto target = next.template cast<Number>();
    for (Index first = 0; first < 2 * k; first += Number::inners) {
      const Index count = (std::min)(Index(Number::inners), 2 * k - first);
      auto seeded = seed(system, state, displacement, first);  // the velocity has no influence
      for (Index i = 0; i < k; ++i) displacement_(i) = velocity_(i);
      system.advance(seeded, displacement_, velocity_);
      system.write_difference(target, seeded, acceleration_);
      for (Index s = 0; s < count; ++s) {
        for (Index i = 0; i < k; ++i) advance_by_(i, first + s) = acceleration_(i).inner(s);
      }
    }
  }

  /// ∂M/∂q_d, n_v×n_v.
  [[nodiscard]] auto mass_by(Index d) const noexcept {
    return mass_by_.middleCols(d * mass_by_.rows(), mass_by_.rows());
  }
  /// ∂J/∂q_d, 3n×n_v.
  [[nodiscard]] auto jacobian_by(Index d) const noexcept {
    return jacobian_by_.middleCols(d * mass_by_.rows(), mass_by_.rows());
  }
  /// ∂v̇_free/∂(q, v), n_v×2n_v.
  [[nodiscard]] const Matrix& acceleration_by() const noexcept { return acceleration_by_; }
  /// ∂(J̇ v)/∂(q, v), 3n×2n_v.
  [[nodiscard]] const Matrix& drift_by() const noexcept { return drift_by_; }
  /// ∂(q ⊕ d)/∂(q, d), n_v×2n_v.
  [[nodiscard]] const Matrix& advance_by() const noexcept { return advance_by_; }

 private:
  /// The state with a velocity; both contain the derivatives by the variables first, first + 1, ….
  [[nodiscard]] auto seed(const System& system, const State& state, const Vector& velocity,
                          Index first) noexcept {
    const Index k = velocity.size();
    for (Index i = 0; i < k; ++i) {
      displacement_(i) = Number(0);
      velocity_(i) = Number(velocity(i));
      for (Index s = 0; s < Number::inners; ++s) {
        if (first + s == i) displacement_(i).inner(s) = Scalar(1);
        if (first + s == k + i) velocity_(i).inner(s) = Scalar(1);
      }
    }
    auto seeded = state.template cast<Number>();
    system.advance(seeded, displacement_, velocity_);
    return seeded;
  }

  /// Stores the derivatives by variable v, which are in slot s of the numbers.
  void take(Index v, Index s) noexcept {
    const Index k = mass_.rows(), n = drift_.size();
    for (Index i = 0; i < k; ++i) acceleration_by_(i, v) = acceleration_(i).inner(s);
    for (Index i = 0; i < n; ++i) drift_by_(i, v) = drift_(i).inner(s);
    if (v >= k) return;  // M and J do not depend on the velocity
    for (Index c = 0; c < k; ++c) {
      for (Index r = 0; r < k; ++r) mass_by_(r, v * k + c) = mass_(r, c).inner(s);
      for (Index r = 0; r < n; ++r) jacobian_by_(r, v * k + c) = jacobian_(r, c).inner(s);
    }
  }

  Growing<MatrixX<Number>> mass_, jacobian_;
  Growing<VectorX<Number>> acceleration_, displacement_, velocity_, points_, drift_;
  Matrix mass_by_, jacobian_by_, acceleration_by_, drift_by_, advance_by_;
};

/// The data inside a stepper that the derivative of a step reads: the data of the current part, the
/// step solved on them, and the positions of all points after it.
template <typename Stepper>
struct StepperInside {
  using State = typename Stepper::State;
  using Scalar = typename Stepper::Scalar;
  Stepper& stepper;

  template <typename Watch>
  ViscoelasticReport step(State& state, const Scalar& dt, const Watch& watch) const noexcept {
    return stepper.step_watched(state, dt, watch);
  }
  [[nodiscard]] const auto& data() const noexcept { return stepper.data_; }
  [[nodiscard]] auto& solved() const noexcept { return stepper.contact_step_; }
  [[nodiscard]] const State& next() const noexcept { return stepper.next_; }
  [[nodiscard]] const auto& points() const noexcept { return stepper.all_points_; }
  [[nodiscard]] const auto& next_jacobian() const noexcept { return stepper.all_jacobian_; }
  [[nodiscard]] const auto& material(Index i) const noexcept {
    return stepper.materials_[std::size_t(i)];
  }
  [[nodiscard]] SlipLaw law() const noexcept { return stepper.options_.law; }
  [[nodiscard]] Scalar violation(Index i) const noexcept { return stepper.violation(i); }
  [[nodiscard]] Scalar height(Index i) const noexcept { return stepper.next_points_(3 * i + 2); }
  [[nodiscard]] Scalar rate(Index i) const noexcept {
    return next_jacobian().row(3 * i + 2).dot(solved().velocity());
  }
  [[nodiscard]] Scalar pull(Index i, const Scalar& height, const Scalar& rate) const noexcept {
    return stepper.pull(i, height, rate);
  }
  /// The quantity that changes its sign at the end of the part if the contact is made or broken at
  /// that instant: the height of its point [m], or the pulling force [N].
  [[nodiscard]] Scalar crossing(Index i) const noexcept {
    return by_height(i) ? height(i) : pull(i, height(i), rate(i));
  }
  /// Whether the violation of a contact is that of its height, not of its force.
  [[nodiscard]] bool by_height(Index i) const noexcept {
    if (stepper.active(i)) return false;
    const Scalar stiff =
        (std::max)(material(i).stiffness(2), Scalar(material(i).damping(2) / data().time_step));
    return -stiff * height(i) <= -pull(i, height(i), rate(i));
  }
};

/// The derivatives of a mechanism restricted to its active contacts.
template <typename System>
struct ActiveMechanism {
  const MechanismDerivative<System>& all;
  const std::vector<Index>& contacts;

  [[nodiscard]] Index row(Index r) const noexcept {
    return 3 * contacts[std::size_t(r / 3)] + r % 3;
  }
  [[nodiscard]] auto mass_by(Index d) const noexcept { return all.mass_by(d); }
  [[nodiscard]] auto acceleration_by(Index d) const noexcept {
    return all.acceleration_by().col(d);
  }
  [[nodiscard]] auto jacobian_by(Index d, Index r, Index j) const noexcept {
    return all.jacobian_by(d)(row(r), j);
  }
  [[nodiscard]] auto drift_by(Index d, Index r) const noexcept { return all.drift_by()(row(r), d); }
};

/// Derivatives of the results of a part by the data of the part: configuration, velocity, points,
/// anchors, and the quantity that vanishes where a contact is made or broken. The columns are those
/// of PartColumns.
template <DifferentiableMechanism System>
class PartDerivative {
 public:
  using Scalar = typename System::scalar_type;
  using State = typename System::State;
  using Stepper = ViscoelasticStepper<System>;
  using Inside = StepperInside<Stepper>;
  using Matrix = Growing<MatrixX<Scalar>>;
  using Vector = Growing<VectorX<Scalar>>;

  /// Allocates all memory. Cold.
  void prepare(Index contact_count, Index velocity_count) {
    velocities_ = velocity_count;
    mechanism_.prepare(contact_count, velocity_count);
    end_.prepare(contact_count, velocity_count);
    active_.reserve(std::size_t(contact_count));
    end_velocity_.grow(velocity_count);
    turned_.grow(velocity_count);
    resize(contact_count, contact_count);
  }

  /// Stores the contacts that are active in a part.
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
  /// @return  false if a number leaves the range of the type.
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
  /// Derivative of q⁺ in coordinates of its tangent, n_v rows.
  [[nodiscard]] const Matrix& place_by() const noexcept { return place_by_; }
  /// Derivative of v⁺, n_v rows.
  [[nodiscard]] const Matrix& velocity_by() const noexcept { return frozen_.velocity_by(); }
  /// Derivative of all points after the part, 3n rows.
  [[nodiscard]] const Matrix& point_by() const noexcept { return point_by_; }
  /// Derivative of the anchors of active contacts after it; rows of heights are zero.
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
  bool ended_ = false;  ///< whether end_ belongs to the current part
};

}  // namespace detail

}  // namespace CAROM_ABI
}  // namespace carom
