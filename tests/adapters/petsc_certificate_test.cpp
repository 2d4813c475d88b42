// SPDX-License-Identifier: BSD-3-Clause
#include "carom/adapters/petsc_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "carom/solvers/contact_certificate.hpp"

#include "support/catch.hpp"
#include "support/petsc_session.hpp"
#include "support/tolerance.hpp"

#include "distributed/split_problem.hpp"
#include "scenes/pile.hpp"

namespace petsc_certificate_test {

using carom::certify, carom::Index;
using carom::distributed::choose_owners, carom::distributed::ProblemPart;
using carom::testing::petsc_rank_count, carom::testing::petsc_world;
using Numbers = carom::VectorX<double>;

struct Case {
  carom::examples::Pile pile = carom::examples::make_pile({.body_count = 40, .layers = 4});
  Numbers impulse;
  ProblemPart part{petsc_world(), pile.problem, choose_owners(pile.problem, petsc_rank_count())};
  Numbers own_impulse;

  Case() {
    carom::write_impulse(pile.problem, pile.guess, impulse);
    for (Index i = 0; i < impulse.size(); ++i) impulse(i) *= 1 + 0.1 * std::sin(double(i));
    own_impulse.resize(part.problem().local().impulse_count());
    Index row = 0;
    for (const Index block : part.blocks()) {
      own_impulse.segment<3>(row) = impulse.segment<3>(pile.problem.first_row(block));
      row += 3;
    }
  }
};

TEST_CASE("petsc_certificate: measures of any answer are those of one process",
          "[adapters][oracle]") {
  Case given;
  const auto expected = certify(given.pile.problem, given.pile.guess, given.impulse);
  const auto found =
      certify(given.part.problem(), given.part.cut(given.pile.guess), given.own_impulse);
  // Sums over ranks and contacts in another order.
  const auto near = [](double value, double wanted) {
    return std::abs(value - wanted) <= carom::testing::rounding(1000, wanted);
  };
  CHECK(expected.residual > 0);
  CHECK(near(found.residual, expected.residual));
  CHECK(near(found.velocity_residual, expected.velocity_residual));
  CHECK(near(found.velocity_error_bound, expected.velocity_error_bound));
  CHECK(near(found.natural_map_error, expected.natural_map_error));
  CHECK(near(found.cone_violation, expected.cone_violation));
  CHECK(found.residual_body == expected.residual_body);
}

TEST_CASE("petsc_certificate: numbers that are not finite make measures infinite",
          "[adapters][law]") {
  Case given;
  given.own_impulse.setConstant(std::numeric_limits<double>::quiet_NaN());
  const auto found =
      certify(given.part.problem(), given.part.cut(given.pile.guess), given.own_impulse);
  CHECK(found.residual == std::numeric_limits<double>::infinity());
  CHECK(found.natural_map_error == std::numeric_limits<double>::infinity());
}

}  // namespace petsc_certificate_test
