#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A heap on several ranks is the heap of one, in its parts, its steps and its answers.

Prints the faults and exits with 1 if there is any.
"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

# For Open MPI, where tests run as root in containers, on few processors.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                  OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
                  OMPI_MCA_mpi_yield_when_idle="1")

FIELDS = {"bodies", "contacts", "make_seconds", "seconds", "iterations", "residual", "peak_memory_bytes",
          "threads", "status", "ranks", "linear_iterations", "cut_contacts", "answer_hash"}


class Test:
    def __init__(self, program, mpiexec):
        self.program, self.mpiexec = program, mpiexec
        self.faults = []

    def expect(self, condition, *what):
        if not condition:
            self.faults.append(" ".join(str(part) for part in what))

    def run(self, ranks, *arguments):
        return subprocess.run([self.mpiexec, "-n", str(ranks), self.program, *map(str, arguments)],
                              capture_output=True, text=True, timeout=200, check=False)

    def answer(self, ranks, *arguments):
        result = self.run(ranks, *arguments, "--json")
        self.expect(result.returncode == 0, ranks, "ranks:", arguments, result.returncode, result.stderr)
        return json.loads(result.stdout)

    def check_bits(self):
        """At one number of ranks the answers have the same bits from run to run."""
        for law in ((), ("--rigid",), ("--law", "coulomb")):
            for ranks in (2, 3):
                arguments = ("--bodies", 120, "--layers", 4, "--steps", 2, *law)
                runs = [self.answer(ranks, *arguments) for _ in range(2)]
                for name in ("answer_hash", "iterations", "linear_iterations"):
                    self.expect(runs[0][name] == runs[1][name], "bits,", ranks, "ranks,", law, name, runs[0][name],
                                runs[1][name])

    def check_ranks(self):
        """Sizes do not depend on the ranks; answers and their numbers per rank are there."""
        # 60 bodies of 4 layers have 4 + 9 + 16 + 25 places; few enough for ranks without any.
        one = self.answer(1, "--bodies", 150, "--layers", 4, "--steps", 2)
        for ranks in (2, 3):
            found = self.answer(ranks, "--bodies", 150, "--layers", 4, "--steps", 2)
            self.expect(FIELDS <= set(found), "fields:", FIELDS - set(found))
            for name in ("bodies", "contacts"):
                self.expect(found[name] == one[name], name, found[name], one[name])
            self.expect(found["ranks"] == ranks, "ranks", found["ranks"])
            self.expect(len(found["peak_memory_bytes"]) == ranks, "memory", found["peak_memory_bytes"])
            self.expect(found["cut_contacts"] > 0, "nothing cut")
            self.expect(sum(found["rank_contacts"]) == found["contacts"] + found["cut_contacts"],
                        "contacts of the ranks", found["rank_contacts"])
            for name in ("seconds", "iterations", "linear_iterations", "residual"):
                self.expect(len(found[name]) == 2, name, found[name])
            self.expect(max(found["residual"]) <= 1e-8, "residual", found["residual"])
        self.expect(one["cut_contacts"] == 0, "cut on one rank")

    def check_few_bodies(self):
        found = self.answer(3, "--bodies", 2)
        self.expect(found["bodies"] == 2, found)

    def check_laws(self):
        for arguments in (["--law", "coulomb"], ["--rigid"], ["--law", "coulomb", "--rigid"]):
            found = self.answer(2, "--bodies", 20, "--layers", 3, "--tolerance", 1e-6, *arguments)
            self.expect(found["residual"][0] <= 1e-6, arguments, found["residual"])

    def check_refusals(self):
        for arguments, words in [(["--bodies", 0], "--bodies: Value 0 not in range"),
                                 (["--bodies", 5, "--law", "soft"], "--law: soft not in {convex,coulomb}"),
                                 (["--bodies", 10**12], "rank 0: --bodies: expected a heap whose parts fit in the "),
                                 (["--bodies", 5, "--bad"], "not expected: --bad"), ([], "--bodies is required")]:
            result = self.run(2, *arguments)
            self.expect(result.returncode == 2, arguments, "exit", result.returncode)
            self.expect(words in result.stderr, arguments, result.stderr)
            self.expect(result.stdout == "", arguments, result.stdout)

    def check_checkpoints(self, folder):
        """A run goes on from its file on any number of ranks, also when it was killed in a step."""
        heap = ["--bodies", 60, "--layers", 3]
        whole = self.answer(1, *heap, "--steps", 4)
        self.expect(whole["first_step"] == 0, whole)
        file = folder / "heap.h5"
        first = self.answer(3, *heap, "--steps", 2, "--checkpoint", file)
        rest = self.answer(2, *heap, "--steps", 4, "--checkpoint", file)
        self.expect((first["first_step"], rest["first_step"]) == (0, 2), "steps", first, rest)
        self.expect(len(rest["residual"]) == 2, "steps", rest["residual"])
        # The numbers of a step are those of a run without interruption, to the tolerance.
        self.expect(max(rest["residual"]) <= 1e-8, "residual", rest["residual"])
        none = self.answer(1, *heap, "--steps", 4, "--checkpoint", file)
        self.expect(none["seconds"] == [], "nothing is left to do", none)

        killed = folder / "killed.h5"
        command = [self.mpiexec, "-n", "2", self.program, *map(str, heap), "--steps", "100000", "--checkpoint",
                   str(killed)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 100
            while not killed.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            ranks = self.ranks_of(process.pid)
            self.expect(len(ranks) == 2, "ranks", ranks)
            if ranks:
                os.kill(ranks[-1], signal.SIGKILL)
            self.expect(process.wait(timeout=100) != 0, "mpirun ended well although a rank was killed")
        more = self.answer(1, *heap, "--steps", 1, "--checkpoint", killed)
        steps = more["first_step"]
        self.expect(steps >= 1 and more["seconds"] == [], "restart after a kill", more)

    @staticmethod
    def ranks_of(launcher):
        """Processes that a launcher has started."""
        return [int(pid) for pid in subprocess.run(["pgrep", "-P", str(launcher)], capture_output=True, text=True,
                                                   check=False).stdout.split()]

    def check_bad_checkpoints(self, folder):
        """A number that is not finite is told with rank, body and field; a file of another heap is refused."""
        file = folder / "bad.h5"
        self.answer(1, "--bodies", 60, "--layers", 3, "--checkpoint", file)
        for arguments, words in [(["--bodies", 61, "--layers", 3], "bodies: expected 61, as asked for, got 60"),
                                 (["--bodies", 60, "--layers", 3, "--rigid"], "rigid: expected 1")]:
            result = self.run(2, *arguments, "--checkpoint", file)
            self.expect(result.returncode == 2 and words in result.stderr, arguments, result.returncode, result.stderr)
        data = bytearray(file.read_bytes())
        # The file ends with the last body's displacement, which is zero after the first step.
        data[-8:] = struct.pack("<d", float("nan"))
        file.write_bytes(data)
        result = self.run(3, "--bodies", 60, "--layers", 3, "--steps", 2, "--checkpoint", file)
        self.expect(result.returncode == 2, "a bad body:", result.returncode, result.stderr)
        for word in ("rank ", "body 59: displacement entry 5: expected a finite number, got nan"):
            self.expect(word in result.stderr, "a bad body:", result.stderr)
        file.write_text("no checkpoint")
        result = self.run(2, "--bodies", 60, "--layers", 3, "--checkpoint", file)
        self.expect(result.returncode == 2 and "expected a checkpoint of a heap" in result.stderr, result.stderr)

    def check_migration(self):
        """Bodies move where a rank has a tenth more contacts than the mean."""
        found = self.answer(4, "--bodies", 400, "--layers", 2, "--steps", 2, "--shape", "boxes")
        before, after = found["imbalance"]
        self.expect(before > 1.1, "the test needs a heap that is out of balance", before)
        self.expect(after < before, "imbalance", found["imbalance"])
        self.expect(max(found["residual"]) <= 1e-8, "residual", found["residual"])


def main():
    test = Test(*sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="carom-heap-") as folder:
        test.check_checkpoints(pathlib.Path(folder))
        test.check_bad_checkpoints(pathlib.Path(folder))
    test.check_migration()
    test.check_ranks()
    test.check_bits()
    test.check_few_bodies()
    test.check_laws()
    test.check_refusals()
    print("\n".join(test.faults) or "a heap on ranks is the heap of one")
    return 1 if test.faults else 0


if __name__ == "__main__":
    sys.exit(main())
