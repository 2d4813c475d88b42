#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes one figure of the page of `carom demo` as a picture of its own, legend below, light and dark.

Usage: extract_figure.py PAGE TITLE OUTPUT.svg
"""
import html
import pathlib
import re
import sys

ROW, COLUMN = 18, 218  #: of the legend


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    title = html.escape(sys.argv[2])
    figure = next((f for f in re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
                   if f"<h3>{title}</h3>" in f), None)
    if figure is None:
        sys.exit(f"{sys.argv[1]}: no figure titled '{sys.argv[2]}'")
    width, height, body = re.search(
        r'<svg viewBox="0 0 (\S+) (\S+)" role="img"[^>]*>(.*?)</svg>\n</figure>', figure,
        re.DOTALL).groups()
    entries = re.findall(r'<span><svg[^>]*>(.*?)</svg>(.*?)</span>', figure, re.DOTALL)
    legend = "".join(
        f'<g transform="translate({16 + k % 2 * COLUMN} {float(height) + 8 + k // 2 * ROW})">{mark}'
        f'<text class="tick" x="28" y="9">{text}</text></g>\n'
        for k, (mark, text) in enumerate(entries))
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    colors = re.search(r":root \{.*?\n\}\n@media \(prefers-color-scheme: dark\) \{.*?\n\}\n", style,
                       re.DOTALL).group()
    rules = [line for line in style.splitlines()
             if re.match(r"(svg text|\.(tick|value|name|note|grid|line|thin|dashed|dotted|s1|dot)\b)",
                         line)]
    total = float(height) + 16 + (len(entries) + 1) // 2 * ROW
    pathlib.Path(sys.argv[3]).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total:g}" width="660" '
        f'font-family="sans-serif" role="img" aria-label="{title}">\n<style>{colors}'
        + "\n".join(rules) + "</style>\n"
        f'<rect width="100%" height="100%" fill="var(--card)"/>\n{body.strip()}\n{legend}</svg>\n',
        encoding="utf-8")


main()
