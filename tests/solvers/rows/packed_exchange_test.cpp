// SPDX-License-Identifier: BSD-3-Clause
#include "carom/solvers/rows/packed_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"
#include "support/executors.hpp"
#include "support/packed_case.hpp"
#include "support/tolerance.hpp"
#include "support/worst_case.hpp"

namespace packed_exchange_test {

using carom::Index, carom::VectorX;
using carom::detail::IdleMeasures, carom::detail::PackedExchange, carom::detail::SharedLoop;
using carom::testing::build, carom::testing::ConstrainedProblem, carom::testing::draw_matrix;
using carom::testing::for_each_packed_problem, carom::testing::PackedCase;
using carom::testing::rounding, carom::testing::VectorSource, carom::testing::WorstCase;

namespace {

template <typename Scalar>
struct Case : PackedCase<Scalar> {
  using Base = PackedCase<Scalar>;
  using Memory = typename Base::Memory;

  explicit Case(const ConstrainedProblem& given) : Base(given) {}

  [[nodiscard]] PackedExchange<Scalar> exchange() {
    return {this->problem, this->graph, this->packed, this->memory};
  }
  [[nodiscard]] bool is_touched(Index body) const { return this->graph.slot_of(body) >= 0; }
  [[nodiscard]] VectorX<Scalar> draw_velocity(VectorSource<double>& source) const {
    VectorX<Scalar> velocity(this->problem.velocity_count());
    for (Index i = 0; i < velocity.size(); ++i) velocity(i) = Scalar(source.entry(6));
    return velocity;
  }
  /// Every number of the vectors and of the arrays over parts.
  [[nodiscard]] std::vector<Scalar*> all_numbers() {
    std::vector<Scalar*> all;
    for (int name = 0; name < Memory::vector_count; ++name) {
      Scalar* const vector = this->memory.vector(typename Memory::VectorName(name));
      for (Index i = 0; i < this->packed.vector_size(); ++i) all.push_back(vector + i);
    }
    for (int name = 0; name < Memory::triple_count; ++name) {
      for (int c = 0; c < 3; ++c) {
        Scalar* const array = this->memory.contact(typename Memory::TripleName(name), c);
        for (Index k = 0; k < this->packed.part_size(); ++k) all.push_back(array + k);
      }
    }
    return all;
  }
  /// The island of a body with blocks.
  [[nodiscard]] Index island_of(Index body) const {
    const auto& islands = this->packed.islands();
    Index i = 0;
    while (this->graph.slot_of(body) >= islands[i].range.slot_end) ++i;
    return i;
  }
};

constexpr auto all_moved = [](Index /*island*/) { return true; };

/// Many bodies in pairs, and every seventh alone: more than one range of a shared loop.
[[nodiscard]] ConstrainedProblem draw_many(VectorSource<double>& source, Index bodies) {
  ConstrainedProblem raw;
  for (Index b = 0; b < bodies; ++b) {
    raw.contacts.bodies.push_back(carom::testing::draw_body(source, 1 + int(b % 3), 1));
  }
  for (Index b = 0; b + 1 < bodies; b += 2) {
    if (b % 7 == 0) continue;
    carom::testing::RawContact contact;
    contact.first = b + 1, contact.second = b;
    contact.first_jacobian = draw_matrix(source, 3, 1 + (b + 1) % 3);
    contact.second_jacobian = draw_matrix(source, 3, 1 + b % 3);
    contact.law.friction = 0.5;
    raw.contacts.contacts.push_back(contact);
  }
  return raw;
}

}  // namespace

TEMPLATE_TEST_CASE(
    "packed_exchange: velocities are taken as Lᵀv, and those without blocks measured",
    "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase whitened("w = Lᵀv"), free("w* = Lᵀv*"), residuals("‖v − v*‖²_A"), sizes("‖v*‖²_A");
  int idle_bodies = 0;
  for_each_packed_problem<Scalar>(1u, [&](const ConstrainedProblem& raw, auto& source) {
    Case<Scalar> data(raw);
    using Memory = typename Case<Scalar>::Memory;
    const VectorX<Scalar> guess = data.draw_velocity(source);
    const Eigen::VectorXd v = guess.template cast<double>(), v_free = data.dense.free_velocity;
    const IdleMeasures<Scalar> idle = data.exchange().take_guess(guess);
    const auto compare = [&](auto name, const Eigen::VectorXd& given, WorstCase& law) {
      const Eigen::VectorXd found = data.get(name), wanted = data.touched(data.whiten(given));
      for (Index b = 0; b < data.problem.body_count(); ++b) {
        const auto [start, size] = data.problem.body(b);
        law.see((found - wanted).segment(start, size).norm(),
                rounding<Scalar>(40, Scalar(data.dense.momentum.block(start, start, size, size)
                                                .diagonal()
                                                .cwiseSqrt()
                                                .dot(given.segment(start, size).cwiseAbs()))),
                int(b));
      }
    };
    compare(Memory::whitened, v, whitened);
    compare(Memory::free, v_free, free);
    long double residual = 0, gross = 0, size_squared = 0;
    for (Index b = 0; b < data.problem.body_count(); ++b) {
      if (data.is_touched(b)) continue;
      ++idle_bodies;
      const auto [start, size] = data.problem.body(b);
      for (Index r = start; r < start + size; ++r) {
        for (Index c = start; c < start + size; ++c) {
          const long double a = data.dense.momentum(r, c);
          residual += a * (v(r) - v_free(r)) * (v(c) - v_free(c));
          gross += std::abs(a) * (std::abs(v(r)) + std::abs(v_free(r))) *
                   (std::abs(v(c)) + std::abs(v_free(c)));
          size_squared += a * v_free(r) * v_free(c);
        }
      }
    }
    const long double allowed = rounding<Scalar>(100, Scalar(gross));
    residuals.see(std::abs(residual - static_cast<long double>(idle.residual_squared)), allowed);
    sizes.see(std::abs(size_squared - static_cast<long double>(idle.free_squared)), allowed);
  });
  CHECK(idle_bodies >= 10);
  whitened.check(100);
  free.check(100);
  residuals.check(30);
  sizes.check(30);
}

TEMPLATE_TEST_CASE("packed_exchange: what is taken and given leaves all other numbers as they were",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  using Bits = std::conditional_t<sizeof(Scalar) == 8, std::uint64_t, std::uint32_t>;
  WorstCase memory("numbers of the memory"), bodies("velocities of islands that did not move");
  for_each_packed_problem<Scalar>(2u, [&](const ConstrainedProblem& raw, auto& source) {
    Case<Scalar> data(raw);
    using Memory = typename Case<Scalar>::Memory;
    const auto numbers = data.all_numbers();
    for (std::size_t k = 0; k < numbers.size(); ++k) *numbers[k] = Scalar(k + 1);
    std::vector<char> own(numbers.size(), 0);
    data.for_each_unknown([&](Index at, Index) {
      for (const auto name : {Memory::whitened, Memory::free}) {
        own[std::size_t(data.memory.vector(name) + at - numbers.front())] = 1;
      }
    });
    static_cast<void>(data.exchange().take_guess(data.draw_velocity(source)));
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      if (own[k] == 0) memory.see_holds(*numbers[k] == Scalar(k + 1), int(k));
    }
    // Every other island moves; NaN stands where nothing is to be written.
    constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
    VectorX<Scalar> velocity = VectorX<Scalar>::Constant(data.problem.velocity_count(), nan);
    const auto moved = [](Index island) { return island % 2 == 0; };
    data.exchange().give_velocities(moved, velocity);
    const Eigen::VectorXd wanted = data.unwhiten(data.get(Memory::whitened));
    for (Index b = 0; b < data.problem.body_count(); ++b) {
      const auto [start, size] = data.problem.body(b);
      for (Index i = start; i < start + size; ++i) {
        if (!data.is_touched(b)) {
          bodies.see_holds(std::bit_cast<Bits>(velocity(i)) ==
                           std::bit_cast<Bits>(data.problem.free_velocity()(i)));
        } else {
          bodies.see_holds(std::isnan(velocity(i)) != moved(data.island_of(b)), int(b));
        }
      }
      if (!data.is_touched(b) || !moved(data.island_of(b))) continue;
      const auto block = data.factor.block(start, start, size, size);
      const double condition = block.norm() * block.inverse().norm();
      bodies.see((velocity.template cast<double>() - wanted).segment(start, size).norm(),
                 double(rounding<Scalar>(20, 1)) * condition * wanted.segment(start, size).norm(),
                 condition);
    }
  });
  memory.check(1000);
  bodies.check(300);
}

TEMPLATE_TEST_CASE("packed_exchange: velocities taken and given back are the same",
                   "[solvers][law]", float, double) {
  using Scalar = TestType;
  WorstCase same("v, or v* without blocks");
  for_each_packed_problem<Scalar>(3u, [&](const ConstrainedProblem& raw, auto& source) {
    Case<Scalar> data(raw);
    const VectorX<Scalar> given = data.draw_velocity(source);
    static_cast<void>(data.exchange().take_guess(given));
    VectorX<Scalar> back(given.size());
    data.exchange().give_velocities(all_moved, back);
    for (Index b = 0; b < data.problem.body_count(); ++b) {
      const auto [start, size] = data.problem.body(b);
      if (data.is_touched(b)) {
        const auto block = data.factor.block(start, start, size, size);
        const auto condition = Scalar(block.norm() * block.inverse().norm());
        same.see((back - given).segment(start, size).norm(),
                 rounding<Scalar>(20, condition * given.segment(start, size).norm()), int(b));
      } else {
        same.see_holds(back.segment(start, size) ==
                       data.problem.free_velocity().segment(start, size));
      }
    }
  });
  same.check(100);
}

TEMPLATE_TEST_CASE("packed_exchange: impulses and velocities of blocks go to their rows, unscaled",
                   "[solvers][oracle]", float, double) {
  using Scalar = TestType;
  WorstCase exact("rows of friction contacts, bit for bit"), scaled("other rows");
  for_each_packed_problem<Scalar>(4u, [&](const ConstrainedProblem& raw, auto& source) {
    Case<Scalar> data(raw);
    using Memory = typename Case<Scalar>::Memory;
    const Index rows = data.problem.impulse_count();
    VectorX<Scalar> gamma(rows), u(rows);
    for (Scalar* const number : data.all_numbers()) *number = Scalar(1e30);  // padding
    data.for_each_row([&](Index part, int component, Index row) {
      gamma(row) = data.memory.contact(Memory::impulse, component)[part] = Scalar(source.entry(6));
      u(row) = data.memory.contact(Memory::velocity, component)[part] = Scalar(source.entry(6));
    });
    constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
    VectorX<Scalar> impulse = VectorX<Scalar>::Constant(rows, nan), velocity = impulse;
    data.exchange().give_impulses(impulse.data(), velocity.data());
    for (Index r = 0; r < rows; ++r) {
      if (data.is_contact_row(r)) {
        exact.see_holds(impulse(r) == gamma(r) && velocity(r) == u(r), int(r));
        continue;
      }
      const double d = data.row_scale(r);
      scaled.see(std::abs(double(impulse(r)) - d * double(gamma(r))),
                 double(rounding<Scalar>(8, 1)) * std::abs(d * double(gamma(r))), int(r), d);
      scaled.see(std::abs(double(velocity(r)) - double(u(r)) / d),
                 double(rounding<Scalar>(8, 1)) * std::abs(double(u(r)) / d), int(r), d);
    }
  });
  exact.check(300);
  scaled.check(300);
}

TEST_CASE("packed_exchange: who shares the loops changes no bit", "[solvers][law]") {
  VectorSource<double> source(5);
  // Without the dense matrices of a PackedCase, which would be large.
  const auto problem = build<double>(draw_many(source, 2 * SharedLoop::length + 5));
  carom::ContactGraph graph;
  graph.analyse(problem, 1e300);
  carom::detail::PackedProblem<double> packed;
  packed.lay_out(graph);
  packed.pack(problem, graph);
  using Memory = carom::detail::SolverMemory<double>;
  Memory memory;
  memory.lay_out(packed);
  REQUIRE(graph.slot_count() > SharedLoop::length);
  const Index rows = problem.impulse_count(), size = packed.vector_size();
  const VectorX<double> guess = draw_matrix(source, problem.velocity_count(), 1);
  for (const auto name : {Memory::impulse, Memory::velocity}) {
    for (int c = 0; c < 3; ++c) {
      for (Index k = 0; k < packed.part_size(); ++k) memory.contact(name, c)[k] = source.unit();
    }
  }
  const auto moved = [](Index island) { return island % 3 != 1; };
  const auto exchange_all = [&](const SharedLoop& loop) {
    // All that is written, one after the other.
    VectorX<double> all = VectorX<double>::Constant(2 + 2 * size + guess.size() + 2 * rows, -7);
    const PackedExchange<double> exchange(problem, graph, packed, memory);
    std::fill_n(memory.vector(Memory::whitened), size, 0.0);
    std::fill_n(memory.vector(Memory::free), size, 0.0);
    const IdleMeasures<double> idle = exchange.take_guess(guess, loop);
    all.head(2) << idle.residual_squared, idle.free_squared;
    std::copy_n(memory.vector(Memory::whitened), size, all.data() + 2);
    std::copy_n(memory.vector(Memory::free), size, all.data() + 2 + size);
    VectorX<double> velocity = VectorX<double>::Constant(guess.size(), -7);
    exchange.give_velocities(moved, velocity, loop);
    all.segment(2 + 2 * size, guess.size()) = velocity;
    exchange.give_impulses(all.data() + all.size() - 2 * rows, all.data() + all.size() - rows,
                           loop);
    return all;
  };
  const VectorX<double> alone = exchange_all({});
  // An island that lies in two ranges of a loop moves as a whole, or not.
  for (Index i = 0; i < packed.islands().size(); ++i) {
    const auto& range = packed.islands()[i].range;
    for (int slot = range.first_slot; slot < range.slot_end; ++slot) {
      const auto [start, count] = problem.body(graph.body_at(slot));
      REQUIRE((alone.segment(2 + 2 * size + start, count).array() != -7).all() == moved(i));
    }
  }
  carom::testing::for_each_executor([&](const auto& executor) {
    VectorX<double> shared;
    carom::detail::lead_crew(executor,
                             [&](carom::Crew& crew) { shared = exchange_all(SharedLoop(crew)); });
    CHECK(shared == alone);
  });
}

}  // namespace packed_exchange_test
