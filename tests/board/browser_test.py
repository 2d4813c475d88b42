#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page in docs/board in a browser: console clean, nothing fetched, as wide as a phone, legible in the light and in the
dark, every scene with its verdict, table and picture. Skipped, by exit code 77, where no Chromium is installed.
    tests/board/browser_test.py [PAGE]"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "page"))
from browser import Browser, find_browser  # noqa: E402

PAGE = ROOT / "docs" / "board" / "index.html"
faults = []


def expect(condition, *what):
    if not condition:
        faults.append(what)
        print("FAILED:", *what)


def check_content(browser, path):
    board = json.loads((path.parent / "board.json").read_text(encoding="utf-8"))
    scenes = {row["scene"] for row in board["rows"]}
    engines = {row["engine"] for row in board["rows"]}
    count = browser.run("document.querySelectorAll('section[id]').length")
    expect(count >= len(scenes), "sections:", count, "scenes:", len(scenes))
    bare = browser.run("[...document.querySelectorAll('section')].filter(s => !s.querySelector('table') || "
                       "!(s.querySelector('.verdict')?.textContent.length > 10)).map(s => s.id).join()")
    expect(not bare, "without a table or a verdict:", bare)
    columns = browser.run("document.querySelectorAll('#overview thead th').length")
    expect(columns == len(engines) + 1, "columns:", columns, engines)
    dead = browser.run("[...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !document.getElementById("
                       "a.getAttribute('href').slice(1))).length")
    expect(dead == 0, "links that lead nowhere:", dead)
    for link in browser.run("[...document.querySelectorAll('a:not([href^=\"#\"])')].map(a => a.getAttribute('href'))"):
        expect((path.parent / link).is_file(), "a link leads nowhere:", link)
    pictures = browser.run("document.querySelectorAll('svg[aria-label]').length")
    expect(pictures > len(scenes) / 2, "pictures:", pictures)
    outside = browser.run("[...document.querySelectorAll('svg')].flatMap(s => { const b = s.getBoundingClientRect(); return "
                          "[...s.querySelectorAll('text,circle')].filter(t => { const r = t.getBoundingClientRect(); "
                          "return r.left < b.left - 1 || r.right > b.right + 1 || r.bottom > b.bottom + 1; })"
                          ".map(t => t.textContent || 'circle'); }).slice(0, 5).join(' | ')")
    expect(not outside, "drawn outside of its picture:", outside)


def check_order(browser, path):
    """Versions and dates, then verdicts, then tables of marks and plots; in each section the verdict before its plots."""
    order = browser.run("[...document.querySelectorAll('#settings, #engines, #verdicts, #verdicts + ul, #overview, svg')].map("
                        "e => e.id || e.tagName.toLowerCase())")
    expect(order[:6] == ["settings", "engines", "verdicts", "ul", "overview", "svg"], "order of the page:", order[:8])
    late = browser.run("[...document.querySelectorAll('section')].filter(s => { const v = s.querySelector('.verdict'), p = s.querySelector('svg');"
                       "return p && !(v.compareDocumentPosition(p) & Node.DOCUMENT_POSITION_FOLLOWING); }).map(s => s.id).join()")
    expect(not late, "plots before their verdict:", late)
    board = json.loads((path.parent / "board.json").read_text(encoding="utf-8"))
    head = browser.run("document.querySelector('#engines').textContent")
    for row in board["rows"]:
        expect(row["version"] in head and row["date"] in head, "the top does not tell", row["engine"], row["version"], row["date"])


def check_units(browser):
    """Errors of tables in a unit have it beside their number, and times theirs."""
    bare = browser.run("[...document.querySelectorAll('section .cards td[data-label*=\"time\"], td.number')].map(t => t.textContent).filter("
                       "t => t && !/^[\\d.e-]+\\u00a0?\\s?ms/.test(t)).slice(0, 3).join(' | ')")
    expect(not bare, "times without a unit:", bare)
    bare = browser.run("[...document.querySelectorAll('section')].filter(s => /Right: within [\\d.e-]+ \\S/.test("
                       "s.querySelector('.about').textContent)).flatMap(s => [...s.querySelectorAll('td.right, td.near, td.wrong')]).map("
                       "t => t.textContent).filter(t => !/^(right|near|wrong), [\\d.e-]+\\u00a0\\S/.test(t)).slice(0, 3).join(' | ')")
    expect(not bare, "errors without a unit:", bare)
    heads = browser.run("[...document.querySelectorAll('#wall_500 thead th')].map(t => t.textContent)")
    expect(heads and all("[" in head for head in heads if head not in ("curve", "version", "setting", "contacts")), "heads without a unit:", heads)


def check_cards(browser):
    """On a phone each row of the scenes' and problems' tables is a card: nothing to scroll, nothing cut off."""
    browser.resize(390, 844, mobile=True)
    wide = browser.run("[...document.querySelectorAll('.cards')].filter(t => t.checkVisibility()).filter(t => "
                       "t.scrollWidth > t.parentElement.clientWidth + 1 || t.getBoundingClientRect().right > innerWidth).map("
                       "t => (t.closest('section') || t).id).join()")
    expect(not wide, "tables wider than a phone:", wide)
    cut = browser.run("[...document.querySelectorAll('.cards td')].filter(t => t.checkVisibility() && t.scrollWidth > t.clientWidth + 1).map("
                      "t => t.textContent).slice(0, 4).join(' | ')")
    expect(not cut, "cells cut off on a phone:", cut)
    unnamed = browser.run("[...document.querySelectorAll('.cards td:not(:first-child)')].filter(t => !t.dataset.label).length")
    expect(unnamed == 0, unnamed, "cells of which a phone does not say what they are")
    small = browser.run("Math.min(...[...document.querySelectorAll('svg text')].filter(t => t.checkVisibility()).map(t => "
                        "13 * t.ownerSVGElement.getBoundingClientRect().width / t.ownerSVGElement.viewBox.baseVal.width))")
    expect(small >= 9, "letters of plots on a phone are", small, "pixels")
    browser.resize(1280, 900)


def check_schemes(browser):
    for scheme in ("light", "dark"):
        browser.prefer(color_scheme=scheme)
        contrast, where, paper = browser.least_contrast("p, td, th, h1, h2, li, td span, svg text")
        expect(contrast >= 4.5, scheme, "contrast", contrast, "of", where)
        expect((paper > 0.5) == (scheme == "light"), scheme, "paper", paper)
    browser.prefer(color_scheme="light")


def check_widths(browser):
    for width in (320, 390, 768, 1280):
        browser.resize(width, 800, mobile=width < 500)
        reach = browser.run("document.documentElement.scrollWidth")
        expect(reach <= width, "page of width", width, "reaches to", reach)


def main(arguments):
    program = find_browser()
    if not program:
        print("skipped: no chromium is installed")
        return 77
    path = pathlib.Path(arguments[0]).resolve() if arguments else PAGE
    browser = Browser(program)
    try:
        browser.resize(1280, 900)
        if browser.open(path):
            check_order(browser, path)
            browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
            check_content(browser, path)
            check_units(browser)
            check_cards(browser)
            check_schemes(browser)
            check_widths(browser)
        else:
            expect(False, "the page does not load")
        expect(not browser.complaints, "console:", browser.complaints[:3])
        strangers = [url for url in browser.requests if not url.startswith(("file:", "data:"))]
        expect(not strangers, "fetched:", strangers)
    finally:
        browser.close()
    print(f"{len(faults)} faults" if faults else "the board's page works")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
