// SPDX-License-Identifier: BSD-3-Clause
#include "batch_pattern.hpp"

#include <algorithm>
#include <optional>

#include "arrays.hpp"

namespace carom::python {
namespace {

bool any_given(const std::vector<PerProblem>& items) {
  return std::any_of(items.begin(), items.end(), [](const auto& one) { return one.is_given(); });
}

/// Puts numbers of one problem in the place of those of a contact.
void replace(const Replacements& given, Index problem, Index contact, ContactData& data) {
  const auto put = [&](const PerProblem& numbers, double& out) {
    if (numbers.is_given()) out = numbers.of(problem)[contact];
  };
  const auto put_triple = [&](const PerProblem& numbers, std::optional<Vector3<double>>& out) {
    if (numbers.is_given())
      out = Eigen::Map<const Vector3<double>>(numbers.of(problem) + 3 * contact);
  };
  put(given.friction, data.law.friction);
  put(given.gap, data.law.gap);
  put(given.stiffness, data.law.stiffness);
  put(given.dissipation_time, data.law.dissipation_time);
  put_triple(given.regularization, data.regularization);
  put_triple(given.bias, data.bias);
  // What is given a way to give way does so.
  if (given.stiffness.is_given()) {
    data.law.compliance = Compliance::stiffness;
    data.rigid = detail::is_unyielding(data.law);
  }
  if (given.regularization.is_given()) {
    const CompliantContact<double> plain;
    data.law.stiffness = plain.stiffness;
    data.law.near_rigid = plain.near_rigid;
    data.law.compliance = Compliance::step;
    data.rigid = false;
  }
}

/// Refuses numbers that could not act on a contact of the pattern.
void check_replacements(const Replacements& given, Index contact, const ContactData& data) {
  const std::string item = "contact " + std::to_string(contact) + ": ";
  const auto none = [&](const char* option, bool idle, const char* why) {
    if (idle) refuse(item + option, std::string("none, as ") + why, "one");
  };
  const bool stiffness = given.stiffness.is_given(), bias = given.bias.is_given();
  const bool weights = given.regularization.is_given();
  const char* const soft = weights ? "regularization" : "stiffness";
  const bool softens = (stiffness || weights) && data.rigid;
  none("stiffness", stiffness && (weights || data.regularization),
       "the contact has a regularization in place of what follows from it");
  none(soft, softens && data.rigid_named, "the contact is rigid");
  none(soft, softens && (data.restitution_given || data.law.correction != usual_overlap_share),
       "restitution and correction are those of a rigid contact");
  const bool weighted = weights || data.regularization, biased = bias || data.bias;
  none("gap", given.gap.is_given() && biased, "bias is in place of what follows from it");
  none("bias", bias && data.restitution_given, "the contact has a restitution");
  if (!given.dissipation_time.is_given()) return;
  none("dissipation time", data.rigid && !softens, "nothing of a rigid contact gives way");
  none("dissipation time", weighted && biased,
       "regularization and bias are in place of what follows from it");
}

void add_bodies(const ContactProblem<double>& problem, const Replacements& given, Index i,
                ProblemData& made) {
  const double* const velocity =
      given.free_velocity.is_given() ? given.free_velocity.of(i) : problem.free_velocity().data();
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    const double* const mass = given.mass[std::size_t(b)].find(i);
    const auto matrix =
        rows_in_order(mass != nullptr ? mass : problem.momentum_matrix(b).data(), size, size);
    const Eigen::Map<const VectorX<double>> free(velocity + start, size);
    if (problem.has_velocity_now(b)) {
      made.add_body(matrix, free, problem.velocity_now(b));
    } else {
      made.add_body(matrix, free);
    }
  }
}

}  // namespace

bool Replacements::has_mass() const noexcept {
  return any_given(mass);
}
bool Replacements::has_contacts() const noexcept {
  return friction.is_given() || gap.is_given() || stiffness.is_given() ||
         dissipation_time.is_given() || regularization.is_given() || bias.is_given() ||
         any_given(jacobian) || any_given(other_jacobian);
}

ProblemShape::ProblemShape(const ProblemData& data)
    : velocities(data.problem().velocity_count()), contacts(data.contact_count()) {
  const ContactProblem<double>& problem = data.problem();
  for (Index b = 0; b < problem.body_count(); ++b) {
    mass.emplace_back(problem.body(b).size, problem.body(b).size);
  }
  for (const Index block : data.contacts()) {
    jacobian.emplace_back(3, problem.body(problem.side_body(block, 0)).size);
    const bool two = problem.side_count(block) == 2;
    other_jacobian.emplace_back(3, two ? problem.body(problem.side_body(block, 1)).size : 0);
  }
}

void build_alike(const ProblemData& pattern, const Replacements& given, Index i,
                 ProblemData& made) {
  const ContactProblem<double>& problem = pattern.problem();
  made.reset(problem.time_step());
  add_bodies(problem, given, i, made);
  Index contact = 0;
  for (Index block = 0; block < problem.block_count(); ++block) {
    const auto* const data = std::get_if<ContactData>(&pattern.law(block));
    if (data == nullptr) {
      made.add_constraint(sides_of(problem, block, {nullptr, nullptr}), pattern.law(block));
      continue;
    }
    const auto k = std::size_t(contact);
    ContactData changed = *data;
    check_replacements(given, contact, changed);
    replace(given, i, contact, changed);
    made.add_contact(
        sides_of(problem, block, {given.jacobian[k].find(i), given.other_jacobian[k].find(i)}),
        changed);
    ++contact;
  }
  made.guess = pattern.guess;
}

bool replace_alike(const ProblemData& pattern, const Replacements& given, Index i,
                   ProblemData& made) {
  if (given.has_mass()) return false;
  if (given.free_velocity.is_given() && !made.replace_free_velocity(given.free_velocity.of(i))) {
    return false;
  }
  if (!given.has_contacts()) return true;
  ContactReplacement other;
  for (Index contact = 0; contact < pattern.contact_count(); ++contact) {
    const Index block = pattern.contacts()[std::size_t(contact)];
    other.data = std::get<ContactData>(pattern.law(block));
    replace(given, i, contact, other.data);
    other.jacobians[0] = given.jacobian[std::size_t(contact)].find(i);
    other.jacobians[1] = given.other_jacobian[std::size_t(contact)].find(i);
    if (!made.replace_contact(contact, other)) return false;
  }
  return true;
}

}  // namespace carom::python
