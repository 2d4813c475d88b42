// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: bytes as a contact problem that is written as text and read again. It must be
// the same problem to the last bit, and its text the same text.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "carom/contact/problem_dump.hpp"

#include "io/text_problem.hpp"
#include "structured_problem.hpp"

namespace {

using carom::ContactProblem, carom::Index, carom::VectorX;
using carom::fuzz::demand;

template <typename A, typename B>
void demand_same(const A& a, const B& b, const char* what) {
  demand(a.rows() == b.rows() && a.cols() == b.cols(), what, double(a.size()), double(b.size()));
  for (Index c = 0; c < a.cols(); ++c) {
    for (Index r = 0; r < a.rows(); ++r) demand(a(r, c) == b(r, c), what, a(r, c), b(r, c));
  }
}

void demand_same(const ContactProblem<double>& a, const ContactProblem<double>& b) {
  demand(a.time_step() == b.time_step(), "the time step is the same");
  demand(a.body_count() == b.body_count() && a.block_count() == b.block_count(),
         "the counts are the same");
  for (Index i = 0; i < a.body_count(); ++i) {
    demand_same(a.momentum_matrix(i), b.momentum_matrix(i), "the momentum matrix is the same");
  }
  demand_same(a.free_velocity(), b.free_velocity(), "the free velocity is the same");
  for (Index i = 0; i < a.block_count(); ++i) {
    const auto p = a.law(i), q = b.law(i);
    demand(p.set.shape == q.set.shape && p.set.rows == q.set.rows && p.rigid == q.rigid,
           "the kind of a block is the same");
    demand_same(p.set.friction, q.set.friction, "friction is the same");
    demand_same(p.set.lower, q.set.lower, "lower bounds are the same");
    demand_same(p.set.upper, q.set.upper, "upper bounds are the same");
    demand_same(p.set.shift, q.set.shift, "the shift is the same");
    demand_same(p.regularization, q.regularization, "R is the same");
    demand_same(p.bias_velocity, q.bias_velocity, "the bias is the same");
    demand(a.side_count(i) == b.side_count(i), "the count of sides is the same");
    a.visit(i, [&](const auto& x) {
      b.visit(i, [&](const auto& y) {
        for (int s = 0; s < x.side_count(); ++s) {
          demand(x.side(s).body == y.side(s).body, "the body is the same");
          demand_same(x.columns(s), y.columns(s), "J is the same");
        }
      });
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  carom::fuzz::Draws draws(data, size);
  const auto law = draws.pick({carom::FrictionLaw::coulomb, carom::FrictionLaw::convex});
  const auto shape = carom::fuzz::draw_shape(draws);
  const auto planted = carom::fuzz::plant_problem<double>(draws, shape, law);
  const std::string text = carom::problem_text(planted.problem, planted.velocity);
  const auto read = carom::files::parse_text_problem(text);
  demand_same(planted.problem, read.problem);
  demand_same(planted.velocity, read.guess, "the guess is the same");
  demand(carom::problem_text(read.problem, read.guess) == text, "the text is the same");
  return 0;
}
