// SPDX-License-Identifier: BSD-3-Clause
// carom.FrictionCone and carom.project, over arrays of any leading axes.
#include <algorithm>
#include <nanobind/stl/string.h>
#include <string>
#include <vector>

#include "bindings.hpp"

namespace carom::python {
namespace {

/// Cones by their coefficients of friction, an array of any shape.
struct Cones {
  VectorX<double> friction;
  std::vector<Index> shape;
  double softness = 0;
};

/// Numbers with leading axes that broadcast, and the last axis of each item.
struct Operand {
  std::vector<double> numbers;
  std::vector<Index> leading;
  Index width = 1;
};

Operand read_operand(nb::handle value, const std::string& item, bool has_items) {
  const GivenArray given(value, item);
  const VectorX<double> numbers = given.flat();
  Operand operand{{numbers.begin(), numbers.end()}, given.shape(), 1};
  if (!has_items || given.rank() == 0) return operand;
  operand.width = operand.leading.back();
  operand.leading.pop_back();
  return operand;
}

/// Refuses the first entry that is not as expected.
template <typename Holds>
void require(const Operand& operand, const std::string& item, const char* expected,
             const Holds& holds) {
  for (std::size_t i = 0; i < operand.numbers.size(); ++i) {
    if (holds(operand.numbers[i])) continue;
    std::string place = item;
    if (operand.numbers.size() > 1) {
      std::vector<Index> shape = operand.leading, at;
      if (operand.width > 1) shape.push_back(operand.width);
      Index rest = Index(i);
      for (std::size_t axis = shape.size(); axis-- > 0;) {
        at.insert(at.begin(), rest % shape[axis]);
        rest /= shape[axis];
      }
      place += " entry " + (at.size() == 1 ? std::to_string(at[0]) : shape_text(at));
    }
    detail::reject_if(detail::fault(place, expected, operand.numbers[i]));
  }
}

/// The shape that all leading axes broadcast to, as in numpy.
std::vector<Index> broadcast(const std::vector<const std::vector<Index>*>& shapes) {
  std::vector<Index> result;
  for (const std::vector<Index>* shape : shapes) {
    if (shape->size() > result.size())
      result.insert(result.begin(), shape->size() - result.size(), 1);
    const std::size_t skipped = result.size() - shape->size();
    for (std::size_t axis = 0; axis < shape->size(); ++axis) {
      Index& size = result[skipped + axis];
      const Index other = (*shape)[axis];
      if (size == 1) {
        size = other;
      } else if (other != 1 && other != size) {
        refuse("cone, weights, y", "leading axes that broadcast",
               shape_text(*shape) + " beside " + shape_text(result));
      }
    }
  }
  return result;
}

/// Where an operand's item for each item of the result is.
std::vector<Index> places(const std::vector<Index>& shape, const std::vector<Index>& result) {
  Index count = 1;
  for (const Index size : result) count *= size;
  std::vector<Index> strides(result.size(), 0);
  Index stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const std::size_t place = axis + result.size() - shape.size();
    strides[place] = shape[axis] == 1 ? 0 : stride;
    stride *= shape[axis];
  }
  std::vector<Index> found(std::size_t(count), 0), at(result.size(), 0);
  Index here = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i] = here;
    for (std::size_t axis = result.size(); axis-- > 0;) {
      here += strides[axis];
      if (++at[axis] < result[axis]) break;
      here -= strides[axis] * result[axis];
      at[axis] = 0;
    }
  }
  return found;
}

/// Calls visit(i, cone, weights, y) for every item of the broadcast operands.
/// @return  the leading shape.
template <typename Visit>
std::vector<Index> for_each(const Cones& cones, nb::handle weights, nb::handle y,
                            const Visit& visit) {
  Operand w{{1.0}, {}, 1};
  if (!weights.is_none()) w = read_operand(weights, "weights", true);
  if (w.width == 1 && !w.leading.empty()) refuse("weights", "2 or 3 entries per item", "1");
  if (w.width < 1 || w.width > 3) {
    refuse("weights", "2 or 3 entries per item", std::to_string(w.width));
  }
  require(w, "weights", "a finite number > 0", [](double x) { return detail::is_positive(x); });
  const Operand trial = read_operand(y, "y", true);
  if (trial.width != 3 || trial.numbers.size() % 3 != 0) {
    refuse("y", "3 entries (t1, t2, n) per item", std::to_string(trial.width));
  }
  require(trial, "y", "a finite number", [](double x) { return detail::is_finite(x); });
  const std::vector<Index> shape = broadcast({&cones.shape, &w.leading, &trial.leading});
  const std::vector<Index> cone_at = places(cones.shape, shape);
  const std::vector<Index> weights_at = places(w.leading, shape);
  const std::vector<Index> trial_at = places(trial.leading, shape);
  for (std::size_t i = 0; i < cone_at.size(); ++i) {
    const double* const r = w.numbers.data() + w.width * weights_at[i];
    const double* const t = trial.numbers.data() + 3 * trial_at[i];
    if (w.width == 3 && r[0] != r[1]) {
      refuse("weights entry " + std::to_string(i), "equal weights of the tangents",
             detail::number_text(r[0]) + " and " + detail::number_text(r[1]));
    }
    visit(Index(i), FrictionCone<double>{cones.friction(cone_at[i]), cones.softness},
          ContactWeights<double>{r[0], r[w.width - 1]}, Vector3<double>(t[0], t[1], t[2]));
  }
  return shape;
}

Index item_count(const std::vector<Index>& shape) {
  Index count = 1;
  for (const Index size : shape) count *= size;
  return count;
}

std::vector<Index> with(std::vector<Index> shape, std::initializer_list<Index> more) {
  shape.insert(shape.end(), more);
  return shape;
}

nb::object project_all(const Cones& cones, nb::handle weights, nb::handle y) {
  std::vector<double> points;
  const std::vector<Index> shape =
      for_each(cones, weights, y, [&](Index, const auto& cone, const auto& r, const auto& trial) {
        const Vector3<double> point = project(cone, r, trial).point;
        points.insert(points.end(), point.begin(), point.end());
      });
  points.resize(std::size_t(3 * item_count(shape)));
  return make_array(points.data(), with(shape, {3}));
}

nb::object derivatives(const Cones& cones, nb::handle weights, nb::handle y) {
  std::vector<double> slopes;
  const std::vector<Index> shape =
      for_each(cones, weights, y, [&](Index, const auto& cone, const auto& r, const auto& trial) {
        const SquareMatrix<double, 3> slope = projection_derivative(cone, r, trial).transpose();
        slopes.insert(slopes.end(), slope.data(), slope.data() + 9);
      });
  return make_array(slopes.data(), with(shape, {3, 3}));
}

nb::object regions(const Cones& cones, nb::handle weights, nb::handle y) {
  nb::list names;
  const std::vector<Index> shape =
      for_each(cones, weights, y, [&](Index, const auto& cone, const auto& r, const auto& trial) {
        names.append(to_string(project(cone, r, trial).region));
      });
  nb::list sizes;
  for (const Index size : shape) sizes.append(size);
  return nb::module_::import_("numpy")
      .attr("array")(names, nb::arg("dtype") = "U8")
      .attr("reshape")(nb::tuple(sizes));
}

nb::object contained(const Cones& cones, nb::handle impulse, nb::handle slack) {
  const double allowance = read_number(slack, "slack");
  std::vector<double> inside;
  const std::vector<Index> shape = for_each(
      cones, nb::none(), impulse, [&](Index, const auto& cone, const auto&, const auto& point) {
        inside.push_back(contains(cone, point, allowance) ? 1 : 0);
      });
  return make_array(inside.data(), shape).attr("astype")("bool");
}

nb::object friction_of(const Cones& cones) {
  return cones.shape.empty() ? nb::object(nb::float_(cones.friction(0)))
                             : make_array(cones.friction.data(), cones.shape);
}

std::string show(const Cones& cones) {
  if (cones.shape.empty()) {
    return "FrictionCone(" + carom::detail::number_text(cones.friction(0)) + ")";
  }
  return "FrictionCone(shape=" + shape_text(cones.shape) + ")";
}

constexpr const char* project_doc =
    "The points of cones that are nearest to y: argmin of (g - y)' R (g - y) over g in the "
    "cone.\n\n"
    "cone: a FrictionCone. weights: the diagonal R, > 0: (..., 2) as (tangent, normal), (..., 3) "
    "with\n"
    "equal tangents, a number or None for the Euclidean metric. y: (..., 3), rows (t1, t2, n).\n"
    "Leading axes of all three broadcast as in numpy. Returns (..., 3).";

}  // namespace

void bind_cones(nb::module_& module) {
  nb::class_<Cones>(module, "FrictionCone",
                    "Coulomb's cone |(g1, g2)| <= mu g3, or an array of cones.\n\n"
                    "friction [-], >= 0: a number, or an array of any shape. softness: rounds the\n"
                    "axis of the cone, in the unit of g; 0 is the exact cone.")
      .def(
          "__init__",
          [](Cones* self, nb::handle friction, nb::handle softness) {
            const Operand mu = read_operand(friction, "friction", false);
            require(mu, "friction", "a finite number >= 0",
                    [](double x) { return detail::is_nonnegative(x); });
            const double soft = read_number(softness, "softness");
            if (!detail::is_nonnegative(soft)) {
              detail::reject_if(detail::fault("softness", "a finite number >= 0", soft));
            }
            new (self) Cones{
                Eigen::Map<const VectorX<double>>(mu.numbers.data(), Index(mu.numbers.size())),
                mu.leading, soft};
          },
          nb::arg("friction").none(), nb::arg("softness").none() = 0.0,
          nb::sig("def __init__(self, friction: numpy.typing.ArrayLike, softness: float = 0.0) "
                  "-> None"))
      .def_prop_ro("friction", &friction_of,
                   nb::sig("def friction(self) -> float | numpy.typing.NDArray[numpy.float64]"))
      .def_ro("softness", &Cones::softness)
      .def(
          "project",
          [](const Cones& self, nb::handle weights, nb::handle y) {
            return project_all(self, weights, y);
          },
          nb::arg("weights").none(), nb::arg("y").none(),
          nb::sig("def project(self, weights: numpy.typing.ArrayLike | None, "
                  "y: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]"),
          "As carom.project().")
      .def("region", &regions, nb::arg("weights").none(), nb::arg("y").none(),
           nb::sig("def region(self, weights: numpy.typing.ArrayLike | None, "
                   "y: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.str_]"),
           "'stick', 'slide' or 'separate' of each y: inside, beside and behind the cone. (...)")
      .def("derivative", &derivatives, nb::arg("weights").none(), nb::arg("y").none(),
           nb::sig("def derivative(self, weights: numpy.typing.ArrayLike | None, "
                   "y: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]"),
           "The derivative of the nearest point by y, (..., 3, 3).")
      .def("contains", &contained, nb::arg("impulse").none(), nb::arg("slack").none() = 0.0,
           nb::sig("def contains(self, impulse: numpy.typing.ArrayLike, slack: float = 0.0) "
                   "-> numpy.typing.NDArray[numpy.bool_]"),
           "Whether |(g1, g2)| <= mu g3 + slack. (...)")
      .def("__repr__", &show);
  module.def("project", &project_all, nb::arg("cone").none(), nb::arg("weights").none(),
             nb::arg("y").none(),
             nb::sig("def project(cone: FrictionCone, weights: numpy.typing.ArrayLike | None, "
                     "y: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.float64]"),
             project_doc);
}

}  // namespace carom::python
