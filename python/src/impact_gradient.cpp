// SPDX-License-Identifier: BSD-3-Clause
// Impact.pull_back, Impact.push_forward and Impact.one_sided.
#include "impact_gradient.hpp"

#include <nanobind/stl/string.h>
#include <utility>

#include "carom/core/invalid_input.hpp"

#include "unlocked.hpp"

namespace carom::python {

DifferentiableImpact::DifferentiableImpact(MassMatrix<double> mass, ImpactProblem<double> problem,
                                           MatrixX<double> normals, VectorX<double> momentum,
                                           Linearize linearize)
    : mass_(std::move(mass)),
      problem_(std::move(problem)),
      normals_(std::move(normals)),
      momentum_(std::move(momentum)),
      linearize_(std::move(linearize)) {}

void DifferentiableImpact::require_linearized() {
  if (linearized_) return;
  switch (linearize_(*this, derivative_)) {
    case ImpactLinearization::usable:
      linearized_ = true;
      return;
    case ImpactLinearization::unrecorded:
      detail::reject_if("impact: its reflections are too many, or too ill-conditioned, to follow");
      return;
    case ImpactLinearization::not_finite:
      detail::reject_if("impact: expected finite numbers, got others on the way");
      return;
  }
}

OutcomeJudgement<double> DifferentiableImpact::judge(const VectorX<double>& after,
                                                     double restitution) {
  const std::lock_guard<std::mutex> alone(lock_);
  if (!judgement_) {
    judgement_ = judge_outcome(problem_, mass_, momentum_, after,
                               {.state_limit = 2000, .restitution = restitution});
  }
  return *judgement_;
}

namespace {

/// Gradients of a number by all data of an impact.
struct ImpactGradients {
  VectorX<double> velocity;
  MatrixX<double> normals, mass;
  double restitution = 0;
};

/// What a change of the data does to the velocity after an impact.
struct ImpactChange {
  VectorX<double> velocity;
};

DifferentiableImpact& differentiable(const Ending& end) {
  if (!end.impact) {
    refuse("impact", "a result of impact(); order=sequence leads there",
           "one of outcomes(), which has no derivative");
  }
  if (end.status == "reflection_limit" || end.status == "not_finite") {
    refuse("impact", "one that was resolved", "'" + end.status + "'");
  }
  return *end.impact;
}

/// Numbers of a shape out of an object, which must be finite.
MatrixX<double> read_matrix(nb::handle value, const char* item, Index rows, Index columns) {
  const GivenArray given(value, item);
  given.require_shape({rows, columns});
  const MatrixX<double> numbers = given.matrix();
  detail::reject_if(detail::finite_fault(item, numbers));
  return numbers;
}

VectorX<double> read_numbers(nb::handle value, const char* item, Index size) {
  const GivenArray given(value, item);
  given.require_shape({size});
  const VectorX<double> numbers = given.flat();
  detail::reject_if(detail::finite_fault(item, numbers));
  return numbers;
}

ImpactGradients pull_back(const Ending& end, nb::handle velocity_bar) {
  DifferentiableImpact& impact = differentiable(end);
  const VectorX<double> by_velocity =
      read_numbers(velocity_bar, "velocity_bar", impact.mass().size());
  ImpactGradients result;
  const Unlocked unlocked;
  impact.differentiate([&](ImpactDerivative<double>& derivative) {
    ImpactDifferential<double> gradient;
    derivative.set_zero(gradient);
    derivative.pull_back_velocity(impact.mass(), by_velocity, gradient);
    result.velocity = gradient.motion;
    result.normals = gradient.normals.transpose();
    result.mass = gradient.mass;
    result.restitution = gradient.restitution.sum();
  });
  return result;
}

ImpactChange push_forward(const Ending& end, nb::handle velocity, nb::handle normals,
                          nb::handle mass_matrix, nb::handle restitution) {
  DifferentiableImpact& impact = differentiable(end);
  const Index n = impact.mass().size(), contacts = impact.problem().contact_count();
  VectorX<double> motion = VectorX<double>::Zero(n);
  MatrixX<double> rows = MatrixX<double>::Zero(contacts, n), mass = MatrixX<double>::Zero(n, n);
  double share = 0;
  if (!velocity.is_none()) motion = read_numbers(velocity, "velocity", n);
  if (!normals.is_none()) rows = read_matrix(normals, "normals", contacts, n);
  if (!mass_matrix.is_none()) {
    if (GivenArray(mass_matrix, "mass matrix").rank() == 1) {
      mass.diagonal() = read_numbers(mass_matrix, "mass matrix", n);
    } else {
      mass = read_matrix(mass_matrix, "mass matrix", n, n);
    }
  }
  if (!restitution.is_none()) {
    share = read_number(restitution, "restitution");
    if (!detail::is_finite(share)) {
      detail::reject_if(detail::fault("restitution", "a finite number", share));
    }
  }
  ImpactChange result;
  const Unlocked unlocked;
  impact.differentiate([&](ImpactDerivative<double>& derivative) {
    ImpactDifferential<double> change;
    derivative.set_zero(change);
    change.motion = motion;
    change.normals = rows.transpose();
    change.mass = mass;
    change.restitution.setConstant(share);
    derivative.push_forward_velocity(impact.mass(), change, result.velocity);
  });
  return result;
}

nb::object one_sided(const Ending& end) {
  std::vector<Index> numbers;
  {
    DifferentiableImpact& impact = differentiable(end);
    const Unlocked unlocked;
    impact.differentiate([&](ImpactDerivative<double>& derivative) {
      numbers.assign(derivative.one_sided().begin(), derivative.one_sided().end());
    });
  }
  return make_index_array(numbers);
}

}  // namespace

void bind_impact_gradient(nb::module_& module, nb::class_<Ending>& impact) {
  nb::class_<ImpactGradients>(
      module, "ImpactGradients",
      "Gradients of a number by all data of an impact, as Impact.pull_back() gives them.")
      .def_prop_ro(
          "velocity", [](const ImpactGradients& g) { return make_array(g.velocity); },
          nb::sig("def velocity(self) -> numpy.typing.NDArray[numpy.float64]"),
          "(n,), by the velocity before.")
      .def_prop_ro(
          "normals", [](const ImpactGradients& g) { return make_array(g.normals); },
          nb::sig("def normals(self) -> numpy.typing.NDArray[numpy.float64]"),
          "(contacts, n), by the gradients of the gaps, as long as they were given.")
      .def_prop_ro(
          "mass_matrix", [](const ImpactGradients& g) { return make_array(g.mass); },
          nb::sig("def mass_matrix(self) -> numpy.typing.NDArray[numpy.float64]"),
          "(n, n), symmetric: a change counts by its symmetric part. Its diagonal is the gradient\n"
          "by a mass matrix that was given as a diagonal.")
      .def_ro("restitution", &ImpactGradients::restitution,
              "By the restitution; of an elastic impact at 1, of a plastic one zero.")
      .def("__repr__", [](const ImpactGradients& g) {
        return "ImpactGradients(velocities=" + std::to_string(g.velocity.size()) +
               ", contacts=" + std::to_string(g.normals.rows()) + ")";
      });
  nb::class_<ImpactChange>(module, "ImpactChange",
                           "How an impact changes, as Impact.push_forward() gives it.")
      .def_prop_ro(
          "velocity", [](const ImpactChange& c) { return make_array(c.velocity); },
          nb::sig("def velocity(self) -> numpy.typing.NDArray[numpy.float64]"),
          "(n,), of the velocity after.");
  impact
      .def(
          "pull_back", &pull_back, nb::arg("velocity_bar").none(),
          nb::sig("def pull_back(self, velocity_bar: numpy.typing.ArrayLike) -> ImpactGradients"),
          "Gradients of <velocity_bar, velocity> by all data of impact().\n\n"
          "velocity_bar: (n,). The sequence of reflections is held fixed, and so are the contacts\n"
          "that a plastic impact presses together: see one_sided. ValueError for a result of\n"
          "outcomes(), and where the impact was not resolved.")
      .def("push_forward", &push_forward, nb::arg("velocity") = nb::none(),
           nb::arg("normals") = nb::none(), nb::arg("mass_matrix") = nb::none(),
           nb::arg("restitution") = nb::none(),
           nb::sig("def push_forward(self, velocity: numpy.typing.ArrayLike | None = None, "
                   "normals: numpy.typing.ArrayLike | None = None, "
                   "mass_matrix: numpy.typing.ArrayLike | None = None, "
                   "restitution: float | None = None) -> ImpactChange"),
           "What a change of the data does to the velocity after, to first order.\n\n"
           "Every change has the shape of the gradient of its name, mass_matrix also that of a\n"
           "diagonal, (n,); what is left out does not change.")
      .def_prop_ro(
          "one_sided", &one_sided,
          nb::sig("def one_sided(self) -> numpy.typing.NDArray[numpy.int64]"),
          "Numbers of the contacts for which the slightest change may lead to another sequence:\n"
          "at rest where that decides, or as fast as another that is not orthogonal. There the\n"
          "derivative is that of the sequence taken.");
}

}  // namespace carom::python
