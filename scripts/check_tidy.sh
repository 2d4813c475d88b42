#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs clang-tidy over all headers (one unit that includes every one of them) and over the programs.
# Units whose text, headers and settings passed before are not read again. Other versions of
# clang-tidy know other checks, so without version 14 the check is skipped (status 77).
#   scripts/check_tidy.sh [<folder for results> [<folder of Eigen>]]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

tidy=$(find_clang_tool clang-tidy) || {
  echo "skipped: clang-tidy 14 is not installed"
  exit 77
}
results=${1:-build/tidy}
eigen=${2:-/usr/include/eigen3}
mkdir -p "$results"

all_headers=$results/all_headers.cpp
find include -name '*.hpp' | sort | sed 's|^include/\(.*\)$|#include "\1"|' >"$all_headers"
mapfile -t units < <(find examples -name '*.cpp' | sort)
units=("$all_headers" "${units[@]}")
shared=$(find include examples benchmarks -name '*.hpp' -print0 | sort -z | xargs -0 cat .clang-tidy | sha256sum)

flags=(-std=c++20 -Iinclude -Iexamples -Ibenchmarks -isystem "$eigen"
  '-DCAROM_CLI_VERSION="0"' '-DCAROM_DATA_DIR="examples/data"')

check() {
  local unit=$1 passed
  passed=$results/$( (echo "$shared" && cat "$unit") | sha256sum | cut -d ' ' -f 1).passed
  [ -f "$passed" ] && return 0
  if "$tidy" --quiet --config-file=.clang-tidy "$unit" -- "${flags[@]}" 2>/dev/null; then
    touch "$passed"
  else
    echo "$unit" >>"$results/faults"
  fi
}

# As many at once as there are processors.
: >"$results/faults"
for unit in "${units[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
  check "$unit" &
done
wait
faults=$(wc -l <"$results/faults")
sed 's/^/does not pass: /' "$results/faults"
echo "$((${#units[@]} - faults)) of ${#units[@]} units pass clang-tidy"
exit "$((faults > 0))"
