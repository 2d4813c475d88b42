#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The configurations beside the one of test.sh, by the other compiler, g++ (or $CXX): the optimised
# build with its benchmarks and the adapters, the build without exceptions; then clang-tidy, the bits
# of the reproducible mode by two compilers, the kernels for graphics processors where nvcc is
# installed, and what carom costs a user's compiler. All of them run, even if one fails; the table at
# the end and the exit status say which passed.
#   scripts/matrix.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

mkdir -p build 2>/dev/null || fail "cannot write to $PWD"
say "packages"
install_packages demo test matrix docs engines cluster python
need_cmake

# A workflow would compile too many units at once: they are large, so there is one per processor.
run_preset() {
  cmake --preset "$1" && cmake --build --preset "$1" --parallel "$(nproc)" && ctest --preset "$1"
}

table=()
faults=0
export CXX=${CXX:-g++}
for preset in release no_exceptions; do
  say "preset $preset"
  begin=$SECONDS
  log=build/matrix-$preset.log
  if run_preset "$preset" 2>&1 | tee "$log"; then
    outcome=passed
  else
    outcome=FAILED
    faults=$((faults + 1))
  fi
  tests=$(grep -E 'tests passed' "$log" || echo 'no test ran')
  table+=("$(printf '%-14s %-7s %5d s  %s' "$preset" "$outcome" $((SECONDS - begin)) "$tests")")
done

# check <name> <command...>: one more line of the table. A command ends with 77 where it lacks a tool.
check() {
  local name=$1 outcome=passed begin=$SECONDS
  shift
  say "$name"
  "$@" || case $? in
    77) outcome=skipped ;;
    *) outcome=FAILED faults=$((faults + 1)) ;;
  esac
  table+=("$(printf '%-14s %-7s %5d s' "$name" "$outcome" $((SECONDS - begin)))")
}
check clang-tidy scripts/check_tidy.sh
# scripts/test.sh runs all tests of the package, but does not install torch.
check torch scripts/python.sh --need-torch -k "torch or throw or puck"
check reproducible cmake -D WORK_DIR="$PWD/build/reproducible" -D EIGENS=/usr/include/eigen3 \
  -P tests/consumers/reproducible.cmake
check device scripts/device.sh
# Budgets hold for an idle machine, so this table is only for reading.
check budgets scripts/compile_budget.py --runs 1

say "summary"
printf '%s\n' "${table[@]}"
exit "$((faults > 0))"
