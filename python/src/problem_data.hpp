// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "carom/compiled.hpp"
#include "carom/contact/bilateral.hpp"
#include "carom/contact/joint_constraints.hpp"
#include "carom/contact/rigid_contact.hpp"
#include "carom/contact/wrench_contact.hpp"

#include "arrays.hpp"

namespace carom::python {

/// What a contact was added with: enough to add it again with other numbers, and for gradients to
/// reach the physical ones.
struct ContactData {
  CompliantContact<double> law;
  std::optional<Vector3<double>> regularization;  ///< R [1/kg] in place of the one of the law.
  std::optional<Vector3<double>> bias;            ///< v̂ [m/s] in place of the one of the law.
  bool rigid = false;
  bool rigid_named = false;  ///< Whether it was asked to be rigid, and is not so by default.
  /// As in RigidContact, of a rigid contact. An approach that was not given follows from the
  /// bodies' velocities.
  double restitution = 0, approach = 0;
  bool restitution_given = false, approach_given = false;
};

using BlockLaw =
    std::variant<ContactData, JointLimit<double>, DryFriction<double>, Motor<double>,
                 Tendon<double>, Bilateral<double>, WrenchContact<double>, WeightedBlock<double>>;

/// Bodies and Jacobians of a block, in memory that lives as long as a call.
template <typename Matrix>
struct BlockSides {
  Index body;
  Matrix jacobian;
  std::optional<Index> other;
  std::optional<Matrix> other_jacobian;
};

/// A matrix whose rows stand one after the other.
[[nodiscard]] GivenMatrix rows_in_order(const double* numbers, Index rows, Index columns);
/// The sides of a block.
/// @param given  Jacobians in place of its own, in C order; null: its own.
[[nodiscard]] BlockSides<GivenMatrix> sides_of(const ContactProblem<double>& problem, Index block,
                                               const double* const (&given)[2]);

/// What takes the place of the numbers of a contact.
struct ContactReplacement {
  ContactData data;
  /// J of its sides, 3 × size of the body in C order; null: that which it has.
  const double* jacobians[2] = {nullptr, nullptr};
};

/// What presses the bodies of a contact together, as add_contact() finds it.
[[nodiscard]] Pressing<double> find_pressing(const ContactProblem<double>& problem, Index block);

/// A contact problem with what its blocks were added with. Contacts and constraints, which are one
/// sequence in the library, have numbers of their own here, and so in messages.
class ProblemData {
 public:
  explicit ProblemData(double time_step) : problem_(time_step) {}
  /// A problem out of a file, which holds R and v̂ alone.
  explicit ProblemData(ContactProblem<double> problem);

  [[nodiscard]] const ContactProblem<double>& problem() const noexcept { return problem_; }
  [[nodiscard]] const BlockLaw& law(Index block) const { return laws_[std::size_t(block)]; }
  /// Blocks that are contacts, and those that are not.
  [[nodiscard]] const std::vector<Index>& contacts() const noexcept { return contacts_; }
  [[nodiscard]] const std::vector<Index>& constraints() const noexcept { return constraints_; }
  [[nodiscard]] Index contact_count() const noexcept { return Index(contacts_.size()); }
  [[nodiscard]] Index constraint_count() const noexcept { return Index(constraints_.size()); }
  /// "contact 17", the name that the next contact has in messages.
  [[nodiscard]] std::string next_contact() const {
    return "contact " + std::to_string(contact_count());
  }
  [[nodiscard]] std::string next_constraint() const {
    return "constraint " + std::to_string(constraint_count());
  }

  void reset(double time_step);
  template <typename Matrix, typename... Vectors>
  Index add_body(const Matrix& mass, const Vectors&... velocities) {
    return problem_.add_body(mass, velocities...);
  }
  /// Adds a contact.
  /// @return  its number among the contacts.
  template <typename Matrix>
  Index add_contact(const BlockSides<Matrix>& sides, const ContactData& data);
  /// Adds any other block.
  /// @return  its number among the constraints.
  template <typename Matrix>
  Index add_constraint(const BlockSides<Matrix>& sides, const BlockLaw& law);
  /// Takes away all bodies and blocks but the first, as if they had not been added.
  void keep_first(Index body_count, Index block_count);

  /// Centre of mass of a rigid body [m]; not finite where it is not known.
  [[nodiscard]] Vector3<double> centre(Index body) const;
  void set_centre(Index body, const Vector3<double>& centre);

  /// Takes every contact as rigid, as if it had been added so: those of three rows and those that
  /// resist more.
  void make_rigid();
  /// Whether make_rigid() would change anything.
  [[nodiscard]] bool has_soft_contact() const noexcept;

  /// Gives all bodies another free velocity, without allocation.
  /// @param numbers  v* [m/s, rad/s], n_v.
  /// @return  whether add_body() would take them; where not, nothing changes.
  [[nodiscard]] bool replace_free_velocity(const double* numbers);
  /// Gives a contact other numbers, those that add_contact() would give it, without allocation.
  /// @return  whether add_contact() would take them; where not, the contact is of no use until it
  ///          is given others.
  [[nodiscard]] bool replace_contact(Index contact, const ContactReplacement& given);

  /// A first guess of the velocity that came with a file, or nothing [m/s, rad/s].
  VectorX<double> guess;

 private:
  /// w by which R of a contact is scaled [1/kg].
  [[nodiscard]] double inverse_mass(Index block) const;
  /// Gives a contact that bounces its approach, where it was not given.
  void find_approach(Index block, ContactData& data) const;
  /// Writes what presses the bodies of a contact together.
  void find_pressing(Index block, CompliantContact<double>& law) const {
    law.pressing = carom::python::find_pressing(problem_, block);
  }

  ContactProblem<double> problem_;
  std::vector<BlockLaw> laws_;
  std::vector<Index> contacts_, constraints_;
  std::vector<Vector3<double>> centres_;  ///< Of the first bodies, up to the last that has one [m].
};

}  // namespace carom::python
