// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "carom/contact/contact_problem.hpp"
#include "carom/core/detail/byte_writer.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// The words of the tables of a problem in bytes (docs/file_formats.md).
struct ProblemWords {
  static constexpr std::uint32_t diagonal = std::uint32_t(1) << 31;  ///< of a body, with its size
  static constexpr std::uint32_t no_body = 0xffffffff;
  // Of a block: rows in bits 0 to 7, shape in bits 8 to 15, and
  static constexpr std::uint32_t rigid = std::uint32_t(1) << 16;
  static constexpr std::uint32_t friction_contact = std::uint32_t(1) << 17;
  static constexpr std::uint32_t overlap = std::uint32_t(1) << 18;  ///< has one, or its velocity
};

/// Writes a problem as bytes: a table of its bodies, one of its blocks, then its numbers. The
/// problem read back is the same, bit for bit, in all that a solver reads.
template <std::floating_point Scalar>
class ProblemBytes {
 public:
  /// Bytes of both tables.
  [[nodiscard]] static std::size_t table_size(const ContactProblem<Scalar>& problem) noexcept {
    return padded(4 * std::size_t(problem.body_count())) +
           padded(12 * std::size_t(problem.block_count()));
  }
  /// Writes the tables.
  /// @return  the count of numbers that write_numbers() will write.
  static std::size_t write_tables(const ContactProblem<Scalar>& problem, ByteWriter& out) noexcept {
    Index numbers = 1 + problem.velocity_count();
    const unsigned char* start = out.position();
    for (Index b = 0; b < problem.body_count(); ++b) {
      const Index size = problem.body(b).size;
      const bool diagonal = is_diagonal(problem.momentum_matrix(b));
      out.put(std::uint32_t(size) | (diagonal ? ProblemWords::diagonal : 0));
      numbers += diagonal ? size : size * (size + 1) / 2;
    }
    out.fill(start);
    start = out.position();
    for (Index i = 0; i < problem.block_count(); ++i) {
      const int rows = problem.rows(i);
      for (int side = 0; side < 2; ++side) {
        const Index body = problem.side_body(i, side);
        out.put(body < 0 ? ProblemWords::no_body : std::uint32_t(body));
        if (body >= 0) numbers += rows * problem.body(body).size;
      }
      const bool contact = problem.is_friction_contact(i);
      const bool overlap = contact ? overlaps(problem.friction_contact_law(i))
                                   : overlaps(problem.other_block(i).law());
      const ImpulseShape shape = problem.shape(i);
      out.put(std::uint32_t(rows) | std::uint32_t(shape) << 8 |
              (problem.is_rigid(i) ? ProblemWords::rigid : 0) |
              (contact ? ProblemWords::friction_contact : 0) |
              (overlap ? ProblemWords::overlap : 0));
      numbers += (contact ? 6 : law_count(shape, rows)) + (overlap ? 2 : 0);
    }
    out.fill(start);
    return std::size_t(numbers);
  }
  /// Writes δt, all v*, each A and then, block by block, the numbers of the law and J.
  static void write_numbers(const ContactProblem<Scalar>& problem, ByteWriter& out) noexcept {
    out.put(problem.time_step());
    out.put_all(problem.free_velocity().data(), problem.velocity_count());
    for (Index b = 0; b < problem.body_count(); ++b) write_momentum(problem, b, out);
    for (Index i = 0; i < problem.block_count(); ++i) {
      if (problem.is_friction_contact(i)) {
        write_contact(problem.friction_contact_law(i), out);
      } else {
        write_law(problem.other_block(i).law(), out);
      }
      for (int side = 0; side < problem.side_count(i); ++side) {
        const auto& own = problem.side(i, side);
        out.put_all(own.jacobian, problem.rows(i) * own.range.size);
      }
    }
  }
  /// Count of numbers of a law that is not stored as a friction contact.
  [[nodiscard]] static constexpr Index law_count(ImpulseShape shape, int rows) noexcept {
    return friction_count(shape) + rows * (shape == ImpulseShape::intervals ? 4 : 3);
  }
  [[nodiscard]] static constexpr std::size_t padded(std::size_t bytes) noexcept {
    return (bytes + 7) / 8 * 8;
  }

 private:
  /// Whether all bits of a number are zero.
  [[nodiscard]] static bool is_zero(const Scalar& x) noexcept {
    return x == Scalar(0) && !std::signbit(x);
  }
  [[nodiscard]] static bool overlaps(const auto& law) noexcept {
    return !is_zero(law.overlap) || !is_zero(law.overlap_velocity);
  }
  [[nodiscard]] static bool is_diagonal(const auto& matrix) noexcept {
    for (Index c = 0; c < matrix.cols(); ++c) {
      for (Index r = c + 1; r < matrix.rows(); ++r) {
        if (!is_zero(matrix(r, c))) return false;
      }
    }
    return true;
  }
  static void write_momentum(const ContactProblem<Scalar>& problem, Index body,
                             ByteWriter& out) noexcept {
    const auto matrix = problem.momentum_matrix(body);
    const Index size = matrix.rows();
    const bool diagonal = is_diagonal(matrix);
    for (Index c = 0; c < size; ++c) {
      out.put_all(matrix.data() + c * size + c, diagonal ? 1 : size - c);
    }
  }
  static void write_contact(const WeightedContact<Scalar>& law, ByteWriter& out) noexcept {
    out.put(law.friction);
    out.put(law.regularization.tangent);
    out.put(law.regularization.normal);
    out.put_all(law.bias_velocity.data(), 3);
    write_overlap(law, out);
  }
  static void write_law(const WeightedBlock<Scalar>& law, ByteWriter& out) noexcept {
    const ImpulseSet<Scalar>& set = law.set;
    out.put_all(set.friction.data(), friction_count(set.shape));
    if (set.shape == ImpulseShape::intervals) {
      out.put_all(set.lower.data(), set.rows);
      out.put_all(set.upper.data(), set.rows);
    } else {
      out.put_all(set.shift.data(), set.rows);
    }
    out.put_all(law.regularization.data(), set.rows);
    out.put_all(law.bias_velocity.data(), set.rows);
    write_overlap(law, out);
  }
  static void write_overlap(const auto& law, ByteWriter& out) noexcept {
    if (!overlaps(law)) return;
    out.put(law.overlap);
    out.put(law.overlap_velocity);
  }
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
