// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace carom::ensemble {

/// Processes that send short texts to each other. Rank 0 is the leader. A program links one of two
/// implementations: a single process (serial_communicator.cpp), or an MPI job
/// (mpi_communicator.cpp).
class Communicator {
 public:
  struct Message {
    int from;
    std::string text;
  };

  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;
  /// Count of processes, ≥ 1.
  [[nodiscard]] virtual int size() const = 0;
  /// Sends a text. It returns when the text may be discarded here; the receiver must call poll() or
  /// wait().
  virtual void send(int to, const std::string& text) = 0;
  /// A message that has arrived from any process; empty if there is none.
  [[nodiscard]] virtual std::optional<Message> poll() = 0;
  /// Waits for the next message.
  [[nodiscard]] virtual Message wait() = 0;
  /// Ends all processes at once, for faults that occur in one process only.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

/// @param argc, argv  of main(); the arguments of a launcher are removed.
[[nodiscard]] std::unique_ptr<Communicator> make_communicator(int& argc, char**& argv);

}  // namespace carom::ensemble
