// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "io/friction_problem.hpp"

#include "carom/contact/delassus_problem.hpp"

namespace carom::python {

/// A problem in impulses alone, as the files of FCLIB and CPF1 hold it, in the form that solvers
/// take.
struct ImpulseProblem {
  explicit ImpulseProblem(examples::FrictionProblem given);

  examples::FrictionProblem file;
  DelassusProblem<double> dual;
};

using SharedImpulseProblem = std::shared_ptr<const ImpulseProblem>;

/// Reads a file that holds such a problem; `bytes` is its content.
[[nodiscard]] SharedImpulseProblem parse_impulse_problem(const std::string& bytes);
/// Writes one, to HDF5 where the path ends in .hdf5 or .h5, to CPF1 else.
void write_impulse_problem(const ImpulseProblem& problem, const std::string& path);

}  // namespace carom::python
