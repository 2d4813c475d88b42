// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/recording/recorded_solver.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "support/catch.hpp"

namespace recorded_solver_test {

using carom::ContactMethod, carom::FrictionLaw, carom::SolveLimits;
using carom::detail::ByteWriter, carom::detail::kind_of, carom::detail::RecordedSolver;
using carom::detail::RecordedSolverKind, carom::detail::recorded_solver;

enum class Order { forward, outward = 2 };

/// Options with every name that is recorded.
template <typename Number>
struct AllOptions {
  FrictionLaw law = FrictionLaw::convex;
  ContactMethod method = ContactMethod::proximal;
  Order order = Order::outward;
  int iteration_limit = 101, sweeps = 102, visits_to_sleep = 103, small_contact_limit = 104;
  Number tolerance = Number(0.1), line_search_tolerance = Number(0.2),
         factor_work_limit = Number(1e30), relaxation = Number(0.7);
};
/// Options with few of them, and with others.
struct FewOptions {
  float tolerance = 0.1F;
  int sweeps = 5;
  double temperature = 300;
};
/// A solver of carom's: it names itself.
template <typename Options>
struct NamedSolver {
  static constexpr RecordedSolverKind recorded_kind = RecordedSolverKind::chained;
  Options given = {};
  SolveLimits bounds = {};
  [[nodiscard]] const Options& options() const noexcept { return given; }
  [[nodiscard]] const SolveLimits& limits() const noexcept { return bounds; }
};
/// One that has neither options nor limits.
struct BareSolver {
  static constexpr RecordedSolverKind recorded_kind = RecordedSolverKind::sap;
};
/// A solver of a user, with options and limits of the same names.
struct UsersSolver {
  [[nodiscard]] AllOptions<double> options() const noexcept { return {}; }
  [[nodiscard]] SolveLimits limits() const noexcept { return {.iteration_limit = 3}; }
};

namespace {

using Bytes = std::array<unsigned char, RecordedSolver::byte_count>;

[[nodiscard]] Bytes bytes_of(const RecordedSolver& solver) {
  std::array<unsigned char, RecordedSolver::byte_count + 16> memory;
  memory.fill(0xAB);
  ByteWriter out(memory.data());
  solver.write(out);
  CHECK(out.position() == memory.data() + RecordedSolver::byte_count);
  CHECK(std::all_of(memory.begin() + RecordedSolver::byte_count, memory.end(),
                    [](unsigned char byte) { return byte == 0xAB; }));
  Bytes bytes;
  std::copy_n(memory.begin(), bytes.size(), bytes.begin());
  return bytes;
}
/// An integer with its lowest byte first.
[[nodiscard]] std::uint64_t integer_at(const Bytes& bytes, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (std::size_t k = size; k-- > 0;) number = number * 256 + bytes[at + k];
  return number;
}
[[nodiscard]] std::int32_t int_at(const Bytes& bytes, std::size_t at) {
  return std::int32_t(std::uint32_t(integer_at(bytes, at, 4)));
}
[[nodiscard]] double double_at(const Bytes& bytes, std::size_t at) {
  const std::uint64_t bits = integer_at(bytes, at, 8);
  double number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

/// Each number of a solver moved, one at a time.
[[nodiscard]] std::vector<std::function<void(RecordedSolver&)>> all_moves() {
  return {
      [](RecordedSolver& s) { s.kind = RecordedSolverKind::proximal; },
      [](RecordedSolver& s) { s.law = FrictionLaw::convex; },
      [](RecordedSolver& s) { s.method = ContactMethod::sap; },
      [](RecordedSolver& s) { ++s.order; },
      [](RecordedSolver& s) { s.iteration_limit = -1; },
      [](RecordedSolver& s) { s.solve_limit = std::numeric_limits<int>::min(); },
      [](RecordedSolver& s) { ++s.least_sweeps; },
      [](RecordedSolver& s) { s.has_deadline = !s.has_deadline; },
      [](RecordedSolver& s) { ++s.sweeps; },
      [](RecordedSolver& s) { ++s.visits_to_sleep; },
      [](RecordedSolver& s) { ++s.small_contact_limit; },
      [](RecordedSolver& s) { s.tolerance = std::numeric_limits<double>::denorm_min(); },
      [](RecordedSolver& s) { s.line_search_tolerance = 1e-300; },
      [](RecordedSolver& s) { s.factor_work_limit = std::numeric_limits<double>::infinity(); },
      [](RecordedSolver& s) { s.relaxation = 1 + std::numeric_limits<double>::epsilon(); },
  };
}

/// A solver that is only declared where this test sees it.
template <typename Solver>
[[nodiscard]] const Solver& declared() noexcept {
  alignas(std::max_align_t) static const unsigned char memory[16] = {};
  return *reinterpret_cast<const Solver*>(memory);
}
template <template <typename> typename Solver>
[[nodiscard]] std::array<RecordedSolverKind, 2> kinds_of() {
  return {kind_of(declared<Solver<float>>()), kind_of(declared<Solver<double>>())};
}
template <typename Scalar>
using SweepsOnBodies = carom::SolverOnBodies<carom::GaussSeidel<Scalar>>;
template <typename Scalar>
using GradientOnBodies = carom::SolverOnBodies<carom::ProjectedGradient<Scalar>>;

}  // namespace

TEST_CASE("recorded_solver: every number stands where the description of the format says",
          "[solvers][oracle]") {
  // docs/file_formats.md counts from the beginning of the record, where a solver is at byte 32.
  RecordedSolver solver;
  solver.kind = RecordedSolverKind::gauss_seidel;
  solver.law = FrictionLaw::convex;
  solver.method = ContactMethod::proximal;
  solver.order = 0xfedcba98;
  solver.iteration_limit = -2;
  solver.solve_limit = std::numeric_limits<int>::min();
  solver.least_sweeps = 0x01020304;
  solver.has_deadline = true;
  solver.sweeps = 11;
  solver.visits_to_sleep = 12;
  solver.small_contact_limit = 13;
  solver.tolerance = -0.0;
  solver.line_search_tolerance = std::numeric_limits<double>::denorm_min();
  solver.factor_work_limit = std::numeric_limits<double>::infinity();
  solver.relaxation = 1.0 / 3;
  const Bytes bytes = bytes_of(solver);
  const auto at = [](std::size_t of_record) { return of_record - 32; };
  CHECK(integer_at(bytes, at(32), 4) == 5);
  CHECK(integer_at(bytes, at(36), 4) == 1);
  CHECK(integer_at(bytes, at(40), 4) == std::uint64_t(ContactMethod::proximal));
  CHECK(integer_at(bytes, at(44), 4) == 0xfedcba98);
  CHECK(int_at(bytes, at(48)) == -2);
  CHECK(int_at(bytes, at(52)) == std::numeric_limits<int>::min());
  CHECK(bytes[at(56)] == 4);
  CHECK(bytes[at(59)] == 1);
  CHECK(int_at(bytes, at(60)) == 1);
  CHECK(int_at(bytes, at(64)) == 11);
  CHECK(int_at(bytes, at(68)) == 12);
  CHECK(int_at(bytes, at(72)) == 13);
  CHECK(int_at(bytes, at(76)) == 0);
  CHECK(integer_at(bytes, at(80), 8) == std::uint64_t(1) << 63);
  CHECK(integer_at(bytes, at(88), 8) == 1);
  CHECK(double_at(bytes, at(96)) == std::numeric_limits<double>::infinity());
  CHECK(double_at(bytes, at(104)) == 1.0 / 3);
}

TEST_CASE("recorded_solver: solvers are equal if and only if their bytes are", "[solvers][law]") {
  const auto moves = all_moves();
  for (std::size_t i = 0; i < moves.size(); ++i) {
    RecordedSolver moved;
    moves[i](moved);
    CAPTURE(i);
    CHECK_FALSE(moved == RecordedSolver());
    CHECK(bytes_of(moved) != bytes_of(RecordedSolver()));
    for (std::size_t j = 0; j < moves.size(); ++j) {
      RecordedSolver other;
      moves[j](other);
      CHECK((moved == other) == (i == j));
      CHECK((bytes_of(moved) == bytes_of(other)) == (i == j));
    }
  }
}

TEST_CASE("recorded_solver: solvers have the kinds of the format", "[solvers][example]") {
  using Kinds = std::array<RecordedSolverKind, 2>;
  const auto both = [](RecordedSolverKind kind) { return Kinds{kind, kind}; };
  CHECK(kinds_of<carom::ContactSolver>() == both(RecordedSolverKind(1)));
  CHECK(kinds_of<carom::SapSolver>() == both(RecordedSolverKind(2)));
  CHECK(kinds_of<carom::InteriorPointSolver>() == both(RecordedSolverKind(3)));
  CHECK(kinds_of<carom::ProximalSolver>() == both(RecordedSolverKind(4)));
  CHECK(kinds_of<SweepsOnBodies>() == both(RecordedSolverKind(5)));
  CHECK(kinds_of<GradientOnBodies>() == both(RecordedSolverKind(6)));
  CHECK(kind_of(NamedSolver<FewOptions>()) == RecordedSolverKind(7));
  CHECK(kind_of(BareSolver()) == RecordedSolverKind::sap);
  CHECK(kind_of(UsersSolver()) == RecordedSolverKind(0));
  CHECK(kind_of(3) == RecordedSolverKind::other);
}

TEMPLATE_TEST_CASE("recorded_solver: each option that a solver has is read", "[solvers][example]",
                   float, double) {
  const NamedSolver<AllOptions<TestType>> solver;
  RecordedSolver wanted;
  wanted.kind = RecordedSolverKind::chained;
  wanted.law = FrictionLaw::convex;
  wanted.method = ContactMethod::proximal;
  wanted.order = 2;
  wanted.iteration_limit = 101;
  wanted.sweeps = 102;
  wanted.visits_to_sleep = 103;
  wanted.small_contact_limit = 104;
  wanted.tolerance = double(TestType(0.1));  // the number itself, not one near it
  wanted.line_search_tolerance = double(TestType(0.2));
  wanted.factor_work_limit = double(TestType(1e30));
  wanted.relaxation = double(TestType(0.7));
  CHECK(recorded_solver(solver) == wanted);
}

TEST_CASE("recorded_solver: options that a solver does not have keep their values",
          "[solvers][law]") {
  RecordedSolver wanted;
  wanted.kind = RecordedSolverKind::chained;
  wanted.tolerance = double(0.1F);
  wanted.sweeps = 5;
  CHECK(recorded_solver(NamedSolver<FewOptions>()) == wanted);
  RecordedSolver bare;
  bare.kind = RecordedSolverKind::sap;
  CHECK(recorded_solver(BareSolver()) == bare);
  CHECK(bare.solve_limit == std::numeric_limits<int>::max());
  CHECK(bare.least_sweeps == 1);
  CHECK_FALSE(bare.has_deadline);
  // Names of a user's solver may mean something else.
  CHECK(recorded_solver(UsersSolver()) == RecordedSolver());
}

TEST_CASE("recorded_solver: of the limits the counts are read, and whether there is a deadline",
          "[solvers][example]") {
  const auto clock = [](void* /*context*/) noexcept { return 0.0; };
  NamedSolver<FewOptions> solver;
  solver.bounds = {.iteration_limit = 17, .now = clock, .deadline = -1e300, .least_sweeps = 4};
  CHECK(recorded_solver(solver).solve_limit == 17);
  CHECK(recorded_solver(solver).least_sweeps == 4);
  CHECK(recorded_solver(solver).has_deadline);
  solver.bounds.deadline = std::numeric_limits<double>::quiet_NaN();  // one that is over
  CHECK(recorded_solver(solver).has_deadline);
  solver.bounds.deadline = std::numeric_limits<double>::infinity();
  CHECK_FALSE(recorded_solver(solver).has_deadline);
  solver.bounds.deadline = 1;
  solver.bounds.now = nullptr;
  CHECK_FALSE(recorded_solver(solver).has_deadline);
}

}  // namespace recorded_solver_test
