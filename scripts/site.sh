#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the documentation site in build/site/html: the pages of docs/, the references of C++ and Python, the demo
# and the board, under one search. Sphinx and its parts come from PyPI into a virtual environment under build/, Doxygen
# and KaTeX from the packages of the system.
#   scripts/site.sh
# Warnings are errors. At the end every link is followed and pages are opened in Chromium, where it is installed.
# PYTHON names the interpreter, 3.11 or later. Where PyPI cannot be reached the status is 77.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

environment=build/site-env
out=build/site
mkdir -p "$out" 2>/dev/null || fail "cannot write to $PWD"

say "1/5 packages"
install_packages demo docs site
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  fail "needs Python 3.11 or later, found $("$python" --version 2>&1 || echo none)"

say "2/5 virtual environment with the Python package ($environment)"
"$environment/bin/python" -m pip --version >/dev/null 2>&1 || {
  rm -rf "$environment"
  "$python" -m venv "$environment"
}
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
  "sphinx>=9,<10" "myst-parser>=5,<6" furo "breathe>=5,<6" sphinxcontrib-katex sphinx-copybutton \
  "scikit-build-core>=0.10" "nanobind>=2.4" "numpy>=1.24" || {
  "$environment/bin/python" -c 'import urllib.request as web; web.urlopen("https://pypi.org/simple/pip/", timeout=20)' \
    2>/dev/null && fail "pip cannot install what the site needs, though PyPI can be reached"
  echo "skipped: PyPI cannot be reached"
  exit 77
}
# Its docstrings are read and nothing is computed: without optimisation it builds in a fraction of the time.
CXXFLAGS=-O0 "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-build-isolation \
  --config-settings=build-dir=build/site-wheel --config-settings=cmake.build-type=None .

say "3/5 public headers"
rooms=$(for room in include/carom/*/; do printf '%s ' "${room%/}"; done)
rm -rf "$out/doxygen"
mkdir -p "$out/doxygen"
{
  cat docs/Doxyfile
  printf '%s\n' "OUTPUT_DIRECTORY = $out/doxygen" "INPUT = $rooms" "RECURSIVE = NO" "FILE_PATTERNS = *.hpp" \
    "GENERATE_HTML = NO" "GENERATE_XML = YES" "XML_PROGRAMLISTING = NO" "MACRO_EXPANSION = YES" \
    "EXPAND_ONLY_PREDEF = YES" "PREDEFINED = CAROM_DEVICE= CAROM_DEVICE_CALL= CAROM_ONE_CODE="
} | doxygen -
# Breathe finds a header by its whole name, and shows what is private as well: names become whole, private parts go.
for header in "$out"/doxygen/xml/*_8hpp.xml; do
  name=$(sed -n 's|.*<location file="include/\([^"]*\)".*|\1|p' "$header" | tail -n 1)
  printf 's|\\(refid="%s" kind="file"><name>\\)[^<]*|\\1%s|\n' "$(basename "$header" .xml)" "$name"
done >"$out/doxygen/names.sed"
sed -i -f "$out/doxygen/names.sed" "$out/doxygen/xml/index.xml"
sed -i -e '/<sectiondef kind="private/,/<\/sectiondef>/d' -e '/<innerclass [^>]*prot="private"/d' "$out"/doxygen/xml/{class,struct}*.xml
# Doxygen tears 100'000 apart, and Sphinx does not read the dot of {.state_limit = 2000}.
sed -i -e 's|\([0-9]\) &apos;\([0-9]\)|\1\2|g' -e 's|<defval>{\.|<defval>{|' -e '/<argsstring>/s|={\.|={|' "$out"/doxygen/xml/*.xml

say "4/5 pages"
rm -rf "$out/source" "$out/extra" "$out/html"
mkdir -p "$out/source" "$out/extra/docs"
list_files | sed -z 's|^\./||' | grep -zE '^([A-Z]+(\.md|\.cff)?|(docs|examples)/.*|(include|benchmarks|python)/(.*/)?README\.md)$' |
  xargs -0 cp --parents --preserve=timestamps -t "$out/source"
mv "$out/source/docs/site/index.md" "$out/source/index.md"
cp -r docs/demo docs/board "$out/extra/docs"
# Both link to pages of the repository, which are pages of the site here. The repository itself is linked to where its
# address is known, as in a workflow.
repository=${GITHUB_REPOSITORY:+${GITHUB_SERVER_URL:-https://github.com}/$GITHUB_REPOSITORY}
sed -i -E -e "s|href=\"\.\./\.\./README\.md\"|href=\"${repository:-../../README.html}\"|g" -e 's|(href="\.\./[^"#]*)\.md|\1.html|g' \
  "$out"/extra/docs/{demo,board}/index.html
"$environment/bin/python" -m sphinx --fresh-env --fail-on-warning --keep-going --quiet -c docs/site \
  -d "$out/doctrees" "$out/source" "$out/html"
# No page leads to the copies that Sphinx makes of files for downloads (docs/site/conf.py).
rm -rf "$out/html/_downloads"
# The host of the pages would leave out what begins with an underscore.
touch "$out/html/.nojekyll"

say "5/5 links, and pages in a browser"
"$environment/bin/python" tests/docs/check_site.py "$out/html"
outcome=0
"$environment/bin/python" tests/docs/site_test.py "$out/html" || outcome=$?
[ "$outcome" = 0 ] || [ "$outcome" = 77 ] || exit "$outcome"

say "done"
echo "$out/html/index.html, $(find "$out/html" -name '*.html' | wc -l) pages"
