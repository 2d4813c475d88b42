// SPDX-License-Identifier: BSD-3-Clause
// A batch of two patterns under both laws, in as many lanes as this build has.
#include "batch_problems.hpp"
#include "bits.hpp"

namespace {

template <typename Scalar>
void take_batch(carom::bits::Bits& bits) {
  for (const auto law : {carom::FrictionLaw::convex, carom::FrictionLaw::coulomb}) {
    carom::bits::Problems<Scalar> problems;
    const auto view = problems.view();
    carom::BatchWorkspace<Scalar> workspace;
    workspace.prepare(view, 1);
    const carom::SapOptions<Scalar> options{.law = law,
                                            .tolerance = Scalar(sizeof(Scalar) == 4 ? 1e-3 : 1e-9)};
    bits.take(solve_batch(view, problems.answers(), options, workspace).converged);
    bits.take(problems.checksum());
  }
}

const carom::bits::Scene in_double("batch", take_batch<double>);
const carom::bits::Scene in_float("batch_float", take_batch<float>);

}  // namespace
