// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "io/bad_input.hpp"
#include "io/cpf_file.hpp"
#include "io/file_text.hpp"
#include "io/friction_problem.hpp"

namespace carom::files {

namespace detail {

/// The fault of metadata for a header of lines; empty if there is none.
[[nodiscard]] inline Fault metadata_fault(const FrictionProblem& problem) {
  static const std::set<std::string_view> reserved{"kind",   "dim",    "nc",     "array",
                                                   "data",   "W.rows", "W.cols", "M.rows",
                                                   "M.cols", "H.rows", "H.cols"};
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < problem.metadata.size(); ++i) {
    const auto& [key, value] = problem.metadata[i];
    const std::string item = "metadata " + std::to_string(i);
    if (key.empty() || key.find_first_of(" \n") != std::string::npos) {
      return item + ": expected a key without spaces and line ends, got " + shown(key);
    }
    if (reserved.count(key) > 0) {
      return item + ": expected a key that has no meaning of its own, got " + shown(key);
    }
    if (!seen.insert(key).second) return item + ": expected each key once, got " + shown(key);
    if (value.find('\n') != std::string::npos) {
      return item + ": expected a value of one line, got " + shown(value);
    }
  }
  return {};
}

/// Collects the two parts of a container, the lines of its arrays and their bytes.
class CpfWriter {
 public:
  [[nodiscard]] std::string write(const FrictionProblem& problem) {
    const bool solution = !problem.local && !problem.global;
    const char* const kind = problem.local && problem.global ? "both"
                             : problem.local                 ? "local"
                             : problem.global                ? "global"
                                                             : "solution";
    std::string header = std::string("CPF1\nkind ") + kind + "\ndim " +
                         std::to_string(problem.dimension) + "\nnc " +
                         std::to_string(problem.contact_count) + '\n';
    for (const auto& [key, value] : problem.metadata) {
      header += key;
      if (!value.empty()) header += ' ';
      header += value;
      header += '\n';
    }
    if (!solution || problem.friction.size() > 0) add("mu", problem.friction);
    if (problem.local) add("q", problem.local->velocity);
    if (problem.global) add("f", problem.global->momentum);
    if (problem.global) add("b", problem.global->velocity);
    if (problem.local) add("W", problem.local->delassus);
    if (problem.global) add("M", problem.global->mass);
    if (problem.global) add("H", problem.global->directions);
    if (problem.guess) add("_guess", *problem.guess);
    if (problem.solution) add("", *problem.solution);
    return header + sizes_ + arrays_ + "data\n" + data_;
  }

 private:
  void name_array(const std::string& name, const char* type, Index count) {
    arrays_ += "array " + name + ' ' + type + ' ' + std::to_string(count) + '\n';
  }
  template <typename Number>
  void append(const Number* values, Index count) {
    for (Index i = 0; i < count; ++i) {
      const auto bytes = to_bytes(values[i]);
      data_.append(bytes.data(), bytes.size());
    }
  }
  void add(const std::string& name, const VectorX<double>& numbers) {
    name_array(name, "f64", numbers.size());
    append(numbers.data(), numbers.size());
  }
  void add(const std::string& name, const SparseMatrix& given) {
    SparseMatrix matrix = given;
    matrix.makeCompressed();
    sizes_ += name + ".rows " + std::to_string(matrix.rows()) + '\n';
    sizes_ += name + ".cols " + std::to_string(matrix.cols()) + '\n';
    name_array(name + ".ptr", "i32", matrix.cols() + 1);
    name_array(name + ".idx", "i32", matrix.nonZeros());
    name_array(name + ".val", "f64", matrix.nonZeros());
    append(matrix.outerIndexPtr(), matrix.cols() + 1);
    append(matrix.innerIndexPtr(), matrix.nonZeros());
    append(matrix.valuePtr(), matrix.nonZeros());
  }
  void add(const std::string& suffix, const FrictionState& state) {
    add("r" + suffix, state.impulse);
    const bool has_velocity = state.contact_velocity.size() == state.impulse.size();
    if (has_velocity) add("u" + suffix, state.contact_velocity);
    if (state.velocity.size() > 0) add("v" + suffix, state.velocity);
  }

  std::string sizes_, arrays_, data_;
};

}  // namespace detail

/// A problem as a CPF1 container, exact to the last bit. Throws BadInput if the problem has a
/// fault, if it is a solution without u, or if only FCLIB's files can represent it: with rolling or
/// equality constraints.
[[nodiscard]] inline std::string cpf_bytes(const FrictionProblem& problem) {
  if (const Fault fault = friction_problem_fault(problem); !fault.empty()) throw BadInput(fault);
  if (const Fault fault = detail::metadata_fault(problem); !fault.empty()) throw BadInput(fault);
  if (problem.dimension == 5) throw BadInput("dim: expected 2 or 3 in a container, got 5");
  if (const Index count = problem.equality_count(); count > 0) {
    throw BadInput("G: expected no equality constraints in a container, got " +
                   std::to_string(count));
  }
  const bool alone = !problem.local && !problem.global;
  if (alone && problem.solution->contact_velocity.size() != problem.row_count()) {
    throw BadInput("solution u: expected " + std::to_string(problem.row_count()) +
                   " entries, got none");
  }
  return detail::CpfWriter().write(problem);
}

/// Writes a problem to a file. An existing file is replaced. Throws BadInput, starting with the
/// path.
inline void write_cpf(const FrictionProblem& problem, const std::string& path) {
  std::string bytes;
  try {
    bytes = cpf_bytes(problem);
  } catch (const BadInput& fault) {
    throw BadInput(path + ": " + fault.what());
  }
  write_file(path, bytes);
}

}  // namespace carom::files
