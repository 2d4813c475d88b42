// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "carom/solvers/contact_solver.hpp"
#include "carom/solvers/gauss_seidel.hpp"
#include "carom/solvers/interior_point.hpp"
#include "carom/solvers/projected_gradient.hpp"
#include "carom/solvers/proximal.hpp"
#include "carom/solvers/sap.hpp"
#include "carom/solvers/solver_on_bodies.hpp"

#include "cli/chained_solver.hpp"
#include "io/recording.hpp"

namespace carom::cli {

/// The answer to a recorded step, solved again.
template <typename Scalar>
struct ReplayedAnswer {
  SolveReport<Scalar> report;
  VectorX<Scalar> velocity, impulse;
};

/// The first number in which two answers differ.
struct AnswerDifference {
  enum class Place { none, impulse, velocity, report };
  Place place = Place::none;
  Index item = -1;   ///< Block of an impulse, or body of a velocity.
  Index entry = -1;  ///< Row of the block, or coordinate of the body.
  double recorded = 0, replayed = 0;
};

namespace detail {

/// The index of the first number with other bits, or the length of the shorter vector if only the
/// lengths differ; −1 if there is none.
template <typename Scalar>
[[nodiscard]] Index first_other_bit(const VectorX<Scalar>& a, const VectorX<Scalar>& b) {
  const Index common = (std::min)(a.size(), b.size());
  for (Index i = 0; i < common; ++i) {
    using Word = std::conditional_t<sizeof(Scalar) == 4, std::uint32_t, std::uint64_t>;
    if (std::bit_cast<Word>(a(i)) != std::bit_cast<Word>(b(i))) return i;
  }
  return a.size() == b.size() ? -1 : common;
}

template <typename Scalar>
[[nodiscard]] double number_at(const VectorX<Scalar>& vector, Index i) {
  return i < vector.size() ? double(vector(i)) : std::nan("");
}

}  // namespace detail

/// Compares answers bit by bit: impulses, then velocities, then status and count of iterations.
template <typename Scalar>
[[nodiscard]] AnswerDifference compare_answers(const files::RecordedStep<Scalar>& step,
                                               const ReplayedAnswer<Scalar>& again) {
  using Place = AnswerDifference::Place;
  AnswerDifference result;
  const ContactProblem<Scalar>& problem = step.problem;
  if (const Index i = detail::first_other_bit(step.impulse, again.impulse); i >= 0) {
    result = {Place::impulse, -1, i, detail::number_at(step.impulse, i),
              detail::number_at(again.impulse, i)};
    for (Index block = 0; block < problem.block_count(); ++block) {
      const Index first = problem.first_row(block);
      if (i >= first && i < first + problem.rows(block)) {
        result.item = block;
        result.entry = i - first;
      }
    }
    return result;
  }
  if (const Index i = detail::first_other_bit(step.velocity, again.velocity); i >= 0) {
    result = {Place::velocity, -1, i, detail::number_at(step.velocity, i),
              detail::number_at(again.velocity, i)};
    for (Index body = 0; body < problem.body_count(); ++body) {
      const auto [start, size] = problem.body(body);
      if (i >= start && i < start + size) {
        result.item = body;
        result.entry = i - start;
      }
    }
    return result;
  }
  const bool same = step.report.status == again.report.status &&
                    step.report.iterations == again.report.iterations;
  if (!same) result.place = Place::report;
  return result;
}

/// Solves recorded steps with the solvers that recorded them. A solver is made at its first step
/// and kept for the later ones, as in the recorded program.
template <typename Scalar>
class Replayer {
 public:
  using Step = files::RecordedStep<Scalar>;
  using Answer = ReplayedAnswer<Scalar>;

  /// Solves a step. Throws BadInput if its options or its guess do not fit.
  Answer solve(const Step& step) {
    for (const auto& [known, run] : solvers_) {
      if (known == step.solver) return run(step);
    }
    solvers_.emplace_back(step.solver, make(step.solver));
    return solvers_.back().second(step);
  }
  /// Solves a step with a solver that has solved nothing before.
  [[nodiscard]] static Answer solve_afresh(const Step& step) { return make(step.solver)(step); }

 private:
  using Run = std::function<Answer(const Step&)>;
  using Kind = carom::detail::RecordedSolverKind;
  using GuessKind = carom::detail::GuessKind;

  [[noreturn]] static void refuse(const std::string& what) {
    throw files::BadInput("solver: expected " + what + ", got something else");
  }
  /// Rejects options that no solver can have.
  static void check(const carom::detail::RecordedSolver& s) {
    const bool other = s.kind == Kind::other;
    const bool gauss_seidel = s.kind == Kind::gauss_seidel;
    const bool fits =
        s.solve_limit >= 0 && s.least_sweeps >= 1 && s.sweeps >= 0 && s.small_contact_limit >= 0 &&
        s.order <= 2 &&
        (other || (Scalar(s.tolerance) > Scalar(0) && std::isfinite(s.tolerance))) &&
        (s.iteration_limit >= 0 || s.kind == Kind::chained) && !(s.factor_work_limit < 0) &&
        (!gauss_seidel ||
         (s.visits_to_sleep >= 1 && Scalar(s.relaxation) > 0 && Scalar(s.relaxation) < 2)) &&
        (s.kind != Kind::sap || (Scalar(s.line_search_tolerance) > 0 &&
                                 Scalar(s.line_search_tolerance) < 1 && s.factor_work_limit >= 0));
    if (!fits) refuse("options in their ranges");
  }
  static Run make(const carom::detail::RecordedSolver& s) {
    check(s);
    const auto tolerance = Scalar(s.tolerance);
    switch (s.kind) {
      case Kind::other:
        return run_of<ContactSolver<Scalar>>(ContactSolverOptions<Scalar>{});
      case Kind::contact:
        return run_of<ContactSolver<Scalar>>(
            ContactSolverOptions<Scalar>{s.law, s.method, tolerance, s.iteration_limit});
      case Kind::sap:
        return run_of<SapSolver<Scalar>>(
            SapOptions<Scalar>{s.law, tolerance, s.iteration_limit, Scalar(s.line_search_tolerance),
                               s.factor_work_limit, s.small_contact_limit});
      case Kind::interior_point:
        return run_of<InteriorPointSolver<Scalar>>(
            InteriorPointOptions<Scalar>{s.law, tolerance, s.iteration_limit, s.sweeps});
      case Kind::proximal:
        return run_of<ProximalSolver<Scalar>>(
            ProximalOptions<Scalar>{s.law, tolerance, s.iteration_limit});
      case Kind::gauss_seidel:
        return run_of<SolverOnBodies<GaussSeidel<Scalar>>>(
            GaussSeidelOptions<Scalar>{s.law, tolerance, s.iteration_limit, Scalar(s.relaxation),
                                       VisitOrder(s.order), s.visits_to_sleep});
      case Kind::projected_gradient:
        return run_of<SolverOnBodies<ProjectedGradient<Scalar>>>(
            ProjectedGradientOptions<Scalar>{s.law, tolerance, s.iteration_limit});
      case Kind::chained:
        return run_of_chain(s);
    }
    refuse("a known one");
  }
  [[nodiscard]] static SolveLimits limits_of(const carom::detail::RecordedSolver& s) {
    return {.iteration_limit = s.solve_limit, .least_sweeps = s.least_sweeps};
  }
  template <typename Solver, typename Options>
  static Run run_of(const Options& options) {
    const auto solver = std::make_shared<Solver>(options);
    return [solver](const Step& step) {
      Answer answer;
      solver->set_limits(limits_of(step.solver));
      if (step.guess_kind == GuessKind::velocity) {
        answer.velocity = step.guess;
        answer.report = solver->solve(step.problem, answer.velocity);
      } else if constexpr (requires {
                             solver->solve_from(step.problem, step.guess, answer.velocity);
                           }) {
        if (step.guess.size() != step.problem.impulse_count()) {
          refuse("a guess of all impulses");
        }
        answer.report = solver->solve_from(step.problem, step.guess, answer.velocity);
      } else {
        refuse("a guess of velocities");
      }
      answer.impulse = solver->impulse();
      return answer;
    };
  }
  static Run run_of_chain(const carom::detail::RecordedSolver& s) {
    if constexpr (std::is_same_v<Scalar, double>) {
      const auto solver = std::make_shared<ChainedSolver>(
          ChainedSolver::Options{s.law, s.tolerance, s.iteration_limit});
      return [solver](const Step& step) {
        const Index velocities = step.problem.velocity_count(),
                    impulses =
                        step.guess_kind == GuessKind::velocity ? 0 : step.problem.impulse_count();
        const Index rest = step.guess.size() - impulses;
        if (rest != 0 && rest != velocities) refuse("a guess of all velocities");
        Answer answer;
        solver->set_limits(limits_of(step.solver));
        answer.report =
            solver->solve(step.problem, {step.guess.tail(rest), step.guess.head(impulses)},
                          answer.velocity, answer.impulse);
        return answer;
      };
    } else {
      refuse("numbers of double");
    }
  }

  std::vector<std::pair<carom::detail::RecordedSolver, Run>> solvers_;
};

}  // namespace carom::cli
