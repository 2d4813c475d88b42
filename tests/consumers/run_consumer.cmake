# SPDX-License-Identifier: BSD-3-Clause
# Plays a user of carom in an empty folder: brings carom there the way KIND says, configures, builds,
# runs. What is installed is moved before use: it may not know where it was put first.
#   cmake -D KIND=<find_package|compiled|files|pkg_config|add_subdirectory|fetch_content> -D WORK_DIR=
#         -D CAROM_SOURCE_DIR= -D CAROM_BINARY_DIR= -D CXX= -D GENERATOR= -D EIGEN_DIR=
#         [-D PKG_CONFIG=] [-D CXX_FLAGS=] -P run_consumer.cmake

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\nends with ${status}:\n${text}")
  endif()
  set(run_text "${text}" PARENT_SCOPE)
endfunction()

function(expect_installed prefix)
  file(GLOB_RECURSE installed RELATIVE ${prefix} ${prefix}/include/carom/*)
  include(${CAROM_SOURCE_DIR}/cmake/carom_headers.cmake)
  set(expected ${CAROM_HEADERS} ${CAROM_ADAPTER_HEADERS})
  list(SORT expected)
  list(SORT installed)
  if(NOT installed STREQUAL expected)
    message(FATAL_ERROR "installed: ${installed}\nexpected: ${expected}")
  endif()
  file(GLOB_RECURSE files ${prefix}/share/*)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    foreach(path IN ITEMS ${WORK_DIR} ${CAROM_SOURCE_DIR} ${CAROM_BINARY_DIR})
      string(FIND "${text}" "${path}" place)
      if(NOT place EQUAL -1)
        message(FATAL_ERROR "${file} holds the path ${path} of the machine that built it")
      endif()
    endforeach()
  endforeach()
endfunction()

function(build_by_cmake)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${KIND} -B ${WORK_DIR}/build -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
    -DCMAKE_PREFIX_PATH=${prefix} -DEigen3_DIR=${EIGEN_DIR} -DCAROM_SOURCE_DIR=${CAROM_SOURCE_DIR}
    "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" -DCAROM_ARCHIVE=${WORK_DIR}/carom.tar.gz)
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --config Debug)
  find_program(consumer consumer PATHS ${WORK_DIR}/build ${WORK_DIR}/build/Debug NO_DEFAULT_PATH REQUIRED)
  run(${consumer})
endfunction()

function(build_by_pkg_config)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/share/pkgconfig)
  run(${PKG_CONFIG} --modversion carom)
  string(STRIP "${run_text}" version)
  include(${CAROM_SOURCE_DIR}/cmake/carom_version.cmake)
  carom_read_version(${CAROM_SOURCE_DIR} expected)
  if(NOT version STREQUAL expected)
    message(FATAL_ERROR "pkg-config knows version '${version}', the headers are ${expected}")
  endif()
  run(${PKG_CONFIG} --cflags carom)
  separate_arguments(flags UNIX_COMMAND "${run_text}")
  run(${CXX} -std=c++20 ${flags} ${CMAKE_CURRENT_LIST_DIR}/main.cpp -o ${WORK_DIR}/consumer)
  run(${WORK_DIR}/consumer)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/moved)
if(KIND MATCHES "^(find_package|compiled|files|pkg_config)$")
  run(${CMAKE_COMMAND} --install ${CAROM_BINARY_DIR} --prefix ${WORK_DIR}/prefix)
  file(RENAME ${WORK_DIR}/prefix ${prefix})
  expect_installed(${prefix})
elseif(KIND STREQUAL "fetch_content")
  # The parts that a parent project needs, packed as a release would be.
  file(MAKE_DIRECTORY ${WORK_DIR})
  run(${CMAKE_COMMAND} -E chdir ${CAROM_SOURCE_DIR} ${CMAKE_COMMAND} -E tar czf
    ${WORK_DIR}/carom.tar.gz CMakeLists.txt LICENSE apps/io cmake include packaging scripts src)
endif()
if(KIND STREQUAL "pkg_config")
  build_by_pkg_config()
else()
  build_by_cmake()
endif()
message(STATUS "${KIND}: configured, built, ran")
