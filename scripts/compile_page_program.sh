#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles apps/page/page_program.cpp to WebAssembly by Debian's em++ into the folder given:
# page_program.wasm, the same as text, and page_program.d with the files it includes. Prints its size.
# With no more arguments the text is also put in its place in apps/page.
#   scripts/compile_page_program.sh FOLDER [--try]
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:?usage: scripts/compile_page_program.sh FOLDER [--try]}
eigen=${EIGEN3_INCLUDE_DIR:-/usr/include/eigen3}
exported=$(sed -nE 's/^(int|double\*|const double\*|const char\*) (page_[a-z]+)\(.*/_\2/p' \
  apps/page/page_program.cpp | paste -sd ,)
mkdir -p "$folder"
# -Os: the page is read over slow lines, too. Without exceptions a broken precondition ends the program.
flags=(-std=c++20 -Os -flto -DNDEBUG -fno-exceptions -fno-rtti
  -Iinclude -Iexamples -Iapps -isystem "$eigen")
em++ "${flags[@]}" -MMD -MF "$folder/page_program.d" -c apps/page/page_program.cpp \
  -o "$folder/page_program.o"
em++ "${flags[@]}" "$folder/page_program.o" -o "$folder/page_program.wasm" --no-entry \
  -s STANDALONE_WASM -s ALLOW_MEMORY_GROWTH=1 -s MALLOC=emmalloc -s "EXPORTED_FUNCTIONS=$exported"
base64 -w 100 "$folder/page_program.wasm" >"$folder/page_program.wasm.base64"
[ "${2:-}" = --try ] ||
  cp "$folder/page_program.wasm.base64" apps/page/page_program.wasm.base64
wc -c <"$folder/page_program.wasm"
