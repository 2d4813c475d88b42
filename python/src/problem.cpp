// SPDX-License-Identifier: BSD-3-Clause
// carom.ContactProblem.
#include <array>
#include <nanobind/stl/string.h>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "carom/solvers/remove_overlap.hpp"

#include "bindings.hpp"
#include "contact_options.hpp"
#include "many_blocks.hpp"
#include "unlocked.hpp"

namespace carom::python {
namespace {

constexpr const char* problem_doc =
    "One time step of bodies that touch.\n\n"
    "A body is a set of n generalized velocities with one mass matrix (n, n); a contact is the\n"
    "block of three rows (t1, t2, n) of a touching point, its Jacobian (3, n). Units are SI.\n\n"
    "    problem = carom.ContactProblem(0.01)\n"
    "    block = problem.add_body(2 * np.eye(3), [0.02, 0, -0.0981])\n"
    "    problem.add_contact(block, np.eye(3), friction=0.5)\n"
    "    solution = carom.solve(problem)";

constexpr const char* add_contact_doc =
    "Adds a friction contact of a body with the world, or with another body.\n\n"
    "body, other: numbers of bodies. jacobian, other_jacobian: (3, n) [-, m], rows (t1, t2, n);\n"
    "the normal velocity is positive where the contact opens. friction [-], >= 0.\n"
    "gap [m], 0 unless given: negative in penetration. surface_velocity (3,) [m/s]: that of the\n"
    "touched surface by itself along (t1, t2, n), a belt's or that of a body whose motion is\n"
    "given. An option that cannot act beside the others is a ValueError.\n\n"
    "Without more the contact is rigid: it does not give way. restitution [-], in [0, 1], is\n"
    "Newton's; it takes the approach, the speed of closing before the step [m/s], from the "
    "bodies'\n"
    "velocities in add_body(), or as approach, >= 0. correction [-], in [0, 1]: the share of a\n"
    "penetration that is taken out in a step, at a speed that stays in the motion; 0.\n\n"
    "stiffness [N/m], > 0, makes it give way; compliance='step' takes the stiffest spring that "
    "the\n"
    "step resolves. dissipation_time [s], >= 0, near_rigid, relative_slip: as in C++, of what\n"
    "gives way. regularization [1/kg], (3,) or a number, in place of the one that follows from\n"
    "stiffness; its first two entries are equal. bias (3,) [m/s]: the velocity that the contact\n"
    "relaxes to, in place of the one that follows from gap. rigid: True says what None would do.\n"
    "Returns the number of the contact, its row in solution.impulse.";

constexpr const char* add_constraint_doc =
    "Adds a block that is not a friction contact, on one body or between two.\n\n"
    "jacobian, other_jacobian: (m, n), or (n,) for one row. law: Motor, JointLimit, DryFriction,\n"
    "Tendon (one row), Bilateral (1 to 6 rows) or WrenchContact (3 to 6 rows).\n"
    "Returns the number of the constraint, its place in solution.constraint_impulses.";

/// The bodies and Jacobians of a block, the arrays kept for the length of a call.
class GivenSides {
 public:
  GivenSides(const std::string& item, nb::handle body, nb::handle jacobian, nb::handle other,
             nb::handle other_jacobian)
      : first_(jacobian, item + ": Jacobian"),
        sides_{read_index(body, item + ": body"), first_.rows(), {}, {}} {
    if (other.is_none() != other_jacobian.is_none()) {
      refuse(item + ": second body", "both other and other_jacobian or neither",
             other.is_none() ? "other_jacobian alone" : "other alone");
    }
    if (other.is_none()) return;
    second_.emplace(other_jacobian, item + ": second Jacobian");
    sides_.other = read_index(other, item + ": second body");
    sides_.other_jacobian.emplace(second_->rows());
  }
  [[nodiscard]] const BlockSides<GivenMatrix>& get() const noexcept { return sides_; }

 private:
  GivenArray first_;
  std::optional<GivenArray> second_;
  BlockSides<GivenMatrix> sides_;
};

Index add_body(PyProblem& self, nb::handle mass, nb::handle free_velocity, nb::handle now) {
  const std::string item = "body " + std::to_string(self.data->problem().body_count());
  const GivenArray matrix(mass, item + ": momentum matrix");
  const GivenArray velocity(free_velocity, item + ": free velocity");
  const GivenMatrix entries = matrix.matrix();
  const GivenVector speeds = velocity.vector();
  std::optional<GivenArray> before;
  if (!now.is_none()) before.emplace(now, item + ": velocity");
  if (before) before->require_rank(1);
  ProblemData& data = self.edit();
  const Index body =
      before ? data.add_body(entries, speeds, before->vector()) : data.add_body(entries, speeds);
  data.guess.resize(0);
  return body;
}

Index add_contact(PyProblem& self, nb::handle body, nb::handle jacobian, nb::handle friction,
                  nb::handle gap, nb::handle stiffness, nb::handle dissipation_time,
                  nb::handle regularization, nb::handle bias, nb::handle other,
                  nb::handle other_jacobian, nb::handle rigid, nb::handle restitution,
                  nb::handle approach, nb::handle near_rigid, nb::handle relative_slip,
                  nb::handle compliance, nb::handle surface_velocity, nb::handle correction) {
  const std::string item = self.data->next_contact();
  const GivenSides sides(item, body, jacobian, other, other_jacobian);
  const ContactOptions options{.gap = gap,
                               .stiffness = stiffness,
                               .dissipation_time = dissipation_time,
                               .regularization = regularization,
                               .bias = bias,
                               .rigid = rigid,
                               .restitution = restitution,
                               .approach = approach,
                               .near_rigid = near_rigid,
                               .relative_slip = relative_slip,
                               .compliance = compliance,
                               .surface_velocity = surface_velocity,
                               .correction = correction};
  const ContactData contact =
      read_contact(options, read_number(friction, item + ": friction"), item);
  return self.edit().add_contact(sides.get(), contact);
}

Index add_constraint(PyProblem& self, nb::handle body, nb::handle jacobian, nb::handle law,
                     nb::handle other, nb::handle other_jacobian) {
  const std::string item = self.data->next_constraint();
  const GivenSides sides(item, body, jacobian, other, other_jacobian);
  const BlockLaw read = read_constraint_law(law, sides.get().jacobian.rows(), item);
  return self.edit().add_constraint(sides.get(), read);
}

void reset(PyProblem& self, nb::handle time_step) {
  const double step = read_number(time_step, "time step");
  if (self.data.use_count() > 1) {
    self.data = std::make_shared<ProblemData>(step);
  } else {
    self.data->reset(step);
  }
}

/// The shortest motion out of all overlaps.
nb::object remove_overlap(const PyProblem& self) {
  const ProblemData& data = *self.data;
  VectorX<double> gaps = VectorX<double>::Zero(data.problem().block_count()), motion;
  for (Index block = 0; block < gaps.size(); ++block) {
    if (const auto* const contact = std::get_if<ContactData>(&data.law(block))) {
      gaps(block) = contact->law.gap;
    } else if (const auto* const wrench = std::get_if<WrenchContact<double>>(&data.law(block))) {
      gaps(block) = wrench->contact.gap;
    }
  }
  {
    const Unlocked unlocked;
    static_cast<void>(carom::remove_overlap(data.problem(), gaps, motion));
  }
  return make_array(motion);
}

/// The bodies of some blocks: (body, other), or (body, None) where the other is the world.
nb::list bodies_of(const ContactProblem<double>& problem, const std::vector<Index>& blocks) {
  nb::list result;
  for (const Index block : blocks) {
    const nb::object second = problem.side_count(block) == 2
                                  ? nb::object(nb::int_(problem.side_body(block, 1)))
                                  : nb::object(nb::none());
    result.append(nb::make_tuple(problem.side_body(block, 0), second));
  }
  return result;
}

/// A number of each contact.
template <typename Get>
nb::object number_of_contacts(const ProblemData& data, const Get& get) {
  VectorX<double> numbers(data.contact_count());
  for (Index c = 0; c < data.contact_count(); ++c) {
    numbers(c) = get(std::get<ContactData>(data.law(data.contacts()[std::size_t(c)])));
  }
  return make_array(numbers);
}

const char* kind_of(const BlockLaw& law) {
  constexpr std::array<const char*, std::variant_size_v<BlockLaw>> names{
      "Contact", "JointLimit", "DryFriction",   "Motor",
      "Tendon",  "Bilateral",  "WrenchContact", "Block"};
  return names[law.index()];
}
nb::list constraint_kinds(const ProblemData& data) {
  nb::list result;
  for (const Index block : data.constraints()) result.append(kind_of(data.law(block)));
  return result;
}

/// The data are shared until either changes them.
PyProblem copy_of(const PyProblem& self) {
  return self;
}

std::string show(const PyProblem& self) {
  const ProblemData& data = *self.data;
  const ContactProblem<double>& problem = data.problem();
  std::string text = "ContactProblem(time_step=" + carom::detail::number_text(problem.time_step()) +
                     ", bodies=" + std::to_string(problem.body_count()) +
                     ", velocities=" + std::to_string(problem.velocity_count()) +
                     ", contacts=" + std::to_string(data.contact_count());
  if (data.constraint_count() > 0) {
    text += ", constraints=" + std::to_string(data.constraint_count());
  }
  return text + ")";
}

}  // namespace

nb::object contact_array(const ProblemData& data, const VectorX<double>& stacked) {
  const Index count = data.contact_count();
  if (data.constraint_count() == 0) return make_array(stacked.data(), {count, 3});
  VectorX<double> rows(3 * count);
  for (Index c = 0; c < count; ++c) {
    rows.segment<3>(3 * c) =
        stacked.segment<3>(data.problem().first_row(data.contacts()[std::size_t(c)]));
  }
  return make_array(rows.data(), {count, 3});
}

nb::list constraint_list(const ProblemData& data, const VectorX<double>& stacked) {
  nb::list result;
  for (const Index block : data.constraints()) {
    result.append(make_array(stacked.data() + data.problem().first_row(block),
                             {Index(data.problem().rows(block))}));
  }
  return result;
}

VectorX<double> read_stacked(const ProblemData& data, nb::handle value, const std::string& item) {
  const GivenArray given(value, item);
  if (given.rank() == 2) {
    if (data.constraint_count() > 0) {
      refuse(item, "an array of 1 axis, stacked block by block, in a problem with constraints",
             "one of shape " + shape_text(given.shape()));
    }
    given.require_shape({data.contact_count(), 3});
  } else {
    given.require_shape({data.problem().impulse_count()});
  }
  return given.flat();
}

void bind_problem(nb::module_& module) {
  nb::class_<PyProblem> problem(module, "ContactProblem", problem_doc);
  bind_many(problem);
  problem
      .def(
          "__init__",
          [](PyProblem* self, nb::handle time_step) {
            const double step = read_number(time_step, "time step");
            new (self) PyProblem{std::make_shared<ProblemData>(step)};
          },
          nb::arg("time_step").none(), nb::sig("def __init__(self, time_step: float) -> None"),
          "time_step [s], > 0.")
      .def("add_body", &add_body, nb::arg("mass").none(), nb::arg("free_velocity").none(),
           nb::arg("velocity") = nb::none(),
           nb::sig("def add_body(self, mass: numpy.typing.ArrayLike, "
                   "free_velocity: numpy.typing.ArrayLike, "
                   "velocity: numpy.typing.ArrayLike | None = None) -> int"),
           "Adds a body.\n\n"
           "mass: (n, n) [kg, kg m^2], symmetric positive definite. free_velocity: (n,) [m/s,\n"
           "rad/s], the outcome of the step if nothing touched. velocity: (n,) [m/s, rad/s], that\n"
           "before the step, from which restitution takes the approach. Returns the number of the\n"
           "body.")
      .def("add_contact", &add_contact, nb::arg("body").none(), nb::arg("jacobian").none(),
           nb::arg("friction").none() = 0.5, nb::arg("gap") = nb::none(),
           nb::arg("stiffness") = nb::none(), nb::arg("dissipation_time") = nb::none(),
           nb::arg("regularization") = nb::none(), nb::arg("bias") = nb::none(),
           nb::arg("other") = nb::none(), nb::arg("other_jacobian") = nb::none(), nb::kw_only(),
           nb::arg("rigid") = nb::none(), nb::arg("restitution") = nb::none(),
           nb::arg("approach") = nb::none(), nb::arg("near_rigid") = nb::none(),
           nb::arg("relative_slip") = nb::none(), nb::arg("compliance") = nb::none(),
           nb::arg("surface_velocity") = nb::none(), nb::arg("correction") = nb::none(),
           nb::sig("def add_contact(self, body: int, jacobian: numpy.typing.ArrayLike, "
                   "friction: float = 0.5, gap: float | None = None, "
                   "stiffness: float | None = None, dissipation_time: float | None = None, "
                   "regularization: numpy.typing.ArrayLike | None = None, "
                   "bias: numpy.typing.ArrayLike | None = None, other: int | None = None, "
                   "other_jacobian: numpy.typing.ArrayLike | None = None, *, "
                   "rigid: bool | None = None, restitution: float | None = None, "
                   "approach: float | None = None, near_rigid: float | None = None, "
                   "relative_slip: float | None = None, compliance: str | None = None, "
                   "surface_velocity: numpy.typing.ArrayLike | None = None, "
                   "correction: float | None = None) -> int"),
           add_contact_doc)
      .def("add_constraint", &add_constraint, nb::arg("body").none(), nb::arg("jacobian").none(),
           nb::arg("law").none(), nb::arg("other") = nb::none(),
           nb::arg("other_jacobian") = nb::none(),
           nb::sig("def add_constraint(self, body: int, jacobian: numpy.typing.ArrayLike, "
                   "law: Motor | JointLimit | DryFriction | Bilateral | Tendon | WrenchContact, "
                   "other: int | None = None, "
                   "other_jacobian: numpy.typing.ArrayLike | None = None) -> int"),
           add_constraint_doc)
      .def("copy", &copy_of, "A problem of its own with the same bodies and blocks.")
      .def("__copy__", &copy_of)
      .def(
          "__deepcopy__", [](const PyProblem& self, nb::handle) { return copy_of(self); },
          nb::arg("memo").none(), nb::sig("def __deepcopy__(self, memo: object) -> ContactProblem"))
      .def("remove_overlap", &remove_overlap,
           nb::sig("def remove_overlap(self) -> numpy.typing.NDArray[numpy.float64]"),
           "The shortest motion that takes all bodies out of each other.\n\n"
           "Returns (nv,) [m, rad], stacked over the bodies in the coordinates of their "
           "velocities:\n"
           "add it to the positions. It moves along normals and gives no speed. To first order:\n"
           "bodies that turn out of a deep overlap take two or three calls.")
      .def("reset", &reset, nb::arg("time_step").none(),
           nb::sig("def reset(self, time_step: float) -> None"),
           "Forgets all bodies and blocks, and keeps the memory. time_step [s], > 0.")
      .def_prop_ro("time_step", [](const PyProblem& p) { return p.data->problem().time_step(); })
      .def_prop_ro("body_count", [](const PyProblem& p) { return p.data->problem().body_count(); })
      .def_prop_ro("velocity_count",
                   [](const PyProblem& p) { return p.data->problem().velocity_count(); })
      .def_prop_ro("contact_count", [](const PyProblem& p) { return p.data->contact_count(); })
      .def_prop_ro("constraint_count",
                   [](const PyProblem& p) { return p.data->constraint_count(); })
      .def_prop_ro(
          "free_velocity",
          [](const PyProblem& p) {
            return make_array(VectorX<double>(p.data->problem().free_velocity()));
          },
          nb::sig("def free_velocity(self) -> numpy.typing.NDArray[numpy.float64]"),
          "(nv,) [m/s, rad/s], stacked over the bodies.")
      .def_prop_ro(
          "guess",
          [](const PyProblem& p) -> nb::object {
            return p.data->guess.size() > 0 ? make_array(p.data->guess) : nb::none();
          },
          nb::sig("def guess(self) -> numpy.typing.NDArray[numpy.float64] | None"),
          "The first guess of the velocity that came with a file, or None. (nv,) [m/s, rad/s].")
      .def_prop_ro(
          "contact_bodies",
          [](const PyProblem& p) { return bodies_of(p.data->problem(), p.data->contacts()); },
          nb::sig("def contact_bodies(self) -> list[tuple[int, int | None]]"),
          "The numbers of the bodies of each contact; None is the world.")
      .def_prop_ro(
          "constraint_bodies",
          [](const PyProblem& p) { return bodies_of(p.data->problem(), p.data->constraints()); },
          nb::sig("def constraint_bodies(self) -> list[tuple[int, int | None]]"),
          "The numbers of the bodies of each constraint; None is the world.")
      .def_prop_ro(
          "constraint_kinds", [](const PyProblem& p) { return constraint_kinds(*p.data); },
          nb::sig("def constraint_kinds(self) -> list[str]"),
          "The class of the law of each constraint, 'Motor' say; 'Block' of one out of a file.")
      .def_prop_ro(
          "friction",
          [](const PyProblem& p) {
            return number_of_contacts(*p.data, [](const ContactData& c) { return c.law.friction; });
          },
          nb::sig("def friction(self) -> numpy.typing.NDArray[numpy.float64]"), "(nc,) [-]")
      .def_prop_ro(
          "gap",
          [](const PyProblem& p) {
            return number_of_contacts(*p.data, [](const ContactData& c) { return c.law.gap; });
          },
          nb::sig("def gap(self) -> numpy.typing.NDArray[numpy.float64]"),
          "(nc,) [m]; zero of a contact out of a file, which has a bias in place of it.")
      .def(
          "draw",
          [](nb::pointer_and_handle<PyProblem> self, nb::handle axes) {
            return nb::module_::import_("carom._plot").attr("draw")(self.h, axes);
          },
          nb::arg("axes") = nb::none(),
          nb::sig("def draw(self, axes: typing.Any = None) -> typing.Any"),
          "Draws which bodies touch, by matplotlib: bodies stand above what carries them, and\n"
          "those that influence each other have one colour. Lines are contacts with their "
          "friction\n"
          "and gap, and constraints, dashed, with their kind. Returns the axes; None makes new "
          "ones.")
      .def("__repr__", &show);
}

}  // namespace carom::python
