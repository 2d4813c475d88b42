// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/systems/newton_directions.hpp"

#include <limits>
#include <type_traits>
#include <vector>

#include "carom/contact/primal.hpp"

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/raw_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace direct_directions_test {

using carom::ContactGraph, carom::ContactProblem, carom::Index, carom::Vector3, carom::VectorX;
using carom::WeightedContact, carom::detail::DirectDirections, carom::detail::IslandNewton;
using carom::detail::IslandState, carom::detail::PackedProblem, carom::detail::SettledRegion;
using carom::detail::SolverMemory, carom::testing::draw_body, carom::testing::draw_matrix;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// One body at rest on one contact that is to move at v̂, which no friction limits: stuck.
template <typename Scalar>
struct StuckBody {
  using Memory = SolverMemory<Scalar>;

  ContactProblem<Scalar> problem{Scalar(0.01)};
  Vector3<Scalar> bias;
  ContactGraph graph;
  PackedProblem<Scalar> packed;
  Memory memory;

  /// @param softness  R relative to the contact's inverse mass.
  StuckBody(VectorSource<double>& source, double softness) {
    const auto body = draw_body(source, 6, 1);
    const Eigen::MatrixXd jacobian = draw_matrix(source, 3, 6);
    problem.add_body(body.momentum.cast<Scalar>(), VectorX<Scalar>::Zero(6));
    const Scalar weight = Scalar(softness * jacobian.squaredNorm() / body.momentum.trace());
    bias = Vector3<Scalar>(Scalar(0.1), Scalar(-0.2), Scalar(1));
    problem.add_contact(0, jacobian.cast<Scalar>(),
                        WeightedContact<Scalar>{Scalar(0.5), {weight, weight}, bias});
    graph.analyse(problem, 1e300);
    packed.lay_out(graph);
    packed.pack(problem, graph);
    memory.lay_out(packed);
  }

  [[nodiscard]] SettledRegion noted() {
    return static_cast<SettledRegion>(memory.regions()[packed.islands()[0].first_part]);
  }
  /// Ĵ d.
  [[nodiscard]] Vector3<Scalar> contact_step() {
    const Eigen::Map<const VectorX<Scalar>> direction(memory.vector(Memory::direction), 6);
    return problem.friction_contact(0).whitened_columns(0).transpose() * direction;
  }
};

}  // namespace

// H d = −∇ℓ at rest gives Ĵ d = W (W + R)⁻¹ v̂, which is v̂ but for a part of R/W.
TEMPLATE_TEST_CASE("newton_directions: a stuck contact is brought to its velocity in one step",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  const double stiff = std::is_same_v<Scalar, float> ? 1e-11 : 1e-22;
  VectorSource<double> source(5301u);
  WorstCase soft("not raised"), rigid("raised");
  int raised = 0;
  for (int sample = 0; sample < 200; ++sample) {
    const bool is_soft = sample % 4 == 0;
    StuckBody<Scalar> body(source, is_soft ? 1e-4 : stiff);
    IslandState<Scalar> state(body.packed, body.memory, body.packed.islands()[0]);
    state.evaluate();
    const IslandNewton<Scalar> newton(state, body.memory, {Scalar(1e-3), 10, Scalar(1e-3)});
    newton.forget_regions();
    DirectDirections<Scalar> directions;
    directions.lay_out(body.graph, body.packed);
    for (int again = 0; again < 2; ++again) {  // from a factor kept, or none
      REQUIRE(directions.find_direction(newton, state));
      // Round-off leaves H indefinite in some of the stiff ones: nothing of their factor is kept.
      const bool kept = body.noted() == SettledRegion::stuck;
      CHECK((kept || body.noted() == SettledRegion::unsettled));
      if (is_soft) CHECK(kept);
      raised += kept ? 0 : 1;
      const Scalar error = (body.contact_step() - body.bias).norm();
      if (is_soft) soft.see(error, 0.01, sample);
      if (!kept) rigid.see(error, 2000 * std::numeric_limits<Scalar>::epsilon(), sample);
    }
  }
  CAPTURE(raised);
  CHECK(raised > 20);
  soft.check(50);
  rigid.check(20);
}

}  // namespace direct_directions_test
