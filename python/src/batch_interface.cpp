// SPDX-License-Identifier: BSD-3-Clause
// carom._core._batch_interface: batches in plain arrays, and the handles of patterns.
#include "batch_interface.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "batch_solver.hpp"
#include "bindings.hpp"
#include "gradient.hpp"
#include "pattern_table.hpp"
#include "thread_team.hpp"

namespace carom::python {
namespace {

const void* hold(std::int64_t handle) noexcept {
  SharedData data = find_pattern(handle);
  return data ? new (std::nothrow) SharedData(std::move(data)) : nullptr;
}
void release(const void* pattern) noexcept {
  delete static_cast<const SharedData*>(pattern);
}
const SharedData& pattern_of(const BatchCall& call) {
  return *static_cast<const SharedData*>(call.pattern);
}

Index count_of(const BatchAxes& axes) {
  Index count = 1;
  for (std::int64_t axis = 0; axis < axes.count; ++axis) count *= axes.sizes[axis];
  return count;
}

/// Where the numbers of each problem begin in an operand whose axes of the batch may have size 1.
/// @param width  numbers per problem.
std::vector<Index> starts_of(const BatchCall& call, const BatchAxes& axes, Index width) {
  std::vector<Index> starts(std::size_t(count_of(call.batch)), 0);
  Index stride = width, period = 1;
  for (std::int64_t axis = call.batch.count; axis-- > 0;) {
    const Index size = call.batch.sizes[axis];
    const bool shared = axes.sizes[axis] == 1;
    for (std::size_t i = 0; !shared && i < starts.size(); ++i) {
      starts[i] += (Index(i) / period % size) * stride;
    }
    if (!shared) stride *= size;
    period *= size;
  }
  return starts;
}

/// An operand as numbers per problem. It lives as long as the call.
/// @param width   numbers per problem.
/// @param offset  of those that are wanted in each.
PerProblem view(const BatchCall& call, const BatchOperand& operand, Index width, Index offset) {
  const auto* const sizes = operand.axes.sizes;
  const bool own = std::equal(call.batch.sizes, call.batch.sizes + call.batch.count, sizes);
  const bool shared =
      std::all_of(sizes, sizes + call.batch.count, [](std::int64_t size) { return size == 1; });
  const double* const numbers = operand.numbers + offset;
  if (own || shared) return {numbers, own ? width : 0, nullptr};
  return {numbers, starts_of(call, operand.axes, width)};
}

const std::vector<MatrixSize>& sizes_of(const ProblemShape& shape, BatchField field) {
  if (field == BatchField::mass) return shape.mass;
  return field == BatchField::jacobian ? shape.jacobian : shape.other_jacobian;
}

void give_vector(const ProblemShape& shape, const BatchCall& call, const BatchOperand& operand,
                 Replacements& given) {
  struct Place {
    PerProblem Replacements::*member;
    Index width;
  };
  const Index contacts = shape.contacts;
  const Place places[] = {{&Replacements::free_velocity, shape.velocities},
                          {&Replacements::friction, contacts},
                          {&Replacements::gap, contacts},
                          {&Replacements::stiffness, contacts},
                          {&Replacements::dissipation_time, contacts},
                          {&Replacements::regularization, 3 * contacts},
                          {&Replacements::bias, 3 * contacts}};
  const Place& place = places[std::size_t(operand.field)];
  given.*place.member = view(call, operand, place.width, 0);
}

void give_matrices(const ProblemShape& shape, const BatchCall& call, const BatchOperand& operand,
                   Replacements& given) {
  std::vector<PerProblem>& items = operand.field == BatchField::mass       ? given.mass
                                   : operand.field == BatchField::jacobian ? given.jacobian
                                                                           : given.other_jacobian;
  const auto& sizes = sizes_of(shape, operand.field);
  const bool all = operand.item < 0;
  const auto [rows, columns] = sizes[std::size_t((std::max<std::int64_t>)(operand.item, 0))];
  const Index width = rows * columns;
  if (!all) {
    items[std::size_t(operand.item)] = view(call, operand, width, 0);
    return;
  }
  const Index count = Index(sizes.size());
  for (Index k = 0; k < count; ++k) {
    items[std::size_t(k)] = view(call, operand, count * width, k * width);
  }
}

/// The problems of a call. They live as long as its operands.
BatchProblems problems_of(const BatchCall& call) {
  const SharedData& pattern = pattern_of(call);
  const ProblemShape shape(*pattern);
  Replacements given(shape);
  for (std::int64_t i = 0; i < call.operand_count; ++i) {
    const bool vector = call.operands[i].field < BatchField::mass;
    (vector ? give_vector : give_matrices)(shape, call, call.operands[i], given);
  }
  return {pattern, std::move(given), count_of(call.batch)};
}

SolveSettings settings_of(const BatchCall& call) {
  SolveSettings settings;
  settings.law = call.coulomb ? FrictionLaw::coulomb : FrictionLaw::convex;
  settings.rigid = call.rigid;
  settings.tolerance = call.tolerance;
  return settings;
}

int thread_count(const BatchCall& call) {
  return call.threads > 0 ? int((std::min<std::int64_t>)(call.threads, 256)) : all_threads();
}

/// Runs what may throw, and writes down what it threw.
template <typename Run>
bool guarded(BatchMessage message, const Run& run) noexcept {
  try {
    run();
    return true;
  } catch (const std::exception& fault) {
    std::strncpy(message.text, fault.what(), std::size_t(message.capacity - 1));
    message.text[message.capacity - 1] = '\0';
    return false;
  }
}

bool solve_arrays(const BatchCall& call, const BatchAnswers& answers,
                  BatchMessage message) noexcept {
  return guarded(message, [&] {
    const BatchProblems problems = problems_of(call);
    std::vector<SolveReport<double>> reports(std::size_t(problems.count()));
    solve_all(
        problems, settings_of(call), thread_count(call), {},
        {.velocity = answers.velocity, .impulse = answers.impulse, .reports = reports.data()});
    for (std::size_t i = 0; i < reports.size(); ++i) {
      double* const report = answers.report + 3 * i;
      report[0] = double(static_cast<int>(reports[i].status));
      report[1] = reports[i].residual;
      report[2] = double(reports[i].iterations);
    }
  });
}

/// Writes a gradient by one operand of one problem.
void write_result(const PhysicalNumbers& by, const BatchResult& result, std::size_t problem) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  if (result.field < BatchField::mass) {
    const VectorX<double>* const fields[] = {
        &by.free_velocity,    &by.friction,       &by.gap, &by.stiffness,
        &by.dissipation_time, &by.regularization, &by.bias};
    const VectorX<double>& numbers = *fields[std::size_t(result.field)];
    std::copy_n(numbers.data(), numbers.size(), result.numbers + Index(problem) * numbers.size());
    return;
  }
  const auto& matrices = result.field == BatchField::mass       ? by.mass
                         : result.field == BatchField::jacobian ? by.jacobian
                                                                : by.other_jacobian;
  const bool all = result.item < 0;
  const std::size_t first = all ? 0 : std::size_t(result.item);
  const std::size_t count = all ? matrices.size() : 1;
  const Index width = matrices[first].size();
  for (std::size_t k = 0; k < count; ++k) {
    const MatrixX<double>& one = matrices[first + k];
    Eigen::Map<RowMajor>(result.numbers + Index(problem * count + k) * width, one.rows(),
                         one.cols()) = one;
  }
}

/// What the gradients of a batch are found from and written to.
struct PullBackTask {
  const BatchCall& call;
  const BatchAnswers& answers;
  const double* velocity_bar;
  const double* impulse_bar;
  const BatchResult* results;
};

/// The gradients of one problem.
void pull_back_one(const PullBackTask& task, const SolveSettings& settings, std::size_t i,
                   ProblemReader& reader) {
  const std::shared_ptr<SolvedStep> step = make_step(reader.share(Index(i)), settings);
  const auto read = [i](const double* numbers, Index size) -> VectorX<double> {
    return Eigen::Map<const VectorX<double>>(numbers + Index(i) * size, size);
  };
  const Index width = step->data->problem().velocity_count();
  const Index rows = step->data->problem().impulse_count();
  step->velocity = read(task.answers.velocity, width);
  step->impulse = read(task.answers.impulse, rows);
  const double* const report = task.answers.report + 3 * i;
  step->report.status = SolveStatus(int(report[0]));
  step->report.residual = report[1];
  PhysicalNumbers by;
  static_cast<void>(
      pull_back_or_tell(*step, read(task.velocity_bar, width), read(task.impulse_bar, rows), by));
  for (std::int64_t k = 0; k < task.call.operand_count; ++k) write_result(by, task.results[k], i);
}

bool pull_back_arrays(const BatchCall& call, const BatchAnswers& answers,
                      const double* velocity_bar, const double* impulse_bar,
                      const BatchResult* results, BatchMessage message) noexcept {
  return guarded(message, [&] {
    const PullBackTask task{call, answers, velocity_bar, impulse_bar, results};
    const BatchProblems problems = problems_of(call);
    const SolveSettings settings = settings_of(call);
    std::atomic<bool> stopped = false;
    const SharedWork work{.count = std::size_t(problems.count()),
                          .threads = thread_count(call),
                          .make_work = [&](Lookout*) -> RangeWork {
                            return [&, reader = ProblemReader(problems)](std::size_t first,
                                                                         std::size_t last) mutable {
                              for (std::size_t i = first; i < last; ++i) {
                                pull_back_one(task, settings, i, reader);
                              }
                            };
                          },
                          .ask = {}};
    do_all(work, stopped);
  });
}

}  // namespace

void bind_batch_interface(nb::module_& module) {
  static const BatchInterface functions{hold, release, solve_arrays, pull_back_arrays};
  module.attr("_batch_interface") = nb::capsule(&functions, "carom.BatchInterface");
  bind_patterns(module);
}

}  // namespace carom::python
