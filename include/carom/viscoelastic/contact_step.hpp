// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>

#include <Eigen/Core>

#include "carom/core/invalid_input.hpp"
#include "carom/linalg/detail/cholesky.hpp"
#include "carom/linalg/detail/growing.hpp"
#include "carom/viscoelastic/detail/anchor.hpp"
#include "carom/viscoelastic/detail/force_cone.hpp"
#include "carom/viscoelastic/force_method.hpp"
#include "carom/viscoelastic/slip_law.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// The data of one step of a mechanism with n viscoelastic contacts, frozen at its start. Triples
/// are (t₁, t₂, n); the normal points away from the surface.
/// @tparam Matrix, Vector  plain or Growing, for sizes that change at run time.
template <RealScalar Scalar, typename Matrix = MatrixX<Scalar>, typename Vector = VectorX<Scalar>>
struct ContactStepData {
  Scalar time_step = 0;      ///< t [s], > 0.
  Matrix mass_matrix;        ///< M, n_v×n_v, symmetric positive definite.
  Matrix jacobian;           ///< J, 3n×n_v: ṗ = J v.
  Vector velocity;           ///< v, n_v [m/s, rad/s].
  Vector free_acceleration;  ///< v̇ without contact, n_v.
  Vector drift;              ///< J̇ v, 3n [m/s²].
  Vector stiffness;          ///< diagonal of K, 3n [N/m], ≥ 0.
  Vector damping;            ///< diagonal of B, 3n [N·s/m], ≥ 0.
  Vector friction;           ///< μ, n [-], ≥ 0.
  Vector points;             ///< p, 3n [m].
  Vector anchors;            ///< p₀, 3n [m].

  /// Sets the sizes of Growing members. Cold: allocates only for sizes larger than all before.
  void grow(Index contacts, Index velocities) {
    mass_matrix.grow(velocities, velocities);
    jacobian.grow(3 * contacts, velocities);
    for (Vector* v : {&velocity, &free_acceleration}) v->grow(velocities);
    for (Vector* v : {&drift, &stiffness, &damping, &points, &anchors}) v->grow(3 * contacts);
    friction.grow(contacts);
  }
  [[nodiscard]] Index contact_count() const noexcept { return friction.size(); }
  [[nodiscard]] Index velocity_count() const noexcept { return velocity.size(); }
};

namespace detail {

template <RealScalar Scalar>
[[nodiscard]] Fault step_vector_fault(const char* name, const VectorX<Scalar>& v, Index size,
                                      bool nonnegative = false) {
  if (v.size() != size) {
    return fault(std::string(name) + " size", std::to_string(size).c_str(), v.size());
  }
  if (!v.allFinite()) return finite_fault(name, v);
  for (Index i = 0; nonnegative && i < size; ++i) {
    if (v(i) < Scalar(0)) return fault(entry(name, i), "a number >= 0", v(i));
  }
  return {};
}

}  // namespace detail

/// The fault of a step's data, naming the entry; empty if there is none. Cold.
template <RealScalar Scalar>
[[nodiscard]] Fault check(const ContactStepData<Scalar>& data) {
  const Index n = data.contact_count(), velocities = data.velocity_count();
  if (!detail::is_positive(data.time_step)) {
    return detail::fault("time step", "a number > 0", data.time_step);
  }
  if (data.mass_matrix.rows() != velocities) {
    return detail::fault("mass matrix rows", "as many as velocities", data.mass_matrix.rows());
  }
  Fault found = detail::symmetric_fault("", "mass matrix", data.mass_matrix);
  if (!found.empty()) return found;
  MatrixX<Scalar> factor = data.mass_matrix;
  if (!factor_cholesky(factor.data(), velocities, velocities)) {
    return "mass matrix: expected a positive definite one, got a singular or indefinite one";
  }
  if (data.jacobian.rows() != 3 * n) {
    return detail::fault("jacobian rows", "three per contact", data.jacobian.rows());
  }
  if (data.jacobian.cols() != velocities) {
    return detail::fault("jacobian columns", "as many as velocities", data.jacobian.cols());
  }
  if (!data.jacobian.allFinite()) return detail::finite_fault("jacobian", data.jacobian);
  const auto look = [&found](const char* name, const VectorX<Scalar>& v, Index size,
                             bool nonnegative) {
    if (found.empty()) found = detail::step_vector_fault(name, v, size, nonnegative);
  };
  look("velocity", data.velocity, velocities, false);
  look("free acceleration", data.free_acceleration, velocities, false);
  look("drift", data.drift, 3 * n, false);
  look("stiffness", data.stiffness, 3 * n, true);
  look("damping", data.damping, 3 * n, true);
  look("friction", data.friction, n, true);
  look("points", data.points, 3 * n, false);
  look("anchors", data.anchors, 3 * n, false);
  return found;
}

/// One step of viscoelastic contact.
///
/// The problem: the frozen system M v̇ = M v̇_free + Jᵀλ, λ = −K (p − p₀) − B (ṗ − w), for the time
/// t, where w is the velocity of the anchors p₀. The steps: (1) λ_avg and λ_avg2, the average
/// forces for resting anchors, from the exponential of the linear system; (2) if a force is outside
/// its cone, the slip law computes w and the average forces λ̄ and λ̄₂ in the cones; (3) the
/// anchors move; (4) the motion, which is exact for the frozen system for any t:
///
///   v⁺ = v + t (v̇_free + M⁻¹Jᵀλ̄),   q⁺ ⊖ q = t (v + (t/2)(v̇_free + M⁻¹Jᵀλ̄₂)).
///
/// ```
/// carom::ContactStep<double> step;
/// step.prepare(contacts, velocities);                  // cold
/// const auto report = step.solve(data, carom::SlipLaw::coulomb);  // hot
/// ```
/// @cite  hammoud2022exponential, eq. (21)–(24)
template <RealScalar Scalar>
class ContactStep {
 public:
  /// Sets the sizes. Cold: allocates only for sizes larger than all before.
  void prepare(Index contact_count, Index velocity_count) {
    const Index n = 3 * contact_count;
    forces_.prepare(contact_count, velocity_count);
    cone_.prepare(contact_count);
    factor_.grow(velocity_count, velocity_count);
    whitened_.grow(velocity_count, n);
    for (Vector* v : {&stretch_, &rate_, &acceleration_, &average_, &average2_, &friction_,
                      &anchors_, &stiffness_, &damping_}) {
      v->grow(n);
    }
    friction_.grow(contact_count);
    for (Vector* v : {&velocity_, &displacement_, &push_}) v->grow(velocity_count);
  }

  /// The fault of a step's data or of its sizes for this object; empty if there is none. Cold.
  [[nodiscard]] Fault check(const ContactStepData<Scalar>& data) const {
    const auto other = [](const char* item, Index expected, Index got) {
      const std::string words = "as many as prepared for, " + std::to_string(expected);
      return detail::fault(item, words.c_str(), got);
    };
    const Index contacts = rate_.size() / 3, velocities = velocity_.size();
    if (data.contact_count() != contacts) return other("contacts", contacts, data.contact_count());
    if (data.velocity_count() != velocities) {
      return other("velocities", velocities, data.velocity_count());
    }
    return carom::check(data);
  }

  /// @pre  check(data) is empty.
  /// @return  status of the slip law; not_finite when numbers leave the range of the type.
  /// @note  Real-time safe once prepared: no allocation, no exception.
  template <typename Data>
  SolveReport<Scalar> solve(const Data& data, SlipLaw law) noexcept {
    const Index n = rate_.size(), k = velocity_.size();
    CAROM_EXPECTS(data.jacobian.rows() == n && data.jacobian.cols() == k);
    SolveReport<Scalar> report;
    factor_ = data.mass_matrix;
    if (!factor_cholesky(factor_.data(), k, k)) return report;
    whitened_ = data.jacobian.transpose();
    solve_lower(factor_.data(), k, k, whitened_.data(), n);
    stretch_ = data.points - data.anchors;
    rate_.noalias() = data.jacobian * data.velocity;
    acceleration_ = data.drift;
    acceleration_.noalias() += data.jacobian * data.free_acceleration;
    friction_ = data.friction;
    stiffness_ = data.stiffness;
    damping_ = data.damping;
    if (!forces_.set(whitened_, stiffness_, damping_, data.time_step) ||
        !forces_.evaluate(stretch_, rate_, acceleration_, average_, average2_)) {
      return report;
    }
    report = cone_.apply(law, forces_, average_, average2_, friction_);
    advance(data);
    if (!velocity_.allFinite() || !displacement_.allFinite()) {
      report.status = SolveStatus::not_finite;
    }
    return report;
  }

  /// λ_avg, λ_avg2: without the cones [N].
  [[nodiscard]] const Growing<VectorX<Scalar>>& average_force() const noexcept { return average_; }
  [[nodiscard]] const Growing<VectorX<Scalar>>& average_force2() const noexcept {
    return average2_;
  }
  /// λ̄, λ̄₂: in their cones [N].
  [[nodiscard]] const Growing<VectorX<Scalar>>& force() const noexcept { return cone_.force(); }
  [[nodiscard]] const Growing<VectorX<Scalar>>& force2() const noexcept { return cone_.force2(); }
  /// w, the velocity of the anchors [m/s].
  [[nodiscard]] const Growing<VectorX<Scalar>>& anchor_velocity() const noexcept {
    return cone_.velocity();
  }
  /// Whether a contact sticks, slides or separates.
  [[nodiscard]] ConeRegion region(Index contact) const noexcept { return cone_.region(contact); }
  /// The method that computed the averages of the last step.
  [[nodiscard]] ForceMethod force_method() const noexcept { return forces_.method(); }
  /// The averages of the last step, which also compute its gains G and G₂.
  [[nodiscard]] AverageForces<Scalar>& forces() noexcept { return forces_; }
  /// v⁺
  [[nodiscard]] const Growing<VectorX<Scalar>>& velocity() const noexcept { return velocity_; }
  /// q⁺ ⊖ q
  [[nodiscard]] const Growing<VectorX<Scalar>>& displacement() const noexcept {
    return displacement_;
  }
  /// Anchors p₀ after the step, 3n [m], for points that move with the frozen system.
  [[nodiscard]] const Growing<VectorX<Scalar>>& anchors() const noexcept { return anchors_; }

  /// Anchor of row r after the step for a point at `point` [m]. It does not move in stick and along
  /// the normal. The anchor of an open contact is the point itself.
  template <typename Data>
  [[nodiscard]] Scalar anchor_after(const Data& data, Index r, const Scalar& point) const noexcept {
    const ConeRegion region = cone_.region(r / 3);
    if (region == ConeRegion::stick || r % 3 == 2) return data.anchors(r);
    if (region == ConeRegion::separate) return point;
    return point - slip_stretch(Scalar(data.points(r) - data.anchors(r)), Scalar(cone_.force()(r)),
                                Scalar(data.stiffness(r)), Scalar(data.damping(r)), data.time_step);
  }

 private:
  using Vector = Growing<VectorX<Scalar>>;

  /// out ← v̇_free + M⁻¹ Jᵀ λ.
  template <typename Data>
  void accelerate(const Data& data, const Vector& force, Vector& out) noexcept {
    const Index k = velocity_.size();
    out.noalias() = whitened_ * force;  // L⁻¹ Jᵀ λ
    solve_lower_transposed(factor_.data(), k, k, out.data());
    out += data.free_acceleration;
  }

  template <typename Data>
  void advance(const Data& data) noexcept {
    const Scalar t = data.time_step;
    accelerate(data, cone_.force(), push_);
    velocity_ = data.velocity + t * push_;
    accelerate(data, cone_.force2(), push_);
    displacement_ = t * (data.velocity + t / 2 * push_);
    anchors_.noalias() = data.jacobian * displacement_;
    for (Index r = 0; r < anchors_.size(); ++r) {
      // To second order in t the points also move by J̇ v.
      const Scalar point = data.points(r) + anchors_(r) + t * t / 2 * data.drift(r);
      anchors_(r) = anchor_after(data, r, point);
    }
  }

  AverageForces<Scalar> forces_;
  ForceCone<Scalar> cone_;
  Growing<MatrixX<Scalar>> factor_, whitened_;
  Vector stretch_, rate_, acceleration_, average_, average2_, friction_, anchors_, stiffness_,
      damping_, velocity_, displacement_, push_;
};

}  // namespace CAROM_ABI
}  // namespace carom
