// SPDX-License-Identifier: BSD-3-Clause
// carom.impact, carom.outcomes, carom.classify.
#include <cmath>
#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "carom/impact/outcomes.hpp"
#include "carom/impact/plastic.hpp"
#include "carom/impact/resolve_impact.hpp"
#include "carom/impact/simultaneous.hpp"
#include "carom/impact/uniqueness.hpp"

#include "bindings.hpp"
#include "impact_gradient.hpp"
#include "unlocked.hpp"

namespace carom::python {
namespace {

struct Endings {
  std::vector<Ending> outcomes;
  bool complete = false;
  Index states = 0;
  double indeterminacy = 0;
};

/// Bodies and normals in the metric of the masses.
class Metric {
 public:
  Metric(nb::handle mass_matrix, nb::handle normals) {
    const GivenArray matrix(mass_matrix, "mass matrix");
    if (matrix.rank() == 1) {
      const VectorX<double> diagonal = matrix.flat();
      for (Index i = 0; i < diagonal.size(); ++i) {
        if (detail::is_positive(diagonal(i))) continue;
        detail::reject_if(
            detail::fault(detail::entry("mass matrix", i), "a finite number > 0", diagonal(i)));
      }
      mass_ = MassMatrix<double>::make_diagonal(diagonal);
    } else {
      const MatrixX<double> dense = matrix.matrix();
      detail::reject_if(detail::symmetric_fault("mass matrix", "", dense));
      mass_ = MassMatrix<double>::make_dense(dense);
    }
    const GivenArray given(normals, "normals");
    given.require_shape({-1, mass_.size()});
    const MatrixX<double> rows = given.matrix();
    normals_ = rows.transpose();
    problem_.reset(mass_.size());
    lengths_.resize(rows.rows());
    for (Index i = 0; i < rows.rows(); ++i) {
      const VectorX<double> normal = rows.row(i);
      problem_.add_contact(mass_, normal);
      const double largest = normal.cwiseAbs().maxCoeff();
      VectorX<double> response = normal / largest;
      mass_.apply_inverse(response);
      lengths_(i) = largest * std::sqrt((normal / largest).dot(response));
    }
    problem_.prepare();
  }
  [[nodiscard]] const MassMatrix<double>& mass() const noexcept { return mass_; }
  [[nodiscard]] const ImpactProblem<double>& problem() const noexcept { return problem_; }
  /// An impact of a momentum by a law, to be differentiated along the reflections it took.
  template <typename MakeLaw>
  [[nodiscard]] std::shared_ptr<DifferentiableImpact> differentiable(
      const VectorX<double>& momentum, Index reflections, const MakeLaw& make_law) const {
    return std::make_shared<DifferentiableImpact>(
        mass_, problem_, normals_, momentum,
        [reflections, make_law](const DifferentiableImpact& impact,
                                ImpactDerivative<double>& derivative) {
          auto law = make_law();
          if constexpr (requires { law.sequence(); }) {
            law.prepare(impact.problem(), reflections);
          } else {
            law.prepare(impact.problem());
          }
          VectorX<double> after = impact.momentum();
          static_cast<void>(law.resolve(impact.problem(), after));
          return derivative.linearize(impact.problem(), impact.mass(), impact.normals(),
                                      impact.momentum(), law);
        });
  }

  [[nodiscard]] VectorX<double> momentum_of(nb::handle velocity) const {
    const GivenArray given(velocity, "velocity");
    given.require_shape({mass_.size()});
    const VectorX<double> speeds = given.flat();
    detail::reject_if(detail::finite_fault("velocity", speeds));
    const VectorX<double> momentum = mass_.momentum(speeds);
    detail::reject_if(detail::finite_fault("momentum", momentum));
    return momentum;
  }
  [[nodiscard]] Ending ending(const VectorX<double>& momentum, const VectorX<double>& unit_impulses,
                              std::vector<Index> sequence) const {
    Ending end{momentum, momentum, unit_impulses.cwiseQuotient(lengths_), std::move(sequence)};
    mass_.apply_inverse(end.velocity);
    end.kinetic_energy = momentum.dot(end.velocity) / 2;
    return end;
  }

 private:
  MassMatrix<double> mass_;
  ImpactProblem<double> problem_;
  MatrixX<double> normals_;  ///< Dϕ_i, in columns.
  VectorX<double> lengths_;  ///< |Dϕ_i| in the metric.
};

enum class Law { elastic, plastic, restitution, simultaneous };

Law read_impact_law(nb::handle given, double restitution) {
  std::string text;
  if (nb::try_cast(given, text)) {
    if (text == "plastic") return Law::plastic;
    if (text == "restitution") return Law::restitution;
    if (text == "simultaneous") return Law::simultaneous;
    if (text == "elastic") return restitution == 1 ? Law::elastic : Law::restitution;
  }
  refuse("law", "'elastic', 'plastic', 'restitution' or 'simultaneous'", describe(given));
}

/// Resolves an impact; the law that is differentiated is restitution by energy, of which an elastic
/// impact is the end at 1.
template <typename Elastic, typename MakeBlend>
Ending resolve(const Metric& metric, const VectorX<double>& momentum, double restitution,
               const Elastic& elastic, const MakeBlend& make_blend) {
  ImpactSolution<double> solution =
      restitution == 1 ? resolve_impact(metric.problem(), metric.mass(), momentum, elastic)
                       : resolve_impact(metric.problem(), metric.mass(), momentum, make_blend());
  Ending end = metric.ending(solution.momentum, solution.impulses, std::move(solution.sequence));
  end.status = to_string(solution.report.status);
  end.restitution = restitution;
  end.impact = metric.differentiable(momentum, solution.report.reflections, make_blend);
  return end;
}

/// Along an order of reflections.
template <typename Order>
Ending propagate(const Metric& metric, const VectorX<double>& momentum, double restitution,
                 const Order& order) {
  return resolve(metric, momentum, restitution, ImpactResolver<double, Order>({}, order),
                 [restitution, order] {
                   return RestitutionImpact<double, Order>(restitution, PlasticLaw::moreau, {},
                                                           order);
                 });
}

Ending resolve_simultaneously(const Metric& metric, const VectorX<double>& momentum,
                              double restitution) {
  return resolve(metric, momentum, restitution, GeneralizedReflections<double>(),
                 [restitution] { return SimultaneousImpact<double>(restitution); });
}

Ending resolve_plastically(const Metric& metric, const VectorX<double>& momentum) {
  const auto plastic = [] { return PlasticImpact<double>(); };
  const ImpactSolution<double> solution =
      resolve_impact(metric.problem(), metric.mass(), momentum, plastic());
  Ending end = metric.ending(solution.momentum, solution.impulses, {});
  end.status = to_string(solution.report.status);
  end.restitution = 0;
  end.impact = metric.differentiable(momentum, 0, plastic);
  return end;
}

/// A given order with the contacts that act: one that repeats another stands for its twin.
std::vector<Index> read_order(const Metric& metric, nb::handle order) {
  const GivenArray given(order, "order");
  given.require_rank(1);
  if (given.size(0) == 0) refuse("order", "at least one contact", "none");
  std::vector<Index> sequence;
  const VectorX<double> numbers = given.flat();
  for (const double number : numbers) {
    if (!(number >= 0 && number < double(metric.problem().contact_count())) ||
        number != std::floor(number)) {
      detail::reject_if(detail::fault("order", "numbers of contacts", number));
    }
    const Index contact = Index(number), twin = metric.problem().merged_into(contact);
    sequence.push_back(twin >= 0 ? twin : contact);
  }
  return sequence;
}

Ending impact(nb::handle mass_matrix, nb::handle normals, nb::handle velocity, nb::handle law,
              nb::handle restitution, nb::handle order) {
  const Metric metric(mass_matrix, normals);
  const VectorX<double> momentum = metric.momentum_of(velocity);
  const double share = read_number(restitution, "restitution");
  detail::reject_if(detail::restitution_fault(share));
  const Law chosen = read_impact_law(law, share);
  std::string name = "together";
  std::vector<Index> sequence;
  if (!order.is_none() && !nb::try_cast(order, name)) {
    name = "given";
    sequence = read_order(metric, order);
  }
  const bool known = name == "together" || name == "most_infeasible" ||
                     name == "least_infeasible" || name == "sweep" || name == "simultaneous" ||
                     (name == "given" && !sequence.empty());
  if (!known) {
    refuse("order",
           "'together', 'most_infeasible', 'least_infeasible', 'sweep', 'simultaneous' or a "
           "sequence of contacts",
           describe(order));
  }
  if (chosen == Law::simultaneous && !order.is_none() && name != "simultaneous") {
    refuse("order", "None with the simultaneous law, in which no contact is first",
           describe(order));
  }
  const Unlocked unlocked;
  if (chosen == Law::plastic) return resolve_plastically(metric, momentum);
  if (chosen == Law::simultaneous || name == "simultaneous") {
    return resolve_simultaneously(metric, momentum, share);
  }
  if (name == "together") {
    return propagate(metric, momentum, share, MostInfeasibleTogether<double>());
  }
  if (name == "most_infeasible") {
    return propagate(metric, momentum, share, MostInfeasibleFirst<double>());
  }
  if (name == "least_infeasible") {
    return propagate(metric, momentum, share, LeastInfeasibleFirst<double>());
  }
  return propagate(metric, momentum, share, SweepOrder<double>(sequence));
}

Endings outcomes(nb::handle mass_matrix, nb::handle normals, nb::handle velocity,
                 nb::handle limit) {
  const Metric metric(mass_matrix, normals);
  const VectorX<double> momentum = metric.momentum_of(velocity);
  OutcomeOptions<double> options;
  options.state_limit = read_index(limit, "state limit");
  const Unlocked unlocked;
  ImpactOutcomes<double> all =
      enumerate_outcomes(metric.problem(), metric.mass(), momentum, options);
  Endings result{{}, all.complete, all.states, all.indeterminacy};
  for (ImpactOutcome<double>& one : all.outcomes) {
    result.outcomes.push_back(metric.ending(one.momentum, one.impulses, std::move(one.sequence)));
    const bool several = all.outcomes.size() > 1;
    result.outcomes.back().judgement = {.unique = all.complete && !several,
                                        .decided = all.complete || several,
                                        .indeterminacy = all.indeterminacy};
  }
  return result;
}

Uniqueness classify_impact(nb::handle mass_matrix, nb::handle normals, nb::handle tolerance) {
  const Metric metric(mass_matrix, normals);
  if (tolerance.is_none()) return classify(metric.problem());
  const double allowance = read_number(tolerance, "tolerance");
  if (!detail::is_nonnegative(allowance)) {
    detail::reject_if(detail::fault("tolerance", "a finite number >= 0", allowance));
  }
  return classify(metric.problem(), allowance);
}

/// Whether an impact has one outcome; nothing where that is not known.
std::optional<bool> unique_of(const Ending& end) {
  const Unlocked unlocked;
  const OutcomeJudgement<double> judgement = end.judge();
  return judgement.decided ? std::optional<bool>(judgement.unique) : std::nullopt;
}
double indeterminacy_of(const Ending& end) {
  const Unlocked unlocked;
  return end.judge().indeterminacy;
}

std::string text_of(const Ending& end) {
  std::string text = "Impact(status='" + end.status +
                     "', kinetic_energy=" + carom::detail::number_text(end.kinetic_energy) +
                     ", reflections=" + std::to_string(end.sequence.size());
  if (const std::optional<bool> unique = unique_of(end); unique != true) {
    text += std::string(", unique=") + (unique ? "False" : "None") +
            ", indeterminacy=" + carom::detail::number_text(indeterminacy_of(end));
  }
  return text + ")";
}

void bind_endings(nb::module_& module) {
  const char* const arrays = "numpy.typing.NDArray[numpy.float64]";
  nb::class_<Ending> impact_class(module, "Impact", "One way in which an impact ends.");
  const auto vector = [&](const char* name, VectorX<double> Ending::*member, const char* doc) {
    const std::string signature = std::string("def ") + name + "(self) -> " + arrays;
    impact_class.def_prop_ro(
        name, [member](const Ending& end) { return make_array(end.*member); },
        nb::sig(signature.c_str()), doc);
  };
  vector("velocity", &Ending::velocity, "(n,) [m/s, rad/s], after the impact.");
  vector("momentum", &Ending::momentum, "(n,) [N s, N m s], after the impact.");
  vector("impulses", &Ending::impulses,
         "(contacts,): momentum after = momentum before + sum of impulses[i] * normals[i].");
  impact_class
      .def_ro("sequence", &Ending::sequence,
              "Contacts in the order of their reflections; those that reflect at once follow each\n"
              "other.")
      .def_prop_ro(
          "unique", &unique_of,
          "Whether the impact could end in no other way: by no order of reflections, and\n"
          "not where equivalent contacts reflect together. None where the search, of a few\n"
          "milliseconds, ended before that was known, and where no motion opens all\n"
          "contacts. It is found when it is first asked for.")
      .def_prop_ro(
          "indeterminacy", &indeterminacy_of,
          "Largest distance of two outcomes, relative to the momentum before [-]; a lower\n"
          "bound where unique is None.")
      .def_ro("kinetic_energy", &Ending::kinetic_energy, "[J], after the impact.")
      .def_ro("status", &Ending::status,
              "'resolved', 'reflection_limit', 'wedged' (no motion opens all contacts: resolved\n"
              "plastically) or 'not_finite'.")
      .def("__repr__", &text_of);
  bind_impact_gradient(module, impact_class);
  nb::class_<Endings>(module, "Outcomes", "All ways in which an elastic impact can end.")
      .def_ro("outcomes", &Endings::outcomes,
              "A list of Impact, those of fewest reflections first.")
      .def_ro("complete", &Endings::complete, "False where the limit ended the search.")
      .def_ro("states", &Endings::states, "Distinct momenta met on the way.")
      .def_ro("indeterminacy", &Endings::indeterminacy,
              "Largest distance of two outcomes, relative to the momentum before [-].")
      .def("__len__", [](const Endings& all) { return all.outcomes.size(); })
      .def("__getitem__",
           [](const Endings& all, Index i) {
             const Index count = Index(all.outcomes.size());
             if (i < -count || i >= count) throw nb::index_error("no such outcome");
             return all.outcomes[std::size_t(i < 0 ? i + count : i)];
           })
      .def("__repr__", [](const Endings& all) {
        return "Outcomes(" + std::to_string(all.outcomes.size()) +
               " outcomes, complete=" + (all.complete ? "True" : "False") + ")";
      });
  nb::class_<Uniqueness>(module, "Uniqueness",
                         "What masses and normals alone say about the outcomes of an impact.")
      .def_prop_ro(
          "unique", [](const Uniqueness& u) { return u.unique(); },
          "Whether every velocity has one outcome, whatever the order of reflections.")
      .def_prop_ro(
          "reason", [](const Uniqueness& u) { return to_string(u); },
          "'orthogonal', 'dihedral m=3', 'Coxeter A3', ... or 'unknown'.")
      .def_ro("components", &Uniqueness::components,
              "Type of each irreducible part of the group that the reflections generate.")
      .def("__repr__", [](const Uniqueness& u) {
        return std::string("Uniqueness(unique=") + (u.unique() ? "True" : "False") + ", reason='" +
               to_string(u) + "')";
      });
}

}  // namespace

void bind_impact(nb::module_& module) {
  bind_endings(module);
  module.def(
      "impact", &impact, nb::arg("mass_matrix").none(), nb::arg("normals").none(),
      nb::arg("velocity").none(), nb::arg("law").none() = "elastic",
      nb::arg("restitution").none() = 1.0, nb::arg("order") = nb::none(),
      nb::sig("def impact(mass_matrix: numpy.typing.ArrayLike, normals: numpy.typing.ArrayLike, "
              "velocity: numpy.typing.ArrayLike, law: str = 'elastic', restitution: float = 1.0, "
              "order: str | collections.abc.Sequence[int] | None = None) -> Impact"),
      "Resolves a simultaneous impact of closed contacts.\n\n"
      "mass_matrix: (n, n) [kg, kg m^2], or its diagonal (n,). normals: (contacts, n), gradients "
      "of\n"
      "the gaps; their lengths do not matter. velocity: (n,) [m/s, rad/s], before. law: "
      "'elastic',\n"
      "one reflection after another until no contact closes; 'simultaneous', all contacts that "
      "close\n"
      "at once; 'plastic'; or 'restitution', elastic but for the energy. restitution [-], in [0, "
      "1],\n"
      "is that of the energy, and below 1 'elastic' means 'restitution'. order: which contact "
      "reflects\n"
      "first: 'most_infeasible', 'least_infeasible', 'sweep', or a sequence of contacts. None, or "
      "'together': the most\n"
      "infeasible, together with all that nothing in the data tells apart from it, so that a body\n"
      "which lands flat rises flat. 'simultaneous' is the law of that name. Where the order "
      "decides,\n"
      "the result's unique is False.");
  module.def("outcomes", &outcomes, nb::arg("mass_matrix").none(), nb::arg("normals").none(),
             nb::arg("velocity").none(), nb::arg("state_limit").none() = 200'000,
             nb::sig("def outcomes(mass_matrix: numpy.typing.ArrayLike, "
                     "normals: numpy.typing.ArrayLike, velocity: numpy.typing.ArrayLike, "
                     "state_limit: int = 200000) -> Outcomes"),
             "All outcomes of an elastic impact over all orders of reflections, and the one of\n"
             "equivalent contacts that reflect together; see impact().\n"
             "None, and not complete, where no motion opens all contacts.");
  module.def("classify", &classify_impact, nb::arg("mass_matrix").none(), nb::arg("normals").none(),
             nb::arg("tolerance") = nb::none(),
             nb::sig("def classify(mass_matrix: numpy.typing.ArrayLike, "
                     "normals: numpy.typing.ArrayLike, tolerance: float | None = None) "
                     "-> Uniqueness"),
             "Whether every elastic impact of these contacts has one outcome; see impact().");
}

}  // namespace carom::python
