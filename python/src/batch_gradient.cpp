// SPDX-License-Identifier: BSD-3-Clause
// carom.BatchGradients and BatchSolution.pull_back.
#include <algorithm>
#include <functional>
#include <limits>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <stdexcept>
#include <string>
#include <utility>

#include "batch_solver.hpp"
#include "bindings.hpp"
#include "gradient.hpp"
#include "thread_team.hpp"
#include "unlocked.hpp"

namespace carom::python {
namespace {

void set_not_a_number(PhysicalNumbers& numbers) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (auto* one : {&numbers.free_velocity, &numbers.velocity, &numbers.friction, &numbers.gap,
                    &numbers.stiffness, &numbers.dissipation_time, &numbers.restitution,
                    &numbers.approach, &numbers.regularization, &numbers.bias}) {
    one->setConstant(none);
  }
  for (auto* list : {&numbers.mass, &numbers.jacobian, &numbers.other_jacobian}) {
    for (MatrixX<double>& one : *list) one.setConstant(none);
  }
}

/// Whether an answer is good enough to be differentiated: it converged, or rounding alone kept it
/// from its tolerance. A derivative is then off by about as much as the residual.
bool is_solved(const SolveReport<double>& report) {
  constexpr double largest = 1e-6;  // [-]: far above rounding, and far below what gradients show
  return report.converged() ||
         (report.status == SolveStatus::no_progress && report.residual <= largest);
}

}  // namespace

std::string pull_back_or_tell(const SolvedStep& step, const VectorX<double>& by_velocity,
                              const VectorX<double>& by_impulse, PhysicalNumbers& out) {
  try {
    if (!is_solved(step.report)) {
      throw std::invalid_argument(
          std::string("derivative: expected a solution that converged, got status ") +
          to_string(step.report.status));
    }
    detail::reject_if(detail::finite_fault("velocity_bar", by_velocity));
    detail::reject_if(detail::finite_fault("impulse_bar", by_impulse));
    pull_back(step, by_velocity, by_impulse, out);
    return {};
  } catch (const std::invalid_argument& fault) {
    out.set_zero(*step.data);
    set_not_a_number(out);
    return fault.what();
  }
}

namespace {

/// The numbers of one problem out of an array of all problems, or out of a list of arrays.
class GivenBars {
 public:
  GivenBars(nb::handle value, const char* item, std::size_t count)
      : value_(nb::borrow(value)), item_(item) {
    if (value.is_none()) return;
    is_list_ = nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value);
    if (is_list_) {
      if (nb::len(value) != count) {
        refuse(item_, std::to_string(count) + " arrays", std::to_string(nb::len(value)));
      }
      return;
    }
    const GivenArray given(value, item_);
    if (given.rank() == 0 || given.size(0) != Index(count)) {
      refuse(item_, "an array whose first axis has " + std::to_string(count) + " problems",
             "one of shape " + shape_text(given.shape()));
    }
    shape_ = given.shape();
    numbers_ = given.flat();
  }
  /// @param shape  what the array of this problem must have.
  [[nodiscard]] VectorX<double> of(std::size_t problem, const std::vector<Index>& shape) const {
    Index width = 1;
    for (const Index size : shape) width *= size;
    if (value_.is_none()) return VectorX<double>::Zero(width);
    const std::string item = "problem " + std::to_string(problem) + ": " + item_;
    VectorX<double> numbers;
    if (is_list_) {
      const GivenArray given(nb::object(value_[problem]), item);
      given.require_shape(shape);
      numbers = given.flat();
    } else {
      const std::vector<Index> rest(shape_.begin() + 1, shape_.end());
      if (rest != shape) refuse(item, "shape " + shape_text(shape), shape_text(rest));
      numbers = numbers_.segment(Index(problem) * width, width);
    }
    return numbers;
  }

 private:
  nb::object value_;
  std::string item_;
  bool is_list_ = false;
  std::vector<Index> shape_;
  VectorX<double> numbers_;
};

/// The numbers whose gradients are wanted, per problem, as in pull_back().
struct BatchBars {
  std::vector<VectorX<double>> by_velocity, by_impulse;
};

/// The gradients of every problem, on several threads, one linearisation per problem.
/// @param ask  as in solve_all().
BatchGradients pull_back_all(const BatchSolution& solution, const BatchBars& bars, int threads,
                             const std::function<bool(double)>& ask) {
  const auto count = std::size_t(solution.count());
  BatchGradients gradients;
  gradients.faults.resize(count);
  for (std::size_t i = 0; i < count; ++i) gradients.of.push_back(std::make_shared<Gradients>());
  std::atomic<bool> stopped = false;
  const SharedWork work{.count = count,
                        .threads = threads,
                        .make_work = [&](Lookout* lookout) -> RangeWork {
                          return [&, lookout, reader = ProblemReader(solution.problems())](
                                     std::size_t first, std::size_t last) mutable {
                            for (std::size_t i = first; i < last && !stopped; ++i) {
                              const auto step = solution.step(Index(i), reader);
                              gradients.faults[i] =
                                  pull_back_or_tell(*step, bars.by_velocity[i], bars.by_impulse[i],
                                                    gradients.of[i]->by);
                              if (lookout != nullptr) lookout->look(read_clock());
                            }
                          };
                        },
                        .ask = ask};
  do_all(work, stopped);
  return gradients;
}

BatchGradients pull_back_batch(const BatchSolution& solution, nb::handle velocity_bar,
                               nb::handle impulse_bar, nb::handle threads) {
  const auto count = std::size_t(solution.count());
  const GivenBars velocities(velocity_bar, "velocity_bar", count);
  const GivenBars impulses(impulse_bar, "impulse_bar", count);
  const int thread_count = read_threads(threads);
  BatchBars bars;
  for (std::size_t i = 0; i < count; ++i) {
    const ProblemData& data = solution.problems().shape(Index(i));
    bars.by_velocity.push_back(velocities.of(i, {data.problem().velocity_count()}));
    bars.by_impulse.push_back(stack_contacts(data, impulses.of(i, {data.contact_count(), 3})));
  }
  bool interrupted = false;
  BatchGradients gradients;
  {
    const Unlocked unlocked;
    std::function<bool(double)> ask;  // one problem takes no time in which anyone would ask
    if (count > 1) {
      ask = [&](double) {
        const nb::gil_scoped_acquire lock;
        interrupted = is_stopped_by_python();
        return interrupted;
      };
    }
    gradients = pull_back_all(solution, bars, thread_count, ask);
  }
  if (interrupted) throw nb::python_error();
  return gradients;
}

/// Whether all problems have arrays of one size.
bool are_alike(const BatchGradients& gradients) {
  const auto size = [](const MatrixX<double>& m) { return MatrixSize(m.rows(), m.cols()); };
  const auto same = [&](const std::vector<MatrixX<double>>& a,
                        const std::vector<MatrixX<double>>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](const auto& x, const auto& y) { return size(x) == size(y); });
  };
  return !gradients.of.empty() &&
         std::all_of(gradients.of.begin(), gradients.of.end(), [&](const auto& one) {
           const PhysicalNumbers& first = gradients.of.front()->by;
           return same(first.mass, one->by.mass) && same(first.jacobian, one->by.jacobian) &&
                  same(first.other_jacobian, one->by.other_jacobian);
         });
}

nb::object vectors(const BatchGradients& gradients, VectorX<double> PhysicalNumbers::*member,
                   Index columns) {
  const auto shape = [&](const VectorX<double>& numbers) {
    return columns == 1 ? std::vector<Index>{numbers.size()}
                        : std::vector<Index>{numbers.size() / columns, columns};
  };
  if (!are_alike(gradients)) {
    nb::list list;
    for (const auto& one : gradients.of) {
      list.append(make_array((one->by.*member).data(), shape(one->by.*member)));
    }
    return list;
  }
  const Index width = (gradients.of.front()->by.*member).size();
  std::vector<Index> all = shape(gradients.of.front()->by.*member);
  all.insert(all.begin(), Index(gradients.of.size()));
  VectorX<double> numbers(width * all.front());
  for (std::size_t i = 0; i < gradients.of.size(); ++i) {
    numbers.segment(Index(i) * width, width) = gradients.of[i]->by.*member;
  }
  return make_array(numbers.data(), all);
}

/// The matrices of one item of all problems, (count, rows, columns).
nb::object stacked(const BatchGradients& gradients,
                   std::vector<MatrixX<double>> PhysicalNumbers::*member, std::size_t item) {
  const MatrixX<double>& first = (gradients.of.front()->by.*member)[item];
  if (first.rows() == 0) return nb::none();
  const Index width = first.size();
  VectorX<double> numbers(width * Index(gradients.of.size()));
  for (std::size_t i = 0; i < gradients.of.size(); ++i) {
    // Memory of Eigen is column by column, that of the answer row by row.
    Eigen::Map<MatrixX<double>>(numbers.data() + Index(i) * width, first.cols(), first.rows()) =
        (gradients.of[i]->by.*member)[item].transpose();
  }
  return make_array(numbers.data(), {Index(gradients.of.size()), first.rows(), first.cols()});
}

nb::list matrices(const BatchGradients& gradients,
                  std::vector<MatrixX<double>> PhysicalNumbers::*member) {
  nb::list list;
  if (are_alike(gradients)) {
    const std::size_t items = (gradients.of.front()->by.*member).size();
    for (std::size_t k = 0; k < items; ++k) list.append(stacked(gradients, member, k));
    return list;
  }
  for (const auto& one : gradients.of) {
    nb::list of_problem;
    for (const MatrixX<double>& matrix : one->by.*member) {
      of_problem.append(matrix.rows() > 0 ? make_array(matrix) : nb::none());
    }
    list.append(of_problem);
  }
  return list;
}

constexpr const char* gradients_doc =
    "Gradients of a number by all data of every problem of a batch, as BatchSolution.pull_back()\n"
    "gives them. Where all problems have one pattern a field is one array with the problems as "
    "its\n"
    "first axis, mass and the Jacobians a list with such an array per body or contact; else it is\n"
    "a list with that of each problem. gradients[i] are those of problem i in either case.";

}  // namespace

void bind_batch_gradient(nb::module_& module) {
  nb::class_<BatchGradients> gradients(module, "BatchGradients", gradients_doc);
  const auto vector = [&](const char* name, VectorX<double> PhysicalNumbers::*member, int columns,
                          const char* doc) {
    const std::string signature =
        std::string("def ") + name +
        "(self) -> numpy.typing.NDArray[numpy.float64] | list[numpy.typing.NDArray[numpy.float64]]";
    gradients.def_prop_ro(
        name, [member, columns](const BatchGradients& g) { return vectors(g, member, columns); },
        nb::sig(signature.c_str()), doc);
  };
  vector("free_velocity", &PhysicalNumbers::free_velocity, 1, "(count, nv)");
  vector("friction", &PhysicalNumbers::friction, 1, "(count, nc)");
  vector("gap", &PhysicalNumbers::gap, 1, "(count, nc)");
  vector("stiffness", &PhysicalNumbers::stiffness, 1, "(count, nc)");
  vector("dissipation_time", &PhysicalNumbers::dissipation_time, 1, "(count, nc)");
  vector("restitution", &PhysicalNumbers::restitution, 1, "(count, nc)");
  vector("approach", &PhysicalNumbers::approach, 1, "(count, nc)");
  vector("regularization", &PhysicalNumbers::regularization, 3, "(count, nc, 3)");
  vector("bias", &PhysicalNumbers::bias, 3, "(count, nc, 3)");
  const auto list = [&](const char* name, std::vector<MatrixX<double>> PhysicalNumbers::*member,
                        const char* doc) {
    const std::string signature = std::string("def ") + name + "(self) -> list[typing.Any]";
    gradients.def_prop_ro(
        name, [member](const BatchGradients& g) { return matrices(g, member); },
        nb::sig(signature.c_str()), doc);
  };
  list("mass", &PhysicalNumbers::mass, "One (count, n, n) per body, symmetric.");
  list("jacobian", &PhysicalNumbers::jacobian, "One (count, 3, n) per contact.");
  list("other_jacobian", &PhysicalNumbers::other_jacobian,
       "One (count, 3, n) per contact between two bodies, None for the others.");
  gradients
      .def_prop_ro(
          "faults", [](const BatchGradients& g) { return g.faults; },
          nb::sig("def faults(self) -> list[str]"),
          "Why a problem has no gradient, such as that it did not converge; '' where it has one.\n"
          "The numbers of a problem without one are NaN.")
      .def("__len__", [](const BatchGradients& g) { return g.of.size(); })
      .def(
          "__getitem__",
          [](const BatchGradients& g, Index i) {
            const Index count = Index(g.of.size());
            if (i < -count || i >= count) throw nb::index_error("no such problem");
            return g.of[std::size_t(i < 0 ? i + count : i)];
          },
          nb::sig("def __getitem__(self, arg: int, /) -> Gradients"), "Those of one problem.")
      .def("__repr__", [](const BatchGradients& g) {
        return "BatchGradients(" + std::to_string(g.of.size()) + " problems)";
      });
  auto solution = nb::borrow<nb::class_<BatchSolution>>(module.attr("BatchSolution"));
  solution.def(
      "pull_back", &pull_back_batch, nb::arg("velocity_bar") = nb::none(),
      nb::arg("impulse_bar") = nb::none(), nb::arg("threads") = nb::none(),
      nb::sig("def pull_back(self, velocity_bar: numpy.typing.ArrayLike | "
              "collections.abc.Sequence[numpy.typing.ArrayLike] | None = None, "
              "impulse_bar: numpy.typing.ArrayLike | "
              "collections.abc.Sequence[numpy.typing.ArrayLike] | None = None, "
              "threads: int | None = None) -> BatchGradients"),
      "Solution.pull_back() of every problem, on several threads.\n\n"
      "velocity_bar: (count, nv). impulse_bar: (count, nc, 3). Of problems that differ in size:\n"
      "lists of arrays. threads: None for as many as the processor has. The gradients are those\n"
      "of single calls to the last bit. A problem that did not converge or has no derivative, or\n"
      "whose bars are not finite, gets NaN, and `faults` says why.");
}

}  // namespace carom::python
