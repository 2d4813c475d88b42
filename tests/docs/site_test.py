#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the site in a browser: the console is clean, nothing is fetched from elsewhere, nothing is wider than the
window of a desk or of a phone, formulas are set, the search finds both references, light and dark differ.

Skipped, by exit code 77, where no Chromium is installed.
    site_test.py FOLDER [PICTURES]   with a second folder, a picture of each page is written there
"""
import functools
import http.server
import pathlib
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "page"))
from browser import Browser, find_browser  # noqa: E402

PAGES = {  # and a selector of which each has one at least
    "index.html": "h1",
    "README.html": "h1",
    "docs/guides/getting_started.html": "div.highlight-cpp",
    "docs/performance.html": "table",
    "docs/equations.html": "table",
    "docs/derivations/cones.html": ".katex-display",
    "docs/derivations/interior_point.html": ".katex-display",
    "docs/site/cpp/cones.html": "dl.cpp.struct",
    "docs/site/cpp/solvers.html": "dl.cpp.class",
    "docs/site/python.html": "dl.py.class",
    "docs/site/demo.html": "a[href$='demo/index.html']",
    "source/examples/01_block_on_incline.cpp.html": "div.highlight",
}
SIZES = {"desk": (1280, 900, False), "phone": (390, 844, True)}
# Words, and pages that the search must find by them.
SEARCHES = {
    "FrictionCone": ["docs/site/cpp/cones.html", "docs/site/python.html"],
    "certificate": ["docs/site/cpp/solvers.html", "docs/site/python.html"],
    "saltation": ["docs/derivations/saltation.html"],
}
faults = []


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(root):
    """The address of a server of the folder, on a port that is free: the search reads pages, which it may not from files."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=root))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def load(browser, address):
    browser.send("Page.navigate", url=address)
    return browser.wait_until(f"location.href === '{address}' && document.readyState === 'complete'")


def expect(condition, *what):
    if not condition:
        faults.append(what)
        print("FAILED:", *what)


def check_width(browser, name, width, size):
    # The theme lets a page that is too wide scroll below its head.
    wide = browser.run("Math.max(...['html', 'body', '.content'].map(name => document.querySelector(name)).filter(e => e)"
                       ".map(e => e.scrollWidth - e.clientWidth + innerWidth))")
    expect(wide <= width, name, "is", wide, "wide on a", size, "of", width)


def check_page(browser, site, name, selector, pictures):
    for size, (width, height, mobile) in SIZES.items():
        browser.resize(width, height, mobile)
        expect(load(browser, site + name), name, "does not load")
        expect(browser.run(f"document.querySelectorAll(\"{selector}\").length > 0"), name, "has no", selector)
        check_width(browser, name, width, size)
        if pictures:
            browser.picture(pictures / f"{name.replace('/', '_')}_{size}.png")


def check_every_page(browser, site, root):
    """All pages on a phone: nothing is wider than it, and every formula is set."""
    width, height, mobile = SIZES["phone"]
    browser.resize(width, height, mobile)
    pages = [page for page in sorted(root.rglob("*.html")) if "_static" not in page.parts]
    for page in pages:
        name = page.relative_to(root).as_posix()
        expect(load(browser, site + name), name, "does not load")
        check_width(browser, name, width, "phone")
        expect(browser.wait_until("[...document.querySelectorAll('div.math')].every(e => e.querySelector('.katex'))", 10),
               name, "has formulas that are not set")
        expect(browser.run("document.querySelectorAll('.katex-error').length") == 0, name, "has formulas that cannot be set")
    return len(pages)


def check_search(browser, site):
    for words, pages in SEARCHES.items():
        expect(load(browser, f"{site}search.html?q={words}"), "the search does not load")
        for page in pages:
            expect(browser.wait_until(f"[...document.querySelectorAll('ul.search a')].some(a => a.href.includes('{page}'))", 20),
                   "the search for", words, "does not find", page)


def check_themes(browser, site):
    """What the reader's system prefers is what the page has."""
    colours = {}
    for theme in ("light", "dark"):
        browser.prefer(color_scheme=theme)
        load(browser, site + "index.html")
        colours[theme] = browser.run("getComputedStyle(document.body).backgroundColor")
    expect(colours["light"] != colours["dark"], "light and dark have one background:", colours)
    browser.prefer(color_scheme="light")


def main():
    program = find_browser()
    if not program:
        print("skipped: no Chromium is installed")
        return 77
    site = serve(sys.argv[1])
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    browser = Browser(program)
    try:
        for name, selector in PAGES.items():
            check_page(browser, site, name, selector, pictures)
        count = check_every_page(browser, site, pathlib.Path(sys.argv[1]))
        check_search(browser, site)
        check_themes(browser, site)
        # The browser itself asks for an icon where a page, as the demo, names none.
        complaints = [said for said in browser.complaints if "favicon.ico" not in str(said)]
        expect(not complaints, "the console is not clean:", complaints[:3])
        foreign = {url for url in browser.requests if not url.startswith((site, "data:"))}
        expect(not foreign, "fetched from elsewhere:", sorted(foreign)[:5])
    finally:
        browser.close()
    print(f"{count} pages on a phone, {len(PAGES)} of them at a desk, {len(SEARCHES)} searches: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
