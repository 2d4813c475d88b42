# SPDX-License-Identifier: BSD-3-Clause
# The reproducible mode of docs/packaging.md: compiled with -DEIGEN_DONT_VECTORIZE -ffp-contract=off a
# program prints the same bits whatever the compiler, the optimisation and the processor it is tuned to.
# Without PROGRAMS both are compared; the one with the solvers takes minutes to compile.
#   cmake -D WORK_DIR= -D INCLUDES=<folder;...> [-D PROGRAMS=<cones_and_impacts;solvers>]
#         [-D COMPILERS=<g++;clang++>] -P reproducible.cmake
if(NOT DEFINED PROGRAMS)
  set(PROGRAMS cones_and_impacts solvers)
endif()
if(NOT DEFINED COMPILERS)
  set(COMPILERS g++ clang++)
endif()
set(mode -DEIGEN_DONT_VECTORIZE -ffp-contract=off)
list(TRANSFORM INCLUDES PREPEND -isystem OUTPUT_VARIABLE include_flags)
file(MAKE_DIRECTORY ${WORK_DIR})

foreach(program IN LISTS PROGRAMS)
  set(first)
  foreach(compiler IN LISTS COMPILERS)
    find_program(path ${compiler} NO_CACHE)
    if(NOT path)
      message(STATUS "${compiler} is not installed: not compared")
      continue()
    endif()
    foreach(optimisation IN ITEMS "-O0" "-O2 -DNDEBUG" "-O3 -DNDEBUG -march=native")
      separate_arguments(flags UNIX_COMMAND "${optimisation}")
      execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${path} -std=c++20 ${mode} ${flags}
        ${include_flags} ${CMAKE_CURRENT_LIST_DIR}/numbers/${program}.cpp -o ${WORK_DIR}/${program})
      execute_process(COMMAND ${WORK_DIR}/${program} OUTPUT_VARIABLE numbers COMMAND_ERROR_IS_FATAL ANY)
      string(SHA256 hash "${numbers}")
      message(STATUS "${program} ${compiler} ${optimisation}: ${hash}")
      if(NOT first)
        set(first ${hash})
        set(first_numbers "${numbers}")
      elseif(NOT hash STREQUAL first)
        message(FATAL_ERROR "${compiler} ${optimisation} prints other numbers:\n${numbers}\n"
          "instead of:\n${first_numbers}")
      endif()
    endforeach()
    unset(path)
  endforeach()
  if(NOT first)
    message(FATAL_ERROR "none of ${COMPILERS} is installed")
  endif()
endforeach()
