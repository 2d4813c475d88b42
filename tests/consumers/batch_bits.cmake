# SPDX-License-Identifier: BSD-3-Clause
# solve_batch promises the same bits by every compiler, whatever its flags, for every number of lanes:
# numbers/batches.cpp prints checksums of its answers, and all texts must be equal. The flags let a
# compiler join a product and a sum where it can, forbid registers beyond SSE2, or optimise nothing.
#   cmake -D WORK_DIR= -D EIGEN= -P batch_bits.cmake
set(builds
  "clang++ 1,2,4,8 -O0"
  "clang++ 8 -O1 -march=native -ffp-contract=fast"
  "g++ 4 -O3 -march=native -ffp-contract=fast")
cmake_host_system_information(RESULT machine QUERY OS_PLATFORM)
if(machine MATCHES "^(x86_64|AMD64)$")
  list(APPEND builds "clang++ 2 -O2 -march=x86-64 -mno-avx -ffp-contract=fast")
endif()
get_filename_component(headers ${CMAKE_CURRENT_LIST_DIR}/../../include ABSOLUTE)
file(MAKE_DIRECTORY ${WORK_DIR})

set(compared 0)
foreach(build IN LISTS builds)
  separate_arguments(flags UNIX_COMMAND "${build}")
  list(POP_FRONT flags compiler lanes)
  find_program(path ${compiler} NO_CACHE)
  if(NOT path)
    message(STATUS "${compiler} is not installed: not compared")
  else()
    execute_process(COMMAND ${path} -std=c++20 -w ${flags} -DCAROM_LANES=${lanes} -isystem ${headers}
      -isystem ${EIGEN} ${CMAKE_CURRENT_LIST_DIR}/numbers/batches.cpp -o ${WORK_DIR}/batches
      COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${WORK_DIR}/batches OUTPUT_VARIABLE text RESULT_VARIABLE status)
    message(STATUS "${build}:\n${text}")
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "lanes of one program differ, or it failed: ${status}")
    endif()
    if(NOT compared)
      set(first "${text}")
    elseif(NOT text STREQUAL first)
      message(FATAL_ERROR "other bits than those of the first build")
    endif()
    math(EXPR compared "${compared} + 1")
  endif()
  unset(path)
endforeach()
if(compared LESS 2)
  message(FATAL_ERROR "expected two builds to compare, got ${compared}")
endif()
