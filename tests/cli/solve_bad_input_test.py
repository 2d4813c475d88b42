#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom solve` refuses what is not a contact problem: exit code 2, one line, nothing printed."""
import resource
import sys

sys.dont_write_bytecode = True
from carom_program import DATA, Checks  # noqa: E402
from solve_test import SMALL  # noqa: E402

HEAD = "carom-problem 1\ntime_step 0.01\n"
COMPLIANT = "contact compliant 2 0 1 -0.001 1e4 0.02 0.5 1 0.001"
WEIGHTED = "contact weighted 1 1 0.3 0.01 0.002 0.1 -0.1 0.2"


def with_compliant(line):
    return SMALL.replace(COMPLIANT, line)


def with_weighted(line):
    return SMALL.replace(WEIGHTED, line)


CASES = {
    "empty": ("", "empty file"),
    "blank": (" \n\t\n", "carom-problem 1"),
    "prose": ("a contact problem", "carom-problem 1"),
    "JSON": ('{"contacts":[]}', "carom-problem 1"),
    "nothing but zeros": (b"\0" * 1000, "carom-problem 1"),
    "version": (SMALL.replace("problem 1", "problem 3"), "line 1", "version", "'1' or '2'", "'3'"),
    "only a name": ("carom-problem", "version", "end of the file"),
    "HDF5": (b"\x89HDF\r\n\x1a\n\0\0", "HDF5"),
    "CPF": (b"CPF1\nkind local\n", "data"),
    "no time step": ("carom-problem 1\nbodies 0 contacts 0", "line 2", "'time_step'", "'bodies'"),
    "time step zero": (SMALL.replace("time_step 0.01", "time_step 0"), "line 2", "> 0, got '0'"),
    "time step negative": (SMALL.replace("0.01\nb", "-0.01\nb"), "line 2", "> 0, got '-0.01'"),
    "time step comma": (SMALL.replace("0.01\nb", "0,01\nb"), "line 2", "'0,01'"),
    "bodies negative": (SMALL.replace("bodies 2", "bodies -2"), "line 3", "bodies", "'-2'"),
    "bodies fraction": (SMALL.replace("bodies 2", "bodies 2.5"), "line 3", "whole number"),
    "bodies many": (HEAD + "bodies 99999999999\nbody 1\n1 0 0\n", "body 1", "end of the file"),
    "bodies beyond": (HEAD + "bodies 99999999999999999999", "line 3", "whole number"),
    "bodies too many": (SMALL.replace("bodies 2", "bodies 3"), "body 2", "'body'", "'contacts'"),
    "bodies too few": (SMALL.replace("bodies 2", "bodies 1"), "'contacts'", "'body'"),
    "size zero": (SMALL.replace("body 3", "body 0"), "line 4", "body 0: size", ">= 1"),
    "size large": (SMALL.replace("body 3", "body 4"), "body 0", "'body'"),
    "size small": (SMALL.replace("body 3", "body 2"), "body 0"),
    "size huge": (SMALL.replace("body 3", "body 99999999999"), "line 4", "body 0: size", "rest of the file"),
    "size beyond": (SMALL.replace("body 3", "body 4611686018427387904"), "line 4", "body 0: size"),
    "matrix nan": (SMALL.replace("0 2 0", "0 nan 0"), "line 5", "momentum matrix entry (1, 1)"),
    "matrix inf": (SMALL.replace("0 2 0", "0 inf 0"), "line 5", "finite", "'inf'"),
    "matrix overflow": (SMALL.replace("0 2 0", "0 1e999 0"), "line 5", "finite", "'1e999'"),
    "matrix word": (SMALL.replace("0 2 0", "0 two 0"), "line 5", "'two'"),
    "long word": (SMALL.replace("0 2 0", "0 " + "2x" * 5000 + " 0"), "line 5", "..."),
    "mass negative": (SMALL.replace("0 2 0", "0 -2 0"), "line 4", "body 0", "momentum matrix"),
    "mass zero": (SMALL.replace("0 2 0", "0 0 0"), "line 4", "body 0", "momentum matrix"),
    "indefinite": (SMALL.replace("1 0.25  0.25 3", "1 5  5 3"), "line 8", "body 1", "definite"),
    "unsymmetric": (SMALL.replace("0.25 3", "0.5 3"), "line 8", "body 1", "symmetric"),
    "free velocity nan": (SMALL.replace("1 0.5 -1", "1 -nan -1"), "line 6", "free velocity entry 1"),
    "guess inf": (SMALL.replace("1 0.5 0\n", "1 0.5 -inf\n"), "line 7", "initial guess entry 2"),
    "contacts missing": (SMALL[:SMALL.index("contacts")], "'contacts'", "end of the file"),
    "contacts many": (SMALL.replace("contacts 2", "contacts 99999999999"), "contact 2", "end of"),
    "contacts too few": (SMALL.replace("contacts 2", "contacts 1"), "after the last contact", "end of"),
    "no contacts but one": (HEAD + "bodies 0 contacts 0 1", "after the last contact", "'1'"),
    "unknown key": (SMALL.replace("contacts 2", "kontacts 2"), "'contacts'", "'kontacts'"),
    "unknown law": (with_compliant(COMPLIANT.replace("compliant", "sticky")), "line 13", "contact 0",
                    "'compliant', 'weighted' or 'rigid'", "'sticky'"),
    "three bodies": (with_compliant(COMPLIANT.replace("nt 2 0", "nt 3 0")), "line 13", "1 or 2"),
    "body outside": (with_compliant(COMPLIANT.replace("2 0 1", "2 0 2")), "line 13",
                     "contact 0: body", "[0, 2)", "'2'"),
    "body negative": (with_compliant(COMPLIANT.replace("2 0 1", "2 -1 1")), "[0, 2)", "'-1'"),
    "body word": (with_weighted(WEIGHTED.replace("1 1 ", "1 b ")), "line 20", "contact 1", "'b'"),
    "gap": (with_compliant(COMPLIANT.replace("-0.001", "nan")), "contact 0: gap", "'nan'"),
    "stiffness": (with_compliant(COMPLIANT.replace("1e4", "0")), "contact 0: stiffness", "> 0"),
    "stiffness -inf": (with_compliant(COMPLIANT.replace("1e4", "-inf")), "stiffness", "'inf'"),
    "stiffness tiny": (with_compliant(COMPLIANT.replace("1e4", "1e-320")), "line 13", "contact 0"),
    "dissipation": (with_compliant(COMPLIANT.replace("0.02", "-1")), "dissipation time", ">= 0"),
    "friction": (with_compliant(COMPLIANT.replace(" 0.5 ", " -1e-9 ")), "contact 0: friction",
                 ">= 0, got '-1e-9'"),
    "beta": (with_compliant(COMPLIANT.replace(" 1 0.001", " -1 0.001")), "contact 0: beta"),
    "sigma": (with_compliant(COMPLIANT.replace(" 1 0.001", " 1 0")), "contact 0: sigma", "> 0"),
    "gap beyond": (with_compliant(COMPLIANT.replace("-0.001", "1e308")), "line 13", "contact 0"),
    "weighted friction": (with_weighted(WEIGHTED.replace("0.3", "-0.3")), "contact 1: friction"),
    "R_t": (with_weighted(WEIGHTED.replace(" 0.01", " 0")), "contact 1: R_t", "> 0"),
    "R_n": (with_weighted(WEIGHTED.replace("0.002", "-2")), "contact 1: R_n", "> 0"),
    "bias": (with_weighted(WEIGHTED.replace("-0.1", "x")), "contact 1: bias t2", "'x'"),
    "Jacobian nan": (SMALL.replace("0 1 0\n0 0 1\n", "0 nan 0\n0 0 1\n"), "line 15",
                     "contact 0: Jacobian entry (1, 1)"),
    "second Jacobian": (SMALL.replace("0 -1\n", "0 inf\n"), "line 19", "second Jacobian"),
    "Jacobian short": (SMALL.replace("\n1 1\n", "\n1\n"), "contact 1: Jacobian", "end of the file"),
    "Jacobian long": (SMALL.replace("\n1 1\n", "\n1 1 1\n"), "after the last contact", "'1'"),
    "same body twice": (HEAD + "bodies 1 body 1 1 0 0 contacts 1 contact weighted 2 0 0 "
                        "0.5 1 1 0 0 0 1 1 1 1 1 1", "contact 0", "other than the first"),
}


def check_truncation(checks):
    """Cut after every word: a prefix of a problem is never a problem."""
    words = SMALL.split()
    for count in range(1, len(words), 3 if checks.runs_slowly() else 1):
        text = " ".join(words[:count])
        checks.refused(f"{count} words", checks.run("solve", checks.file(text), "--json"),
                       "got the end of the file" if count > 1 else "version")
    big = (DATA / "mujoco_box_10.txt").read_bytes()
    checks.refused("half a file", checks.run("solve", checks.file(big[:len(big) // 2])), "line ")


if __name__ == "__main__":
    every = Checks()
    styles = [[], ["--json"]]
    for turn, (case, (content, *parts)) in enumerate(CASES.items()):
        file = every.file(content)
        for style in [styles[turn % 2]] if every.runs_slowly() else styles:
            every.refused(case, every.run("solve", file, *style), str(file), *parts)
    every.refused("missing", every.run("solve", "no/such/file"), "no/such/file")
    every.refused("folder", every.run("solve", every.folder.name), "directory")
    every.refused("odd name", every.run("solve", "no\nsuch"), "no such")
    check_truncation(every)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    every.expect(used < 400, f"a count in a file made the program take {used:.0f} MiB")
    every.end()
