// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace carom::python {

namespace nb = nanobind;

/// Whether Python wants the work on this thread to end: at Ctrl-C, and where the interpreter ends
/// while this is a daemon thread. Then the error of Python is set. Needs the lock of the
/// interpreter.
[[nodiscard]] bool is_stopped_by_python() noexcept;

/// Work that the interpreter waits for before it ends. Python ends a daemon thread where it asks
/// for the lock, which functions of C++ on that thread do not survive.
///
/// Made and destroyed with the lock of the interpreter.
class Underway {
 public:
  /// @throws nb::python_error  SystemExit, on a daemon thread of an interpreter that ends.
  Underway();
  Underway(const Underway&) = delete;
  Underway& operator=(const Underway&) = delete;
  ~Underway();
};

/// Work without the lock of the interpreter, so that other threads of Python run meanwhile.
class Unlocked {
 public:
  /// @throws nb::python_error  as Underway.
  Unlocked() = default;

 private:
  Underway underway_;  // from before the lock is given away until it is taken again
  nb::gil_scoped_release released_;
};

/// Makes the interpreter wait for work underway before it ends, and lets the package ask whether it
/// is the main one of its process.
void bind_interpreter(nb::module_& module);

}  // namespace carom::python
