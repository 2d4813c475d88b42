// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "carom/contact/delassus_problem.hpp"

#include "io/friction_problem.hpp"

namespace carom::python {

/// A problem in impulses alone, as the files of FCLIB and CPF1 hold it, in the form that solvers
/// take.
struct ImpulseProblem {
  /// @throws files::BadInput  where something is wrong with it.
  explicit ImpulseProblem(files::FrictionProblem given);

  files::FrictionProblem file;
  DelassusProblem<double> dual;
};

}  // namespace carom::python
