// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <Eigen/LU>

#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/interior_point.hpp"

#include "support/catch.hpp"
#include "support/fclib_library.hpp"
#include "support/friction_problems.hpp"
#include "support/rolling_problems.hpp"
#include "support/tolerance.hpp"

#include "io/cpf_writer.hpp"
#include "io/fclib_file.hpp"
#include "io/friction_dual.hpp"

namespace fclib_rolling_test {

using carom::testing::by_solver, carom::testing::clearly, carom::testing::rounding;

namespace {

using carom::DelassusProblem;
using carom::FrictionLaw;
using carom::Index;
using carom::VectorX;
using carom::files::fclib_bytes;
using carom::files::friction_dual;
using carom::files::FrictionProblem;
using carom::files::FrictionState;
using carom::files::parse_fclib;
using carom::files::to_row_order;
using carom::testing::ball_on_incline;
using carom::testing::bits_of;
using carom::testing::draw_friction_problem;
using carom::testing::fault_of_reading;
using carom::testing::replaced;
using carom::testing::rolling_problems;
using Eigen::MatrixXd;

const std::string data_folder = CAROM_SOURCE_DIR "/examples/data/fclib/";

std::string fault_of(const std::string& bytes) {
  return fault_of_reading([&] { return parse_fclib(bytes); });
}

/// W and q with the rows of equality constraints, dense, in the order of the file.
std::pair<MatrixXd, VectorX<double>> dense_form(const FrictionProblem& p) {
  const Index rows = p.row_count(), count = p.equality_count();
  MatrixXd w(rows + count, rows + count);
  VectorX<double> q(rows + count);
  if (p.local) {
    w.topLeftCorner(rows, rows) = p.local->delassus.toDense();
    q.head(rows) = p.local->velocity;
    if (count > 0) {
      w.topRightCorner(rows, count) = p.local_equalities->coupling.toDense();
      w.bottomLeftCorner(count, rows) = p.local_equalities->coupling.toDense().transpose();
      w.bottomRightCorner(count, count) = p.local_equalities->delassus.toDense();
      q.tail(count) = p.local_equalities->velocity;
    }
    return {w, q};
  }
  MatrixXd directions(p.global->mass.rows(), rows + count);
  directions.leftCols(rows) = p.global->directions.toDense();
  VectorX<double> b(rows + count);
  b.head(rows) = p.global->velocity;
  if (count > 0) directions.rightCols(count) = p.global_equalities->directions.toDense();
  if (count > 0) b.tail(count) = p.global_equalities->velocity;
  const auto factor = p.global->mass.toDense().partialPivLu();
  return {directions.transpose() * factor.solve(directions),
          directions.transpose() * factor.solve(p.global->momentum) + b};
}

/// Squared distance of r from the nearest point to y of { ‖r_t‖ ≤ μ rₙ, ‖r_m‖ ≤ μᵣ rₙ }, that point
/// found by bisection of d/dn of the squared distance.
double squared_distance(const double (&r)[5], const double (&y)[5], double mu, double roll) {
  const double t = std::hypot(y[1], y[2]), m = std::hypot(y[3], y[4]);
  const auto slope = [&](double n) {
    return n - y[0] - mu * std::max(0.0, t - mu * n) - roll * std::max(0.0, m - roll * n);
  };
  double low = 0, high = std::abs(y[0]) + mu * t + roll * m + 1;
  if (slope(low) >= 0) high = 0;
  for (int k = 0; k < 200; ++k) (slope((low + high) / 2) < 0 ? low : high) = (low + high) / 2;
  const double n = high;
  const double share = t > mu * n ? mu * n / t : 1, turn = m > roll * n ? roll * n / m : 1;
  const double nearest[5] = {n, share * y[1], share * y[2], turn * y[3], turn * y[4]};
  double squared = 0;
  for (int k = 0; k < 5; ++k) squared += (r[k] - nearest[k]) * (r[k] - nearest[k]);
  return squared;
}

/// err of docs/file_formats.md, by plain loops over what the file holds.
/// @param impulse  r, then λ.
double file_error(const FrictionProblem& problem, const VectorX<double>& impulse, FrictionLaw law) {
  const auto [w, q] = dense_form(problem);
  double trace = 0, load = 0, size = 0, speed = 0, squared = 0;
  const Index total = q.size(), rows = problem.row_count();
  for (Index i = 0; i < total; ++i) trace += w(i, i);
  for (Index i = 0; i < total; ++i) load += q(i) * q(i);
  const double mean = trace / double(total), scale = std::sqrt(load);
  std::vector<double> r, u;
  for (Index i = 0; i < total; ++i) {
    double sum = q(i);
    for (Index j = 0; j < total; ++j) sum += w(i, j) * impulse(j);
    r.push_back(impulse(i) * mean / scale);
    u.push_back(sum / scale);
    size += r.back() * r.back();
    speed += u.back() * u.back();
  }
  for (Index i = 0; i < problem.contact_count; ++i) {
    const double mu = problem.friction(i), roll = problem.rolling_friction(i);
    double y[5], own[5];
    for (int k = 0; k < 5; ++k) {
      own[k] = r[std::size_t(5 * i + k)];
      y[k] = own[k] - u[std::size_t(5 * i + k)];
    }
    const double* const v = u.data() + 5 * i;
    if (law == FrictionLaw::coulomb) {
      y[0] -= mu * std::hypot(v[1], v[2]) + roll * std::hypot(v[3], v[4]);
    }
    squared += squared_distance(own, y, mu, roll);
  }
  for (Index i = rows; i < total; ++i) squared += u[std::size_t(i)] * u[std::size_t(i)];
  return std::sqrt(squared) / std::max({1.0, std::sqrt(size), std::sqrt(speed)});
}

/// r and then λ.
VectorX<double> whole_impulse(const FrictionState& state) {
  VectorX<double> whole(state.impulse.size() + state.multiplier.size());
  whole << state.impulse, state.multiplier;
  return whole;
}
VectorX<double> rows_of(const FrictionProblem& problem, const VectorX<double>& whole) {
  VectorX<double> rows = whole;
  rows.head(problem.row_count()) = to_row_order(problem.dimension, whole.head(problem.row_count()));
  return rows;
}

/// Solves to the tolerance, from zero.
template <typename Solver>
FrictionState solved(Solver solver, const FrictionProblem& problem) {
  const DelassusProblem<double> dual = friction_dual(problem);
  REQUIRE(dual.check().empty());
  VectorX<double> impulse = VectorX<double>::Zero(dual.row_count());
  const auto report = solver.solve(dual, impulse);
  CAPTURE(to_string(report.status), report.iterations);
  CHECK(report.converged());
  return carom::files::friction_answer(problem, impulse);
}
FrictionState solved(const FrictionProblem& problem) {
  return solved(carom::InteriorPointSolver<double>({.tolerance = 1e-12}), problem);
}

}  // namespace

// Run by name after a change of the makers; the numbers may change with them only.
TEST_CASE("fclib_rolling: writes the bundled files", "[.write_rolling_files]") {
  for (const auto& [name, problem] : rolling_problems()) {
    carom::files::write_fclib(problem, data_folder + name + ".hdf5");
  }
}

TEST_CASE("fclib_rolling: the bundled files are those that are made here", "[io][oracle]") {
  if (!carom::files::has_fclib()) return;
  for (const auto& [name, made] : rolling_problems()) {
    CAPTURE(name);
    const FrictionProblem read = carom::files::read_fclib(data_folder + name + ".hdf5");
    CHECK(read.dimension == 5);
    // Compilers contract differently, so bits of what is drawn differ.
    CHECK((read.friction - made.friction).norm() <= rounding(50, 1.0));
    CHECK((read.rolling_friction - made.rolling_friction).norm() <= rounding(50, 1.0));
    const auto [w, q] = dense_form(read);
    const auto [made_w, made_q] = dense_form(made);
    CHECK((w - made_w).norm() <= rounding(5000, 1.0) * w.norm());
    CHECK((q - made_q).norm() <= rounding(5000, 1.0) * q.norm());
    CHECK(read.solution.has_value() == made.solution.has_value());
    CHECK(read.find("title") == made.find("title"));
    CHECK(bits_of(parse_fclib(fclib_bytes(read))) == bits_of(read));
  }
}

TEST_CASE("fclib_rolling: a problem read back is the same, bit for bit", "[io][law]") {
  if (!carom::files::has_fclib()) return;
  carom::testing::VectorSource<double> source(21);
  for (unsigned parts = 1; parts < 64; ++parts) {
    if ((parts & 3) == 0) continue;
    CAPTURE(parts);
    const Index equalities = (parts & 16) != 0 ? 2 : 0, dimension = (parts & 32) != 0 ? 3 : 5;
    const auto problem = draw_friction_problem(
        source,
        {(parts & 1) != 0, (parts & 2) != 0, (parts & 4) != 0, (parts & 8) != 0, equalities},
        dimension, Index(parts % 4));
    CHECK(bits_of(parse_fclib(fclib_bytes(problem))) == bits_of(problem));
  }
}

TEST_CASE("fclib_rolling: components take their rows and come back", "[io][law]") {
  CHECK(to_row_order(5, VectorX<double>{{1, 2, 3, 4, 5, 11, 12, 13, 14, 15}}) ==
        VectorX<double>{{2, 3, 1, 4, 5, 12, 13, 11, 14, 15}});
  carom::testing::VectorSource<double> source(22);
  const VectorX<double> numbers = carom::testing::draw_numbers(source, 35);
  CHECK(carom::files::to_file_order(5, to_row_order(5, numbers)) == numbers);
}

TEST_CASE("fclib_rolling: velocities are those of the file, with equality constraints and without",
          "[io][law]") {
  carom::testing::VectorSource<double> source(23);
  for (const bool global : {false, true}) {
    for (const Index equalities : {0, 1, 4}) {
      CAPTURE(global, equalities);
      auto problem =
          draw_friction_problem(source, {!global, global, false, false, equalities}, 5, 3);
      if (global) {
        auto& m = problem.global->mass;
        carom::files::SparseMatrix identity(m.rows(), m.cols());
        identity.setIdentity();
        m = carom::files::SparseMatrix(m.transpose() * m) + identity;
      } else {
        auto& w = problem.local->delassus;
        w = carom::files::SparseMatrix(w.transpose() * w);
      }
      if (!global && equalities > 0) {
        auto& r = problem.local_equalities->delassus;
        r = carom::files::SparseMatrix(r.transpose() * r);
      }
      const DelassusProblem<double> dual = friction_dual(problem);
      REQUIRE(dual.count() == 3 + equalities);
      CHECK(dual.row_count() == 15 + equalities);
      CHECK(dual.set(1).shape == carom::ImpulseShape::spinless_rolling);
      CHECK(dual.set(1).friction ==
            Eigen::Vector3d(problem.friction(1), problem.rolling_friction(1), 0));
      const VectorX<double> whole = carom::testing::draw_numbers(source, dual.row_count());
      VectorX<double> parts, velocity(3 * dual.part_count()), rows;
      dual.write_parts(rows_of(problem, whole), parts);
      dual.write_velocities(carom::as_span(parts), carom::as_span(velocity));
      dual.write_rows(velocity, rows);
      const auto [w, q] = dense_form(problem);
      const VectorX<double> expected = w * whole + q;
      const double allowance = 1e-11 * (1 + w.norm() * whole.norm() + q.norm());
      CHECK((rows - rows_of(problem, expected)).norm() <= allowance);
      const FrictionState answer = carom::files::friction_answer(problem, rows_of(problem, whole));
      CHECK(answer.impulse == whole.head(15));
      CHECK(answer.multiplier == whole.tail(equalities));
      CHECK((answer.contact_velocity - expected.head(15)).norm() <= allowance);
    }
  }
}

TEST_CASE("fclib_rolling: certified errors are those of plain loops over the file",
          "[io][oracle]") {
  for (const auto& [name, problem] : rolling_problems()) {
    const DelassusProblem<double> dual = friction_dual(problem);
    carom::testing::VectorSource<double> source(24);
    const VectorX<double> whole = carom::testing::draw_numbers(source, dual.row_count());
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      CAPTURE(name, to_string(law));
      const double error = file_error(problem, whole, law);
      const auto certificate = certify(dual, rows_of(problem, whole), law);
      CHECK(std::abs(certificate.natural_map_error - error) <= by_solver(1e-9) * error);
      if (law == FrictionLaw::convex || !problem.solution) continue;
      CHECK(file_error(problem, whole_impulse(*problem.solution), law) <= rounding(500, 1.0));
    }
  }
}

TEST_CASE("fclib_rolling: solvers bring the bundled problems to their tolerance", "[io][oracle]") {
  for (const auto& [name, problem] : rolling_problems()) {
    for (const FrictionLaw law : {FrictionLaw::coulomb, FrictionLaw::convex}) {
      CAPTURE(name, to_string(law));
      const auto check = [&file = problem, law](const FrictionState& state, double tolerance) {
        CHECK(file_error(file, whole_impulse(state), law) <= 1.01 * tolerance);
      };
      check(solved(carom::InteriorPointSolver<double>({.law = law, .tolerance = 1e-12}), problem),
            1e-12);
      check(solved(carom::GaussSeidel<double>({.law = law, .tolerance = 1e-6}), problem), 1e-6);
    }
  }
}

TEST_CASE("fclib_rolling: a ball rests up to the lesser of its two limits, then rolls or slides",
          "[io][example]") {
  const double radius = 0.25, dt = 0.01;
  for (const auto& [slope, friction, rolling] :
       {std::tuple(0.079, 0.5, 0.02), std::tuple(0.081, 0.5, 0.02), std::tuple(0.3, 0.5, 0.02),
        std::tuple(0.3, 0.5, 0.0), std::tuple(0.3, 0.1, 0.02), std::tuple(0.3, 0.1, 0.05),
        std::tuple(0.05, 0.1, 1.0), std::tuple(0.6, 0.0, 0.0)}) {
    CAPTURE(slope, friction, rolling);
    const FrictionProblem problem = ball_on_incline(slope, friction, rolling);
    const FrictionState& expected = *problem.solution;
    CHECK(file_error(problem, expected.impulse, FrictionLaw::coulomb) <= rounding(50, 1.0));
    const FrictionState found = solved(problem);
    const double speed = 9.81 * dt, push = speed * 2;
    CHECK((found.velocity - expected.velocity).norm() <= by_solver(1e-10) * speed / radius);
    CHECK((found.impulse - expected.impulse).norm() <= by_solver(1e-10) * push);
    const bool rests = slope <= std::min(friction, rolling / radius);
    CHECK(rests == (found.velocity.norm() <= by_solver(1e-10)));
    const double cosine = 1 / std::sqrt(1 + slope * slope);
    const double rolls = 9.81 * cosine * (slope - rolling / radius) / 1.4;
    if (!rests && friction >= 0.5)
      CHECK(found.velocity(0) / dt == Approx(rolls).epsilon(by_solver(1e-9)));
  }
}

TEST_CASE("fclib_rolling: a bar makes two unequal balls roll as one", "[io][example]") {
  const FrictionProblem problem = carom::testing::balls_on_a_bar();
  const FrictionState found = solved(problem);
  const FrictionState& expected = *problem.solution;
  CHECK(found.velocity(0) > 0);
  CHECK((found.velocity - expected.velocity).norm() <= by_solver(1e-10));
  CHECK((found.impulse - expected.impulse).norm() <= by_solver(1e-10));
  REQUIRE(found.multiplier.size() == 1);
  CHECK(found.multiplier(0) >
        clearly(1e-3));  // it pushes the balls apart: the upper one is the faster
  CHECK(std::abs(found.multiplier(0) - expected.multiplier(0)) <= by_solver(1e-10));
}

TEST_CASE("fclib_rolling: V and R come together", "[io][example]") {
  if (!carom::files::has_fclib()) return;
  carom::testing::VectorSource<double> source(27);
  const auto problem = draw_friction_problem(source, {true, false, false, false, 2}, 5, 2);
  const std::string whole = fclib_bytes(problem), rest(7, '\0');
  CHECK(fault_of(replaced(whole, "V" + rest, "U" + rest)) ==
        "fclib_local_rolling/R/n: expected 0, as V has columns, got 2");
  CHECK(fault_of(replaced(whole, "R" + rest, "Q" + rest)) ==
        "fclib_local_rolling/R/n: expected 2, as V has columns, got 0");
}

TEST_CASE("fclib_rolling: one file has contacts of one kind", "[io][example]") {
  if (!carom::files::has_fclib()) return;
  carom::testing::VectorSource<double> source(28);
  const auto problem = draw_friction_problem(source, {true, true, false, false}, 5, 2);
  const std::string whole = fclib_bytes(problem);
  CHECK(fault_of(whole).empty());
  CHECK(fault_of(replaced(whole, "fclib_local_rolling", std::string("fclib_local\0rolling", 19))) ==
        "HDF5 file: expected contacts that roll or others, got groups of both");
}

TEST_CASE("fclib_rolling: faults name the data set, the index and what was expected",
          "[io][example]") {
  if (!carom::files::has_fclib()) return;
  const auto raw = [](auto number) {
    const auto each = carom::files::detail::to_bytes(number);
    return std::string(each.begin(), each.end());
  };
  FrictionProblem problem = carom::testing::balls_on_a_bar();
  problem.rolling_friction << 0.125, 0.375;
  const std::string whole = fclib_bytes(problem);
  const auto roll = [&](double number) { return replaced(whole, raw(0.375), raw(number)); };
  CHECK(fault_of(roll(-1)) == "mu_r entry 1: expected a finite number >= 0, got -1");
  CHECK(fault_of(roll(std::numeric_limits<double>::quiet_NaN())) ==
        "fclib_global_rolling/vectors/mu_r entry 1: expected a finite number, got nan");
  const auto renamed = [&](const std::string& old, const std::string& name) {
    return fault_of(replaced(whole, old + '\0', name + '\0'));
  };
  CHECK(renamed("mu_r", "mu_x") ==
        "fclib_global_rolling/vectors/mu_r: expected a data set, got none");
  CHECK(fault_of(replaced(whole, "fclib_global_rolling", "fclib_global_rollinG")) ==
        "HDF5 file: expected a group 'fclib_local' or 'fclib_global', or one of them with "
        "'_rolling', got none of them");
  CHECK(
      fault_of(replaced(whole, "fclib_global_rolling", std::string("fclib_global\0rolling", 20))) ==
      "fclib_global/spacedim: expected 2 or 3, got 5");
  // A number of rows that does not say how many a contact has.
  const auto dimension = [&](int number) {
    std::string text = whole;
    std::size_t at = text.find(raw(5));
    for (; at != std::string::npos; at = text.find(raw(5), at + 1)) {
      const std::string changed = text.substr(0, at) + raw(number) + text.substr(at + 4);
      const std::string fault = fault_of(changed);
      if (fault.find("spacedim") != std::string::npos) return fault;
    }
    return std::string();
  };
  CHECK(dimension(2) == "fclib_global_rolling/spacedim: expected 5, (n, t1, t2, m1, m2), got 2");
  CHECK(dimension(3).empty());  // with five rows each it is as clear
  problem.solution->multiplier.resize(0);
  CHECK(fault_of_reading([&] { return fclib_bytes(problem); }) ==
        "l: expected 1 entries beside r, got none");
  CHECK(fault_of_reading([&] { return carom::files::cpf_bytes(problem); }) ==
        "dim: expected 2 or 3 in a container, got 5");
  problem.rolling_friction.resize(1);
  CHECK(friction_problem_fault(problem) == "mu_r: expected 2 entries, got 1");
  carom::testing::VectorSource<double> source(25);
  FrictionProblem two = draw_friction_problem(source, {true, true, false, false, 2}, 3, 1);
  CHECK(fault_of_reading([&] { return carom::files::cpf_bytes(two); }) ==
        "G: expected no equality constraints in a container, got 2");
  two.local_equalities.reset();
  CHECK(friction_problem_fault(two) ==
        "problem: expected equality constraints in both forms or in none, got them in one");
}

#ifdef CAROM_WITH_FCLIB

using carom::testing::check_read, carom::testing::TemporaryFile;

TEST_CASE("fclib_rolling: the library reads equality constraints that are written",
          "[io][oracle]") {
  carom::testing::VectorSource<double> source(26);
  for (const bool global : {false, true}) {
    const auto problem = draw_friction_problem(source, {!global, global, false, true, 2}, 3, 4);
    const TemporaryFile file("equalities.hdf5");
    carom::files::write_fclib(problem, file.path.string());
    check_read(file.path.string(), problem);
  }
}

// The library of version 3.1 has no rolling form. Under the name of the form it knows it reads all
// that the two have in common: everything but mu_r.
TEST_CASE("fclib_rolling: the library reads what the rolling form shares with its own",
          "[io][oracle]") {
  for (const auto& [name, problem] : rolling_problems()) {
    CAPTURE(name);
    const std::string form = problem.global ? "fclib_global" : "fclib_local";
    const TemporaryFile file(name + ".hdf5");
    carom::files::write_file(file.path.string(), replaced(fclib_bytes(problem), form + "_rolling",
                                                          form + std::string("\0rolling", 8)));
    check_read(file.path.string(), problem);
  }
}

#endif

}  // namespace fclib_rolling_test
