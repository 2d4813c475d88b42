// SPDX-License-Identifier: BSD-3-Clause
// carom.read and carom.write.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <stdexcept>
#include <string>
#include <utility>

#include "carom/contact/problem_dump.hpp"

#include "bindings.hpp"
#include "impulse_problem.hpp"
#include "io/cpf_writer.hpp"
#include "io/file_text.hpp"
#include "io/problem_format.hpp"

namespace carom::python {

std::string read_path(nb::handle given) {
  const nb::object path = nb::steal(PyOS_FSPath(given.ptr()));
  if (!path.is_valid()) {
    PyErr_Clear();
    refuse("path", "a string or a path", describe(given));
  }
  std::string text;
  if (!nb::try_cast(path, text)) refuse("path", "a string or a path", describe(given));
  if (text.find('\0') != std::string::npos) refuse("path", "one without zeros", "one with a zero");
  return text;
}

namespace {

/// The module that knows HDF5, which is loaded only where such a file is met: the library of that
/// format brings forty others with it.
nb::object fclib(const char* function) {
  try {
    return nb::module_::import_("carom._fclib").attr(function);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    refuse("HDF5", "a package built where the library of HDF5 is installed (Debian: libhdf5-dev)",
           "one without");
  }
}

/// A problem read by that module, which hands it over in a capsule.
files::FrictionProblem parse_hdf5(const std::string& bytes) {
  const nb::object capsule = fclib("parse")(nb::bytes(bytes.data(), bytes.size()));
  return *static_cast<const files::FrictionProblem*>(nb::cast<nb::capsule>(capsule).data());
}

nb::object parse(const std::string& bytes) {
  switch (files::recognize_format(bytes)) {
    case files::ProblemFormat::text: {
      files::TextProblem read = files::parse_text_problem(bytes);
      PyProblem problem{std::make_shared<ProblemData>(std::move(read.problem))};
      problem.data->guess = std::move(read.guess);
      return nb::cast(std::move(problem));
    }
    case files::ProblemFormat::cpf:
      return nb::cast(std::make_shared<ImpulseProblem>(files::parse_cpf(bytes)));
    case files::ProblemFormat::hdf5:
      return nb::cast(std::make_shared<ImpulseProblem>(parse_hdf5(bytes)));
    case files::ProblemFormat::unknown:
      break;
  }
  refuse("the file", "a contact problem, text that starts with 'carom-problem', CPF1 or HDF5",
         bytes.empty() ? "an empty file" : "something else");
}

nb::object read(nb::handle given) {
  const std::string path = read_path(given);
  try {
    const std::string bytes = files::read_file(path);
    try {
      return parse(bytes);
    } catch (const std::invalid_argument& fault) {
      throw std::invalid_argument(path + ": " + fault.what());
    } catch (const files::BadInput& fault) {
      throw std::invalid_argument(path + ": " + fault.what());
    }
  } catch (const files::BadInput& fault) {
    throw std::invalid_argument(fault.what());
  } catch (const std::length_error&) {  // a size that no memory holds
    throw std::bad_alloc();
  }
}

void write_bodies(const PyProblem& problem, nb::handle path) {
  const ProblemData& data = *problem.data;
  const std::string target = read_path(path);
  if (data.guess.size() > 0) {
    write_problem(data.problem(), target, data.guess);
  } else {
    write_problem(data.problem(), target);
  }
}

void write_impulses(const ImpulseProblem& problem, nb::handle path) {
  const std::string target = read_path(path);
  try {
    if (target.ends_with(".hdf5") || target.ends_with(".h5")) {
      using Cleanup = void (*)(void*) noexcept;
      const nb::capsule capsule(static_cast<const void*>(&problem.file), Cleanup(nullptr));
      fclib("write")(capsule, target);
    } else {
      files::write_cpf(problem.file, target);
    }
  } catch (const files::BadInput& fault) {
    throw std::invalid_argument(fault.what());
  }
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def("read", &read, nb::arg("path").none(),
             nb::sig("def read(path: str | os.PathLike[str]) -> typing.Any"),
             "Reads a problem from a file of any format that the carom program reads.\n\n"
             "Text ('carom-problem') gives a ContactProblem, CPF1 and HDF5 of FCLIB an\n"
             "ImpulseProblem. The format is told by the content of the file.");
  module.def(
      "write", &write_bodies, nb::arg("problem"), nb::arg("path").none(),
      nb::sig("def write(problem: ContactProblem, path: str | os.PathLike[str]) -> None"),
      "Writes a problem to a file, from which it is read back bit for bit.\n\n"
      "Of a contact R and v_hat are written, not the physical data that they came from. An\n"
      "ImpulseProblem is written as HDF5 where the path ends in .hdf5 or .h5, as CPF1 else.");
  module.def("write", &write_impulses, nb::arg("problem"), nb::arg("path").none(),
             nb::sig("def write(problem: ImpulseProblem, path: str | os.PathLike[str]) -> None"));
}

}  // namespace carom::python
