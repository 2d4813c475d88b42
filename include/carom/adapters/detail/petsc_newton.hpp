// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "carom/adapters/detail/petsc_exchange.hpp"
#include "carom/contact/detail/contact_graph.hpp"
#include "carom/contact/primal.hpp"
#include "carom/linalg/detail/increasing_root.hpp"
#include "carom/solvers/search/newton_walk.hpp"
#include "carom/solvers/search/sap_tuning.hpp"
#include "carom/solvers/systems/dual_curvature.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An iterate of Newton's method on all ranks: whitened velocities of own bodies and ghosts, what
/// follows from them in this rank's blocks, and sums over all ranks. Both ranks of a cut block
/// compute its impulse, from the same numbers.
class PetscIterate {
 public:
  /// Takes on a problem. The iterate is not evaluated.
  /// @param graph  of own bodies and ghosts.
  void lay_out(const PetscContactProblem& problem, const ContactGraph& graph) {
    problem_ = &problem;
    gather_groups(graph);
    sum_count_ = 0;
    const ContactProblem<double>& local = problem.local();
    for (VectorX<double>* numbers : {&whitened, &direction, &kept_, &pushed_}) {
      numbers->setZero(local.velocity_count());
    }
    free_ = local.whitened_free_velocity();
    gradient.setZero(problem.own_size());
    for (VectorX<double>* numbers : {&velocity_, &velocity_step_, &impulse_}) {
      numbers->setZero(local.impulse_count());
    }
    predicted_.assign(std::size_t(local.block_count()), {0, 0});
    free_squared_ = sum<1>({own(free_).squaredNorm()})[0];
  }

  VectorX<double> whitened, direction;  ///< w and d, with the ghosts' values
  VectorX<double> gradient;             ///< ∇ℓ in w, own bodies

  [[nodiscard]] double residual() const noexcept { return residual_; }
  [[nodiscard]] double scale() const noexcept {
    return island_scale(free_squared_, pushed_squared_, gross_squared_);
  }
  /// The momentum_scale().
  [[nodiscard]] double momentum() const noexcept {
    return momentum_scale(free_squared_, pushed_squared_, gross_squared_);
  }
  [[nodiscard]] double cost() const noexcept { return cost_; }
  /// γ and J v of this rank's blocks, as local() stacks them.
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  [[nodiscard]] const VectorX<double>& free() const noexcept { return free_; }
  /// Sums over ranks so far.
  [[nodiscard]] long long sum_count() const noexcept { return sum_count_; }

  /// Computes all that follows from w, whose ghosts are those of their owners. Every rank calls it.
  void evaluate() {
    pushed_.setZero();
    double gross = 0, cost = 0;
    problem_->local().for_each_block_by_kind([&](const auto& block) {
      const auto u = write_rate(block, whitened, velocity_);
      const auto y = block.trial(u);
      const auto gamma = block.nearest(y);
      block.write(gamma, impulse_);
      gross += add_push(*problem_, block, gamma, pushed_);
      if (problem_->counts(block.number())) cost += block.cost(y, gamma);
    });
    gradient = own(whitened) - own(free_) - own(pushed_);
    cost += (own(whitened) - own(free_)).squaredNorm() / 2;
    const auto sums = sum<4>({gradient.squaredNorm(), own(pushed_).squaredNorm(), gross, cost});
    residual_ = std::sqrt(sums[0]);
    pushed_squared_ = sums[1];
    gross_squared_ = sums[2];
    cost_ = sums[3];
  }

  /// G of a block at the iterate, with the predicted direction of friction.
  template <typename View>
  [[nodiscard]] auto curvature(const View& block) const noexcept {
    const auto y = block.trial(block.read(velocity_));
    if constexpr (View::capacity == 3) {
      SquareMatrix<double, 3> result = SquareMatrix<double, 3>::Zero();
      const auto [tangent, normal] = block.law().regularization;
      const ContactNumbers<double> numbers{block.law().friction, tangent, normal, y(0), y(1), y(2)};
      Symmetric3<double> g{};
      if (write_dual_curvature(place_trial(numbers).region, numbers,
                               predicted_[std::size_t(block.number())], g)) {
        result << g.xx, g.xy, g.xz, g.xy, g.yy, g.yz, g.xz, g.yz, g.zz;
      }
      return result;
    } else {
      return block.curvature(y);
    }
  }
  /// The directions of friction at the iterate, with which a step is Newton's own.
  void start_directions() noexcept {
    for_each_contact([&](const auto&, const FrictionRows<double>& rows, Tangent2<double>& z) {
      z = current_direction(rows);
    });
  }

  /// Goes along the direction, whose ghosts are those of their owners, to the least cost: in
  /// islands that end on this rank by a length of their own, in all others by one for all ranks.
  /// @return  of these lengths the one farthest from 1. Every rank calls it and gets the same.
  double advance(double line_search_tolerance) {
    problem_->local().for_each_block_by_kind(
        [&](const auto& block) { write_rate(block, direction, velocity_step_); });
    const std::vector<double> steps = find_steps(line_search_tolerance);
    for_each_contact([&](const auto& block, const FrictionRows<double>& rows, Tangent2<double>& z) {
      const double tangent = block.regularization()(0);
      const auto u = block.read(velocity_step_);
      z = predict_direction(rows, z, {-u(0) / tangent, -u(1) / tangent});
    });
    double farthest = 0;
    for (Index b = 0; b < problem_->local().body_count(); ++b) {
      const auto [start, size] = problem_->local().body(b);
      const double step = steps[std::size_t(group_[std::size_t(b)])];
      whitened.segment(start, size) += step * direction.segment(start, size);
      farthest = (std::max)(farthest, std::abs(std::log2(step)));
    }
    evaluate();
    MPI_Allreduce(MPI_IN_PLACE, &farthest, 1, MPI_DOUBLE, MPI_MAX, problem_->communicator());
    return std::exp2(-farthest);
  }
  void keep() { kept_ = whitened; }
  void return_to_kept() {
    whitened = kept_;
    evaluate();
  }

  template <std::size_t Count>
  [[nodiscard]] std::array<double, Count> sum(const std::array<double, Count>& numbers) {
    ++sum_count_;
    return sum_over_ranks<Count>(problem_->communicator(), numbers);
  }
  [[nodiscard]] Eigen::Map<const VectorX<double>> own(
      const VectorX<double>& numbers) const noexcept {
    return {numbers.data(), problem_->own_size()};
  }

 private:
  /// Writes what velocities of bodies are in a block's rows, and returns it.
  template <typename View>
  auto write_rate(const View& block, const VectorX<double>& bodies,
                  VectorX<double>& rows) const noexcept {
    const auto u = whitened_rate(block, bodies);
    block.write(u, rows);
    return u;
  }
  template <typename Visit>
  void for_each_contact(const Visit& visit) noexcept {
    const ContactProblem<double>& local = problem_->local();
    for (Index i = 0; i < local.block_count(); ++i) {
      if (!local.is_friction_contact(i)) continue;
      const auto block = local.friction_contact(i);
      const auto y = block.trial(block.read(velocity_));
      const double limit = block.law().friction * block.read(impulse_)(2);
      visit(block, FrictionRows<double>{{y(0), y(1)}, limit}, predicted_[std::size_t(i)]);
    }
  }
  /// What the slope of the cost along the direction is made of, but for the blocks.
  struct Slope {
    double at_zero = 0, momentum = 0, curvature = 0;
  };
  /// Groups 0, all islands with bodies of several ranks; 1, bodies without contact; and one for
  /// every other island.
  void gather_groups(const ContactGraph& graph) {
    const ContactProblem<double>& local = problem_->local();
    group_.assign(std::size_t(local.body_count()), 1);
    int count = 2;
    for (const ContactIsland& island : graph.islands()) {
      bool ends_here = true;
      for (int slot = island.range.first_slot; slot < island.range.slot_end; ++slot) {
        ends_here = ends_here && problem_->is_own(graph.body_at(slot));
      }
      const int group = ends_here ? count++ : 0;
      for (int slot = island.range.first_slot; slot < island.range.slot_end; ++slot) {
        group_[std::size_t(graph.body_at(slot))] = group;
      }
    }
    blocks_.assign(std::size_t(count), {});
    for (Index i = 0; i < local.block_count(); ++i) {
      if (!problem_->counts(i)) continue;
      blocks_[std::size_t(group_[std::size_t(local.side_body(i, 0))])].push_back(i);
    }
  }
  /// −Σ γ·(J d) of a group's blocks at a step [J].
  [[nodiscard]] double pushed_slope(std::size_t group, double step) const {
    double part = 0;
    for (const Index i : blocks_[group]) {
      problem_->local().visit(i, [&](const auto& block) {
        const auto rate = block.read(velocity_step_);
        const typename std::decay_t<decltype(block)>::Rows u = block.read(velocity_) + step * rate;
        part -= block.nearest(block.trial(u)).dot(rate);
      });
    }
    return part;
  }
  /// Step lengths where the slopes along the direction vanish, per group.
  [[nodiscard]] std::vector<double> find_steps(double tolerance) {
    std::vector<Slope> slopes(blocks_.size());
    for (Index b = 0; b < problem_->own_count(); ++b) {
      const auto [start, size] = problem_->local().body(b);
      const auto d = direction.segment(start, size);
      Slope& slope = slopes[std::size_t(group_[std::size_t(b)])];
      slope.at_zero += gradient.segment(start, size).dot(d);
      slope.momentum += d.dot(whitened.segment(start, size) - free_.segment(start, size));
      slope.curvature += d.squaredNorm();
    }
    const auto joint = sum<3>({slopes[0].at_zero, slopes[0].momentum, slopes[0].curvature});
    slopes[0] = {joint[0], joint[1], joint[2]};
    std::vector<double> steps(slopes.size(), 1.0);  // also where round-off leaves nothing to search
    for (std::size_t g = 0; g < slopes.size(); ++g) {
      const Slope& slope = slopes[g];
      if (g == 1 || !(slope.at_zero < 0)) continue;
      const auto value = [&](double step) {
        const double part = pushed_slope(g, step);
        return slope.momentum + step * slope.curvature + (g == 0 ? sum<1>({part})[0] : part);
      };
      steps[g] =
          find_increasing_root<double>(value, slope.at_zero,
                                       {.tolerance = -tolerance * slope.at_zero,
                                        .evaluation_limit = LineSearchTuning::evaluation_limit})
              .argument;
    }
    return steps;
  }

  const PetscContactProblem* problem_ = nullptr;
  VectorX<double> free_, kept_, pushed_;
  VectorX<double> velocity_, velocity_step_, impulse_;
  std::vector<Tangent2<double>> predicted_;  ///< of friction contacts
  std::vector<int> group_;                   ///< per body
  std::vector<std::vector<Index>> blocks_;   ///< per group, those that this rank counts
  double residual_ = 0, free_squared_ = 0, pushed_squared_ = 0, gross_squared_ = 0, cost_ = 0;
  long long sum_count_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
