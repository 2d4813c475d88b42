#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles the kernels of the room batch by nvcc, in float and double and for both laws: those of
# solve_batch, pull_back_batch, resolve_batch and project_batch. Then a user's own kernels and the
# programs that the guide of batches shows, and two benchmarks, which are linked to those kernels. Two
# compilers run at a time, and nothing is compiled twice. Says how many registers and how much memory each
# kernel takes, and fails if one spills registers or takes more than 90 s of a processor. By hipcc,
# where that is installed, the kernels are compiled, too. No graphics processor is needed, except for
# --run, which measures batches on one and compares their bits with the processor's. Without nvcc there
# is nothing to check (status 77).
#   scripts/device.sh [--quick | --run]   --quick: kernels in double under Coulomb's law and those of the guide
#   CUDA_ARCH=sm_80 HIP_ARCH=gfx942 scripts/device.sh   for another device than sm_90 and gfx90a
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

run=0
scalars=(double float)
laws=(coulomb convex)
case "${1:-}" in
  '') ;;
  --quick) scalars=(double) laws=(coulomb) ;;
  --run) run=1 ;;
  *) fail "expected nothing, --quick or --run, got $1" ;;
esac
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || {
  echo "skipped: nvcc is not installed"
  exit 77
}
arch=${CUDA_ARCH:-sm_90}
eigen=${EIGEN_INCLUDE:-/usr/include/eigen3}
longest=90 # seconds of one processor
out=build/device
mkdir -p "$out"
# Warnings that are off are Eigen's, and that long double is double there.
cuda=(nvcc -std=c++20 -O3 --expt-relaxed-constexpr -Werror cross-execution-space-call -diag-suppress "20012,20208"
  "-arch=$arch" -Xptxas -v -Iinclude "-I$eigen")
# A kernel of an object may be launched by another one.
shared=(-static-global-template-stub=false)
linked=("${shared[@]}" -include tests/consumers/device/compiled_kernels.hpp)
kernels=tests/consumers/device
faults=0
names=()   # of what is being compiled
objects=() # with kernels

# kernel_line <log> <seconds>: prints the numbers of a table's line, from what ptxas said of each function, and
# what is wrong with them.
kernel_line() {
  awk -v seconds="$2" -v longest="$longest" '
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
      printf "%9d %8d %8d %8d %8d  %s\n", registers, stores + loads, shared, stack, seconds, wrong
      exit wrong != ""
    }' "$1"
}

# compile <name> <argument...>: runs nvcc, and leaves its log and its time as a process (what $TIMEFORMAT prints).
compile() {
  local log=$out/$1.log TIMEFORMAT=%U
  rm -f "$out/$1.seconds"
  shift
  { time "${cuda[@]}" "$@" >"$log" 2>&1; } 2>"${log%.log}.time" || return 0
  mv "${log%.log}.time" "${log%.log}.seconds"
}

# start <name> <argument...>: compiles while at most one other compiler runs.
start() {
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n || true; done
  names+=("$1")
  compile "$@" &
}

# finish <report>: waits for all that was started, and prints a line of each by `report <log> <seconds>`.
finish() {
  local name seconds line
  wait
  for name in "${names[@]}"; do
    [ -f "$out/$name.seconds" ] || {
      cat "$out/$name.log"
      fail "$name does not compile by nvcc (log: $out/$name.log)"
    }
    seconds=$(cut -d . -f 1 "$out/$name.seconds")
    line=$("$1" "$out/$name.log" "$seconds") || faults=$((faults + 1))
    printf '%-24s %s\n' "$name" "$line"
  done
  names=()
}

# kernel <name> <source> <argument...>: starts to compile a kernel to an object.
kernel() {
  local name=$1 source=$2
  shift 2
  objects+=("$out/$name.o")
  start "$name" "${shared[@]}" "$@" -c "$source" -o "$out/$name.o"
}

# for_each_kernel <visit>: calls `visit <name> <source> <argument...>`; what takes longest comes first.
for_each_kernel() {
  local scalar file law
  for scalar in "${scalars[@]}"; do
    for file in gradients solve; do
      for law in "${laws[@]}"; do
        "$1" "${file}_${law}_$scalar" "$kernels/$file.cu" "-DCAROM_DEVICE_LAW=$law" "-DCAROM_DEVICE_SCALAR=$scalar"
      done
    done
    for file in impacts projections; do
      "$1" "${file}_$scalar" "$kernels/$file.cu" "-DCAROM_DEVICE_SCALAR=$scalar"
    done
  done
}

say "kernels for $arch by $(nvcc --version | sed -n 's/.*release \([^,]*\).*/nvcc \1/p')"
printf '%-24s %9s %8s %8s %8s %8s\n' kernel registers 'spilled' 'shared' 'stack' 'compile'
printf '%-24s %9s %8s %8s %8s %8s\n' '' 'a thread' '[B]' '[B]' '[B]' '[s]'
for_each_kernel kernel
# What the guide shows: programs, which must link, and kernels of a user's own.
rm -f "$out"/guide_*.cu
awk -v out="$out" '
  /^```cuda$/ { n++; on = 1; file = out "/guide_" n ".cu"; printf "" >file; next }
  /^```$/ { on = 0 }
  on { print >file }' docs/guides/batches.md
programs=()
for file in $(cd "$out" && echo guide_*.cu); do
  if grep -q '^int main(' "$out/$file"; then
    programs+=("${file%.cu}")
  else
    start "${file%.cu}" -c "$out/$file" -o "$out/${file%.cu}.o"
  fi
done
finish kernel_line

if [ "${1:-}" = --quick ]; then exit "$((faults > 0))"; fi

say 'programs with these kernels'
printf '%-24s %8s\n' program 'compile [s]'
# A kernel of the program's own would not have been looked at.
program_line() {
  printf '%11d' "$2"
  if grep -q 'Compiling entry function' "$1"; then
    printf '  compiles a kernel'
    return 1
  fi
}
for name in "${programs[@]}"; do
  start "$name" "${linked[@]}" "$out/$name.cu" "${objects[@]}" -o "$out/$name"
done
for scalar in double float; do
  for file in solve impacts; do
    start "bench_${file}_$scalar" "${linked[@]}" -DCAROM_DEVICE_LAW=convex "-DCAROM_DEVICE_SCALAR=$scalar" -Iapps -Iexamples \
      -Ibenchmarks '-DCAROM_DATA_DIR="examples/data"' "benchmarks/device/$file.cu" "${objects[@]}" \
      -o "$out/bench_${file}_$scalar"
  done
done
finish program_line

if command -v hipcc >/dev/null; then
  say "kernels for ${HIP_ARCH:-gfx90a} by hipcc"
  hip_kernel() {
    local name=$1
    shift
    hipcc -x hip -std=c++20 -O3 "--offload-arch=${HIP_ARCH:-gfx90a}" -Iinclude "-I$eigen" -c "$@" \
      -o "$out/hip_$name.o" || faults=$((faults + 1))
  }
  for_each_kernel hip_kernel
else
  echo "hipcc is not installed: not compiled by it"
fi

if [ "$run" = 1 ]; then
  for file in solve impacts; do
    for scalar in double float; do
      say "benchmark $file in $scalar"
      "$out/bench_${file}_$scalar" || faults=$((faults + 1))
    done
  done
else
  echo "$out/bench_* stand ready for a graphics processor (--run)"
fi
exit "$((faults > 0))"
