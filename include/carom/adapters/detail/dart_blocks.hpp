// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "carom/contact/delassus_problem.hpp"
#include "carom/linalg/detail/sequence.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Numbers from one row of DART's matrix to the next: a multiple of four, or n of a single row.
[[nodiscard]] constexpr int dart_row_stride(int n) noexcept {
  return n > 1 ? (n + 3) / 4 * 4 : n;
}

/// The boxed problem that DART asks for.
struct DartInput {
  int n, unbounded;
  const double* matrix;
  const double* b;
  const double* lower;
  const double* upper;
  const int* findex;

  /// The row a row's bounds follow; −1 if none.
  [[nodiscard]] int followed(int row) const noexcept {
    return row < unbounded || findex[row] == row ? -1 : findex[row];
  }
  /// A normal that pushes and never pulls.
  [[nodiscard]] bool pushes(int row) const noexcept {
    return row >= unbounded && followed(row) < 0 && lower[row] == 0 &&
           upper[row] == std::numeric_limits<double>::infinity();
  }
  /// Most that counts of a coefficient of friction [-]: the natural map divides a normal's velocity
  /// by it, so that an error in it would hardly show. Other values were not measured.
  static constexpr double most_friction = 1e3;
  /// Coefficient of friction of a row that follows another [-].
  [[nodiscard]] double friction(int row) const noexcept {
    return std::min(upper[row], most_friction);
  }
  [[nodiscard]] double entry(int row, int column) const noexcept {
    const Index stride = dart_row_stride(n);
    return (matrix[stride * row + column] + matrix[stride * column + row]) / 2;
  }
};

[[nodiscard]] inline bool is_finite_dart_matrix(int n, const double* matrix) noexcept {
  const Index stride = dart_row_stride(n);
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) {
      if (!std::isfinite(matrix[stride * row + column])) return false;
    }
  }
  return true;
}

/// Whether the problem is one of finite numbers, lower bounds <= upper ones and findex < n.
[[nodiscard]] inline bool is_sound(const DartInput& input) noexcept {
  for (int row = 0; row < input.n; ++row) {
    if (!std::isfinite(input.b[row])) return false;
    if (row < input.unbounded) continue;
    if (input.findex[row] < -1 || input.findex[row] >= input.n) return false;
    const bool follows = input.followed(row) >= 0;
    if (!(input.upper[row] >= (follows ? 0 : input.lower[row]))) return false;
    if (follows) continue;
    if (!(input.lower[row] < std::numeric_limits<double>::infinity())) return false;
    if (!(input.upper[row] > -std::numeric_limits<double>::infinity())) return false;
  }
  return is_finite_dart_matrix(input.n, input.matrix);
}

/// The rows of a boxed problem as blocks: a normal with its rows of friction makes a cone, other
/// rows are intervals, three in a block.
class DartBlocks {
 public:
  struct Bounds {
    double change = 0, largest = 0;
  };
  /// Sorts the rows into cones, where they are wanted, and intervals.
  void group(const DartInput& input, bool cones);
  /// Bounds of rows that follow others, from the impulses at hand [N·s]: how far they moved, and
  /// the largest.
  Bounds follow(const DartInput& input, const double* impulse);
  void write(const DartInput& input, DelassusProblem<double>& problem) const;
  /// Whether the bounds of any row follow another row.
  [[nodiscard]] bool follows() const noexcept { return follows_; }
  /// Where the impulse of a row stands among those of the blocks.
  [[nodiscard]] int place(int row) const noexcept { return place_[row]; }

 private:
  /// Rows of friction of a normal.
  struct Friction {
    int count = 0;
    int rows[2] = {-1, -1};
  };
  /// Rows of the problem that go together.
  struct RowBlock {
    ImpulseSet<double> set;
    int rows[3];
  };
  void add_cone(const DartInput& input, int normal, const Friction& friction);
  void add_interval(const DartInput& input, int row);

  Sequence<Friction> friction_;  ///< per row: of that normal
  Sequence<RowBlock> blocks_;
  Sequence<int> place_;    ///< per row: where its impulse stands
  Index open_block_ = -1;  ///< intervals with room for another row
  bool follows_ = false;
};

inline void DartBlocks::group(const DartInput& input, bool cones) {
  friction_.assign(input.n, {});
  blocks_.clear();
  place_.resize(input.n);
  open_block_ = -1;
  follows_ = false;
  for (int row = 0; row < input.n; ++row) {
    const int normal = input.followed(row);
    if (normal < 0) continue;
    Friction& friction = friction_[normal];
    if (friction.count < 2) friction.rows[friction.count] = row;
    ++friction.count;
  }
  const auto makes_cone = [&](int row) {
    const Friction& friction = friction_[row];
    return cones && (friction.count == 1 || friction.count == 2) && input.pushes(row);
  };
  for (int row = 0; row < input.n; ++row) {
    const int normal = input.followed(row);
    if (normal >= 0 && makes_cone(normal)) continue;  // added with its normal
    if (makes_cone(row)) {
      add_cone(input, row, friction_[row]);
    } else {
      add_interval(input, row);
    }
  }
  int place = 0;
  for (const RowBlock& block : blocks_) {
    for (int r = 0; r < block.set.rows; ++r) place_[block.rows[r]] = place++;
  }
}

inline void DartBlocks::add_cone(const DartInput& input, int normal, const Friction& friction) {
  const double first = input.friction(friction.rows[0]);
  if (friction.count == 1) {
    const auto set = cone_impulses<double>(ImpulseShape::planar, {first, 0, 0});
    blocks_.push_back({set, {friction.rows[0], normal, -1}});
    return;
  }
  const double second = input.friction(friction.rows[1]);
  const auto set = first == second
                       ? friction_impulses(first)
                       : cone_impulses<double>(ImpulseShape::elliptic, {first, second, 0});
  blocks_.push_back({set, {friction.rows[0], friction.rows[1], normal}});
}

inline void DartBlocks::add_interval(const DartInput& input, int row) {
  if (open_block_ < 0) {
    open_block_ = blocks_.size();
    blocks_.push_back({});
    blocks_.back().set.rows = 0;
  }
  RowBlock& block = blocks_[open_block_];
  const int r = block.set.rows++;
  block.rows[r] = row;
  if (input.followed(row) >= 0) {
    follows_ = true;
  } else {
    const double infinity = std::numeric_limits<double>::infinity();
    block.set.lower(r) = row < input.unbounded ? -infinity : input.lower[row];
    block.set.upper(r) = row < input.unbounded ? infinity : input.upper[row];
  }
  if (block.set.rows == 3) open_block_ = -1;
}

inline DartBlocks::Bounds DartBlocks::follow(const DartInput& input, const double* impulse) {
  Bounds bounds;
  if (!follows_) return bounds;
  for (RowBlock& block : blocks_) {
    if (block.set.shape != ImpulseShape::intervals) continue;
    for (int r = 0; r < block.set.rows; ++r) {
      const int normal = input.followed(block.rows[r]);
      if (normal < 0) continue;
      const double bound = input.friction(block.rows[r]) * std::abs(impulse[place_[normal]]);
      bounds.change = std::max(bounds.change, std::abs(bound - block.set.upper(r)));
      bounds.largest = std::max(bounds.largest, bound);
      block.set.lower(r) = -bound;
      block.set.upper(r) = bound;
    }
  }
  return bounds;
}

inline void DartBlocks::write(const DartInput& input, DelassusProblem<double>& problem) const {
  problem.reset();
  for (const RowBlock& block : blocks_) {
    RowNumbers<double> load = RowNumbers<double>::Zero();
    for (int r = 0; r < block.set.rows; ++r) load(r) = -input.b[block.rows[r]];
    problem.add_contact(block.set, load.head(block.set.rows));
  }
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 3, 3> block;
  for (Index i = 0; i < blocks_.size(); ++i) {
    for (Index j = 0; j <= i; ++j) {
      block.resize(blocks_[i].set.rows, blocks_[j].set.rows);
      for (int c = 0; c < blocks_[j].set.rows; ++c) {
        for (int r = 0; r < blocks_[i].set.rows; ++r) {
          block(r, c) = input.entry(blocks_[i].rows[r], blocks_[j].rows[c]);
        }
      }
      if (i == j || !block.isZero(0)) problem.add_coupling(i, j, block);
    }
  }
  problem.assemble();
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
