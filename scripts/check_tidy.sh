#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs clang-tidy over all headers and over the programs. Most of its time goes into Eigen and the
# standard library, so sources share units: one includes every header, others are the compiled
# library, the sources of the carom program, the numbered examples; adapters are read one by one.
# main.cpp is a unit of its own, because performance-unnecessary-value-param searches the whole unit
# for every function of CLI11, which would take half of the time of a larger unit. Units whose text,
# headers and settings passed before are not read again. Other versions of clang-tidy know other
# checks, so without version 14 the check is skipped (status 77).
# --quick leaves out the static analyzer, which takes most of the time.
#   scripts/check_tidy.sh [--quick] [<folder for results> [<folder of Eigen>]]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

tidy=$(find_clang_tool clang-tidy) || {
  echo "skipped: clang-tidy 14 is not installed"
  exit 77
}
checks=()
if [ "${1:-}" = --quick ]; then
  shift
  checks=("--checks=-clang-analyzer-*")
fi
results=${1:-build/tidy}
eigen=${2:-/usr/include/eigen3}
mkdir -p "$results"

units=()
# add_unit <name> <source...>: makes a unit of their texts one after the other, because the analyzer
# does not follow the paths of included ones; <name>.starts says on which line each begins. A source
# with a main() is put into a namespace, which opens on the empty line after its last #include.
add_unit() {
  local unit=$results/$1.cpp source last
  : >"$unit"
  : >"$results/$1.starts"
  shift
  for source in "$@"; do
    echo "$(($(wc -l <"$unit") + 1)) $source" >>"${unit%.cpp}.starts"
    if grep -q '^int main(' "$source"; then
      last=$(grep -n '^#include' "$source" | tail -n 1 | cut -d : -f 1)
      sed "$((last + 1))s/^$/namespace program_$(basename "$source" .cpp) {/; \$a }" "$source" >>"$unit"
    else
      cat "$source" >>"$unit"
    fi
  done
  units+=("$unit")
}
mapfile -t program < <(find apps/cli apps/io -name '*.cpp' ! -name main.cpp | sort)
mapfile -t compiled < <(find src -name '*.cpp' | sort)
mapfile -t numbered < <(find examples -maxdepth 1 -name '*.cpp' | sort)
headers=$results/all_headers.cpp
find include -name '*.hpp' ! -path '*/adapters/*' | sort | sed 's|^include/\(.*\)$|#include "\1"|' >"$headers"
add_unit program "${program[@]}"
add_unit compiled "${compiled[@]}"
add_unit examples "${numbered[@]}"
units+=("$headers" apps/cli/main.cpp)
# Adapters are read where their engines are installed.
for engine in bullet/btBulletDynamicsCommon.h mujoco/mujoco.h dart/dart.hpp; do
  adapter=include/carom/adapters/${engine%%/*}.hpp
  if [ -f "$adapter" ] && [ -f "/usr/include/$engine" ]; then
    echo "#include \"${adapter#include/}\"" >"$results/adapter_${engine%%/*}.cpp"
    units+=("$results/adapter_${engine%%/*}.cpp")
  fi
done

shared=$(find include src examples apps benchmarks -name '*.hpp' -print0 | sort -z | xargs -0 cat .clang-tidy | sha256sum)

flags=(-std=c++20 -Iinclude -Iexamples -Iapps -Ibenchmarks -isystem "$eigen"
  '-DCAROM_CLI_VERSION="0"' '-DCAROM_RESOURCES="../share/carom"' -DCAROM_COMPILED_SCALAR=double)
[ ! -d /usr/include/bullet ] || flags+=(-isystem /usr/include/bullet)
# Solvers are read where they are compiled, once.
flags+=(-include carom/compiled.hpp)
if [ -f /usr/include/hdf5/serial/hdf5.h ]; then
  flags+=(-DCAROM_WITH_HDF5 -isystem /usr/include/hdf5/serial)
fi

# show <unit>: prints the messages of clang-tidy and the compiler with the names and lines of sources.
show() {
  local starts=${1%.cpp}.starts log
  log=$results/$(basename "$1" .cpp).log
  [ -f "$starts" ] || starts=/dev/null
  awk -v unit="$1:" -v starts="$starts" '
    BEGIN { while ((getline line <starts) > 0) { split(line, f, " "); first[++n] = f[1]; name[n] = f[2] } }
    n && (at = index($0, unit)) {
      rest = substr($0, at + length(unit))
      for (k = n; k > 1 && first[k] > rest + 0;) k--
      $0 = name[k] ":" rest + 1 - first[k] substr(rest, index(rest, ":"))
    }
    { print }' "$log"
}

check() {
  local unit=$1 passed
  passed=$results/$( (echo "$shared ${checks[*]}" && cat "$unit") | sha256sum | cut -d ' ' -f 1).passed
  [ -f "$passed" ] && return 0
  if "$tidy" --quiet --config-file=.clang-tidy "${checks[@]}" "$unit" -- "${flags[@]}" \
    >"$results/$(basename "$unit" .cpp).log" 2>&1; then
    touch "$passed"
  else
    show "$unit"
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
