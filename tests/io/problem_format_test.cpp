// SPDX-License-Identifier: BSD-3-Clause
#include "io/problem_format.hpp"

#include <string>

#include "support/catch.hpp"

namespace problem_format_test {

using carom::files::ProblemFormat;
using carom::files::recognize_format;

TEST_CASE("problem_format: known by content", "[io][example]") {
  const std::string signature("\x89HDF\r\n\x1a\n");
  CHECK(recognize_format("") == ProblemFormat::unknown);
  CHECK(recognize_format("{\"contacts\": []}") == ProblemFormat::unknown);
  CHECK(recognize_format(" \n carom-problem 2\n") == ProblemFormat::text);
  CHECK(recognize_format("carom-problems") == ProblemFormat::unknown);
  CHECK(recognize_format("CPF1\nkind local\n") == ProblemFormat::cpf);
  CHECK(recognize_format("CPF2\n") == ProblemFormat::unknown);
  CHECK(recognize_format(signature) == ProblemFormat::hdf5);
  CHECK(recognize_format(signature.substr(0, 7)) == ProblemFormat::unknown);
  for (const std::size_t before : {512U, 1024U, 2048U, 4096U}) {
    CHECK(recognize_format(std::string(before, 'x') + signature) == ProblemFormat::hdf5);
  }
  for (const std::size_t before : {1U, 256U, 1536U}) {
    CHECK(recognize_format(std::string(before, 'x') + signature) == ProblemFormat::unknown);
  }
}

TEST_CASE("problem_format: bundled files are what their names say", "[io][example]") {
  const std::string folder = CAROM_SOURCE_DIR "/examples/data/";
  const auto format = [&](const std::string& name) {
    return recognize_format(carom::files::read_file(folder + name));
  };
  CHECK(format("pile_n1_s30.txt") == ProblemFormat::text);
  CHECK(format("fclib/FC3D_Example1.cpf") == ProblemFormat::cpf);
  CHECK(format("fclib/LMGC_GFC3D_CubeH8.hdf5") == ProblemFormat::hdf5);
  CHECK(format("README.md") == ProblemFormat::unknown);
}

}  // namespace problem_format_test
