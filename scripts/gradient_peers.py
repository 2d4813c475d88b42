#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Asks other engines for gradients that are known in closed form, and writes docs/gradients.md.

    scripts/gradient_peers.py                 every peer, then the page
    scripts/gradient_peers.py mujoco carom    these alone; the others keep their numbers
    scripts/gradient_peers.py mjx=FILE        what its program has printed into a file
    scripts/gradient_peers.py --page          the page again out of docs/gradients.json
    scripts/gradient_peers.py --check         whether the page is that of the numbers

Each peer gets a virtual environment of its own below build/gradient-peers with a pinned version
from PyPI, and runs in a process of its own with a time limit. carom runs in the environment that
scripts/python.sh makes. What does not install, or cannot express a scene, is written down with its
reason.
"""

import datetime
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "gradient-peers"
NUMBERS = ROOT / "docs" / "gradients.json"
PAGE = ROOT / "docs" / "gradients.md"
INSTALL_LIMIT, RUN_LIMIT = 900, 1200  # [s]

sys.path.insert(0, str(ROOT / "python" / "peers"))
from peer_scenes import SCENES  # noqa: E402

# name -> title, packages, program, what it was asked for
PEERS = {
    "carom": (
        "carom",
        [],
        "carom_rollouts.py",
        "rigid contact, Coulomb's law, tolerance 1e-15, steps of 2 ms chained; impacts by "
        "`carom.impact`",
    ),
    "mujoco": (
        "MuJoCo, differences",
        ["mujoco==3.3.7"],
        "mujoco_differences.py",
        "central differences of rollouts, steps of 1e-6; solver, cones, `solref` and `solimp` by "
        "default, steps of 2 ms; impacts with `solref` = (−1e5, −damping) and steps of 1 ms",
    ),
    "transition": (
        "MuJoCo, `mjd_transitionFD`",
        ["mujoco==3.3.7"],
        "mujoco_differences.py transition",
        "the same models; centred, steps of 1e-6, chained over the steps of a rollout",
    ),
    "mjx": (
        "MJX, jvp",
        ["mujoco==3.3.7", "mujoco-mjx==3.3.7", "jax[cpu]==0.10.2"],
        "mjx_gradients.py",
        "`jax.jvp` through the rollout, in doubles on the processor, the same models and "
        "settings; masses in `body_mass` alone",
    ),
    "brax": (
        "Brax, grad",
        ["brax==0.14.2"],
        "brax_gradients.py",
        "`jax.grad` through the rollout of its generalized pipeline, in doubles on the processor, "
        "the same models, Brax's defaults",
    ),
    "jaxsim": (
        "JaxSim, jvp",
        ["jaxsim==0.9.0", "jax==0.10.2"],
        "jaxsim_gradients.py",
        "`jax.jvp` through the rollout, in doubles on the processor; its soft contact with default "
        "stiffness and damping, steps of 1 ms, for the gap of 0.1 ms; the impact without damping "
        "and with steps of 0.1 ms, its wall as the ground in turned axes; weight and push as "
        "forces on a link",
    ),
    "drake": (
        "Drake, AutoDiffXd",
        ["drake==1.51.1"],
        "drake_autodiff.py",
        "a continuous plant with point contact, penetration allowance and stiction tolerance by "
        "default, Runge-Kutta steps of 0.02 ms; weight and push as generalized forces",
    ),
    "nimble": (
        "Nimble, Jacobians",
        ["nimblephysics==0.10.52.1", "numpy<2"],
        "nimble_jacobians.py",
        "`BackpropSnapshot` of its C++ module, chained over steps of 1 ms, defaults",
    ),
}
SHARED = {"transition": "mujoco", "mjx": "mujoco"}  # a peer in the environment of another
BARE = {"nimble"}  # installed without what it depends on
LEFT_OUT = {
    "genesis-world": "needs torch, which is gigabytes from PyPI",
}


def tail(text):
    """The last line of an output that says something."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no output"


def environment(name, packages):
    """The Python of a peer, or why there is none."""
    if name == "carom":
        python = ROOT / "build" / "python-tests" / "bin" / "python"
        return (python, None) if python.exists() else (None, "scripts/python.sh has not been run")
    folder = FOLDER / SHARED.get(name, name)
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    if name in BARE:
        packages = ["--no-deps", *packages]
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_LIMIT)
    except subprocess.TimeoutExpired:
        return None, f"did not install within {INSTALL_LIMIT} s"
    return (python, None) if done.returncode == 0 else (None, tail(done.stderr))


def ask(name):
    """What a peer answers: its version and its scenes, or a reason."""
    _, packages, program, _ = PEERS[name]
    python, reason = environment(name, packages)
    if reason:
        return {"reason": reason}
    folder = ROOT / "python" / "peers"
    try:
        done = subprocess.run(
            [python, *program.split()],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=RUN_LIMIT,
        )
    except subprocess.TimeoutExpired:
        return {"reason": f"gave no answer within {RUN_LIMIT} s"}
    if done.returncode != 0:
        return {"reason": tail(done.stderr)}
    return dated(done.stdout)


def dated(printed):
    """The answer that a program printed, with today's date."""
    answer = json.loads(printed.strip().splitlines()[-1])
    return answer | {"date": datetime.date.today().isoformat()}


def number(value):
    """A number as the table shows it."""
    if value != value:
        return "NaN"
    if value == 0 or abs(value) < 1e-12:
        return "0"
    text = f"{value:.4g}"
    return text.replace("-", "−")


def cell(answer, scene, datum):
    """What a peer gives: the outcome (datum None) or a gradient."""
    found = answer.get("scenes", {}).get(scene, {})
    if datum is None:
        return number(found["outcome"]) if "outcome" in found else "–"
    value = found.get("gradients", {}).get(datum)
    return "–" if value is None else number(value)


def peer_table(answers):
    """One row per outcome and gradient."""
    shown = [name for name in PEERS if "scenes" in answers.get(name, {})]
    titles = [PEERS[name][0] for name in shown]
    lines = [
        "| scene | | exact | " + " | ".join(titles) + " |",
        "|---|---|---" + "|---" * len(shown) + "|",
    ]
    for scene, given in SCENES.items():
        rows = [(scene, "outcome", None, given["outcome"])]
        rows += [("", f"by {datum}", datum, value) for datum, value in given["gradients"].items()]
        for first, label, datum, value in rows:
            cells = " | ".join(cell(answers[name], scene, datum) for name in shown)
            lines.append(f"| {first} | {label} | {number(value)} | {cells} |")
    return lines


def settings_table(answers):
    lines = ["| engine | version, date | asked how |", "|---|---|---|"]
    for name, (title, _, _, how) in PEERS.items():
        answer = answers.get(name, {"reason": "has not been asked"})
        version = (
            f"{answer['version']}, {answer['date']}" if "version" in answer else answer["reason"]
        )
        lines.append(f"| {title} | {version} | {how} |")
    for name, reason in LEFT_OUT.items():
        lines.append(f"| {name} | left out | {reason} |")
    return lines


def faults(answers):
    """What engines said where they gave no number."""
    for name, (title, _, _, _) in PEERS.items():
        answer = answers.get(name, {})
        for scene, found in answer.get("scenes", {}).items():
            if "reason" in found:
                yield f"* {title}, {scene}: {found['reason']}"
        for reason in (
            [answer.get("reverse mode", {}).get("reason")] if "reverse mode" in answer else []
        ):
            yield f"* {title}, reverse mode (`jax.grad`): {reason or 'works'}"
        for missing, why in answer.get("without", {}).items():
            yield f"* {title}, by {missing}: {why}"


def carom_table(answers):
    lines = [
        "| scene | what happens | numbers | error of outcomes | error of gradients |",
        "|---|---|---|---|---|",
    ]
    for name, found in answers.get("carom", {}).get("table", {}).items():
        lines.append(
            f"| {name} | {found['about']} | {found['numbers']} | {found['outcome']:.0e} "
            f"| {found['gradient']:.0e} |"
        )
    return lines


def page(answers):
    """The page with its tables."""
    words = (ROOT / "python" / "peers" / "page.md").read_text(encoding="utf-8")
    parts = {
        "carom": carom_table(answers),
        "peers": peer_table(answers),
        "settings": settings_table(answers),
        "faults": list(faults(answers)),
    }
    for name, lines in parts.items():
        words = words.replace(f"{{{{{name}}}}}", "\n".join(lines))
    return words


def main():
    names = [name for name in sys.argv[1:] if not name.startswith("-")]
    unknown = [name for name in names if name.partition("=")[0] not in PEERS]
    if unknown:
        sys.exit(f"no peer {unknown[0]}; there are {', '.join(PEERS)}")
    answers = json.loads(NUMBERS.read_text(encoding="utf-8")) if NUMBERS.exists() else {}
    if "--check" in sys.argv:
        sys.exit(
            0
            if PAGE.read_text(encoding="utf-8") == page(answers)
            else "docs/gradients.md is not current"
        )
    if "--page" not in sys.argv:
        for given in names or PEERS:
            name, _, file = given.partition("=")
            print(f"== {name}", flush=True)
            answers[name] = (
                dated(pathlib.Path(file).read_text(encoding="utf-8")) if file else ask(name)
            )
            print(json.dumps(answers[name])[:300], flush=True)
            NUMBERS.write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
