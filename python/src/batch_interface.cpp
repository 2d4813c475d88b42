// SPDX-License-Identifier: BSD-3-Clause
// carom._core._batch_interface: batches in plain arrays, and the handles of patterns.
#include "batch_interface.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "batch_pattern.hpp"
#include "batch_solver.hpp"
#include "bindings.hpp"
#include "gradient.hpp"
#include "pattern_table.hpp"

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

/// `width` numbers per problem, from `offset` in each.
VectorX<double> gather(const double* numbers, const std::vector<Index>& starts, Index offset,
                       Index width) {
  VectorX<double> all(Index(starts.size()) * width);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    std::copy_n(numbers + starts[i] + offset, width, all.data() + Index(i) * width);
  }
  return all;
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
  const auto starts = starts_of(call, operand.axes, place.width);
  given.*place.member = {gather(operand.numbers, starts, 0, place.width), place.width};
}

void give_matrices(const ProblemShape& shape, const BatchCall& call, const BatchOperand& operand,
                   Replacements& given) {
  PerItem& items = operand.field == BatchField::mass       ? given.mass
                   : operand.field == BatchField::jacobian ? given.jacobian
                                                           : given.other_jacobian;
  const auto& sizes = sizes_of(shape, operand.field);
  const bool all = operand.item < 0;
  const auto [rows, columns] = sizes[std::size_t((std::max<std::int64_t>)(operand.item, 0))];
  const Index width = rows * columns;
  const auto starts = starts_of(call, operand.axes, all ? width * Index(sizes.size()) : width);
  for (Index k = 0; all && k < Index(sizes.size()); ++k) {
    items.give(k, gather(operand.numbers, starts, k * width, width));
  }
  if (!all) items.give(operand.item, gather(operand.numbers, starts, 0, width));
}

/// The steps of a call, not yet solved.
std::vector<std::shared_ptr<SolvedStep>> make_steps(const BatchCall& call,
                                                    SolveSettings& settings) {
  const ProblemData& pattern = *pattern_of(call);
  const ProblemShape shape(pattern);
  Replacements given(shape);
  for (std::int64_t i = 0; i < call.operand_count; ++i) {
    const bool vector = call.operands[i].field < BatchField::mass;
    (vector ? give_vector : give_matrices)(shape, call, call.operands[i], given);
  }
  settings.law = call.coulomb ? FrictionLaw::coulomb : FrictionLaw::convex;
  settings.rigid = call.rigid;
  settings.tolerance = call.tolerance;
  std::vector<std::shared_ptr<SolvedStep>> steps;
  for (const SharedData& data : make_alike(pattern, given, count_of(call.batch))) {
    steps.push_back(make_step(data, settings));
  }
  return steps;
}

int thread_count(const BatchCall& call) {
  const auto most = std::int64_t((std::max)(1U, std::thread::hardware_concurrency()));
  return int(call.threads > 0 ? (std::min<std::int64_t>)(call.threads, 256) : most);
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
    SolveSettings settings;
    const auto steps = make_steps(call, settings);
    solve_all(steps, settings, thread_count(call), {});
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const SolvedStep& step = *steps[i];
      std::copy_n(step.velocity.data(), step.velocity.size(),
                  answers.velocity + Index(i) * step.velocity.size());
      std::copy_n(step.impulse.data(), step.impulse.size(),
                  answers.impulse + Index(i) * step.impulse.size());
      double* const report = answers.report + 3 * i;
      report[0] = double(static_cast<int>(step.report.status));
      report[1] = step.report.residual;
      report[2] = double(step.report.iterations);
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

bool pull_back_arrays(const BatchCall& call, const BatchAnswers& answers,
                      const double* velocity_bar, const double* impulse_bar,
                      const BatchResult* results, BatchMessage message) noexcept {
  return guarded(message, [&] {
    SolveSettings settings;
    const auto steps = make_steps(call, settings);
    const ProblemData& pattern = *pattern_of(call);
    const Index width = pattern.problem().velocity_count();
    const Index rows = pattern.problem().impulse_count();
    BatchBars bars;
    bars.threads = thread_count(call);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto read = [i](const double* numbers, Index size) -> VectorX<double> {
        return Eigen::Map<const VectorX<double>>(numbers + Index(i) * size, size);
      };
      SolvedStep& step = *steps[i];
      step.velocity = read(answers.velocity, width);
      step.impulse = read(answers.impulse, rows);
      const VectorX<double> report = read(answers.report, 3);
      step.report.status = SolveStatus(int(report(0)));
      step.report.residual = report(1);
      bars.by_velocity.push_back(read(velocity_bar, width));
      bars.by_impulse.push_back(read(impulse_bar, rows));
    }
    const BatchGradients gradients = pull_back_all(steps, bars, {});
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (std::int64_t k = 0; k < call.operand_count; ++k) {
        write_result(gradients.of[i]->by, results[k], i);
      }
    }
  });
}

}  // namespace

void bind_batch_interface(nb::module_& module) {
  static const BatchInterface functions{hold, release, solve_arrays, pull_back_arrays};
  module.attr("_batch_interface") = nb::capsule(&functions, "carom.BatchInterface");
  bind_patterns(module);
}

}  // namespace carom::python
