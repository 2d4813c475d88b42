// SPDX-License-Identifier: BSD-3-Clause
// One process, for example on a laptop or as one task of a Slurm array.
#include <cstdlib>
#include <stdexcept>

#include "ensemble/communicator.hpp"

namespace carom::ensemble {
namespace {

class Alone final : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void send(int, const std::string&) override { throw std::logic_error("nobody to send to"); }
  [[nodiscard]] std::optional<Message> poll() override { return std::nullopt; }
  [[nodiscard]] Message wait() override { throw std::logic_error("nobody to wait for"); }
  [[noreturn]] void abort(int exit_code) override { std::exit(exit_code); }
};

}  // namespace

std::unique_ptr<Communicator> make_communicator(int&, char**&) {
  return std::make_unique<Alone>();
}

}  // namespace carom::ensemble
