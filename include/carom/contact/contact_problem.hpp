// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "carom/cones/friction_cone_batch.hpp"
#include "carom/contact/compliance.hpp"
#include "carom/contact/constraint_list.hpp"
#include "carom/contact/detail/contact_laws.hpp"
#include "carom/contact/detail/faults.hpp"
#include "carom/contact/detail/inverse_mass.hpp"
#include "carom/core/invalid_input.hpp"
#include "carom/linalg/cholesky.hpp"

namespace carom::inline CAROM_ABI {

/// A block of generalized velocities: its place in the stacked velocity, and its size.
struct BodyRange {
  Index start;
  Index size;
};

/// One time step of compliant frictional contact: min ½‖v − v*‖²_A + ½‖P(y(v))‖²_R.
///
/// A body is a block of generalized velocities with one momentum matrix A: a free rigid body has 6,
/// a robot any number. A contact joins one or two bodies by its Jacobian, rows (t₁, t₂, n); a
/// positive normal velocity separates. Nothing in here iterates.
///
/// It keeps all data in whitened velocities w = Lᵀ v, A = L Lᵀ, too, where the momentum matrix is
/// the identity: Ĵ = J L⁻ᵀ. Norms of w are kinetic-energy norms.
///
/// ```
/// carom::ContactProblem<double> problem(0.01);
/// const auto ball = problem.add_body(mass * Eigen::Matrix3d::Identity(), free_velocity);
/// problem.add_contact(ball, Eigen::Matrix3d::Identity(), {.gap = 0, .stiffness = 1e5});
/// ```
/// @note  Cold: add_ functions may allocate and throw std::invalid_argument, naming the item; a
///        refused item leaves the problem as it was. After reset() the memory is kept, so that a
///        problem no larger than an earlier one is built without allocation.
template <RealScalar Scalar>
class ContactProblem {
 public:
  using scalar_type = Scalar;
  using MatrixMap = Eigen::Map<const MatrixX<Scalar>>;
  using VectorMap = Eigen::Map<const VectorX<Scalar>>;
  /// Jacobian of one contact with respect to one body, transposed: size × 3, columns (t₁, t₂, n).
  using JacobianMap = Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, 3>>;

  /// @param time_step  δt [s], > 0.
  explicit ContactProblem(Scalar time_step) { reset(time_step); }

  /// Forgets all bodies and contacts, keeps their memory.
  void reset(Scalar time_step) {
    detail::reject_if(detail::is_positive(time_step)
                          ? Fault{}
                          : detail::fault("time step", "a finite number > 0", time_step));
    time_step_ = time_step;
    bodies_.clear();
    contacts_.clear();
    constraints_.clear();
    const auto body_arrays = {&free_velocity_, &whitened_free_velocity_, &momentum_, &factor_,
                              &jacobian_,      &whitened_jacobian_};
    for (auto* values : body_arrays) values->clear();
    laws_.clear();
  }

  /// Adds a body.
  /// @param momentum_matrix  A [kg, kg·m²], n×n, symmetric positive definite.
  /// @param free_velocity    v* [m/s, rad/s], n: the step's outcome if nothing touched.
  /// @return  index of the body.
  template <typename MatrixType, typename VectorType>
  Index add_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                 const Eigen::MatrixBase<VectorType>& free_velocity);

  /// What add_body would object to, or nothing. Does not change the problem.
  template <typename MatrixType, typename VectorType>
  [[nodiscard]] Fault check_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                                 const Eigen::MatrixBase<VectorType>& free_velocity) const {
    const std::string item = "body " + std::to_string(body_count());
    Fault entries = detail::body_fault(item, momentum_matrix, free_velocity);
    if (!entries.empty()) return entries;
    MatrixX<Scalar> lower = (momentum_matrix + momentum_matrix.transpose()) / Scalar(2);
    const bool definite = factor_cholesky(lower.data(), lower.rows(), lower.rows());
    return definite ? Fault{} : detail::indefinite_fault(item);
  }

  /// Adds a contact of one body with the immobile world.
  /// @param jacobian  J [-, m], 3×n, rows (t₁, t₂, n).
  /// @param law       CompliantContact, RigidContact, HuntCrossleyContact or WeightedContact.
  /// @return  index of the contact.
  template <typename MatrixType, typename Law = CompliantContact<Scalar>>
  Index add_contact(Index body, const Eigen::MatrixBase<MatrixType>& jacobian, const Law& law) {
    detail::reject_if(check_contact(body, jacobian, law));
    append_contact({body, -1});
    append_side(0, body, jacobian);
    laws_.append(weighted(law, delassus(body, jacobian)));
    return contact_count() - 1;
  }

  /// Adds a contact between two bodies, each with its own Jacobian block.
  template <typename FirstType, typename SecondType, typename Law = CompliantContact<Scalar>>
  Index add_contact(Index first_body, const Eigen::MatrixBase<FirstType>& first_jacobian,
                    Index second_body, const Eigen::MatrixBase<SecondType>& second_jacobian,
                    const Law& law) {
    detail::reject_if(check_contact(first_body, first_jacobian, second_body, second_jacobian, law));
    append_contact({first_body, second_body});
    append_side(0, first_body, first_jacobian);
    append_side(1, second_body, second_jacobian);
    laws_.append(weighted(
        law, delassus(first_body, first_jacobian) + delassus(second_body, second_jacobian)));
    return contact_count() - 1;
  }

  /// What add_contact would object to, or nothing. Does not change the problem.
  template <typename MatrixType, typename Law = CompliantContact<Scalar>>
  [[nodiscard]] Fault check_contact(Index body, const Eigen::MatrixBase<MatrixType>& jacobian,
                                    const Law& law) const;
  template <typename FirstType, typename SecondType, typename Law = CompliantContact<Scalar>>
  [[nodiscard]] Fault check_contact(Index first_body,
                                    const Eigen::MatrixBase<FirstType>& first_jacobian,
                                    Index second_body,
                                    const Eigen::MatrixBase<SecondType>& second_jacobian,
                                    const Law& law) const;

  /// Gives a contact another law, μ ≥ 0 and R > 0. Real-time safe: no allocation, no exception.
  void set_law(Index contact, const WeightedContact<Scalar>& law) noexcept {
    laws_.set(contact, law);
  }
  /// Makes every contact rigid; μ, R and v̂ stay, constraints too. Real-time safe as set_law().
  void make_rigid() noexcept { laws_.make_rigid(); }
  /// Replaces the law of a constraint by one of as many rows. Real-time safe; it is not checked.
  void set_constraint_law(Index constraint, const WeightedConstraint<Scalar>& law) noexcept {
    constraints_.set_law(constraint, law);
  }
  /// Adds a constraint that is not a contact: (body, J, law), or (body, J, other body, its J, law).
  /// @return  index of the constraint.  See ConstraintList::add.
  Index add_constraint(Index body, const auto&... arguments) {
    return constraints_.add(*this, body, arguments...);
  }
  /// What add_constraint would object to, or nothing. Does not change the problem.
  [[nodiscard]] Fault check_constraint(Index body, const auto&... arguments) const {
    return constraints_.check(*this, body, arguments...);
  }
  [[nodiscard]] const ConstraintList<Scalar>& constraints() const noexcept { return constraints_; }
  /// Length of the stacked impulses: contacts' triples, then the constraints' rows.
  [[nodiscard]] Index impulse_count() const noexcept {
    return 3 * contact_count() + constraints_.row_count();
  }

  [[nodiscard]] Scalar time_step() const noexcept { return time_step_; }
  [[nodiscard]] Index body_count() const noexcept { return Index(bodies_.size()); }
  [[nodiscard]] Index contact_count() const noexcept { return Index(contacts_.size()); }
  /// Length of the stacked velocity, n_v.
  [[nodiscard]] Index velocity_count() const noexcept { return Index(free_velocity_.size()); }

  /// v*, stacked over the bodies.
  [[nodiscard]] VectorMap free_velocity() const noexcept {
    return {free_velocity_.data(), velocity_count()};
  }
  /// w* = Lᵀ v*.
  [[nodiscard]] VectorMap whitened_free_velocity() const noexcept {
    return {whitened_free_velocity_.data(), velocity_count()};
  }
  [[nodiscard]] BodyRange body(Index body) const noexcept { return bodies_[at(body)].range; }
  /// A of one body.
  [[nodiscard]] MatrixMap momentum_matrix(Index body) const noexcept {
    return body_matrix(momentum_, body);
  }
  /// L of one body; only its lower triangle has meaning.
  [[nodiscard]] MatrixMap momentum_factor(Index body) const noexcept {
    return body_matrix(factor_, body);
  }

  /// Bodies a contact joins: 1 or 2.
  [[nodiscard]] int side_count(Index contact) const noexcept {
    return contacts_[at(contact)].bodies[1] < 0 ? 1 : 2;
  }
  /// Body on one side of a contact.
  [[nodiscard]] Index side_body(Index contact, int side) const noexcept {
    return contacts_[at(contact)].bodies[std::size_t(side)];
  }
  /// Jᵀ of one side.
  [[nodiscard]] JacobianMap jacobian(Index contact, int side) const noexcept {
    return side_jacobian(jacobian_, contact, side);
  }
  /// Ĵᵀ = L⁻¹ Jᵀ of one side.
  [[nodiscard]] JacobianMap whitened_jacobian(Index contact, int side) const noexcept {
    return side_jacobian(whitened_jacobian_, contact, side);
  }

  [[nodiscard]] FrictionCone<Scalar> cone(Index contact) const noexcept {
    return {laws_.law(contact).friction};
  }
  /// R of one contact, for solvers that need one: of a rigid contact a stand-in for none.
  [[nodiscard]] ContactWeights<Scalar> regularization(Index contact) const noexcept {
    return laws_.law(contact).regularization;
  }
  /// R of one contact for solvers that can do without: zero where the contact is rigid.
  [[nodiscard]] ContactWeights<Scalar> own_regularization(Index contact) const noexcept {
    return is_rigid(contact) ? ContactWeights<Scalar>{0, 0} : regularization(contact);
  }
  /// Whether a contact does not give way, and how many do not.
  [[nodiscard]] bool is_rigid(Index contact) const noexcept { return laws_.law(contact).rigid; }
  [[nodiscard]] Index rigid_count() const noexcept { return laws_.rigid_count(); }
  /// v̂ of one contact.
  [[nodiscard]] Vector3<Scalar> bias_velocity(Index contact) const noexcept {
    return laws_.law(contact).bias_velocity;
  }
  /// All of that of one contact, as set_law() takes it.
  [[nodiscard]] WeightedContact<Scalar> law(Index contact) const noexcept {
    return laws_.law(contact);
  }

  /// Contact parameters as arrays over the contacts, for batches.
  [[nodiscard]] PerContact<Scalar> frictions() const noexcept { return laws_.frictions(); }
  [[nodiscard]] PerContact<Scalar> tangent_regularizations() const noexcept {
    return laws_.tangent_regularizations();
  }
  [[nodiscard]] PerContact<Scalar> normal_regularizations() const noexcept {
    return laws_.normal_regularizations();
  }
  [[nodiscard]] TripleArrays<const Scalar> bias_velocities() const noexcept {
    return laws_.bias_velocities();
  }

  /// w = Lᵀ v of n_v numbers, in place.
  void whiten(Scalar* velocity) const noexcept {
    for (const Body& b : bodies_) {
      multiply_lower_transposed(factor_.data() + b.matrix, b.range.size, b.range.size,
                                velocity + b.range.start);
    }
  }
  /// v = L⁻ᵀ w of n_v numbers, in place.
  void unwhiten(Scalar* whitened) const noexcept {
    for (const Body& b : bodies_) {
      solve_lower_transposed(factor_.data() + b.matrix, b.range.size, b.range.size,
                             whitened + b.range.start);
    }
  }
  /// p ← L⁻¹ p of n_v numbers, in place: ‖p‖_{A⁻¹} of a momentum is the norm of the result.
  void whiten_momentum(Scalar* momentum) const noexcept {
    for (const Body& b : bodies_) {
      solve_lower(factor_.data() + b.matrix, b.range.size, b.range.size, momentum + b.range.start);
    }
  }

 private:
  struct Body {
    BodyRange range;
    Index matrix;  ///< where its matrices start
  };
  struct Contact {
    std::array<Index, 2> bodies;     ///< second −1 for a contact with the world
    std::array<Index, 2> jacobians;  ///< where the Jacobian blocks start
  };

  using Delassus = SquareMatrix<Scalar, 3>;
  [[nodiscard]] static std::size_t at(Index i) noexcept { return std::size_t(i); }
  [[nodiscard]] MatrixMap body_matrix(const std::vector<Scalar>& matrices,
                                      Index body) const noexcept {
    const Body& b = bodies_[at(body)];
    return {matrices.data() + b.matrix, b.range.size, b.range.size};
  }
  [[nodiscard]] JacobianMap side_jacobian(const std::vector<Scalar>& blocks, Index contact,
                                          int side) const noexcept {
    const Contact& c = contacts_[at(contact)];
    const std::size_t s = std::size_t(side);
    return {blocks.data() + c.jacobians[s], bodies_[at(c.bodies[s])].range.size, 3};
  }

  void append_contact(std::array<Index, 2> bodies) {
    contacts_.push_back({bodies, {Index(jacobian_.size()), Index(jacobian_.size())}});
  }
  template <typename MatrixType>
  void append_side(int side, Index body, const Eigen::MatrixBase<MatrixType>& jacobian);
  template <typename MatrixType>
  [[nodiscard]] Delassus delassus(Index body,
                                  const Eigen::MatrixBase<MatrixType>& jacobian) const noexcept {
    return detail::diagonal_delassus(momentum_matrix(body), jacobian);
  }
  template <typename Law>
  [[nodiscard]] WeightedContact<Scalar> weighted(const Law& law,
                                                 const Delassus& block) const noexcept {
    return make_weighted(law, time_step_, Scalar(block.norm() / 3));
  }
  /// What is wrong with a law, or with the numbers it leads to.
  template <typename Law>
  [[nodiscard]] Fault law_fault(const std::string& item, const Law& law,
                                const Delassus& block) const {
    using detail::law_fault;
    if (Fault given = law_fault(item, law); !given.empty()) return given;
    return law_fault(item, weighted(law, block));
  }
  template <typename MatrixType>
  [[nodiscard]] Fault side_fault(const std::string& item, Index body,
                                 const Eigen::MatrixBase<MatrixType>& jacobian) const;

  Scalar time_step_ = 0;
  std::vector<Body> bodies_;
  std::vector<Contact> contacts_;
  ConstraintList<Scalar> constraints_;
  std::vector<Scalar> free_velocity_, whitened_free_velocity_;
  std::vector<Scalar> momentum_, factor_;
  std::vector<Scalar> jacobian_, whitened_jacobian_;
  detail::ContactLaws<Scalar> laws_;
};

// --- implementation ---

template <RealScalar Scalar>
template <typename MatrixType, typename VectorType>
Index ContactProblem<Scalar>::add_body(const Eigen::MatrixBase<MatrixType>& momentum_matrix,
                                       const Eigen::MatrixBase<VectorType>& free_velocity) {
  const std::string item = "body " + std::to_string(body_count());
  detail::reject_if(detail::body_fault(item, momentum_matrix, free_velocity));
  const Index size = momentum_matrix.rows();
  const std::size_t matrix = momentum_.size();
  const std::size_t start = free_velocity_.size();
  momentum_.resize(matrix + at(size * size));
  factor_.resize(momentum_.size());
  Eigen::Map<MatrixX<Scalar>> kept(momentum_.data() + matrix, size, size);
  for (Index k = 0; k < size * size; ++k) {
    const Index r = k % size, c = k / size;
    kept(r, c) = (momentum_matrix(r, c) + momentum_matrix(c, r)) / 2;
  }
  Scalar* const lower = factor_.data() + matrix;
  Eigen::Map<MatrixX<Scalar>>(lower, size, size) = kept;
  if (!factor_cholesky(lower, size, size)) {
    momentum_.resize(matrix);
    factor_.resize(matrix);
    detail::reject_if(detail::indefinite_fault(item));
  }
  free_velocity_.resize(start + at(size));
  for (Index i = 0; i < size; ++i) free_velocity_[start + at(i)] = free_velocity(i);
  whitened_free_velocity_.resize(free_velocity_.size());
  for (Index i = 0; i < size; ++i) whitened_free_velocity_[start + at(i)] = free_velocity(i);
  multiply_lower_transposed(lower, size, size, whitened_free_velocity_.data() + start);
  bodies_.push_back({{Index(start), size}, Index(matrix)});
  return body_count() - 1;
}

template <RealScalar Scalar>
template <typename MatrixType>
Fault ContactProblem<Scalar>::side_fault(const std::string& item, Index body,
                                         const Eigen::MatrixBase<MatrixType>& jacobian) const {
  Fault index = detail::body_index_fault(item, body, body_count());
  return index.empty() ? detail::jacobian_fault(item, this->body(body).size, jacobian) : index;
}

template <RealScalar Scalar>
template <typename MatrixType, typename Law>
Fault ContactProblem<Scalar>::check_contact(Index body,
                                            const Eigen::MatrixBase<MatrixType>& jacobian,
                                            const Law& law) const {
  const std::string item = "contact " + std::to_string(contact_count());
  if (Fault side = side_fault(item, body, jacobian); !side.empty()) return side;
  if (jacobian.isZero(Scalar(0))) return detail::zero_jacobian_fault(item);
  return law_fault(item, law, delassus(body, jacobian));
}

template <RealScalar Scalar>
template <typename FirstType, typename SecondType, typename Law>
Fault ContactProblem<Scalar>::check_contact(Index first_body,
                                            const Eigen::MatrixBase<FirstType>& first_jacobian,
                                            Index second_body,
                                            const Eigen::MatrixBase<SecondType>& second_jacobian,
                                            const Law& law) const {
  const std::string item = "contact " + std::to_string(contact_count());
  if (Fault side = side_fault(item, first_body, first_jacobian); !side.empty()) return side;
  if (Fault side = side_fault(item, second_body, second_jacobian); !side.empty()) return side;
  if (first_body == second_body) {
    return detail::fault(item + ": second body", "a body other than the first", second_body);
  }
  const bool zero = first_jacobian.isZero(Scalar(0)) && second_jacobian.isZero(Scalar(0));
  if (zero) return detail::zero_jacobian_fault(item);
  return law_fault(item, law,
                   delassus(first_body, first_jacobian) + delassus(second_body, second_jacobian));
}

template <RealScalar Scalar>
template <typename MatrixType>
void ContactProblem<Scalar>::append_side(int side, Index body,
                                         const Eigen::MatrixBase<MatrixType>& jacobian) {
  const Body& b = bodies_[at(body)];
  const std::size_t start = jacobian_.size();
  contacts_.back().jacobians[std::size_t(side)] = Index(start);
  jacobian_.resize(start + at(3 * b.range.size));
  whitened_jacobian_.resize(jacobian_.size());
  using Block = Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, 3>>;
  Block(jacobian_.data() + start, b.range.size, 3) = jacobian.transpose();
  Block(whitened_jacobian_.data() + start, b.range.size, 3) = jacobian.transpose();
  solve_lower(factor_.data() + b.matrix, b.range.size, b.range.size,
              whitened_jacobian_.data() + start, 3);
}

}  // namespace carom::inline CAROM_ABI
