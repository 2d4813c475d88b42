# SPDX-License-Identifier: BSD-3-Clause
# Plays a user of carom in an empty folder: installs where the consumer looks for a package,
# configures, builds, runs.
#   cmake -D KIND=<find_package|add_subdirectory> -D WORK_DIR= -D CAROM_SOURCE_DIR=
#         -D CAROM_BINARY_DIR= -D CXX= -D GENERATOR= -D EIGEN_DIR= -P run_consumer.cmake

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\nends with ${status}:\n${text}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/prefix)
if(KIND STREQUAL "find_package")
  run(${CMAKE_COMMAND} --install ${CAROM_BINARY_DIR} --prefix ${prefix})
  file(GLOB_RECURSE installed RELATIVE ${prefix} ${prefix}/include/*)
  include(${CAROM_SOURCE_DIR}/cmake/carom_headers.cmake)
  set(expected ${CAROM_HEADERS} ${CAROM_ADAPTER_HEADERS})
  list(SORT expected)
  list(SORT installed)
  if(NOT installed STREQUAL expected)
    message(FATAL_ERROR "installed: ${installed}\nexpected: ${expected}")
  endif()
endif()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${KIND} -B ${WORK_DIR}/build -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
  -DCMAKE_PREFIX_PATH=${prefix} -DEigen3_DIR=${EIGEN_DIR} -DCAROM_SOURCE_DIR=${CAROM_SOURCE_DIR})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --config Debug)
find_program(consumer consumer PATHS ${WORK_DIR}/build ${WORK_DIR}/build/Debug NO_DEFAULT_PATH REQUIRED)
run(${consumer})
message(STATUS "${KIND}: configured, built, ran")
