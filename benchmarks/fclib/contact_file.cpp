// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <string>
#include <utility>

#include "fclib/solver_run.hpp"
#include "io/cpf_file.hpp"
#include "io/fclib_file.hpp"
#include "io/file_text.hpp"
#include "io/friction_dual.hpp"
#include "io/problem_format.hpp"

namespace carom::benchmarks {

namespace {

files::FrictionProblem parse(const std::string& bytes) {
  switch (files::recognize_format(bytes)) {
    case files::ProblemFormat::cpf:
      return files::parse_cpf(bytes);
    case files::ProblemFormat::hdf5:
      return files::parse_fclib(bytes);
    default:
      throw files::BadInput("expected a CPF1 container or an FCLIB file, got another one");
  }
}

}  // namespace

ContactFile read_contact_file(const std::string& path) {
  const std::string bytes = files::read_file(path);
  try {
    files::FrictionProblem problem = parse(bytes);
    DelassusProblem<double> dual = files::friction_dual(problem);
    return {std::filesystem::path(path).stem().string(), std::move(problem), std::move(dual)};
  } catch (const files::BadInput& fault) {
    throw files::BadInput(path + ": " + fault.what());
  }
}

}  // namespace carom::benchmarks
