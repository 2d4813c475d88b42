// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

/// @file
/// What benchmarks on a graphics processor share: memory, time, and what the device can do.
namespace carom::benchmarks {

/// Ends the program where a call of CUDA failed.
inline void need(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// Memory of the device.
template <typename Item>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    need(cudaMalloc(&items_, (std::max)(count, std::size_t(1)) * sizeof(Item)));
  }
  explicit DeviceArray(const std::vector<Item>& items) : DeviceArray(items.size()) {
    need(cudaMemcpy(items_, items.data(), count_ * sizeof(Item), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(items_); }

  [[nodiscard]] Item* data() const { return items_; }
  [[nodiscard]] std::vector<Item> read() const {
    std::vector<Item> items(count_);
    need(cudaMemcpy(items.data(), items_, count_ * sizeof(Item), cudaMemcpyDeviceToHost));
    return items;
  }

 private:
  std::size_t count_;
  Item* items_ = nullptr;
};

/// The least time of ten runs, or of as many as begin within a second [s].
template <typename Run>
double time_of(const Run& run) {
  cudaEvent_t begin, end;
  need(cudaEventCreate(&begin));
  need(cudaEventCreate(&end));
  float least = 1e30F, sum = 0;
  for (int i = 0; i < 10 && sum < 1e3F; ++i) {
    float milliseconds = 0;
    need(cudaEventRecord(begin));
    run();
    need(cudaEventRecord(end));
    need(cudaEventSynchronize(end));
    need(cudaEventElapsedTime(&milliseconds, begin, end));
    least = (std::min)(least, milliseconds);
    sum += milliseconds;
  }
  need(cudaEventDestroy(begin));
  need(cudaEventDestroy(end));
  return double(least) * 1e-3;
}

/// What the device can do at most: products and sums, not joined, and bytes of its memory [1/s].
struct Peak {
  double operations, bytes;
};

/// @param is_double  whether double is computed with, not float.
inline Peak peak(bool is_double) {
  const auto attribute = [](cudaDeviceAttr name) {
    int value = 0;
    need(cudaDeviceGetAttribute(&value, name, 0));
    return double(value);
  };
  // Units of a multiprocessor of compute capability 8.0, 9.0 and 10.0; others have fewer for
  // double.
  const double units = is_double ? 64 : 128;
  return {
      attribute(cudaDevAttrMultiProcessorCount) * units * 1e3 * attribute(cudaDevAttrClockRate),
      2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8};
}

}  // namespace carom::benchmarks
