#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The configurations beside the one of test.sh: the tests of public headers and of linear algebra under
# the address and undefined-behaviour sanitizers; by the other compiler, g++ (or $CXX), the optimised
# build with the adapters and the build without exceptions; clang-tidy without its analyzer; the Python
# tests with torch; the bits of the reproducible mode by two compilers. All of them run, even if one fails;
# the table at the end and the exit status say which passed. What takes longer is in scripts/nightly.sh:
# pieces and scenes under the sanitizers, long sweeps, clang-tidy's analyzer, kernels for graphics processors.
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
  local preset=$1
  shift
  cmake --preset "$preset" "$@" && cmake --build --preset "$preset" --parallel "$(nproc)" &&
    ctest --preset "$preset" --parallel "$(nproc)"
}

# Under the sanitizers: every room but the scenes, whose solvers and steppers the tests of the other
# rooms call; pieces run as part of what is public, except those of linear algebra, where sizes are
# counted by hand and which have a test of their own at every size.
debug_options=(-D CAROM_TEST_DETAIL=OFF -D CAROM_BUILD_EXAMPLES=OFF
  -D "CAROM_TEST_ROOMS=core;linalg;cones;contact;solvers;batch;impact;viscoelastic;variational;io;ensemble;stress")
# What is optimised: the tests of the solvers' public headers, the programs and the adapters.
# scripts/nightly.sh builds all tests, benchmarks and kernels for graphics processors optimised, and
# reads every header by itself.
release_options=(-D "CAROM_TEST_ROOMS=solvers;cli;ensemble" -D CAROM_TEST_DETAIL=OFF
  -D CAROM_BUILD_CUDA=OFF -D CAROM_BUILD_BENCHMARKS=OFF)
# Tests of the tree, its pages and packages are the same in every build, so scripts/test.sh alone runs
# them; programs that use carom as others would are built there by clang++ and in the optimised build
# by g++. Without exceptions every public header is read by itself, and the tests at compile time hold.
options=(-D CAROM_TEST_TREE=OFF)

table=()
faults=0
export CXX=${CXX:-g++}
for preset in debug release no_exceptions; do
  say "preset $preset"
  begin=$SECONDS
  log=build/matrix-$preset.log
  only=()
  [ "$preset" != debug ] || only=("${debug_options[@]}")
  [ "$preset" != release ] || only=("${release_options[@]}")
  if run_preset "$preset" "${options[@]}" "${only[@]}" 2>&1 | tee "$log"; then
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
check tidy scripts/check_tidy.sh --quick
# scripts/test.sh runs all tests of the package, but does not install torch.
check torch scripts/python.sh --need-torch -k "torch or throw or puck"
check reproducible cmake -D WORK_DIR="$PWD/build/reproducible" -D EIGENS=/usr/include/eigen3 \
  -P tests/bits/compare.cmake

say "summary"
printf '%s\n' "${table[@]}"
exit "$((faults > 0))"
