// SPDX-License-Identifier: BSD-3-Clause
#include "problem_data.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "carom/contact/detail/block_reading.hpp"

#include "arrays.hpp"

namespace carom::python {
namespace {

/// Adds a block through either door of the problem, with the number that it has in Python in the
/// messages.
template <typename Matrix, typename Law>
void add_block(ContactProblem<double>& problem, bool contact, const std::string& item,
               const BlockSides<Matrix>& sides, const Law& law) {
  try {
    const auto add = [&](const auto&... given) {
      contact ? problem.add_contact(given..., law) : problem.add_constraint(given..., law);
    };
    if (sides.other) {
      add(sides.body, sides.jacobian, *sides.other, *sides.other_jacobian);
    } else {
      add(sides.body, sides.jacobian);
    }
  } catch (const std::invalid_argument& fault) {
    const std::string text = fault.what();
    throw std::invalid_argument(item + text.substr(text.find(':')));
  }
}

/// The numbers of a contact with what was given in place of them.
WeightedContact<double> with_given(WeightedContact<double> law, const ContactData& data) {
  if (data.regularization) {
    law.regularization = {data.regularization->x(), data.regularization->z()};
  }
  if (data.bias) law.bias_velocity = *data.bias;
  return law;
}

RigidContact<double> rigid_law(const ContactData& data) {
  RigidContact<double> law{.gap = data.law.gap,
                           .friction = data.law.friction,
                           .correction = data.law.correction,
                           .surface_velocity = data.law.surface_velocity,
                           .pressing = data.law.pressing};
  if (data.restitution_given) law.restitution = data.restitution;
  if (data.approach_given) law.approach = data.approach;
  return law;
}

/// A law with the approach that was found.
RigidContact<double> known(RigidContact<double> law, const ContactData& data) {
  if (law.restitution) law.approach = data.approach;
  return law;
}

/// A law as that of what does not give way.
template <typename Law>
void stiffen(Law& law) {
  const Law plain;
  law.stiffness = plain.stiffness;
  law.compliance = plain.compliance;
  law.dissipation_time = plain.dissipation_time;
  law.near_rigid = plain.near_rigid;
}

/// Whether make_rigid() changes a block.
bool is_soft_contact(const ContactProblem<double>& problem, Index block) {
  return !problem.is_rigid(block) &&
         (problem.is_friction_contact(block) ||
          problem.other_block(block).set().shape != ImpulseShape::intervals);
}

/// Whether the two tangential numbers of a regularization that is given are one.
bool is_isotropic(const ContactData& data) {
  return !data.regularization || data.regularization->x() == data.regularization->y();
}

/// What is wrong with the numbers that are given in place of those of the law; empty where nothing
/// is.
Fault given_fault(const std::string& item, const ContactData& data) {
  const WeightedContact<double> probe{0, {1, 1}, Vector3<double>::Zero()};
  return law_fault(item, with_given(probe, data));
}

/// Whether any number is given in place of those of the law.
bool has_given(const ContactData& data) {
  return data.regularization.has_value() || data.bias.has_value();
}

void check_given(const std::string& item, const ContactData& data) {
  if (!has_given(data)) return;
  if (!is_isotropic(data)) {
    detail::reject_if(detail::fault(detail::entry(item + ": regularization", 1),
                                    "the same as the entry before", data.regularization->y()));
  }
  detail::reject_if(given_fault(item, data));
}

/// The numbers of a contact by a law, or nothing where add_contact() would refuse it.
template <typename Law>
std::optional<WeightedContact<double>> weigh(const Law& law, double time_step,
                                             double inverse_mass) {
  if (!law_fault({}, law).empty()) return {};
  WeightedContact<double> numbers = make_weighted(law, time_step, inverse_mass);
  if (!law_fault({}, numbers).empty()) return {};
  return numbers;
}

}  // namespace

GivenMatrix rows_in_order(const double* numbers, Index rows, Index columns) {
  return {numbers, rows, columns, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(1, columns)};
}

BlockSides<GivenMatrix> sides_of(const ContactProblem<double>& problem, Index block,
                                 const double* const (&given)[2]) {
  const auto jacobian = [&](int side) {
    const auto kept = problem.jacobian(block, side);
    const double* const other = given[side];
    return rows_in_order(other != nullptr ? other : kept.data(), kept.rows(), kept.cols());
  };
  BlockSides<GivenMatrix> sides{problem.side_body(block, 0), jacobian(0), {}, {}};
  if (problem.side_count(block) == 2) {
    sides.other = problem.side_body(block, 1);
    sides.other_jacobian.emplace(jacobian(1));
  }
  return sides;
}

Pressing<double> find_pressing(const ContactProblem<double>& problem, Index block) {
  return detail::find_pressing(problem, detail::sides_of(problem, block));
}

ProblemData::ProblemData(ContactProblem<double> problem) : problem_(std::move(problem)) {
  for (Index i = 0; i < problem_.block_count(); ++i) {
    if (problem_.is_friction_contact(i)) {
      const WeightedContact<double>& law = problem_.friction_contact_law(i);
      ContactData data;
      data.law.compliance = law.rigid ? Compliance::stiffness : Compliance::step;
      data.law.friction = law.friction;
      data.regularization = Vector3<double>(law.regularization.tangent, law.regularization.tangent,
                                            law.regularization.normal);
      data.bias = law.bias_velocity;
      data.rigid = data.rigid_named = law.rigid;
      laws_.emplace_back(data);
      contacts_.push_back(i);
    } else {
      laws_.emplace_back(problem_.law(i));
      constraints_.push_back(i);
    }
  }
}

void ProblemData::reset(double time_step) {
  problem_.reset(time_step);
  laws_.clear();
  contacts_.clear();
  constraints_.clear();
  centres_.clear();
  guess.resize(0);
}

void ProblemData::keep_first(Index body_count, Index block_count) {
  ProblemData kept(problem_.time_step());
  for (Index b = 0; b < body_count; ++b) {
    const auto [start, size] = problem_.body(b);
    const VectorX<double> free = problem_.free_velocity().segment(start, size);
    if (problem_.has_velocity_now(b)) {
      kept.add_body(problem_.momentum_matrix(b), free, problem_.velocity_now(b));
    } else {
      kept.add_body(problem_.momentum_matrix(b), free);
    }
    if (b < Index(centres_.size())) kept.set_centre(b, centres_[std::size_t(b)]);
  }
  for (Index block = 0; block < block_count; ++block) {
    const BlockSides<GivenMatrix> sides = sides_of(problem_, block, {nullptr, nullptr});
    if (const auto* const contact = std::get_if<ContactData>(&law(block))) {
      kept.add_contact(sides, *contact);
    } else {
      kept.add_constraint(sides, law(block));
    }
  }
  kept.guess = guess;
  *this = std::move(kept);
}

Vector3<double> ProblemData::centre(Index body) const {
  const bool known = body >= 0 && body < Index(centres_.size());
  return known ? centres_[std::size_t(body)]
               : Vector3<double>::Constant(std::numeric_limits<double>::quiet_NaN());
}

void ProblemData::set_centre(Index body, const Vector3<double>& centre) {
  const Vector3<double> unknown =
      Vector3<double>::Constant(std::numeric_limits<double>::quiet_NaN());
  if (body >= Index(centres_.size())) centres_.resize(std::size_t(body) + 1, unknown);
  centres_[std::size_t(body)] = centre;
}

template <typename Matrix>
Index ProblemData::add_contact(const BlockSides<Matrix>& sides, const ContactData& data) {
  const std::string item = next_contact();
  check_given(item, data);
  if (data.rigid) {
    add_block(problem_, true, item, sides, rigid_law(data));
  } else {
    add_block(problem_, true, item, sides, data.law);
  }
  const Index block = problem_.block_count() - 1;
  if (has_given(data)) {
    problem_.set_law(block, with_given(problem_.friction_contact_law(block), data));
  }
  ContactData kept = data;
  find_approach(block, kept);
  find_pressing(block, kept.law);
  laws_.emplace_back(kept);
  contacts_.push_back(block);
  return contact_count() - 1;
}

template <typename Matrix>
Index ProblemData::add_constraint(const BlockSides<Matrix>& sides, const BlockLaw& law) {
  const std::string item = next_constraint();
  std::visit(
      [&](const auto& one) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(one)>, ContactData>) {
          add_block(problem_, false, item, sides, one);
        }
      },
      law);
  laws_.emplace_back(law);
  constraints_.push_back(problem_.block_count() - 1);
  return constraint_count() - 1;
}

double ProblemData::inverse_mass(Index block) const {
  return detail::contact_inverse_mass(detail::sides_of(problem_, block));
}

void ProblemData::find_approach(Index block, ContactData& data) const {
  if (!data.restitution_given || data.approach_given) return;
  const auto sides = detail::sides_of(problem_, block);
  if (!detail::knows_velocities(problem_, sides)) return;
  data.approach = detail::find_approach(problem_, sides, data.law.surface_velocity);
}

bool ProblemData::has_soft_contact() const noexcept {
  for (Index i = 0; i < problem_.block_count(); ++i) {
    if (is_soft_contact(problem_, i)) return true;
  }
  return false;
}

void ProblemData::make_rigid() {
  for (Index i = 0; i < problem_.block_count(); ++i) {
    if (!is_soft_contact(problem_, i)) continue;
    BlockLaw& law = laws_[std::size_t(i)];
    if (auto* const contact = std::get_if<ContactData>(&law)) {
      stiffen(contact->law);
      contact->rigid = true;
      find_pressing(i, contact->law);
      const auto numbers =
          make_weighted(rigid_law(*contact), problem_.time_step(), inverse_mass(i));
      problem_.set_law(i, with_given(numbers, *contact));
    } else if (auto* const wrench = std::get_if<WrenchContact<double>>(&law)) {
      stiffen(wrench->contact);
      wrench->contact.relative_slip = CompliantContact<double>().relative_slip;
      find_pressing(i, wrench->contact);
      const auto diagonal = detail::own_inverse_masses(detail::sides_of(problem_, i));
      problem_.set_law(i, make_weighted(*wrench, problem_.time_step(), diagonal));
    } else {
      WeightedBlock<double> numbers = problem_.law(i);
      numbers.rigid = true;
      problem_.set_law(i, numbers);
      if (auto* const block = std::get_if<WeightedBlock<double>>(&law)) block->rigid = true;
    }
  }
}

bool ProblemData::replace_free_velocity(const double* numbers) {
  const Eigen::Map<const VectorX<double>> velocity(numbers, problem_.velocity_count());
  if (!velocity.allFinite()) return false;
  problem_.set_free_velocity({numbers, std::size_t(velocity.size())});
  return true;
}

bool ProblemData::replace_contact(Index contact, const ContactReplacement& given) {
  const Index block = contacts_[std::size_t(contact)];
  for (int side = 0; side < problem_.side_count(block); ++side) {
    if (const double* const numbers = given.jacobians[side]) {
      const Index size = problem_.body(problem_.side_body(block, side)).size;
      const Eigen::Map<const MatrixX<double>> columns(numbers, size, 3);
      if (!columns.allFinite()) return false;
      problem_.set_jacobian(block, side, columns.transpose());
    }
  }
  ContactData data = given.data;
  find_approach(block, data);
  find_pressing(block, data.law);
  if (!is_isotropic(data) || !given_fault({}, data).empty()) return false;
  const double mass = inverse_mass(block), time_step = problem_.time_step();
  const std::optional<WeightedContact<double>> numbers =
      data.rigid ? weigh(known(rigid_law(data), data), time_step, mass)
                 : weigh(data.law, time_step, mass);
  if (!numbers) return false;
  problem_.set_law(block, with_given(*numbers, data));
  std::get<ContactData>(laws_[std::size_t(block)]) = data;
  return true;
}

template Index ProblemData::add_contact(const BlockSides<GivenMatrix>&, const ContactData&);
template Index ProblemData::add_contact(const BlockSides<GivenBodyRows>&, const ContactData&);
template Index ProblemData::add_constraint(const BlockSides<GivenMatrix>&, const BlockLaw&);

}  // namespace carom::python
