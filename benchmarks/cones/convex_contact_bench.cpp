// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/convex_contact.hpp"

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include <Eigen/Core>
#include <benchmark/benchmark.h>

namespace {

using Metric = carom::SquareMatrix<double, 3>;

struct Sample {
  Metric metric;
  carom::Vector3<double> load;
  double friction;
};

/// Random blocks, all in one region: condition to 1e4, friction .01 to 1.
std::vector<Sample> samples(carom::ConeRegion region) {
  std::mt19937 engine(5);
  std::normal_distribution<double> normal;
  std::vector<Sample> result;
  while (result.size() < 1024) {
    Metric root;
    for (int k = 0; k < 9; ++k) root(k / 3, k % 3) = normal(engine);
    const Metric metric = root * root.transpose() + 1e-2 * Metric::Identity();
    const carom::Vector3<double> load(normal(engine), normal(engine), normal(engine));
    const double friction = std::pow(10.0, -1 + 0.3 * normal(engine));
    if (carom::ConvexInverseMass<double>(metric).solve(load, friction).region != region) continue;
    result.push_back({metric, load, friction});
  }
  return result;
}

/// Preparation of the block and one solve, as in a block solver's first sweep.
void solve_convex_block(benchmark::State& state) {
  const auto batch = samples(static_cast<carom::ConeRegion>(state.range(0)));
  std::size_t k = 0;
  for (auto _ : state) {
    const Sample& s = batch[k++ % batch.size()];
    const carom::ConvexInverseMass<double> block(s.metric);
    auto contact = block.solve(s.load, s.friction);
    benchmark::DoNotOptimize(contact);
  }
}

}  // namespace

BENCHMARK(solve_convex_block)
    ->Arg(int(carom::ConeRegion::stick))
    ->Arg(int(carom::ConeRegion::slide))
    ->Arg(int(carom::ConeRegion::separate));
