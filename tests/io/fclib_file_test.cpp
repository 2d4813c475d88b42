// SPDX-License-Identifier: BSD-3-Clause
#include "io/fclib_file.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/LU>

#include "support/catch.hpp"
#include "support/fclib_library.hpp"
#include "support/friction_problems.hpp"
#include "support/tolerance.hpp"

#include "io/cpf_file.hpp"
#include "io/cpf_writer.hpp"

namespace fclib_file_test {

using carom::testing::by_solver, carom::testing::rounding;

namespace {

using carom::Index;
using carom::VectorX;
using carom::files::fclib_bytes;
using carom::files::FrictionProblem;
using carom::files::has_fclib;
using carom::files::parse_fclib;
using carom::files::SparseMatrix;
using carom::testing::bits_of;
using carom::testing::draw_friction_problem;
using carom::testing::fault_of_reading;
using Eigen::MatrixXd;

const std::string data_folder = CAROM_SOURCE_DIR "/examples/data/fclib/";
const std::vector<std::string> originals{"LMGC_100_PR_PerioBox-i00361-60-03000",
                                         "LMGC_GFC3D-i00501-4-00000", "LMGC_GFC3D_CubeH8"};

std::string fault_of(const std::string& bytes) {
  return fault_of_reading([&] { return parse_fclib(bytes); });
}
double distance(const MatrixXd& a, const MatrixXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("fclib_file: without HDF5 it says so", "[io][example]") {
  if (has_fclib()) return;
  CHECK(fault_of("x") == "expected a program that knows HDF5, got one built without it");
  CHECK(fault_of_reading([] { return fclib_bytes({}); }) ==
        "expected a program that knows HDF5, got one built without it");
}

TEST_CASE("fclib_file: a problem read back is the same, bit for bit", "[io][law]") {
  if (!has_fclib()) return;
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    carom::testing::VectorSource<double> source(seed);
    for (unsigned parts = 1; parts < 16; ++parts) {
      if ((parts & 3) == 0) continue;
      CAPTURE(seed, parts);
      const auto problem = draw_friction_problem(
          source, {(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0, (parts & 8) != 0},
          2 + Index(seed % 2), Index(seed % 5));
      const FrictionProblem again = parse_fclib(fclib_bytes(problem));
      CHECK(bits_of(again) == bits_of(problem));
      CHECK(again.find("title") == "drawn");
    }
  }
}

TEST_CASE("fclib_file: metadata of a problem are kept, on one line each", "[io][example]") {
  if (!has_fclib()) return;
  carom::testing::VectorSource<double> source(3);
  FrictionProblem problem = draw_friction_problem(source, {}, 3, 2);
  problem.metadata = {
      {"title", "a title"}, {"description", " two\nlines \n"}, {"math_info", "\xc2\xb5"}};
  const FrictionProblem again = parse_fclib(fclib_bytes(problem));
  CHECK(again.find("title") == "a title");
  CHECK(again.find("description") == "two lines");
  CHECK(again.find("math_info") == "\xc2\xb5");
  CHECK(bits_of(carom::files::parse_cpf(carom::files::cpf_bytes(again))) == bits_of(problem));
}

TEST_CASE("fclib_file: u and v that are missing follow from r", "[io][law]") {
  if (!has_fclib()) return;
  FrictionProblem problem = carom::files::read_cpf(data_folder + "GFC3D_TwoRods1.cpf");
  const VectorX<double> r = VectorX<double>::LinSpaced(9, -1, 1);
  problem.guess = {r, {}, {}};
  const auto both = parse_fclib(fclib_bytes(problem)).guess;
  const MatrixXd mass = problem.global->mass.toDense(), H = problem.global->directions.toDense();
  const VectorX<double> v = mass.partialPivLu().solve(H * r + problem.global->momentum);
  CHECK(both->impulse == r);
  CHECK(distance(both->velocity, v) < rounding(50000, 1.0));
  CHECK(distance(both->contact_velocity, problem.local->delassus * r + problem.local->velocity) <
        rounding(50, 1.0));
  problem.local.reset();
  const auto global = parse_fclib(fclib_bytes(problem)).guess;
  CHECK(distance(global->contact_velocity, H.transpose() * v + problem.global->velocity) <
        rounding(50000, 1.0));
  problem.global->mass = SparseMatrix(54, 54);
  CHECK(fault_of_reading([&] { return fclib_bytes(problem); }) ==
        "M: expected an invertible matrix, to find v, got a singular one");
}

TEST_CASE("fclib_file: original files hold the problems of the containers of their names",
          "[io][oracle]") {
  if (!has_fclib()) return;
  for (const std::string& name : originals) {
    CAPTURE(name);
    const FrictionProblem fclib = carom::files::read_fclib(data_folder + name + ".hdf5");
    const FrictionProblem cpf = carom::files::read_cpf(data_folder + name + ".cpf");
    CHECK(fclib.dimension == cpf.dimension);
    CHECK(fclib.contact_count == cpf.contact_count);
    CHECK(fclib.friction == cpf.friction);
    CHECK(fclib.find("title") == "LMGC dump in hdf5");
    CHECK(fclib.global.has_value() == cpf.global.has_value());
    // The containers hold the symmetric part of W, and M as it is.
    if (fclib.local) {
      const MatrixXd W = fclib.local->delassus.toDense();
      CHECK(fclib.local->velocity == cpf.local->velocity);
      CHECK(distance((W + W.transpose()) / 2, cpf.local->delassus.toDense()) < rounding(5, 1.0));
    } else {
      const MatrixXd M = fclib.global->mass.toDense(), H = fclib.global->directions.toDense();
      CHECK(M == cpf.global->mass.toDense());
      CHECK(H == cpf.global->directions.toDense());
      CHECK(fclib.global->momentum == cpf.global->momentum);
      CHECK(fclib.global->velocity == cpf.global->velocity);
      const auto factor = M.partialPivLu();
      CHECK(distance(H.transpose() * factor.solve(H), cpf.local->delassus.toDense()) <
            by_solver(1e-10));
      const VectorX<double> q =
          H.transpose() * factor.solve(fclib.global->momentum) + fclib.global->velocity;
      CHECK(distance(q, cpf.local->velocity) < by_solver(1e-10));
    }
    CHECK(bits_of(parse_fclib(fclib_bytes(fclib))) == bits_of(fclib));
  }
}

TEST_CASE("fclib_file: no prefix of a file is a file", "[io][law]") {
  if (!has_fclib()) return;
  carom::testing::VectorSource<double> source(7);
  const std::string whole = fclib_bytes(draw_friction_problem(source, {}, 2, 1));
  // Every length where something new begins, and many between.
  for (std::size_t length = 0; length < whole.size(); length += length < 1000 ? 1 : 37) {
    const std::string fault = fault_of(whole.substr(0, length));
    CAPTURE(length, fault);
    REQUIRE_FALSE(fault.empty());
    REQUIRE(fault.find('\n') == std::string::npos);
  }
  CHECK_FALSE(fault_of(whole.substr(0, whole.size() - 1)).empty());
  CHECK(fault_of(whole).empty());
}

namespace {

/// Numbers as they lie in a file.
template <typename Number>
std::string raw(const std::vector<Number>& numbers) {
  std::string bytes;
  for (const Number number : numbers) {
    const auto each = carom::files::detail::to_bytes(number);
    bytes.append(each.begin(), each.end());
  }
  return bytes;
}

/// Two planar contacts whose arrays can be found in the file.
FrictionProblem recognizable() {
  FrictionProblem problem;
  problem.dimension = 2;
  problem.contact_count = 2;
  problem.friction = Eigen::Vector2d(0.25, 0.75);
  SparseMatrix W(4, 4), M(3, 3), H(3, 4);
  for (int k = 0; k < 4; ++k) W.insert(k, k) = 2 + k;
  W.insert(3, 0) = 1;
  for (int k = 0; k < 3; ++k) M.insert(k, k) = 12 + k;
  for (int k = 0; k < 3; ++k) H.insert(2 - k, k) = 22 + k;
  problem.local = {W, Eigen::Vector4d(1.5, 2.5, 3.5, 4.5)};
  problem.global = {M, H, Eigen::Vector3d(5.5, 6.5, 7.5), Eigen::Vector4d(8.5, 9.5, 10.5, 11.5)};
  return problem;
}

}  // namespace

TEST_CASE("fclib_file: faults name the data set, the index and what was expected",
          "[io][example]") {
  if (!has_fclib()) return;
  const std::string whole = fclib_bytes(recognizable());
  const auto fault = [&](const std::string& old, const std::string& replacement) {
    std::string text = whole;
    REQUIRE(text.find(old) != std::string::npos);
    return fault_of(text.replace(text.find(old), old.size(), replacement));
  };
  const auto integers = [](std::vector<int> numbers) { return raw(numbers); };
  const std::string pointers = integers({0, 2, 3, 4, 5}), indices = integers({0, 3, 1, 2, 3});
  CHECK(fault(pointers, integers({1, 2, 3, 4, 5})) ==
        "fclib_local/W/p entry 0: expected numbers that ascend from 0 to at most 5, got 1");
  CHECK(fault(pointers, integers({0, 2, 1, 4, 5})) ==
        "fclib_local/W/p entry 2: expected numbers that ascend from 0 to at most 5, got 1");
  CHECK(fault(pointers, integers({0, 2, 3, 4, 2147483647})) ==
        "fclib_local/W/p entry 4: expected numbers that ascend from 0 to at most 5, got "
        "2147483647");
  CHECK(fault(pointers, integers({0, -2, 3, 4, 5})) ==
        "fclib_local/W/p entry 1: expected numbers that ascend from 0 to at most 5, got -2");
  CHECK(fault(indices, integers({0, 4, 1, 2, 3})) ==
        "fclib_local/W/i entry 1: expected an index in [0, 4), got 4");
  CHECK(fault(indices, integers({0, 3, 1, 2, -1})) ==
        "fclib_local/W/i entry 4: expected an index in [0, 4), got -1");
  CHECK(fault(integers({2, 1, 0}), integers({2, 1, 3})) ==
        "fclib_global/H/i entry 2: expected an index in [0, 3), got 3");
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto reals = [](std::vector<double> numbers) { return raw(numbers); };
  CHECK(fault(reals({1.5, 2.5}), reals({1.5, nan})) ==
        "fclib_local/vectors/q entry 1: expected a finite number, got nan");
  CHECK(fault(reals({5.5, 6.5}), reals({nan, 6.5})) ==
        "fclib_global/vectors/f entry 0: expected a finite number, got nan");
  CHECK(fault(reals({8.5, 9.5}), reals({8.5, nan})) ==
        "fclib_global/vectors/w entry 1: expected a finite number, got nan");
  CHECK(fault(reals({12, 13, 14}), reals({12, 13, nan})) ==
        "fclib_global/M/x entry 2: expected a finite number, got nan");
  CHECK(fault(reals({0.25, 0.75}), reals({0.25, -1})) ==
        "fclib_global/vectors/mu: expected the contacts of fclib_local, got others");
  // In the order in which they are written, W first.
  const auto size_fault = [&](const std::string& name, int from, int to) {
    const std::string header = "fclib_local/W/" + name + ": ";
    for (std::size_t at = whole.find(integers({from})); at != std::string::npos;
         at = whole.find(integers({from}), at + 1)) {
      std::string text = whole;
      const std::string found = fault_of(text.replace(at, 4, integers({to})));
      if (found.find(header) == 0) return found.substr(header.size());
    }
    return std::string();
  };
  CHECK(size_fault("m", 4, 5) == "expected 4, got 5");
  CHECK(size_fault("m", 4, -2) == "expected a number in [0, 2147483646], got -2");
  CHECK(size_fault("n", 4, 3) == "expected 4, got 3");
  CHECK(size_fault("nz", -1, -3) == "expected a number in [-2, 2147483646], got -3");
  CHECK(size_fault("p", -1, 7) == "expected 7 entries, got 5");
  FrictionProblem problem = recognizable();
  problem.global.reset();
  std::string local = fclib_bytes(problem);
  local.replace(local.find(reals({0.25, 0.75})), 16, reals({0.25, -1}));
  CHECK(fault_of(local) == "mu entry 1: expected a finite number >= 0, got -1");
}

TEST_CASE("fclib_file: numbers of a length that no machine has are refused", "[io][regression]") {
  if (!has_fclib()) return;
  const std::string whole = fclib_bytes(recognizable());
  // The file's own account of its types: class, bits of sign and byte order, size.
  const std::string real("\x11\x20\x3f\0\x08\0\0\0", 8), whole_number("\x10\x08\0\0\x04\0\0\0", 8);
  const auto longer = [&](const std::string& type) {
    std::string text = whole;
    std::size_t at = text.find(type);
    REQUIRE(at != std::string::npos);
    for (; at != std::string::npos; at = text.find(type, at + 1)) text[at + 7] = '\x40';
    return fault_of(text);
  };
  CHECK(longer(real) ==
        "fclib_local/vectors/mu: expected numbers of at most 16 bytes, got 1073741832");
  CHECK(longer(whole_number) ==
        "fclib_local/spacedim: expected numbers of at most 16 bytes, got 1073741828");
}

TEST_CASE("fclib_file: any numbers are refused or a problem without fault", "[io][law]") {
  if (!has_fclib()) return;
  const std::string whole = fclib_bytes(recognizable());
  std::vector<std::pair<std::size_t, std::size_t>> arrays;
  for (const std::string& array :
       {raw<int>({0, 2, 3, 4, 5}), raw<int>({0, 3, 1, 2, 3}), raw<int>({2, 1, 0}),
        raw<int>({0, 1, 2, 3}), raw<double>({0.25, 0.75}), raw<double>({1.5, 2.5, 3.5, 4.5}),
        raw<double>({22, 23, 24}), raw<double>({5.5, 6.5, 7.5})}) {
    REQUIRE(whole.find(array) != std::string::npos);
    arrays.emplace_back(whole.find(array), array.size());
  }
  std::minstd_rand engine(1);
  int accepted = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    std::string text = whole;
    for (int k = 0; k <= trial % 2; ++k) {
      const auto& [start, size] = arrays[engine() % arrays.size()];
      text[start + engine() % size] = char(trial % 3 == 0 ? engine() % 5 : engine() % 256);
    }
    const std::string fault = fault_of(text);
    CAPTURE(trial, fault);
    REQUIRE(fault.find('\n') == std::string::npos);
    if (!fault.empty()) continue;
    REQUIRE(carom::files::friction_problem_fault(parse_fclib(text)).empty());
    ++accepted;
  }
  CHECK(accepted > 100);
  CHECK(accepted < 1400);
}

TEST_CASE("fclib_file: foreign files are refused by name", "[io][example]") {
  if (!has_fclib()) return;
  const std::string damaged = "expected a whole HDF5 file, got one that is damaged or ends early";
  CHECK(fault_of("") == "expected the content of an HDF5 file, got none");
  CHECK(fault_of("carom-problem 1") == damaged);
  CHECK(fault_of(std::string(100000, '\0')) == damaged);
  const std::string path = data_folder + "FC3D_Example1.cpf";
  CHECK(fault_of_reading([&] { return carom::files::read_fclib(path); }) == path + ": " + damaged);
  CHECK(fault_of_reading([] { return fclib_bytes({}); }) ==
        "problem: expected W and q, or M, H, f and b, or a solution, got none of them");
  FrictionProblem alone;
  alone.solution = carom::files::FrictionState{};
  CHECK(fault_of_reading([&] { return fclib_bytes(alone); }) ==
        "problem: expected W and q, or M, H, f and b, got a solution alone");
}

#ifdef CAROM_WITH_FCLIB

namespace {

using carom::testing::TemporaryFile;

/// Puts a number where it tells rows from columns: H has more columns than rows, or fewer.
void require_rows(carom::files::GlobalForm& form) {
  REQUIRE(form.directions.rows() != form.directions.cols());
  form.directions.coeffRef(form.directions.rows() - 1, form.directions.cols() - 1) = 5;
}

/// A matrix of FCLIB's in one of its three forms, whose numbers live here.
struct StoredMatrix {
  std::vector<int> p, i;
  std::vector<double> x;
  fclib_matrix matrix{};

  /// @param form  −1 by columns, −2 by rows, 0 triplets; 1 triplets with rows in p.
  StoredMatrix(const MatrixXd& numbers, int form) {
    const bool by_columns = form == -1 || form == 0;
    const Index outer = by_columns ? numbers.cols() : numbers.rows();
    const Index inner = by_columns ? numbers.rows() : numbers.cols();
    if (form < 0) p.push_back(0);
    for (Index o = 0; o < outer; ++o) {
      for (Index k = inner - 1; k >= 0; --k) {  // in no particular order
        const double number = by_columns ? numbers(k, o) : numbers(o, k);
        if (number == 0) continue;
        i.push_back(int(k));
        x.push_back(number);
        if (form >= 0) p.push_back(int(o));
      }
      if (form < 0) p.push_back(int(i.size()));
    }
    matrix.m = int(numbers.rows());
    matrix.n = int(numbers.cols());
    matrix.nzmax = int(x.size());
    matrix.nz = form < 0 ? form : int(x.size());
    matrix.p = p.data();
    matrix.i = i.data();
    matrix.x = x.data();
  }
};

}  // namespace

TEST_CASE("fclib_file: the library reads what is written", "[io][oracle]") {
  for (const bool is_global : {false, true}) {
    carom::testing::VectorSource<double> source(11);
    const auto problem = draw_friction_problem(source, {!is_global, is_global, true, true}, 3, 4);
    const TemporaryFile file("written.hdf5");
    carom::files::write_fclib(problem, file.path.string());
    carom::testing::check_read(file.path.string(), problem);
  }
}

TEST_CASE("fclib_file: what the library writes is read, in every form", "[io][oracle]") {
  for (const int form : {-1, -2, 0}) {
    for (const int variant : {0, 1, 2}) {
      const bool is_global = variant > 0;
      const int swapped = variant == 2 ? 1 : 0;  // triplets whose rows are in p
      CAPTURE(form, variant);
      carom::testing::VectorSource<double> source(12);
      auto problem = draw_friction_problem(source, {!is_global, is_global, true, true}, 2, 3);
      if (is_global) require_rows(*problem.global);
      const TemporaryFile file("by_library.hdf5");
      fclib_info info{};
      std::string title = "by the library", none;
      info.title = title.data();
      info.description = none.data();
      info.math_info = none.data();
      if (is_global) {
        StoredMatrix mass(problem.global->mass.toDense(), form);
        StoredMatrix directions(problem.global->directions.toDense(), form == 0 ? swapped : form);
        fclib_global given{};
        given.M = &mass.matrix;
        given.H = &directions.matrix;
        given.mu = problem.friction.data();
        given.f = problem.global->momentum.data();
        given.w = problem.global->velocity.data();
        given.spacedim = 2;
        given.info = &info;
        REQUIRE(fclib_write_global(&given, file.path.c_str()) == 1);
      } else {
        StoredMatrix delassus(problem.local->delassus.toDense(), form);
        fclib_local given{};
        given.W = &delassus.matrix;
        given.mu = problem.friction.data();
        given.q = problem.local->velocity.data();
        given.spacedim = 2;
        given.info = &info;
        REQUIRE(fclib_write_local(&given, file.path.c_str()) == 1);
      }
      const auto solution_of = [](carom::files::FrictionState& state) {
        return fclib_solution{state.velocity.data(), state.contact_velocity.data(),
                              state.impulse.data(), nullptr};
      };
      fclib_solution guess = solution_of(*problem.guess);
      fclib_solution solution = solution_of(*problem.solution);
      REQUIRE(fclib_write_guesses(1, &guess, file.path.c_str()) == 1);
      REQUIRE(fclib_write_solution(&solution, file.path.c_str()) == 1);
      const FrictionProblem again = carom::files::read_fclib(file.path.string());
      const auto without_zeros = [](FrictionProblem p) {
        if (p.local) p.local->delassus.prune(0.0);
        if (p.global) p.global->mass.prune(0.0);
        if (p.global) p.global->directions.prune(0.0);
        return p;
      };
      CHECK(bits_of(without_zeros(again)) == bits_of(without_zeros(problem)));
      CHECK(again.find("title") == title);
    }
  }
}

#endif

}  // namespace fclib_file_test
