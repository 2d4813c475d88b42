// SPDX-License-Identifier: BSD-3-Clause
#include "unlocked.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace carom::python {
namespace {

std::atomic<int> underway = 0;
std::atomic<bool> ends = false;
std::thread::id ending_thread;  // written before `ends`, read after it

[[nodiscard]] bool ends_without_this_thread() noexcept {
  return ends && std::this_thread::get_id() != ending_thread;
}

/// Ends what daemon threads do. Functions that run at exit may still solve on the thread that ends.
void wait_for_others() {
  ending_thread = std::this_thread::get_id();
  ends = true;
  while (underway > 0) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const nb::gil_scoped_release unlocked;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

bool is_stopped_by_python() noexcept {
  if (!ends_without_this_thread()) return PyErr_CheckSignals() != 0;
  PyErr_SetString(PyExc_SystemExit, "the interpreter ends");
  return true;
}

Underway::Underway() {
  if (ends_without_this_thread() && is_stopped_by_python()) throw nb::python_error();
  ++underway;
}

Underway::~Underway() {
  --underway;
}

void bind_interpreter(nb::module_& module) {
  module.def("_is_main_interpreter",
             [] { return PyInterpreterState_GetID(PyInterpreterState_Get()) == 0; });
  module.def("_wait_for_others", &wait_for_others);
  nb::module_::import_("atexit").attr("register")(module.attr("_wait_for_others"));
}

}  // namespace carom::python
