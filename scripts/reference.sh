#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Writes the reference of all public headers to build/reference/html, or to FOLDER/html.
#
# Usage: scripts/reference.sh [FOLDER]
# Fails on any warning of Doxygen, and where a public type has no comment; exits with 77 where
# Doxygen is not installed.
set -eu
cd "$(dirname "$0")/.."

if ! command -v doxygen >/dev/null; then
  echo "reference: doxygen is not installed, skipped"
  exit 77
fi
folder=${1:-build/reference}
rm -rf "${folder:?}/html"
mkdir -p "$folder"

# run_doxygen LOG SETTING...: Doxygen with settings that replace those of docs/Doxyfile.
run_doxygen() {
  log=$1
  shift
  { cat docs/Doxyfile; printf '%s\n' "OUTPUT_DIRECTORY = \"$folder\"" "$@"; } |
    doxygen - 2>"$log"
}

run_doxygen "$folder/warnings.txt"
run_doxygen "$folder/undocumented.txt" 'EXTRACT_ALL = NO' 'GENERATE_HTML = NO' \
  'INPUT = include/carom' "GENERATE_TAGFILE = \"$folder/carom.tag\""
grep 'Compound .* is not documented' "$folder/undocumented.txt" >>"$folder/warnings.txt" || true

if [ -s "$folder/warnings.txt" ]; then
  cat "$folder/warnings.txt"
  exit 1
fi
echo "reference: $folder/html/index.html, no warnings"
