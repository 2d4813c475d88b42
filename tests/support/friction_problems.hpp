// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"

#include "io/bad_input.hpp"
#include "io/friction_problem.hpp"

/// @file
/// Random frictional contact problems as files hold them: every number its own, so that none can
/// take another's place unseen. They need not make sense as mechanics.
namespace carom::testing {

/// Which parts a drawn problem has.
struct FrictionParts {
  bool local = true, global = true, guess = true, solution = true;
  Index equality_count = 0;
};

[[nodiscard]] inline VectorX<double> draw_numbers(VectorSource<double>& source, Index count) {
  VectorX<double> numbers(count);
  for (double& number : numbers) number = source.entry();
  return numbers;
}

/// A matrix of which some share is stored, now and then as an explicit zero.
[[nodiscard]] inline files::SparseMatrix draw_sparse(VectorSource<double>& source, Index rows,
                                                     Index columns) {
  files::SparseMatrix matrix(rows, columns);
  for (Index c = 0; c < columns; ++c) {
    for (Index r = 0; r < rows; ++r) {
      if (source.unit() < 0.4) matrix.insert(r, c) = source.entry();
    }
  }
  matrix.makeCompressed();
  return matrix;
}

[[nodiscard]] inline files::FrictionState draw_state(VectorSource<double>& source, Index rows,
                                                     Index size, Index equality_count) {
  return {draw_numbers(source, rows), draw_numbers(source, rows), draw_numbers(source, size),
          draw_numbers(source, equality_count)};
}

[[nodiscard]] inline files::FrictionProblem draw_friction_problem(VectorSource<double>& source,
                                                                  const FrictionParts& parts,
                                                                  Index dimension,
                                                                  Index contact_count) {
  files::FrictionProblem problem;
  problem.dimension = dimension;
  problem.contact_count = contact_count;
  const Index rows = problem.row_count();
  const Index size = parts.global ? 1 + Index(source.unit() * 8) : 0;
  if (parts.local || parts.global) {
    problem.friction = draw_numbers(source, contact_count).cwiseAbs();
    if (dimension == 5) {
      problem.rolling_friction = draw_numbers(source, contact_count).cwiseAbs();
    }
  }
  if (parts.local) problem.local = {draw_sparse(source, rows, rows), draw_numbers(source, rows)};
  if (parts.global) {
    problem.global = {draw_sparse(source, size, size), draw_sparse(source, size, rows),
                      draw_numbers(source, size), draw_numbers(source, rows)};
  }
  const Index count = parts.equality_count;
  if (parts.local && count > 0) {
    problem.local_equalities = {draw_sparse(source, rows, count), draw_sparse(source, count, count),
                                draw_numbers(source, count)};
  }
  if (parts.global && count > 0) {
    problem.global_equalities = {draw_sparse(source, size, count), draw_numbers(source, count)};
  }
  if (parts.guess) problem.guess = draw_state(source, rows, size, count);
  if (parts.solution) problem.solution = draw_state(source, rows, size, count);
  problem.metadata = {{"name", "drawn"}, {"remark", "two words: \xc2\xb5 = 1"}, {"empty", ""}};
  return problem;
}

/// Every number of a problem as its bits, with the sizes between them.
[[nodiscard]] inline std::vector<std::uint64_t> bits_of(const files::FrictionProblem& problem) {
  std::vector<std::uint64_t> bits{std::uint64_t(problem.dimension),
                                  std::uint64_t(problem.contact_count)};
  const auto add = [&](const VectorX<double>& numbers) {
    bits.push_back(std::uint64_t(numbers.size()));
    for (const double number : numbers) bits.push_back(std::bit_cast<std::uint64_t>(number));
  };
  const auto add_sparse = [&](const files::SparseMatrix& matrix) {
    bits.insert(bits.end(), {std::uint64_t(matrix.rows()), std::uint64_t(matrix.cols())});
    for (Index c = 0; c < matrix.cols(); ++c) {
      for (files::SparseMatrix::InnerIterator entry(matrix, c); entry; ++entry) {
        bits.insert(bits.end(), {std::uint64_t(entry.row()), std::uint64_t(entry.col()),
                                 std::bit_cast<std::uint64_t>(entry.value())});
      }
    }
  };
  add(problem.friction);
  add(problem.rolling_friction);
  bits.push_back(problem.local.has_value());
  if (problem.local) {
    add(problem.local->velocity);
    add_sparse(problem.local->delassus);
  }
  bits.push_back(problem.global.has_value());
  if (problem.global) {
    add(problem.global->momentum);
    add(problem.global->velocity);
    add_sparse(problem.global->mass);
    add_sparse(problem.global->directions);
  }
  bits.push_back(problem.local_equalities.has_value());
  if (problem.local_equalities) {
    add(problem.local_equalities->velocity);
    add_sparse(problem.local_equalities->coupling);
    add_sparse(problem.local_equalities->delassus);
  }
  bits.push_back(problem.global_equalities.has_value());
  if (problem.global_equalities) {
    add(problem.global_equalities->velocity);
    add_sparse(problem.global_equalities->directions);
  }
  for (const auto* state : {&problem.guess, &problem.solution}) {
    bits.push_back(state->has_value());
    if (!*state) continue;
    add((*state)->impulse);
    add((*state)->contact_velocity);
    add((*state)->velocity);
    add((*state)->multiplier);
  }
  return bits;
}

/// The bytes of a file with the first occurrence of some of them replaced.
[[nodiscard]] inline std::string replaced(std::string text, const std::string& old,
                                          const std::string& replacement) {
  REQUIRE(text.find(old) != std::string::npos);
  return text.replace(text.find(old), old.size(), replacement);
}

/// What a reader objects to in a problem's bytes, empty if nothing.
[[nodiscard]] std::string fault_of_reading(const auto& read) {
  try {
    static_cast<void>(read());
  } catch (const files::BadInput& fault) {
    return fault.what();
  }
  return {};
}

}  // namespace carom::testing
