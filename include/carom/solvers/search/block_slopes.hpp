// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <span>
#include <type_traits>

#include "carom/linalg/detail/growing.hpp"
#include "carom/solvers/derivative/data_products.hpp"
#include "carom/solvers/search/path_slope.hpp"
#include "carom/solvers/systems/body_system.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// What is linearised, and where.
template <RealScalar Scalar>
struct LinearizedPoint {
  Scalar tolerance;   ///< of boundaries, as CoulombDerivativeOptions::boundary_tolerance
  Scalar product{0};  ///< κ of the central path [J], at a point of which all are; 0 for the law
  FrictionLaw law = FrictionLaw::coulomb;  ///< of no matter on the path, which is Coulomb's
};

/// The law of all blocks of a problem, linearised at a solution, in the order of a BodySystem.
/// @note  Real-time safe once a problem of the size has been taken.
template <RealScalar Scalar>
class BlockSlopes {
 public:
  /// Grows memory to a problem's size.
  /// @param system  of the problem.
  void take(const ContactProblem<Scalar>& problem, const BodySystem<Scalar>& system);

  /// Linearises all blocks.
  /// @return  the first block whose numbers are not finite, where it ends; −1 if none.
  /// @pre  take() has seen the problem.
  template <typename Velocity, typename Impulse>
  [[nodiscard]] Index linearize(const ContactProblem<Scalar>& problem,
                                const BodySystem<Scalar>& system, const Velocity& velocity,
                                const Impulse& impulse,
                                const LinearizedPoint<Scalar>& point) noexcept;

  /// N of all blocks.
  [[nodiscard]] const BlockGains<Scalar>& gains() const noexcept { return gains_; }
  [[nodiscard]] RegionBoundary boundary(Index block) const noexcept { return nearest_[block]; }
  /// Blocks of the problem on a boundary, in their order.
  [[nodiscard]] std::span<const Index> one_sided() const noexcept {
    return {one_sided_.data(), std::size_t(one_sided_.size())};
  }
  /// The size of the solution at a block of the system [J]: (|J|(|v| + |v*|) + w ‖γ‖)²/w.
  [[nodiscard]] Scalar energy(Index i) const noexcept { return energies_[i]; }
  /// Where a block of the problem is in the system.
  [[nodiscard]] Index place(Index block) const noexcept { return block_at_[block]; }

  /// Calls visit(block, slope) of a block of the system.
  template <typename Visit>
  decltype(auto) visit(const BodySystem<Scalar>& system, Index i, Visit&& visit) const noexcept {
    return with_slope(*this, system, i, visit);
  }

 private:
  template <typename Self, typename Visit>
  static decltype(auto) with_slope(Self& self, const BodySystem<Scalar>& system, Index i,
                                   Visit&& visit) noexcept {
    const int number = system.blocks().number(i);
    return system.blocks().visit(i, [&]<int Parts>(const BlockRows<Scalar, Parts>& block) {
      if constexpr (Parts == 1) {
        return visit(block, self.triples_[number]);
      } else {
        return visit(block, self.others_[number]);
      }
    });
  }

  BlockGains<Scalar> gains_;
  Sequence<LawSlope<Scalar, 1>> triples_;
  Sequence<LawSlope<Scalar, 2>> others_;
  Sequence<int> block_at_;  ///< per block of the problem, its place in the system
  Sequence<int> block_of_row_;
  Sequence<Scalar> energies_;
  Sequence<RegionBoundary> nearest_;
  Sequence<Index> one_sided_;
  Growing<VectorX<Scalar>> reach_;  ///< |v| + |v*|
};

// --- implementation ---

template <RealScalar Scalar>
void BlockSlopes<Scalar>::take(const ContactProblem<Scalar>& problem,
                               const BodySystem<Scalar>& system) {
  gains_.lay_out(system.blocks());
  triples_.resize(system.blocks().triple_count());
  others_.resize(system.blocks().other_count());
  block_at_.resize(problem.block_count());
  nearest_.resize(problem.block_count());
  energies_.resize(system.blocks().size());
  one_sided_.reserve(problem.block_count());
  block_of_row_.resize(problem.impulse_count());
  for (Index b = 0; b < problem.block_count(); ++b) block_of_row_[problem.first_row(b)] = int(b);
  for (Index i = 0; i < system.blocks().size(); ++i) {
    block_at_[block_of_row_[system.rows().first_row(i)]] = int(i);
  }
  reach_.grow(problem.velocity_count());
}

template <RealScalar Scalar>
template <typename Velocity, typename Impulse>
Index BlockSlopes<Scalar>::linearize(const ContactProblem<Scalar>& problem,
                                     const BodySystem<Scalar>& system, const Velocity& velocity,
                                     const Impulse& impulse,
                                     const LinearizedPoint<Scalar>& point) noexcept {
  reach_ = velocity.cwiseAbs() + problem.free_velocity().cwiseAbs();
  one_sided_.clear();
  Index faulty = -1;
  problem.for_each_block([&](const auto& view) {
    using Rows = typename std::decay_t<decltype(view)>::Rows;
    const Rows gamma = view.read(impulse);
    const auto moved = velocity_and_speed(view, velocity, reach_);
    Rows u = moved.velocity - view.bias_velocity();
    if (!view.law().rigid) u += view.regularization().cwiseProduct(gamma);
    if (faulty < 0 && !(u.allFinite() && gamma.allFinite())) faulty = view.number();
    if (faulty >= 0) return;
    const Index i = block_at_[view.number()];
    with_slope(*this, system, i,
               [&]<int Parts>(const BlockRows<Scalar, Parts>& block, auto& slope) {
                 using std::sqrt;
                 PartNumbers<Scalar, Parts> own, speeds;
                 for (int r = 0; r < view.rows(); ++r) {
                   own(block.place(r)) = gamma(r);
                   speeds(block.place(r)) = u(r);
                 }
                 const Scalar scale = moved.speed + block.inverse_mass * sqrt(gamma.squaredNorm());
                 const Scalar slack = point.tolerance * scale;
                 const Scalar& w = block.inverse_mass;
                 energies_[i] = w > Scalar(0) ? Scalar(scale * scale / w) : Scalar(0);
                 if (point.product > Scalar(0)) {
                   write_path_slope(block, own, speeds, point.product, slope);
                 } else if (point.law == FrictionLaw::convex) {
                   slope.write_convex(block, own, speeds, slack);
                 } else {
                   slope.write(block, own, speeds, slack);
                 }
                 gains_.write(i, block.parts, slope.gain);
                 nearest_[view.number()] = slope.nearest;
                 if (slope.nearest != RegionBoundary::none) one_sided_.push_back(view.number());
               });
  });
  return faulty;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
