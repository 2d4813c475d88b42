# SPDX-License-Identifier: BSD-3-Clause
"""A recipe for Conan 2. It packs the tree that it stands in: conan create packaging/conan -s compiler.cppstd=20"""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class CaromRecipe(ConanFile):
    name = "carom"
    description = "Contact physics for real-time simulation: a header-only C++20 library on Eigen"
    license = "BSD-3-Clause"
    topics = ("physics", "contact", "friction", "simulation", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"

    def _tree(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        header = load(self, os.path.join(self._tree(), "include", "carom", "core", "version.hpp"))
        parts = ("MAJOR", "MINOR", "PATCH")
        self.version = ".".join(re.search(rf"#define CAROM_VERSION_{part} (\d+)", header)[1] for part in parts)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "CHANGELOG.md", "LICENSE", "apps/io/*", "cmake/*", "include/*",
                        "packaging/debian/*", "scripts/single_header.py", "src/*"):
            copy(self, pattern, self._tree(), self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # A consumer may override the version: Eigen 5 fits as well.
        self.requires("eigen/[>=3.4.0 <4]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["CAROM_BUILD_TESTS"] = "OFF"
        toolchain.cache_variables["CAROM_BUILD_EXAMPLES"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        # carom's own package files are found, with carom::carom and the component `compiled`.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("share", "cmake", "carom"))
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
