#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the recipes of packaging/ for real, as far as this machine allows: Conan comes from PyPI and takes
# the system's Eigen. conda's tools do not come from PyPI: its recipe is read, and its build and tests run in a
# fresh environment whose packages come from PyPI. vcpkg is used where it is installed.
#   scripts/recipes.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

mkdir -p build 2>/dev/null || fail "cannot write to $PWD"
work=$PWD/build/recipes
rm -rf "$work"
mkdir -p "$work"
say "1/4 packages"
install_packages demo test
python3 -m venv "$work/tools"
"$work/tools/bin/python" -m pip install --quiet --disable-pip-version-check "conan>=2.5" pyyaml

say "2/4 Conan"
export CONAN_HOME=$work/conan
conan=$work/tools/bin/conan
"$conan" profile detect >"$work/conan.log" 2>&1
eigen=$(sed -n 's/^Version: //p' /usr/share/pkgconfig/eigen3.pc 2>/dev/null || echo 3.4.0)
printf '[platform_requires]\neigen/%s\n' "$eigen" >>"$CONAN_HOME/profiles/default"
# Conan writes beside the test package, so it gets a copy of the tree.
mkdir "$work/tree"
list_files | tar c --null --files-from=- --ignore-failed-read 2>/dev/null | tar x -C "$work/tree"
"$conan" create "$work/tree/packaging/conan" -s compiler.cppstd=20 --no-remote >>"$work/conan.log" 2>&1 ||
  fail "conan create failed: $(tail -n 2 "$work/conan.log") (log: $work/conan.log)"
"$conan" --version
"$conan" list 'carom/*' 2>/dev/null | grep carom/

say "3/4 conda's recipe"
python3 -m venv "$work/env"
# The recipe's commands with the names that its packages have on PyPI; the system has compilers and CLI11.
"$work/tools/bin/python" - >"$work/conda.sh" <<'PROGRAM'
import shlex
import yaml

recipe = yaml.safe_load(open("packaging/conda/recipe.yaml", encoding="utf-8"))
on_pypi = {"scikit-build-core": None, "nanobind": None, "numpy": None, "ninja": None, "cmake": None,
           "eigen": "cmeel-eigen", "nlohmann_json": "nlohmann-json"}
needs = []
for group in recipe["requirements"].values():
    for need in group:
        name, _, bound = need.partition(" ")
        if name in on_pypi:
            needs.append((on_pypi[name] or name) + bound)
print("python -m pip install --quiet --disable-pip-version-check", *map(shlex.quote, needs))
print(recipe["build"]["script"])
for test in recipe["tests"]:
    for module in test.get("python", {}).get("imports", []):
        print(f"(cd / && python -c 'import {module}')")
    print(*test.get("script", []), sep="\n")
PROGRAM
(cd "$work/tree" && PATH=$work/env/bin:$PATH bash -euo pipefail "$work/conda.sh") >"$work/conda.log" 2>&1 ||
  fail "conda's recipe failed: $(tail -n 2 "$work/conda.log") (log: $work/conda.log)"
tail -n 1 "$work/conda.log"

say "4/4 vcpkg"
if command -v vcpkg >/dev/null; then
  vcpkg install carom --overlay-ports=packaging/vcpkg/ports --no-binarycaching
else
  echo "not installed; ctest -R packaging.vcpkg runs the port with stand-ins for vcpkg's functions"
fi
