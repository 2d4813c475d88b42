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

examples::FrictionProblem parse(const std::string& bytes) {
  switch (examples::recognize_format(bytes)) {
    case examples::ProblemFormat::cpf:
      return examples::parse_cpf(bytes);
    case examples::ProblemFormat::hdf5:
      return examples::parse_fclib(bytes);
    default:
      throw examples::BadInput("expected a CPF1 container or an FCLIB file, got another one");
  }
}

}  // namespace

ContactFile read_contact_file(const std::string& path) {
  const std::string bytes = examples::read_file(path);
  try {
    examples::FrictionProblem problem = parse(bytes);
    DelassusProblem<double> dual = examples::friction_dual(problem);
    return {std::filesystem::path(path).stem().string(), std::move(problem), std::move(dual)};
  } catch (const examples::BadInput& fault) {
    throw examples::BadInput(path + ": " + fault.what());
  }
}

}  // namespace carom::benchmarks
