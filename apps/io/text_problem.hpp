// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "carom/contact/contact_problem.hpp"
#include "carom/contact/rigid_contact.hpp"

#include "io/bad_input.hpp"
#include "io/file_text.hpp"
#include "io/word_reader.hpp"

namespace carom::files {

/// A contact problem as text (docs/file_formats.md), and its guess.
struct TextProblem {
  ContactProblem<double> problem;
  VectorX<double> guess;  ///< First guess of the velocity, n_v [m/s, rad/s].
};

namespace detail {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Reads the parts of one text problem in their order.
class TextProblemParser {
 public:
  explicit TextProblemParser(std::string_view text) : reader_(text) {}

  TextProblem parse() {
    reader_.keyword("carom-problem");
    const std::string_view version = reader_.next();
    if (version != "1" && version != "2") {
      reader_.fail("carom-problem version", "'1' or '2'", version);
    }
    reader_.keyword("time_step");
    TextProblem result{
        ContactProblem<double>(reader_.number([] { return "time_step"; }, NumberRange::positive)),
        {}};
    reader_.keyword("bodies");
    const std::int64_t body_count = reader_.count([] { return "bodies"; });
    for (std::int64_t body = 0; body < body_count; ++body) read_body(result.problem);
    reader_.keyword("contacts");
    const std::int64_t contact_count = reader_.count([] { return "contacts"; });
    for (std::int64_t i = 0; i < contact_count; ++i) read_contact(result.problem, i);
    if (version == "2") {
      reader_.keyword("constraints");
      const std::int64_t constraint_count = reader_.count([] { return "constraints"; });
      for (std::int64_t i = 0; i < constraint_count; ++i) read_constraint(result.problem, i);
    }
    if (const std::string_view extra = reader_.next(); !extra.empty()) {
      reader_.fail(version == "2" ? "after the last constraint" : "after the last contact",
                   "the end of the file", extra);
    }
    result.guess = Eigen::Map<const VectorX<double>>(guess_.data(), Index(guess_.size()));
    return result;
  }

 private:
  struct Sides {
    int count;
    Index bodies[2];
  };

  void read_body(ContactProblem<double>& problem) {
    item_ = "body " + std::to_string(problem.body_count());
    reader_.keyword("body", item_);
    const std::int64_t size = reader_.count([&] { return item_ + ": size"; }, 1);
    const std::int64_t line = reader_.line();
    refuse_absurd(size);
    matrix_.resize(Index(size), Index(size));
    read_matrix("momentum matrix");
    velocity_.resize(Index(size));
    read_vector("free velocity", velocity_.data(), size);
    guess_.resize(guess_.size() + std::size_t(size));
    read_vector("initial guess", guess_.data() + guess_.size() - size, size);
    refuse(line, problem.check_body(matrix_, velocity_));
    problem.add_body(matrix_, velocity_);
  }

  /// Rejects a matrix that is too large for the rest of the file before memory is allocated. Small
  /// matrices are read as far as possible, which results in a better message.
  void refuse_absurd(std::int64_t size) const {
    constexpr std::int64_t small = 256;
    const auto room = std::int64_t(reader_.remaining() / 2);  // a digit and a space per number
    if (size > small && (size > room || size * (size + 2) > room)) {
      reader_.fail(item_ + ": size", "one the rest of the file has numbers for",
                   std::to_string(size));
    }
  }

  void read_contact(ContactProblem<double>& problem, std::int64_t number) {
    item_ = "contact " + std::to_string(number);
    reader_.keyword("contact", item_);
    const std::int64_t line = reader_.line();
    const std::string_view law = reader_.next();
    if (law == "compliant") {
      const Sides sides = read_sides(problem);
      const CompliantContact<double> contact{
          .gap = field("gap"),
          .stiffness = stiffness(),
          .dissipation_time = field("dissipation time", NumberRange::nonnegative),
          .friction = field("friction", NumberRange::nonnegative),
          .near_rigid = field("beta", NumberRange::nonnegative),
          .relative_slip = field("sigma", NumberRange::positive)};
      if (std::isinf(contact.stiffness)) {
        add_unyielding(problem, line, sides, contact);
      } else {
        add_block(problem, line, sides, 3, contact);
        problem.set_law(problem.block_count() - 1,
                        make_weighted(contact, problem.time_step(), file_inverse_mass(problem)));
        check_weights(problem, line);
      }
    } else if (law == "weighted" || law == "rigid") {
      const bool rigid = law == "rigid";
      const Sides sides = read_sides(problem);
      const double friction = field("friction", NumberRange::nonnegative);
      const double tangent = field("R_t", NumberRange::positive);
      const double normal = field("R_n", NumberRange::positive);
      const double bias1 = field("bias t1"), bias2 = field("bias t2"), bias3 = field("bias n");
      const WeightedContact<double> contact{
          friction, {tangent, normal}, {bias1, bias2, bias3}, rigid};
      add_block(problem, line, sides, 3, contact);
    } else {
      reader_.fail(item_, "'compliant', 'weighted' or 'rigid'", law);
    }
  }

  /// w = ‖J diag(A)⁻¹ Jᵀ‖_F/3 of the last contact, with which the format defines its weights.
  [[nodiscard]] static double file_inverse_mass(const ContactProblem<double>& problem) {
    const Index block = problem.block_count() - 1;
    SquareMatrix<double, 3> sum = SquareMatrix<double, 3>::Zero();
    for (int side = 0; side < problem.side_count(block); ++side) {
      const auto jacobian = problem.jacobian(block, side);
      const auto mass = problem.momentum_matrix(problem.side_body(block, side)).diagonal();
      sum += jacobian * mass.cwiseInverse().asDiagonal() * jacobian.transpose();
    }
    return sum.isZero(0) ? 1 : sum.norm() / 3;
  }
  /// A contact with infinite stiffness is rigid. Its v̂ is that of any stiffness, −ϕ/(δt + τ_d).
  void add_unyielding(ContactProblem<double>& problem, std::int64_t line, const Sides& sides,
                      const CompliantContact<double>& contact) {
    add_block(problem, line, sides, 3,
              RigidContact<double>{.gap = contact.gap, .friction = contact.friction});
    const Index block = problem.block_count() - 1;
    WeightedContact<double> law = problem.friction_contact_law(block);
    law.bias_velocity.z() = -contact.gap / (problem.time_step() + contact.dissipation_time);
    problem.set_law(block, law);
  }

  Sides read_sides(const ContactProblem<double>& problem) {
    Sides sides{1, {0, 0}};
    const std::string_view count = reader_.next();
    if (count != "1" && count != "2") reader_.fail(item_ + ": bodies", "1 or 2", count);
    sides.count = count == "2" ? 2 : 1;
    for (int side = 0; side < sides.count; ++side) {
      const std::string_view word = reader_.next();
      const auto body = parse_count(word);
      if (!body || *body >= problem.body_count()) {
        reader_.fail(item_ + ": body",
                     "an index in [0, " + std::to_string(problem.body_count()) + ")", word);
      }
      sides.bodies[side] = Index(*body);
    }
    return sides;
  }

  void read_constraint(ContactProblem<double>& problem, std::int64_t number) {
    item_ = "constraint " + std::to_string(number);
    reader_.keyword("constraint", item_);
    const std::int64_t line = reader_.line();
    WeightedBlock<double> law;
    std::string_view word = reader_.next();
    if (word == "rigid") {
      law.rigid = true;
      word = reader_.next();
    }
    const ImpulseShape shape = shape_of(word);
    const Sides sides = read_sides(problem);
    if (shape == ImpulseShape::intervals) {
      const std::int64_t rows = reader_.count([&] { return item_ + ": rows"; }, 1);
      if (rows > 6) reader_.fail(item_ + ": rows", "a number in [1, 6]", std::to_string(rows));
      law.set = free_impulses<double>(int(rows));
    } else {
      Vector3<double> friction = Vector3<double>::Zero();
      for (int i = 0; i < friction_count(shape); ++i) {
        friction(i) = entry("friction", i, NumberRange::nonnegative);
      }
      law.set = cone_impulses<double>(shape, friction);
    }
    for (int row = 0; row < law.set.rows; ++row) {
      if (shape == ImpulseShape::intervals) {
        law.set.lower(row) = bound("lower bound", row, "-inf");
        law.set.upper(row) = bound("upper bound", row, "inf");
      } else {
        law.set.shift(row) = entry("shift", row);
      }
      law.regularization(row) = entry("R", row, NumberRange::positive);
      law.bias_velocity(row) = entry("bias", row);
    }
    add_block(problem, line, sides, law.set.rows, law);
  }

  ImpulseShape shape_of(std::string_view word) {
    constexpr std::pair<const char*, ImpulseShape> names[]{
        {"intervals", ImpulseShape::intervals},
        {"friction", ImpulseShape::friction},
        {"planar", ImpulseShape::planar},
        {"elliptic", ImpulseShape::elliptic},
        {"torsional", ImpulseShape::torsional},
        {"rolling", ImpulseShape::rolling},
        {"ellipsoidal_torsional", ImpulseShape::ellipsoidal_torsional},
        {"ellipsoidal_rolling", ImpulseShape::ellipsoidal_rolling},
        {"spinless_rolling", ImpulseShape::spinless_rolling}};
    for (const auto& [name, shape] : names) {
      if (word == name) return shape;
    }
    reader_.fail(item_,
                 "'intervals', 'friction', 'planar', 'elliptic', 'torsional', 'rolling', "
                 "'ellipsoidal_torsional', 'ellipsoidal_rolling' or 'spinless_rolling'",
                 word);
  }

  template <typename Law>
  void add_block(ContactProblem<double>& problem, std::int64_t line, const Sides& sides, int rows,
                 const Law& law) {
    matrix_.resize(rows, problem.body(sides.bodies[0]).size);
    read_matrix("Jacobian");
    if (sides.count == 1) {
      refuse(line, problem.check_contact(sides.bodies[0], matrix_, law));
      problem.add_contact(sides.bodies[0], matrix_, law);
      return;
    }
    first_jacobian_ = matrix_;
    matrix_.resize(rows, problem.body(sides.bodies[1]).size);
    read_matrix("second Jacobian");
    refuse(line,
           problem.check_contact(sides.bodies[0], first_jacobian_, sides.bodies[1], matrix_, law));
    problem.add_contact(sides.bodies[0], first_jacobian_, sides.bodies[1], matrix_, law);
  }
  /// Rejects a contact whose physical data result in weights that overflow.
  void check_weights(const ContactProblem<double>& problem, std::int64_t line) {
    const WeightedContact<double>& law = problem.friction_contact_law(problem.block_count() - 1);
    const ContactWeights<double>& weights = law.regularization;
    const bool usable = weights.tangent > 0 && std::isfinite(weights.tangent) &&
                        weights.normal > 0 && std::isfinite(weights.normal) &&
                        law.bias_velocity.allFinite();
    if (!usable) {
      refuse(line, item_ + ": expected data whose weights a double can hold, got R_t " +
                       format_rounded(weights.tangent, 3) + ", R_n " +
                       format_rounded(weights.normal, 3));
    }
  }

  void read_matrix(const char* name) {
    for (Index r = 0; r < matrix_.rows(); ++r) {
      for (Index c = 0; c < matrix_.cols(); ++c) {
        matrix_(r, c) = reader_.number([&] {
          return item_ + ": " + name + " entry (" + std::to_string(r) + ", " + std::to_string(c) +
                 ")";
        });
      }
    }
  }
  void read_vector(const char* name, double* values, std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i) {
      values[i] =
          reader_.number([&] { return item_ + ": " + name + " entry " + std::to_string(i); });
    }
  }
  double field(const char* name, NumberRange range = NumberRange::finite) {
    return reader_.number([&] { return item_ + ": " + name; }, range);
  }
  /// k, or infinity.
  double stiffness() {
    const std::string_view word = reader_.next();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    const std::optional<double> value = parse_number(word);
    if (!value || !(*value > 0)) {
      reader_.fail(item_ + ": stiffness", "a finite number > 0 or 'inf'", word);
    }
    return *value;
  }
  double entry(const char* name, int index, NumberRange range = NumberRange::finite) {
    return reader_.number([&] { return item_ + ": " + name + " entry " + std::to_string(index); },
                          range);
  }
  /// A number, or infinity in the direction in which it is not a bound.
  double bound(const char* name, int index, std::string_view infinity) {
    const std::string_view word = reader_.next();
    if (word == infinity) {
      const double unbounded = std::numeric_limits<double>::infinity();
      return infinity.front() == '-' ? -unbounded : unbounded;
    }
    const std::optional<double> value = parse_number(word);
    if (!value) {
      reader_.fail(item_ + ": " + name + " entry " + std::to_string(index),
                   "a finite number or '" + std::string(infinity) + "'", word);
    }
    return *value;
  }
  /// Rejects an item with the problem's fault, under the item's name in the file.
  void refuse(std::int64_t line, const std::string& fault) const {
    if (fault.empty()) return;
    const std::string told =
        fault.starts_with("contact ") ? item_ + fault.substr(fault.find(':')) : fault;
    throw BadInput("line " + std::to_string(line) + ": " + told);
  }

  WordReader reader_;
  std::string item_;
  RowMajor matrix_, first_jacobian_;
  VectorX<double> velocity_;
  std::vector<double> guess_;
};

}  // namespace detail

/// Whether the text begins as a contact problem, by its first word.
[[nodiscard]] inline bool is_text_problem(std::string_view text) noexcept {
  return WordReader(text).next() == "carom-problem";
}

/// Reads a contact problem from text. Throws BadInput naming line, item, field and the expected
/// value.
[[nodiscard]] inline TextProblem parse_text_problem(std::string_view text) {
  return detail::TextProblemParser(text).parse();
}

/// Reads a contact problem from a file. Throws BadInput, starting with the path.
[[nodiscard]] inline TextProblem read_text_problem(const std::string& path) {
  const std::string text = read_file(path);
  try {
    return parse_text_problem(text);
  } catch (const BadInput& fault) {
    throw BadInput(path + ": " + fault.what());
  }
}

}  // namespace carom::files
