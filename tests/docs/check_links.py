#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every relative link of the project's pages leads to a file that is there, and to a heading in it.

Usage: check_links.py FILE...   prints one line per fault and exits with 1 if there is any.
"""
import pathlib
import re
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
# Pages of the site that hosts the repository, seen from the README there: runs of the workflows, issues.
OF_THE_HOST = re.compile(r"\.\./\.\./(actions/workflows/\w+\.yml(/badge\.svg)?|issues)$")


def anchors(path):
    """Names that a page's headings can be linked by."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    kept = (re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", title).lower()) for title in titles)
    return {title.replace(" ", "-") for title in kept}


def faults(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in LINK.findall(text):
        if re.match(r"\w+:", link) or OF_THE_HOST.match(link):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists():
            yield f"{page}: no {target}"
        elif anchor and anchor not in anchors(target):
            yield f"{page}: {target} has no heading #{anchor}"


def main():
    found = [fault for name in sys.argv[1:] for fault in faults(pathlib.Path(name))]
    print("\n".join(found) or f"{len(sys.argv) - 1} pages, every link leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
