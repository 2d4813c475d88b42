# SPDX-License-Identifier: BSD-3-Clause
# The reproducible mode of docs/packaging.md: compiled with these flags a program prints the same bits
# whatever the compiler, the optimisation, the processor it is tuned to, and the version of Eigen, where
# EIGENS names the folders of several.
# Without PROGRAMS both are compared; the one with the solvers takes minutes to compile.
#   cmake -D WORK_DIR= -D EIGENS=<folder;...> [-D PROGRAMS=<cones_and_impacts;solvers>]
#         [-D COMPILERS=<g++;clang++>] -P reproducible.cmake
if(NOT DEFINED PROGRAMS)
  set(PROGRAMS cones_and_impacts solvers)
endif()
if(NOT DEFINED COMPILERS)
  set(COMPILERS g++ clang++)
endif()
set(mode -DEIGEN_DONT_VECTORIZE -ffp-contract=off -fno-tree-slp-vectorize)
get_filename_component(headers ${CMAKE_CURRENT_LIST_DIR}/../../include ABSOLUTE)
file(MAKE_DIRECTORY ${WORK_DIR})

# compile(<program> <folder of Eigen> <flags>): by all compilers side by side, which takes one call
# whose commands read nothing of each other.
function(compile program eigen optimisation)
  separate_arguments(flags UNIX_COMMAND "${optimisation}")
  set(commands)
  foreach(compiler IN LISTS present)
    get_filename_component(name ${compiler} NAME)
    list(APPEND commands COMMAND ${compiler} -std=c++20 ${mode} ${flags}
      -isystem ${headers} -isystem ${eigen} ${CMAKE_CURRENT_LIST_DIR}/numbers/${program}.cpp
      -o ${WORK_DIR}/${program}_${name})
  endforeach()
  execute_process(${commands} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# compare(<program> <compiler> <folder of Eigen> <flags>): prints what the numbers hash to.
function(compare program compiler eigen optimisation)
  get_filename_component(name ${compiler} NAME)
  execute_process(COMMAND ${WORK_DIR}/${program}_${name} OUTPUT_VARIABLE numbers COMMAND_ERROR_IS_FATAL ANY)
  string(SHA256 hash "${numbers}")
  message(STATUS "${program} ${compiler} ${optimisation} ${eigen}: ${hash}")
  if(NOT first_numbers)
    set(first_numbers "${numbers}" PARENT_SCOPE)
  elseif(NOT numbers STREQUAL first_numbers)
    message(FATAL_ERROR "other numbers:\n${numbers}\ninstead of:\n${first_numbers}")
  endif()
endfunction()

set(present)
foreach(compiler IN LISTS COMPILERS)
  find_program(path ${compiler} NO_CACHE)
  if(path)
    list(APPEND present ${path})
  else()
    message(STATUS "${compiler} is not installed: not compared")
  endif()
  unset(path)
endforeach()
if(NOT present)
  message(FATAL_ERROR "none of ${COMPILERS} is installed")
endif()
foreach(program IN LISTS PROGRAMS)
  unset(first_numbers)
  foreach(eigen IN LISTS EIGENS)
    foreach(optimisation IN ITEMS "-O0" "-O2 -DNDEBUG" "-O3 -DNDEBUG -march=native")
      compile(${program} ${eigen} "${optimisation}")
      foreach(compiler IN LISTS present)
        compare(${program} ${compiler} ${eigen} "${optimisation}")
      endforeach()
    endforeach()
  endforeach()
endforeach()
