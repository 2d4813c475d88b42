// SPDX-License-Identifier: BSD-3-Clause
// A million impacts on a graphics processor: how long resolve_batch takes beside what arithmetic
// and memory allow, and whether its bits are those of the processor. CAROM_DEVICE_SCALAR says which
// kernel; scripts/device.sh --run compiles and runs it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "carom/batch/device_impacts.hpp"
#include "carom/batch/impact_batch.hpp"

#include "batch/impact_lines.hpp"
#include "device/device_array.hpp"
#include "device/kernel_work.hpp"

namespace {

using Scalar = CAROM_DEVICE_SCALAR;
using carom::Index;
using carom::benchmarks::DeviceArray, carom::benchmarks::ImpactLines, carom::benchmarks::need;
using carom::benchmarks::peak, carom::benchmarks::Peak, carom::benchmarks::time_of;
using Report = carom::ImpactProblemReport<Scalar>;

constexpr bool is_double = sizeof(Scalar) == 8;

bool same_report(const Report& a, const Report& b) {
  return a.status == b.status && a.reflections == b.reflections && a.energy_gain == b.energy_gain &&
         a.fault == b.fault && a.item == b.item;
}

/// Resolves impacts on both and prints a line. @return whether all bits agree.
bool measure(const std::string& name, ImpactLines<Scalar> lines) {
  const auto here = lines.view();
  const Index n = lines.pattern.coordinate_count();
  const DeviceArray<Scalar> mass(lines.mass), normals(lines.normals), before(lines.velocity);
  const DeviceArray<Scalar> after(lines.answers.size());
  const DeviceArray<Report> reports(lines.reports.size());
  auto there = here;
  there.mass.data = mass.data();
  there.normals.data = normals.data();
  there.velocity.data = before.data();
  const carom::ImpactBatchOptions<Scalar> options;

  using Workspace = carom::DeviceImpactWorkspace<Scalar>;
  const int most = int((here.count + carom::device_warp_size - 1) / carom::device_warp_size);
  const int warps = (std::clamp)(carom::resident_impact_warps<Scalar>(), 1, most);
  const std::size_t bytes = Workspace::bytes(there, warps);
  const DeviceArray<std::byte> memory(bytes);
  Workspace workspace;
  if (!prepare_on(nullptr, workspace, there, warps, memory.data(), bytes)) return false;
  carom::ImpactBatchAnswers<Scalar> answers;
  answers.velocity = {after.data(), n};
  answers.reports = reports.data();
  const double time =
      time_of([&] { need(carom::resolve_batch(there, answers, options, workspace, nullptr)); });

  carom::ImpactBatchWorkspace<Scalar> own;
  own.prepare(here, 1);
  answers.velocity.data = lines.answers.data();
  answers.reports = lines.reports.data();
  const auto report = resolve_batch(here, answers, options, own);
  const auto found = reports.read();
  const auto velocity = after.read();
  const bool bits =
      std::memcmp(velocity.data(), lines.answers.data(), velocity.size() * sizeof(Scalar)) == 0 &&
      std::equal(found.begin(), found.end(), lines.reports.begin(), same_report);
  const double count = double(here.count), reflections = double(report.reflections) / count;
  const auto work = carom::benchmarks::impact_work(lines.pattern, reflections);
  const Peak best = peak(is_double);
  const double operations = work.operations * count / time;
  const double traffic = work.numbers * sizeof(Scalar) * count / time;
  std::printf("%-18s %-6s %8d %8d %11.1f %10.3f %9.2f %9.1f %5.1f%% %9.1f %5.1f%% %9.1f  %s\n",
              name.c_str(), is_double ? "double" : "float", int(here.count), int(report.resolved),
              reflections, time * 1e3, time / count * 1e9, operations * 1e-9,
              100 * operations / best.operations, traffic * 1e-9, 100 * traffic / best.bytes,
              double(bytes) / (1 << 20), bits ? "same bits" : "OTHER BITS");
  return bits;
}

}  // namespace

int main() {
  cudaDeviceProp device;
  need(cudaGetDeviceProperties(&device, 0));
  std::printf("%s\n", device.name);
  std::printf("%-18s %-6s %8s %8s %11s %10s %9s %9s %6s %9s %6s %9s\n", "impact", "scalar", "count",
              "resolved", "reflections", "time [ms]", "each [ns]", "Gop/s", "peak", "GB/s", "peak",
              "MiB");
  using carom::benchmarks::make_cradles, carom::benchmarks::make_galperin;
  bool bits = measure("galperin_100", make_galperin<Scalar>(0));
  bits = measure("galperin_1_to_1e6", make_galperin<Scalar>(1e6)) && bits;
  bits = measure("cradle_3", make_cradles<Scalar>(3)) && bits;
  bits = measure("cradle_5", make_cradles<Scalar>(5)) && bits;
  return bits ? 0 : 1;
}
