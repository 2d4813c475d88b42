// SPDX-License-Identifier: BSD-3-Clause
// Solution.pull_back, Solution.push_forward and Solution.one_sided.
#include "gradient.hpp"

#include <mutex>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "unlocked.hpp"

namespace carom::python {
namespace {

/// What a change of the data does to an answer.
struct AnswerChange {
  std::shared_ptr<const ProblemData> data;
  VectorX<double> velocity, impulse;
};

VectorX<double> read_bar(nb::handle value, const char* item, Index size) {
  if (value.is_none()) return VectorX<double>::Zero(size);
  const GivenArray given(value, item);
  given.require_shape({size});
  const VectorX<double> numbers = given.flat();
  detail::reject_if(detail::finite_fault(item, numbers));
  return numbers;
}

std::shared_ptr<Gradients> gradients_of(const SolvedStep& step, nb::handle velocity_bar,
                                        nb::handle impulse_bar) {
  const ProblemData& data = *step.data;
  const ContactProblem<double>& problem = data.problem();
  const VectorX<double> by_velocity =
      read_bar(velocity_bar, "velocity_bar", problem.velocity_count());
  VectorX<double> by_impulse = VectorX<double>::Zero(problem.impulse_count());
  if (!impulse_bar.is_none()) {
    const GivenArray given(impulse_bar, "impulse_bar");
    if (given.rank() == 2) {  // contacts alone, whatever constraints there are
      given.require_shape({data.contact_count(), 3});
      by_impulse = stack_contacts(data, given.flat());
    } else {
      by_impulse = read_stacked(data, impulse_bar, "impulse_bar");
    }
    detail::reject_if(detail::finite_fault("impulse_bar", by_impulse));
  }
  auto result = std::make_shared<Gradients>();
  const Unlocked unlocked;
  pull_back(step, by_velocity, by_impulse, result->by);
  return result;
}

void read_change(nb::handle value, const char* item, const std::vector<Index>& shape,
                 VectorX<double>& out) {
  if (value.is_none()) return;
  const GivenArray given(value, item);
  given.require_shape(shape);
  out = given.flat();
  detail::reject_if(detail::finite_fault(item, out));
}

/// A list of matrices, of which any may be None.
void read_changes(nb::handle value, const char* name, std::vector<MatrixX<double>>& out) {
  if (value.is_none()) return;
  if (!PySequence_Check(value.ptr()) || PySequence_Size(value.ptr()) != Py_ssize_t(out.size())) {
    PyErr_Clear();
    refuse(name, "a list of " + std::to_string(out.size()) + " arrays", describe(value));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const nb::object one = nb::steal(PySequence_GetItem(value.ptr(), Py_ssize_t(i)));
    if (!one.is_valid()) throw nb::python_error();
    if (one.is_none()) continue;
    const GivenArray given(one, std::string(name) + " " + std::to_string(i));
    given.require_shape({out[i].rows(), out[i].cols()});
    out[i] = given.matrix();
    detail::reject_if(detail::finite_fault(given.item(), out[i]));
  }
}

/// One entry of changes of constraints, under the names that the gradient has.
void read_constraint_change(nb::handle value, const std::string& item, ConstraintNumbers& out) {
  const nb::object items = nb::steal(PyMapping_Items(value.ptr()));
  if (!items.is_valid()) {
    PyErr_Clear();
    refuse(item, "a dict or None", describe(value));
  }
  for (nb::handle pair : nb::borrow<nb::list>(items)) {
    const nb::object key = pair[0], number = pair[1];
    const std::string name = nb::isinstance<nb::str>(key) ? nb::cast<std::string>(key) : "";
    const auto read_matrix = [&](MatrixX<double>& matrix) {
      const GivenArray given(number, item + ": " + name);
      given.require_shape({matrix.rows(), matrix.cols()});
      matrix = given.matrix();
      detail::reject_if(detail::finite_fault(given.item(), matrix));
    };
    if (name == "jacobian") {
      read_matrix(out.jacobian);
    } else if (name == "other_jacobian" && out.other_jacobian.rows() > 0) {
      read_matrix(out.other_jacobian);
    } else {
      std::string names;
      bool found = false;
      for (auto& [known, numbers] : out.numbers) {
        names += std::string(known) + ", ";
        if (name != known) continue;
        found = true;
        read_change(number, (item + ": " + name).c_str(), {numbers.size()}, numbers);
      }
      names += out.other_jacobian.rows() > 0 ? "jacobian, other_jacobian" : "jacobian";
      if (!found) refuse(item, "names among " + names, describe(key));
    }
  }
}

/// A list with one entry per constraint, of which any may be None.
void read_constraint_changes(nb::handle value, const ProblemData& data,
                             std::vector<ConstraintNumbers>& out) {
  if (value.is_none()) return;
  const Index count = data.constraint_count();
  if (!PySequence_Check(value.ptr()) || PySequence_Size(value.ptr()) != Py_ssize_t(count)) {
    PyErr_Clear();
    refuse("constraints", "a list of " + std::to_string(count) + " dicts", describe(value));
  }
  for (Index c = 0; c < count; ++c) {
    out.push_back(zero_constraint(data, data.constraints()[std::size_t(c)]));
    const nb::object one = nb::steal(PySequence_GetItem(value.ptr(), Py_ssize_t(c)));
    if (!one.is_valid()) throw nb::python_error();
    if (one.is_none()) continue;
    read_constraint_change(one, "constraints " + std::to_string(c), out.back());
  }
}

AnswerChange push_forward(const SolvedStep& step, nb::handle free_velocity, nb::handle friction,
                          nb::handle gap, nb::handle stiffness, nb::handle regularization,
                          nb::handle bias, nb::handle mass, nb::handle jacobian,
                          nb::handle other_jacobian, nb::handle dissipation_time,
                          nb::handle constraints, nb::handle restitution, nb::handle approach,
                          nb::handle velocity) {
  const ProblemData& data = *step.data;
  const Index contacts = data.contact_count();
  PhysicalNumbers change;
  change.set_zero(data);
  read_change(free_velocity, "free_velocity", {data.problem().velocity_count()},
              change.free_velocity);
  read_change(velocity, "velocity", {data.problem().velocity_count()}, change.velocity);
  read_change(friction, "friction", {contacts}, change.friction);
  read_change(gap, "gap", {contacts}, change.gap);
  read_change(stiffness, "stiffness", {contacts}, change.stiffness);
  read_change(dissipation_time, "dissipation_time", {contacts}, change.dissipation_time);
  read_change(restitution, "restitution", {contacts}, change.restitution);
  read_change(approach, "approach", {contacts}, change.approach);
  read_change(regularization, "regularization", {contacts, 3}, change.regularization);
  read_change(bias, "bias", {contacts, 3}, change.bias);
  read_changes(mass, "mass", change.mass);
  read_changes(jacobian, "jacobian", change.jacobian);
  read_changes(other_jacobian, "other_jacobian", change.other_jacobian);
  read_constraint_changes(constraints, data, change.constraints);
  AnswerChange result{step.data, {}, {}};
  const Unlocked unlocked;
  const std::lock_guard<std::mutex> alone(step.linearized_lock());
  ProblemDifferential<double> differential;
  write_differential(step.solved(), change, differential);
  step.linearized().push_forward(differential, result.velocity, result.impulse);
  return result;
}

nb::object one_sided(const SolvedStep& step) {
  std::vector<Index> numbers;
  {
    const Unlocked unlocked;
    const std::lock_guard<std::mutex> alone(step.linearized_lock());
    const LinearizedStep& linearized = step.linearized();
    for (Index c = 0; c < step.data->contact_count(); ++c) {
      if (linearized.is_one_sided(step.data->contacts()[std::size_t(c)])) numbers.push_back(c);
    }
  }
  return make_index_array(numbers);
}

int index_of(const SolvedStep& step) {
  const Unlocked unlocked;
  const std::lock_guard<std::mutex> alone(step.linearized_lock());
  return step.linearized().index();
}

nb::list list_of(const std::vector<MatrixX<double>>& matrices) {
  nb::list result;
  for (const MatrixX<double>& matrix : matrices) {
    result.append(matrix.rows() > 0 ? make_array(matrix) : nb::none());
  }
  return result;
}

/// The gradients by the numbers of constraints, each a dict.
nb::list constraint_gradients(const Gradients& gradients) {
  nb::list result;
  for (const ConstraintNumbers& one : gradients.by.constraints) {
    nb::dict numbers;
    for (const auto& [name, value] : one.numbers) numbers[name] = make_array(value);
    numbers["jacobian"] = make_array(one.jacobian);
    if (one.other_jacobian.rows() > 0) numbers["other_jacobian"] = make_array(one.other_jacobian);
    result.append(numbers);
  }
  return result;
}

constexpr const char* array_type = "numpy.typing.NDArray[numpy.float64]";

void bind_gradients(nb::module_& module) {
  nb::class_<Gradients> gradients(
      module, "Gradients",
      "Gradients of a number by all data of a problem, as Solution.pull_back() gives them.");
  const auto vector = [&](const char* name, VectorX<double> PhysicalNumbers::*member, int columns,
                          const char* doc) {
    const std::string signature = std::string("def ") + name + "(self) -> " + array_type;
    gradients.def_prop_ro(
        name,
        [member, columns](const Gradients& g) {
          const VectorX<double>& numbers = g.by.*member;
          return columns == 1 ? make_array(numbers)
                              : make_array(numbers.data(), {numbers.size() / columns, columns});
        },
        nb::sig(signature.c_str()), doc);
  };
  vector("free_velocity", &PhysicalNumbers::free_velocity, 1, "(nv,)");
  vector("velocity", &PhysicalNumbers::velocity, 1,
         "(nv,), by the bodies' velocities before the step, through the approach of contacts that\n"
         "bounce; zero where the approach was given");
  vector("friction", &PhysicalNumbers::friction, 1, "(nc,)");
  vector("gap", &PhysicalNumbers::gap, 1, "(nc,); zero where bias was given");
  vector("stiffness", &PhysicalNumbers::stiffness, 1,
         "(nc,); zero where regularization was given, or where the step resolves no more");
  vector("dissipation_time", &PhysicalNumbers::dissipation_time, 1, "(nc,)");
  vector("restitution", &PhysicalNumbers::restitution, 1,
         "(nc,); zero of contacts that do not close within the step at their speed before it");
  vector("approach", &PhysicalNumbers::approach, 1,
         "(nc,), by the speed of closing before the step");
  vector("regularization", &PhysicalNumbers::regularization, 3,
         "(nc, 3); the gradient by the tangential one is the sum of the first two");
  vector("bias", &PhysicalNumbers::bias, 3, "(nc, 3)");
  const auto list = [&](const char* name, std::vector<MatrixX<double>> PhysicalNumbers::*member,
                        const char* type, const char* doc) {
    const std::string signature = std::string("def ") + name + "(self) -> list[" + type + "]";
    gradients.def_prop_ro(
        name, [member](const Gradients& g) { return list_of(g.by.*member); },
        nb::sig(signature.c_str()), doc);
  };
  list("mass", &PhysicalNumbers::mass, array_type,
       "One (n, n) per body, symmetric: a change counts by its symmetric part.");
  list("jacobian", &PhysicalNumbers::jacobian, array_type, "One (3, n) per contact.");
  list("other_jacobian", &PhysicalNumbers::other_jacobian,
       "numpy.typing.NDArray[numpy.float64] | None",
       "One (3, n) per contact between two bodies, None for the others.");
  gradients.def_prop_ro(
      "constraints", &constraint_gradients,
      nb::sig("def constraints(self) -> list[dict[str, numpy.typing.NDArray[numpy.float64]]]"),
      "One dict per constraint: the gradient by each number of its law, under the name that the\n"
      "class of the law gives it, such as 'effort_limit', (1,); by the errors of a Bilateral, one\n"
      "per row; by its 'jacobian', (rows, n), and its 'other_jacobian' if it has a second body.\n"
      "relative_slip, near_rigid and bond are held fixed.");
  gradients.def("__repr__", [](const Gradients& g) {
    return "Gradients(velocities=" + std::to_string(g.by.free_velocity.size()) +
           ", contacts=" + std::to_string(g.by.friction.size()) + ")";
  });
}

}  // namespace

void pull_back(const SolvedStep& step, const VectorX<double>& by_velocity,
               const VectorX<double>& by_impulse, PhysicalNumbers& out) {
  const std::lock_guard<std::mutex> alone(step.linearized_lock());
  ProblemDifferential<double> gradient;
  gradient.set_zero(step.data->problem());
  step.linearized().pull_back(by_velocity, by_impulse, gradient);
  write_physical(step.solved(), gradient, out);
}

VectorX<double> stack_contacts(const ProblemData& data, const VectorX<double>& of_contacts) {
  VectorX<double> stacked = VectorX<double>::Zero(data.problem().impulse_count());
  for (Index c = 0; c < data.contact_count(); ++c) {
    const Index row = data.problem().first_row(data.contacts()[std::size_t(c)]);
    stacked.segment<3>(row) = of_contacts.segment<3>(3 * c);
  }
  return stacked;
}

void bind_gradient(nb::module_& module) {
  bind_gradients(module);
  nb::class_<AnswerChange>(module, "AnswerChange",
                           "How an answer changes, as Solution.push_forward() gives it.")
      .def_prop_ro(
          "velocity", [](const AnswerChange& c) { return make_array(c.velocity); },
          nb::sig("def velocity(self) -> numpy.typing.NDArray[numpy.float64]"), "(nv,)")
      .def_prop_ro(
          "impulse", [](const AnswerChange& c) { return contact_array(*c.data, c.impulse); },
          nb::sig("def impulse(self) -> numpy.typing.NDArray[numpy.float64]"), "(nc, 3)")
      .def_prop_ro(
          "constraint_impulses",
          [](const AnswerChange& c) { return constraint_list(*c.data, c.impulse); },
          nb::sig("def constraint_impulses(self) -> list[numpy.typing.NDArray[numpy.float64]]"),
          "One array per constraint, an entry per row.")
      .def_prop_ro(
          "stacked_impulse", [](const AnswerChange& c) { return make_array(c.impulse); },
          nb::sig("def stacked_impulse(self) -> numpy.typing.NDArray[numpy.float64]"),
          "All impulses, block by block in the order in which blocks were added.");
  auto solution = nb::borrow<nb::class_<SolvedStep>>(module.attr("Solution"));
  solution
      .def(
          "pull_back", &gradients_of, nb::arg("velocity_bar") = nb::none(),
          nb::arg("impulse_bar") = nb::none(),
          nb::sig("def pull_back(self, velocity_bar: numpy.typing.ArrayLike | None = None, "
                  "impulse_bar: numpy.typing.ArrayLike | None = None) -> Gradients"),
          "Gradients of <velocity_bar, v> + <impulse_bar, impulse> by all data.\n\n"
          "velocity_bar: (nv,). impulse_bar: (nc, 3), or stacked as stacked_impulse. Solve with a\n"
          "tolerance of 1e-12 or less where gradients matter. ValueError where the answer is not\n"
          "regular. The step is differentiated as it is, with its contacts closing when they do: "
          "in\n"
          "a chain of steps the time of an impact does not move. ImpactStepDerivative moves it.")
      .def("push_forward", &push_forward, nb::arg("free_velocity") = nb::none(),
           nb::arg("friction") = nb::none(), nb::arg("gap") = nb::none(),
           nb::arg("stiffness") = nb::none(), nb::arg("regularization") = nb::none(),
           nb::arg("bias") = nb::none(), nb::arg("mass") = nb::none(),
           nb::arg("jacobian") = nb::none(), nb::arg("other_jacobian") = nb::none(),
           nb::arg("dissipation_time") = nb::none(), nb::arg("constraints") = nb::none(),
           nb::arg("restitution") = nb::none(), nb::arg("approach") = nb::none(),
           nb::arg("velocity") = nb::none(),
           nb::sig(
               "def push_forward(self, "
               "free_velocity: numpy.typing.ArrayLike | None = None, "
               "friction: numpy.typing.ArrayLike | None = None, "
               "gap: numpy.typing.ArrayLike | None = None, "
               "stiffness: numpy.typing.ArrayLike | None = None, "
               "regularization: numpy.typing.ArrayLike | None = None, "
               "bias: numpy.typing.ArrayLike | None = None, "
               "mass: collections.abc.Sequence[numpy.typing.ArrayLike | None] | None = None, "
               "jacobian: collections.abc.Sequence[numpy.typing.ArrayLike | None] | None = None, "
               "other_jacobian: collections.abc.Sequence[numpy.typing.ArrayLike | None] | None "
               "= None, dissipation_time: numpy.typing.ArrayLike | None = None, "
               "constraints: collections.abc.Sequence[collections.abc.Mapping[str, "
               "numpy.typing.ArrayLike] | None] | None = None, "
               "restitution: numpy.typing.ArrayLike | None = None, "
               "approach: numpy.typing.ArrayLike | None = None, "
               "velocity: numpy.typing.ArrayLike | None = None) -> AnswerChange"),
           "What a change of the data does to velocity and impulse, to first order.\n\n"
           "Every change has the shape of the gradient of its name; what is left out does not\n"
           "change. constraints: one dict per constraint with any of the names that\n"
           "Gradients.constraints has for it, or None.")
      .def_prop_ro(
          "one_sided", &one_sided,
          nb::sig("def one_sided(self) -> numpy.typing.NDArray[numpy.int64]"),
          "Numbers of the contacts where two regions meet, such as stick and slide: there\n"
          "the derivative is that of one side.")
      .def_prop_ro(
          "index", &index_of, nb::sig("def index(self) -> int"),
          "The sign of the determinant of the answer's linearised equations, +1 or -1; 0 if\n"
          "one_sided is not empty. The indices of all answers of a problem with soft contacts\n"
          "sum to +1: an answer of index -1 has at least two others beside it. Under the\n"
          "convex law there is one answer, of index +1.");
}

}  // namespace carom::python
