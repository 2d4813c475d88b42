#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page in docs/demo in a browser: console clean, nothing fetched, the library answers, keyboard
and mouse move what they should, phones and the dark have it, too.

Skipped, by exit code 77, where no Chromium is installed. Expected numbers are worked out here.
    tests/page/browser_test.py [PAGE]
"""
import math
import pathlib
import sys

sys.dont_write_bytecode = True
from browser import Browser, find_browser  # noqa: E402

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "demo" / "index.html"
PLAYERS = 8  #: six animations, the cradle, the billiards
faults = []


def expect(condition, *what):
    if not condition:
        faults.append(" ".join(str(part) for part in what))
        print("FAILED:", *what)


def near(values, expected, tolerance=1e-13):
    return len(values) == len(expected) and all(
        abs(a - b) <= tolerance for a, b in zip(values, expected))


def data(browser, figure, name):
    return browser.run(f"document.getElementById('try-{figure}').dataset.{name}")


def numbers(browser, figure, name):
    return [float(word) for word in data(browser, figure, name).split()]


def open_page(browser, path):
    """With every section unfolded."""
    expect(browser.open(path), "the page does not load")
    browser.run("document.querySelectorAll('details.section').forEach(d => d.open = true)")
    alive = browser.wait_until("document.querySelectorAll('figure[data-ready]').length === 3")
    expect(alive, "figures that do not start:",
           browser.run("[...document.querySelectorAll('.waiting')].map(p => p.textContent).join()"))
    return alive


def projected(friction, ratio, side, normal):
    """The nearest point of the cone by search along its surface, where the answer is on it."""
    if abs(side) <= friction * normal:
        return side, normal

    def distance(height):
        return ratio * (friction * height - abs(side)) ** 2 + (height - normal) ** 2
    low, high = 0.0, 10.0
    for _ in range(200):
        third = (high - low) / 3
        if distance(low + third) < distance(high - third):
            high -= third
        else:
            low += third
    return math.copysign(friction * low, side), low


def set_value(browser, selector, value, event="input"):
    browser.run(f"(e => {{ e.value = {value}; e.dispatchEvent(new Event('{event}', "
                f"{{bubbles: true}})); }})(document.querySelector('{selector}'))")


def check_cone(browser):
    def expect_projection(ratio, side, normal, region, what):
        x, z = projected(0.6, ratio, side, normal)
        point = numbers(browser, "cone", "point")
        # A search by values finds the minimum to the root of a rounding.
        expect(near(point, [x, 0, z], 1e-7), "cone,", what, point, (x, 0, z))
        expect(data(browser, "cone", "region") == region, "cone,", what,
               data(browser, "cone", "region"))

    expect_projection(1, 1.5, 0.35, "slide", "at first")
    browser.run("document.querySelector('#try-cone .handle').focus()")
    browser.press("ArrowLeft", 4)
    browser.press("ArrowUp", 2)
    expect_projection(1, 1.3, 0.45, "slide", "by arrow keys")
    browser.press("ArrowUp", 5, shift=True)
    browser.press("ArrowLeft", 4, shift=True)
    expect_projection(1, 0.3, 1.7, "stick", "by arrow keys with shift")
    browser.press("ArrowDown", 11, shift=True)
    browser.press("ArrowLeft", 10)
    expect_projection(1, -0.2, -1.05, "separate", "far down")
    browser.press("ArrowUp", 25)
    browser.press("ArrowLeft", 4, shift=True)
    expect_projection(1, -1.2, 0.2, "slide", "to the left")
    set_value(browser, "#try-cone .slider:nth-child(2) input", -1)
    expect_projection(0.1, -1.2, 0.2, "slide", "soft sideways")
    set_value(browser, "#try-cone .slider:nth-child(2) input", 0)
    # By the mouse: 104 units are 1 N s in the drawing.
    browser.run("document.querySelector('#try-cone svg').scrollIntoView({block: 'center'})")
    place = browser.run("(r => [r.left, r.top, r.width])(document.querySelector('#try-cone svg')"
                        ".getBoundingClientRect())")
    unit = place[2] / 5.2

    def pixel(side, normal):
        return place[0] + (side + 2.6) * unit, place[1] + (1.9 - normal) * unit
    browser.drag(pixel(-1.2, 0.2), pixel(1, 1))
    point = numbers(browser, "cone", "point")
    expect(near(point, [*projected(0.6, 1, 1, 1)[:1], 0, projected(0.6, 1, 1, 1)[1]], 0.02),
           "cone, dragged", point)


def check_cradle(browser):
    def state():
        return (numbers(browser, "cradle", "after"), data(browser, "cradle", "unique"),
                data(browser, "cradle", "reason"), int(data(browser, "cradle", "outcomes")))
    after, unique, reason, count = state()
    expect(near(after, [0, 0, 1]) and unique == "true" and count == 1, "cradle (1, 0, 0):", after, unique)
    expect(reason == "dihedral m=3", "cradle (1, 0, 0): reason", reason)
    expect("One outcome, whatever" in browser.run(
        "document.querySelector('#try-cradle .verdict').textContent"), "cradle (1, 0, 0): verdict")
    outputs = browser.run("[...document.querySelectorAll('#try-cradle .fields output')]"
                          ".map(o => o.textContent).join(' ')")
    expect(outputs == "0.000 0.000 1.000", "cradle (1, 0, 0): fields", outputs)

    def set_field(name, ball, value):
        browser.run(f"(e => {{ e.value = '{value}'; e.dispatchEvent(new Event('change')); }})"
                    f"(document.querySelector('#try-cradle [aria-label=\"{name} of ball {ball}\"]'))")
    # 1 kg at 1 m/s against 3 kg, by the formula for two bodies; ball 3 runs away from them.
    set_field("mass", 2, 3)
    set_field("speed before", 3, 5)
    after, unique, *_ = state()
    expect(near(after, [-0.5, 0.5, 5]) and unique == "false", "cradle 1, 3, 1:", after, unique)
    # ⟨u, v⟩ = −√(m₁ m₃/((m₁ + m₂)(m₂ + m₃))) = −1/√2 where the middle ball has √2 − 1.
    set_field("mass", 2, math.sqrt(2) - 1)
    expect(state()[1:3] == ("true", "dihedral m=4"), "cradle, light middle:", state())
    # 1, 2, 1, 2 run into each other: more than one way; each keeps momentum and energy.
    set_value(browser, "#try-cradle .choices label:nth-child(1) select", 5, "change")
    after, unique, reason, count = state()
    masses, before = [1, 2, 1, 2], [1.5, 1, 0.5, 0]
    for power in (1, 2):
        sums = [sum(m * v ** power for m, v in zip(masses, vs)) for vs in (before, after)]
        expect(abs(sums[0] - sums[1]) < 1e-12, "cradle 1, 2, 1, 2: power", power, sums)
    expect(count > 1 and unique == "false" and reason == "unknown", "cradle 1, 2, 1, 2:", count, unique)
    expect(all(a <= b + 1e-12 for a, b in zip(after, after[1:])), "cradle: still closing", after)
    listed = browser.run("document.querySelectorAll('#try-cradle [type=radio]').length")
    expect(listed == min(count, 6), "cradle: outcomes listed", listed, count)
    browser.run("document.querySelectorAll('#try-cradle [type=radio]')[1].click()")
    shown = browser.run("[...document.querySelectorAll('#try-cradle .fields output')]"
                        ".map(o => parseFloat(o.textContent.replace('−', '-')))")
    expect(not near(shown, after, 6e-4), "cradle: the second outcome is the first")
    # Far apart masses: more momenta than it looks at, said in words, and nothing breaks.
    set_value(browser, "#try-cradle .choices label:nth-child(1) select", 7, "change")
    for ball, mass in enumerate([100, 0.01, 100, 0.01, 100, 0.01], 1):
        set_field("mass", ball, mass)
    text = browser.run("document.querySelector('#try-cradle .verdict').textContent")
    expect("outcomes" in text and state()[1] == "false", "cradle, far apart masses:", text)
    set_field("mass", 1, "")
    expect(browser.run("document.querySelector('#try-cradle .fields input').value") == "100",
           "cradle: an empty field gets its last value back")
    # Four equal balls: the 16 reduced words of a reversal.
    set_value(browser, "#try-cradle .choices label:nth-child(1) select", 6, "change")
    expect(state()[1:] == ("true", "Coxeter A3", 1), "cradle, four equal:", state())
    ends = browser.run("document.querySelectorAll('#try-cradle .tree .dot').length")
    expect(ends == 16, "cradle: ends of the tree of four equal balls", ends)
    # Six: three letters name the group of five gaps.
    set_value(browser, "#try-cradle .choices label:nth-child(1) select", 7, "change")
    expect(state()[1:] == ("true", "Coxeter A5", 1), "cradle, six equal:", state())
    expect(near(state()[0], [0, 0.25, 0.5, 0.75, 1, 1.25]), "cradle, six equal:", state()[0])


def spread_by_hand(angle, cue):
    """ξ by carrying both orders out, on velocities of three balls as complex numbers."""
    normals = [complex(math.cos(angle / 2), s * math.sin(angle / 2)) for s in (1, -1)]

    def finish(first):
        balls, turn = [1 + 0j, 0j, 0j], first
        for _ in range(1000):
            rates = [((balls[k + 1] - balls[0]) * normals[k].conjugate()).real for k in (0, 1)]
            if min(rates) > -1e-12:
                return balls
            if rates[turn] < -1e-12:
                impulse = -2 * rates[turn] / (1 / cue + 1)
                balls[0] -= impulse / cue * normals[turn]
                balls[turn + 1] += impulse * normals[turn]
            turn = 1 - turn
        return None
    a, b = finish(0), finish(1)
    weights = [cue, 1, 1]
    return math.sqrt(sum(m * abs(p - q) ** 2 for m, p, q in zip(weights, a, b)) / cue)


def check_billiards(browser):
    for degrees, cue in [(60, 1), (90, 1), (120, 1), (150, 1), (75, 4), (140, 0.25), (100, 0.0625)]:
        set_value(browser, "#try-billiards .slider:nth-child(2) input", math.log2(cue))
        set_value(browser, "#try-billiards .slider:nth-child(1) input", degrees)
        spread = numbers(browser, "billiards", "spread")[0]
        expected = spread_by_hand(math.radians(degrees), cue)
        expect(abs(spread - expected) < 1e-13, "billiards", degrees, cue, spread, expected)
        count = int(data(browser, "billiards", "outcomes"))
        expect(count == (1 if degrees == 90 else 2), "billiards", degrees, "outcomes", count)
        note = browser.run("document.querySelector('#try-billiards .small').textContent")
        expect("10⁻¹" in note, "billiards: the line by pencil is off the dots", cue, note)


def check_keyboard(browser):
    """Tab comes to every control of the figures and of the animations, and shows where it is."""
    browser.run("document.activeElement.blur()")
    browser.run("window.scrollTo(0, 0)")
    # Of radio buttons with one name Tab comes to the chosen one only.
    controls = browser.run("""
      (() => { window.controls = [...document.querySelectorAll(
        'a[href], button, input:not([type=radio]), input[type=radio]:checked, select, summary, [tabindex]')];
        window.controls = controls.filter(e => e.checkVisibility());
        return window.controls.length; })()""")
    reached = set()
    outlined = True
    for _ in range(controls + 5):
        browser.press("Tab")
        k = browser.run("window.controls.indexOf(document.activeElement)")
        reached.add(k)
        outlined = outlined and browser.run(
            "document.activeElement.matches(':focus-visible') || document.activeElement === document.body")
    missing = browser.run(f"window.controls.filter((_, k) => ![{','.join(map(str, reached))}]"
                          ".includes(k)).map(e => e.outerHTML.slice(0, 90)).join(' | ')")
    expect(controls > 30 and not missing, "Tab does not come to", missing)
    expect(outlined, "a control does not show that it has the focus")
    names = browser.run("""[...document.querySelectorAll('figure.try input, figure.try select,' +
      ' .player input, [tabindex]')].filter(e => !(e.getAttribute('aria-label') ||
      (e.labels && e.labels.length && e.labels[0].textContent.trim()))).length""")
    expect(names == 0, names, "controls without a name")


def check_motion(browser, path):
    """Nothing moves by itself where motion is not wanted; the space bar starts and stops it."""
    browser.prefer(reduced_motion="reduce")
    if not open_page(browser, path):
        return
    count = browser.run("""(() => {
      window.buttons = [...document.querySelectorAll('.player button, figure.try button.play')];
      window.scenes = buttons.map(b => (b.closest('.player') || b.closest('figure')).querySelector('svg'));
      return buttons.length; })()""")
    expect(count == PLAYERS, "things that play:", count)
    changed = "scenes[{k}].outerHTML !== before"
    for k in range(count):
        browser.run(f"scenes[{k}].scrollIntoView({{block: 'center'}});"
                    f"buttons[{k}].focus({{preventScroll: true}}); window.before = scenes[{k}].outerHTML")
        label = browser.run(f"new Promise(done => setTimeout(() => done(buttons[{k}].textContent), 150))")
        expect(label == "Play" and not browser.run(changed.format(k=k)), "player", k,
               "moves although motion is to be reduced", label)
        browser.press(" ")
        expect(browser.wait_until(changed.format(k=k), 10), "player", k, "does not play")
        browser.press(" ")
        label = browser.run(f"window.before = scenes[{k}].outerHTML; buttons[{k}].textContent")
        stopped = not browser.run("new Promise(done => setTimeout(() => done("
                                  f"{changed.format(k=k)}), 150))")
        expect(label == "Play" and stopped, "player", k, "does not stop", label)
    browser.prefer(reduced_motion="no-preference")
    if open_page(browser, path):  # else they play where they are seen
        browser.run("document.querySelector('#try-cradle').scrollIntoView();"
                    "window.before = document.querySelector('#try-cradle .scene').outerHTML")
        expect(browser.wait_until(
            "document.querySelector('#try-cradle .scene').outerHTML !== window.before", 10),
            "the cradle does not play by itself")


def check_widths(browser, path):
    for width in (320, 390, 768, 1280):
        browser.resize(width, 800, mobile=width < 500)
        if not open_page(browser, path):
            return
        reach = browser.run("document.documentElement.scrollWidth")
        expect(reach <= width, "page of width", width, "reaches to", reach)
        low = browser.run("Math.min(...[...document.querySelectorAll('figure.try .scene')]"
                          ".map(s => s.getBoundingClientRect().width))")
        expect(low > 0.7 * min(width, 480), "pictures at width", width, "are", low)
        browser.run("document.querySelector('.menu').open = true")
        reach = browser.run("(list => Math.max(document.documentElement.scrollWidth, list.getBoundingClientRect().right, "
                            "list.scrollWidth))(document.querySelector('.list'))")
        expect(reach <= width, "menu at width", width, "reaches to", reach)
        sheer = browser.run("(() => { for (let e = document.querySelector('.list'); e; e = e.parentElement) "
                            "if (getComputedStyle(e).opacity !== '1') return true; return false; })()")
        expect(not sheer, "the page shows through the menu")
        bar = browser.run("[...document.querySelectorAll('.strip > *')].filter(e => e.checkVisibility()).map(e => e.offsetTop)")
        expect(max(bar) - min(bar) < 20, "the bar at width", width, "has more than one line", bar)
    browser.resize(1280, 900)


PLACES = "[...document.querySelectorAll('.menu .list a')]"


def check_folded(browser, path):
    """What a reader sees first is motion, and of the sections their titles."""
    for width, height, tall in ((1280, 900, 3400), (390, 844, 5600)):
        browser.resize(width, height, mobile=width < 500)
        if not browser.open(path):
            return
        shown = browser.run("document.documentElement.scrollHeight")
        expect(shown < tall, "the folded page at width", width, "is", shown, "pixels high")
        low = browser.run("document.querySelector('.player svg').getBoundingClientRect().bottom")
        expect(0 < low <= height, "at width", width, "the first picture ends at", low)
        expect(browser.run("[...document.querySelectorAll('details')].every(d => !d.open)"), "a section is open at first")
    browser.resize(1280, 900)
    bare = browser.run("[...document.querySelectorAll('summary h2')].filter(h => !h.textContent.trim() || "
                       "!h.parentElement.querySelector('.teaser').textContent.trim()).length")
    expect(bare == 0, bare, "sections without a title or a sentence")
    for link in browser.run("[...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))"):
        name = link.split("#")[0]
        expect(not name or (path.parent / name).is_file(), "a link leads nowhere:", link)


def told_place(browser, place):
    """Whether the section of a place is open, and its title in the window below the bar."""
    return browser.run(f"""(() => {{ const e = document.getElementById('{place}'), d = e.closest('details');
      const title = d.querySelector('summary').getBoundingClientRect(), bar = document.querySelector('nav').getBoundingClientRect();
      const own = e.matches('section') ? title : e.getBoundingClientRect();
      return [d.open, Math.round(own.top - bar.bottom), innerHeight]; }})()""")


def expect_place(browser, place, how):
    """Where the page ends soon below a place, it stands lower in the window."""
    expect(browser.wait_until(f"document.getElementById('{place}').closest('details').open", 5), place, "stays folded,", how)
    opened, below, height = told_place(browser, place)
    expect(opened and -2 <= below < height - 60, place, "is not in sight,", how, below)


def check_menu(browser, path):
    """Each link of the menu opens its section and shows it; Enter opens the menu, Escape and a link close it."""
    browser.open(path)
    places = [link[1:] for link in browser.run(f"{PLACES}.map(a => a.getAttribute('href'))")]
    sections = browser.run("[...document.querySelectorAll('details.section > section')].map(s => s.id)")
    expect(places == sections and len(set(places)) > 15, "the menu does not list the sections", places, sections)
    browser.run("document.querySelector('.menu > summary').focus()")
    browser.press("Enter")
    expect(browser.run(f"{PLACES}.every(a => a.checkVisibility())"), "Enter does not open the menu")
    browser.press("Escape")
    expect(browser.run("!document.querySelector('.menu').open && document.activeElement.matches('.menu > summary')"),
           "Escape does not close the menu")
    for k, place in enumerate(places):
        browser.run(f"document.querySelector('.menu').open = true; {PLACES}[{k}].click()")
        expect_place(browser, place, "by the menu")
        expect(browser.run("!document.querySelector('.menu').open"), "the menu stays open after", place)
    browser.run("scrollTo(0, 1e6)")
    top = browser.run("document.querySelector('nav').getBoundingClientRect().top")
    expect(top == 0, "the menu is out of reach at the end of the page", top)
    browser.run("document.querySelectorAll('details.section').forEach(d => d.open = false)")
    browser.run("document.querySelector('a[href=\"#try-cradle\"]').click()")
    expect_place(browser, "try-cradle", "by a link into it")
    # The same link again, after the section has been folded: the address does not change.
    browser.run("document.getElementById('try-cradle').closest('details').open = false;"
                "document.querySelector('a[href=\"#try-cradle\"]').click()")
    expect_place(browser, "try-cradle", "by the same link again")
    browser.run("document.querySelectorAll('details.section').forEach(d => d.open = false);"
                "document.querySelector('details.section > summary').focus()")
    browser.press("Enter")
    expect(browser.run("document.querySelector('details.section').open"), "Enter does not unfold a section")
    browser.run("document.querySelector('.fold button').click()")
    expect(browser.run("[...document.querySelectorAll('details.section')].every(d => d.open)"), "not all sections open")


PAPER = 15  #: pages of paper at least; what is not folded away fills two


def prints_all(browser):
    """Whether there is a page of that number; all of them would take long to make."""
    try:
        browser.send("Page.printToPDF", pageRanges=f"{PAPER}")
    except RuntimeError as fault:
        if "range" not in str(fault):
            raise
        return False
    return True


def check_print(browser, path):
    """Paper has what the screen folds away, and afterwards the screen folds it again."""
    browser.open(path)
    expect(prints_all(browser), "paper lacks what is folded")
    expect(browser.run("[...document.querySelectorAll('details.section')].every(d => !d.open)"), "printing leaves sections open")


def check_without_scripts(browser, path):
    """A link into a section unfolds it, and paper has all of it, too."""
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    browser.open("/dev/null")
    address = path.resolve().as_uri()
    for place in ("counting-the-digits-of", "numbers"):
        browser.send("Page.navigate", url="about:blank")
        browser.send("Page.navigate", url=f"{address}#{place}")
        expect(browser.wait_until("document.readyState === 'complete'"), "the page does not load without scripts")
        expect_place(browser, place, "without scripts")
    browser.open(path)  # with all sections folded
    expect(prints_all(browser), "paper lacks what is folded, without scripts")
    browser.send("Emulation.setScriptExecutionDisabled", value=False)


def check_schemes(browser):
    def brightness(what):
        text = browser.run(f"getComputedStyle({what[0]}).{what[1]}")
        red, green, blue = (int(part) for part in text[4:-1].split(",")[:3])
        return (red + green + blue) / 3
    parts = {"paper": ("document.body", "backgroundColor"), "ink": ("document.body", "color"),
             "figure": ("document.querySelector('figure.try')", "backgroundColor"),
             "list": ("document.querySelector('#try-cradle select')", "backgroundColor")}
    for scheme in ("light", "dark"):
        browser.prefer(color_scheme=scheme)
        contrast, where, _ = browser.least_contrast("p, a, td, th, h1, h2, h3, summary span, b, figcaption, .legend span")
        expect(contrast >= 4.5, scheme, "contrast", contrast, "of", where)
        for name, part in parts.items():
            bright = (name == "ink") == (scheme == "dark")
            expect((brightness(part) > 128) == bright, scheme, name, brightness(part))
    browser.prefer(color_scheme="light")


def check_without_program(browser, path):
    """Where WebAssembly does not run each figure says so, and the rest of the page stands."""
    source = "delete window.WebAssembly;"
    added = browser.send("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
    browser.open(path)
    said = "[...document.querySelectorAll('.waiting')].filter(p => p.textContent.includes('no WebAssembly'))"
    expect(browser.wait_until(f"{said}.length === 3", 10), "no word about missing WebAssembly")
    expect(browser.run("document.querySelectorAll('.player .controls:not([hidden])').length") == PLAYERS - 2,
           "animations need WebAssembly")
    browser.send("Page.removeScriptToEvaluateOnNewDocument", identifier=added)


def main(arguments):
    program = find_browser()
    if not program:
        print("skipped: no chromium is installed")
        return 77
    path = pathlib.Path(arguments[0]) if arguments else PAGE
    browser = Browser(program)
    try:
        browser.resize(1280, 900)
        if open_page(browser, path):
            check_cone(browser)
            check_cradle(browser)
            check_billiards(browser)
            check_keyboard(browser)
            check_schemes(browser)
            check_widths(browser, path)
            check_motion(browser, path)
            check_folded(browser, path)
            check_menu(browser, path)
            check_print(browser, path)
            check_without_scripts(browser, path)
        check_without_program(browser, path)
        expect(not browser.complaints, "console:", browser.complaints[:3])
        strangers = [url for url in browser.requests if not url.startswith(("file:", "data:"))]
        expect(not strangers, "fetched:", strangers)
    finally:
        browser.close()
    print(f"{len(faults)} faults" if faults else "the page works")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
