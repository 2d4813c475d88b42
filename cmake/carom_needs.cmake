# SPDX-License-Identifier: BSD-3-Clause
# Names what is missing, together with the command that installs it.

# carom_missing(<what> <Debian package...>): ends the configuration.
function(carom_missing what)
  list(JOIN ARGN " " packages)
  message(FATAL_ERROR "carom: ${what} was not found. On Debian and Ubuntu install it by\n"
    "  sudo apt-get install ${packages}\n"
    "Or let scripts/test.sh (preset release: scripts/matrix.sh) install all that is missing; \
scripts/packages.txt lists it.")
endfunction()

# carom_find(<CMake package> <Debian package...>): finds it, or ends the configuration.
macro(carom_find name)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    carom_missing(${name} ${ARGN})
  endif()
endmacro()

# carom_default(<result> <wanted> <CMake package...>): <wanted>, but false where a package is missing.
macro(carom_default result wanted)
  set(${result} ${wanted})
  foreach(name IN ITEMS ${ARGN})
    if(${result})
      find_package(${name} QUIET)
      if(NOT ${name}_FOUND)
        set(${result} OFF)
      endif()
    endif()
  endforeach()
endmacro()

# Looks for the tools that a preset names, before project(), whose own messages name no package.
function(carom_check_tools)
  if(CMAKE_GENERATOR MATCHES "Ninja" AND NOT CMAKE_MAKE_PROGRAM)
    find_program(ninja NAMES ninja ninja-build samu NO_CACHE)
    if(NOT ninja)
      carom_missing(Ninja ninja-build)
    endif()
  endif()
  if(UNIX AND NOT CMAKE_CXX_COMPILER AND "$ENV{CXX}" STREQUAL "")
    find_program(any_compiler NAMES c++ g++ clang++ NO_CACHE)
    if(NOT any_compiler)
      carom_missing("A C++ compiler" g++)
    endif()
  endif()
  if(CMAKE_CXX_COMPILER MATCHES "clang\\+\\+" AND NOT IS_ABSOLUTE "${CMAKE_CXX_COMPILER}")
    find_program(compiler ${CMAKE_CXX_COMPILER} NO_CACHE)
    if(NOT compiler)
      carom_missing(${CMAKE_CXX_COMPILER} clang lld libclang-rt-dev)
    endif()
  endif()
  if(CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld=lld")
    find_program(linker NAMES ld.lld ld.lld-14 NO_CACHE)
    if(NOT linker)
      carom_missing(lld lld)
    endif()
  endif()
endfunction()
