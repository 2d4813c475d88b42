// SPDX-License-Identifier: BSD-3-Clause
#include "problem_data.hpp"

#include <stdexcept>
#include <type_traits>
#include <utility>

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

void check_given(const std::string& item, const ContactData& data) {
  if (data.regularization && data.regularization->x() != data.regularization->y()) {
    detail::reject_if(detail::fault(detail::entry(item + ": regularization", 1),
                                    "the same as the entry before", data.regularization->y()));
  }
  WeightedContact<double> probe{0, {1, 1}, Vector3<double>::Zero()};
  detail::reject_if(law_fault(item, with_given(probe, data)));
}

}  // namespace

ProblemData::ProblemData(ContactProblem<double> problem) : problem_(std::move(problem)) {
  for (Index i = 0; i < problem_.block_count(); ++i) {
    if (problem_.is_friction_contact(i)) {
      const WeightedContact<double>& law = problem_.friction_contact_law(i);
      ContactData data;
      data.law.stiffness = std::numeric_limits<double>::infinity();
      data.law.friction = law.friction;
      data.regularization = Vector3<double>(law.regularization.tangent, law.regularization.tangent,
                                            law.regularization.normal);
      data.bias = law.bias_velocity;
      data.rigid = law.rigid;
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
  guess.resize(0);
}

template <typename Matrix>
Index ProblemData::add_contact(const BlockSides<Matrix>& sides, const ContactData& data) {
  const std::string item = next_contact();
  check_given(item, data);
  if (data.rigid) {
    add_block(problem_, true, item, sides,
              RigidContact<double>{.gap = data.law.gap,
                                   .friction = data.law.friction,
                                   .restitution = data.restitution,
                                   .approach = data.approach});
  } else {
    add_block(problem_, true, item, sides, data.law);
  }
  const Index block = problem_.block_count() - 1;
  problem_.set_law(block, with_given(problem_.friction_contact_law(block), data));
  laws_.emplace_back(data);
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

template Index ProblemData::add_contact(const BlockSides<GivenMatrix>&, const ContactData&);
template Index ProblemData::add_constraint(const BlockSides<GivenMatrix>&, const BlockLaw&);

}  // namespace carom::python
