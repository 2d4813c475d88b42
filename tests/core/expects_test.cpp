// SPDX-License-Identifier: BSD-3-Clause
#include "carom/core/expects.hpp"

#include "support/catch.hpp"

#if defined(__unix__)
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

/// How a child process that runs `action` ended: its wait status, and what it wrote to stderr.
struct ChildEnd {
  int status;
  std::string message;
};

template <typename Action>
ChildEnd run_in_child(const Action& action) {
  int pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);  // past the test framework's handler
    action();
    _exit(0);
  }
  close(pipe_ends[1]);
  ChildEnd end{0, {}};
  char part[256];
  for (ssize_t n; (n = read(pipe_ends[0], part, sizeof part)) > 0;) {
    end.message.append(part, std::size_t(n));
  }
  close(pipe_ends[0]);
  REQUIRE(waitpid(child, &end.status, 0) == child);
  return end;
}

}  // namespace

TEST_CASE("expects: a broken precondition ends the program and says which", "[core][example]") {
  const ChildEnd end = run_in_child([] { CAROM_EXPECTS(1 + 1 == 3); });
  CAPTURE(end.message, end.status);
  if (CAROM_CHECKS != 0) {
    CHECK(WIFSIGNALED(end.status));
    CHECK(WTERMSIG(end.status) == SIGABRT);
    CHECK(end.message.find("precondition not met: 1 + 1 == 3") != std::string::npos);
    CHECK(end.message.find("expects_test.cpp:") != std::string::npos);
  } else {
    CHECK(WIFEXITED(end.status));
    CHECK(end.message.empty());
  }
}

TEST_CASE("expects: a kept precondition does nothing", "[core][example]") {
  const ChildEnd end = run_in_child([] { CAROM_EXPECTS(1 + 1 == 2); });
  CHECK(WIFEXITED(end.status));
  CHECK(WEXITSTATUS(end.status) == 0);
  CHECK(end.message.empty());
}
#endif

TEST_CASE("expects: the condition runs once when armed, never when not", "[core][law]") {
  int calls = 0;
  const auto count = [&] {
    ++calls;
    return true;
  };
  CAROM_EXPECTS(count());
  CHECK(calls == (CAROM_CHECKS != 0 ? 1 : 0));
}

TEST_CASE("expects: the check is one statement, safe under a bare if", "[core][example]") {
  bool otherwise = false;
  for (const bool wanted : {true, false}) {
    if (wanted)
      CAROM_EXPECTS(wanted);
    else
      otherwise = true;
  }
  CHECK(otherwise);
}
