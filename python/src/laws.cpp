// SPDX-License-Identifier: BSD-3-Clause
// The laws of constraints: small classes that hold numbers.
#include <array>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "contact_options.hpp"

namespace carom::python {
namespace {

constexpr std::array<std::pair<const char*, ImpulseShape>, 7> shapes{
    {{"friction", ImpulseShape::friction},
     {"elliptic", ImpulseShape::elliptic},
     {"torsional", ImpulseShape::torsional},
     {"rolling", ImpulseShape::rolling},
     {"ellipsoidal_torsional", ImpulseShape::ellipsoidal_torsional},
     {"ellipsoidal_rolling", ImpulseShape::ellipsoidal_rolling},
     {"spinless_rolling", ImpulseShape::spinless_rolling}}};

ImpulseShape read_shape(nb::handle given) {
  std::string text;
  if (nb::try_cast(given, text)) {
    for (const auto& [name, shape] : shapes) {
      if (text == name) return shape;
    }
  }
  std::string list;
  for (const auto& [name, shape] : shapes)
    list += (list.empty() ? "'" : "', '") + std::string(name);
  refuse("WrenchContact: shape", "one of " + list + "'", describe(given));
}

const char* shape_name(ImpulseShape wanted) {
  for (const auto& [name, shape] : shapes) {
    if (shape == wanted) return name;
  }
  return "friction";
}

/// "Name(first=1, second=2)".
class Text {
 public:
  explicit Text(const char* name) : text_(name) { text_ += '('; }
  Text& add(const char* field, const std::string& value) {
    if (text_.back() != '(') text_ += ", ";
    text_ += std::string(field) + "=" + value;
    return *this;
  }
  Text& add(const char* field, double value) {
    return add(field, carom::detail::number_text(value));
  }
  [[nodiscard]] std::string end() const { return text_ + ")"; }

 private:
  std::string text_;
};

/// A Bilateral whose number of rows may follow from the Jacobian.
struct PyBilateral {
  Bilateral<double> law;
  bool open = true;  ///< Whether the rows follow.
};

double number_or_infinity(nb::handle value, const std::string& item) {
  return value.is_none() ? std::numeric_limits<double>::infinity() : read_number(value, item);
}

void bind_joints(nb::module_& module) {
  nb::class_<JointLimit<double>>(
      module, "JointLimit",
      "A stop along one row J, which pushes towards J v > 0.\n\n"
      "gap: distance to the stop [m, rad], negative beyond it. stiffness [N/m, N m/rad]: None, "
      "and\n"
      "it is rigid; compliance='step' takes the stiffest spring that the step resolves.\n"
      "dissipation_time [s], near_rigid: of a spring, as in C++. correction [-], in [0, 1]: of a\n"
      "rigid one, the share of a penetration that is taken out in a step.")
      .def(
          "__init__",
          [](JointLimit<double>* self, nb::handle gap, nb::handle stiffness, nb::handle dissipation,
             nb::handle near_rigid, nb::handle compliance, nb::handle correction) {
            new (self) JointLimit<double>{read_number(gap, "JointLimit: gap"),
                                          number_or_infinity(stiffness, "JointLimit: stiffness"),
                                          read_number(dissipation, "JointLimit: dissipation time"),
                                          read_number(near_rigid, "JointLimit: near-rigid factor"),
                                          read_compliance(compliance, "JointLimit"),
                                          read_number(correction, "JointLimit: correction")};
          },
          nb::arg("gap").none(), nb::arg("stiffness") = nb::none(),
          nb::arg("dissipation_time").none() = 0.0, nb::arg("near_rigid").none() = 1.0,
          nb::arg("compliance") = nb::none(), nb::arg("correction").none() = 0.0,
          nb::sig("def __init__(self, gap: float, stiffness: float | None = None, "
                  "dissipation_time: float = 0.0, near_rigid: float = 1.0, "
                  "compliance: str | None = None, correction: float = 0.0) -> None"))
      .def_ro("gap", &JointLimit<double>::gap)
      .def_ro("stiffness", &JointLimit<double>::stiffness)
      .def_ro("dissipation_time", &JointLimit<double>::dissipation_time)
      .def_ro("near_rigid", &JointLimit<double>::near_rigid)
      .def_ro("correction", &JointLimit<double>::correction)
      .def("__repr__", [](const JointLimit<double>& law) {
        return Text("JointLimit")
            .add("gap", law.gap)
            .add("stiffness", law.stiffness)
            .add("dissipation_time", law.dissipation_time)
            .end();
      });
  nb::class_<DryFriction<double>>(
      module, "DryFriction",
      "Friction in a joint that does not depend on a load: an effort of at most effort_limit\n"
      "[N, N m] against the motion. relative_slip [-], >= 0: how much the joint creeps below it; "
      "0\n"
      "and it stands still.")
      .def(
          "__init__",
          [](DryFriction<double>* self, nb::handle effort, nb::handle slip) {
            new (self) DryFriction<double>{read_number(effort, "DryFriction: effort limit"),
                                           read_number(slip, "DryFriction: relative slip")};
          },
          nb::arg("effort_limit").none(), nb::arg("relative_slip").none() = 0.0,
          nb::sig("def __init__(self, effort_limit: float, relative_slip: float = 0.0) -> None"))
      .def_ro("effort_limit", &DryFriction<double>::effort_limit)
      .def_ro("relative_slip", &DryFriction<double>::relative_slip)
      .def("__repr__", [](const DryFriction<double>& law) {
        return Text("DryFriction").add("effort_limit", law.effort_limit).end();
      });
}

void bind_motor(nb::module_& module) {
  nb::class_<Motor<double>>(
      module, "Motor",
      "A PD motor along one row, its effort taken at the end of the step and bounded.\n\n"
      "position_error [m, rad]: position minus the wanted one. wanted_velocity [m/s, rad/s].\n"
      "position_gain [N/m, N m/rad], velocity_gain [N s/m, N m s/rad]: one of them > 0.\n"
      "effort_limit [N, N m]: None for none.")
      .def(
          "__init__",
          [](Motor<double>* self, nb::handle error, nb::handle velocity, nb::handle position_gain,
             nb::handle velocity_gain, nb::handle effort, nb::handle near_rigid) {
            new (self) Motor<double>{read_number(error, "Motor: position error"),
                                     read_number(velocity, "Motor: wanted velocity"),
                                     read_number(position_gain, "Motor: position gain"),
                                     read_number(velocity_gain, "Motor: velocity gain"),
                                     number_or_infinity(effort, "Motor: effort limit"),
                                     read_number(near_rigid, "Motor: near-rigid factor")};
          },
          nb::arg("position_error").none() = 0.0, nb::arg("wanted_velocity").none() = 0.0,
          nb::arg("position_gain").none() = 0.0, nb::arg("velocity_gain").none() = 0.0,
          nb::arg("effort_limit") = nb::none(), nb::arg("near_rigid").none() = 1.0,
          nb::sig("def __init__(self, position_error: float = 0.0, wanted_velocity: float = 0.0, "
                  "position_gain: float = 0.0, velocity_gain: float = 0.0, "
                  "effort_limit: float | None = None, near_rigid: float = 1.0) -> None"))
      .def_ro("position_error", &Motor<double>::position_error)
      .def_ro("wanted_velocity", &Motor<double>::wanted_velocity)
      .def_ro("position_gain", &Motor<double>::position_gain)
      .def_ro("velocity_gain", &Motor<double>::velocity_gain)
      .def_ro("effort_limit", &Motor<double>::effort_limit)
      .def_ro("near_rigid", &Motor<double>::near_rigid)
      .def("__repr__", [](const Motor<double>& law) {
        return Text("Motor")
            .add("position_error", law.position_error)
            .add("wanted_velocity", law.wanted_velocity)
            .add("position_gain", law.position_gain)
            .add("velocity_gain", law.velocity_gain)
            .add("effort_limit", law.effort_limit)
            .end();
      });
}

void bind_springs(nb::module_& module) {
  nb::class_<Tendon<double>>(
      module, "Tendon",
      "What pulls and never pushes; J v is the rate at which it grows longer.\n\n"
      "stretch [m], negative when slack. stiffness [N/m]: None, and it is a rope that grows no\n"
      "longer; compliance='step' takes the stiffest spring that the step resolves.\n"
      "dissipation_time [s], near_rigid: of a spring. tension_limit [N]: None for none.\n"
      "correction [-], in [0, 1]: of a rope, the share of a stretch that is taken back in a step.")
      .def(
          "__init__",
          [](Tendon<double>* self, nb::handle stretch, nb::handle stiffness, nb::handle dissipation,
             nb::handle tension, nb::handle near_rigid, nb::handle compliance,
             nb::handle correction) {
            new (self) Tendon<double>{read_number(stretch, "Tendon: stretch"),
                                      number_or_infinity(stiffness, "Tendon: stiffness"),
                                      read_number(dissipation, "Tendon: dissipation time"),
                                      number_or_infinity(tension, "Tendon: tension limit"),
                                      read_number(near_rigid, "Tendon: near-rigid factor"),
                                      read_compliance(compliance, "Tendon"),
                                      read_number(correction, "Tendon: correction")};
          },
          nb::arg("stretch").none(), nb::arg("stiffness") = nb::none(),
          nb::arg("dissipation_time").none() = 0.0, nb::arg("tension_limit") = nb::none(),
          nb::arg("near_rigid").none() = 1.0, nb::arg("compliance") = nb::none(),
          nb::arg("correction").none() = 0.0,
          nb::sig("def __init__(self, stretch: float, stiffness: float | None = None, "
                  "dissipation_time: float = 0.0, tension_limit: float | None = None, "
                  "near_rigid: float = 1.0, compliance: str | None = None, "
                  "correction: float = 0.0) -> None"))
      .def_ro("stretch", &Tendon<double>::stretch)
      .def_ro("stiffness", &Tendon<double>::stiffness)
      .def_ro("dissipation_time", &Tendon<double>::dissipation_time)
      .def_ro("tension_limit", &Tendon<double>::tension_limit)
      .def_ro("near_rigid", &Tendon<double>::near_rigid)
      .def_ro("correction", &Tendon<double>::correction)
      .def("__repr__", [](const Tendon<double>& law) {
        return Text("Tendon")
            .add("stretch", law.stretch)
            .add("stiffness", law.stiffness)
            .add("tension_limit", law.tension_limit)
            .end();
      });
  nb::class_<PyBilateral>(
      module, "Bilateral",
      "Rows that are held at zero from both sides: points, welds, couplers, joints.\n\n"
      "error [m, rad]: a number for every row, or one per row (rows,), 1 to 6 of them.\n"
      "stiffness [N/m, N m/rad]: None, and they are rigid; compliance='step' takes the stiffest\n"
      "springs that the step resolves. dissipation_time [s], near_rigid: of springs. correction "
      "[-],\n"
      "in [0, 1]: the share of the error that rigid rows take out in a step; the speed that this\n"
      "takes goes as the error does.")
      .def(
          "__init__",
          [](PyBilateral* self, nb::handle error, nb::handle stiffness, nb::handle dissipation,
             nb::handle near_rigid, nb::handle compliance, nb::handle correction) {
            PyBilateral made;
            const GivenArray errors(error, "Bilateral: error");
            if (errors.rank() == 0) {
              made.law.error.setConstant(*errors.data());
            } else {
              errors.require_rank(1);
              if (errors.size(0) < 1 || errors.size(0) > 6) {
                refuse("Bilateral: error", "1 to 6 entries", std::to_string(errors.size(0)));
              }
              made.open = false;
              made.law.rows = int(errors.size(0));
              made.law.error.head(made.law.rows) = errors.vector();
            }
            made.law.stiffness = number_or_infinity(stiffness, "Bilateral: stiffness");
            made.law.dissipation_time = read_number(dissipation, "Bilateral: dissipation time");
            made.law.near_rigid = read_number(near_rigid, "Bilateral: near-rigid factor");
            made.law.compliance = read_compliance(compliance, "Bilateral");
            if (!correction.is_none()) {
              made.law.correction = read_number(correction, "Bilateral: correction");
            }
            new (self) PyBilateral(made);
          },
          nb::arg("error").none() = 0.0, nb::arg("stiffness") = nb::none(),
          nb::arg("dissipation_time").none() = 0.0, nb::arg("near_rigid").none() = 1.0,
          nb::arg("compliance") = nb::none(), nb::arg("correction") = nb::none(),
          nb::sig("def __init__(self, error: numpy.typing.ArrayLike = 0.0, "
                  "stiffness: float | None = None, dissipation_time: float = 0.0, "
                  "near_rigid: float = 1.0, compliance: str | None = None, "
                  "correction: float | None = None) -> None"))
      .def_prop_ro("stiffness", [](const PyBilateral& self) { return self.law.stiffness; })
      .def_prop_ro("dissipation_time",
                   [](const PyBilateral& self) { return self.law.dissipation_time; })
      .def_prop_ro("correction", [](const PyBilateral& self) { return self.law.correction; })
      .def("__repr__", [](const PyBilateral& self) {
        Text text("Bilateral");
        if (!self.open) text.add("rows", std::to_string(self.law.rows));
        return text.add("stiffness", self.law.stiffness).end();
      });
}

void bind_wrench(nb::module_& module) {
  nb::class_<WrenchContact<double>>(
      module, "WrenchContact",
      "A contact that resists more than sliding, or holds on: rows (t1, t2, n) and, by its shape,\n"
      "the spin about n, about (t1, t2), or about (t1, t2, n).\n\n"
      "shape: 'friction' (3 rows), 'elliptic' (3), 'torsional' (4), 'spinless_rolling' (5),\n"
      "'rolling' (6), 'ellipsoidal_torsional' (4), 'ellipsoidal_rolling' (6).\n"
      "rolling_friction, torsional_friction [m], of shapes that have them; second_friction [-]\n"
      "along t2, of an elliptic one: None for that along t1. bond [N]: adhesion. The other "
      "numbers\n"
      "are those of add_contact(): without a stiffness it is rigid.")
      .def(
          "__init__",
          [](WrenchContact<double>* self, nb::handle friction, nb::handle gap, nb::handle stiffness,
             nb::handle dissipation, nb::handle shape, nb::handle rolling, nb::handle torsional,
             nb::handle second, nb::handle bond, nb::handle compliance, nb::handle surface_velocity,
             nb::handle correction) {
            const std::string name = "WrenchContact: ";
            WrenchContact<double> law{CompliantContact<double>{
                .gap = read_number(gap, name + "gap"),
                .stiffness = number_or_infinity(stiffness, name + "stiffness"),
                .dissipation_time = read_number(dissipation, name + "dissipation time"),
                .friction = read_number(friction, name + "friction")}};
            law.shape = read_shape(shape);
            law.rolling_friction = read_number(rolling, name + "rolling friction");
            law.torsional_friction = read_number(torsional, name + "torsional friction");
            if (!second.is_none()) {
              law.second_friction = read_number(second, name + "second friction");
            }
            law.contact.compliance = read_compliance(compliance, "WrenchContact");
            law.contact.correction = read_number(correction, name + "correction");
            if (!surface_velocity.is_none()) {
              const GivenArray given(surface_velocity, name + "surface velocity");
              given.require_shape({3});
              law.contact.surface_velocity = given.vector();
            }
            law.bond = read_number(bond, name + "bond");
            new (self) WrenchContact<double>(law);
          },
          nb::arg("friction").none() = 0.5, nb::arg("gap").none() = 0.0,
          nb::arg("stiffness") = nb::none(), nb::arg("dissipation_time").none() = 0.0,
          nb::arg("shape").none() = "rolling", nb::arg("rolling_friction").none() = 0.0,
          nb::arg("torsional_friction").none() = 0.0, nb::arg("second_friction") = nb::none(),
          nb::arg("bond").none() = 0.0, nb::arg("compliance") = nb::none(),
          nb::arg("surface_velocity") = nb::none(),
          nb::arg("correction").none() = usual_overlap_share,
          nb::sig("def __init__(self, friction: float = 0.5, gap: float = 0.0, "
                  "stiffness: float | None = None, dissipation_time: float = 0.0, "
                  "shape: str = 'rolling', rolling_friction: float = 0.0, "
                  "torsional_friction: float = 0.0, second_friction: float | None = None, "
                  "bond: float = 0.0, compliance: str | None = None, "
                  "surface_velocity: numpy.typing.ArrayLike | None = None, "
                  "correction: float = 0.2) -> None"))
      .def_prop_ro("shape", [](const WrenchContact<double>& law) { return shape_name(law.shape); })
      .def_prop_ro("friction",
                   [](const WrenchContact<double>& law) { return law.contact.friction; })
      .def_prop_ro("gap", [](const WrenchContact<double>& law) { return law.contact.gap; })
      .def_prop_ro("stiffness",
                   [](const WrenchContact<double>& law) { return law.contact.stiffness; })
      .def_ro("rolling_friction", &WrenchContact<double>::rolling_friction)
      .def_ro("torsional_friction", &WrenchContact<double>::torsional_friction)
      .def_ro("second_friction", &WrenchContact<double>::second_friction)
      .def_ro("bond", &WrenchContact<double>::bond)
      .def("__repr__", [](const WrenchContact<double>& law) {
        return Text("WrenchContact")
            .add("shape", std::string("'") + shape_name(law.shape) + "'")
            .add("friction", law.contact.friction)
            .add("gap", law.contact.gap)
            .add("rolling_friction", law.rolling_friction)
            .add("torsional_friction", law.torsional_friction)
            .end();
      });
}

template <typename Law>
bool take(nb::handle given, BlockLaw& law) {
  Law* found = nullptr;
  if (!nb::try_cast(given, found, false) || found == nullptr) return false;
  law = *found;
  return true;
}

}  // namespace

BlockLaw read_constraint_law(nb::handle given, Index rows, const std::string& item) {
  BlockLaw law;
  PyBilateral* bilateral = nullptr;
  if (nb::try_cast(given, bilateral, false) && bilateral != nullptr) {
    Bilateral<double> springs = bilateral->law;
    if (bilateral->open) springs.rows = int(std::clamp<Index>(rows, 1, 6));
    return springs;
  }
  const bool known = take<JointLimit<double>>(given, law) ||
                     take<DryFriction<double>>(given, law) || take<Motor<double>>(given, law) ||
                     take<Tendon<double>>(given, law) || take<WrenchContact<double>>(given, law);
  if (!known) {
    refuse(item + ": law", "a Motor, JointLimit, DryFriction, Bilateral, Tendon or WrenchContact",
           describe(given));
  }
  return law;
}

void bind_laws(nb::module_& module) {
  bind_joints(module);
  bind_motor(module);
  bind_springs(module);
  bind_wrench(module);
}

}  // namespace carom::python
