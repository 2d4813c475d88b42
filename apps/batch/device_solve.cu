// SPDX-License-Identifier: BSD-3-Clause
#include "batch/device_solve.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "carom/batch/device.hpp"

namespace carom::batch {
namespace {

void need(cudaError_t error) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string("--device cuda: ") + cudaGetErrorString(error));
}

/// Memory on the device.
template <typename Item>
class DeviceArray {
 public:
  explicit DeviceArray(Index count) : count_(count) {
    need(cudaMalloc(&items_, (std::max)(bytes(), sizeof(Item))));
  }
  DeviceArray(const Item* items, Index count) : DeviceArray(count) {
    need(cudaMemcpy(items_, items, bytes(), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(items_); }

  [[nodiscard]] Item* data() const noexcept { return items_; }
  void read(Item* to) const { need(cudaMemcpy(to, items_, bytes(), cudaMemcpyDeviceToHost)); }

 private:
  [[nodiscard]] std::size_t bytes() const noexcept { return std::size_t(count_) * sizeof(Item); }

  Index count_;
  Item* items_ = nullptr;
};

/// The numbers of a field of a batch, copied to the device.
class DeviceField {
 public:
  /// @param size  count of numbers per problem
  DeviceField(const BatchArray<const double>& array, Index size, Index problems)
      : stride_(array.stride), numbers_(array.data, stride_ == 0 ? size : stride_ * problems) {}
  [[nodiscard]] BatchArray<const double> view() const noexcept {
    return {numbers_.data(), stride_};
  }

 private:
  Index stride_;
  DeviceArray<double> numbers_;
};

}  // namespace

Index solve_on_device(const BatchView<double>& view, const BatchAnswers<double>& answers,
                      const SapOptions<double>& options, double& seconds) {
  const BatchPattern& pattern = view.patterns[0];
  const Index count = view.count, n = pattern.velocity_count(), rows = pattern.row_count();
  const DeviceField mass(view.mass, pattern.mass_count(), count);
  const DeviceField jacobian(view.jacobian, pattern.jacobian_count(), count);
  const DeviceField free(view.free_velocity, n, count), guess(view.guess, n, count);
  const DeviceField friction(view.friction, pattern.friction_count(), count);
  const DeviceField weights(view.regularization, pattern.regularization_count(), count);
  const DeviceField bias(view.bias, rows, count);
  const DeviceField bounds(view.bounds, pattern.bound_count(), count);
  BatchView<double> there;
  there.count = count;
  there.patterns = view.patterns;
  there.mass = mass.view();
  there.jacobian = jacobian.view();
  there.free_velocity = free.view();
  there.guess = guess.view();
  there.friction = friction.view();
  there.regularization = weights.view();
  there.bias = bias.view();
  there.bounds = bounds.view();

  using Report = BatchProblemReport<double>;
  const DeviceArray<double> velocity(n * count), impulse(rows * count);
  const DeviceArray<Report> reports(count);
  const int most = int((count + device_warp_size - 1) / device_warp_size);
  const int resident = options.law == FrictionLaw::coulomb
                           ? resident_warps<FrictionLaw::coulomb, double>()
                           : resident_warps<FrictionLaw::convex, double>();
  const int warps = (std::clamp)(resident, 1, (std::max)(most, 1));
  const std::size_t bytes = DeviceWorkspace<double>::bytes(there, warps);
  const DeviceArray<std::byte> memory{Index(bytes)};
  DeviceWorkspace<double> workspace;
  if (!prepare_on(nullptr, workspace, there, warps, memory.data(), bytes)) {
    throw std::runtime_error("--device cuda: the workspace could not be prepared");
  }
  const BatchAnswers<double> found{{velocity.data(), n}, {impulse.data(), rows}, reports.data()};
  need(cudaDeviceSynchronize());
  const auto begin = std::chrono::steady_clock::now();
  need(solve_batch(there, found, options, workspace, nullptr));
  need(cudaDeviceSynchronize());
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  velocity.read(answers.velocity.data);
  impulse.read(answers.impulse.data);
  reports.read(answers.reports);
  return Index(std::count_if(answers.reports, answers.reports + count, [](const Report& report) {
    return report.status == SolveStatus::converged;
  }));
}

}  // namespace carom::batch
