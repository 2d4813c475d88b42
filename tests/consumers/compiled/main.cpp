// SPDX-License-Identifier: BSD-3-Clause
// A block on the ground, solved by what carom::compiled holds.
#include <carom/carom.hpp>

#if !defined(CAROM_COMPILED) || !defined(CAROM_COMPILED_FLOAT)
#error "the compiled targets say by these macros that solvers are taken from them"
#endif

template <typename Scalar>
bool block_rests() {
  carom::ContactProblem<Scalar> problem(Scalar(0.01));
  carom::VectorX<Scalar> velocity = carom::Vector3<Scalar>(0, 0, Scalar(-0.0981));
  const auto block = problem.add_body(2 * carom::SquareMatrix<Scalar, 3>::Identity(), velocity);
  problem.add_contact(
      block, carom::SquareMatrix<Scalar, 3>::Identity(),
      carom::CompliantContact<Scalar>{.gap = 0, .stiffness = Scalar(1e6), .friction = Scalar(0.5)});
  carom::SapSolver<Scalar> solver;
  return solver.solve(problem, velocity).converged() && velocity.norm() < Scalar(0.01);
}

int main() {
  return block_rests<float>() && block_rests<double>() ? 0 : 1;
}
