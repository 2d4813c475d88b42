# SPDX-License-Identifier: BSD-3-Clause
"""Turns what a child wrote into a row, and rows into words. Nothing that a child writes is believed unseen."""

import math

WORDS = ["right", "near", "wrong", "no answer", "not expressible"]  #: best first
ROUNDING = 1e-6  #: an error below this share of the tolerance is not worth a word [-]


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def fault_of(answer, count):
    """Why the answers of a child are none; None if they are `count` finite numbers."""
    values = answer.get("answers")
    if not isinstance(values, list):
        return "gave no list of answers"
    if len(values) != count:
        return f"gave {len(values)} answers where {count} were asked"
    for i, value in enumerate(values):
        if isinstance(value, str):
            return f"case {i}: {value[:200]}"
        if not is_number(value):
            return f"answer {i} is {value!r:.40}, not a finite number"
    if not is_number(answer.get("seconds")) or answer["seconds"] < 0:
        return "gave no time"
    return None


def judge(scene, answer, fault):
    """The row's verdict: a word of WORDS, and the numbers or the reason with it."""
    if answer is not None and fault is None and isinstance(answer.get("not_expressible"), str):
        return {"verdict": "not expressible", "reason": answer["not_expressible"][:200]}
    if fault is None:
        fault = fault_of(answer, len(scene.cases))
    if fault is not None:
        return {"verdict": "no answer", "reason": fault}
    errors = [abs(value - scene.truth(case)) for value, case in zip(answer["answers"], scene.cases)]
    error = max(errors)
    word = "right" if error <= scene.tolerance else "near" if error <= 10 * scene.tolerance else "wrong"
    steps = answer.get("steps") if is_number(answer.get("steps")) and answer.get("steps") > 0 else None
    return {"verdict": word, "error": error, "answers": answer["answers"], "seconds": answer["seconds"], "steps": steps}


def rank(row):
    """Orders rows of a scene: the word, then the error, then the time."""
    return WORDS.index(row["verdict"]), row.get("error", math.inf), row.get("seconds", math.inf)


def best(rows):
    return min(rows, key=rank)


def number_text(value):
    """Three digits, as a person writes them."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def listed(names):
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def verdict_line(scene, by_engine):
    """One sentence or two on a scene: who is right at the defaults, who at the best settings, and carom's place.

    by_engine: engine -> {"default": row, "best": row}."""
    able = {name: pair for name, pair in by_engine.items() if pair["best"]["verdict"] != "not expressible"}
    if not able:
        return "No engine here can express it."
    default = [name for name, pair in able.items() if pair["default"]["verdict"] == "right"]
    tuned = [name for name, pair in able.items() if pair["best"]["verdict"] == "right" and name not in default]
    line = f"Right at its defaults: {listed(default)}." if len(default) == 1 else \
        f"Right at their defaults: {listed(default)}." if default else "No engine is right at its defaults."
    if tuned:
        line += f" Right with the best settings of the search{' also' if default else ''}: {listed(tuned)}."
    failed = [name for name in able if name not in default and name not in tuned]
    if failed:
        line += f" Not right with any: {listed(failed)}."
    if "carom" not in able:
        return line + (" carom cannot express it." if "carom" in by_engine else "")
    return line + carom_place(scene, able)


def carom_place(scene, able):
    """Whether carom loses, and to whom; a draw of right answers is decided by nothing else."""
    own = able["carom"]["best"]
    better = [name for name, pair in able.items() if name != "carom" and
              WORDS.index(pair["best"]["verdict"]) < WORDS.index(own["verdict"])]
    if better:
        return f" carom loses to {listed(better)}: it is {own['verdict']}."
    if own["verdict"] != "right":
        return f" carom is {own['verdict']}, too."
    closest = min(able, key=lambda name: able[name]["best"].get("error", math.inf))
    told = own["error"] > 2 * able[closest]["best"]["error"] and own["error"] > ROUNDING * scene.tolerance
    if closest != "carom" and told:
        return (f" The smallest error is {closest}'s, {number_text(able[closest]['best']['error'])} {scene.unit}, "
                f"beside carom's {number_text(own['error'])}.")
    return ""


def clean(row):
    """A row that JSON can hold and a page can show, whatever the child wrote: numbers that are none become words."""
    answer = row["answer"]
    if answer is None:
        return row
    kept = {}
    for name in ("seconds", "steps"):
        kept[name] = answer.get(name) if is_number(answer.get(name)) else None
    if isinstance(answer.get("not_expressible"), str):
        kept["not_expressible"] = answer["not_expressible"][:200]
    values = answer.get("answers")
    if isinstance(values, list):
        kept["answers"] = [value if is_number(value) else f"{value!s:.150}" if isinstance(value, str) else
                           f"the answer is {value!r:.40}, which is no finite number" for value in values[:200]]
    return row | {"answer": kept}
