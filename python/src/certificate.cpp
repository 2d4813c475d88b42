// SPDX-License-Identifier: BSD-3-Clause
// carom.certify.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <optional>
#include <string>

#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/impulse_certificate.hpp"

#include "bindings.hpp"
#include "impulse_problem.hpp"
#include "thread_team.hpp"
#include "unlocked.hpp"

namespace carom::python {
namespace {

/// How good an answer is, computed from the answer alone.
struct Certificate {
  FrictionLaw law = FrictionLaw::coulomb;
  double residual = 0, momentum_residual = 0, natural_map_error = 0, cone_violation = 0,
         complementarity = 0;
  double error_bound = std::numeric_limits<double>::infinity();
  std::optional<double> duality_gap, signorini, dissipation_angle;
  std::optional<Index> worst_contact;
};

void take_worst(const ProblemData& data, Index block, Certificate& certificate) {
  for (Index c = 0; c < data.contact_count(); ++c) {
    if (data.contacts()[std::size_t(c)] == block) certificate.worst_contact = c;
  }
}

/// What impulses alone are worth; the worst contact is left out.
Certificate judge_impulses(const DelassusProblem<double>& dual, FrictionLaw law,
                           const VectorX<double>& impulse, Index& worst) {
  const ImpulseCertificate<double> alone = certify(dual, impulse, law);
  Certificate result;
  result.law = law;
  result.natural_map_error = alone.natural_map_error;
  result.cone_violation = alone.cone_violation;
  result.complementarity = alone.complementarity;
  result.signorini = alone.signorini;
  result.dissipation_angle = alone.dissipation_angle;
  worst = alone.worst_block;
  return result;
}

Certificate judge(const ProblemData& data, FrictionLaw law, const VectorX<double>& velocity,
                  const VectorX<double>& impulse, int threads) {
  const ContactProblem<double>& problem = data.problem();
  const bool compliant = law == FrictionLaw::convex && problem.rigid_count() == 0;
  ContactCertificate<double> pair;
  AnswerError<double> error;
  Certificate impulses;
  const auto measure = [&](std::size_t which) {
    if (which == 0) pair = certify(problem, velocity, impulse);
    if (which == 1) error = judge_answer(problem, law, velocity, impulse);
    if (which == 2 && !compliant) {
      DelassusForm<double> form;
      DelassusProblem<double> dual;
      form.write(problem, dual);
      Index worst = -1;
      impulses = judge_impulses(dual, law, impulse, worst);
    }
  };
  const SharedWork work{.count = 3,
                        .threads = threads,
                        .make_work = [&](Lookout*) -> RangeWork {
                          return [&](std::size_t first, std::size_t last) {
                            for (std::size_t i = first; i < last; ++i) measure(i);
                          };
                        },
                        .ask = {}};
  std::atomic<bool> stopped = false;
  do_all(work, stopped);
  Certificate result = compliant ? Certificate() : impulses;
  result.law = law;
  result.residual = error.residual;
  result.momentum_residual = pair.residual;
  if (compliant) {
    result.error_bound = pair.velocity_error_bound;
    result.natural_map_error = pair.natural_map_error;
    result.cone_violation = pair.cone_violation;
    result.complementarity = pair.complementarity;
    result.duality_gap = pair.duality_gap;
  }
  take_worst(data, error.block, result);
  return result;
}

Certificate certify_answer(const PyProblem& problem, nb::handle velocity, nb::handle impulse,
                           nb::handle law, nb::handle rigid, nb::handle threads) {
  std::shared_ptr<const ProblemData> data = problem.data;
  const FrictionLaw chosen = read_law(law);
  constexpr Index least = 3000;  // rows that are judged in about the time that a thread takes
  const int most = read_threads(threads);
  const int useful = data->problem().impulse_count() < least ? 1 : std::min(most, 3);
  if (nb::cast<bool>(nb::bool_(nb::borrow(rigid)))) {
    auto copy = std::make_shared<ProblemData>(*data);
    copy->make_rigid();
    data = copy;
  }
  const ContactProblem<double>& step = data->problem();
  VectorX<double> v, gamma;
  if (!velocity.is_none()) {
    const GivenArray given(velocity, "velocity");
    given.require_shape({step.velocity_count()});
    v = given.flat();
  }
  if (!impulse.is_none()) gamma = read_stacked(*data, impulse, "impulse");
  if (velocity.is_none() && impulse.is_none()) {
    refuse("certify", "a velocity, impulses or both", "neither");
  }
  const bool compliant = chosen == FrictionLaw::convex && step.rigid_count() == 0;
  if (impulse.is_none() && !compliant) {
    refuse("impulse", "the impulses where the law is 'coulomb' or a contact rigid", "None");
  }
  const Unlocked unlocked;
  if (velocity.is_none()) write_velocity(step, gamma, v);
  if (impulse.is_none()) {
    gamma.setZero(step.impulse_count());
    if (v.allFinite()) write_impulse(step, v, gamma);
  }
  return judge(*data, chosen, v, gamma, useful);
}

Certificate certify_impulses(const std::shared_ptr<ImpulseProblem>& problem, nb::handle impulse,
                             nb::handle law) {
  const FrictionLaw chosen = read_law(law);
  const files::FrictionProblem& file = problem->file;
  const GivenArray given(impulse, "impulse");
  if (file.equality_count() > 0) {
    refuse("certify", "a problem without equality constraints",
           std::to_string(file.equality_count()) + " of them");
  }
  given.require_shape({file.contact_count, file.dimension});
  const VectorX<double> rows = given.flat();
  const Unlocked unlocked;
  Index worst = -1;
  Certificate result = judge_impulses(problem->dual, chosen, rows, worst);
  if (worst >= 0) result.worst_contact = worst;
  return result;
}

std::string show(const Certificate& c) {
  const auto number = [](double x) { return carom::detail::number_text(x); };
  return std::string("Certificate(law='") + to_string(c.law) + "', residual=" + number(c.residual) +
         ", natural_map_error=" + number(c.natural_map_error) +
         ", error_bound=" + number(c.error_bound) + ")";
}

}  // namespace

void bind_certificate(nb::module_& module) {
  nb::class_<Certificate>(
      module, "Certificate",
      "How good an answer is, computed from the answer alone. Every measure is\n"
      "0 at a solution, and infinite where a number is not finite.")
      .def_prop_ro("law", [](const Certificate& c) { return to_string(c.law); })
      .def_ro("residual", &Certificate::residual,
              "The largest error of a contact, constraint or body, each by what its own bodies\n"
              "do [-]: the measure of Solution.residual and of tolerance.")
      .def_ro("momentum_residual", &Certificate::momentum_residual,
              "Balance of momentum of the whole problem: |A (v - v_free) - J' impulse|, relative\n"
              "[-].")
      .def_ro(
          "error_bound", &Certificate::error_bound,
          "Proven bound on the error of the velocity [J^(1/2)], in the norm of the mass matrix;\n"
          "infinite where the law is 'coulomb' or a contact rigid.")
      .def_ro("natural_map_error", &Certificate::natural_map_error,
              "How far the impulses are from the law, relative [-].")
      .def_ro("worst_contact", &Certificate::worst_contact,
              "Number of the contact with the largest part in it, or None.")
      .def_ro("cone_violation", &Certificate::cone_violation,
              "Largest distance of an impulse from its cone [N s].")
      .def_ro("complementarity", &Certificate::complementarity, "Largest |impulse . u| [J].")
      .def_ro("duality_gap", &Certificate::duality_gap,
              "[J], of the convex law on compliant contact, else None.")
      .def_ro("signorini", &Certificate::signorini,
              "Largest violation of Signorini's condition [m/s], or None.")
      .def_ro("dissipation_angle", &Certificate::dissipation_angle,
              "Largest angle between friction and the direction against slip [rad], or None.")
      .def("__repr__", &show);
  module.def(
      "certify", &certify_answer, nb::arg("problem"), nb::arg("velocity") = nb::none(),
      nb::arg("impulse") = nb::none(), nb::arg("law").none() = "coulomb",
      nb::arg("rigid").none() = false, nb::arg("threads") = nb::none(),
      nb::sig("def certify(problem: ContactProblem, "
              "velocity: numpy.typing.ArrayLike | None = None, "
              "impulse: numpy.typing.ArrayLike | None = None, law: str = 'coulomb', "
              "rigid: bool = False, threads: int | None = None) -> Certificate"),
      "Judges an answer, whoever found it.\n\n"
      "velocity: (nv,) [m/s, rad/s]. impulse: (nc, 3) [N s], or stacked as\n"
      "Solution.stacked_impulse. What is left out follows from the other: the velocity that\n"
      "impulses lead to, or under the convex law the impulses that a velocity leads to.\n"
      "threads: on which the measures are taken, up to three of use; None: as many as there are.");
  module.def(
      "certify", &certify_impulses, nb::arg("problem"), nb::arg("impulse").none(),
      nb::arg("law") = nb::none(),
      nb::sig("def certify(problem: ImpulseProblem, impulse: numpy.typing.ArrayLike, "
              "law: str | None = None) -> Certificate"),
      "The same of (nc, d) impulses of a problem in impulses, whose law is 'coulomb' unless\n"
      "told otherwise.");
}

}  // namespace carom::python
