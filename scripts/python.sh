#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Python package into a virtual environment under build/, with what its tests need from
# PyPI, and runs the tests.
#   scripts/python.sh [arguments of pytest]
# PYTHON names the interpreter, python3 unless it is set; 3.11 or later. CMAKE_BUILD_PARALLEL_LEVEL
# limits the compilers that run at once. Where PyPI cannot be reached the status is 77.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  fail "needs Python 3.11 or later, found $("$python" --version 2>&1 || echo none)"
environment=build/python-tests

say "1/3 virtual environment ($environment)"
# It sees the packages of the system, as torch comes from there (Debian: python3-torch).
[ -x "$environment/bin/python" ] || "$python" -m venv --system-site-packages "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
  "scikit-build-core>=0.10" "nanobind>=2.4" numpy pytest mypy || {
  echo "skipped: PyPI cannot be reached"
  exit 77
}
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "jax>=0.10" ||
  echo "without jax, whose tests are skipped"
"$environment/bin/python" -c 'import torch' 2>/dev/null ||
  echo "without torch (Debian: python3-torch), whose tests are skipped"

say "2/3 build and install"
# Without isolation, so that the folder of the build can be kept and a second build is short.
"$environment/bin/python" -m pip install --disable-pip-version-check --no-build-isolation \
  --config-settings=build-dir=build/python-wheel .

say "3/3 tests"
"$environment/bin/python" -m pytest -q python/tests "$@"
