#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The ensemble's summary is the same to the last byte however its problems are spread.

Runs the program alone, on one to three MPI ranks, as the parts of a Slurm array, killed in the middle
and started again, and compares; then gives it what it must refuse. Prints the faults and exits with 1
if there is any.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

SBATCH = pathlib.Path(__file__).resolve().parents[2] / "apps" / "ensemble" / "ensemble.sbatch"
KINDS = ["single-step", "batch-step", "impact-design"]
# For the launchers of Open MPI, that tests run as root in containers, on few processors.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                  OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
                  OMPI_MCA_mpi_yield_when_idle="1")


class Test:
    def __init__(self, options):
        self.options = options
        self.kept = tempfile.TemporaryDirectory(prefix="carom-ensemble-")
        self.folder = pathlib.Path(self.kept.name)
        self.count = 0
        self.faults = []

    def expect(self, condition, *what):
        self.count += 1
        if not condition:
            self.faults.append(" ".join(str(part) for part in what))

    def command(self, *arguments, ranks=0):
        if ranks == 0:
            return [self.options.program, *map(str, arguments)]
        return [self.options.mpiexec, self.options.count_flag, str(ranks), self.options.mpi_program,
                *map(str, arguments)]

    def run(self, *arguments, ranks=0):
        return subprocess.run(self.command(*arguments, ranks=ranks), capture_output=True, text=True,
                              timeout=900, check=False)

    def summary(self, *arguments, ranks=0):
        result = self.run(*arguments, ranks=ranks)
        self.expect(result.returncode == 0, arguments, ranks, "ranks:", result.returncode,
                    result.stderr)
        return result.stdout

    def rank_counts(self):
        return [1, 2, 3] if self.options.mpi_program else []

    def check_spread(self, kind):
        """The same bytes for one process, one to three ranks, any size of chunk."""
        problems = ["--count", self.options.problems]
        expected = self.summary(kind, *problems)
        self.expect(f"{kind}: {self.options.problems} problems, seed 1\n" in expected, expected[:99])
        self.expect("checksum of all results' bits: sum " in expected, "no checksum")
        self.expect(self.summary(kind, *problems, "--chunk", 7) == expected, kind, "chunks of 7")
        for ranks in self.rank_counts():
            found = self.summary(kind, *problems, "--chunk", 16, ranks=ranks)
            self.expect(found == expected, kind, ranks, "ranks: another summary")
        self.expect(self.summary(kind, *problems, "--seed", 2) != expected, "the seed does nothing")
        less = self.options.problems - 1
        self.expect(self.summary(kind, "--count", less).splitlines()[1:] != expected.splitlines()[1:],
                    "the last problem does nothing")
        return expected

    def check_array(self, kind, expected):
        """A Slurm array by a loop over its tasks; one of them twice; the parts in any order."""
        folder = self.folder / f"array-{kind}"
        problems = ["--count", str(self.options.problems), "--chunk", "16"]
        for task in [2, 0, 1, 0]:
            environment = dict(os.environ, SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT="3",
                               SLURM_ARRAY_JOB_ID="42", CAROM_ENSEMBLE=self.options.program,
                               CAROM_ENSEMBLE_FOLDER=str(folder))
            result = subprocess.run(["bash", SBATCH, kind, *problems], env=environment, text=True,
                                    capture_output=True, timeout=900, check=False)
            self.expect(result.returncode == 0 and result.stdout == "", "task", task, result)
        parts = [folder / f"part-{task}" for task in (1, 2, 0)]
        self.expect(self.summary("--merge", *parts) == expected, kind, "parts: another summary")
        missing = self.run("--merge", *parts[:2])
        self.expect(missing.returncode == 2 and "first missing is chunk 0" in missing.stderr,
                    "a part is missing:", missing)
        return parts

    def chunks_in(self, checkpoint):
        try:
            return checkpoint.read_text().count("\nchunk ")
        except FileNotFoundError:
            return 0

    def kill_run(self, arguments, checkpoint, ranks):
        """Starts a run, kills a process of it once some chunks are done; whether it was in time."""
        process = subprocess.Popen(
            self.command(*arguments, "--checkpoint-every", 0, ranks=ranks),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        already, deadline = self.chunks_in(checkpoint), time.monotonic() + 100
        while process.poll() is None and time.monotonic() < deadline:
            if self.chunks_in(checkpoint) >= already + 2:
                victims = children_of(process.pid) if ranks > 0 else [process.pid]
                for victim in victims[:1]:
                    os.kill(victim, signal.SIGKILL)
                break
            time.sleep(0.001)
        process.wait(timeout=100)
        return process.returncode != 0

    def kill_twice(self, kind, ranks):
        """A checkpoint of a run killed twice, and its arguments; longer runs where one was over
        before it could be killed."""
        problems = self.options.problems
        for attempt in range(8):
            checkpoint = self.folder / f"killed-{kind}-{ranks}-{attempt}"
            arguments = [kind, "--count", problems, "--chunk", 8, "--checkpoint", checkpoint]
            if all(self.kill_run(arguments, checkpoint, ranks) for _ in range(2)):
                break
            problems *= 2
        return checkpoint, problems, arguments

    def check_restart(self, kind):
        """Killed twice, by SIGKILL, and finished by another number of processes."""
        for ranks in [0, *self.rank_counts()[1:2]]:
            checkpoint, problems, arguments = self.kill_twice(kind, ranks)
            expected = self.summary(kind, "--count", problems)
            done, total = self.chunks_in(checkpoint), (problems - 1) // 8 + 1
            self.expect(0 < done < total, kind, ranks, "ranks, killed:", done, "chunks of", total)
            result = self.run(*arguments, ranks=0 if ranks else max([0, *self.rank_counts()]))
            self.expect(f"{done} of {total} chunks are there already" in result.stderr,
                        "restart:", result.stderr)
            self.expect(result.stdout == expected, kind, ranks, "ranks, killed: another summary")
            self.expect(self.summary(*arguments) == expected, "a finished run, again")
            self.expect(self.summary("--merge", checkpoint) == expected, "a finished run, merged")

    def refuse(self, message, *arguments):
        result = self.run(*arguments)
        self.expect(result.returncode == 2 and message in result.stderr and result.stdout == "",
                    arguments, "expected", repr(message), "got", result)

    def check_refusals(self, parts):
        """Wrong options, and checkpoints that are damaged or of another run, by name."""
        other = ["impact-design", "--count", self.options.problems, "--chunk", 16, "--checkpoint"]
        part = parts[0]
        self.refuse("kind: expected 'single-step', got 'impact-design'", "single-step", "--chunk", 16,
                    "--checkpoint", part)
        self.refuse("--seed: expected '9', got '1'", *other, part, "--seed", 9)
        self.refuse("--chunk: expected '17', got '16'", *other, part, "--chunk", 17)
        self.refuse("--count: expected '5'", *other, part, "--count", 5)
        text = part.read_text()
        damaged = self.folder / "damaged"
        for fault in [text[:-30], text.replace("\nchunk 4", "\nchunk 7", 1), text + "\n",
                      text.replace("count", "kount", 1), ""]:
            damaged.write_text(fault)
            self.refuse(str(damaged), *other, damaged)
            self.expect(damaged.read_text() == fault, "a refused checkpoint has been written to")
        self.refuse("expected a file that can be written", *other,
                    self.folder / "none" / "file")
        self.refuse("expected a file that can be read", "--merge", self.folder / "none")
        self.refuse("--merge: expected files, got none", "--merge")
        self.refuse("--count: expected a whole number from 1", "single-step", "--count", "1e6")
        self.refuse("--chunk: expected a whole number from 1", "single-step", "--chunk", 0)
        self.refuse("--seed: expected a value, got nothing", "single-step", "--seed")
        self.refuse("unknown option '--sead'", "single-step", "--sead", 1)
        self.refuse("expected one kind, single-step, batch-step or impact-design, got 'steps'", "steps")
        self.refuse("expected one kind, single-step, batch-step or impact-design, got none")
        self.refuse("--part: expected a number below --parts", *other, part, "--part", 3, "--parts", 3)
        self.refuse("--part: expected --parts too", *other, part, "--part", 3)
        self.refuse("--part: expected --checkpoint too", "single-step", "--part", 1, "--parts", 3)
        self.refuse("--dump: expected the kind single-step or batch-step", "impact-design", "--dump", 3)
        if self.options.mpi_program:
            result = self.run(*other, part, "--seed", 9, ranks=2)
            self.expect(result.returncode != 0 and "--seed: expected '9', got '1'" in result.stderr,
                        "two ranks, another run's checkpoint:", result)

    def check_dump(self):
        text = self.summary("single-step", "--dump", 5)
        self.expect(text.startswith("carom-problem 1\n"), "dump:", text[:80])
        self.expect(text != self.summary("single-step", "--dump", 6), "problems 5 and 6 are the same")
        self.expect(text == self.summary("batch-step", "--dump", 5), "batches have other problems")
        self.expect("--checkpoint FILE" in self.summary("--help"), "help")


def children_of(parent):
    """Process numbers of the children of a process."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(stat.parent.name))
    return sorted(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--mpi-program")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--count-flag", default="-n")
    test = Test(parser.parse_args())
    for kind in KINDS:
        expected = test.check_spread(kind)
        parts = test.check_array(kind, expected)
        test.check_restart(kind)
    test.check_refusals(parts)
    test.check_dump()
    for fault in test.faults:
        print(fault)
    print(f"{test.count} checks, {len(test.faults)} faults")
    return 1 if test.faults else 0


if __name__ == "__main__":
    sys.exit(main())
