# SPDX-License-Identifier: BSD-3-Clause
# The reproducible mode of docs/packaging.md: compiled with these flags a program prints the same bits
# whatever the compiler, the optimisation, the processor it is tuned to, and the version of Eigen, where
# EIGENS names the folders of several.
# The program with the solvers takes minutes to compile: by one compiler it is optimised, by the other
# not. With WHOLE=ON it too is compiled by both with every optimisation.
#   cmake -D WORK_DIR= -D EIGENS=<folder;...> [-D WHOLE=ON] [-D PROGRAMS=<cones_and_impacts;solvers>]
#         [-D COMPILERS=<g++;clang++>] -P reproducible.cmake
if(NOT DEFINED PROGRAMS)
  set(PROGRAMS cones_and_impacts solvers)
endif()
if(NOT DEFINED COMPILERS)
  set(COMPILERS g++ clang++)
endif()
set(mode -DEIGEN_DONT_VECTORIZE -ffp-contract=off -fno-tree-slp-vectorize)
set(optimisations "-O3 -DNDEBUG -march=native" "-O0" "-O2 -DNDEBUG")
get_filename_component(headers ${CMAKE_CURRENT_LIST_DIR}/../../include ABSOLUTE)
file(MAKE_DIRECTORY ${WORK_DIR})

# compile(<program> <folder of Eigen> <flags...>): by the compilers side by side, which takes one call
# whose commands read nothing of each other. Each compiler has its own flags.
function(compile program eigen)
  set(commands)
  foreach(compiler optimisation IN ZIP_LISTS present ARGN)
    separate_arguments(flags UNIX_COMMAND "${optimisation}")
    get_filename_component(name ${compiler} NAME)
    list(APPEND commands COMMAND ${compiler} -std=c++20 ${mode} ${flags}
      -isystem ${headers} -isystem ${eigen} ${CMAKE_CURRENT_LIST_DIR}/numbers/${program}.cpp
      -o ${WORK_DIR}/${program}_${name})
  endforeach()
  execute_process(${commands} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# compare(<program> <folder of Eigen> <flags...>): prints what the numbers hash to.
function(compare program eigen)
  foreach(compiler optimisation IN ZIP_LISTS present ARGN)
    get_filename_component(name ${compiler} NAME)
    execute_process(COMMAND ${WORK_DIR}/${program}_${name} OUTPUT_VARIABLE numbers
      COMMAND_ERROR_IS_FATAL ANY)
    string(SHA256 hash "${numbers}")
    message(STATUS "${program} ${compiler} ${optimisation} ${eigen}: ${hash}")
    if(NOT first_numbers)
      set(first_numbers "${numbers}")
    elseif(NOT numbers STREQUAL first_numbers)
      message(FATAL_ERROR "other numbers:\n${numbers}\ninstead of:\n${first_numbers}")
    endif()
  endforeach()
  set(first_numbers "${first_numbers}" PARENT_SCOPE)
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
list(LENGTH present count)
foreach(program IN LISTS PROGRAMS)
  unset(first_numbers)
  foreach(eigen IN LISTS EIGENS)
    if(program STREQUAL "solvers" AND count GREATER 1 AND NOT WHOLE)
      list(SUBLIST optimisations 0 ${count} flags)
      compile(${program} ${eigen} ${flags})
      compare(${program} ${eigen} ${flags})
      continue()
    endif()
    foreach(optimisation IN LISTS optimisations)
      string(REPEAT "${optimisation};" ${count} flags)
      compile(${program} ${eigen} ${flags})
      compare(${program} ${eigen} ${flags})
    endforeach()
  endforeach()
endforeach()
