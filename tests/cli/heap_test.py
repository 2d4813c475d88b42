#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom heap` and `carom solve --threads`: contacts counted anew, residuals from the written file,
the same bits on any number of threads, memory, exit codes."""
import os
import pathlib
import pty
import re
import resource
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from carom_program import DATA, Checks  # noqa: E402
from text_problem import Problem  # noqa: E402

FIELDS = ["bodies", "contacts", "make_seconds", "seconds", "iterations", "residual",
          "peak_memory_bytes", "threads", "status"]
SHAPES = ["spheres", "boxes", "mixed"]
CONVEX = ["--law", "convex"]


class Noise:
    """splitmix64, as numbers in [-1, 1)."""

    def __init__(self):
        self.state = 20260101

    def next(self):
        mask = 2**64 - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return ((z ^ (z >> 31)) >> 11) * 2.0**-52 - 1

    def skip(self, count):
        for _ in range(count):
            self.next()


def count_contacts(bodies, shape):
    """What the description of the heap says, with the draws that decide who touches beside."""
    noise = Noise()
    side = next(s for s in range(1, bodies + 1)
                if sum((s - k)**2 for k in range(min(10, s))) >= bodies)

    def box(body):
        return shape == "boxes" or (shape == "mixed" and body % 4 == 3)

    total, made, below = 0, 0, []
    while made < bodies:
        layer = []
        for place in range(side * side):
            if made == bodies:
                break
            row, column = divmod(place, side)
            body, made = made, made + 1
            layer.append(body)
            noise.skip(7)  # mass and velocity
            points = []
            if not below:
                points.append(4 if box(body) else 1)
                noise.skip(points[-1])  # gaps
            else:
                for other in [(row + r) * (side + 1) + column + c for r in (0, 1) for c in (0, 1)]:
                    either = box(body) or box(below[other])
                    points.append(4 if shape == "boxes" else 2 if either else 1)
                    noise.skip(3 + points[-1])  # normal, gaps
            for beside in [column > 0, row > 0]:
                if beside and noise.next() >= 0.4:
                    points.append(4 if shape == "boxes" else 1)
                    noise.skip(3 + points[-1])
            total += sum(points)
        below, side = layer, side - 1
    return total


def check_fields(checks, name, answer, bodies, steps, threads=1):
    checks.expect(list(answer) == FIELDS, name, "fields", list(answer))
    checks.expect(answer["bodies"] == bodies and answer["threads"] == threads, name, answer)
    for field in ("seconds", "iterations", "residual"):
        checks.expect(len(answer[field]) == steps, name, field, answer[field])
    checks.expect(all(s > 0 for s in answer["seconds"]) and answer["make_seconds"] > 0, name,
                  "seconds", answer)
    checks.expect(1e6 < answer["peak_memory_bytes"] < 1e12, name, answer["peak_memory_bytes"])
    checks.expect(answer["status"] == "converged", name, answer["status"])
    checks.expect(all(0 <= r <= 1.01e-8 for r in answer["residual"]), name, answer["residual"])
    checks.expect(all(isinstance(i, int) and i >= 0 for i in answer["iterations"]), name, answer)


def check_counts(checks):
    sizes = [1, 2, 5, 31, 120] if checks.runs_slowly() else [1, 2, 5, 31, 385, 2000]
    for shape in SHAPES:
        for bodies in sizes:
            answer = checks.json_of("heap", "--bodies", bodies, "--shape", shape, *CONVEX)
            check_fields(checks, f"{bodies} {shape}", answer, bodies, 1)
            expected = count_contacts(bodies, shape)
            checks.expect(answer["contacts"] == expected, bodies, shape, "contacts",
                          answer["contacts"], "expected", expected)
    mixed = checks.json_of("heap", "--bodies", "1e2", *CONVEX)
    checks.expect(mixed["bodies"] == 100 and mixed["contacts"] == count_contacts(100, "mixed"),
                  "1e2", mixed["bodies"], mixed["contacts"])


def check_written(checks):
    """The written file, read by other code, has the heap's counts and its answer the residual."""
    path = pathlib.Path(checks.folder.name, "heap.txt")
    for shape in SHAPES:
        answer = checks.json_of("heap", "--bodies", 40, "--shape", shape, *CONVEX, "--write", path)
        problem = Problem(path.read_text(encoding="utf-8"))
        checks.expect(len(problem.matrices) == 40, shape, "bodies in the file")
        checks.expect(len(problem.contacts) == answer["contacts"], shape, "contacts in the file")
        checks.expect(not any(problem.guess), shape, "guess: rest")
        for matrix in problem.matrices:
            radius_squared = matrix[0][0] / matrix[5][5]  # in squares of the half width
            either = min(abs(radius_squared / 0.0025 - share) for share in (0.4, 2 / 3))
            checks.expect(either < 1e-12, shape, "inertia", matrix[0][0], matrix[5][5])
        solved = checks.json_of("solve", path, *CONVEX)
        checks.expect(solved["iterations"] == answer["iterations"][0], shape, "iterations",
                      solved["iterations"], answer["iterations"])
        velocity = solved["velocity"]
        impulse = [x for c in problem.contacts
                   for x in c.impulse(problem.contact_velocity(c, velocity))]
        residual = problem.residual(velocity, impulse)
        checks.expect(abs(residual - answer["residual"][0]) <= 1e-3 * residual + 1e-14, shape,
                      "residual", residual, "printed", answer["residual"])
    for law in (["--rigid", *CONVEX], []):
        answer = checks.json_of("heap", "--bodies", 8, *law, "--write", path)
        solved = checks.json_of("solve", path, *(CONVEX if law else []))
        worst = solved["certificate"]["natural_map_error"]
        checks.expect(solved["status"] == "converged", law, solved["status"])
        checks.expect(abs(worst - answer["residual"][0]) <= 1e-3 * worst + 1e-13, law, worst, answer)


def check_threads(checks):
    """Residuals and iterations, all digits of them, are the same on any number of threads."""
    for law in (CONVEX, [], ["--rigid", *CONVEX]):
        size = 300 if law == CONVEX else 8
        first = None
        for threads in (1, 2, 3):
            answer = checks.json_of("heap", "--bodies", size, "--steps", 2, "--threads", threads, *law)
            check_fields(checks, f"{law} threads {threads}", answer, size, 2, threads)
            same = [answer["residual"], answer["iterations"], answer["contacts"]]
            first = first or same
            checks.expect(same == first, law, "threads", threads, same, first)
    for name in ("mujoco_sphere_10", "pile_n100_s60", "wall_n10"):
        for options in (CONVEX, ["--rigid"]):
            if options != CONVEX and name == "pile_n100_s60" and checks.runs_slowly():
                continue
            answers = [checks.json_of("solve", DATA / f"{name}.txt", "--threads", threads, *options)
                       for threads in (1, 2, 3)]
            for answer in answers:
                answer.pop("seconds")
            checks.expect(answers[0] == answers[1] == answers[2], name, options, "other bits")


def check_steps(checks):
    steps, bodies = (3, 30) if checks.runs_slowly() else (10, 385)
    for law in (CONVEX, ["--shape", "boxes", *CONVEX], ["--tolerance", "1e-11", *CONVEX]):
        answer = checks.json_of("heap", "--bodies", bodies, "--steps", steps, *law)
        check_fields(checks, law, answer, bodies, steps)
        one = checks.json_of("heap", "--bodies", bodies, *law)
        checks.expect(answer["residual"][0] == one["residual"][0], law, "the first step of many")
        if "1e-11" in law:
            checks.expect(max(answer["residual"]) <= 1.01e-11, law, answer["residual"])
    exact = checks.json_of("heap", "--bodies", 5, "--rigid", "--steps", 3)
    check_fields(checks, "rigid", exact, 5, 3)


def check_stopped_short(checks):
    answer = checks.json_of("heap", "--bodies", 20, "--steps", 3, *CONVEX, "--tolerance", "1e-300", code=3)
    checks.expect(list(answer) == FIELDS and answer["status"] == "no_progress", "status", answer)
    checks.expect(len(answer["seconds"]) == len(answer["residual"]) == 1, "steps after", answer)
    checks.expect(answer["residual"][0] < 1e-10, "best answer", answer)
    result = checks.run("heap", "--bodies", 20, *CONVEX, "--tolerance", "1e-300")
    checks.expect(result.returncode == 3 and "no_progress" in result.stdout, "table", result.stdout)


def check_readable(checks):
    result = checks.run("heap", "--bodies", 12, "--steps", 2, *CONVEX)
    checks.expect(result.returncode == 0 and result.stderr == "", "table", result.stderr)
    for part in ("12 bodies", "compliant", "convex law", "µs per contact", "most memory", " mm"):
        checks.expect(part in result.stdout, "table lacks", part, result.stdout)
    plain = checks.run("heap", "--bodies", 5)
    checks.expect("coulomb law" in plain.stdout, "the law unless named", plain.stdout)


BAD = {
    "bodies 0": (["--bodies", "0"], "--bodies", "from 1 to 1000000", "'0'"),
    "bodies -1": (["--bodies", "-1"], "--bodies"),
    "bodies 1000001": (["--bodies", "1000001"], "--bodies", "from 1 to 1000000", "'1000001'"),
    "bodies 1.5": (["--bodies", "1.5"], "--bodies", "whole number", "'1.5'"),
    "bodies nan": (["--bodies", "nan"], "--bodies", "'nan'"),
    "bodies inf": (["--bodies", "inf"], "--bodies", "'inf'"),
    "bodies 1e999": (["--bodies", "1e999"], "--bodies", "'1e999'"),
    "bodies word": (["--bodies", "ten"], "--bodies", "whole number", "'ten'"),
    "bodies empty": (["--bodies", ""], "--bodies"),
    "no bodies": ([], "--bodies"),
    "shape": (["--bodies", "5", "--shape", "cones"], "--shape", "spheres, boxes or mixed", "'cones'"),
    "law": (["--bodies", "5", "--law", "exact"], "--law", "convex or coulomb", "'exact'"),
    "threads 0": (["--bodies", "5", "--threads", "0"], "--threads", "from 1 to 1024", "'0'"),
    "threads -2": (["--bodies", "5", "--threads", "-2"], "--threads"),
    "threads word": (["--bodies", "5", "--threads", "all"], "--threads", "'all'"),
    "threads many": (["--bodies", "5", "--threads", "1025"], "--threads", "'1025'"),
    "steps 0": (["--bodies", "5", "--steps", "0"], "--steps", "whole number from 1", "'0'"),
    "steps 0.5": (["--bodies", "5", "--steps", "0.5"], "--steps", "'0.5'"),
    "tolerance 0": (["--bodies", "5", "--tolerance", "0"], "--tolerance", "> 0", "'0'"),
    "tolerance nan": (["--bodies", "5", "--tolerance", "nan"], "--tolerance", "'nan'"),
    "memory 0": (["--bodies", "5", "--memory", "0"], "--memory", "> 0"),
    "memory small": (["--bodies", "5", "--memory", "1000"], "--bodies", "1000 bytes", "got 5, which needs"),
    "write nowhere": (["--bodies", "5", "--write", "/no/such/folder/x"], "/no/such/folder/x", "written"),
    "unknown": (["--bodies", "5", "--sides", "3"], "--sides"),
    "extra": (["--bodies", "5", "file"], "file"),
}


def needed_bytes(checks, *arguments):
    line = checks.run("heap", *arguments, "--memory", "1").stderr
    found = re.search(r"which needs .*\((\d+) bytes\)", line)
    return int(found.group(1)) if checks.expect(found, arguments, "bytes in", line) else 0


def check_memory(checks):
    # Nothing is made before the refusal.
    with subprocess.Popen([checks.program, "heap", "--bodies", "1000000", "--memory", "1e9"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        line = child.stderr.read().decode()
    checks.expect(child.returncode == 2 and "1000000000 bytes" in line, "a million", line)
    if not checks.runs_slowly():
        checks.expect(usage.ru_maxrss < 60e3, "refused with", usage.ru_maxrss, "KiB")
        for arguments in (["--bodies", 3000, *CONVEX], ["--bodies", 1500, "--shape", "boxes", *CONVEX],
                          ["--bodies", 3000, "--shape", "spheres", *CONVEX],
                          ["--bodies", 300]):
            needed = needed_bytes(checks, *arguments)
            taken = checks.json_of("heap", *arguments)["peak_memory_bytes"]
            checks.expect(taken <= needed <= 6 * taken, arguments, "needs", needed, "took", taken)
        # A limit of the process counts, too.
        limited = subprocess.run(
            [checks.program, "heap", "--bodies", "1000000"], capture_output=True, text=True, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 * 10**9, 2 * 10**9)))
        checks.refused("ulimit", limited, "--bodies", "1000000", "which needs")
    sizes = [needed_bytes(checks, "--bodies", n, *CONVEX) for n in (1000, 10000, 100000, 1000000)]
    checks.expect(sizes == sorted(set(sizes)) and sizes[3] < 1.2e3 * sizes[0], "grows", sizes)


def seen_on_terminal(checks, bodies):
    """What a heap writes to a terminal on standard error, and the seconds that it takes."""
    master, slave = pty.openpty()
    start = time.monotonic()
    with subprocess.Popen([checks.program, "heap", "--bodies", str(bodies), "--steps", "4", *CONVEX, "--json"],
                          stdout=subprocess.PIPE, stderr=slave) as child:
        os.close(slave)
        seen = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            seen += part
        child.stdout.read()
    os.close(master)
    return seen, time.monotonic() - start


def check_progress(checks):
    """A bar on a terminal, wiped at the end; elsewhere none, which json_of() sees."""
    bodies = 300 if checks.runs_slowly() else 3000
    seen, seconds = seen_on_terminal(checks, bodies)
    while seconds < 2:  # a short run shows none
        bodies *= 3
        seen, seconds = seen_on_terminal(checks, bodies)
    shares = [int(share) for share in re.findall(rb"\[[#.]{40}\] +(\d+) %", seen)]
    checks.expect(len(shares) >= 2 and shares == sorted(shares) and shares[-1] <= 100, "bar", seen)
    checks.expect(seen.endswith(b"\r\x1b[K"), "the bar is not wiped", seen[-60:])


if __name__ == "__main__":
    every = Checks()
    check_counts(every)
    check_written(every)
    check_threads(every)
    check_steps(every)
    check_stopped_short(every)
    check_readable(every)
    for case, (words, *parts) in BAD.items():
        every.refused(case, every.run("heap", *words), *parts)
        every.refused(case, every.run("heap", *words, "--json"), *parts)
    for word in ("0", "-1", "two", "1.5", "4096"):
        every.refused(f"solve --threads {word}",
                      every.run("solve", DATA / "wall_n10.txt", "--threads", word), "--threads")
    check_memory(every)
    check_progress(every)
    every.end()
