// SPDX-License-Identifier: BSD-3-Clause
// carom.ImpactStepDerivative: steps through the times of impacts, with their derivatives.
#include <mutex>
#include <nanobind/stl/string.h>
#include <new>
#include <string>
#include <utility>

#include "carom/impact/mass_matrix.hpp"
#include "carom/impact/restitution.hpp"
#include "carom/variational/impact_step_derivative.hpp"

#include "bindings.hpp"
#include "unlocked.hpp"

namespace carom::python {
namespace {

/// Bodies of constant mass under constant forces, over flat walls: ϕ = N q + c.
struct OverWalls {
  using scalar_type = double;
  MatrixX<double> mass;     ///< M, n×n
  VectorX<double> force;    ///< f, n
  MatrixX<double> normals;  ///< N, one row per gap
  VectorX<double> offsets;  ///< c

  [[nodiscard]] Index size() const noexcept { return mass.rows(); }
  [[nodiscard]] Index gap_count() const noexcept { return offsets.size(); }
  void write_mass(const VectorX<double>&, MatrixX<double>& out) const noexcept { out = mass; }
  [[nodiscard]] double potential(const VectorX<double>& q) const noexcept { return -force.dot(q); }
  void write_potential_gradient(const VectorX<double>&, VectorX<double>& out) const noexcept {
    out = -force;
  }
  void write_potential_hessian(const VectorX<double>&, MatrixX<double>& out) const noexcept {
    out.setZero();
  }
  void write_gaps(const VectorX<double>& q, VectorX<double>& out) const noexcept {
    out = offsets;
    out.noalias() += normals.lazyProduct(q);
  }
  void write_gap_gradients(const VectorX<double>&, MatrixX<double>& out) const noexcept {
    out = normals;
  }
  template <typename Weights>
  void add_gap_curvature(const VectorX<double>&, const Weights&, MatrixX<double>&) const noexcept {}
};

/// A step made, with its derivative in positions and velocities, (q, v) → (q, v).
struct ImpactStep {
  VectorX<double> q, velocity;
  StepLinearization<double> report;
  std::vector<double> impact_times;  ///< from the start of the step [s]
  MatrixX<double> matrix;
  VectorX<double> by_restitution;

  void require_derivative() const {
    if (report.usable()) return;
    refuse("derivative", "a step that has one", std::string("'") + to_string(report.status) + "'");
  }
};

/// Gradients of a number by what a step started from, or changes of where it ends.
struct StateChange {
  VectorX<double> q, velocity;
  double restitution = 0;
};

using Law = RestitutionImpact<double>;

class Steps {
 public:
  Steps(const OverWalls& system, double restitution)
      : mass_(MassMatrix<double>::make_dense(system.mass)),
        stepper_(system, Law(restitution)),
        derivative_(stepper_) {}

  [[nodiscard]] Index size() const noexcept { return stepper_.system().size(); }
  /// What is known of the bodies' past, held contacts and chatter, counts where a step goes on from
  /// where the last one ended.
  ImpactStep step(const VectorX<double>& q, const VectorX<double>& velocity, double time_step) {
    const std::lock_guard<std::mutex> alone(lock_);
    const bool goes_on = last_q_.size() > 0 && q == last_q_ && velocity == last_velocity_;
    if (!goes_on) stepper_.restart();
    MechanicalState<double> state =
        goes_on ? state_ : MechanicalState<double>{0, q, mass_.momentum(velocity)};
    state.time = 0;
    ImpactStep made;
    made.report = derivative_.step(stepper_, state, time_step);
    for (const ImpactEvent<double>& event : stepper_.events()) {
      const bool same = !made.impact_times.empty() && made.impact_times.back() == event.time;
      if (!same) made.impact_times.push_back(event.time);
    }
    made.q = state.q;
    made.velocity = state.momentum;
    mass_.apply_inverse(made.velocity);
    if (!made.report.step.converged()) made.impact_times.clear();
    if (made.report.usable()) write_derivative(made);
    state_ = state;
    last_q_ = made.q;
    last_velocity_ = made.velocity;
    return made;
  }
  void restart() {
    const std::lock_guard<std::mutex> alone(lock_);
    last_q_.resize(0);
  }

 private:
  /// From momenta to velocities: v = M⁻¹ p before and after.
  void write_derivative(ImpactStep& made) const {
    const Index n = size();
    made.matrix = derivative_.matrix();
    made.by_restitution = derivative_.by_restitution();
    made.matrix.rightCols(n) = made.matrix.rightCols(n) * stepper_.system().mass;
    VectorX<double> column(n);
    for (Index c = 0; c < 2 * n; ++c) {
      column = made.matrix.col(c).tail(n);
      mass_.apply_inverse(column);
      made.matrix.col(c).tail(n) = column;
    }
    column = made.by_restitution.tail(n);
    mass_.apply_inverse(column);
    made.by_restitution.tail(n) = column;
  }

  MassMatrix<double> mass_;
  ImpactStepper<OverWalls, Law> stepper_;
  ImpactStepDerivative<OverWalls, Law> derivative_;
  MechanicalState<double> state_{};
  VectorX<double> last_q_, last_velocity_;  ///< as they were handed out
  std::mutex lock_;
};

VectorX<double> read_vector(nb::handle value, const char* item, Index size) {
  const GivenArray given(value, item);
  given.require_shape({size});
  const VectorX<double> numbers = given.flat();
  detail::reject_if(detail::finite_fault(item, numbers));
  return numbers;
}
VectorX<double> read_or_zero(nb::handle value, const char* item, Index size) {
  return value.is_none() ? VectorX<double>(VectorX<double>::Zero(size))
                         : read_vector(value, item, size);
}

void make_steps(Steps* self, nb::handle mass_matrix, nb::handle normals, nb::handle offsets,
                nb::handle force, nb::handle restitution) {
  OverWalls system;
  const GivenArray matrix(mass_matrix, "mass matrix");
  if (matrix.rank() == 1) {
    system.mass = matrix.flat().asDiagonal();
  } else {
    matrix.require_rank(2);
    system.mass = matrix.matrix();
    matrix.require_shape({system.mass.rows(), system.mass.rows()});
  }
  detail::reject_if(detail::symmetric_fault("mass matrix", "", system.mass));
  const Index n = system.mass.rows();
  const GivenArray rows(normals, "normals");
  rows.require_shape({-1, n});
  system.normals = rows.matrix();
  for (Index i = 0; i < system.normals.rows(); ++i) {
    const VectorX<double> normal = system.normals.row(i);
    const std::string item = "normal " + std::to_string(i);
    detail::reject_if(detail::finite_fault(item, normal));
    if (normal.isZero(0)) refuse(item, "a non-zero vector", "zero");
  }
  system.offsets = read_or_zero(offsets, "offsets", system.normals.rows());
  system.force = read_or_zero(force, "force", n);
  const double share = read_number(restitution, "restitution");
  detail::reject_if(detail::restitution_fault(share));
  new (self) Steps(system, share);
}

ImpactStep take_step(Steps& steps, nb::handle q, nb::handle velocity, nb::handle time_step) {
  const VectorX<double> position = read_vector(q, "q", steps.size());
  const VectorX<double> speed = read_vector(velocity, "velocity", steps.size());
  const double duration = read_number(time_step, "time_step");
  if (!detail::is_positive(duration)) {
    detail::reject_if(detail::fault("time_step", "a finite number > 0", duration));
  }
  const Unlocked unlocked;
  return steps.step(position, speed, duration);
}

StateChange pull_back(const ImpactStep& step, nb::handle q_bar, nb::handle velocity_bar) {
  step.require_derivative();
  const Index n = step.q.size();
  VectorX<double> bar(2 * n);
  bar << read_or_zero(q_bar, "q_bar", n), read_or_zero(velocity_bar, "velocity_bar", n);
  const VectorX<double> before = step.matrix.transpose() * bar;
  return {before.head(n), before.tail(n), step.by_restitution.dot(bar)};
}

StateChange push_forward(const ImpactStep& step, nb::handle q, nb::handle velocity,
                         nb::handle restitution) {
  step.require_derivative();
  const Index n = step.q.size();
  VectorX<double> change(2 * n);
  change << read_or_zero(q, "q", n), read_or_zero(velocity, "velocity", n);
  double share = 0;
  if (!restitution.is_none()) {
    share = read_number(restitution, "restitution");
    if (!detail::is_finite(share)) {
      detail::reject_if(detail::fault("restitution", "a finite number", share));
    }
  }
  const VectorX<double> after = step.matrix * change + share * step.by_restitution;
  return {after.head(n), after.tail(n), 0};
}

constexpr const char* class_doc =
    "Steps of bodies over walls through the times of their impacts, and the derivatives of "
    "steps.\n\n"
    "mass_matrix: (n, n) [kg, kg m^2], constant, or its diagonal (n,). normals: (gaps, n) and\n"
    "offsets: (gaps,) [m]: the gaps are normals @ q + offsets. force: (n,) [N, N m], constant.\n"
    "restitution [-], in [0, 1], is that of the energy of impacts, as in impact().\n\n"
    "    ball = carom.ImpactStepDerivative([1.0], [[1.0]], force=[-9.81])\n"
    "    step = ball.step(q=[0.5], velocity=[0.0], time_step=0.01)\n"
    "    step.matrix  # d(q, velocity after)/d(q, velocity before), (2 n, 2 n)\n\n"
    "A step goes to the instant a gap closes, resolves the impact, and finishes the rest of the\n"
    "step. When the bodies start elsewhere the impact comes at another time, and that counts: the\n"
    "product of the matrices of a chain of steps is the derivative of the motion. A step that\n"
    "starts where the last one ended goes on with it; any other starts afresh.";

template <typename Class>
void bind_array(Class& cls, const char* name, auto getter, const char* doc) {
  const std::string signature =
      std::string("def ") + name + "(self) -> numpy.typing.NDArray[numpy.float64]";
  cls.def_prop_ro(name, getter, nb::sig(signature.c_str()), doc);
}

void bind_step(nb::module_& module) {
  nb::class_<StateChange> change(
      module, "StateChange",
      "Gradients by where a step starts, or a change of where it ends; see ImpactStep.");
  bind_array(
      change, "q", [](const StateChange& c) { return make_array(c.q); }, "(n,)");
  bind_array(
      change, "velocity", [](const StateChange& c) { return make_array(c.velocity); }, "(n,)");
  change.def_ro("restitution", &StateChange::restitution, "The gradient by the restitution.");
  nb::class_<ImpactStep> step(module, "ImpactStep",
                              "A step through the times of impacts; see ImpactStepDerivative.");
  bind_array(
      step, "q", [](const ImpactStep& s) { return make_array(s.q); }, "(n,) [m, rad], at the end.");
  bind_array(
      step, "velocity", [](const ImpactStep& s) { return make_array(s.velocity); },
      "(n,) [m/s, rad/s], at the end.");
  bind_array(
      step, "impact_times",
      [](const ImpactStep& s) {
        return make_array(s.impact_times.data(), {Index(s.impact_times.size())});
      },
      "[s], of all impacts, from the start of the step.");
  bind_array(
      step, "matrix",
      [](const ImpactStep& s) {
        s.require_derivative();
        return make_array(s.matrix);
      },
      "(2 n, 2 n), d(q, velocity after)/d(q, velocity before). ValueError where there is none.");
  bind_array(
      step, "by_restitution",
      [](const ImpactStep& s) {
        s.require_derivative();
        return make_array(s.by_restitution);
      },
      "(2 n,), d(q, velocity after)/d restitution.");
  step.def_prop_ro(
          "status", [](const ImpactStep& s) { return to_string(s.report.step.status); },
          "'converged', or why the step was not made: then q and velocity are those before.")
      .def_prop_ro(
          "derivative_status", [](const ImpactStep& s) { return to_string(s.report.status); },
          "'linearized', or why the step has no derivative, 'grazing' say.")
      .def_prop_ro(
          "one_sided", [](const ImpactStep& s) { return s.report.one_sided; },
          "How many coincidences there were, at which the derivative is that of one side: "
          "contacts\n"
          "that strike together, or just where the step begins or ends.")
      .def(
          "pull_back", &pull_back, nb::arg("q_bar") = nb::none(),
          nb::arg("velocity_bar") = nb::none(),
          nb::sig("def pull_back(self, q_bar: numpy.typing.ArrayLike | None = None, "
                  "velocity_bar: numpy.typing.ArrayLike | None = None) -> StateChange"),
          "Gradients of <q_bar, q> + <velocity_bar, velocity> by q and velocity before and by the\n"
          "restitution.")
      .def("push_forward", &push_forward, nb::arg("q") = nb::none(),
           nb::arg("velocity") = nb::none(), nb::arg("restitution") = nb::none(),
           nb::sig("def push_forward(self, q: numpy.typing.ArrayLike | None = None, "
                   "velocity: numpy.typing.ArrayLike | None = None, "
                   "restitution: float | None = None) -> StateChange"),
           "What changes of q and velocity before and of the restitution do to q and velocity\n"
           "after.")
      .def("__repr__", [](const ImpactStep& s) {
        return std::string("ImpactStep(status='") + to_string(s.report.step.status) +
               "', impacts=" + std::to_string(s.impact_times.size()) + ", derivative_status='" +
               to_string(s.report.status) + "')";
      });
}

}  // namespace

void bind_impact_step(nb::module_& module) {
  bind_step(module);
  nb::class_<Steps>(module, "ImpactStepDerivative", class_doc)
      .def("__init__", &make_steps, nb::arg("mass_matrix").none(), nb::arg("normals").none(),
           nb::arg("offsets") = nb::none(), nb::arg("force") = nb::none(),
           nb::arg("restitution").none() = 1.0,
           nb::sig("def __init__(self, mass_matrix: numpy.typing.ArrayLike, "
                   "normals: numpy.typing.ArrayLike, "
                   "offsets: numpy.typing.ArrayLike | None = None, "
                   "force: numpy.typing.ArrayLike | None = None, restitution: float = 1.0) "
                   "-> None"))
      .def("step", &take_step, nb::arg("q").none(), nb::arg("velocity").none(),
           nb::arg("time_step").none(),
           nb::sig("def step(self, q: numpy.typing.ArrayLike, velocity: numpy.typing.ArrayLike, "
                   "time_step: float) -> ImpactStep"),
           "Advances bodies at q (n,) [m, rad] and velocity (n,) [m/s, rad/s] by time_step [s].")
      .def("restart", &Steps::restart,
           "Forgets the step before: contacts that were held closed, and chatter.")
      .def("__repr__", [](const Steps& steps) {
        return "ImpactStepDerivative(coordinates=" + std::to_string(steps.size()) + ")";
      });
}

}  // namespace carom::python
