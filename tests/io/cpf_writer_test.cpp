// SPDX-License-Identifier: BSD-3-Clause
#include "io/cpf_writer.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/friction_problems.hpp"

namespace cpf_writer_test {

namespace {

using carom::Index;
using carom::files::cpf_bytes;
using carom::files::FrictionProblem;
using carom::files::parse_cpf;
using carom::testing::bits_of;
using carom::testing::fault_of_reading;

const std::string data_folder = CAROM_SOURCE_DIR "/examples/data/fclib/";

std::string fault_of(const FrictionProblem& problem) {
  return fault_of_reading([&] { return cpf_bytes(problem); });
}

}  // namespace

TEST_CASE("cpf_writer: a problem read back is the same, bit for bit", "[io][law]") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    carom::testing::VectorSource<double> source(seed);
    for (unsigned parts = 1; parts < 16; ++parts) {
      if ((parts & 11) == 0) continue;
      const Index dimension = 2 + Index(seed % 2), count = seed % 5;
      CAPTURE(seed, parts);
      const auto problem = carom::testing::draw_friction_problem(
          source, {(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0, (parts & 8) != 0},
          dimension, count);
      const std::string bytes = cpf_bytes(problem);
      const FrictionProblem again = parse_cpf(bytes);
      CHECK(bits_of(again) == bits_of(problem));
      CHECK(again.metadata == problem.metadata);
      CHECK(cpf_bytes(again) == bytes);
    }
  }
}

TEST_CASE("cpf_writer: original files are written back, bit for bit", "[io][law]") {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(data_folder)) {
    if (file.path().extension() != ".cpf") continue;
    CAPTURE(file.path().string());
    const std::string bytes = carom::files::read_file(file.path().string());
    const FrictionProblem problem = parse_cpf(bytes);
    CHECK(problem.find("name") == file.path().stem().string());
    const std::string written = cpf_bytes(problem);
    CHECK(bits_of(parse_cpf(written)) == bits_of(problem));
    // The originals of kind both list their arrays in the same order.
    CHECK(written.size() == bytes.size());
    if (problem.global) CHECK(written == bytes);
    ++count;
  }
  CHECK(count >= 8);
}

TEST_CASE("cpf_writer: a matrix with gaps between its columns is written without",
          "[io][example]") {
  carom::testing::VectorSource<double> source(3);
  const auto problem = carom::testing::draw_friction_problem(source, {}, 3, 2);
  FrictionProblem loose = problem;
  loose.local->delassus.reserve(Eigen::VectorXi::Constant(6, 9));
  REQUIRE_FALSE(loose.local->delassus.isCompressed());
  CHECK(cpf_bytes(loose) == cpf_bytes(problem));
}

TEST_CASE("cpf_writer: what cannot be written is refused by name", "[io][example]") {
  carom::testing::VectorSource<double> source(4);
  const auto problem = carom::testing::draw_friction_problem(source, {}, 3, 2);
  const auto with = [&](const std::string& key, const std::string& value) {
    FrictionProblem changed = problem;
    changed.metadata.emplace_back(key, value);
    return fault_of(changed);
  };
  CHECK(with("remark2", "fine").empty());
  CHECK(with("two words", "x") ==
        "metadata 3: expected a key without spaces and line ends, got 'two words'");
  CHECK(with("", "x") == "metadata 3: expected a key without spaces and line ends, got ''");
  CHECK(with("nc", "3") == "metadata 3: expected a key that has no meaning of its own, got 'nc'");
  CHECK(with("name", "again") == "metadata 3: expected each key once, got 'name'");
  CHECK(with("text", "two\nlines") == "metadata 3: expected a value of one line, got 'two?lines'");
  FrictionProblem wrong = problem;
  wrong.friction(1) = -1;
  CHECK(fault_of(wrong) == "mu entry 1: expected a finite number >= 0, got -1");
  FrictionProblem alone;
  alone.contact_count = 1;
  alone.solution = {Eigen::Vector3d(1, 2, 3), {}, {}};
  CHECK(fault_of(alone) == "solution u: expected 3 entries, got none");
}

TEST_CASE("cpf_writer: a file is written whole or the path named", "[io][example]") {
  carom::testing::VectorSource<double> source(5);
  const auto problem = carom::testing::draw_friction_problem(source, {}, 2, 3);
  const auto folder = std::filesystem::temp_directory_path() / "carom_cpf_writer_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "problem.cpf").string();
  carom::files::write_cpf(problem, path);
  CHECK(bits_of(carom::files::read_cpf(path)) == bits_of(problem));
  const std::string fault = fault_of_reading([&] {
    carom::files::write_cpf(problem, folder.string());
    return 0;
  });
  CHECK(fault == folder.string() + ": expected a file that can be written, was refused it");
  std::filesystem::remove_all(folder);
}

}  // namespace cpf_writer_test
