// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "arrays.hpp"
#include "long_work.hpp"
#include "step_solver.hpp"

namespace carom::python {

/// carom.ContactProblem. Solves on other threads and solutions share its data; whoever changes them
/// then gets a copy, so that no one sees data change.
struct PyProblem {
  std::shared_ptr<ProblemData> data;

  [[nodiscard]] ProblemData& edit() {
    if (data.use_count() > 1) data = std::make_shared<ProblemData>(*data);
    return *data;
  }
};

/// The settings of a solve out of arguments of Python.
/// @param law, deadline  may be None.
[[nodiscard]] SolveSettings read_settings(nb::handle law, nb::handle rigid, nb::handle tolerance,
                                          nb::handle deadline, nb::handle iteration_limit);
[[nodiscard]] FrictionLaw read_law(nb::handle law);

/// Numbers of contacts, (nc, 3), out of numbers stacked block by block.
[[nodiscard]] nb::object contact_array(const ProblemData& data, const VectorX<double>& stacked);
/// The same of constraints: a list of arrays.
[[nodiscard]] nb::list constraint_list(const ProblemData& data, const VectorX<double>& stacked);
/// Numbers stacked block by block, out of (nc, 3) of a problem of contacts alone, or of such.
[[nodiscard]] VectorX<double> read_stacked(const ProblemData& data, nb::handle value,
                                           const std::string& item);
/// A law of a constraint out of an object of Python.
/// @param rows  of the Jacobian, for laws that leave it open.
[[nodiscard]] BlockLaw read_constraint_law(nb::handle law, Index rows, const std::string& item);
/// A path out of a string or an object of pathlib.
[[nodiscard]] std::string read_path(nb::handle given);
/// A recorder out of an object of Python; null for None.
[[nodiscard]] std::shared_ptr<SharedRecorder> read_recorder(nb::handle given);
/// As many threads as the processor has.
[[nodiscard]] int all_threads() noexcept;
/// The number of threads: that of the processor for None.
[[nodiscard]] int read_threads(nb::handle threads);

/// Solves one step on this thread, as carom.solve does.
/// @param work  is asked whether to go on, and is the caller's to finish.
void solve_alone(const SolveSettings& settings, LongWork& work, SolvedStep& step);

void bind_laws(nb::module_& module);
void bind_problem(nb::module_& module);
void bind_solution(nb::module_& module);
void bind_solver(nb::module_& module);
void bind_recorder(nb::module_& module);
void bind_gradient(nb::module_& module);
void bind_certificate(nb::module_& module);
void bind_cones(nb::module_& module);
void bind_batch(nb::module_& module);
void bind_batch_solution(nb::module_& module);
void bind_batch_gradient(nb::module_& module);
/// For carom._jax and the layers of torch and jax.
void bind_batch_interface(nb::module_& module);
void bind_impact(nb::module_& module);
void bind_impact_step(nb::module_& module);
void bind_impulse_problem(nb::module_& module);
/// For carom.mujoco.
void bind_mujoco(nb::module_& module);
void bind_files(nb::module_& module);
/// In a build where the reader of JSON is installed.
void bind_simulate(nb::module_& module);

}  // namespace carom::python
