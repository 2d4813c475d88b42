// SPDX-License-Identifier: BSD-3-Clause
// Batches on a graphics processor: how long solve_batch takes beside what arithmetic and memory
// allow, and whether its bits are those of the processor. CAROM_DEVICE_SCALAR and CAROM_DEVICE_LAW
// say which kernel; scripts/device.sh --run compiles and runs it. A name and a number as arguments are
// another problem of the examples' data, and how many of it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "carom/batch/device.hpp"
#include "carom/batch/solve_batch.hpp"

#include "batch/varied_batch.hpp"
#include "device/device_array.hpp"
#include "device/kernel_work.hpp"
#include "io/text_problem.hpp"

namespace {

using Scalar = CAROM_DEVICE_SCALAR;
using carom::BatchArray, carom::Index;
using carom::benchmarks::DeviceArray, carom::benchmarks::need, carom::benchmarks::peak;
using carom::benchmarks::Peak, carom::benchmarks::time_of;

constexpr carom::FrictionLaw law = carom::FrictionLaw::CAROM_DEVICE_LAW;
constexpr bool is_double = sizeof(Scalar) == 8;

/// Numbers of a batch in double, as Scalar, on the processor and on the device.
class Numbers {
 public:
  Numbers(const BatchArray<const double>& array, Index size, Index problems)
      : stride_(array.stride), numbers_(convert(array, size, problems)), copy_(numbers_) {}
  [[nodiscard]] BatchArray<const Scalar> here() const { return {numbers_.data(), stride_}; }
  [[nodiscard]] BatchArray<const Scalar> there() const { return {copy_.data(), stride_}; }

 private:
  static std::vector<Scalar> convert(const BatchArray<const double>& array, Index size,
                                     Index problems) {
    const double* const end = array.data + (array.stride == 0 ? size : array.stride * problems);
    return std::vector<Scalar>(array.data, end);
  }

  Index stride_;
  std::vector<Scalar> numbers_;
  DeviceArray<Scalar> copy_;
};

bool same_report(const carom::BatchProblemReport<Scalar>& a,
                 const carom::BatchProblemReport<Scalar>& b) {
  return a.status == b.status && a.iterations == b.iterations && a.residual == b.residual &&
         a.error_bound == b.error_bound && a.fault == b.fault && a.item == b.item;
}

/// Solves copies of a file's problem on both and prints a line. @return whether all bits agree.
bool measure(const std::string& name, Index count, Scalar tolerance) {
  const auto given = carom::files::read_text_problem(CAROM_DATA_DIR "/" + name + ".txt");
  constexpr double spread = 0.01;
  carom::batch::VariedBatch batch(given.problem, given.guess, count, spread);
  const auto source = batch.view();
  const carom::BatchPattern& pattern = source.patterns[0];
  const Index n = pattern.velocity_count(), rows = pattern.row_count();
  const Numbers mass(source.mass, pattern.mass_count(), count);
  const Numbers jacobian(source.jacobian, pattern.jacobian_count(), count);
  const Numbers guess(source.guess, n, count), free(source.free_velocity, n, count);
  const Numbers friction(source.friction, 0, count), bias(source.bias, rows, count);
  const Numbers regularization(source.regularization, 0, count);
  carom::BatchView<Scalar> here, there;
  here.count = there.count = count;
  here.patterns = there.patterns = source.patterns;
  const auto set = [&](BatchArray<const Scalar> carom::BatchView<Scalar>::*field,
                       const Numbers& numbers) {
    here.*field = numbers.here();
    there.*field = numbers.there();
  };
  using View = carom::BatchView<Scalar>;
  set(&View::mass, mass);
  set(&View::jacobian, jacobian);
  set(&View::guess, guess);
  set(&View::free_velocity, free);
  set(&View::friction, friction);
  set(&View::regularization, regularization);
  set(&View::bias, bias);

  const DeviceArray<Scalar> velocity(std::size_t(n * count)), impulse(std::size_t(rows * count));
  using Report = carom::BatchProblemReport<Scalar>;
  const DeviceArray<Report> reports(static_cast<std::size_t>(count));
  const carom::SapOptions<Scalar> options{.law = law, .tolerance = tolerance};
  const int most = int((count + carom::device_warp_size - 1) / carom::device_warp_size);
  const int warps = (std::clamp)(carom::resident_warps<law, Scalar>(), 1, most);
  const std::size_t bytes = carom::DeviceWorkspace<Scalar>::bytes(there, warps);
  const DeviceArray<std::byte> memory(bytes);
  carom::DeviceWorkspace<Scalar> workspace;
  if (!prepare_on(nullptr, workspace, there, warps, memory.data(), bytes)) return false;
  const carom::BatchAnswers<Scalar> answers{
      {velocity.data(), n}, {impulse.data(), rows}, reports.data()};
  const double time =
      time_of([&] { need(carom::solve_batch<law>(there, answers, options, workspace, nullptr)); });

  std::vector<Scalar> own_velocity(std::size_t(n * count)), own_impulse(std::size_t(rows * count));
  std::vector<Report> own_reports(static_cast<std::size_t>(count));
  carom::BatchWorkspace<Scalar> own;
  own.prepare(here, 1);
  const auto report =
      solve_batch(here,
                  carom::BatchAnswers<Scalar>{
                      {own_velocity.data(), n}, {own_impulse.data(), rows}, own_reports.data()},
                  options, own);
  const auto same = [](const std::vector<Scalar>& a, const std::vector<Scalar>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(Scalar)) == 0;
  };
  const auto found = reports.read();
  const bool bits = same(velocity.read(), own_velocity) && same(impulse.read(), own_impulse) &&
                    std::equal(found.begin(), found.end(), own_reports.begin(), same_report);
  double iterations = 0;
  for (const Report& one : own_reports) iterations += one.iterations;
  const auto work = carom::benchmarks::kernel_work(pattern, iterations / double(count));
  const Peak best = peak(is_double);
  const double operations = work.operations * double(count) / time;
  const double traffic = work.numbers * sizeof(Scalar) * double(count) / time;
  std::printf("%-14s %-6s %7d %9.0e %7d %6.1f %10.3f %9.3f %9.1f %5.1f%% %9.1f %5.1f%% %9.1f  %s\n",
              name.c_str(), is_double ? "double" : "float", int(count), double(tolerance),
              int(report.converged), iterations / double(count), time * 1e3,
              time / double(count) * 1e6, operations * 1e-9, 100 * operations / best.operations,
              traffic * 1e-9, 100 * traffic / best.bytes, double(bytes) / (1 << 20),
              bits ? "same bits" : "OTHER BITS");
  std::fflush(stdout);
  return bits;
}

}  // namespace

int main(int given, char** arguments) {
  cudaDeviceProp device;
  need(cudaGetDeviceProperties(&device, 0));
  std::printf("%s, %s law\n", device.name,
              law == carom::FrictionLaw::convex ? "convex" : "Coulomb's");
  std::printf("%-14s %-6s %7s %9s %7s %6s %10s %9s %9s %6s %9s %6s %9s\n", "problem", "scalar",
              "count", "tolerance", "solved", "steps", "time [ms]", "each [us]", "Gop/s", "peak",
              "GB/s", "peak", "MiB");
  constexpr Scalar tolerance = is_double ? Scalar(1e-8) : Scalar(1e-5);
  std::fflush(stdout);
  if (given == 3) return measure(arguments[1], std::atol(arguments[2]), tolerance) ? 0 : 1;
  const bool robots = measure("robot_30x16", 65536, tolerance);
  const bool piles = measure("pile_n100_s60", 4096, tolerance);
  return robots && piles ? 0 : 1;
}
