// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "carom/adapters/detail/petsc_exchange.hpp"
#include "carom/contact/primal.hpp"
#include "carom/linalg/detail/increasing_root.hpp"
#include "carom/solvers/detail/dual_curvature.hpp"
#include "carom/solvers/detail/newton_walk.hpp"
#include "carom/solvers/detail/sap_tuning.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An iterate of Newton's method on all ranks: whitened velocities of own bodies and ghosts, what
/// follows from them in this rank's blocks, and sums over all ranks. Both ranks of a cut block
/// compute its impulse, from the same numbers.
class PetscIterate {
 public:
  /// Takes on a problem. The iterate is not evaluated.
  void lay_out(const PetscContactProblem& problem) {
    problem_ = &problem;
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
    problem_->local().for_each_block([&](const auto& block) {
      const auto u = write_rate(block, whitened, velocity_);
      const auto y = block.trial(u);
      const auto gamma = block.nearest(y);
      block.write(gamma, impulse_);
      for (int s = 0; s < block.side_count(); ++s) {
        const auto columns = block.whitened_columns(s);
        const auto [start, size] = block.side(s).range;
        const bool counts = problem_->is_own(block.side(s).body);
        for (int i = 0; i < block.rows(); ++i) {
          pushed_.segment(start, size) += gamma(i) * columns.col(i);
          if (counts) gross += columns.col(i).squaredNorm() * gamma(i) * gamma(i);
        }
      }
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
    if constexpr (View::is_friction_contact) {
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

  /// Goes along the direction, whose ghosts are those of their owners, to the least cost.
  /// @return  the length of the step. Every rank calls it and gets the same.
  double advance(double line_search_tolerance) {
    problem_->local().for_each_block(
        [&](const auto& block) { write_rate(block, direction, velocity_step_); });
    const double step = find_step(line_search_tolerance);
    for_each_contact([&](const auto& block, const FrictionRows<double>& rows, Tangent2<double>& z) {
      const double tangent = block.regularization()(0);
      const auto u = block.read(velocity_step_);
      z = predict_direction(rows, z, {-u(0) / tangent, -u(1) / tangent});
    });
    whitened += step * direction;
    evaluate();
    return step;
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
    typename View::Rows u = View::Rows::Zero();
    for (int s = 0; s < block.side_count(); ++s) {
      const auto columns = block.whitened_columns(s);
      const auto [start, size] = block.side(s).range;
      for (int i = 0; i < block.rows(); ++i)
        u(i) += columns.col(i).dot(bodies.segment(start, size));
    }
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
  double find_step(double tolerance) {
    const auto d = own(direction);
    const auto sums = sum<3>({gradient.dot(d), d.dot(own(whitened) - own(free_)), d.squaredNorm()});
    if (!(sums[0] < 0)) return 1;  // round-off: nothing left to search
    const auto slope = [&](double step) {
      double part = 0;
      problem_->local().for_each_block([&](const auto& block) {
        if (!problem_->counts(block.number())) return;
        const auto rate = block.read(velocity_step_);
        const typename std::decay_t<decltype(block)>::Rows u = block.read(velocity_) + step * rate;
        part -= block.nearest(block.trial(u)).dot(rate);
      });
      return sums[1] + step * sums[2] + sum<1>({part})[0];
    };
    return find_increasing_root<double>(slope, sums[0],
                                        {.tolerance = -tolerance * sums[0],
                                         .evaluation_limit = LineSearchTuning::evaluation_limit})
        .argument;
  }

  const PetscContactProblem* problem_ = nullptr;
  VectorX<double> free_, kept_, pushed_;
  VectorX<double> velocity_, velocity_step_, impulse_;
  std::vector<Tangent2<double>> predicted_;  ///< of friction contacts
  double residual_ = 0, free_squared_ = 0, pushed_squared_ = 0, gross_squared_ = 0, cost_ = 0;
  long long sum_count_ = 0;
};

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
