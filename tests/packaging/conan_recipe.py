#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the Conan recipe and its test package without Conan.

Usage: conan_recipe.py WORK_FOLDER CXX GENERATOR EIGEN_DIR
The few classes and functions of Conan 2 that the recipes import are stood in for by ones that do what
its documentation says of them, with real copies and real runs of CMake, in the order in which Conan
calls a recipe's methods. What this cannot see: Conan's own checks of a recipe, and its Eigen.
"""
import fnmatch
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WORK, CXX, GENERATOR, EIGEN_DIR = pathlib.Path(sys.argv[1]), *sys.argv[2:5]


def run(*command):
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


class Named(types.SimpleNamespace):
    """An object with the attributes it is given."""


class CppInfo:
    def __init__(self):
        self.properties, self.builddirs = {}, []
        self.bindirs, self.libdirs = ["bin"], ["lib"]

    def set_property(self, name, value):
        self.properties[name] = value


class ConanFile:
    def __init__(self, recipe_folder):
        self.recipe_folder = str(recipe_folder)
        self.required, self.cpp_info, self.cleared = [], CppInfo(), False
        self.requires = lambda reference, **traits: self.required.append((reference, traits))
        self.info = Named(clear=lambda: setattr(self, "cleared", True))
        self.cache_variables, self.prefix_path = {}, ""

    def run(self, command, env):
        assert env == "conanrun"
        run(command)


class CMakeToolchain:
    def __init__(self, recipe):
        self.recipe, self.cache_variables = recipe, {}

    def generate(self):
        self.recipe.cache_variables = self.cache_variables


class CMake:
    """Configures the source folder into the build folder, as the toolchain's file would have it."""

    def __init__(self, recipe):
        self.recipe = recipe

    def configure(self):
        variables = {"CMAKE_CXX_COMPILER": CXX, "Eigen3_DIR": EIGEN_DIR,
                     "CMAKE_PREFIX_PATH": self.recipe.prefix_path,
                     "CMAKE_FIND_PACKAGE_PREFER_CONFIG": "ON", **self.recipe.cache_variables}
        run("cmake", "-S", self.recipe.source_folder, "-B", self.recipe.build_folder, "-G", GENERATOR,
            *[f"-D{name}={value}" for name, value in variables.items()])

    def build(self):
        run("cmake", "--build", self.recipe.build_folder)

    def install(self):
        run("cmake", "--install", self.recipe.build_folder, "--prefix", self.recipe.package_folder)


def copy(_, pattern, source, destination):
    """Copies what the pattern matches below `source`; a `*` reaches through folders."""
    found = 0
    for path in pathlib.Path(source).rglob("*"):
        name = path.relative_to(source).as_posix()
        if name.startswith(("build/", ".git")) or not path.is_file():
            continue
        if fnmatch.fnmatch(name, pattern):
            target = pathlib.Path(destination, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
            found += 1
    assert found, f"nothing matches {pattern} in {source}"


def stand_in():
    """Puts the stand-ins where the recipes import them from."""
    members = {
        "conan": {"ConanFile": ConanFile},
        "conan.tools": {},
        "conan.tools.build": {"check_min_cppstd": lambda recipe, standard: None,
                              "can_run": lambda recipe: True},
        "conan.tools.cmake": {"CMake": CMake, "CMakeToolchain": CMakeToolchain,
                              "CMakeDeps": lambda recipe: Named(generate=lambda: None),
                              "cmake_layout": lambda recipe: None},
        "conan.tools.files": {"copy": copy, "load": lambda recipe, path: pathlib.Path(path).read_text("utf-8")},
    }
    for name, content in members.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(content)


def load_recipe(folder, class_name):
    spec = importlib.util.spec_from_file_location(class_name, folder / "conanfile.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, class_name)(folder)


def create_package(recipe):
    recipe.set_version()
    recipe.export_sources_folder = recipe.source_folder = str(WORK / "source")
    recipe.build_folder, recipe.package_folder = str(WORK / "build"), str(WORK / "package")
    for method in ("export_sources", "layout", "requirements", "validate", "generate", "build",
                   "package", "package_id", "package_info"):
        getattr(recipe, method)()


def test_package(package):
    recipe = load_recipe(ROOT / "packaging/conan/test_package", "CaromTest")
    assert {"CMakeDeps", "CMakeToolchain"} == set(recipe.generators)
    recipe.tested_reference_str = f"{package.name}/{package.version}"
    recipe.requirements()
    assert recipe.required == [(recipe.tested_reference_str, {})]
    recipe.source_folder, recipe.build_folder = recipe.recipe_folder, str(WORK / "test_build")
    recipe.cpp = Named(build=Named(bindir=recipe.build_folder))
    recipe.prefix_path = ";".join(os.path.join(package.package_folder, path)
                                  for path in package.cpp_info.builddirs)
    recipe.build()
    recipe.test()


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    stand_in()
    recipe = load_recipe(ROOT / "packaging/conan", "CaromRecipe")
    create_package(recipe)
    assert [reference for reference, _ in recipe.required] == ["eigen/[>=3.4.0 <4]"]
    assert recipe.cleared, "a package of headers is the same for all settings"
    assert recipe.cpp_info.properties == {"cmake_find_mode": "none"}
    package = pathlib.Path(recipe.package_folder)
    for name in ("include/carom/carom.hpp", "licenses/LICENSE", "share/pkgconfig/carom.pc"):
        assert (package / name).is_file(), f"the package has no {name}"
    test_package(recipe)
    print(f"carom/{recipe.version}: packed, consumed")


main()
