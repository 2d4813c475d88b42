#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles the kernels of solve_batch, of both laws in float and double, what the guide of batches
# shows, and a benchmark by nvcc, and the kernels by hipcc where that is installed, too. Says how many registers and how much memory each takes, and fails if one
# spills registers or takes more than a minute. No graphics processor is needed, except for --run,
# which measures batches on one and compares their bits with the processor's. Without nvcc there is
# nothing to check (status 77).
#   scripts/device.sh [--run]
#   CUDA_ARCH=sm_80 HIP_ARCH=gfx942 scripts/device.sh   for another device than sm_90 and gfx90a
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

run=0
case "${1:-}" in
  '') ;;
  --run) run=1 ;;
  *) fail "expected nothing or --run, got $1" ;;
esac
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || {
  echo "skipped: nvcc is not installed"
  exit 77
}
arch=${CUDA_ARCH:-sm_90}
eigen=${EIGEN_INCLUDE:-/usr/include/eigen3}
longest=60 # seconds of one processor
out=build/device
mkdir -p "$out"
# Warnings that are off are Eigen's, and that long double is double there.
cuda=(nvcc -std=c++20 -O3 --expt-relaxed-constexpr -Werror cross-execution-space-call -diag-suppress "20012,20208"
  "-arch=$arch" -Xptxas -v -Iinclude "-I$eigen")
kernels=tests/consumers/device/batch.cu
faults=0

# report <name> <log> <seconds>: a line of the table, from what ptxas said of each function.
report() {
  awk -v name="$1" -v seconds="$3" -v longest="$longest" '
    /bytes stack frame/ {
      if ($1 > stack) stack = $1
      stores += $5; loads += $9
    }
    /Used [0-9]+ registers/ {
      match($0, /Used [0-9]+/); used = substr($0, RSTART + 5, RLENGTH - 5) + 0
      if (used > registers) registers = used
      if (match($0, /[0-9]+ bytes smem/)) shared = substr($0, RSTART, RLENGTH) + 0
      if (match($0, /[0-9]+ bytes cumulative stack/)) cumulative = substr($0, RSTART, RLENGTH) + 0
    }
    END {
      if (cumulative > stack) stack = cumulative
      wrong = !registers ? "no kernel found" : stores + loads ? "spills" : seconds > longest ? "slow" : ""
      printf "%-24s %9d %8d %8d %8d %8d  %s\n", name, registers, stores + loads, shared, stack, seconds, wrong
      exit wrong != ""
    }' "$2"
}

# compile <name> <argument...>: runs nvcc, whose time as a process is what $TIMEFORMAT prints.
compile() {
  local name=$1 log=$out/$1.log seconds TIMEFORMAT=%U
  shift
  seconds=$({ time "${cuda[@]}" "$@" >"$log" 2>&1; } 2>&1) || {
    cat "$log"
    fail "$name does not compile by nvcc (log: $log)"
  }
  report "$name" "$log" "${seconds%.*}" || faults=$((faults + 1))
}

say "kernels for $arch by $(nvcc --version | sed -n 's/.*release \([^,]*\).*/nvcc \1/p')"
printf '%-24s %9s %8s %8s %8s %8s\n' kernel registers 'spilled' 'shared' 'stack' 'compile'
printf '%-24s %9s %8s %8s %8s %8s\n' '' 'a thread' '[B]' '[B]' '[B]' '[s]'
for law in convex coulomb; do
  for scalar in double float; do
    compile "${law}_$scalar" "-DCAROM_DEVICE_LAW=$law" "-DCAROM_DEVICE_SCALAR=$scalar" \
      -c "$kernels" -o "$out/${law}_$scalar.o"
  done
done
# What the guide shows: a program, which must link, and a kernel of a user's own.
awk -v out="$out" '/^```cuda$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print >(out "/guide_" n ".cu") }' \
  docs/guides/batches.md
compile guide_program "$out/guide_1.cu" -o "$out/guide_program"
compile guide_kernel -c "$out/guide_2.cu" -o "$out/guide_kernel.o"
for scalar in double float; do
  compile "bench_$scalar" -DCAROM_DEVICE_LAW=convex "-DCAROM_DEVICE_SCALAR=$scalar" -Iapps -Iexamples -Ibenchmarks \
    '-DCAROM_DATA_DIR="examples/data"' benchmarks/device/main.cu -o "$out/bench_$scalar"
done

if command -v hipcc >/dev/null; then
  say "kernels for ${HIP_ARCH:-gfx90a} by hipcc"
  for law in convex coulomb; do
    for scalar in double float; do
      hipcc -x hip -std=c++20 -O3 "--offload-arch=${HIP_ARCH:-gfx90a}" -Iinclude "-I$eigen" "-DCAROM_DEVICE_LAW=$law" \
        "-DCAROM_DEVICE_SCALAR=$scalar" -c "$kernels" -o "$out/hip_${law}_$scalar.o" || faults=$((faults + 1))
    done
  done
else
  echo "hipcc is not installed: not compiled by it"
fi

if [ "$run" = 1 ]; then
  for scalar in double float; do
    say "benchmark in $scalar"
    "$out/bench_$scalar" || faults=$((faults + 1))
  done
else
  echo "$out/bench_double and $out/bench_float stand ready for a graphics processor (--run)"
fi
exit "$((faults > 0))"
