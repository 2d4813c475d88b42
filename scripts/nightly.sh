#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The hostile builds that take hours: many compilers, standards, warnings and flags; sanitizers and
# valgrind; fuzzing; coverage. All rows run, even if one fails; logs are in build/nightly/, and the
# table at the end and the exit status say which passed.
#   scripts/nightly.sh [--list] [ROW...]      all rows, or those named
#   FUZZ_MINUTES=60 scripts/nightly.sh fuzz   how long each fuzz target runs; the default is 3
#   MUTANTS=500 scripts/nightly.sh mutation   how many changes are tried; the default is 25
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

rows=(sanitizers standards no_exceptions tidy headers consumers optimisation architectures release threads device budgets peers simulators
  valgrind fuzz differences coverage mutation site)
describe() {
  case $1 in
    sanitizers) echo "all tests, examples and the program under the address and undefined-behaviour sanitizers" ;;
    standards) echo "g++, clang 14 and 19, C++20 and 23, all headers and faces, many warnings as errors" ;;
    no_exceptions) echo "the same compilers with -fno-exceptions -fno-rtti" ;;
    tidy) echo "clang-tidy over all headers and programs" ;;
    headers) echo "each header by itself, by g++, without exceptions" ;;
    consumers) echo "small programs: hostile macros, units with unlike flags, nvcc where it is installed" ;;
    optimisation) echo "tests of three rooms at -O0, -O1, -O2 and -O3 -march=native, by g++ and clang 19; equal bits" ;;
    architectures) echo "the golden bits and the tests of some rooms on other processors and Windows, emulated" ;;
    release) echo "the preset release with benchmarks, the tests of all rooms and carom_batch for CUDA, by g++" ;;
    threads) echo "islands and batches on threads under the thread sanitizer" ;;
    device) echo "all kernels for graphics processors, by nvcc" ;;
    budgets) echo "what carom costs a user's compiler, for reading: budgets hold for an idle machine" ;;
    peers) echo "the adapters of Pinocchio and of MuJoCo 4, which come as wheels" ;;
    simulators) echo "carom in Python beside the wheels of MuJoCo, Newton and Pinocchio" ;;
    valgrind) echo "memcheck on each command of the program, and on what the fuzz targets have kept" ;;
    fuzz) echo "each libFuzzer target for FUZZ_MINUTES" ;;
    differences) echo "the program and the Python package on the same problems; equal bits" ;;
    coverage) echo "lines and branches of include/carom that the tests take; docs/coverage.md lists the others" ;;
    mutation) echo "changes of the headers drawn at random: how many of MUTANTS the tests notice" ;;
    site) echo "the documentation site: every link, and pages in a browser" ;;
    *) return 1 ;;
  esac
}

out=build/nightly
jobs=$(nproc)
fuzz_minutes=${FUZZ_MINUTES:-3}
eigen=${EIGEN_INCLUDE:-/usr/include/eigen3}
remark=""

# The warnings of each compiler beyond -Wall -Wextra.
common=(-Wall -Wextra -Wpedantic -Werror -Wconversion -Wsign-conversion -Wfloat-conversion
  -Wdouble-promotion -Wshadow -Wold-style-cast -Wcast-qual -Wcast-align -Wnon-virtual-dtor
  -Woverloaded-virtual -Wformat=2 -Wnull-dereference -Wundef -Wextra-semi -Wredundant-decls
  -Wmissing-declarations -Wunused -Wzero-as-null-pointer-constant)
only_gcc=(-Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wsuggest-override -Wvla
  -Wcomma-subscript -Wdeprecated-copy-dtor -Wcast-align=strict -Wtrampolines)
# All warnings of clang, except those against C++ from before 20, and:
#   padded, unsafe-buffer-usage*     layout and pointers are as meant
#   float-equal                      comparisons with zero and of copied numbers are exact
#   switch-default                   an enum's cases are complete, and covered-switch-default is on
#   documentation*                   it does not know `@param a, b`
#   used-but-marked-unused           of Eigen's functions
#   unknown-warning-option           names that one of the versions does not have
only_clang=(-Weverything -Wno-unknown-warning-option -Wno-c++98-compat -Wno-c++98-compat-pedantic
  -Wno-c++98-c++11-compat -Wno-c++98-c++11-c++14-compat -Wno-c++98-compat-local-type-template-args
  -Wno-pre-c++14-compat -Wno-pre-c++17-compat -Wno-pre-c++20-compat
  -Wno-pre-c++20-compat-pedantic -Wno-c++20-compat -Wno-padded -Wno-unsafe-buffer-usage
  -Wno-unsafe-buffer-usage-in-container -Wno-float-equal -Wno-switch-default -Wno-documentation
  -Wno-documentation-unknown-command -Wno-used-but-marked-unused)

# Compilers that are installed; at least one must be.
compilers() {
  local name
  for name in g++ clang++-14 clang++-19; do command -v "$name" || true; done
}

# front_end <compiler> <standard> <flag...>: reads tests/nightly/every_face.cpp without making code.
front_end() {
  local compiler=$1 standard=$2
  shift 2
  printf '%-12s -std=%s %s\n' "$(basename "$compiler")" "$standard" "${*//-W*/}"
  "$compiler" "-std=$standard" -fsyntax-only -Iinclude -Iexamples -Iapps -isystem "$eigen" "$@" \
    tests/nightly/every_face.cpp
}

row_standards() {
  local compiler standard faults=0 count=0
  for compiler in $(compilers); do
    local warnings=("${only_clang[@]}")
    [[ $compiler == *clang* ]] || warnings=("${only_gcc[@]}")
    for standard in c++20 c++2b; do
      count=$((count + 1))
      front_end "$compiler" "$standard" "${common[@]}" "${warnings[@]}" || faults=$((faults + 1))
    done
  done
  remark="$count of compiler and standard, $faults refused"
  [ "$count" -gt 0 ] && [ "$faults" = 0 ]
}

row_no_exceptions() {
  local compiler faults=0 count=0
  for compiler in $(compilers); do
    count=$((count + 1))
    front_end "$compiler" c++20 -Wall -Wextra -Werror -fno-exceptions -fno-rtti ||
      faults=$((faults + 1))
  done
  remark="$count compilers, $faults refused"
  [ "$count" -gt 0 ] && [ "$faults" = 0 ]
}

# configure <folder> <option...>: tests and program, without what the row does not need.
configure() {
  local folder=$out/$1
  shift
  cmake -S . -B "$folder" -G Ninja -DCMAKE_CXX_EXTENSIONS=OFF -DCAROM_BUILD_EXAMPLES=OFF \
    -DCMAKE_COMPILE_WARNING_AS_ERROR=ON "$@"
}

# tests_of <folder> <ctest argument...>: runs tests and leaves their count as the remark.
tests_of() {
  local folder=$out/$1 log=$out/ctest.log
  shift
  ctest --test-dir "$folder" --output-on-failure --no-tests=error "$@" 2>&1 | tee "$log"
  local status=${PIPESTATUS[0]}
  remark="$remark$(grep -oE '[0-9]+ tests failed out of [0-9]+' "$log" || true) "
  return "$status"
}

# with_tool <tool> <command...>: a row passes, with a remark, where its command lacks the tool (77).
with_tool() {
  local tool=$1 outcome=0
  shift
  "$@" || outcome=$?
  [ "$outcome" != 77 ] || remark="$tool is not installed"
  [ "$outcome" = 0 ] || [ "$outcome" = 77 ]
}

row_tidy() { with_tool "clang-tidy 14" scripts/check_tidy.sh; }

row_headers() {
  CXX=g++ cmake --preset no_exceptions -B "$out/headers" -D CAROM_CHECK_DETAIL_HEADERS=ON &&
    cmake --build "$out/headers" --parallel "$jobs" --target all_verify_interface_header_sets
}

row_consumers() {
  configure consumers -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS=-O0 &&
    cmake --build "$out/consumers" --target carom_consumers --parallel "$jobs" &&
    tests_of consumers -R '^consumers\.'
}

row_optimisation() {
  local compiler flags faults=0
  for compiler in g++ clang++-19; do
    command -v "$compiler" || continue
    for flags in -O0 -O1 -O2 "-O3 -march=native"; do
      local name="${compiler%%+*}_${flags//[^A-Za-z0-9]/_}"
      configure "$name" "-DCMAKE_CXX_COMPILER=$compiler" -DCMAKE_BUILD_TYPE=None \
        "-DCMAKE_CXX_FLAGS=$flags" &&
        cmake --build "$out/$name" --parallel "$jobs" \
          --target carom_cones_tests carom_linalg_tests carom_impact_tests &&
        tests_of "$name" -R '^(cones|linalg|impact)(\.|$)' || faults=$((faults + 1))
    done
  done
  cmake -D WORK_DIR="$out/reproducible" -D EIGENS="$eigen" -D WHOLE=ON \
    -P tests/bits/compare.cmake || faults=$((faults + 1))
  [ "$faults" = 0 ]
}

row_architectures() { scripts/architectures.sh --tests; }

row_sanitizers() {
  cmake --preset debug -B "$out/sanitizers" && cmake --build "$out/sanitizers" --parallel "$jobs" &&
    tests_of sanitizers
}

row_release() {
  CXX=g++ cmake --preset release -B "$out/release" -D CAROM_TEST_SLOW=ON \
    -D CAROM_BUILD_CUDA=ON -D CAROM_BUILD_BENCHMARKS=ON &&
    cmake --build "$out/release" --parallel "$jobs" &&
    tests_of release
}

row_threads() {
  configure threads -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=None -DCAROM_BUILD_EXAMPLES=ON \
    "-DCMAKE_CXX_FLAGS=-O1 -g1 -fsanitize=thread" &&
    cmake --build "$out/threads" --parallel "$jobs" \
      --target example_02_islands_in_parallel carom_solvers_tests carom_batch_tests carom_stress_tests &&
    TSAN_OPTIONS=halt_on_error=1 "$out"/threads/bin/carom_solvers_tests \
      "sap: the result is the same to the last bit whoever runs the islands*,coulomb newton: islands on threads*,*same bits*" &&
    TSAN_OPTIONS=halt_on_error=1 "$out"/threads/bin/carom_batch_tests "*threads*" &&
    TSAN_OPTIONS=halt_on_error=1 "$out"/threads/bin/carom_stress_tests &&
    TSAN_OPTIONS=halt_on_error=1 "$out"/threads/bin/example_02_islands_in_parallel
}

row_device() { with_tool nvcc scripts/device.sh; }

row_budgets() { scripts/compile_budget.py --runs 1; }

# Without a network there is no wheel, which costs the row nothing but its remark.
row_peers() {
  benchmarks/board/install_peers.py --environment build/peers pin mujoco ||
    { remark="pin or mujoco does not install"; return 0; }
  configure peers -DCMAKE_BUILD_TYPE=Release -DCAROM_BUILD_EXAMPLES=ON -DCAROM_BUILD_ADAPTERS=ON \
    "-DCAROM_PEERS_DIR=$PWD/build/peers" &&
    cmake --build "$out/peers" --parallel "$jobs" --target carom_adapter_pinocchio_tests \
      carom_engines_pinocchio_robots carom_engines_pinocchio_admm carom_adapter_mujoco_tests \
      carom_engines_mujoco_gripper carom_engines_mujoco_humanoid \
      carom_engines_slope_in_three_engines &&
    tests_of peers -R 'pinocchio|mujoco|slope'
}

row_simulators() {
  local python=build/python-tests/bin/python folder=$PWD/$out/simulators
  scripts/python.sh -k test_many_at_once
  "$python" -m pip install --quiet --disable-pip-version-check --upgrade --target "$folder" mujoco newton pin
  (cd python/tests && PYTHONPATH=$folder "$OLDPWD/$python" -m pytest -q -p no:cacheprovider \
    test_mujoco.py test_newton.py test_pinocchio.py test_answers.py)
}

# memcheck <argument...>: one command of the program; exit status 3 says that a solver stopped short.
memcheck() {
  local status=0
  echo "carom $*"
  valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
    "$out/valgrind/bin/carom" "$@" >/dev/null || status=$?
  [ "$status" -lt 99 ]
}

row_valgrind() {
  configure valgrind -DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_FLAGS=-O1 -g1" -DCAROM_BUILD_TESTS=OFF \
    -DCAROM_BUILD_EXAMPLES=ON && cmake --build "$out/valgrind" --parallel "$jobs" --target carom_cli || return
  local file solver method count=0 faults=0 data=examples/data
  local -a calls=()
  for file in fuzz/corpus/{impact,project,simulate,viscoelastic}/*.json; do
    calls+=("$(basename "$(dirname "$file")") $file --json")
  done
  for method in convex radial stick; do
    calls+=("viscoelastic fuzz/corpus/viscoelastic/slide.json --method $method")
  done
  calls+=("impact fuzz/corpus/impact/wide.json --order all")
  for file in pile_n1_s30 pile_n10_s60 constraints/arm_and_boxes; do
    calls+=("solve $data/$file.txt --json" "solve $data/$file.txt --law coulomb")
  done
  for solver in newton gauss_seidel admm apgd; do
    calls+=("solve $data/fclib/FC3D_Example1.cpf --solver $solver")
  done
  calls+=("solve fuzz/corpus/fclib_reader/one_contact.hdf5" "solve $data/README.md")
  local call words
  for call in "${calls[@]}"; do
    read -ra words <<<"$call"
    count=$((count + 1))
    memcheck "${words[@]}" || faults=$((faults + 1))
  done
  remark="$count commands, $faults at fault"
  row_valgrind_fuzz && [ "$faults" = 0 ]
}

# memcheck_of_target <program> <name>: the seeds of a fuzz target, and up to 200 inputs that a search
# has kept, in a build without sanitizers. Uninitialised memory shows here, as it would under
# MemorySanitizer, for which Debian has no C++ library.
memcheck_of_target() {
  local folder=$out/valgrind_fuzz/fuzz
  local -a inputs=("$folder/corpus/$2"/*)
  [ ! -d "$out/found/$2" ] || mapfile -t -O "${#inputs[@]}" inputs < <(find "$out/found/$2" -type f | sort | head -n 200)
  [ -e "${inputs[0]}" ] || inputs=(/dev/null)
  echo "$1 on ${#inputs[@]} inputs"
  valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect \
    "$folder/$1" "${inputs[@]}" >/dev/null
}

row_valgrind_fuzz() {
  local program name most faults=0 count=0
  configure valgrind_fuzz -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=None -DCAROM_BUILD_TESTS=OFF \
    -DCAROM_FUZZ=ON -DCAROM_FUZZ_SANITIZERS= &&
    cmake --build "$out/valgrind_fuzz" --parallel "$jobs" || return
  while read -r program name most; do
    count=$((count + 1))
    memcheck_of_target "$program" "$name" || faults=$((faults + 1))
  done <"$out/valgrind_fuzz/fuzz/targets.txt"
  remark="$remark, $count fuzz targets, $faults at fault"
  [ "$faults" = 0 ]
}

# in_hdf5 <log>: whether what stopped a target happened inside the HDF5 library, which damaged files
# can bring down: it is met on the stack before anything of carom.
in_hdf5() {
  [ "$(grep -E '^ +#[0-9]+ 0x' "$1" | grep -m1 -oE 'libhdf5|carom::')" = libhdf5 ]
}

row_fuzz() {
  local folder=$out/fuzz program name most faults=0 done=0 log
  configure fuzz -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=None -DCAROM_BUILD_TESTS=OFF \
    -DCAROM_FUZZ=ON && cmake --build "$folder" --parallel "$jobs" || return
  while read -r program name most; do
    log=$out/fuzz-$name.log
    echo "== $name, $fuzz_minutes min"
    mkdir -p "$out/found/$name"
    "$folder/fuzz/$program" -max_total_time=$((60 * fuzz_minutes)) -max_len="$most" -timeout=120 \
      -rss_limit_mb=4000 -print_final_stats=1 -artifact_prefix="$out/$name-" "$out/found/$name" \
      "$folder/fuzz/corpus/$name" >"$log" 2>&1 || in_hdf5 "$log" || faults=$((faults + 1))
    tail -n 12 "$log"
    # The corpus stays small: inputs that reach nothing new of their own are dropped.
    mkdir -p "$out/kept/$name"
    "$folder/fuzz/$program" -merge=1 -max_len="$most" "$out/kept/$name" "$out/found/$name" \
      >>"$log" 2>&1 || true
    rm -r "$out/found/$name" && mv "$out/kept/$name" "$out/found/$name"
    done=$((done + 1))
  done <"$folder/fuzz/targets.txt"
  remark="$done targets for $fuzz_minutes min each, $faults found something"
  [ "$faults" = 0 ]
}

row_differences() {
  local python=build/python-tests/bin/python log=$out/differences.txt
  scripts/python.sh -k test_package || return
  "$python" fuzz/python_difference.py build/python-tests/bin/carom --seeds 0 2000 --seconds $((120 * fuzz_minutes)) |
    tee "$log"
  local status=${PIPESTATUS[0]}
  remark=$(tail -n 1 "$log")
  return "$status"
}

# Only the figures count here; other rows judge the tests. Rooms share one profile for lines and
# functions, and have one each for branches, which scripts/branches.py puts together.
row_coverage() {
  local tools room programs=() binaries=() rooms=(core linalg cones contact solvers impact viscoelastic variational batch scenes)
  local folder=$out/coverage
  tools=$(dirname "$(readlink -f "$(command -v clang++)")")
  configure coverage "-DCMAKE_PROJECT_INCLUDE=$PWD/tests/nightly/mapped_headers.cmake" -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
    "-DCMAKE_CXX_FLAGS=-fprofile-instr-generate -fcoverage-mapping" -DCAROM_TEST_TREE=OFF \
    "-DCAROM_TEST_ROOMS=$(IFS=\;; echo "${rooms[*]}")" || return
  for room in "${rooms[@]}"; do programs+=("carom_${room}_tests"); done
  cmake --build "$folder" --parallel "$jobs" --target "${programs[@]}" || return
  mkdir -p "$folder/profiles"
  for room in "${rooms[@]}"; do
    LLVM_PROFILE_FILE="$folder/profiles/$room.raw" "$folder/bin/carom_${room}_tests" || true
    "$tools/llvm-profdata" merge -sparse "$folder/profiles/$room.raw" -o "$folder/profiles/$room.data" || return
    "$tools/llvm-cov" export "-instr-profile=$folder/profiles/$room.data" "$folder/bin/carom_${room}_tests" \
      >"$folder/profiles/$room.json" || return
    binaries+=(-object "$folder/bin/carom_${room}_tests")
  done
  "$tools/llvm-profdata" merge -sparse "$folder"/profiles/*.data -o "$folder/all.data" || return
  local shown=("-instr-profile=$folder/all.data" "${binaries[@]}" include/carom)
  "$tools/llvm-cov" report "${shown[@]}" >"$out/coverage.txt" || return
  "$tools/llvm-cov" show -format=html "-output-dir=$out/coverage.html" -show-branches=count "${shown[@]}" || return
  local outcome=0
  scripts/branches.py "$folder"/profiles/*.json --output "$out/branches.txt" --listed docs/coverage.md || outcome=$?
  remark="lines $(awk '$1 == "TOTAL" { print $10 }' "$out/coverage.txt"), branches $(awk '$1 == "all" { print $4 }' "$out/branches.txt") %"
  return "$outcome"
}

# A survivor is no fault of the row: it is looked at, and often means the same program.
row_mutation() {
  local folder=$out/mutants python=$out/mutants/python/bin/python
  python3 -m venv "$out/mutants/python" &&
    "$python" -m pip install --quiet --disable-pip-version-check libclang==14.0.6 ||
    { remark="libclang does not install"; return 0; }
  "$python" tests/nightly/mutants_test.py &&
    "$python" scripts/mutants.py --count "${MUTANTS:-25}" --seed "${MUTANT_SEED:-1}" --folder "$folder" || return
  remark=$(sed -n 's/^all  */mutants, killed, share, not reached: /p' "$folder/report.txt" | head -1)
}

row_site() {
  local outcome=0
  scripts/site.sh || outcome=$?
  [ "$outcome" != 77 ] || remark="PyPI cannot be reached"
  [ "$outcome" = 0 ] || [ "$outcome" = 77 ]
}

case "${1:-}" in
  --list)
    for row in "${rows[@]}"; do printf '%-14s %s\n' "$row" "$(describe "$row")"; done
    exit 0
    ;;
  -*) fail "unknown option '$1'; usage: scripts/nightly.sh [--list] [ROW...]" ;;
esac
for row in "$@"; do describe "$row" >/dev/null || fail "unknown row '$row'; --list names them"; done
[ $# = 0 ] || rows=("$@")
mkdir -p "$out" 2>/dev/null || fail "cannot write to $PWD"

say "packages"
install_packages demo test nightly
need_cmake

table=()
faults=0
for row in "${rows[@]}"; do
  say "$row: $(describe "$row")"
  begin=$SECONDS
  remark=""
  # The row writes its log itself, so that it runs in this shell and its remark stays.
  if "row_$row" > >(tee "$out/$row.log") 2>&1; then outcome=passed; else
    outcome=FAILED
    faults=$((faults + 1))
  fi
  table+=("$(printf '%-14s %-7s %5d s  %s' "$row" "$outcome" $((SECONDS - begin)) "$remark")")
done

say "summary (logs: $out)"
printf '%s\n' "${table[@]}"
exit "$((faults > 0))"
