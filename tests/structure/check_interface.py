#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the public names of carom with tests/structure/interface.txt (docs/promises.md).

A name is a header, or what a public header declares outside of namespaces named detail: a function with the types of
its parameters, a class with its public members, an enumerator. Headers of adapters are listed without what is in
them, as their engines need not be installed. A name that is gone breaks programs of users.

    check_interface.py            exit status 1 and the names that differ; 77 where libclang is not installed
    check_interface.py --write    writes the list anew
"""
import glob
import pathlib
import sys

# Debian's module is written in Python alone, so that any interpreter can load it.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import clang.cindex as ci
except ImportError:
    print("the Python module clang is not installed (Debian: python3-clang-14)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
LIST = pathlib.Path(__file__).with_name("interface.txt")
KINDS = ci.CursorKind
TYPES = {KINDS.CLASS_DECL, KINDS.STRUCT_DECL, KINDS.CLASS_TEMPLATE, KINDS.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
FUNCTIONS = {KINDS.FUNCTION_DECL, KINDS.FUNCTION_TEMPLATE, KINDS.CXX_METHOD, KINDS.CONSTRUCTOR,
             KINDS.CONVERSION_FUNCTION}
VALUES = {KINDS.VAR_DECL, KINDS.FIELD_DECL, KINDS.TYPE_ALIAS_DECL, KINDS.TYPE_ALIAS_TEMPLATE_DECL, KINDS.CONCEPT_DECL
          if hasattr(KINDS, "CONCEPT_DECL") else KINDS.VAR_DECL}


def public_headers():
    """Headers at the top and in the rooms, without those in folders of the rooms."""
    found = [*INCLUDE.glob("carom/*.hpp"), *INCLUDE.glob("carom/*/*.hpp")]
    return sorted(path.relative_to(INCLUDE).as_posix() for path in found)


def library():
    """libclang of the module's version; None if it finds it by itself."""
    found = sorted(glob.glob("/usr/lib/llvm-14/lib/libclang-14.so*") + glob.glob("/usr/lib/llvm-*/lib/libclang*.so.1"))
    return found[0] if found else None


def parse(headers, eigen):
    path = "every_public_header.cpp"
    text = "".join(f'#include "{header}"\n' for header in headers)
    unit = ci.Index.create().parse(path, args=["-std=c++20", f"-I{INCLUDE}", "-isystem", eigen],
                                   unsaved_files=[(path, text)],
                                   options=ci.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
    faults = [str(fault) for fault in unit.diagnostics if fault.severity >= ci.Diagnostic.Error]
    if faults:
        sys.exit("\n".join(faults))
    return unit.cursor


def walk(cursor, headers, prefix, names):
    """Adds the names within a namespace or a class."""
    for entry in cursor.get_children():
        where = entry.location.file.name if entry.location.file else ""
        if entry.kind == KINDS.NAMESPACE:
            if entry.spelling == "carom" or (prefix and entry.spelling != "detail"):
                inline = entry.spelling.startswith("abi_")
                walk(entry, headers, prefix if inline else f"{prefix}{entry.spelling}::", names)
            continue
        if entry.semantic_parent != entry.lexical_parent:  # a member that is defined outside of its class
            continue
        if not prefix or where.removeprefix(f"{INCLUDE}/") not in headers or "(unnamed" in entry.spelling:
            continue
        if cursor.kind in TYPES and entry.access_specifier != ci.AccessSpecifier.PUBLIC:
            continue
        add(entry, headers, prefix, names)


def add(entry, headers, prefix, names):
    name = f"{prefix}{entry.spelling}"
    if entry.kind in TYPES:
        if entry.is_definition():
            names.add(f"type {prefix}{entry.spelling}")
            walk(entry, headers, f"{name}::", names)
    elif entry.kind in FUNCTIONS:
        if not any(child.kind == KINDS.UNEXPOSED_ATTR and "deleted" in child.spelling for child in entry.get_children()):
            names.add(f"function {prefix}{entry.displayname}")
    elif entry.kind == KINDS.ENUM_DECL:
        names.add(f"type {name}")
        for child in entry.get_children():
            if child.kind == KINDS.ENUM_CONSTANT_DECL:
                names.add(f"value {name}::{child.spelling}")
    elif entry.kind in VALUES:
        names.add(f"name {name}")
    elif entry.kind == KINDS.UNEXPOSED_DECL and entry.spelling:  # concepts, which libclang 14 has no kind for
        names.add(f"name {name}")


def current(eigen):
    headers = public_headers()
    names = {f"header {header}" for header in headers}
    parsed = [header for header in headers if "/adapters/" not in header]
    walk(parse(parsed, eigen), set(parsed), "", names)
    return sorted(names)


def main():
    words = sys.argv[1:]
    eigen = next((word for word in words if not word.startswith("--")), "/usr/include/eigen3")
    if library():
        ci.Config.set_library_file(library())
    names = current(eigen)
    if "--write" in words:
        LIST.write_text("\n".join(names) + "\n", encoding="utf-8")
        return 0
    known = LIST.read_text(encoding="utf-8").splitlines()
    gone, added = sorted(set(known) - set(names)), sorted(set(names) - set(known))
    for name in gone:
        print(f"gone: {name}")
    for name in added:
        print(f"not listed: {name}")
    if gone:
        print("A program that uses a name that is gone no longer compiles. Until 1.0 CHANGELOG.md says what to write "
              "instead; from 1.0 on no name goes.")
    if gone or added:
        print("tests/structure/check_interface.py --write lists the names anew.")
    return 1 if gone or added else 0


if __name__ == "__main__":
    sys.exit(main())
