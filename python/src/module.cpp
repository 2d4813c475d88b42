// SPDX-License-Identifier: BSD-3-Clause
#include "bindings.hpp"

#include "carom/core/version.hpp"

#define CAROM_TEXT_OF(number) #number
#define CAROM_TEXT(number) CAROM_TEXT_OF(number)

NB_MODULE(_core, module) {
  namespace python = carom::python;
  module.doc() = "The compiled part of carom; `import carom` gives all of it.";
  module.attr("__version__") = CAROM_TEXT(CAROM_VERSION_MAJOR) "." CAROM_TEXT(
      CAROM_VERSION_MINOR) "." CAROM_TEXT(CAROM_VERSION_PATCH);
  python::bind_laws(module);
  python::bind_problem(module);
  python::bind_solution(module);
  python::bind_solver(module);
}
