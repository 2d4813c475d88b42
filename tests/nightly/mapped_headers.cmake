# SPDX-License-Identifier: BSD-3-Clause
# For CMAKE_PROJECT_INCLUDE of a build that measures coverage. CMake makes what a precompiled header includes
# a system header, and clang maps no code of system headers to its source.
set(CMAKE_PCH_PROLOGUE "")
