#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every link and every picture of a site in a folder leads to a file in it, and to a place in that file.

Usage: check_site.py FOLDER   prints one line per fault and exits with 1 if there is any.
Links to other sites are not followed.
"""
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """What a page links to, and the names of its places."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.places.add(value)
            elif name in ("href", "src") and value and tag != "use":
                self.links.add(value)


def faults(root):
    pages = {path: Page(path) for path in root.rglob("*.html") if "_static" not in path.parts}
    for path, page in sorted(pages.items()):
        for link in sorted(page.links):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            place = urllib.parse.unquote(parts.fragment)
            if not target.is_file() and not (target / "index.html").is_file():
                yield f"{path}: no {link}"
            elif place and target in pages and place not in pages[target].places:
                yield f"{path}: {link} has no such place"
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")


def main():
    found = list(faults(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "every link leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
