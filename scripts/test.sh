#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a bare Debian or Ubuntu to the test results: installs what is missing, builds everything by
# clang++ with address and undefined-behaviour sanitizers, runs all tests; the checks of structure
# and format are tests too. A run on an unchanged tree repeats the last summary.
#   scripts/test.sh [--force]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

case "${1:-}" in
  '' | --force) ;;
  *) fail "unknown argument '$1'; usage: scripts/test.sh [--force]" ;;
esac
mkdir -p build 2>/dev/null || fail "cannot write to $PWD"

say "1/4 packages"
install_packages demo test
need_cmake
hash=$(tree_hash)
[ "${1:-}" = --force ] || finish_if_unchanged test build/debug/build.ninja "$hash"

say "2/4 configure (preset debug)"
cmake --preset debug

say "3/4 build"
cmake --build --preset debug --parallel "$(nproc)"

say "4/4 test"
summary=build/test.summary
ctest --preset debug --parallel "$(nproc)" 2>&1 | tee build/test.log
sed -n '/tests passed/,$p' build/test.log >"$summary"
remember test "$hash" "$summary"
