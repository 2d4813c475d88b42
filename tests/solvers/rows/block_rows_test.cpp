// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/rows/block_rows.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/constrained_problem.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace block_rows_test {

using carom::ImpulseSet, carom::ImpulseShape, carom::Index, carom::RowNumbers;
using carom::detail::BlockGains, carom::detail::BlockList, carom::detail::BlockRows;
using carom::detail::PartMatrix, carom::detail::PartNumbers, carom::Sequence;
using carom::testing::convert_law, carom::testing::draw_law, carom::testing::rounding;
using carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

/// Blocks of all twelve kinds of draw_law, as a list and as they were given.
template <typename Scalar>
struct Blocks {
  BlockList<Scalar> list;
  std::vector<ImpulseSet<Scalar>> sets;
  std::vector<RowNumbers<Scalar>> softness;
  std::vector<Index> first_parts;
  Index part_count = 0;

  Blocks(VectorSource<double>& source, int count) {
    list.clear();
    list.reserve(count);
    for (int k = 0; k < count; ++k) {
      const auto law = convert_law<Scalar>(draw_law(source, k % 12));
      sets.push_back(law.set);
      softness.push_back(law.regularization);
      first_parts.push_back(part_count);
      list.add(law.set, law.regularization, part_count);
      part_count += law.set.rows > 3 ? 2 : 1;
    }
  }
};

/// Numbers of a block's rows whose impulses a factor below one holds inside of the set, and a
/// factor above one outside, by the definition of each shape.
template <typename Scalar>
[[nodiscard]] RowNumbers<Scalar> at_border(const ImpulseSet<Scalar>& set, double factor,
                                           VectorSource<double>& source) {
  const Eigen::Vector3d mu = set.friction.template cast<double>();
  Eigen::VectorXd t = Eigen::VectorXd::Zero(6);  // in units of μ
  const double normal = source.positive(2);
  const auto disc = [&](int begin, int end) {
    for (int k = begin; k < end; ++k) t(k) = 2 * source.unit() - 1;
    t.segment(begin, end - begin) *= factor * normal / t.segment(begin, end - begin).norm();
  };
  Eigen::VectorXd rows = Eigen::VectorXd::Zero(6);
  switch (set.shape) {
    case ImpulseShape::friction:
      disc(0, 2);
      rows.head<3>() << mu(0) * t(0), mu(0) * t(1), normal;
      break;
    case ImpulseShape::planar:
      disc(0, 1);
      rows.head<2>() << mu(0) * t(0), normal;
      break;
    case ImpulseShape::elliptic:
      disc(0, 2);
      rows.head<3>() << mu(0) * t(0), mu(1) * t(1), normal;
      break;
    case ImpulseShape::torsional:
      disc(0, 2), disc(3, 4);
      rows.head<4>() << mu(0) * t(0), mu(0) * t(1), normal, mu(1) * t(3);
      break;
    case ImpulseShape::rolling:
      disc(0, 2), disc(3, 5), disc(5, 6);
      rows << mu(0) * t(0), mu(0) * t(1), normal, mu(1) * t(3), mu(1) * t(4), mu(2) * t(5);
      break;
    case ImpulseShape::spinless_rolling:
      disc(0, 2), disc(3, 5);
      rows.head<5>() << mu(0) * t(0), mu(0) * t(1), normal, mu(1) * t(3), mu(1) * t(4);
      break;
    case ImpulseShape::ellipsoidal_torsional:
      disc(0, 3);
      rows.head<4>() << mu(0) * t(0), mu(0) * t(1), normal, mu(1) * t(2);
      break;
    case ImpulseShape::ellipsoidal_rolling:
      disc(0, 5);
      rows << mu(0) * t(0), mu(0) * t(1), normal, mu(1) * t(2), mu(1) * t(3), mu(2) * t(4);
      break;
    case ImpulseShape::intervals:
      break;
  }
  return rows.cast<Scalar>();
}

}  // namespace

TEMPLATE_TEST_CASE("block_rows: blocks keep their order, their sets and their parts",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(1);
  for (const int count : {0, 1, 48}) {
    const Blocks<Scalar> all(source, count);
    REQUIRE(all.list.size() == count);
    CHECK(all.list.triple_count() + all.list.other_count() == count);
    int triples = 0, others = 0;
    for (Index i = 0; i < count; ++i) {
      const auto& set = all.sets[std::size_t(i)];
      const bool triple = set.shape == ImpulseShape::friction && set.friction(0) > Scalar(0);
      CHECK(all.list.is_triple(i) == triple);
      CHECK(all.list.number(i) == (triple ? triples++ : others++));
      CHECK(all.list.first_part(i) == all.first_parts[std::size_t(i)]);
      CHECK(all.list.parts(i) == (set.rows > 3 ? 2 : 1));
      all.list.visit(i, [&](const auto& block) {
        CHECK((std::decay_t<decltype(block)>::Numbers::size() == 3) == triple);
        const ImpulseSet<Scalar> own = block.impulse_set();
        CHECK(own.shape == set.shape);
        CHECK(own.rows == set.rows);
        CHECK(own.lower == set.lower);
        CHECK(own.upper == set.upper);
        CHECK(own.friction == set.friction);
        CHECK(own.shift == set.shift);
        CHECK(block.size() == 3 * block.parts);
        CHECK(block.is_cone() == (set.shape != ImpulseShape::intervals));
        int rows = 0;
        for (int k = 0; k < block.size(); ++k) rows += block.present(k);
        CHECK(rows == set.rows);
        for (int r = 0; r < set.rows; ++r) {
          CHECK(block.present(block.place(r)));
          CHECK(block.regularization(block.place(r)) == all.softness[std::size_t(i)](r));
          CHECK(block.shift(block.place(r)) == set.shift(r));
        }
        if constexpr (std::decay_t<decltype(block)>::Numbers::size() == 6) {
          for (int r = 0; r < set.rows; ++r) {
            CHECK(block.lower(block.place(r)) == set.lower(r));
            CHECK(block.upper(block.place(r)) == set.upper(r));
          }
        }
      });
    }
    CHECK(triples == all.list.triple_count());
  }
}

TEMPLATE_TEST_CASE("block_rows: discs and the normal describe the cone of a block",
                   "[solvers][law]", float, double) {
  // ‖γ_k/μ_k‖ ≤ γₙ of every disc, and zero where no disc is, hold inside of the set only.
  using Scalar = TestType;
  using std::sqrt;
  VectorSource<double> source(2);
  WorstCase described("discs and set agree"), without("rows without friction are in no disc");
  const Blocks<Scalar> all(source, 240);
  for (Index i = 0; i < all.list.size(); ++i) {
    const auto& set = all.sets[std::size_t(i)];
    if (set.shape == ImpulseShape::intervals) continue;
    for (const double factor : {0.0, 0.5, 0.99, 1.01, 2.0}) {
      const RowNumbers<Scalar> shifted = at_border(set, factor, source);
      all.list.visit(i, [&](const auto& block) {
        const auto moved = parts_of_rows(block, shifted);
        Scalar most(0);
        int in_discs = 0, with_friction = 0;
        for (int b = 0; b < block.disc_count; ++b) {
          const auto& disc = block.friction_disc(b);
          described.see_holds(disc.size > 0);
          Scalar squared(0);
          for (int k = 0; k < disc.size; ++k) {
            const Scalar t = moved(disc.places[k]) / disc.friction[k];
            squared += t * t;
            ++in_discs;
          }
          most = (std::max)(most, Scalar(sqrt(squared)));
        }
        const bool inside = most <= moved(block.normal);
        for (int b = 0; b < 3; ++b) {  // rows of μ, μᵣ and μₛ
          const bool has = set.friction(b) > Scalar(0);
          const bool two = set.shape != ImpulseShape::planar && set.shape != ImpulseShape::elliptic;
          const bool rolls = set.shape == ImpulseShape::rolling ||
                             set.shape == ImpulseShape::spinless_rolling ||
                             set.shape == ImpulseShape::ellipsoidal_rolling;
          with_friction += has ? (b == 0 && two) || (b == 1 && rolls) ? 2 : 1 : 0;
        }
        without.see(in_discs - with_friction, 0, int(set.shape));
        const RowNumbers<Scalar> ones = RowNumbers<Scalar>::Ones();
        const RowNumbers<Scalar> impulse = shifted - set.shift;
        const Scalar outside = (nearest_impulse(set, ones, impulse) - impulse).norm();
        const Scalar allowed = rounding<Scalar>(50, impulse.norm() + set.shift.norm());
        described.see_holds(inside == (outside <= allowed), int(set.shape), factor, outside);
      });
    }
  }
  described.check(800);
  without.check(800);
}

TEMPLATE_TEST_CASE("block_rows: numbers go to their places and back, beside those of other blocks",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(3);
  const Blocks<Scalar> all(source, 36);
  constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  for (Index i = 0; i < all.list.size(); ++i) {
    all.list.visit(i, [&](const auto& block) {
      using Numbers = typename std::decay_t<decltype(block)>::Numbers;
      std::vector<Scalar> numbers(std::size_t(3 * all.part_count), nan);
      RowNumbers<Scalar> rows = RowNumbers<Scalar>::Zero();
      for (int r = 0; r < block.impulse_set().rows; ++r) rows(r) = Scalar(1 + r);
      const Numbers parts = parts_of_rows(block, rows);
      CHECK(rows_of_parts(block, parts) == rows);
      for (int k = 0; k < Numbers::size(); ++k) {
        if (k >= block.size() || !block.present(k)) CHECK(parts(k) == Scalar(0));
      }
      write_parts(block, parts, numbers.data());
      for (Index k = 0; k < Index(numbers.size()); ++k) {
        const bool own = k >= 3 * block.first_part && k < 3 * block.first_part + block.size();
        const Scalar& number = numbers[std::size_t(k)];
        CHECK((own ? number == parts(int(k - 3 * block.first_part)) : std::isnan(number)));
      }
      CHECK((read_parts(block, numbers.data()) - parts).is_zero());
    });
  }
  PartNumbers<Scalar, 1> three;
  for (int k = 0; k < 3; ++k) three(k) = Scalar(k + 1);
  CHECK(as_vector(three) == carom::Vector3<Scalar>(1, 2, 3));
}

TEST_CASE("block_rows: a block can be changed in its place", "[solvers][example]") {
  VectorSource<double> source(4);
  Blocks<double> all(source, 24);
  for (Index i = 0; i < all.list.size(); ++i) {
    all.list.change(i, [&](auto& block) { block.inverse_mass = double(i) + 0.5; });
  }
  for (Index i = 0; i < all.list.size(); ++i) {
    CHECK(all.list.visit(i, [](const auto& block) { return block.inverse_mass; }) ==
          double(i) + 0.5);
  }
  all.list.clear();
  CHECK(all.list.size() == 0);
  CHECK(all.list.triple_count() == 0);
  CHECK(all.list.other_count() == 0);
}

TEMPLATE_TEST_CASE("block_rows: gains multiply as the dense matrix of their block",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  VectorSource<double> source(5);
  const Blocks<Scalar> all(source, 36);
  BlockGains<Scalar> gains;
  gains.lay_out(all.list);
  std::vector<Eigen::MatrixXd> dense;
  for (Index i = 0; i < all.list.size(); ++i) {
    all.list.visit(i, [&]<int Parts>(const BlockRows<Scalar, Parts>& block) {
      PartMatrix<Scalar, Parts> gain;
      dense.push_back(Eigen::MatrixXd::Zero(block.size(), block.size()));
      for (int r = 0; r < block.size(); ++r) {
        for (int c = 0; c < block.size(); ++c) {
          gain(r, c) = Scalar(2 * source.unit() - 1);
          dense.back()(r, c) = double(gain(r, c));
        }
      }
      gains.write(i, block.parts, gain);
    });
  }
  WorstCase product("result − N u");
  for (Index i = 0; i < all.list.size(); ++i) {
    const int parts = all.list.parts(i);
    const Eigen::MatrixXd& own = dense[std::size_t(i)];
    for (int row = 0; row < parts; ++row) {
      for (int column = 0; column < parts; ++column) {
        const Scalar* const entries = gains.at(i, row, column, parts);
        for (int k = 0; k < 9; ++k) {
          CHECK(double(entries[k]) == own(3 * row + k % 3, 3 * column + k / 3));
        }
      }
    }
    Eigen::Matrix<Scalar, Eigen::Dynamic, 1> u(3 * parts), result(3 * parts);
    for (Index k = 0; k < u.size(); ++k) u(k) = Scalar(k + 1), result(k) = Scalar(10 * k);
    const Eigen::VectorXd wanted = result.template cast<double>() - own * u.template cast<double>();
    gains.subtract_product(i, parts, u.data(), result.data());
    product.see((result.template cast<double>() - wanted).norm(),
                double(rounding<Scalar>(10, 1)) * (wanted.norm() + u.norm()));
  }
  product.check(36);
}

TEST_CASE("block_rows: sequences of another size become zero, others stay", "[solvers][example]") {
  Sequence<double> same, longer;
  same.assign(3, 7.0);
  longer.assign(2, 7.0);
  carom::detail::fit<double>(3, {&same, &longer});
  for (Index k = 0; k < 3; ++k) {
    CHECK(same[k] == 7);
    CHECK(longer[k] == 0);
  }
  carom::detail::fit<double>(0, {&same, &longer});
  CHECK(same.size() == 0);
  CHECK(longer.size() == 0);
}

}  // namespace block_rows_test
