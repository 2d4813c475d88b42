#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Other processors and Windows, on this machine: builds the program of tests/bits by Debian's cross
# compilers and runs it by qemu, Wine or itself; its hashes must be those of tests/bits/golden.txt. With
# --tests also the tests of rooms that need no more than Eigen, Boost and Catch2.
#   scripts/architectures.sh [--tests] [NAME...]    all, or those named
#   scripts/architectures.sh --list
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

# name, prefix of the compiler, emulator, flags. s390x stores the highest byte first; i386 is asked
# for the registers of SSE2, since those of x87 have more digits than double; x86-64 runs it itself,
# since a program of eight threads never ends in qemu-i386 7.2.
architectures='
aarch64     aarch64-linux-gnu       qemu-aarch64-static  -O1
riscv64     riscv64-linux-gnu       qemu-riscv64-static  -O1
ppc64le     powerpc64le-linux-gnu   qemu-ppc64le-static  -O1
s390x       s390x-linux-gnu         qemu-s390x-static    -O1
armhf       arm-linux-gnueabihf     qemu-arm-static      -O1 -Wno-psabi
i386        i686-linux-gnu          native               -O1 -msse2 -mfpmath=sse -Wno-psabi
windows     x86_64-w64-mingw32      wine                 -O1 -static
'
rooms=${ROOMS:-core linalg cones contact impact}
with_tests=""
names=()
for word in "$@"; do
  case $word in
    --list) awk 'NF { print $1 }' <<<"$architectures"; exit 0 ;;
    --tests) with_tests=1 ;;
    -*) fail "unknown option '$word'; usage: scripts/architectures.sh [--list] [--tests] [NAME...]" ;;
    *)
      grep -q "^$word " <<<"$architectures" || fail "unknown architecture '$word'; --list names them"
      names+=("$word")
      ;;
  esac
done
mkdir -p build 2>/dev/null || fail "cannot write to $PWD"
say "packages"
install_packages demo test architectures
need_cmake
eigen=${EIGEN_INCLUDE:-/usr/include/eigen3}
out=$PWD/build/architectures

# Headers that all systems share, in a folder of their own: /usr/include would bring the headers of
# this system's C library with them.
stage=$out/stage
mkdir -p "$stage/include"
for folder in eigen3 catch2 boost; do ln -sfn "/usr/include/$folder" "$stage/include/$folder"; done

# catch2_for <folder> <compiler> <flags>: Debian's CMake package of Catch2 with a main program of the
# other system, since the installed one is of this system.
catch2_for() {
  local folder=$1 compiler=$2 flags
  read -ra flags <<<"$3"
  mkdir -p "$folder/include" "$folder/lib/cmake" &&
    ln -sfn /usr/include/catch2 "$folder/include/catch2" &&
    cp -r /usr/lib/cmake/Catch2 "$folder/lib/cmake/" &&
    echo '#include <catch2/catch.hpp>' |
    "$compiler" "${flags[@]}" -DCATCH_CONFIG_MAIN -I "$folder/include" -x c++ -c - -o "$folder/main.o" &&
    "${compiler/g++/gcc-ar}" rcs "$folder/lib/libCatch2WithMain.a" "$folder/main.o"
}

# tests_of <name> <compiler> <runner> <flags>: configures for the other system, builds and runs tests.
# Rooms of many tests have one entry per file, named room.file.
tests_of() {
  local name=$1 compiler=$2 runner=$3 flags=$4 system=Linux room targets=()
  [ "$name" != windows ] || system=Windows
  for room in $rooms; do targets+=("carom_${room}_tests"); done
  catch2_for "$out/$name/catch2" "$compiler" "$flags" &&
    cmake -S . -B "$out/$name" -G Ninja -DCMAKE_SYSTEM_NAME="$system" -DCMAKE_SYSTEM_PROCESSOR="$name" \
      "-DCMAKE_CXX_COMPILER=$compiler" "-DCMAKE_CROSSCOMPILING_EMULATOR=${runner// /;}" \
      -DCMAKE_BUILD_TYPE=None "-DCMAKE_CXX_FLAGS=$flags" -DCMAKE_CXX_EXTENSIONS=OFF \
      -DEigen3_DIR=/usr/share/eigen3/cmake "-DCatch2_DIR=$out/$name/catch2/lib/cmake/Catch2" \
      "-DCAROM_BOOST_INCLUDE_DIR=$stage/include" -DCAROM_HDF5_LIBRARY=OFF \
      "-DCAROM_TEST_ROOMS=${rooms// /;}" -DCAROM_TEST_TREE=OFF -DCAROM_BUILD_EXAMPLES=OFF \
      -DCAROM_BUILD_PROGRAM=OFF -DCAROM_BUILD_CUDA=OFF -DCAROM_BUILD_TESTS=ON &&
    cmake --build "$out/$name" --parallel "$(nproc)" --target "${targets[@]}" &&
    ctest --test-dir "$out/$name" --output-on-failure --no-tests=error -R "^(${rooms// /|})(\.|$)"
}

table=()
faults=0
while read -r name prefix emulator flags; do
  [ -n "$name" ] || continue
  [ ${#names[@]} = 0 ] || [[ " ${names[*]} " == *" $name "* ]] || continue
  say "$name"
  begin=$SECONDS
  compiler=$prefix-g++
  [ "$name" != windows ] || compiler=$prefix-g++-posix
  runner=$emulator
  [[ $emulator != qemu-* ]] || runner="$emulator -L /usr/$prefix"
  [ "$emulator" != native ] || runner="/usr/$prefix/lib/ld-linux.so.2 --library-path /usr/$prefix/lib"
  outcome=passed
  cmake -D WORK_DIR="$out/bits/$name" -D EIGENS="$stage/include/eigen3" -D COMPILERS="$compiler" \
    -D "FLAGS=$flags" -D "RUN=$runner" -P tests/bits/compare.cmake || outcome=FAILED
  if [ -n "$with_tests" ]; then
    tests_of "$name" "$compiler" "$runner" "$flags" || outcome=FAILED
  fi
  [ "$outcome" = passed ] || faults=$((faults + 1))
  table+=("$(printf '%-10s %-7s %5d s' "$name" "$outcome" $((SECONDS - begin)))")
done <<<"$architectures"
say "summary"
printf '%s\n' "${table[@]}"
exit "$((faults > 0))"
