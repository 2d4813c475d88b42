#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares every place that names carom's version with include/carom/core/version.hpp.

Runs from the repository root; prints one line per difference and exits with 1 if there is any.
"""
import json
import pathlib
import re
import sys


def header_version():
    text = pathlib.Path("include/carom/core/version.hpp").read_text(encoding="utf-8")
    parts = ("MAJOR", "MINOR", "PATCH")
    return ".".join(re.search(rf"#define CAROM_VERSION_{part} (\d+)$", text, re.M)[1] for part in parts)


def number_of(version):
    return tuple(int(part) for part in version.split("."))


def named_versions():
    """Yields where a version is named, and which."""
    citation = pathlib.Path("CITATION.cff")
    yield citation, re.search(r"^version: (\S+)$", citation.read_text(encoding="utf-8"), re.M)[1]
    recipe = pathlib.Path("packaging/conda/recipe.yaml")
    yield recipe, re.search(r'^  version: "(\S+)"$', recipe.read_text(encoding="utf-8"), re.M)[1]
    manifest = pathlib.Path("packaging/vcpkg/ports/carom/vcpkg.json")
    yield manifest, json.loads(manifest.read_text(encoding="utf-8"))["version"]


def changelog_faults(version):
    """The newest release is the header's version, or an older one while changes wait for a release."""
    path = pathlib.Path("CHANGELOG.md")
    text = path.read_text(encoding="utf-8")
    releases = re.findall(r"^## \[?(\d+\.\d+\.\d+)\b", text, re.M)
    waiting = re.search(r"^## \[?Unreleased\b", text, re.M)
    newest = releases[0] if releases else "0.0.0"
    if newest != version and (not waiting or number_of(newest) > number_of(version)):
        yield f"{path}: the newest release is {newest}, the headers are {version}"


def main():
    version = header_version()
    faults = [f"{path}: {named}, the headers are {version}" for path, named in named_versions()
              if named != version]
    faults += changelog_faults(version)
    recipe = pathlib.Path("packaging/conan/conanfile.py").read_text(encoding="utf-8")
    if "CAROM_VERSION_" not in recipe or re.search(r'^\s+version = "', recipe, re.M):
        faults.append("packaging/conan/conanfile.py: does not read the version from the headers")
    print("\n".join(faults) or f"{version} everywhere")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
