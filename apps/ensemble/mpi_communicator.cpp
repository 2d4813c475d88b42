// SPDX-License-Identifier: BSD-3-Clause
// The processes of an MPI job. Faults of MPI itself end the job, as its default error handler does.
#include <cstdlib>
#include <mpi.h>

#include "ensemble/communicator.hpp"

namespace carom::ensemble {
namespace {

class OnMpi final : public Communicator {
 public:
  OnMpi(int& argc, char**& argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  OnMpi(const OnMpi&) = delete;
  OnMpi& operator=(const OnMpi&) = delete;
  ~OnMpi() override { MPI_Finalize(); }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  void send(int to, const std::string& text) override {
    MPI_Send(text.data(), int(text.size()), MPI_CHAR, to, tag, MPI_COMM_WORLD);
  }
  [[nodiscard]] std::optional<Message> poll() override {
    int arrived = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &arrived, &status);
    if (arrived == 0) return std::nullopt;
    return receive(status);
  }
  [[nodiscard]] Message wait() override {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
    return receive(status);
  }
  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::abort();
  }

 private:
  static constexpr int tag = 1;

  [[nodiscard]] static Message receive(const MPI_Status& seen) {
    int size = 0;
    MPI_Get_count(&seen, MPI_CHAR, &size);
    Message message{seen.MPI_SOURCE, std::string(std::size_t(size), '\0')};
    MPI_Recv(message.text.data(), size, MPI_CHAR, seen.MPI_SOURCE, tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return message;
  }

  int rank_ = 0, size_ = 1;
};

}  // namespace

std::unique_ptr<Communicator> make_communicator(int& argc, char**& argv) {
  return std::make_unique<OnMpi>(argc, argv);
}

}  // namespace carom::ensemble
