// SPDX-License-Identifier: BSD-3-Clause
// carom._core.Pattern: handles of problems, for compiled programs that refer to them by a number.
#include "pattern_table.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <vector>

#include "batch_pattern.hpp"

namespace carom::python {
namespace {

/// Patterns that are in use somewhere, by handles that are never used twice.
class PatternTable {
 public:
  std::int64_t handle_of(const SharedData& data) {
    const std::lock_guard<std::mutex> alone(lock_);
    for (auto one = patterns_.begin(); one != patterns_.end();) {
      const SharedData held = one->second.lock();
      if (held == data) return one->first;
      one = held ? std::next(one) : patterns_.erase(one);
    }
    patterns_.emplace(++last_, data);
    return last_;
  }
  SharedData find(std::int64_t handle) {
    const std::lock_guard<std::mutex> alone(lock_);
    const auto found = patterns_.find(handle);
    return found == patterns_.end() ? nullptr : found->second.lock();
  }
  Index count() {
    const std::lock_guard<std::mutex> alone(lock_);
    return std::count_if(patterns_.begin(), patterns_.end(),
                         [](const auto& one) { return !one.second.expired(); });
  }

 private:
  std::mutex lock_;
  std::map<std::int64_t, std::weak_ptr<const ProblemData>> patterns_;
  std::int64_t last_ = 0;
};

PatternTable& table() {
  static PatternTable patterns;
  return patterns;
}

/// carom._core.Pattern: the data of a problem as they were, which later changes do not reach.
struct Pattern {
  SharedData data;
  std::int64_t handle;
};

/// (velocities, contacts, rows of all blocks, sizes of the bodies, columns of the Jacobians and of
/// the second ones, rows of the contacts).
nb::tuple shape_of(const PyProblem& problem) {
  const ProblemData& data = *problem.data;
  const ProblemShape shape(data);
  const auto columns = [](const std::vector<MatrixSize>& sizes) {
    std::vector<Index> result;
    for (const MatrixSize& size : sizes) result.push_back(size.second);
    return result;
  };
  std::vector<Index> first_rows;
  for (const Index block : data.contacts()) first_rows.push_back(data.problem().first_row(block));
  return nb::make_tuple(shape.velocities, shape.contacts, data.problem().impulse_count(),
                        columns(shape.mass), columns(shape.jacobian), columns(shape.other_jacobian),
                        first_rows);
}

/// The numbers that arrays may replace, as the convex problem holds them: R and v̂ in place of what
/// they follow from.
nb::dict numbers_of(const PyProblem& given) {
  const ProblemData& data = *given.data;
  const ContactProblem<double>& problem = data.problem();
  const Index contacts = data.contact_count();
  VectorX<double> friction(contacts), regularization(3 * contacts), bias(3 * contacts);
  nb::list mass, jacobian, other_jacobian;
  for (Index b = 0; b < problem.body_count(); ++b) {
    mass.append(make_array(MatrixX<double>(problem.momentum_matrix(b))));
  }
  for (Index c = 0; c < contacts; ++c) {
    const Index block = data.contacts()[std::size_t(c)];
    const WeightedContact<double>& law = problem.friction_contact_law(block);
    friction(c) = law.friction;
    regularization.segment<3>(3 * c) << law.regularization.tangent, law.regularization.tangent,
        law.regularization.normal;
    bias.segment<3>(3 * c) = law.bias_velocity;
    jacobian.append(make_array(MatrixX<double>(problem.jacobian(block, 0))));
    const bool two = problem.side_count(block) == 2;
    other_jacobian.append(two ? make_array(MatrixX<double>(problem.jacobian(block, 1)))
                              : nb::none());
  }
  nb::dict numbers;
  numbers["free_velocity"] = make_array(VectorX<double>(problem.free_velocity()));
  numbers["friction"] = make_array(friction);
  numbers["regularization"] = make_array(regularization.data(), {contacts, 3});
  numbers["bias"] = make_array(bias.data(), {contacts, 3});
  numbers["mass"] = mass;
  numbers["jacobian"] = jacobian;
  numbers["other_jacobian"] = other_jacobian;
  return numbers;
}

}  // namespace

SharedData find_pattern(std::int64_t handle) {
  return table().find(handle);
}

void bind_patterns(nb::module_& module) {
  nb::class_<Pattern>(module, "Pattern", "The data of a problem as they were.")
      .def(
          "__init__",
          [](Pattern* self, const PyProblem& problem) {
            new (self) Pattern{problem.data, table().handle_of(problem.data)};
          },
          nb::arg("problem"))
      .def_prop_ro("handle", [](const Pattern& pattern) { return pattern.handle; });
  module.def(
      "pattern_count", [] { return table().count(); }, "Patterns in use somewhere.");
  module.def("numbers_of", &numbers_of, nb::arg("problem"),
             nb::sig("def numbers_of(problem: ContactProblem) -> dict[str, typing.Any]"),
             "The numbers that arrays may replace, by their names in Batch.like().");
  module.def("shape_of", &shape_of, nb::arg("problem"),
             nb::sig("def shape_of(problem: ContactProblem) -> tuple[int, int, int, list[int], "
                     "list[int], list[int], list[int]]"));
}

}  // namespace carom::python
