// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/contact/delassus_problem.hpp"
#include "carom/linalg/detail/block_lu.hpp"
#include "carom/solvers/rows/block_rows.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

struct ActiveSystemTuning {
  static constexpr int refinements = 8;
  /// Permitted remaining share of the right-hand side.
  static constexpr double enough = 1e-6;
  /// Refinement ends if the remaining error does not decrease to this share, as in BodySystem.
  static constexpr double gain = 0.9;
  /// The order of elimination is found again where fewer than this many tenths of its contacts are
  /// active.
  static constexpr int kept_tenths = 7;
};

/// 3 × 3 blocks of a matrix that couples the parts of one contact.
template <RealScalar Scalar>
struct PartBlocks {
  SquareMatrix<Scalar, 3> block[2][2];
};

/// P and Q of the Newton equation of one contact, P W δγ + Q δγ = h.
template <RealScalar Scalar>
struct ContactEquation {
  PartBlocks<Scalar> p, q;
  bool active;  ///< otherwise P = 0 and Q = 1
};

/// (P (W + R) + Q) x = h, the Newton equations of all contacts of a DelassusProblem: a sparse
/// system over the contacts that are active.
///
/// The pattern is analysed again when a contact becomes active that was not in it, or when many
/// have left it. prepare() for a problem; then set equation() of every contact, factor() and
/// solve().
template <RealScalar Scalar>
class ActiveSystem {
 public:
  /// @note  Allocates beyond the largest problem so far.
  void prepare(const DelassusProblem<Scalar>& problem) {
    const Index count = problem.count();
    equations_.resize(count);
    node_of_.assign(count, -1);
    nodes_.clear();
    const Index unknowns = 3 * problem.part_count();
    for (Sequence<Scalar>* numbers : {&residual_, &product_}) numbers->resize(unknowns);
    // Memory for the pattern with all contacts; patterns with fewer contacts need no more, or only
    // slightly more.
    for (Index i = 0; i < count; ++i) equations_[i].active = true;
    analyse(problem);
    order_.reserve(count, neighbours_.size(), unknowns);
    forest_.reserve(count, neighbours_.size());
    nodes_.clear();
    std::fill(node_of_.begin(), node_of_.end(), -1);
  }

  [[nodiscard]] ContactEquation<Scalar>& equation(Index contact) noexcept {
    return equations_[contact];
  }

  /// Factors the system of the current equations. Returns false if it is singular.
  [[nodiscard]] bool factor(const DelassusProblem<Scalar>& problem) {
    update_pattern(problem);
    if (nodes_.empty()) return true;
    lu_.clear(range_);
    for (Index n = 0; n < nodes_.size(); ++n) fill(problem, nodes_[n]);
    return lu_.factor(range_);
  }

  /// x and its (W + R) x, refined until the equations are met to a few digits more than by one
  /// solve. False when the result is not finite.
  [[nodiscard]] bool solve(const DelassusProblem<Scalar>& problem, const Scalar* h, Scalar* x,
                           Scalar* moved) noexcept;

  /// (W + R) x.
  static void multiply(const DelassusProblem<Scalar>& problem, const Scalar* x,
                       Scalar* result) noexcept {
    for (Index p = 0; p < problem.part_count(); ++p) {
      const Vector3<Scalar> own = Eigen::Map<const Vector3<Scalar>>(x + 3 * p);
      Eigen::Map<Vector3<Scalar>>(result + 3 * p) =
          problem.part_product(p, {x, std::size_t(3 * problem.part_count())}) +
          problem.regularization(p).cwiseProduct(own);
    }
  }

 private:
  void update_pattern(const DelassusProblem<Scalar>& problem);
  void analyse(const DelassusProblem<Scalar>& problem);
  template <typename Visit>
  void for_each_neighbour(const DelassusProblem<Scalar>& problem, Index contact,
                          const Visit& visit);
  void fill(const DelassusProblem<Scalar>& problem, Index contact) noexcept;
  void add(int row_slot, int column_slot, int row, int column,
           const SquareMatrix<Scalar, 3>& block) noexcept;
  /// residual_ ← h − (P (W + R) + Q) x on active contacts; its norm.
  Scalar write_residual(const DelassusProblem<Scalar>& problem, const Scalar* h, const Scalar* x,
                        const Scalar* moved) noexcept;

  Sequence<ContactEquation<Scalar>> equations_;
  Sequence<int> nodes_, node_of_;  ///< contacts in the pattern, and the place of each contact
  Sequence<int> starts_, neighbours_, weights_, slot_of_, seen_;
  Sequence<Index> unknown_start_;  ///< per slot, in residual_
  MinimumDegree order_;
  FrontForest forest_;
  FrontRange range_{};
  BlockLu<Scalar> lu_;
  Sequence<Scalar> residual_, product_, scratch_;
};

/// Newton steps dγ = h − N W dγ of a DelassusProblem, for files without bodies: (I + N W) dγ = h,
/// one sparse system over the contacts. All contacts are one island.
///
/// Rows are multiplied by (I + w N)⁻¹, so that those of sticking and of open contacts have similar
/// size.
/// take() reads a problem; then factor() with the gains of its blocks and solve() with these gains.
template <RealScalar Scalar>
class ImpulseSystem {
 public:
  using scalar_type = Scalar;

  /// Reads a problem, which must stay at its address while the system is used.
  /// @note  Allocates only for a problem larger than every problem before.
  void take(const DelassusProblem<Scalar>& problem) {
    problem_ = &problem;
    blocks_.clear();
    blocks_.reserve(problem.count());
    load_.resize(3 * problem.part_count());
    for (Index i = 0; i < problem.count(); ++i) add_block(i);
    for (Index p = 0; p < problem.part_count(); ++p) {
      Eigen::Map<Vector3<Scalar>>(load_.data() + 3 * p) = problem.load(p);
    }
    islands_.clear();
    islands_.push_back({0, problem.count(), 0, problem.part_count()});
    scaled_.resize(36 * problem.count());
    right_.resize(3 * problem.part_count());
    system_.prepare(problem);
  }

  [[nodiscard]] const BlockList<Scalar>& blocks() const noexcept { return blocks_; }
  [[nodiscard]] const Sequence<BlockIsland>& islands() const noexcept { return islands_; }
  [[nodiscard]] Index part_count() const noexcept { return problem_->part_count(); }
  [[nodiscard]] const Scalar* load() const noexcept { return load_.data(); }
  template <typename Visit>
  void for_each_row(Visit&& visit) const noexcept {
    problem_->for_each_row(
        [&](Index row, const auto& place) { visit(row, 3 * place.part + place.row); });
  }

  void multiply(Index, const Scalar* impulse, Scalar* product) noexcept {
    for (Index p = 0; p < part_count(); ++p) {
      Eigen::Map<Vector3<Scalar>>(product + 3 * p) =
          problem_->part_product(p, {impulse, std::size_t(3 * part_count())});
    }
  }
  [[nodiscard]] bool factor(Index, const BlockGains<Scalar>& gains);
  void solve(Index, const BlockGains<Scalar>&, const Scalar* offset, Scalar* step, Scalar* moved);

 private:
  void add_block(Index contact) {
    const ImpulseSet<Scalar>& set = problem_->set(contact);
    RowNumbers<Scalar> softness = RowNumbers<Scalar>::Zero();
    Scalar trace(0);
    for (int r = 0; r < set.rows; ++r) {
      const auto place = problem_->place_of(contact, r);
      softness(r) = problem_->regularization(place.part)(place.row);
      trace += problem_->diagonal(place.part)(place.row, place.row);
    }
    blocks_.add(set, softness, problem_->first_part(contact));
    const Scalar own = trace / Scalar(set.rows);
    const Scalar mean = problem_->inverse_mass_scale();
    blocks_.change(contact,
                   [&](auto& block) { block.inverse_mass = own > Scalar(0) ? own : mean; });
  }
  const DelassusProblem<Scalar>* problem_ = nullptr;
  BlockList<Scalar> blocks_;
  Sequence<BlockIsland> islands_;
  Sequence<Scalar> load_, right_;
  Sequence<Scalar> scaled_;  ///< (I + w N)⁻¹ of every block, 6 × 6
  ActiveSystem<Scalar> system_;
};

// --- implementation ---

/// The contacts in the pattern with which a contact is coupled, each once.
template <RealScalar Scalar>
template <typename Visit>
void ActiveSystem<Scalar>::for_each_neighbour(const DelassusProblem<Scalar>& problem, Index contact,
                                              const Visit& visit) {
  const Index first = problem.first_part(contact);
  for (Index part = first; part < first + problem.parts(contact); ++part) {
    for (const auto* n = problem.begin(part); n != problem.end(part); ++n) {
      const int other = int(problem.part_contact(n->part));
      if (other == int(contact) || node_of_[other] < 0 || seen_[other] == int(contact)) continue;
      seen_[other] = int(contact);
      visit(other);
    }
  }
}

template <RealScalar Scalar>
void ActiveSystem<Scalar>::update_pattern(const DelassusProblem<Scalar>& problem) {
  Index active = 0;
  bool missing = false;
  for (Index i = 0; i < problem.count(); ++i) {
    if (!equations_[i].active) continue;
    ++active;
    missing = missing || node_of_[i] < 0;
  }
  if (missing || 10 * active < ActiveSystemTuning::kept_tenths * nodes_.size()) analyse(problem);
}

template <RealScalar Scalar>
void ActiveSystem<Scalar>::analyse(const DelassusProblem<Scalar>& problem) {
  nodes_.clear();
  for (Index i = 0; i < problem.count(); ++i) {
    node_of_[i] = equations_[i].active ? int(nodes_.size()) : -1;
    if (equations_[i].active) nodes_.push_back(int(i));
  }
  seen_.assign(problem.count(), -1);
  starts_.clear();
  neighbours_.clear();
  weights_.clear();
  starts_.push_back(0);
  for (Index n = 0; n < nodes_.size(); ++n) {
    for_each_neighbour(problem, nodes_[n],
                       [&](int other) { neighbours_.push_back(node_of_[other]); });
    starts_.push_back(int(neighbours_.size()));
    weights_.push_back(3 * problem.parts(nodes_[n]));
  }
  const WeightedGraph graph{nodes_.size(), starts_.data(), neighbours_.data(), weights_.data()};
  static_cast<void>(order_.compute(graph, std::numeric_limits<double>::infinity()));
  forest_.clear();
  slot_of_.resize(nodes_.size());
  range_ = nodes_.empty() ? FrontRange{} : forest_.append(graph, order_, slot_of_.data());
  lu_.reset(forest_);
  unknown_start_.resize(nodes_.size());
  for (Index n = 0; n < nodes_.size(); ++n) {
    unknown_start_[slot_of_[n]] = 3 * problem.first_part(nodes_[n]);
  }
  // One additional register: patterns with fewer contacts may need slightly more than that of all.
  scratch_.resize(forest_.largest_front() + row_lanes);
}

/// Adds a block at row `row` of the row slot and column `column` of the column slot.
template <RealScalar Scalar>
void ActiveSystem<Scalar>::add(int row_slot, int column_slot, int row, int column,
                               const SquareMatrix<Scalar, 3>& block) noexcept {
  const auto write = [&](typename BlockLu<Scalar>::Block target, int r0, int c0, bool transposed) {
    for (int c = 0; c < 3; ++c) {
      for (int r = 0; r < 3; ++r) {
        target.data[(c0 + c) * target.stride + r0 + r] += transposed ? block(c, r) : block(r, c);
      }
    }
  };
  const int low = (std::min)(row_slot, column_slot), high = (std::max)(row_slot, column_slot);
  const Index place = lu_.place(low, high);
  if (row_slot >= column_slot) write(lu_.lower(place, low), row, column, false);
  if (row_slot <= column_slot) write(lu_.upper(place, low), column, row, true);
}

template <RealScalar Scalar>
void ActiveSystem<Scalar>::fill(const DelassusProblem<Scalar>& problem, Index contact) noexcept {
  const ContactEquation<Scalar>& equation = equations_[contact];
  const int slot = slot_of_[node_of_[contact]], parts = problem.parts(contact);
  const Index first = problem.first_part(contact);
  for (int a = 0; a < parts; ++a) {
    for (int b = 0; b < parts; ++b) {
      add(slot, slot, 3 * a, 3 * b, equation.q.block[a][b]);
      const auto& p = equation.p.block[a][b];
      const SquareMatrix<Scalar, 3> own = p * problem.regularization(first + b).asDiagonal();
      add(slot, slot, 3 * a, 3 * b, own);
      for (const auto* n = problem.begin(first + b); n != problem.end(first + b); ++n) {
        const Index other = problem.part_contact(n->part);
        if (node_of_[other] < 0) continue;
        const SquareMatrix<Scalar, 3> block = p.lazyProduct(n->matrix);
        add(slot, slot_of_[node_of_[other]], 3 * a, 3 * int(n->part - problem.first_part(other)),
            block);
      }
    }
  }
}

template <RealScalar Scalar>
Scalar ActiveSystem<Scalar>::write_residual(const DelassusProblem<Scalar>& problem, const Scalar* h,
                                            const Scalar* x, const Scalar* moved) noexcept {
  using std::sqrt;
  Scalar squared(0);
  for (const int contact : nodes_) {
    const ContactEquation<Scalar>& equation = equations_[contact];
    const Index first = 3 * problem.first_part(contact);
    for (int a = 0; a < problem.parts(contact); ++a) {
      Vector3<Scalar> rest = Eigen::Map<const Vector3<Scalar>>(h + first + 3 * a);
      for (int b = 0; b < problem.parts(contact); ++b) {
        const Vector3<Scalar> u = Eigen::Map<const Vector3<Scalar>>(moved + first + 3 * b);
        const Vector3<Scalar> own = Eigen::Map<const Vector3<Scalar>>(x + first + 3 * b);
        rest -= equation.p.block[a][b].lazyProduct(u) + equation.q.block[a][b].lazyProduct(own);
      }
      Eigen::Map<Vector3<Scalar>>(residual_.data() + first + 3 * a) = rest;
      squared += rest.squaredNorm();
    }
  }
  return sqrt(squared);
}

template <RealScalar Scalar>
bool ActiveSystem<Scalar>::solve(const DelassusProblem<Scalar>& problem, const Scalar* h, Scalar* x,
                                 Scalar* moved) noexcept {
  using Tuning = ActiveSystemTuning;
  const Scalar enough = Scalar(Tuning::enough), gain = Scalar(Tuning::gain);
  for (Index i = 0; i < problem.count(); ++i) {
    const Index begin = 3 * problem.first_part(i), end = begin + 3 * problem.parts(i);
    for (Index k = begin; k < end; ++k) {
      x[k] = node_of_[i] < 0 ? h[k] : Scalar(0);
    }
  }
  multiply(problem, x, moved);
  Scalar first(0), last = std::numeric_limits<Scalar>::infinity();
  for (int k = 0; k < Tuning::refinements && !nodes_.empty(); ++k) {
    const Scalar size = write_residual(problem, h, x, moved);
    if (!is_finite(size)) return false;
    if (k == 0) first = size;
    if (k > 1 && (size <= enough * first || size > gain * last)) break;
    last = size;
    lu_.solve(range_, residual_.data(), unknown_start_.data(), scratch_.data());
    for (const int contact : nodes_) {
      const Index begin = 3 * problem.first_part(contact);
      for (Index u = begin; u < begin + 3 * problem.parts(contact); ++u) x[u] += residual_[u];
    }
    multiply(problem, x, moved);
  }
  return is_finite(write_residual(problem, h, x, moved));
}

template <RealScalar Scalar>
bool ImpulseSystem<Scalar>::factor(Index, const BlockGains<Scalar>& gains) {
  using Six = SquareMatrix<Scalar, 6>;
  for (Index i = 0; i < blocks_.size(); ++i) {
    const int parts = blocks_.parts(i);
    Six gain = Six::Zero();
    for (int a = 0; a < parts; ++a) {
      for (int b = 0; b < parts; ++b) {
        gain.template block<3, 3>(3 * a, 3 * b) =
            Eigen::Map<const SquareMatrix<Scalar, 3>>(gains.at(i, a, b, parts));
      }
    }
    Scalar w(0);
    RowNumbers<Scalar> softness = RowNumbers<Scalar>::Zero();
    blocks_.visit(i, [&](const auto& block) {
      w = block.inverse_mass;
      for (int k = 0; k < block.size(); ++k) softness(k) = block.regularization(k);
    });
    Scalar inverse[6][6];
    for (int c = 0; c < 6; ++c) {
      for (int r = 0; r < 6; ++r) inverse[c][r] = w * gain(r, c) + (r == c ? Scalar(1) : Scalar(0));
    }
    if (!invert_corner<6>(inverse)) return false;
    Eigen::Map<Six> scale(scaled_.data() + 36 * i);
    for (int c = 0; c < 6; ++c) {
      for (int r = 0; r < 6; ++r) scale(r, c) = inverse[c][r];
    }
    // ActiveSystem's rows are P (W + R) + Q.
    const Six p = scale * gain;
    const Six q = Six(scale) - p * softness.asDiagonal();
    ContactEquation<Scalar>& equation = system_.equation(i);
    equation.active = !gain.isZero(Scalar(0));
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        equation.p.block[a][b] = p.template block<3, 3>(3 * a, 3 * b);
        equation.q.block[a][b] = q.template block<3, 3>(3 * a, 3 * b);
      }
    }
  }
  return system_.factor(*problem_);
}

template <RealScalar Scalar>
void ImpulseSystem<Scalar>::solve(Index, const BlockGains<Scalar>&, const Scalar* offset,
                                  Scalar* step, Scalar* moved) {
  for (Index i = 0; i < blocks_.size(); ++i) {
    const Index first = 3 * blocks_.first_part(i);
    const int size = 3 * blocks_.parts(i);
    const Scalar* const scale = scaled_.data() + 36 * i;
    for (int r = 0; r < size; ++r) {
      Scalar sum(0);
      for (int c = 0; c < size; ++c) sum += scale[6 * c + r] * offset[first + c];
      right_[first + r] = sum;
    }
  }
  static_cast<void>(system_.solve(*problem_, right_.data(), step, moved));
  for (Index p = 0; p < part_count(); ++p) {
    Eigen::Map<Vector3<Scalar>>(moved + 3 * p) -=
        problem_->regularization(p).cwiseProduct(Eigen::Map<const Vector3<Scalar>>(step + 3 * p));
  }
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
