// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

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
    const auto pair = balance([&](const auto& block) { return block.read(impulse_); });
    result.residual = pair.relative();
    result.residual_body = worst_body(pair.sums);
    add_natural_map(law, result);
    const auto own = balance([&](const auto& block) {
      return block.nearest(block.trial(whitened_rate(block, whitened_)));
    });
    result.velocity_residual = own.relative();
    result.velocity_error_bound = own.sums.norm();
    for (double* measure :
         {&result.residual, &result.velocity_residual, &result.velocity_error_bound,
          &result.natural_map_error, &result.cone_violation}) {
      if (!is_finite(*measure)) *measure = std::numeric_limits<double>::infinity();
    }
    return result;
  }

 private:
  struct Balance {
    MomentumBalance<double> sums;
    double gross_squared;

    [[nodiscard]] double relative() const noexcept { return sums.relative(gross_squared); }
  };
  /// Calls visit(block) for the blocks that this rank counts.
  template <typename Visit>
  void for_each_counted(const Visit& visit) const {
    local_.for_each_block([&](const auto& block) {
      if (problem_.counts(block.number())) visit(block);
    });
  }
  template <std::size_t Count>
  [[nodiscard]] std::array<double, Count> total(const std::array<double, Count>& numbers) const {
    return sum_over_ranks<Count>(problem_.communicator(), numbers);
  }
  /// How far w is from w* + Ĵᵀγ in all bodies; pushed_ is Ĵᵀγ of own ones.
  template <typename Impulse>
  [[nodiscard]] Balance balance(const Impulse& impulse) {
    pushed_.setZero(local_.velocity_count());
    double gross = 0;
    local_.for_each_block([&](const auto& block) {
      const auto gamma = impulse(block);
      add_push(block, gamma, pushed_);
      if (problem_.counts(block.number())) gross += block.gross_squared(gamma);
    });
    const auto free = local_.whitened_free_velocity();
    Balance result{{}, total<1>({gross})[0]};
    for (Index b = 0; b < problem_.own_count(); ++b) {
      const auto [start, size] = local_.body(b);
      result.sums.add(b, size, whitened_.data() + start, free.data() + start,
                      pushed_.data() + start);
    }
    result.sums.add_up([this](const auto& numbers) { return this->total(numbers); });
    return result;
  }
  /// The number of the body with the largest part on all ranks; −1 if none has any.
  [[nodiscard]] PetscContactProblem::Id worst_body(const MomentumBalance<double>& sums) const {
    struct {
      double part;
      int rank;
    } largest{sums.worst_part(), 0};
    MPI_Comm_rank(problem_.communicator(), &largest.rank);
    const int rank = largest.rank;
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, problem_.communicator());
    Word body = rank == largest.rank && sums.worst() >= 0 ? problem_.id(sums.worst()) : -1;
    MPI_Bcast(&body, 1, MPI_INT64_T, largest.rank, problem_.communicator());
    return body;
  }
  /// The natural map of the impulses whose Ĵᵀγ pushed_ is.
  void add_natural_map(FrictionLaw law, PetscCertificate& result) {
    const VectorX<double> free = local_.whitened_free_velocity();
    VectorX<double> moved = free + pushed_;
    exchange_.update_ghosts(moved.data());
    YardstickSums<double> size;
    for_each_counted([&](const auto& block) { size.add(block, whitened_rate(block, free)); });
    const auto [diagonal, load_squared, rows] =
        total<3>({size.diagonal, size.load_squared, size.rows});
    const auto yardstick = YardstickSums<double>{diagonal, load_squared, rows}.yardstick(law);
    MapSums<double> sums;
    double violation = 0;
    for_each_counted([&](const auto& block) {
      const auto gamma = block.read(impulse_);
      const auto u = block.law_slope(whitened_rate(block, moved), gamma);
      sums.add(yardstick, block.set(), gamma, u);
      violation = (std::max)(violation, (gamma - block.nearest_unweighted(gamma)).norm());
    });
    const auto [map, impulses, velocities] = total<3>({sums.map, sums.impulses, sums.velocities});
    MPI_Allreduce(MPI_IN_PLACE, &violation, 1, MPI_DOUBLE, MPI_MAX, problem_.communicator());
    result.cone_violation = violation;
    result.natural_map_error = MapSums<double>{map, impulses, velocities}.error(yardstick);
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
