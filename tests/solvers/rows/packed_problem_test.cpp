// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/rows/packed_problem.hpp"

#include <cmath>
#include <set>

#include "support/catch.hpp"
#include "support/packed_case.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace packed_problem_test {

using carom::ConeRegion, carom::ContactIsland, carom::FrictionCone, carom::Index;
using carom::detail::lanes_above, carom::detail::PackedEdge, carom::detail::PackedIsland;
using carom::detail::PackedProblem, carom::testing::ConstrainedProblem;
using carom::testing::for_each_packed_problem, carom::testing::PackedCase;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// Ĵ of a part's component out of the packed array, a row over all unknowns of the problem.
/// @param padding  set to the sum of what stands beyond the unknowns.
template <typename Scalar>
Eigen::RowVectorXd packed_row(const PackedCase<Scalar>& data, Index part, int component,
                              double& padding) {
  Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(data.dense.free_velocity.size());
  Index e = 0;
  while (data.packed.edge(e).part_end <= part) ++e;
  const PackedEdge& edge = data.packed.edge(e);
  const Index low = lanes_above(edge.low_size), high = lanes_above(edge.high_size);
  const Scalar* const block =
      data.packed.jacobians(edge.jacobians) + (part - edge.first_part) * 3 * (low + high);
  const auto read = [&](const Scalar* first, int slot, Index lanes) {
    const auto [start, size] = data.problem.body(data.graph.body_at(slot));
    for (Index i = 0; i < lanes; ++i) {
      if (i < size) row(start + i) = double(first[i]);
      if (i >= size) padding += std::abs(double(first[i]));
    }
  };
  read(block + component * low, edge.low_slot, low);
  if (edge.high_slot >= 0) read(block + 3 * low + component * high, edge.high_slot, high);
  return row;
}

}  // namespace

TEMPLATE_TEST_CASE("packed_problem: its rows are those of the whitened Jacobian, padded with zeros",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase rows("rows of the Jacobian"), squares("their squared norms");
  double padding = 0;
  int count = 0;
  for_each_packed_problem<Scalar>(6101u, [&](const ConstrainedProblem& raw, auto&) {
    const PackedCase<Scalar> data(raw);
    const Eigen::MatrixXd dense = data.row_scale.asDiagonal() * data.whitened_jacobian();
    data.for_each_row([&](Index part, int component, Index row) {
      const auto found = packed_row(data, part, component, padding);
      const double size = dense.row(row).norm();
      rows.see((found - dense.row(row)).norm(), rounding<Scalar>(200, Scalar(size)), count);
      const Scalar square = data.packed.parameter(typename PackedProblem<Scalar>::Parameter(
          PackedProblem<Scalar>::row_square1 + component))[part];
      squares.see(std::abs(double(square) - size * size),
                  rounding<Scalar>(400, Scalar(size * size)), count);
      ++count;
    });
  });
  CHECK(padding == 0);
  rows.check(500);
  squares.check(500);
}

TEMPLATE_TEST_CASE(
    "packed_problem: it holds the numbers of the laws, of scaled rows where R is one",
    "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  using Packed = PackedProblem<Scalar>;
  WorstCase biases("bias velocities");
  for_each_packed_problem<Scalar>(6102u, [&](const ConstrainedProblem& raw, auto&) {
    const PackedCase<Scalar> data(raw);
    const auto& contacts = raw.contacts.contacts;
    data.for_each_row([&](Index part, int component, Index row) {
      const auto parameter = [&](int which) {
        return double(data.packed.parameter(typename Packed::Parameter(which))[part]);
      };
      const double bias = data.row_scale(row) * data.dense.bias(row);
      biases.see(std::abs(parameter(Packed::bias1 + component) - bias),
                 rounding<Scalar>(4, Scalar(std::abs(bias))));
      const bool is_contact = data.is_contact_row(row);
      const double weight = parameter(component < 2 ? Packed::tangent : Packed::normal);
      // The dense oracle holds in double what the problem holds in its own type.
      const auto is_held = [](double found, double expected) {
        return std::abs(found - expected) <= double(rounding<Scalar>(1, Scalar(expected)));
      };
      CHECK(is_held(weight, is_contact ? data.dense.weights(row) : 1.0));
      if (is_contact) {
        CHECK(
            is_held(parameter(Packed::friction), data.dense.sets[data.block_of(row)].friction(0)));
      }
    });
    for (Index c = 0; c < data.packed.other_count(); ++c) {
      const auto& other = data.packed.other(c);
      const auto& law = raw.constraints[std::size_t(other.number) - contacts.size()].law;
      CHECK(other.part_count == (law.set.rows + 2) / 3);
      CHECK(other.set.shape == law.set.shape);
      for (int r = 0; r < 6; ++r) {
        const double scale = r < law.set.rows ? 1 / std::sqrt(law.regularization(r)) : 0;
        CHECK(std::abs(double(other.scale(r)) - scale) <=
              double(rounding<Scalar>(4, Scalar(scale))));
      }
    }
  });
  biases.check(500);
}

TEMPLATE_TEST_CASE("packed_problem: every block has its parts once, in its island's arrays",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  using Packed = PackedProblem<Scalar>;
  for_each_packed_problem<Scalar>(6103u, [&](const ConstrainedProblem& raw, auto&) {
    PackedCase<Scalar> data(raw);
    const Packed& packed = data.packed;
    std::set<Index> blocks, parts;
    packed.for_each_friction_contact(data.graph, [&](Index block, Index part) {
      CHECK(data.problem.is_friction_contact(block));
      CHECK(blocks.insert(block).second);
      CHECK(parts.insert(part).second);
    });
    CHECK(Index(blocks.size()) == data.problem.friction_contact_count());
    Index others = 0, rows = 0;
    data.for_each_row([&](Index part, int component, Index row) {
      ++rows;
      if (component == 0) CHECK((parts.count(part) == 1) == data.is_contact_row(row));
    });
    CHECK(rows == data.problem.impulse_count());
    REQUIRE(packed.islands().size() == data.graph.islands().size());
    Index part_end = 0, vector_end = 0;
    for (const PackedIsland& island : packed.islands()) {
      CHECK(island.first_part >= part_end);
      CHECK(island.first_part % Packed::few_parts == 0);
      if (island.part_count > Packed::few_parts) CHECK(island.first_part % Packed::part_lanes == 0);
      CHECK(island.true_count <= island.part_count);
      CHECK(island.projected_count >= island.true_count);
      CHECK(island.projected_count <= island.part_count);
      CHECK(island.vector_start == vector_end);
      CHECK(island.vector_size % carom::detail::row_lanes == 0);
      CHECK(island.first_other == others);
      Index own = 0;
      for (Index e = island.first_edge; e < island.edge_end; ++e) {
        const PackedEdge& edge = packed.edge(e);
        CHECK(edge.first_part == island.first_part + own);
        CHECK(edge.first_other == others);
        own += edge.part_end - edge.first_part;
        Index next = edge.other_begin;
        for (Index c = edge.first_other; c < edge.other_end; ++c) {
          CHECK(packed.other(c).first_part == next);
          next += packed.other(c).part_count;
        }
        CHECK(next == edge.part_end);
        others = edge.other_end;
      }
      CHECK(own == island.true_count);
      CHECK(island.other_end == others);
      part_end = island.first_part + island.part_count;
      vector_end = island.vector_start + island.vector_size;
      // The padding: contacts that stay open at rest.
      for (Index k = island.first_part + own; k < part_end; ++k) {
        const auto at = [&](typename Packed::Parameter which) {
          return packed.parameter(which)[k];
        };
        const carom::Vector3<Scalar> y(at(Packed::bias1) / at(Packed::tangent),
                                       at(Packed::bias2) / at(Packed::tangent),
                                       at(Packed::bias3) / at(Packed::normal));
        const carom::ContactWeights<Scalar> weights{at(Packed::tangent), at(Packed::normal)};
        const auto nearest = project(FrictionCone<Scalar>{at(Packed::friction)}, weights, y);
        CHECK(nearest.region == ConeRegion::separate);
        CHECK(y.x() != 0);
        CHECK((at(Packed::row_square1) == 0 && at(Packed::row_square2) == 0 &&
               at(Packed::row_square3) == 0));
      }
    }
    CHECK(part_end <= packed.part_size());
    CHECK(vector_end == packed.vector_size());
    CHECK(others == data.problem.block_count() - Index(blocks.size()));
    CHECK(others == packed.other_count());
  });
}

TEST_CASE("packed_problem: packing other numbers into a layout leaves none of the first ones",
          "[solvers][law]") {
  using Packed = PackedProblem<double>;
  for_each_packed_problem<double>(
      6104u, [&](const ConstrainedProblem& raw, VectorSource<double>& source) {
        PackedCase<double> fresh(raw);
        ConstrainedProblem changed = raw;
        for (auto& contact : changed.contacts.contacts) {
          contact.first_jacobian *= 1 + source.unit();
          contact.law.bias_velocity *= 2;
        }
        for (auto& constraint : changed.constraints) constraint.law.regularization *= 3;
        PackedCase<double> again(changed);
        REQUIRE(again.packed.part_size() == fresh.packed.part_size());
        again.graph.analyse(fresh.problem, 1e300);
        again.packed.pack(fresh.problem, again.graph);
        for (int p = 0; p < Packed::parameter_count; ++p) {
          const auto which = Packed::Parameter(p);
          for (const PackedIsland& island : fresh.packed.islands()) {
            for (Index k = island.first_part; k < island.first_part + island.part_count; ++k) {
              CHECK(again.packed.parameter(which)[k] == fresh.packed.parameter(which)[k]);
            }
          }
        }
        double padding = 0;
        fresh.for_each_row([&](Index part, int component, Index) {
          CHECK((packed_row(again, part, component, padding) ==
                 packed_row(fresh, part, component, padding)));
        });
        REQUIRE(again.packed.other_count() == fresh.packed.other_count());
        for (Index c = 0; c < fresh.packed.other_count(); ++c) {
          CHECK(again.packed.other(c).number == fresh.packed.other(c).number);
          CHECK((again.packed.other(c).scale == fresh.packed.other(c).scale));
        }
      });
}

TEST_CASE("packed_problem: rows that a block of the same layout lacks are zero", "[solvers][law]") {
  using Packed = PackedProblem<double>;
  VectorSource<double> source(6105u);
  ConstrainedProblem three = draw_constrained(source, {6}, 1), one;
  three.contacts.contacts.clear();
  three.constraints[0].law = carom::testing::draw_law(source, 0);
  three.constraints[0].law.set = carom::free_impulses<double>(3);
  three.constraints[0].first_jacobian = carom::testing::draw_matrix(source, 3, 6);
  one = three;
  one.constraints[0].law.set = carom::free_impulses<double>(1);
  one.constraints[0].first_jacobian = three.constraints[0].first_jacobian.topRows(1);
  PackedCase<double> data(three);
  const PackedCase<double> next(one);
  data.graph.analyse(next.problem, 1e300);
  data.packed.pack(next.problem, data.graph);
  const Index part = data.packed.islands()[0].first_part;
  double padding = 0;
  CHECK((packed_row(data, part, 0, padding) == packed_row(next, part, 0, padding)));
  CHECK(packed_row(data, part, 1, padding).isZero(0));
  CHECK(packed_row(data, part, 2, padding).isZero(0));
  CHECK(data.packed.parameter(Packed::row_square2)[part] == 0);
}

}  // namespace packed_problem_test
