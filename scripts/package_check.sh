#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the Debian package, installs it in a fresh minimal Debian of each suite named (bookworm if none
# is), and builds and runs a consumer there by CMake, by pkg-config and with carom_all.hpp. It checks
# that the suite has the packages of scripts/packages.txt, and that nothing remains after the package
# is removed. With --lintian Debian's own checker reads the package; with --tests the compile-time
# tests are built there, and a test program with the suite's Catch2. It needs root, debootstrap, cmake,
# ninja, g++ and python3. Systems come from the mirror that this machine's apt uses, or $MIRROR.
#   [MIRROR=<url>] scripts/package_check.sh [--lintian] [--tests] [<suite>...]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

lintian=no tests=no suites=()
for argument in "$@"; do
  case $argument in
    --lintian) lintian=yes ;;
    --tests) tests=yes ;;
    -*) fail "unknown argument '$argument'" ;;
    *) suites+=("$argument") ;;
  esac
done
[ ${#suites[@]} -gt 0 ] || suites=(bookworm)
[ "$(id -u)" = 0 ] || fail "needs root, to install in a system of its own"
command -v debootstrap >/dev/null || fail "needs debootstrap"
mirror=$(first_mirror)

work=$PWD/build/package
mkdir -p "$work"
say "the package"
cmake -S . -B "$work/tree" -DCAROM_BUILD_TESTS=OFF -DCAROM_BUILD_EXAMPLES=OFF -DCAROM_SINGLE_HEADER=ON \
  >"$work/configure.log"
cmake --build "$work/tree" >"$work/build.log"
rm -f "$work"/tree/*.deb
(cd "$work/tree" && cpack) >"$work/cpack.log"
deb=("$work"/tree/*.deb)
dpkg-deb --info "${deb[0]}" | sed -n 's/^ \(Package\|Version\|Architecture\|Depends\):/\0/p'

# Every need of packages.txt has a package in the suite.
check_names() {
  local root=$1 group need name missing=0
  while read -r group need _; do
    for name in ${need//|/ }; do
      if inside "$root" apt-cache show --no-all-versions "$name" >/dev/null 2>&1; then continue 2; fi
    done
    echo "  $group: no $need"
    missing=$((missing + 1))
  done < <(sed 's/#.*//; /^[[:space:]]*$/d' scripts/packages.txt)
  echo "  packages.txt: $missing needs without a package"
  return "$((missing > 0))"
}

# What a user does, run inside the system; -i: only the package's own dependencies are there at first.
consume='set -eu
apt-get install -y --no-install-recommends /tmp/carom/*.deb
! command -v g++
apt-get install -y --no-install-recommends g++ cmake make pkg-config
cd /tmp/carom
cmake -S find_package -B by_cmake
cmake --build by_cmake
by_cmake/consumer
g++ -std=c++20 -Wall -Wextra -Werror $(pkg-config --cflags carom) main.cpp -o by_pkg_config
./by_pkg_config
echo "#include <carom_all.hpp>" >by_one_header.cpp
sed "/#include/d" main.cpp >>by_one_header.cpp
g++ -std=c++20 -Wall -Wextra -Werror $(pkg-config --cflags carom) by_one_header.cpp -o by_one_header
./by_one_header'

# Configured by CMake with the suite's Catch2 and Eigen; the test program is compiled directly, without
# the compiled solvers, which nothing in it uses.
test_there='set -eu
apt-get install -y --no-install-recommends ninja-build catch2 libboost-dev python3 nlohmann-json3-dev libcli11-dev
cd /tmp/carom/source
cmake -S . -B /tmp/carom/tests -G Ninja -DCAROM_BUILD_EXAMPLES=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
cmake --build /tmp/carom/tests --target carom_static_tests
libraries=$(find /usr/lib -name "libCatch2*.a" | sort -r | tr "\n" " ")
g++ -std=c++20 -O1 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iinclude -Itests -Iexamples -Iapps \
  -isystem /usr/include/eigen3 tests/core/version_test.cpp tests/core/expects_test.cpp \
  tests/core/scalar_test.cpp tests/cones/friction_cone_test.cpp tests/linalg/detail/cholesky_test.cpp \
  $libraries -o /tmp/carom/tests/some_tests
/tmp/carom/tests/some_tests'

# step <log> <what> <command...>: runs a command and prints a line of the table.
step() {
  local log=$1 what=$2
  shift 2
  if "$@" >>"$log" 2>&1; then echo "  $what: passed"; else
    echo "  $what: FAILED, see $log"
    faults=$((faults + 1))
  fi
}

faults=0
for suite in "${suites[@]}"; do
  say "$suite"
  root=$work/$suite log=$work/$suite.log
  rm -rf "$root"
  debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$log" 2>&1 ||
    fail "cannot make a system of $suite from $mirror, see $log"
  mkdir -p "$root/tmp/carom/source"
  # Lists of testing and unstable expire in days; a mirror may be a snapshot.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/snapshot"
  cp "${deb[0]}" tests/consumers/main.cpp "$root/tmp/carom"
  cp -r tests/consumers/find_package "$root/tmp/carom"
  sed -i 's|\.\./main.cpp|/tmp/carom/main.cpp|' "$root/tmp/carom/find_package/CMakeLists.txt"
  step "$log" "apt-get update" inside "$root" apt-get update
  check_names "$root" || faults=$((faults + 1))
  step "$log" "install and consume" inside "$root" sh -c "$consume"
  echo "  with: $(inside "$root" dpkg-query -W -f '${Package} ${Version}, ' g++ cmake libeigen3-dev libcarom-dev)"
  if [ "$tests" = yes ]; then
    tar c CMakeLists.txt CHANGELOG.md README.md LICENSE cmake docs apps examples include packaging scripts src tests |
      tar x -C "$root/tmp/carom/source"
    step "$log" "tests" inside "$root" sh -c "$test_there"
    echo "  with: $(inside "$root" dpkg-query -W -f '${Package} ${Version}, ' catch2)"
  fi
  if [ "$lintian" = yes ]; then
    step "$log" "lintian" inside "$root" sh -c 'apt-get install -y --no-install-recommends lintian &&
      lintian --allow-root --fail-on error,warning --tag-display-limit 0 --suppress-tags \
        bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs /tmp/carom/*.deb'
  fi
  step "$log" "remove" inside "$root" sh -c 'apt-get purge -y libcarom-dev &&
    ! find /usr/include /usr/share -path "*carom*" | grep .'
  rm -rf "$root"
done
exit "$((faults > 0))"
