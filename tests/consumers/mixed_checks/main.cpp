// SPDX-License-Identifier: BSD-3-Clause
// One unit with armed preconditions and one without live in the same program, and each keeps its
// own behaviour, whichever copy of a function the linker would have chosen for both.
#include <csignal>
#include <cstdio>
#include <cstdlib>

void break_precondition_armed();
void break_precondition_disarmed();

namespace {

volatile std::sig_atomic_t disarmed_returned = 0;

void on_abort(int) {
  std::_Exit(disarmed_returned == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
}

}  // namespace

int main() {
  std::signal(SIGABRT, on_abort);
  break_precondition_disarmed();
  disarmed_returned = 1;
  break_precondition_armed();
  std::fputs("the armed unit let a broken precondition pass\n", stderr);
  return EXIT_FAILURE;
}
