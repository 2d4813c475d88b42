#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`carom impact` refuses what is not an impact: exit code 2, one line that names the place."""
import sys

sys.dont_write_bytecode = True
from carom_program import Checks  # noqa: E402

GOOD = ('{"mass_matrix":[[2,0.5,0],[0.5,1,0],[0,0,3]],"normals":[[-1,1,0],[0,-1,1]],'
        '"velocity":[1,2,-3],"restitution":0.5}')
MASS, NORMALS, VELOCITY = "[[2,0.5,0],[0.5,1,0],[0,0,3]]", "[[-1,1,0],[0,-1,1]]", "[1,2,-3]"


def mass(text):
    return GOOD.replace(MASS, text)


def normals(text):
    return GOOD.replace(NORMALS, text)


def velocity(text):
    return GOOD.replace(VELOCITY, text)


def restitution(text):
    return GOOD.replace(":0.5}", f":{text}}}")


DOCUMENTS = {
    "empty": ("", "JSON"),
    "not JSON": ("carom-problem 1", "JSON", "line 1"),
    "bytes": (b"\x00\xff\xfe{", "JSON"),
    "truncated": (GOOD[:len(GOOD) // 2], "JSON", "line 1, column"),
    "two documents": (GOOD + GOOD, "JSON"),
    "deep": ("[" * 100000, "JSON"),
    "array": ("[]", "the document", "an object", "an array of 0"),
    "number": ("3", "the document", "an object"),
    "no fields": ("{}", "either velocity or momentum", "neither"),
    "neither": (GOOD.replace('"velocity"', '"speed"'), "either velocity or momentum", "neither"),
    "both": (GOOD.replace('"res', '"momentum":[1,2,3],"res'), "velocity or momentum", "both"),
    "no mass": ('{"normals":[],"velocity":[]}', "mass_matrix: expected this field"),
    "no normals": ('{"mass_matrix":[[1]],"velocity":[1]}', "normals: expected this field"),
    "unknown field": (GOOD.replace('"res', '"friction":1,"res'), "unknown field 'friction'"),
    "broken field": (GOOD.replace('"res', '"a\\nb":1,"res'), "unknown field"),
    "field twice": (GOOD.replace('"res', '"velocity":[1,2,3],"res'), "'velocity'", "once"),
}
FIELDS = {
    "mass null": (mass("null"), "mass_matrix: expected an array, got null"),
    "mass flat": (mass("[1,2,3]"), "mass_matrix[0]", "3 numbers", "got 1"),
    "mass empty": (mass("[]"), "mass_matrix", "at least one row"),
    "mass ragged": (mass("[[2,0,0],[0,1],[0,0,3]]"), "mass_matrix[1]", "3 numbers", "array of 2"),
    "mass wide": (mass("[[2,0,0],[0,1,0]]"), "mass_matrix[0]", "2 numbers", "array of 3"),
    "mass word": (mass('[[2,0,0],[0,"1",0],[0,0,3]]'), "mass_matrix[1][1]", '"1"'),
    "mass nan": (mass("[[2,0,0],[0,NaN,0],[0,0,3]]"), "JSON", "line 1"),
    "mass inf": (mass("[[2,0,0],[0,Infinity,0],[0,0,3]]"), "JSON", "line 1"),
    "mass huge": (mass("[[2,0,0],[0,1e999,0],[0,0,3]]"), "1e999"),
    "mass bool": (mass("[[2,0,0],[0,true,0],[0,0,3]]"), "mass_matrix[1][1]", "true"),
    "asymmetric": (mass("[[2,0.5,0],[0.5,1,0.2],[0,0.1,3]]"), "mass_matrix[2][1]", "symmetric",
                   "0.2", "got 0.1"),
    "slightly asymmetric": (mass("[[2,0.5,0],[0.5000001,1,0],[0,0,3]]"), "mass_matrix[1][0]"),
    "mass zero": (mass("[[2,0,0],[0,0,0],[0,0,3]]"), "mass_matrix[1][1]", "> 0", "got 0"),
    "mass negative": (mass("[[2,0,0],[0,1,0],[0,0,-3]]"), "mass_matrix[2][2]", "> 0", "got -3"),
    "indefinite": (mass("[[2,0,0],[0,1,2],[0,2,3]]"), "mass_matrix[2]", "positive definite"),
    "indefinite early": (mass("[[2,3,0],[3,1,0],[0,0,3]]"), "mass_matrix[1]", "positive definite"),
    "semidefinite": (mass("[[1,1,0],[1,1,0],[0,0,3]]"), "mass_matrix[1]", "positive definite"),
    "normals null": (normals("null"), "normals: expected an array, got null"),
    "normals flat": (normals("[1,0,0]"), "normals[0]", "3 numbers", "got 1"),
    "normal short": (normals("[[-1,1,0],[0,-1]]"), "normals[1]", "3 numbers", "array of 2"),
    "normal long": (normals("[[-1,1,0],[0,-1,1,0]]"), "normals[1]", "3 numbers", "array of 4"),
    "normal zero": (normals("[[-1,1,0],[0,0,0]]"), "normals[1]", "non-zero", "got zero"),
    "normal minus zero": (normals("[[-0.0,0,0],[0,-1,1]]"), "normals[0]", "non-zero"),
    "normal null": (normals("[[-1,1,0],[0,null,1]]"), "normals[1][1]", "got null"),
    "normal nan": (normals("[[-1,1,0],[0,nan,1]]"), "JSON"),
    "velocity short": (velocity("[1,2]"), "velocity", "3 numbers", "array of 2"),
    "velocity long": (velocity("[1,2,3,4]"), "velocity", "3 numbers", "array of 4"),
    "velocity number": (velocity("3"), "velocity", "3 numbers", "got 3"),
    "velocity null": (velocity("[1,2,null]"), "velocity[2]", "got null"),
    "velocity inf": (velocity("[1,-Infinity,3]"), "JSON"),
    "velocity huge": (velocity("[1,1e999,3]"), "1e999"),
    "momentum short": (GOOD.replace("velocity", "momentum").replace(VELOCITY, "[1]"),
                       "momentum", "3 numbers", "array of 1"),
    "energy large": (velocity("[1,1e200,3]"), "velocity", "kinetic energy", "too large"),
    "energy overflow": (velocity("[1,1e308,1e308]"), "velocity", "kinetic energy", "too large"),
    "energy small": (velocity("[0,1e-200,0]"), "velocity", "kinetic energy", "too small"),
    "impulses large": (normals("[[-1e-310,1e-310,0],[0,-1e-310,1e-310]]"), "impulses"),
    "restitution over": (restitution("1.01"), "restitution", "[0, 1]", "got 1.01"),
    "restitution under": (restitution("-0.01"), "restitution", "[0, 1]", "got -0.01"),
    "restitution nan": (restitution("NaN"), "JSON"),
    "restitution null": (restitution("null"), "restitution", "got null"),
    "restitution array": (restitution("[1]"), "restitution"),
}
OPTIONS = {
    "--law": ["newton", "Elastic", "elastic,plastic"],
    "--order": ["least", "0,", ",0", "0,,1", "0,-1", "-1", "1.5", "0 1", "a,b", "0x1", "1e1",
                "99999999999999999999", "ALL"],
}


def check_truncation(checks):
    """Cut anywhere: a prefix of an impact is never an impact."""
    for size in range(0, len(GOOD), 3 if checks.runs_slowly() else 1):
        result = checks.run("impact", checks.file(GOOD[:size]), "--json")
        checks.refused(f"{size} characters", result, "JSON")


def check_options(checks):
    good = checks.file(GOOD)
    for option, words in OPTIONS.items():
        for word in words:
            checks.refused(f"{option} '{word}'", checks.run("impact", good, f"{option}={word}"),
                           option, "expected", f"'{word}'")
    for order, got in (("2", "2"), ("0,1,7,2", "7"), ("1,4611686018427387904", "4611686018427387904"),
                       ("9223372036854775807", "9223372036854775807")):
        for words in ([], ["--law", "plastic"]):
            result = checks.run("impact", good, "--order", order, *words)
            checks.refused(order, result, "--order", "contacts below 2", f"got {got}")
    for words in (["impact"], ["impact", good, good], ["impact", good, "--fast"],
                  ["impact", good, "--law"], ["impact", good, "--order"],
                  ["impact", good, "--law="], ["impact", good, "--order", ""]):
        checks.refused(words, checks.run(*words))
    checks.refused("missing", checks.run("impact", "no/such/file"), "no/such/file")
    checks.refused("folder", checks.run("impact", checks.folder.name), "directory")
    checks.refused("odd name", checks.run("impact", "no\nsuch"), "no such")


if __name__ == "__main__":
    every = Checks()
    every.expect(every.run("impact", every.file(GOOD)).returncode == 0, "the good one")
    styles = [[], ["--json"], ["--law", "plastic", "--order", "all"]]
    for turn, (case, (content, *parts)) in enumerate({**DOCUMENTS, **FIELDS}.items()):
        every.expect(content != GOOD, case, "is not a bad input")
        file = every.file(content)
        for style in [styles[turn % 3]] if every.runs_slowly() else styles:
            every.refused(case, every.run("impact", file, *style), str(file), *parts)
    check_truncation(every)
    check_options(every)
    every.end()
