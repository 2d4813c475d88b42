#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Walks the ways into carom in a fresh minimal Debian, as somebody who has nothing of it, and prints how
# long each step takes: the wheel, the first answer in Python, the program, MuJoCo's scene of the README,
# one of examples/answers; then the headers, the first program of the README in C++ with its compiler,
# and the program built from source. It needs root, debootstrap and the network.
#   [MIRROR=<url>] scripts/newcomer.sh [--python]
# --python: no further than the wheel. The wheel is that of scripts/wheel.sh, which runs if there is none.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

python_only=no
case "${1:-}" in
  '') ;;
  --python) python_only=yes ;;
  *) fail "unknown argument '$1'; usage: scripts/newcomer.sh [--python]" ;;
esac
[ "$(id -u)" = 0 ] || fail "needs root, to install in a system of its own"
command -v debootstrap >/dev/null || fail "needs debootstrap"
find_wheel() { ls build/wheels/manylinux/carom-*manylinux*.whl 2>/dev/null; }
find_wheel >/dev/null || scripts/wheel.sh
wheel=$(find_wheel) || fail "scripts/wheel.sh made no wheel"

work=$PWD/build/newcomer root=$PWD/build/newcomer/system log=$PWD/build/newcomer/log
rm -rf "$work"
mkdir -p "$work"
say "a minimal Debian (not counted)"
debootstrap --variant=minbase --include=python3-venv,ca-certificates bookworm "$root" "$(first_mirror)" >"$log" 2>&1 ||
  fail "no system (log: $log)"
# The network is that of this machine, with its certificates.
for file in /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
  [ ! -f "$file" ] || cp --dereference "$file" "$root$file"
done
mkdir -p "$root/opt/carom"
cp "$wheel" "$root/opt"
list_files | tar c --null --files-from=- --ignore-failed-read 2>>"$log" | tar x -C "$root/opt/carom"

# snippet <language> <word>: the first example of the README in that language with that word in it.
snippet() {
  awk -v fence="\`\`\`$1" -v word="$2" '
    $0 == fence { inside = 1; text = ""; next }
    inside && /^```/ { if (index(text, word)) { printf "%s", text; exit } inside = 0 }
    inside { text = text $0 "\n" }' README.md
}
snippet python "add_contact" >"$root/opt/first.py"
snippet python "carom.mujoco" >"$root/opt/scene.py"
snippet cpp "solve_contact" >"$root/opt/carom/tests/consumers/main.cpp"

# timed <what> <shell command>: runs it inside the system and prints its time.
timed() {
  local begin now
  begin=$(date +%s%N)
  inside "$root" sh -ec "$2" >>"$log" 2>&1 || fail "$1 failed: $(tail -n 2 "$log") (log: $log)"
  now=$(date +%s%N)
  printf "%7.1f s  %s\n" "$(((now - begin) / 100000000))e-1" "$1"
}

say "Python"
timed "pip install carom, from the wheel, with numpy" 'python3 -m venv /opt/env && /opt/env/bin/pip install --quiet /opt/carom-*.whl'
timed "the first answer of the README" '/opt/env/bin/python /opt/first.py && /opt/env/bin/python /opt/carom/python/tests/newcomer.py'
timed "carom solve of a pile" '/opt/env/bin/carom --version && /opt/env/bin/carom solve /opt/carom/examples/data/pile_n10_s60.txt'
timed "pip install mujoco" '/opt/env/bin/pip install --quiet mujoco'
timed "the scene of the README in MuJoCo" '/opt/env/bin/python /opt/scene.py'
timed "one of the answers: does a grasp creep?" '/opt/env/bin/python /opt/carom/examples/answers/mujoco_3328.py'

if [ "$python_only" = no ]; then
  say "C++"
  timed "apt-get install g++ make cmake libeigen3-dev" 'apt-get update && apt-get install -y --no-install-recommends g++ make cmake libeigen3-dev'
  timed "configure and install the headers" 'cd /opt/carom && cmake -B /opt/headers -DCAROM_BUILD_TESTS=OFF -DCAROM_BUILD_EXAMPLES=OFF && cmake --install /opt/headers --prefix /usr/local'
  timed "compile and run the first program of the README, headers alone" \
    'cd /opt/carom/tests/consumers && cmake -S find_package -B /opt/first -DCMAKE_BUILD_TYPE=Release && cmake --build /opt/first && /opt/first/consumer'
  timed "build and install the program carom" \
    "apt-get install -y --no-install-recommends libcli11-dev nlohmann-json3-dev &&
     cd /opt/carom && cmake -B /opt/program -DCMAKE_BUILD_TYPE=Release -DCAROM_BUILD_PROGRAM=ON -DCAROM_BUILD_TESTS=OFF -DCAROM_BUILD_EXAMPLES=OFF &&
     cmake --build /opt/program --parallel $(nproc) && cmake --install /opt/program --prefix /usr/local &&
     /usr/local/bin/carom solve examples/data/pile_n10_s60.txt"
fi
rm -rf "${root:?}"
