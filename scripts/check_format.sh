#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compares every C++ file with .clang-format, or with --fix rewrites it. Other versions of clang-format
# lay out the same settings differently, so without version 14 the check is skipped (status 77).
#   scripts/check_format.sh [--fix]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

format=$(find_clang_tool clang-format) || {
  echo "skipped: clang-format 14 is not installed"
  exit 77
}
mode=(--dry-run -Werror)
[ "${1:-}" != --fix ] || mode=(-i)
find include src tests examples apps benchmarks fuzz python \( -name '*.hpp' -o -name '*.cpp' \) -print0 |
  sort -z | xargs -0 "$format" --style=file "${mode[@]}"
