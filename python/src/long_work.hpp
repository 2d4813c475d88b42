// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "unlocked.hpp"

namespace carom::python {

/// What long work does now and then, on the thread that Python called: it lets Python handle
/// Ctrl-C, shows how far it is (carom/_progress.py), and learns whether to end.
///
/// Made, finished and destroyed with the lock of the interpreter; goes_on() takes it for itself.
class LongWork {
 public:
  /// @param progress  True, False, or what is to be called with the share done. It and the title
  ///                  live as long as this.
  /// @throws nb::python_error  as Underway.
  LongWork(nb::handle progress, const char* title);
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;
  ~LongWork();

  /// Whether to go on. Ask about twenty times a second.
  /// @param done  share of the work done, in [0, 1]; NaN where nobody knows.
  [[nodiscard]] bool goes_on(double done) noexcept;
  [[nodiscard]] bool is_interrupted() const noexcept { return interrupted_; }

  /// Takes the bar away. Where the work was interrupted, throws what did it, KeyboardInterrupt as a
  /// rule, whose attribute `partial` then is what make_partial() makes of the work done.
  template <typename MakePartial>
  void finish(const MakePartial& make_partial) {
    if (!interrupted_) return close(true);
    nb::python_error stop;
    close(false);
    attach(stop, make_partial());
    throw stop;
  }

 private:
  void start();
  void close(bool complete);
  static void attach(const nb::python_error& stop, const nb::object& partial);

  Underway underway_;
  nb::handle progress_;
  const char* title_;
  nb::object bar_;
  bool started_ = false, interrupted_ = false;
};

}  // namespace carom::python
