// SPDX-License-Identifier: BSD-3-Clause
#include "carom/cones/friction_cone_batch.hpp"

#include <benchmark/benchmark.h>

#include "cone_samples.hpp"

namespace {

using carom::FrictionConeBatch;
using carom::benchmarks::ConeSamples, carom::benchmarks::Sample;

constexpr std::size_t sample_count = 480;  // nine arrays of doubles stay in the first-level cache

template <typename Scalar>
void project_batch(benchmark::State& state) {
  ConeSamples<Scalar> s(sample_count, Sample::mixed);
  const FrictionConeBatch<Scalar> batch{carom::Index(sample_count),
                                        {s.tangent1.data(), s.tangent2.data(), s.normal.data()},
                                        {s.friction.data()},
                                        {s.tangent_weight.data()},
                                        {s.normal_weight.data()}};
  for (auto _ : state) {
    project(batch, {s.point1.data(), s.point2.data(), s.point_normal.data()});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * std::int64_t(sample_count));
}

template <typename Scalar>
void project_batch_shared(benchmark::State& state) {
  ConeSamples<Scalar> s(sample_count, Sample::mixed);
  const FrictionConeBatch<Scalar> batch{carom::Index(sample_count),
                                        {s.tangent1.data(), s.tangent2.data(), s.normal.data()},
                                        {s.friction.data(), true},
                                        {s.tangent_weight.data(), true},
                                        {s.normal_weight.data(), true}};
  for (auto _ : state) {
    project(batch, {s.point1.data(), s.point2.data(), s.point_normal.data()});
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * std::int64_t(sample_count));
}

/// The least a projection could cost: its loads and stores, one square root, one division.
template <typename Scalar>
void limit_kernel(benchmark::State& state) {
  namespace lanes = Eigen::internal;
  using carom::detail::WholeRegister, carom::detail::register_size;
  ConeSamples<Scalar> s(sample_count, Sample::mixed);
  for (auto _ : state) {
    for (std::size_t i = 0; i < sample_count; i += std::size_t(register_size<Scalar>)) {
      const auto load = [i](const auto& array) {
        return lanes::ploadu<WholeRegister<Scalar>>(array.data() + i);
      };
      const auto y1 = load(s.tangent1);
      const auto y2 = load(s.tangent2);
      const auto norm = carom::detail::square_root<Scalar>(lanes::pmadd(y1, y1, y2));
      const auto ratio =
          lanes::pdiv(lanes::pmadd(load(s.friction), load(s.tangent_weight), load(s.normal_weight)),
                      lanes::pmul(norm, load(s.normal)));
      lanes::pstoreu(s.point1.data() + i, lanes::pmul(ratio, y1));
      lanes::pstoreu(s.point2.data() + i, lanes::pmul(ratio, y2));
      lanes::pstoreu(s.point_normal.data() + i, lanes::pmul(ratio, norm));
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * std::int64_t(sample_count));
}

}  // namespace

BENCHMARK_TEMPLATE(limit_kernel, double);
BENCHMARK_TEMPLATE(project_batch, double);
BENCHMARK_TEMPLATE(project_batch_shared, double);
BENCHMARK_TEMPLATE(limit_kernel, float);
BENCHMARK_TEMPLATE(project_batch, float);
BENCHMARK_TEMPLATE(project_batch_shared, float);
