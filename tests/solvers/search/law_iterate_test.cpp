// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/search/law_iterate.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "carom/contact/delassus_form.hpp"
#include "carom/solvers/answer_error.hpp"
#include "carom/solvers/systems/body_system.hpp"

#include "support/body_problems.hpp"
#include "support/catch.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace law_iterate_test {

using carom::ContactProblem, carom::DelassusForm, carom::DelassusProblem, carom::FrictionLaw,
    carom::Index;
using carom::VectorX;
using carom::detail::BodySystem, carom::detail::LawIterate, carom::detail::make_yardstick;
using carom::detail::MapSums, carom::detail::Yardstick;
using carom::testing::BodyMatrices, carom::testing::build, carom::testing::draw_body_problem;
using carom::testing::rounding, carom::testing::RowPlaces, carom::testing::VectorSource;
using carom::testing::WorstCase;

namespace {

constexpr FrictionLaw laws[] = {FrictionLaw::coulomb, FrictionLaw::convex};

/// A problem on bodies beside its dual form.
template <typename Scalar>
struct Case {
  BodyMatrices dense;
  ContactProblem<Scalar> problem;
  BodySystem<Scalar> system;
  DelassusProblem<Scalar> dual;
  LawIterate<Scalar> iterate;

  explicit Case(const carom::testing::ConstrainedProblem& raw)
      : dense(raw), problem(build<Scalar>(raw)) {
    system.take(problem, true);
    DelassusForm<Scalar> form;
    form.write(problem, dual);
    iterate.lay_out(system);
  }
  [[nodiscard]] RowPlaces places() const { return {system.rows(), dense.load.size()}; }
  [[nodiscard]] Index islands() const { return system.islands().size(); }
};

template <typename Scalar, typename Visit>
void for_each_case(std::uint32_t seed, const Visit& visit) {
  VectorSource<double> source(seed);
  for (const std::vector<int>& sizes :
       {std::vector<int>{6, 6, 6, 6, 6, 6}, {1, 2, 3, 6, 7, 4, 6}, {9, 6, 3, 2, 6}}) {
    for (int k = 0; k < 4; ++k) {
      Case<Scalar> one(draw_body_problem(source, sizes));
      visit(one, source);
    }
  }
}

}  // namespace

TEST_CASE("law_iterate: islands measured add up to the certificate of the dual form",
          "[solvers][oracle]") {
  using Scalar = double;
  WorstCase same("natural map error"), velocities("u = (W + R) γ + q"),
      alone("error of the worst block");
  for_each_case<Scalar>(1, [&](Case<Scalar>& one, auto& source) {
    const RowPlaces places = one.places();
    for (const FrictionLaw law : laws) {
      const Yardstick<Scalar> yardstick = make_yardstick(one.system, law);
      for (const double size : {0., 0.01, 1., 100.}) {
        VectorX<Scalar> gamma =
            (size * carom::testing::draw_matrix(source, one.dense.load.size(), 1))
                .template cast<Scalar>();
        const Eigen::VectorXd wide = gamma.template cast<double>();
        places.write(wide, one.iterate.impulse());
        MapSums<Scalar> sums;
        Scalar largest(0);
        for (Index i = 0; i < one.islands(); ++i) {
          const auto own = one.iterate.sum(one.system, i, yardstick);
          sums += own;
          largest = (std::max)(largest, one.iterate.measure(one.system, i, yardstick).residual);
        }
        VectorX<Scalar> velocity;
        write_velocity(one.problem, gamma, velocity);
        const auto judged = judge_answer(one.problem, law, velocity, gamma);
        alone.see(std::abs(double(largest - judged.block_error)),
                  double(rounding<Scalar>(2000, 1)) * (1 + double(judged.block_error)));
        const auto certificate = certify(one.dual, gamma, law);
        const double allowed = double(rounding<Scalar>(2000, 1));
        same.see(std::abs(double(sums.error(yardstick)) - double(certificate.natural_map_error)),
                 allowed * (0.01 + double(certificate.natural_map_error)), size,
                 int(law == FrictionLaw::convex));
        const Eigen::VectorXd u = one.dense.delassus * wide +
                                  one.dense.regularization.cwiseProduct(wide) + one.dense.load;
        velocities.see((places.rows(one.iterate.velocity()) - u).norm(),
                       allowed * (one.dense.load.norm() + one.dense.delassus.norm() * wide.norm()));
      }
    }
  });
  same.check(90);
  velocities.check(90);
  alone.check(90);
}

TEST_CASE("law_iterate: an impulse that is not finite has an infinite error",
          "[solvers][example]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  WorstCase told("told");
  for_each_case<double>(3, [&](Case<double>& one, auto& source) {
    const RowPlaces places = one.places();
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), infinity, 1e200}) {
      const auto row = std::size_t(source.unit() * double(places.place.size()));
      std::fill_n(one.iterate.impulse(), 3 * one.system.part_count(), 0.0);
      const Index place = places.place[row];
      one.iterate.impulse()[place] = bad;
      for (Index i = 0; i < one.islands(); ++i) {
        const auto& own = one.system.islands()[i];
        if (place < 3 * own.first_part || place >= 3 * own.part_end) continue;
        for (const FrictionLaw law : laws) {
          const auto yardstick = make_yardstick(one.system, law);
          told.see_holds(one.iterate.measure(one.system, i, yardstick).merit == infinity);
        }
      }
    }
  });
  told.check(70);
}

TEST_CASE("law_iterate: the report of a whole problem says what its sums are",
          "[solvers][example]") {
  using carom::SolveStatus;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto status_of = [](const Yardstick<double>& yardstick, const MapSums<double>& sums) {
    carom::SolveReport<double> report;
    report.status = SolveStatus::no_progress;
    conclude(yardstick, sums, 1e-6, report);
    CHECK(report.residual == sums.error(yardstick));
    CHECK((report.residual_target == 1e-6 && report.error_bound == infinity));
    return report.status;
  };
  const Yardstick<double> loaded{FrictionLaw::coulomb, 1, 2}, free{FrictionLaw::coulomb, 0, 2};
  CHECK(status_of(loaded, {1e-14, 1, 1}) == SolveStatus::converged);
  CHECK(status_of(loaded, {1e-10, 1, 1}) == SolveStatus::no_progress);
  CHECK(status_of(loaded, {infinity, 1, 1}) == SolveStatus::not_finite);
  CHECK(status_of(loaded, {1, infinity, 1}) == SolveStatus::not_finite);
  // Impulses that grew to 1e6 times the load hide what is left of it: 0.5 of 1, but not 0.05.
  CHECK(status_of(loaded, {0.25, 2.5e13, 1}) == SolveStatus::no_progress);
  CHECK(status_of(loaded, {0.0025, 2.5e13, 1}) == SolveStatus::converged);
  CHECK(status_of(free, {0.25, 2.5e13, 1}) == SolveStatus::converged);  // nothing to lose
}

}  // namespace law_iterate_test
