// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include <Eigen/Core>

#include "carom/adapters/detail/petsc_exchange.hpp"
#include "carom/contact/detail/natural_map.hpp"
#include "carom/contact/primal.hpp"
#include "carom/solvers/answer/certificate_parts.hpp"

namespace carom {
inline namespace CAROM_ABI {

/// Says how good an answer of all ranks is, from the answer alone; the same on all ranks. The
/// measures are those of ContactCertificate and ImpulseCertificate, with sums and largest values
/// over the ranks; numbers that are not finite make them infinite.
struct PetscCertificate {
  /// Balance of the momenta of v and γ, relative to the momentum_scale() [-].
  double residual = 0;
  /// The same with the impulses P(y(v)) that v leads to [-]; of compliant contact alone.
  double velocity_residual = 0;
  /// ‖∇ℓ(v)‖_{A⁻¹} [√J], at least ‖v − v_opt‖_A under the convex law; of compliant contact alone.
  double velocity_error_bound = 0;
  /// ‖r − P(r − ũ)‖/max(1, ‖r‖, ‖u‖) [-] of the law asked for; from γ alone.
  double natural_map_error = 0;
  double cone_violation = 0;  ///< Largest distance of an impulse from its set [N·s].
  /// The body with the largest part in the balance, by its number on all ranks; −1 if none has any.
  PetscContactProblem::Id residual_body = -1;
};

namespace detail {

/// Sums for PetscCertificate on one rank.
class PetscCertifier {
 public:
  PetscCertifier(const PetscContactProblem& problem, const VectorX<double>& velocity,
                 const VectorX<double>& impulse)
      : problem_(problem), local_(problem.local()), impulse_(impulse), whitened_(velocity) {
    exchange_.lay_out(problem);
    whitened_.tail(exchange_.ghost_size()).setZero();
    local_.whiten(as_span(whitened_));
    exchange_.update_ghosts(whitened_.data());
  }

  [[nodiscard]] PetscCertificate run(FrictionLaw law) {
    PetscCertificate result;
    const bool finite =
        on_all_ranks(problem_.communicator(), whitened_.allFinite() && impulse_.allFinite());
    if (!finite) {
      result.residual = result.velocity_residual = result.velocity_error_bound =
          result.natural_map_error = result.cone_violation =
              std::numeric_limits<double>::infinity();
      return result;
    }
    const Balance pair = balance([&](const auto& block) { return block.read(impulse_); });
    const Balance own = balance([&](const auto& block) {
      return block.nearest(block.trial(whitened_rate(block, whitened_)));
    });
    result.residual = pair.relative;
    result.velocity_residual = own.relative;
    result.velocity_error_bound = own.norm;
    result.residual_body = pair.body;
    add_natural_map(law, result);
    for (double* measure :
         {&result.residual, &result.velocity_residual, &result.velocity_error_bound,
          &result.natural_map_error, &result.cone_violation}) {
      if (!is_finite(*measure)) *measure = std::numeric_limits<double>::infinity();
    }
    return result;
  }

 private:
  struct Balance {
    double norm, relative;
    PetscContactProblem::Id body;
  };
  /// w* + Ĵᵀγ − w of own bodies, and how large it is; pushed_ is Ĵᵀγ.
  template <typename Impulse>
  [[nodiscard]] Balance balance(const Impulse& impulse) {
    pushed_.setZero(local_.velocity_count());
    double gross = 0;
    local_.for_each_block(
        [&](const auto& block) { gross += add_push(problem_, block, impulse(block), pushed_); });
    const auto free = local_.whitened_free_velocity();
    double squared = 0;
    LargestPart<double> worst(0);
    for (Index b = 0; b < problem_.own_count(); ++b) {
      const auto [start, size] = local_.body(b);
      const double part = (whitened_.segment(start, size) - free.segment(start, size) -
                           pushed_.segment(start, size))
                              .squaredNorm();
      squared += part;
      worst.see(part, b);
    }
    const auto own = exchange_.own_size();
    const auto sums = sum_over_ranks<4>(
        problem_.communicator(),
        {squared, free.head(own).squaredNorm(), pushed_.head(own).squaredNorm(), gross});
    const double norm = std::sqrt(sums[0]), scale = momentum_scale(sums[1], sums[2], sums[3]);
    struct {
      double part;
      int rank;
    } largest{worst.value(), 0};
    MPI_Comm_rank(problem_.communicator(), &largest.rank);
    const int rank = largest.rank;
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, problem_.communicator());
    Word body = rank == largest.rank && worst.owner() >= 0 ? problem_.id(worst.owner()) : -1;
    MPI_Bcast(&body, 1, MPI_INT64_T, largest.rank, problem_.communicator());
    return {norm, scale > 0 ? norm / scale : norm, body};
  }
  void add_natural_map(FrictionLaw law, PetscCertificate& result) {
    static_cast<void>(balance([&](const auto& block) { return block.read(impulse_); }));
    VectorX<double> moved = local_.whitened_free_velocity() + pushed_;
    exchange_.update_ghosts(moved.data());
    std::array<double, 3> size{};  // trace of W + R, its rows, ‖q‖²
    const VectorX<double> free = local_.whitened_free_velocity();
    const auto for_each = [&](const auto& visit) {
      local_.for_each_block([&](const auto& block) {
        if (problem_.counts(block.number())) visit(block);
      });
    };
    for_each([&](const auto& block) {
      const auto weights = block.regularization();
      for (int i = 0; i < block.rows() && !block.law().rigid; ++i) size[0] += weights(i);
      size[0] += block.own_trace();
      size[1] += block.rows();
      const auto load = (whitened_rate(block, free) - block.bias_velocity()).eval();
      for (int i = 0; i < block.rows(); ++i) size[2] += load(i) * load(i);
    });
    size = sum_over_ranks<3>(problem_.communicator(), size);
    if (!(size[1] > 0)) return;
    const double w = size[0] / size[1];
    std::array<double, 3> map{};  // squares of the map, of γ w, of u
    double violation = 0;
    for_each([&](const auto& block) {
      RowNumbers<double> gamma = RowNumbers<double>::Zero(), u = gamma;
      const auto impulse = block.read(impulse_);
      gamma.head(block.rows()) = impulse.head(block.rows());
      u.head(block.rows()) =
          block.law_slope(whitened_rate(block, moved), impulse).head(block.rows());
      map[0] += natural_map_squared(law, block.set(), gamma, u, w);
      map[1] += (gamma * w).squaredNorm();
      map[2] += u.squaredNorm();
      violation = (std::max)(violation, (impulse - block.nearest_unweighted(impulse)).norm());
    });
    map = sum_over_ranks<3>(problem_.communicator(), map);
    MPI_Allreduce(MPI_IN_PLACE, &violation, 1, MPI_DOUBLE, MPI_MAX, problem_.communicator());
    result.cone_violation = violation;
    const double scale = std::sqrt((std::max)({size[2], map[1], map[2]}));
    result.natural_map_error = scale > 0 ? std::sqrt(map[0]) / scale : std::sqrt(map[0]);
  }

  const PetscContactProblem& problem_;
  const ContactProblem<double>& local_;
  const VectorX<double>& impulse_;
  VectorX<double> whitened_, pushed_;
  PetscExchange exchange_;
};

}  // namespace detail

/// Certifies an answer of all ranks, whoever found it. Every rank calls it.
/// @param velocity  v [m/s, rad/s] of own bodies, as local() stacks them; what the
///                  ghosts' entries hold does not matter.
/// @param impulse   γ of this rank's blocks [N·s]; both ranks of a cut block have to have the same.
/// @note  Cold: allocates.
[[nodiscard]] inline PetscCertificate certify(const PetscContactProblem& problem,
                                              const VectorX<double>& velocity,
                                              const VectorX<double>& impulse,
                                              FrictionLaw law = FrictionLaw::convex) {
  CAROM_EXPECTS(velocity.size() == problem.local().velocity_count());
  CAROM_EXPECTS(impulse.size() == problem.local().impulse_count());
  return detail::PetscCertifier(problem, velocity, impulse).run(law);
}

}  // namespace CAROM_ABI
}  // namespace carom
