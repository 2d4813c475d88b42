#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Breaks the headers in many small ways, one at a time, and counts how many of them the tests notice.

Usage: scripts/mutants.py [--count N] [--seed S] [--folder build/mutants] STEP...
Steps, in this order: draw, build, run, report; without one, all of them.

draw    lists every place of include/carom where an operator, a constant, a condition, a statement or a
        returned value can be changed, shuffles the list by the seed, and writes copies of the headers that
        hold the first of them all at once (scripts/mutant.hpp). The environment variable CAROM_MUTANT
        chooses one when a test program starts, so that the tests are compiled once.
build   compiles the tests of the rooms with these headers. A mutant that makes a unit not compile is
        struck from the list, and its header is written again.
run     runs the tests for one mutant after the other: those of its header, then its room's, then those of
        the rooms above, until one fails. It stops after N mutants that are programs. Results are in
        results.jsonl; a run that was ended goes on where it stopped, and one after a change of the
        tests looks again at the survivors only (--survivors).
report  counts, per room and per kind of change, and lists the survivors with their change.

It needs libclang 14 for Python (PyPI: libclang==14.0.6, or Debian's python3-clang-14), clang++ and
what the tests need. Adapters and code for graphics processors alone are left out.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys

from mutant_places import ROOMS, Mutant, all_mutants, chosen, written

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: Whose tests a mutant of a room meets after its own, cheap ones first.
ABOVE = {
    "core": ["linalg", "cones", "contact", "impact", "solvers", "scenes"],
    "linalg": ["contact", "impact", "solvers", "viscoelastic", "variational", "scenes"],
    "cones": ["contact", "impact", "solvers", "viscoelastic", "batch", "scenes"],
    "contact": ["solvers", "viscoelastic", "batch", "scenes"],
    "solvers": ["viscoelastic", "batch", "scenes"],
    "impact": ["variational", "batch", "scenes"],
    "viscoelastic": ["scenes"],
    "variational": ["scenes"],
    "batch": ["scenes"],
}
#: How many more than asked are written into the headers, in the place of those that are no programs.
SPARE = 1.3
MEMORY = 6 << 30  # bytes of one test program, which a mutant may ask for without end
LINKED = ["CMakeLists.txt", "CMakePresets.json", "apps", "benchmarks", "cmake", "examples", "src", "tests", "scripts"]

ALIVE = ("survived", "not reached")  # outcomes of those that no test noticed


def place(data, mutant):
    line = data.count(b"\n", 0, mutant["start"]) + 1
    return f"{mutant['path']}:{line}"


def confine(seconds):
    """Of a test program, before it starts: a process group that can be ended as a whole, and limits of memory and
    of processor time, which does not depend on what else the machine does."""
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def processor_seconds():
    """Of all programs that were run and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Work:
    """The folder with the changed headers, the programs and the results."""

    def __init__(self, folder, rooms=ROOMS, root=ROOT):
        self.folder, self.rooms, self.root = folder, rooms, root
        self.tree, self.build_folder = folder / "tree", folder / "build"
        self.list_file, self.results_file = folder / "mutants.json", folder / "results.jsonl"

    def draw(self, count, seed):
        found = all_mutants(self.root)
        drawn = chosen(found, int(count * SPARE), seed)
        self.folder.mkdir(parents=True, exist_ok=True)
        rows = [{**vars(mutant), "number": number, "struck": False} for number, mutant in enumerate(drawn)]
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=self.root, capture_output=True, text=True)
        if self.results_file.exists() and not self.is_drawn(rows):
            self.results_file.unlink()  # numbers of another draw
        self.save({"seed": seed, "places": len(found), "commit": commit.stdout.strip(), "mutants": rows})
        kinds = collections.Counter(mutant.kind for mutant in found)
        print(f"{len(found)} changes are possible: " + ", ".join(f"{kinds[kind]} {kind}" for kind in sorted(kinds)))
        self.write_tree(rows)

    def is_drawn(self, rows):
        """Whether the list in the folder has these mutants."""
        def what(listed):
            return [(row["path"], row["start"], row["end"], row["kind"], row["after"]) for row in listed]
        return self.list_file.exists() and what(self.load()["mutants"]) == what(rows)

    def save(self, state):
        self.list_file.write_text(json.dumps(state, indent=1), encoding="utf-8")

    def load(self):
        return json.loads(self.list_file.read_text(encoding="utf-8"))

    def write_tree(self, rows, only=None):
        """Links everything but the headers, which are copies; `only` names those that are written again."""
        self.tree.mkdir(parents=True, exist_ok=True)
        for name in LINKED:
            link = self.tree / name
            if not link.exists():
                link.symlink_to(self.root / name)
        by_path = collections.defaultdict(list)
        for row in rows:
            if not row["struck"]:
                fields = {name: row[name] for name in ("path", "start", "end", "kind", "before", "after")}
                by_path[row["path"]].append((row["number"], Mutant(**fields, edits=[tuple(edit) for edit in row["edits"]])))
        sources = sorted((self.root / "include").rglob("*.hpp"))
        for source in sources:
            name = source.relative_to(self.root / "include").as_posix()
            if only is not None and name not in only:
                continue
            data = source.read_bytes()
            if by_path.get(name):
                data = written(data, by_path[name])
            self.put(self.tree / "include" / name, data)
        self.put(self.tree / "include/mutant.hpp", (self.root / "scripts/mutant.hpp").read_bytes())

    @staticmethod
    def put(path, data):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)

    def build(self, jobs):
        if not (self.build_folder / "build.ninja").exists():
            subprocess.run(
                ["cmake", "-S", self.tree, "-B", self.build_folder, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++",
                 "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_CXX_EXTENSIONS=OFF",
                 "-DCMAKE_CXX_FLAGS=-w -Wno-c++11-narrowing -ferror-limit=0 -fno-caret-diagnostics -ftemplate-backtrace-limit=0",
                 "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld", "-DCAROM_BUILD_EXAMPLES=OFF", "-DCAROM_INSTALL=OFF",
                 "-DCAROM_TEST_TREE=OFF", f"-DCAROM_TEST_ROOMS={';'.join([*ROOMS, 'scenes'])}"], check=True)
        for room in [*self.rooms, "scenes"]:
            while not self.build_program(f"carom_{room}_tests", jobs):
                pass

    def build_program(self, program, jobs):
        """Builds one test program; if mutants do not compile, strikes them and returns false."""
        log = self.folder / "build.log"
        with log.open("w", encoding="utf-8") as out:
            done = subprocess.run(["ninja", "-C", self.build_folder, "-j", str(jobs), "-k", "3", program],
                                  stdout=out, stderr=subprocess.STDOUT, check=False)
        if done.returncode == 0:
            print("built:", program, flush=True)
            return True
        state = self.load()
        struck = self.blamed(log.read_text(encoding="utf-8", errors="replace"), state["mutants"])
        if not struck:
            sys.exit(f"mutants.py: the build fails for another reason, see {log}")
        for row in struck:
            row["struck"] = True
            print("does not compile:", place((self.root / "include" / row["path"]).read_bytes(), row), row["kind"],
                  row["before"][:60], "->", row["after"][:60], flush=True)
        self.save(state)
        self.write_tree(state["mutants"], only={row["path"] for row in struck})
        return False

    def blamed(self, log, rows):
        """The mutants that a message of the compiler points at: by number, else by line and column."""
        lines = log.splitlines()
        blamed = set()
        live = [row for row in rows if not row["struck"]]
        tree = str(self.tree / "include") + "/"
        columns = {}
        for index, line in enumerate(lines):
            if ": error:" not in line and ": fatal error:" not in line:
                continue
            end = index + 1
            while end < len(lines) and ": error:" not in lines[end] and not lines[end].startswith(("[", "FAILED")):
                end += 1
            group = lines[index:end]
            numbers = {int(number) for text in group for number in re.findall(r"'(?:carom_mutant::)?\w+<(\d+)[,>]", text)}
            if numbers:
                blamed |= numbers
                continue
            for text in group:
                found = re.match(re.escape(tree) + r"(carom/[\w/]+\.hpp):(\d+):(\d+):", text)
                hits = [row["number"] for row in live if found and row["path"] == found[1]
                        and self.touches(columns, row, int(found[2]))]
                if hits:
                    blamed |= set(hits)
                    break
        return [row for row in live if row["number"] in blamed]

    def touches(self, cache, row, line):
        if row["path"] not in cache:
            cache[row["path"]] = (self.root / "include" / row["path"]).read_bytes()
        data = cache[row["path"]]
        first = data.count(b"\n", 0, row["start"]) + 1
        return first <= line <= data.count(b"\n", 0, row["end"]) + 1

    # --- running -------------------------------------------------------------------------------------

    def call(self, program, arguments, number, limit):
        """Runs tests for `limit` seconds of the processor at most; returns the outcome, these seconds, what the
        mutant noted and the end of the output."""
        note = self.folder / "note"
        note.write_text("")
        environment = {**os.environ, "CAROM_MUTANT_NOTE": str(note)}
        environment.pop("CAROM_MUTANT", None)
        if number is not None:
            environment["CAROM_MUTANT"] = str(number)
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        out = (self.folder / "output").open("w+b")
        begin = processor_seconds()
        process = subprocess.Popen(
            [self.build_folder / "bin" / program, *arguments], cwd=scratch, env=environment, stdout=out,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, preexec_fn=lambda: confine(math.ceil(limit)))
        ends = {0: "passed", -signal.SIGXCPU: "timeout"}
        try:
            process.wait(60 + 30 * limit)  # longer than any load of the machine, for those that wait for ever
            outcome = ends.get(process.returncode, "crash" if process.returncode < 0 else "failure")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            outcome = "timeout"
        out.seek(0, os.SEEK_END)
        out.seek(max(0, out.tell() - 4000))
        tail = out.read().decode("utf-8", "replace")
        out.close()
        return outcome, processor_seconds() - begin, note.read_text(), tail

    def usual(self, cache, program, arguments):
        """The seconds of a run without a mutant, which must pass."""
        key = " ".join([program, *arguments])
        if key not in cache:
            outcome, seconds, _, tail = self.call(program, arguments, None, 3600)
            if outcome != "passed":
                sys.exit(f"mutants.py: {key} fails without a mutant ({outcome}):\n{tail}")
            cache[key] = seconds
            (self.folder / "seconds.json").write_text(json.dumps(cache, indent=1))
        return cache[key]

    def levels(self, row, depth):
        """The runs that a mutant must survive: what to call it, program, arguments."""
        _, room, *rest = row["path"].split("/")
        stem = pathlib.PurePosixPath(row["path"]).stem
        test = self.root / "tests" / room / "/".join(rest[:-1]) / f"{stem}_test.cpp"
        if test.exists():
            yield "header", f"carom_{room}_tests", ["-#", f"[#{stem}_test]~[.]~[slow]", "-a"]
        if depth != "header":
            yield "room", f"carom_{room}_tests", ["-a"]
        if depth == "above":
            for above in ABOVE[room]:
                if not (self.build_folder / "bin" / f"carom_{above}_tests").exists():
                    continue
                yield above, f"carom_{above}_tests", ["-a"]

    def judge(self, row, cache, depth):
        noted = set()
        for level, program, arguments in self.levels(row, depth):
            usual = self.usual(cache, program, arguments)
            outcome, seconds, note, tail = self.call(program, arguments, row["number"], 10 + 4 * usual)
            noted |= set(note)
            if outcome != "passed":
                named = re.findall(r"^-{70,}\n(.+)\n", tail, re.M)
                return {"outcome": outcome, "by": level, "test": named[-1] if named else "", "seconds": round(seconds, 1)}
        outcome = "survived" if "r" in noted else "impossible" if "i" in noted else "not reached"
        return {"outcome": outcome, "by": depth}

    def results(self):
        results = {}
        if self.results_file.exists():
            for line in self.results_file.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                results[entry["number"]] = entry
        return results

    def run(self, count, depth, survivors):
        state = self.load()
        cache_file = self.folder / "seconds.json"
        cache = json.loads(cache_file.read_text()) if cache_file.exists() else {}
        results = self.results()
        done = 0
        for row in state["mutants"]:
            if row["struck"] or row["path"].split("/")[1] not in self.rooms:
                continue
            old = results.get(row["number"])
            again = survivors and old and old["outcome"] in ALIVE
            if old is None or again:
                entry = {"number": row["number"], **self.judge(row, cache, depth)}
                results[row["number"]] = entry
                with self.results_file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(entry) + "\n")
                print(entry["number"], entry["outcome"], entry["by"], row["path"], row["kind"], flush=True)
            done += results[row["number"]]["outcome"] != "impossible"
            if done == count:
                break

    def report(self):
        state = self.load()
        results = self.results()
        by_room, by_kind = (collections.defaultdict(collections.Counter) for _ in range(2))
        survivors = []
        for row in state["mutants"]:
            outcome = results.get(row["number"], {}).get("outcome")
            if outcome in (None, "impossible"):
                continue
            killed = outcome not in ALIVE
            for table, key in ((by_room, row["path"].split("/")[1]), (by_kind, row["kind"])):
                table[key]["killed" if killed else outcome] += 1
                table[key]["all"] += 1
            if not killed:
                survivors.append((row, results[row["number"]]))
        lines = [f"seed {state['seed']}, {state['places']} possible changes, headers of {state['commit'][:12]}",
                 f"struck because they do not compile: {sum(row['struck'] for row in state['mutants'])}; no program: "
                 f"{sum(entry['outcome'] == 'impossible' for entry in results.values())}", ""]
        ends = collections.Counter(entry["outcome"] + " in " + entry["by"] for entry in results.values())
        lines += ["  ".join(f"{key}: {ends[key]}" for key in sorted(ends)), ""]
        for title, table, keys in (("room", by_room, ROOMS), ("kind", by_kind, sorted(by_kind))):
            lines.append(f"{title:<14}{'mutants':>8}{'killed':>8}{'share':>9}{'not reached':>13}")
            total = collections.Counter()
            for key in [key for key in keys if key in table]:
                total.update(table[key])
                lines.append(self.row_of(key, table[key]))
            lines += [self.row_of("all", total), ""]
        for row, entry in sorted(survivors, key=lambda pair: pair[0]["path"]):
            data = (self.root / "include" / row["path"]).read_bytes()
            line = data.count(b"\n", 0, row["start"])
            text = data.split(b"\n")[line].decode("utf-8").strip()
            lines += [f"{row['number']:>4} {place(data, row)} {row['kind']}, {entry['outcome']} ({entry['by']}): "
                      f"{row['before']!r} -> {row['after']!r}", f"       {text}"]
        text = "\n".join(lines) + "\n"
        (self.folder / "report.txt").write_text(text, encoding="utf-8")
        return text

    @staticmethod
    def row_of(key, counts):
        share = 100 * counts["killed"] / counts["all"] if counts["all"] else 0
        return f"{key:<14}{counts['all']:>8}{counts['killed']:>8}{share:>7.1f} %{counts['not reached']:>13}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", help="draw, build, run, report", metavar="STEP")
    parser.add_argument("--count", type=int, default=500, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/mutants")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="of the build")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS, help="whose tests are built and run")
    parser.add_argument("--depth", choices=["header", "room", "above"], default="above", help="which tests a survivor must pass")
    parser.add_argument("--survivors", action="store_true", help="also run again those that survived")
    options = parser.parse_args()
    steps = options.steps or ["draw", "build", "run", "report"]
    unknown = set(steps) - {"draw", "build", "run", "report"}
    if unknown:
        parser.error(f"unknown step '{unknown.pop()}'")
    work = Work(options.folder.resolve(), options.rooms)
    for step in steps:
        if step == "draw":
            work.draw(options.count, options.seed)
        elif step == "build":
            work.build(options.jobs)
        elif step == "run":
            work.run(options.count, options.depth, options.survivors)
        else:
            print(work.report(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
