// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <Eigen/Core>

#include "carom/adapters/detail/petsc_hessian.hpp"
#include "carom/contact/primal.hpp"
#include "carom/solvers/search/newton_walk.hpp"
#include "carom/solvers/systems/dual_curvature.hpp"

namespace carom {
inline namespace CAROM_ABI {
namespace detail {

/// An iterate of Newton's method on all ranks: whitened velocities of own bodies and ghosts, what
/// follows from them in this rank's blocks, and sums over all ranks. Both ranks of a cut block
/// compute its impulse, from the same numbers.
class PetscIterate : public IslandMeasures<double> {
 public:
  /// Makes room for a problem. The iterate is not evaluated.
  /// @param graph                  of own bodies and ghosts.
  /// @param line_search_tolerance  as SapOptions::line_search_tolerance.
  void lay_out(const PetscContactProblem& problem, const ContactGraph& graph,
               double line_search_tolerance) {
    problem_ = &problem;
    line_search_tolerance_ = line_search_tolerance;
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
  }

  VectorX<double> whitened, direction;  ///< w and d, with the ghosts' values
  VectorX<double> gradient;             ///< ∇ℓ in w, own bodies

  /// γ and J v of this rank's blocks, as local() stacks them.
  [[nodiscard]] const VectorX<double>& impulse() const noexcept { return impulse_; }
  [[nodiscard]] const VectorX<double>& velocity() const noexcept { return velocity_; }
  /// Sums over ranks so far.
  [[nodiscard]] long long sum_count() const noexcept { return sum_count_; }

  /// Computes all that follows from w, whose ghosts are those of their owners. Every rank calls it.
  void evaluate() {
    pushed_.setZero();
    double gross = 0;
    problem_->local().for_each_block_by_kind([&](const auto& block) {
      const auto gamma = block.nearest(block.trial(write_rate(block, whitened, velocity_)));
      block.write(gamma, impulse_);
      add_push(block, gamma, pushed_);
      if (problem_->counts(block.number())) gross += block.gross_squared(gamma);
    });
    gradient = own(whitened) - own(free_) - own(pushed_);
    take(sum<4>(
        {gradient.squaredNorm(), own(free_).squaredNorm(), own(pushed_).squaredNorm(), gross}));
  }

  // What start_from_best() asks for. Every rank calls it.
  [[nodiscard]] double cost() { return cost_at(whitened); }
  [[nodiscard]] double cost_at_rest() { return cost_at(VectorX<double>::Zero(whitened.size())); }
  [[nodiscard]] double cost_when_free() { return cost_at(free_); }
  void start_at_rest() {
    whitened.setZero();
    evaluate();
  }
  void start_free() {
    whitened = free_;
    evaluate();
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
  double advance() {
    problem_->local().for_each_block_by_kind(
        [&](const auto& block) { write_rate(block, direction, velocity_step_); });
    const std::vector<double> steps = find_steps();
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
  [[nodiscard]] const IslandMeasures<double>& measures() const noexcept { return *this; }
  void keep_iterate() { kept_ = whitened; }
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
  /// ℓ at velocities of own bodies and ghosts.
  [[nodiscard]] double cost_at(const VectorX<double>& point) {
    double cost = (own(point) - own(free_)).squaredNorm() / 2;
    problem_->local().for_each_block_by_kind([&](const auto& block) {
      if (!problem_->counts(block.number())) return;
      const auto y = block.trial(whitened_rate(block, point));
      cost += block.cost(y, block.nearest(y));
    });
    return sum<1>({cost})[0];
  }
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
  [[nodiscard]] std::vector<double> find_steps() {
    std::vector<DirectionSlope<double>> slopes(blocks_.size());
    for (Index b = 0; b < problem_->own_count(); ++b) {
      const auto [start, size] = problem_->local().body(b);
      const auto d = direction.segment(start, size);
      DirectionSlope<double>& slope = slopes[std::size_t(group_[std::size_t(b)])];
      slope.at_zero += gradient.segment(start, size).dot(d);
      slope.momentum += d.dot(whitened.segment(start, size) - free_.segment(start, size));
      slope.curvature += d.squaredNorm();
    }
    const auto joint = sum<3>({slopes[0].at_zero, slopes[0].momentum, slopes[0].curvature});
    slopes[0] = {joint[0], joint[1], joint[2]};
    std::vector<double> steps(slopes.size(), 1.0);
    for (std::size_t g = 0; g < slopes.size(); ++g) {
      if (g == 1) continue;
      steps[g] = find_step(slopes[g], line_search_tolerance_, [&](double step) {
        const double part = pushed_slope(g, step);
        return g == 0 ? sum<1>({part})[0] : part;
      });
    }
    return steps;
  }

  const PetscContactProblem* problem_ = nullptr;
  VectorX<double> free_, kept_, pushed_;
  VectorX<double> velocity_, velocity_step_, impulse_;
  std::vector<Tangent2<double>> predicted_;  ///< of friction contacts
  std::vector<int> group_;                   ///< per body
  std::vector<std::vector<Index>> blocks_;   ///< per group, those that this rank counts
  double line_search_tolerance_ = 0;
  long long sum_count_ = 0;
};

/// Newton directions by PETSc's conjugate gradients: H as a MATSHELL, and as a PCSHELL the factors
/// of the ranks' parts of it, which overlap by the ghosts, with a coarse space.
class PetscDirections {
 public:
  using Tuning = IterativeDirectionsTuning;

  /// Reads a problem's pattern. Every rank calls it; on bad data all throw std::invalid_argument.
  void lay_out(const PetscContactProblem& problem, double factor_work_limit,
               Index bodies_per_aggregate);

  [[nodiscard]] PetscExchange& exchange() noexcept { return exchange_; }
  /// Who touches whom on this rank.
  [[nodiscard]] const ContactGraph& graph() const noexcept { return hessian_.graph(); }
  /// Iterations of conjugate gradients since lay_out().
  [[nodiscard]] long long iterations() const noexcept { return system_.iterations(); }

  /// d ≈ −H⁻¹∇ℓ, as accurate as the distance to the solution requires, with the ghosts' values.
  /// Every rank calls it.
  /// @param tolerance  what the solve asks for in the end.
  /// @param overlap    whether ghosts are solved for in the preconditioner.
  /// @return  false on all ranks where H is not finite on one.
  [[nodiscard]] bool find(PetscIterate& iterate, double tolerance, bool overlap, int product_limit);

 private:
  void multiply(Vec x, Vec y);
  void precondition(Vec r, Vec z);
  static PetscErrorCode shell_multiply(Mat matrix, Vec x, Vec y) noexcept {
    void* self = nullptr;
    const PetscErrorCode code = MatShellGetContext(matrix, &self);
    if (code == PetscErrorCode(0)) static_cast<PetscDirections*>(self)->multiply(x, y);
    return code;
  }
  static PetscErrorCode shell_precondition(PC preconditioner, Vec r, Vec z) noexcept {
    void* self = nullptr;
    const PetscErrorCode code = PCShellGetContext(preconditioner, &self);
    if (code == PetscErrorCode(0)) static_cast<PetscDirections*>(self)->precondition(r, z);
    return code;
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  PetscExchange exchange_;
  PetscHessian hessian_;
  PetscCoarse coarse_;
  PetscLinearSystem system_;
  VectorX<double> x_, y_;  ///< own bodies and ghosts
  bool overlap_ = true;
};

// --- implementation ---

inline void PetscDirections::lay_out(const PetscContactProblem& problem, double factor_work_limit,
                                     Index bodies_per_aggregate) {
  communicator_ = problem.communicator();
  exchange_.lay_out(problem);
  hessian_.lay_out(problem, factor_work_limit);
  coarse_.lay_out(problem, hessian_, exchange_, bodies_per_aggregate);
  x_.setZero(problem.local().velocity_count());
  y_.setZero(problem.local().velocity_count());
  system_.lay_out(problem, exchange_, [this](MPI_Comm all, PetscInt own, PetscInt total, Mat& h) {
    require_petsc(MatCreateShell(all, own, own, total, total, this, &h));
    // The C interface takes a pointer to any function.
    require_petsc(MatShellSetOperation(
        h, MATOP_MULT, reinterpret_cast<void (*)(void)>(&PetscDirections::shell_multiply)));
    require_petsc(MatSetOption(h, MAT_SPD, PETSC_TRUE));
  });
  const KSP solver = system_.solver();
  require_petsc(KSPSetType(solver, KSPCG));
  require_petsc(KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED));
  require_petsc(KSPSetInitialGuessNonzero(solver, PETSC_TRUE));
  const PC preconditioner = system_.preconditioner();
  require_petsc(PCSetType(preconditioner, PCSHELL));
  require_petsc(PCShellSetContext(preconditioner, this));
  require_petsc(PCShellSetApply(preconditioner, &PetscDirections::shell_precondition));
}

inline void PetscDirections::multiply(Vec x, Vec y) {
  PetscLinearSystem::read(x, x_.data());
  exchange_.update_ghosts(x_.data());
  hessian_.multiply(x_.data(), y_.data());
  PetscLinearSystem::write(y_.data(), y);
}

inline void PetscDirections::precondition(Vec r, Vec z) {
  PetscLinearSystem::read(r, y_.data());
  x_.head(exchange_.own_size()) = y_.head(exchange_.own_size());
  x_.tail(exchange_.ghost_size()).setZero();
  if (overlap_) exchange_.update_ghosts(x_.data());
  hessian_.solve(x_.data());
  if (overlap_) exchange_.add_ghosts(x_.data());
  if (coarse_.is_used()) coarse_.add(y_.data(), x_.data());
  PetscLinearSystem::write(x_.data(), z);
}

inline bool PetscDirections::find(PetscIterate& iterate, double tolerance, bool overlap,
                                  int product_limit) {
  overlap_ = overlap;
  hessian_.assemble([&](const auto& block) { return iterate.curvature(block); });
  hessian_.complete_ghosts(exchange_);
  bool good = hessian_.factor();
  if (coarse_.is_used()) good = coarse_.assemble(hessian_) && good;
  if (!on_all_ranks(communicator_, good)) return false;
  const double target =
      Tuning::share_left(iterate.residual / iterate.scale(), tolerance) * iterate.residual;
  const VectorX<double> load = -iterate.gradient;
  VectorX<double> answer = VectorX<double>::Zero(load.size());
  if (coarse_.is_used()) coarse_.start(load.data(), answer.data());
  require_petsc(KSPSetTolerances(system_.solver(), 0, target, PETSC_DEFAULT, product_limit));
  system_.solve(load.data(), answer.data());
  // Where round-off spoils the direction, −∇ℓ takes its place, which also descends.
  const double slope = iterate.sum<1>({-load.dot(answer)})[0];
  const bool descends = slope < 0 && slope >= -(std::numeric_limits<double>::max)();
  iterate.direction.head(load.size()) = descends ? answer : load;
  exchange_.update_ghosts(iterate.direction.data());
  return true;
}

}  // namespace detail
}  // namespace CAROM_ABI
}  // namespace carom
