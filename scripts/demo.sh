#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a bare Debian or Ubuntu to the page of experiments: installs what is missing, builds the
# `carom` program, runs `carom demo`. A run on an unchanged tree repeats the last summary.
#   scripts/demo.sh [--force]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

case "${1:-}" in
  '' | --force) ;;
  *) fail "unknown argument '$1'; usage: scripts/demo.sh [--force]" ;;
esac
mkdir -p build 2>/dev/null || fail "cannot write to $PWD"
page=build/demo/index.html

say "1/4 packages"
install_packages demo
need_cmake
hash=$(tree_hash)
[ "${1:-}" = --force ] || finish_if_unchanged demo "$page" "$hash"

say "2/4 configure"
cmake --preset demo

say "3/4 build the carom program"
cmake --build --preset demo

say "4/4 run the experiments"
summary=build/demo.summary
build/release/bin/carom demo --output build/demo --docs ../../docs | tee "$summary" || fail "carom demo did not finish"
[ -s "$page" ] || fail "carom demo left no page $page"
echo "The page of experiments is $PWD/$page" | tee -a "$summary"
remember demo "$hash" "$summary"
