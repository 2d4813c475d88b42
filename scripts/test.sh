#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a bare Debian or Ubuntu to the test results: installs what is missing, builds everything by
# clang++, runs all tests; the checks of structure and format are tests too. Then those of the Python
# package, unless PyPI cannot be reached. scripts/matrix.sh runs the C++ tests again under the
# sanitizers. A run on an unchanged tree repeats the last summary.
#   scripts/test.sh [--force]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

case "${1:-}" in
  '' | --force) ;;
  *) fail "unknown argument '$1'; usage: scripts/test.sh [--force]" ;;
esac
mkdir -p build 2>/dev/null || fail "cannot write to $PWD"

say "1/5 packages"
install_packages demo test
need_cmake
hash=$(tree_hash)
[ "${1:-}" = --force ] || finish_if_unchanged test build/test/build.ninja "$hash"

say "2/5 configure (preset test)"
cmake --preset test

say "3/5 build"
cmake --build --preset test --parallel "$(nproc)"

say "4/5 test"
summary=build/test.summary
ctest --preset test --parallel "$(nproc)" 2>&1 | tee build/test.log
sed -n '/tests passed/,$p' build/test.log >"$summary"

say "5/5 Python package"
outcome=0
scripts/python.sh 2>&1 | tee build/python.log || outcome=$?
case $outcome in
  0 | 77) echo "Python package: $(tail -n 1 build/python.log)" >>"$summary" ;;
  *) exit "$outcome" ;;
esac
remember test "$hash" "$summary"
