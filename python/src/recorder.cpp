// SPDX-License-Identifier: BSD-3-Clause
// carom.Recorder.
#include <cstdint>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <string>

#include "bindings.hpp"
#include "unlocked.hpp"

namespace carom::python {
namespace {

RecorderOptions read_options(nb::handle capacity, nb::handle before_solve) {
  RecorderOptions options;
  if (!capacity.is_none()) {
    const Index bytes = read_index(capacity, "capacity");
    options.capacity = bytes < 0 ? 0 : std::size_t(bytes);
  }
  options.before_solve = nb::cast<bool>(nb::bool_(nb::borrow(before_solve)));
  return options;
}

/// Reads the state of a recorder, which another thread may hold: without the lock of Python, which
/// that thread may wait for.
template <typename Read>
auto look(SharedRecorder& self, const Read& read) {
  const Unlocked unlocked;
  return self.look(read);
}

std::uint64_t step_count(SharedRecorder& self) {
  return look(self, [](const Recorder& r) { return r.step_count(); });
}
std::uint64_t lost_count(SharedRecorder& self) {
  return look(self, [](const Recorder& r) { return r.lost_count(); });
}
std::uint64_t left_out_count(SharedRecorder& self) {
  return look(self, [](const Recorder& r) { return r.left_out_count(); });
}
std::string fault(SharedRecorder& self) {
  return look(self, [](const Recorder& r) { return std::string(r.fault()); });
}
void close(SharedRecorder& self) {
  look(self, [](Recorder& r) {
    r.close();
    return true;
  });
}

std::string show(const SharedRecorder& self) {
  return "Recorder('" + self.path() + "')";
}

}  // namespace

std::shared_ptr<SharedRecorder> read_recorder(nb::handle given) {
  std::shared_ptr<SharedRecorder> recorder;
  if (given.is_none()) return recorder;
  if (!nb::try_cast(given, recorder, false) || !recorder) {
    refuse("recorder", "a Recorder or None", describe(given));
  }
  return recorder;
}

void bind_recorder(nb::module_& module) {
  nb::class_<SharedRecorder>(
      module, "Recorder",
      "Records steps in one file of bounded size, which `carom replay` solves again.\n\n"
      "    with carom.Recorder('run.carom-record') as recorder:\n"
      "        solver = carom.Solver(recorder=recorder)\n"
      "        ...\n\n"
      "Each step is in the file when solve() returns, also if the program crashes afterwards:\n"
      "its problem, the options, the first guess and the answer. An existing file is replaced.\n"
      "capacity: largest size of the file [bytes], from 4096 to 2147483647; None for 64 MiB. When\n"
      "it is full, the oldest steps are overwritten. before_solve: whether the problem is also\n"
      "written before it is solved, for a program that ends within a solve.\n"
      "ValueError where the file cannot be written, or the capacity is out of range.\n"
      "Errors of the disk later on do not stop a solve; see fault and lost_count.")
      .def(
          "__init__",
          [](SharedRecorder* self, nb::handle path, nb::handle capacity, nb::handle before_solve) {
            new (self) SharedRecorder(read_path(path), read_options(capacity, before_solve));
          },
          nb::arg("path").none(), nb::arg("capacity") = nb::none(),
          nb::arg("before_solve").none() = false,
          nb::sig("def __init__(self, path: str | os.PathLike[str], capacity: int | None = None, "
                  "before_solve: bool = False) -> None"))
      .def_prop_ro("path", &SharedRecorder::path, "The file, as it was given.")
      .def_prop_ro("step_count", &step_count, "Count of steps so far.")
      .def_prop_ro("lost_count", &lost_count,
                   "Count of steps that are missing in the file because the system refused to\n"
                   "write them.")
      .def_prop_ro("left_out_count", &left_out_count,
                   "Count of steps that are missing in the file because they are larger than its\n"
                   "capacity.")
      .def_prop_ro("fault", &fault,
                   "Why steps are missing in the file, as one sentence; empty if none is.")
      .def("close", &close, "Ends the recording; later steps are solved and not recorded.")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __enter__(self) -> Recorder"))
      .def(
          "__exit__", [](SharedRecorder& self, nb::args) { close(self); },
          nb::sig("def __exit__(self, *exception: object) -> None"))
      .def("__repr__", &show);
}

}  // namespace carom::python
