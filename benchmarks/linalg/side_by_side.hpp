// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include <benchmark/benchmark.h>

namespace carom::benchmarks {

/// Calls of malloc since the start of the program, by which Eigen and operator new both allocate;
/// zero where the C library does not let a program count them.
extern std::size_t allocation_count;

/// Times a call that has been made twice before, so that memory has grown, and counts what it
/// allocates.
template <typename Call>
void measure(benchmark::State& state, const Call& call) {
  call();
  call();
  const std::size_t before = allocation_count;
  call();
  state.counters["allocations"] = double(allocation_count - before);
  for (auto _ : state) {
    call();
    benchmark::ClobberMemory();
  }
}

/// Adds a header's two rows for every size: header/ours/size, header/eigen/size.
template <typename... Sizes>
void add_pair(const std::string& header, void (*ours)(benchmark::State&),
              void (*eigen)(benchmark::State&), Sizes... sizes) {
  for (const int size : {sizes...}) {
    benchmark::RegisterBenchmark((header + "/ours").c_str(), ours)->Arg(size);
    benchmark::RegisterBenchmark((header + "/eigen").c_str(), eigen)->Arg(size);
  }
}

}  // namespace carom::benchmarks
