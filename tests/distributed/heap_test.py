#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A heap on several ranks is the heap of one, in its parts, its steps and its answers.

Prints the faults and exits with 1 if there is any.
"""
import json
import os
import subprocess
import sys

# For Open MPI, where tests run as root in containers, on few processors.
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                  OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
                  OMPI_MCA_mpi_yield_when_idle="1")

FIELDS = {"bodies", "contacts", "make_seconds", "seconds", "iterations", "residual", "peak_memory_bytes",
          "threads", "status", "ranks", "linear_iterations", "cut_contacts"}


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
        for arguments, words in [(["--bodies", 0], "--bodies: expected a number >= 1, got '0'"),
                                 (["--bodies", 5, "--law", "soft"], "--law: expected one of convex, coulomb, got 'soft'"),
                                 (["--bodies", 5, "--bad"], "unknown argument '--bad'"), ([], "expected --bodies")]:
            result = self.run(2, *arguments)
            self.expect(result.returncode == 2, arguments, "exit", result.returncode)
            self.expect(words in result.stderr, arguments, result.stderr)
            self.expect(result.stdout == "", arguments, result.stdout)


def main():
    test = Test(*sys.argv[1:])
    test.check_ranks()
    test.check_few_bodies()
    test.check_laws()
    test.check_refusals()
    print("\n".join(test.faults) or "a heap on ranks is the heap of one")
    return 1 if test.faults else 0


if __name__ == "__main__":
    sys.exit(main())
