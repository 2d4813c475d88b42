// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "carom/contact/delassus_problem.hpp"
#include "carom/solvers/rows/block_rows.hpp"
#include "carom/solvers/search/active_system.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// Newton steps dγ = h − N W dγ of a DelassusProblem, for files without bodies: (I + N W) dγ = h,
/// one sparse system over the contacts. All contacts are one island.
///
/// Rows are multiplied by (I + w N)⁻¹, so that those of stuck and of open contacts have like size.
template <RealScalar Scalar>
class ImpulseSystem {
 public:
  using scalar_type = Scalar;

  /// Reads a problem, which must stay in its place in memory while the system is used.
  /// @note  Allocates beyond the largest problem so far.
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
