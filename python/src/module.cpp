// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/version.hpp"

#include "bindings.hpp"
#include "unlocked.hpp"

#define CAROM_TEXT_OF(number) #number
#define CAROM_TEXT(number) CAROM_TEXT_OF(number)

NB_MODULE(_core, module) {
  namespace python = carom::python;
  module.doc() = "The compiled part of carom; `import carom` gives all of it.";
  module.attr("__version__") = CAROM_TEXT(CAROM_VERSION_MAJOR) "." CAROM_TEXT(
      CAROM_VERSION_MINOR) "." CAROM_TEXT(CAROM_VERSION_PATCH);
  // torch and jax keep what they differentiate until the interpreter ends, which is no leak of
  // ours.
  nanobind::set_leak_warnings(false);
  python::bind_interpreter(module);
  python::bind_laws(module);
  python::bind_problem(module);
  python::bind_solution(module);
  python::bind_recorder(module);
  python::bind_solver(module);
  python::bind_gradient(module);
  python::bind_certificate(module);
  python::bind_cones(module);
  python::bind_batch(module);
  python::bind_batch_gradient(module);
  python::bind_batch_interface(module);
  python::bind_impact(module);
  python::bind_impact_step(module);
  python::bind_impulse_problem(module);
  python::bind_mujoco(module);
  python::bind_files(module);
#ifdef CAROM_PYTHON_SIMULATES
  python::bind_simulate(module);
#endif
}
