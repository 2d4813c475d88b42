// SPDX-License-Identifier: BSD-3-Clause
#include "io/cpf_file.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/friction_problems.hpp"

namespace cpf_file_test {

namespace {

using carom::Index;
using carom::files::FrictionProblem;
using carom::files::parse_cpf;
using carom::testing::bits_of;
using carom::testing::fault_of_reading;
using carom::testing::replaced;

/// Bytes of numbers, the lowest first, put together by hand.
std::string doubles(const std::vector<double>& numbers) {
  std::string bytes;
  for (const double number : numbers) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    for (int k = 0; k < 64; k += 8) bytes += char((bits >> k) & 255);
  }
  return bytes;
}
std::string integers(const std::vector<int>& numbers) {
  std::string bytes;
  for (const int number : numbers) {
    for (int k = 0; k < 32; k += 8) bytes += char((unsigned(number) >> k) & 255);
  }
  return bytes;
}

/// One planar contact, W = (2 −1; −1 3), and a body of one velocity.
struct SmallFile {
  std::string kind = "both", sizes = "W.rows 2\nW.cols 2\nM.rows 1\nM.cols 1\nH.rows 1\nH.cols 2\n";
  std::string arrays =
      "array mu f64 1\narray q f64 2\narray W.ptr i32 3\narray W.idx i32 4\narray W.val f64 4\n"
      "array f f64 1\narray b f64 2\narray M.ptr i32 2\narray M.idx i32 1\narray M.val f64 1\n"
      "array H.ptr i32 3\narray H.idx i32 1\narray H.val f64 1\narray r_guess f64 2\n";
  std::vector<int> pointers{0, 2, 4}, indices{0, 1, 0, 1};
  std::vector<double> friction{0.5}, q{-1, 0.25};

  [[nodiscard]] std::string text() const {
    return "CPF1\nkind " + kind + "\ndim 2\nnc 1\nname a small one\n" + sizes + arrays + "data\n" +
           doubles(friction) + doubles(q) + integers(pointers) + integers(indices) +
           doubles({2, -1, -1, 3}) + doubles({7}) + doubles({8, 9}) + integers({0, 1, 0}) +
           doubles({4}) + integers({0, 0, 1, 0}) + doubles({6}) + doubles({10, 11});
  }
};

std::string fault_of(const std::string& bytes) {
  return fault_of_reading([&] { return parse_cpf(bytes); });
}

}  // namespace

TEST_CASE("cpf_file: every number lands where the format says", "[io][example]") {
  const FrictionProblem p = parse_cpf(SmallFile().text());
  CHECK(p.dimension == 2);
  CHECK(p.contact_count == 1);
  CHECK(p.metadata == std::vector<std::pair<std::string, std::string>>{{"name", "a small one"}});
  CHECK(p.friction == Eigen::VectorXd::Constant(1, 0.5));
  CHECK(p.local->velocity == Eigen::Vector2d(-1, 0.25));
  CHECK(p.local->delassus.toDense() == (Eigen::Matrix2d() << 2, -1, -1, 3).finished());
  CHECK(p.global->momentum == Eigen::VectorXd::Constant(1, 7));
  CHECK(p.global->velocity == Eigen::Vector2d(8, 9));
  CHECK(p.global->mass.toDense() == Eigen::MatrixXd::Constant(1, 1, 4));
  CHECK(p.global->directions.toDense() == Eigen::RowVector2d(0, 6));
  CHECK(p.guess->impulse == Eigen::Vector2d(10, 11));
  CHECK_FALSE(p.solution);
}

TEST_CASE("cpf_file: no prefix of a container is a container", "[io][law]") {
  const std::string whole = SmallFile().text();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    const std::string fault = fault_of(whole.substr(0, length));
    CHECK_FALSE(fault.empty());
    CHECK(fault.find('\n') == std::string::npos);
  }
  CHECK(fault_of(whole + 'x') ==
        "after the last array: expected the end of the file, got 1 more bytes");
}

TEST_CASE("cpf_file: any bytes are refused or a problem without fault", "[io][law]") {
  const std::string whole = SmallFile().text();
  const std::size_t header = whole.find("data\n");
  std::minstd_rand engine(1);
  int accepted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = whole;
    const int changes = 1 + trial % 3;
    for (int k = 0; k < changes; ++k) {
      // The header is short: half of the changes are there.
      const std::size_t range = k % 2 == 0 ? header : text.size();
      text[engine() % range] = char(trial % 2 == 0 ? '0' + engine() % 10 : engine() % 256);
    }
    const std::string fault = fault_of(text);
    CHECK(fault.find('\n') == std::string::npos);
    if (!fault.empty()) continue;
    CHECK(carom::files::friction_problem_fault(parse_cpf(text)).empty());
    ++accepted;
  }
  CHECK(accepted > 100);
}

TEST_CASE("cpf_file: faults of the header name line, key and what was expected", "[io][example]") {
  const std::string whole = SmallFile().text();
  const auto fault = [&](const std::string& old, const std::string& replacement) {
    return fault_of(replaced(whole, old, replacement));
  };
  CHECK(fault("CPF1", "CPF2") == "header line 1: expected 'CPF1', got 'CPF2'");
  CHECK(fault("kind both", "kind all") ==
        "header line 2: kind: expected 'local', 'global', 'both' or 'solution', got 'all'");
  CHECK(fault("kind both\n", "") == "kind: expected a line of this key, got none");
  CHECK(fault("dim 2", "dim 4") == "header line 3: dim: expected 2 or 3, got '4'");
  CHECK(fault("nc 1", "nc -1") ==
        "header line 4: nc: expected a whole number in [0, 715827882], got '-1'");
  CHECK(fault("nc 1", "nc 1e0") ==
        "header line 4: nc: expected a whole number in [0, 715827882], got '1e0'");
  CHECK(fault("nc 1", "nc 99999999999999999999") ==
        "header line 4: nc: expected a whole number in [0, 715827882], got "
        "'99999999999999999999'");
  CHECK(fault("name a", "name b\nname a") ==
        "header line 6: expected each key once, got 'name' again");
  CHECK(fault("nc 1", "nc 1\ndim 2") == "header line 5: expected each key once, got 'dim' again");
  CHECK(fault("W.cols 2", "W.rows 2") ==
        "header line 7: expected each key once, got 'W.rows' again");
  CHECK(fault("W.rows 2", "W.rows 3") == "W.rows: expected 2, got 3");
  CHECK(fault("H.cols 2\n", "") ==
        "H.cols: expected a line of this key in a file of kind both, got none");
  CHECK(fault("q f64", "q f32") ==
        "header line 13: array 'q': type: expected 'f64' or 'i32', got 'f32'");
  CHECK(fault("W.ptr i32", "W.ptr f64").find("array ") == 0);
  CHECK(fault("mu f64 1", "mu f64 x") ==
        "header line 12: array 'mu': expected a whole number in [0, 9223372036854775807], got "
        "'x'");
  CHECK(fault("array q f64 2", "array mu f64 2") ==
        "header line 13: expected each array once, got array 'mu' again");
  CHECK(fault("array q f64 2", "array p f64 2") ==
        "array q: expected one in a file of kind both, got none");
  CHECK(fault("array r_guess f64 2", "array guess f64 2") ==
        "array 'guess': expected none in a file of kind both, got one");
  CHECK(fault("kind both", "kind local").find("expected none in a file of kind local, got one") !=
        std::string::npos);
  CHECK(fault("name a small one", "") == "header line 5: expected a key and its value, got ''");
  CHECK(fault("name a small one", "\x01\x02 x\xff").find('\x01') == std::string::npos);
}

TEST_CASE("cpf_file: counts that the file cannot hold are refused before memory is asked for",
          "[io][law]") {
  const std::string whole = SmallFile().text();
  for (const char* count :
       {"3", "1000", "2147483648", "4611686018427387904", "9223372036854775807"}) {
    const std::string fault =
        fault_of(replaced(whole, "array q f64 2", std::string("array q f64 ") + count));
    CHECK_FALSE(fault.empty());
  }
  CHECK(fault_of(replaced(whole, "array q f64 2", "array q f64 2305843009213693952")) ==
        "array 'q': expected 2305843009213693952 entries of 8 bytes, got 160 bytes before the end "
        "of the file");
  CHECK(fault_of(replaced(whole, "nc 1", "nc 715827882")) ==
        "array mu: expected 715827882 entries, got 1");
  CHECK(fault_of(replaced(whole, "M.rows 1", "M.rows 2147483647")) ==
        "M.cols: expected 2147483647, got 1");
  CHECK(fault_of(replaced(replaced(whole, "M.rows 1", "M.rows 2147483647"), "M.cols 1",
                          "M.cols 2147483647")) ==
        "array M.ptr: expected 2147483648 entries, got 2");
}

TEST_CASE("cpf_file: faults of the numbers name field and index", "[io][example]") {
  SmallFile file;
  file.q[1] = std::numeric_limits<double>::quiet_NaN();
  CHECK(fault_of(file.text()) == "q entry 1: expected a finite number, got nan");
  file = {};
  file.friction[0] = -0.5;
  CHECK(fault_of(file.text()) == "mu entry 0: expected a finite number >= 0, got -0.5");
  for (const std::vector<int>& pointers :
       {std::vector{1, 2, 4}, {0, 5, 4}, {0, -1, 4}, {0, 2, 3}, {0, 2, 5}, {0, 3, 2}}) {
    file = {};
    file.pointers = pointers;
    CHECK(fault_of(file.text()).find("W.ptr entry ") == 0);
  }
  file = {};
  file.pointers[1] = -7;
  CHECK(fault_of(file.text()) == "W.ptr entry 1: expected numbers that ascend from 0 to 4, got -7");
  for (const std::vector<int>& indices :
       {std::vector{1, 0, 0, 1}, {0, 0, 0, 1}, {0, 2, 0, 1}, {-1, 0, 0, 1}}) {
    file = {};
    file.indices = indices;
    CHECK(fault_of(file.text())
              .find("W.idx: expected ascending row indices in [0, 2) in column 0, got ") == 0);
  }
}

TEST_CASE("cpf_file: a solution needs r and u, and nothing else", "[io][example]") {
  const std::string header = "CPF1\nkind solution\ndim 2\nnc 1\n";
  const std::string r = "array r f64 2\n", u = "array u f64 2\n";
  const FrictionProblem p =
      parse_cpf(header + r + u + "data\n" + doubles({1, 2}) + doubles({3, 4}));
  CHECK(p.solution->impulse == Eigen::Vector2d(1, 2));
  CHECK(p.solution->contact_velocity == Eigen::Vector2d(3, 4));
  CHECK_FALSE(p.local);
  CHECK_FALSE(p.global);
  CHECK(fault_of(header + "H.rows 3\n" + r + u + "data\n" + doubles({1, 2, 3, 4})) ==
        "H.rows: expected none in a file of kind solution, got one");
  CHECK(fault_of(header + r + "data\n" + doubles({1, 2})) ==
        "array u: expected one in a file of kind solution, got none");
  CHECK(fault_of(header + u + "data\n" + doubles({1, 2})) ==
        "array r: expected one in a file of kind solution, got none");
}

TEST_CASE("cpf_file: faults of a file start with its path", "[io][example]") {
  const std::string path = CAROM_SOURCE_DIR "/examples/data/README.md";
  CHECK(fault_of_reading([&] { return carom::files::read_cpf(path); }).find(path + ": header") ==
        0);
  CHECK(fault_of_reading([&] {
          return carom::files::read_cpf("nowhere.cpf");
        }).find("nowhere.cpf: expected a file") == 0);
}

TEST_CASE("cpf_file: known by its first line", "[io][example]") {
  CHECK(carom::files::is_cpf(SmallFile().text()));
  CHECK_FALSE(carom::files::is_cpf("CPF1"));
  CHECK_FALSE(carom::files::is_cpf("CPF12\n"));
  CHECK_FALSE(carom::files::is_cpf(""));
}

}  // namespace cpf_file_test
