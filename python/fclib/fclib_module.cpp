// SPDX-License-Identifier: BSD-3-Clause
// carom._fclib: files of FCLIB, for carom.read and carom.write. It is a module of its own because
// it is the only part that needs HDF5. Problems pass in capsules that hold a FrictionProblem.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <stdexcept>
#include <string>

#include "io/bad_input.hpp"
#include "io/fclib_file.hpp"

namespace nb = nanobind;
using carom::files::BadInput;
using carom::files::FrictionProblem;

NB_MODULE(_fclib, module) {
  module.doc() = "Reads and writes files of FCLIB, which are HDF5.";
  module.def("parse", [](const nb::bytes& bytes) {
    try {
      auto* const problem =
          new FrictionProblem(carom::files::parse_fclib({bytes.c_str(), bytes.size()}));
      return nb::capsule(
          problem, [](void* memory) noexcept { delete static_cast<FrictionProblem*>(memory); });
    } catch (const BadInput& fault) {
      throw std::invalid_argument(fault.what());
    }
  });
  module.def("write", [](const nb::capsule& problem, const std::string& path) {
    try {
      carom::files::write_fclib(*static_cast<const FrictionProblem*>(problem.data()), path);
    } catch (const BadInput& fault) {
      throw std::invalid_argument(fault.what());
    }
  });
}
