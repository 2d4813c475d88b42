// SPDX-License-Identifier: BSD-3-Clause
#include "long_work.hpp"

#include <cmath>
#include <utility>

namespace carom::python {

LongWork::LongWork(nb::handle progress, const char* title) : progress_(progress), title_(title) {
  // Who wants to be called is called for short work, too; a bar is not even made for it.
  if (PyCallable_Check(progress.ptr())) start();
}

LongWork::~LongWork() {
  // An exception of C++ came before finish() could throw what interrupted the work.
  if (interrupted_ && PyErr_Occurred()) PyErr_Clear();
  if (!bar_.is_valid()) return;
  try {
    close(false);
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("carom: progress");
  }
}

void LongWork::start() {
  started_ = true;
  nb::object bar = nb::module_::import_("carom._progress").attr("start")(progress_, title_);
  if (!bar.is_none()) bar_ = std::move(bar);
}

bool LongWork::goes_on(double done) noexcept {
  if (interrupted_) return false;
  const nb::gil_scoped_acquire lock;
  interrupted_ = is_stopped_by_python();
  if (interrupted_) return false;
  try {
    if (!started_) start();
    if (bar_.is_valid()) {
      bar_.attr("show")(std::isnan(done) ? nb::object(nb::none()) : nb::object(nb::float_(done)));
    }
  } catch (nb::python_error& error) {  // kept for finish(), as that of a signal is
    error.restore();
    interrupted_ = true;
  }
  return !interrupted_;
}

void LongWork::close(bool complete) {
  if (!bar_.is_valid()) return;
  const nb::object bar = std::move(bar_);
  bar_.reset();
  bar.attr("close")(complete);
}

void LongWork::attach(const nb::python_error& stop, const nb::object& partial) {
  if (PyObject_SetAttrString(stop.value().ptr(), "partial", partial.ptr()) != 0) PyErr_Clear();
}

}  // namespace carom::python
