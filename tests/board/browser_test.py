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
    dead = browser.run("[...document.querySelectorAll('a')].filter(a => !document.getElementById("
                       "a.getAttribute('href').slice(1))).length")
    expect(dead == 0, "links that lead nowhere:", dead)
    pictures = browser.run("document.querySelectorAll('svg[aria-label]').length")
    expect(pictures > len(scenes) / 2, "pictures:", pictures)
    outside = browser.run("[...document.querySelectorAll('svg')].flatMap(s => { const b = s.getBoundingClientRect(); return "
                          "[...s.querySelectorAll('text,circle')].filter(t => { const r = t.getBoundingClientRect(); "
                          "return r.left < b.left - 1 || r.right > b.right + 1 || r.bottom > b.bottom + 1; })"
                          ".map(t => t.textContent || 'circle'); }).slice(0, 5).join(' | ')")
    expect(not outside, "drawn outside of its picture:", outside)


BRIGHTNESS = """(() => { const luminance = text => { const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map(c => {
  c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (!c.startsWith('rgba(0, 0, 0, 0')) return c; } return 'rgb(255,255,255)'; };
  let worst = [99, ''];
  for (const e of document.querySelectorAll('p, td, th, h1, h2, li, td span, svg text')) {
    if (!e.textContent.trim()) continue;
    const style = getComputedStyle(e);
    const a = luminance(e.tagName === 'text' ? style.fill : style.color), b = luminance(back(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, e.textContent.slice(0, 40)];
  }
  return [...worst, luminance(back(document.body))]; })()"""


def check_schemes(browser):
    for scheme in ("light", "dark"):
        browser.prefer(color_scheme=scheme)
        contrast, where, paper = browser.run(BRIGHTNESS)
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
            check_content(browser, path)
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
