#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Python package into a virtual environment under build/, with what its tests need from
# PyPI, and runs the tests.
#   scripts/python.sh [--sanitize] [--need-torch] [arguments of pytest]
# PYTHON names the interpreter, 3.11 or later; unless it is set the system's, or else python3. CMAKE_BUILD_PARALLEL_LEVEL
# limits the compilers that run at once. Where PyPI cannot be reached the status is 77.
# --sanitize: the module is built by g++ with its address sanitizer and checks its preconditions, in
# folders of its own and without type stubs.
# --need-torch: where the environment has no torch, the status is 77 and nothing is built.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

is_recent() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}
# That of the system comes first: Debian's packages, torch among them, belong to it.
python=${PYTHON:-}
[ -n "$python" ] || { is_recent /usr/bin/python3 && python=/usr/bin/python3; } || python=python3
is_recent "$python" ||
  fail "needs Python 3.11 or later, found $("$python" --version 2>&1 || echo none)"
environment=build/python-tests
wheel=build/python-wheel
options=()
run=()
left_out=()
if [ "${1:-}" = --sanitize ]; then
  shift
  environment=build/python-sanitized
  wheel=build/python-sanitized-wheel
  export CXX=g++ LDFLAGS="-fsanitize=address"
  export CXXFLAGS="-fsanitize=address -fno-omit-frame-pointer -O1 -g1"
  # A type of build without flags of its own, -DNDEBUG among them: preconditions are checked.
  options=(--config-settings=cmake.build-type=Sanitized --config-settings=cmake.define.CAROM_PYTHON_STUBS=OFF)
  left_out=(--deselect python/tests/test_package.py::test_the_stubs_satisfy_mypy)
  # Python itself is not built so: the sanitizer is loaded before it, and what Python and numpy keep
  # until the end are no leaks. libstdc++ is loaded with it, so that exceptions are seen to be thrown.
  export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
  run=(env PYTHONMALLOC=malloc LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so.6)")
fi

need_torch=
if [ "${1:-}" = --need-torch ]; then
  shift
  need_torch=yes
fi

say "1/3 virtual environment ($environment)"
# It sees the packages of the system, as torch comes from there (Debian: python3-torch).
# One that was left half made, or does not see them, is made again.
if ! "$environment/bin/python" -m pip --version >/dev/null 2>&1 ||
  ! grep -qs '^include-system-site-packages = true' "$environment/pyvenv.cfg"; then
  rm -rf "$environment"
  "$python" -m venv --system-site-packages "$environment"
fi
# Debian's own of these, which can be seen from here, may be too old for the tests or for this numpy.
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
  "scikit-build-core>=0.10" "nanobind>=2.4" "numpy>=1.24" "pytest>=8.2" "pytest-xdist>=3" "mypy>=1.15" || {
  "$environment/bin/python" -c 'import urllib.request as web; web.urlopen("https://pypi.org/simple/pip/", timeout=20)' \
    2>/dev/null && fail "pip cannot install what the tests need, though PyPI can be reached"
  echo "skipped: PyPI cannot be reached"
  exit 77
}
# Tests of pictures, examples and notebooks are skipped without these.
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
  "matplotlib>=3.9" scipy nbclient ipykernel || echo "without matplotlib, scipy, nbclient, ipykernel"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "jax>=0.10" ||
  echo "without jax, whose tests are skipped"
"$environment/bin/python" -c 'import torch' 2>/dev/null || {
  echo "without torch (Debian: python3-torch), whose tests are skipped"
  [ -z "$need_torch" ] || exit 77
}

say "2/3 build and install"
# Without isolation, so that the folder of the build can be kept and a second build is short.
"$environment/bin/python" -m pip install --disable-pip-version-check --no-build-isolation \
  --config-settings=build-dir="$wheel" "${options[@]}" .

say "3/3 tests"
"${run[@]}" "$environment/bin/python" -m pytest -q --numprocesses "$(nproc)" --dist loadfile \
  python/tests "${left_out[@]}" "$@"
