// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/rows/island_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/executors.hpp"
#include "support/packed_case.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace island_view_test {

using carom::ContactGraph, carom::Crew, carom::Index;
using carom::detail::IslandPieces, carom::detail::IslandPiecesTuning, carom::detail::IslandView;
using carom::detail::lanes_above, carom::detail::PackedEdge, carom::detail::PackedIsland;
using carom::detail::PackedProblem, carom::detail::SolverMemory;
using carom::testing::build, carom::testing::ConstrainedProblem, carom::testing::draw_matrix;
using carom::testing::for_each_packed_problem, carom::testing::PackedCase;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

/// A view with nothing beside.
template <typename Scalar>
struct Probe : IslandView<Scalar, Probe<Scalar>> {
  using Base = IslandView<Scalar, Probe<Scalar>>;
  using Base::Base;
  [[nodiscard]] Probe part(const PackedIsland& piece) const noexcept {
    return {this->packed_, this->memory_, piece};
  }
};

/// Bodies in a row that touch their neighbours at many places, and blocks of every shape among
/// them: one island.
[[nodiscard]] ConstrainedProblem draw_row(VectorSource<double>& source, int bodies, int blocks);

/// A problem laid out, without dense matrices.
struct Layout {
  carom::ContactProblem<double> problem;
  ContactGraph graph;
  PackedProblem<double> packed;
  SolverMemory<double> memory;

  explicit Layout(const ConstrainedProblem& raw) : problem(build<double>(raw)) {
    graph.analyse(problem, 1e300);
    packed.lay_out(graph);
    packed.pack(problem, graph);
    memory.lay_out(packed);
  }
};

ConstrainedProblem draw_row(VectorSource<double>& source, int bodies, int blocks) {
  ConstrainedProblem raw;
  const auto size = [](Index body) { return Index(1 + body * 5 % 7); };
  for (Index b = 0; b < bodies; ++b) {
    raw.contacts.bodies.push_back(carom::testing::draw_body(source, int(size(b)), 1));
  }
  const auto connect = [&](auto& item, Index first, Index second, int rows) {
    if (source.unit() < 0.5) std::swap(first, second);
    item.first = first;
    item.first_jacobian = draw_matrix(source, rows, size(first));
    if (first == second) return;
    item.second = second;
    item.second_jacobian = draw_matrix(source, rows, size(second));
  };
  for (int k = 0; k < blocks; ++k) {
    const Index at = k < bodies - 1 ? k : Index(source.unit() * (bodies - 1));
    const Index to = k < bodies - 1 ? at + 1 : std::min(Index(bodies - 1), at + k % 4);
    if (k % 5 == 4) {
      carom::testing::RawConstraint constraint;
      constraint.law = carom::testing::draw_law(source, k / 5 % 12);
      connect(constraint, at, to, constraint.law.set.rows);
      raw.constraints.push_back(constraint);
    } else {
      carom::testing::RawContact contact;
      connect(contact, at, to, 3);
      raw.contacts.contacts.push_back(contact);
    }
  }
  return raw;
}

namespace {

/// All arrays of a memory, as they are asked for, with their sizes.
template <typename Scalar>
[[nodiscard]] std::vector<std::pair<Scalar*, Index>> arrays_of(SolverMemory<Scalar>& memory,
                                                               const PackedProblem<Scalar>& packed,
                                                               int vectors) {
  using Memory = SolverMemory<Scalar>;
  std::vector<std::pair<Scalar*, Index>> arrays;
  for (int name = 0; name < vectors; ++name) {
    arrays.push_back({memory.vector(typename Memory::VectorName(name)), packed.vector_size()});
  }
  for (int name = 0; name < Memory::triple_count; ++name) {
    for (int c = 0; c < 3; ++c) {
      arrays.push_back({memory.contact(typename Memory::TripleName(name), c), packed.part_size()});
    }
  }
  for (int c = 0; c < 2; ++c) arrays.push_back({memory.predicted_direction(c), packed.part_size()});
  return arrays;
}

/// Whether a part belongs to an island, padding included.
[[nodiscard]] bool has_part(const PackedIsland& island, Index part) {
  return part >= island.first_part && part < island.first_part + island.part_count;
}
[[nodiscard]] bool has_unknown(const PackedIsland& island, Index unknown) {
  return unknown >= island.vector_start && unknown < island.vector_start + island.vector_size;
}

}  // namespace

TEMPLATE_TEST_CASE("island_view: memory begins as zeros, each array in a place of its own",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  using Memory = SolverMemory<Scalar>;
  Memory memory;  // one for all, so that later problems find what earlier ones left
  long checked = 0;
  for_each_packed_problem<Scalar>(1u, [&](const ConstrainedProblem& raw, auto&) {
    PackedCase<Scalar> data(raw);
    for (const int vectors : {int(Memory::vector_count), int(Memory::common_count)}) {
      memory.lay_out(data.packed, vectors);
      const auto arrays = arrays_of(memory, data.packed, vectors);
      bool zero = true, apart = true, marked = true;
      Scalar number = 0;
      for (const auto& [first, size] : arrays) {
        for (Index i = 0; i < size; ++i) zero = zero && first[i] == Scalar(0);
        for (Index i = 0; i < size; ++i) first[i] = ++number;
      }
      number = 0;
      for (const auto& [first, size] : arrays) {
        for (Index i = 0; i < size; ++i) apart = apart && first[i] == ++number;
      }
      for (Index k = 0; k < data.packed.part_size(); ++k) {
        marked = marked && memory.regions()[k] < 0;
        memory.regions()[k] = 3;
      }
      CHECK(zero);
      CHECK(apart);
      CHECK(marked);
      checked += long(number);
      for (int name = 0; name < Memory::triple_count && data.packed.part_size() > 0; ++name) {
        const auto parts = memory.parts(typename Memory::TripleName(name));
        for (int c = 0; c < 3; ++c) {
          CHECK(&parts(c, 0) == memory.contact(typename Memory::TripleName(name), c));
        }
      }
    }
  });
  CHECK(checked > 10000);
}

TEMPLATE_TEST_CASE("island_view: passes over an island are those of its numbers, and of no others",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  using Memory = SolverMemory<Scalar>;
  WorstCase others("other islands keep their numbers"), done("the numbers of the island"),
      products("inner products");
  for_each_packed_problem<Scalar>(2u, [&](const ConstrainedProblem& raw, auto& source) {
    PackedCase<Scalar> data(raw);
    const auto fill = [&] {
      for (const auto& [first, size] : arrays_of(data.memory, data.packed, Memory::vector_count)) {
        for (Index i = 0; i < size; ++i) first[i] = Scalar(source.entry(6));
      }
    };
    const auto x = data.memory.vector(Memory::direction), y = data.memory.vector(Memory::best);
    const Index count = data.packed.vector_size();
    for (const PackedIsland& island : data.packed.islands()) {
      const Probe<Scalar> view(data.packed, data.memory, island);
      CHECK(&view.island() == &island);
      CHECK(view.start_of(Memory::direction) == x + island.vector_start);
      CHECK(view.vector(Memory::direction).size() == island.vector_size);
      CHECK(view.contacts(Memory::impulse, 2).data() ==
            data.memory.contact(Memory::impulse, 2) + island.first_part);
      CHECK(view.contacts(Memory::impulse, 2).size() == island.part_count);
      CHECK(view.parameter(PackedProblem<Scalar>::tangent).data() ==
            data.packed.parameter(PackedProblem<Scalar>::tangent) + island.first_part);
      for (int pass = 0; pass < 4; ++pass) {
        fill();
        const std::vector<Scalar> before(x, x + count);
        const auto gamma = data.memory.contact(Memory::impulse, 1);
        const std::vector<Scalar> impulse(gamma, gamma + data.packed.part_size());
        if (pass == 0) view.copy(Memory::best, Memory::direction);
        if (pass == 1) view.clear(Memory::direction);
        if (pass == 2) view.negate(Memory::best, Memory::direction);
        if (pass == 3) view.clear(Memory::impulse);
        for (Index i = 0; i < count; ++i) {
          const Scalar was = before[std::size_t(i)];
          const Scalar wanted = pass == 0 ? y[i] : pass == 1 ? Scalar(0) : pass == 2 ? -y[i] : was;
          if (has_unknown(island, i)) {
            done.see_holds(x[i] == wanted, pass);
          } else {
            others.see_holds(x[i] == was, pass);
          }
        }
        for (Index k = 0; k < data.packed.part_size(); ++k) {
          const bool cleared = pass == 3 && has_part(island, k);
          others.see_holds(gamma[k] == (cleared ? Scalar(0) : impulse[std::size_t(k)]), pass);
        }
      }
      fill();
      long double product = 0, gross = 0;
      for (Index i = island.vector_start; i < island.vector_start + island.vector_size; ++i) {
        product += static_cast<long double>(x[i]) * y[i];
        gross += std::abs(static_cast<long double>(x[i]) * y[i]);
      }
      products.see(
          std::abs(product - static_cast<long double>(view.dot(Memory::direction, Memory::best))),
          rounding<Scalar>(60, Scalar(gross)));
    }
  });
  others.check(1000);
  done.check(1000);
  products.check(30);
}

TEMPLATE_TEST_CASE("island_view: numbers that leave the range of the type are found, of one island",
                   "[solvers][example]", float, double) {
  using Scalar = TestType;
  using Memory = SolverMemory<Scalar>;
  constexpr Scalar largest = std::numeric_limits<Scalar>::max();
  const Scalar bad[] = {std::numeric_limits<Scalar>::quiet_NaN(),
                        std::numeric_limits<Scalar>::infinity(),
                        -std::numeric_limits<Scalar>::infinity()};
  int seen = 0;
  for_each_packed_problem<Scalar>(3u, [&](const ConstrainedProblem& raw, auto&) {
    PackedCase<Scalar> data(raw);
    for (const PackedIsland& island : data.packed.islands()) {
      const Probe<Scalar> view(data.packed, data.memory, island);
      Scalar* const x = data.memory.vector(Memory::gradient);
      std::fill_n(x, data.packed.vector_size(), bad[1]);  // other islands do not count
      const Index first = island.vector_start, last = first + island.vector_size - 1;
      std::fill_n(x + first, island.vector_size, Scalar(0));
      CHECK(view.is_finite(Memory::gradient));
      for (const Index at : {first, last}) {
        for (const Scalar& number : bad) {
          x[at] = number;
          CHECK_FALSE(view.is_finite(Memory::gradient));
        }
        x[at] = largest;
        CHECK(view.is_finite(Memory::gradient));
        x[first] = largest, x[last] = -largest;  // together they are not
        CHECK(view.is_finite(Memory::gradient) == (first == last));
        x[first] = x[last] = 0;
      }
      ++seen;
    }
  });
  CHECK(seen >= 30);
}

TEST_CASE("island_view: rows of a block come from its own parts", "[solvers][example]") {
  int blocks = 0;
  for_each_packed_problem<double>(4u, [&](const ConstrainedProblem& raw, auto& source) {
    PackedCase<double> data(raw);
    using Memory = SolverMemory<double>;
    Eigen::VectorXd rows = Eigen::VectorXd::Zero(data.problem.impulse_count());
    data.for_each_row([&](Index part, int component, Index row) {
      rows(row) = data.memory.contact(Memory::trial, component)[part] = source.unit();
    });
    for (const PackedIsland& island : data.packed.islands()) {
      const Probe<double> view(data.packed, data.memory, island);
      for (Index c = island.first_other; c < island.other_end; ++c) {
        const auto& other = data.packed.other(c);
        const auto found = view.rows_of(other, Memory::trial);
        const Index first = data.problem.first_row(other.number);
        CHECK(found.head(other.set.rows) == rows.segment(first, other.set.rows));
        CHECK(found.tail(6 - other.set.rows).isZero(0));
        ++blocks;
      }
    }
  });
  CHECK(blocks >= 50);
}

TEST_CASE("island_view: pieces share out the bodies, edges and parts of an island",
          "[solvers][law]") {
  VectorSource<double> source(5);
  IslandPieces<double> pieces;  // one for all
  for (const auto& [bodies, blocks] : std::vector<std::pair<int, int>>{
           {200, 2300}, {2, 1}, {30, 600}, {3, 2000}, {700, 699}, {1, 3}}) {
    CAPTURE(bodies, blocks);
    const Layout data(draw_row(source, bodies, blocks));
    REQUIRE(data.packed.islands().size() == 1);
    const PackedIsland& island = data.packed.islands()[0];
    pieces.lay_out(data.packed, island);
    const Index count = pieces.count();
    REQUIRE(count >= 1);
    PackedIsland before{};
    for (Index k = 0; k < count; ++k) {
      CAPTURE(k);
      const PackedIsland piece = pieces.piece(data.packed, island, k);
      const bool last = k + 1 == count;
      CHECK(piece.range.first_slot == (k == 0 ? island.range.first_slot : before.range.slot_end));
      CHECK(piece.first_edge == (k == 0 ? island.first_edge : before.edge_end));
      CHECK(piece.first_part ==
            (k == 0 ? island.first_part : before.first_part + before.part_count));
      CHECK(piece.vector_start ==
            (k == 0 ? island.vector_start : before.vector_start + before.vector_size));
      CHECK(piece.first_other == (k == 0 ? island.first_other : before.other_end));
      CHECK(piece.range.slot_end > piece.range.first_slot);
      CHECK(piece.edge_end > piece.first_edge);
      CHECK(piece.projected_count == piece.part_count);
      for (Index e = piece.first_edge; e < piece.edge_end; ++e) {
        const PackedEdge& edge = data.packed.edge(e);
        CHECK((edge.low_slot >= piece.range.first_slot && edge.low_slot < piece.range.slot_end));
        CHECK((edge.first_part >= piece.first_part &&
               edge.part_end <= piece.first_part + piece.true_count));
      }
      if (!last) {
        CHECK(piece.true_count == piece.part_count);
        CHECK(piece.true_count >= IslandPiecesTuning::piece_parts);
        // Without its last body a piece would have too few parts.
        Index without = 0;
        for (Index e = piece.first_edge; e < piece.edge_end; ++e) {
          const PackedEdge& edge = data.packed.edge(e);
          if (edge.low_slot + 1 < piece.range.slot_end) without += edge.part_end - edge.first_part;
        }
        CHECK(without < IslandPiecesTuning::piece_parts);
      } else {
        CHECK(piece.range.slot_end == island.range.slot_end);
        CHECK(piece.edge_end == island.edge_end);
        CHECK(piece.other_end == island.other_end);
        CHECK(piece.first_part + piece.part_count == island.first_part + island.part_count);
        CHECK(piece.first_part + piece.true_count == island.first_part + island.true_count);
        CHECK(piece.vector_start + piece.vector_size == island.vector_start + island.vector_size);
      }
      before = piece;
    }
    CHECK((count > 1) == (bodies == 200 || bodies == 30 || bodies == 3 || bodies == 700));
  }
}

TEST_CASE("island_view: bodies without an edge of their own belong to the piece before them",
          "[solvers][example]") {
  // All edges of two bodies are those of the one that is eliminated first.
  VectorSource<double> source(8);
  ConstrainedProblem raw = draw_row(source, 2, 1);
  raw.contacts.contacts.resize(std::size_t(IslandPiecesTuning::piece_parts) + 5,
                               raw.contacts.contacts.front());
  const Layout data(raw);
  const PackedIsland& island = data.packed.islands()[0];
  IslandPieces<double> pieces;
  pieces.lay_out(data.packed, island);
  REQUIRE(pieces.count() == 1);
  const PackedIsland piece = pieces.piece(data.packed, island, 0);
  CHECK(piece.range.slot_end == island.range.slot_end);
  CHECK(piece.edge_end == island.edge_end);
  CHECK(piece.vector_size == island.vector_size);
}

TEST_CASE("island_view: an island is cut from a count of parts without the padding",
          "[solvers][example]") {
  PackedIsland island{};
  island.part_count = 10 * IslandPiecesTuning::least_parts;
  island.true_count = IslandPiecesTuning::least_parts - 1;
  CHECK_FALSE(IslandPieces<double>::suit(island));
  island.true_count += 1;
  CHECK(IslandPieces<float>::suit(island));
}

TEST_CASE("island_view: sides and crossing edges of pieces are all that there are, in their order",
          "[solvers][oracle]") {
  VectorSource<double> source(6);
  for (const auto& [bodies, blocks] :
       std::vector<std::pair<int, int>>{{200, 2300}, {30, 600}, {4, 3}}) {
    CAPTURE(bodies, blocks);
    const Layout data(draw_row(source, bodies, blocks));
    const PackedIsland& island = data.packed.islands()[0];
    IslandPieces<double> pieces;
    pieces.lay_out(data.packed, island);
    const auto number_of = [&](const PackedEdge& edge) {
      return Index(&edge - &data.packed.edge(0));
    };
    using Sides = std::vector<std::pair<Index, int>>;
    int crossings = 0;
    for (Index k = 0; k < pieces.count(); ++k) {
      const PackedIsland piece = pieces.piece(data.packed, island, k);
      // By brute force: body by body, first the edges with it as the high one.
      Sides sides, wanted;
      std::vector<Index> crossing, wanted_crossing;
      for (int slot = piece.range.first_slot; slot < piece.range.slot_end; ++slot) {
        for (Index e = island.first_edge; e < island.edge_end; ++e) {
          const PackedEdge& edge = data.packed.edge(e);
          if (edge.high_slot != slot) continue;
          wanted.push_back({e, 1});
          if (edge.low_slot < piece.range.first_slot) wanted_crossing.push_back(e);
        }
        for (Index e = island.first_edge; e < island.edge_end; ++e) {
          if (data.packed.edge(e).low_slot == slot) wanted.push_back({e, 0});
        }
      }
      pieces.for_each_side(data.packed, island, piece, [&](const PackedEdge& edge, int side) {
        sides.push_back({number_of(edge), side});
      });
      pieces.for_each_crossing(data.packed, island, piece, [&](const PackedEdge& edge) {
        crossing.push_back(number_of(edge));
      });
      CHECK(sides == wanted);
      CHECK(crossing == wanted_crossing);
      crossings += int(crossing.size());
    }
    CHECK((crossings > 0) == (pieces.count() > 1));
  }
}

TEST_CASE("island_view: sums over pieces are those over the island, whoever shares them",
          "[solvers][law]") {
  VectorSource<double> source(7);
  Layout data(draw_row(source, 200, 2300));
  using Memory = SolverMemory<double>;
  const PackedIsland& island = data.packed.islands()[0];
  double* const x = data.memory.contact(Memory::trial, 0);
  for (Index k = 0; k < data.packed.part_size(); ++k) x[k] = source.entry(6);
  using Numbers = Probe<double>::Numbers;
  const auto add = [&](const Probe<double>& part, double* numbers) {
    const auto own = part.contacts(Memory::trial, 0);
    for (Index k = 0; k < own.size(); ++k) numbers[0] += own[k];
    numbers[1] += double(own.size());
    numbers[2] = (std::max)(numbers[2], own.abs().maxCoeff());
    numbers[3] += 1;
  };
  const auto largest = [&](const Probe<double>& part, double* numbers) {
    numbers[0] = (std::max)(numbers[0], part.contacts(Memory::trial, 0).abs().maxCoeff());
  };
  const Probe<double> whole(data.packed, data.memory, island);
  const Numbers alone = whole.sum_pieces(add);
  CHECK(whole.crew() == nullptr);
  CHECK(alone[1] == double(island.part_count));
  CHECK(alone[3] == 1);
  const double gross = whole.contacts(Memory::trial, 0).abs().sum();
  const double most = whole.contacts(Memory::trial, 0).abs().maxCoeff();
  CHECK(whole.largest_of_pieces(largest) == most);
  whole.for_each_crossing(island, [](const PackedEdge&) { FAIL("an island crosses nothing"); });

  IslandPieces<double> pieces;
  pieces.lay_out(data.packed, island);
  const auto share = [&](const auto& executor, const auto& use) {
    carom::detail::lead_crew(executor, [&](Crew& crew) {
      Probe<double> first(data.packed, data.memory, island), view = whole;
      first.share(pieces, crew);
      view.share_as(first);
      use(view, crew);
    });
  };
  Numbers by_one{};
  share(carom::testing::Backwards{}, [&](const Probe<double>& view, const Crew& crew) {
    CHECK(view.crew() == &crew);
    by_one = view.sum_pieces(add);
    Index crossing = 0;
    const PackedIsland second = pieces.piece(data.packed, island, 1);
    view.for_each_crossing(second, [&](const PackedEdge&) { ++crossing; });
    CHECK(crossing > 0);
  });
  CHECK(by_one[1] == alone[1]);
  CHECK(by_one[3] == double(pieces.count()));
  CHECK(std::abs(by_one[0] - alone[0]) <= rounding(int(island.part_count), gross));
  carom::testing::for_each_executor([&](const auto& executor) {
    Numbers shared{};
    double found = 0;
    int visits = 0;
    share(executor, [&](const Probe<double>& view, const Crew&) {
      static_cast<void>(view.sum_pieces(add));  // numbers of an earlier pass do not count
      shared = view.sum_pieces(add);
      found = view.largest_of_pieces(largest);
      std::vector<char> seen(std::size_t(pieces.count()), 0);
      view.for_each_piece([&](const Probe<double>& part, double* numbers) {
        Index k = 0;
        while (pieces.piece(data.packed, island, k).first_edge != part.island().first_edge) ++k;
        const bool zero = numbers[0] == 0 && numbers[1] == 0 && numbers[2] == 0 && numbers[3] == 0;
        seen[std::size_t(k)] = char(seen[std::size_t(k)] + (zero ? 1 : 10));
      });
      for (const char count : seen) visits += count;
    });
    CHECK(shared == by_one);  // bit for bit
    CHECK(found == most);
    CHECK(visits == int(pieces.count()));
  });
  // A number that is none is the largest, wherever it stands.
  for (const double part : {0.0, 0.5, 1.0}) {
    const auto at = island.first_part + Index(part * double(island.true_count - 1));
    const double kept = x[at];
    x[at] = std::numeric_limits<double>::quiet_NaN();
    share(carom::testing::Backwards{}, [&](const Probe<double>& view, const Crew&) {
      const auto first_bad = [&](const Probe<double>& own, double* numbers) {
        for (Index k = 0; k < own.island().part_count; ++k) {
          const double number = std::abs(own.contacts(Memory::trial, 0)[k]);
          if (!(number <= numbers[0])) numbers[0] = number;
          if (std::isnan(number)) break;
        }
      };
      CHECK(std::isnan(view.largest_of_pieces(first_bad)));
    });
    x[at] = kept;
  }
}

}  // namespace island_view_test
