#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Refreshes the built files that the repository keeps: the library as WebAssembly for the interactive
# figures, if a file it was made from has changed, then the page itself in docs/demo. Beside each is a
# list of the files it was made from, which the test page.current compares. Missing packages of the
# group `page` of packages.txt are installed.
#   scripts/page.sh [--force]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

case "${1:-}" in
  '' | --force) ;;
  *) fail "unknown argument '$1'; usage: scripts/page.sh [--force]" ;;
esac
mkdir -p build/page 2>/dev/null || fail "cannot write to $PWD"
install_packages page

say "1/2 the library as WebAssembly"
if [ "${1:-}" = --force ] || ! python3 tests/page/current_test.py program; then
  bytes=$(scripts/compile_page_program.sh build/page)
  python3 tests/page/current_test.py --write program
  echo "apps/page/page_program.wasm.base64: $bytes bytes before base64"
fi

say "2/2 the page"
scripts/demo.sh --force
# Its links to the board and to other pages are those of a page in docs/demo.
sed 's|href="\.\./\.\./docs/|href="../|' build/demo/index.html >docs/demo/index.html
python3 tests/page/current_test.py --write page
echo "docs/demo/index.html: $(wc -c <docs/demo/index.html) bytes"
