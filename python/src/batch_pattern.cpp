// SPDX-License-Identifier: BSD-3-Clause
#include "batch_pattern.hpp"

#include <stdexcept>
#include <string>

#include "arrays.hpp"

namespace carom::python {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void replace(const Replacements& given, Index problem, Index contact, ContactData& data) {
  if (given.friction.is_given()) data.law.friction = given.friction.of(problem)(contact);
  if (given.gap.is_given()) data.law.gap = given.gap.of(problem)(contact);
  if (given.stiffness.is_given()) data.law.stiffness = given.stiffness.of(problem)(contact);
  if (given.dissipation_time.is_given()) {
    data.law.dissipation_time = given.dissipation_time.of(problem)(contact);
  }
  if (given.regularization.is_given()) {
    data.regularization = Vector3<double>(given.regularization.of(problem).segment<3>(3 * contact));
  }
  if (given.bias.is_given()) {
    data.bias = Vector3<double>(given.bias.of(problem).segment<3>(3 * contact));
  }
}

/// The pattern with other numbers.
std::shared_ptr<const ProblemData> rebuild(const ProblemData& pattern, const Replacements& given,
                                           Index i) {
  const ContactProblem<double>& problem = pattern.problem();
  auto made = std::make_shared<ProblemData>(problem.time_step());
  for (Index b = 0; b < problem.body_count(); ++b) {
    const auto [start, size] = problem.body(b);
    MatrixX<double> mass = problem.momentum_matrix(b);
    if (const auto other = given.mass.of(i, b)) mass = *other;
    VectorX<double> velocity = problem.free_velocity().segment(start, size);
    if (given.free_velocity.is_given()) velocity = given.free_velocity.of(i).segment(start, size);
    made->add_body(mass, velocity);
  }
  Index contact = 0;
  for (Index block = 0; block < problem.block_count(); ++block) {
    const auto* const data = std::get_if<ContactData>(&pattern.law(block));
    MatrixX<double> jacobians[2];
    for (int s = 0; s < problem.side_count(block); ++s) {
      jacobians[s] = problem.jacobian(block, s);
      const PerItem& others = s == 0 ? given.jacobian : given.other_jacobian;
      if (data == nullptr) continue;
      if (const auto other = others.of(i, contact)) jacobians[s] = *other;
    }
    const auto view = [](const MatrixX<double>& matrix) {
      return GivenMatrix(matrix.data(), matrix.rows(), matrix.cols(),
                         Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(matrix.rows(), 1));
    };
    BlockSides<GivenMatrix> sides{problem.side_body(block, 0), view(jacobians[0]), {}, {}};
    if (problem.side_count(block) == 2) {
      sides.other = problem.side_body(block, 1);
      sides.other_jacobian.emplace(view(jacobians[1]));
    }
    if (data == nullptr) {
      made->add_constraint(sides, pattern.law(block));
      continue;
    }
    ContactData changed = *data;
    replace(given, i, contact, changed);
    made->add_contact(sides, changed);
    ++contact;
  }
  if (problem.rigid_count() > 0 && problem.rigid_count() == problem.block_count()) {
    made->make_rigid();
  }
  made->guess = pattern.guess;
  return made;
}

}  // namespace

std::optional<MatrixX<double>> PerItem::of(Index problem, Index item) const {
  const auto& numbers = items_[std::size_t(item)];
  if (!numbers) return {};
  const auto [rows, columns] = sizes_[std::size_t(item)];
  return Eigen::Map<const RowMajor>(numbers->data() + problem * rows * columns, rows, columns);
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

std::vector<std::shared_ptr<const ProblemData>> make_alike(const ProblemData& pattern,
                                                           const Replacements& given, Index count) {
  std::vector<std::shared_ptr<const ProblemData>> problems;
  problems.reserve(std::size_t(count));
  for (Index i = 0; i < count; ++i) {
    try {
      problems.push_back(rebuild(pattern, given, i));
    } catch (const std::invalid_argument& fault) {
      throw std::invalid_argument("problem " + std::to_string(i) + ": " + fault.what());
    }
  }
  return problems;
}

}  // namespace carom::python
