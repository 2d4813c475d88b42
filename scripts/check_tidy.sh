#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs clang-tidy over all headers and over the programs. Most of its time goes into Eigen and the
# standard library, so sources share units: one includes every header, one every experiment of the
# carom program, one its other sources. What has a main() is a unit of its own; CLI11 beside other
# sources would make performance-unnecessary-value-param, which searches the whole unit for every
# function of CLI11, half of the time. Units whose text, headers and settings passed before are not
# read again. Other versions of clang-tidy know other
# checks, so without version 14 the check is skipped (status 77).
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

units=()
# add_unit <name>: a unit that includes the files named on standard input.
add_unit() {
  sed 's|.*|#include "&"  // NOLINT(bugprone-suspicious-include)|' >"$results/$1.cpp"
  units+=("$results/$1.cpp")
}
add_unit experiments < <(find examples/cli -name '*_experiment.cpp' | sort)
add_unit commands < <(find examples/cli -name '*.cpp' ! -name '*_experiment.cpp' ! -name main.cpp | sort)
add_unit headers < <(find include -name '*.hpp' | sort)
mapfile -t programs < <(find examples -name '*.cpp' ! -path 'examples/cli/*' | sort)
units+=(examples/cli/main.cpp "${programs[@]}")

shared=$(find include examples benchmarks -name '*.hpp' -print0 | sort -z | xargs -0 cat .clang-tidy | sha256sum)

flags=(-std=c++20 -I. -Iinclude -Iexamples -Ibenchmarks -isystem "$eigen"
  '-DCAROM_CLI_VERSION="0"' '-DCAROM_DATA_DIR="examples/data"')

# The unit itself and the sources it includes.
texts_of() {
  cat "$1"
  sed -n 's|^#include "\(.*\.cpp\)".*|\1|p' "$1" | xargs -r cat
}

# A unit that passes says nothing; one that does not shows all that clang-tidy and the compiler said.
check() {
  local unit=$1 passed log
  passed=$results/$( (echo "$shared" && texts_of "$unit") | sha256sum | cut -d ' ' -f 1).passed
  log=$results/$(basename "$unit" .cpp).log
  [ -f "$passed" ] && return 0
  if "$tidy" --quiet --config-file=.clang-tidy "$unit" -- "${flags[@]}" >"$log" 2>&1; then
    touch "$passed"
  else
    cat "$log"
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
