# SPDX-License-Identifier: BSD-3-Clause
# Configures carom as if a package or tool were not installed. What was asked for ends with a message
# that names the command that installs it; what was not is left out. Then without a build type: one
# line says that nothing is optimised.
#   cmake -D WORK_DIR= -D CAROM_SOURCE_DIR= -D CXX= -D GENERATOR= -D EIGEN_DIR= -P missing_packages.cmake
file(REMOVE_RECURSE ${WORK_DIR})

# configure(<name> <argument...>): sets status and text. The folder is `source`, or carom's own.
function(configure name)
  if(NOT source)
    set(source ${CAROM_SOURCE_DIR})
  endif()
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${source} -B ${WORK_DIR}/${name} -G ${GENERATOR}
      -DEigen3_DIR=${EIGEN_DIR} -DCMAKE_CXX_COMPILER_WORKS=1 ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(status ${status} PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

# expect_hint(<name> <Debian package> <argument...>)
function(expect_hint name package)
  configure(${name} ${ARGN})
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(FIND "${text}" "sudo apt-get install ${package}" place)
  if(status EQUAL 0 OR place EQUAL -1)
    message(FATAL_ERROR "without ${name}: expected a hint at ${package}; ended with ${status}:\n${text}")
  endif()
endfunction()

set(library_only -DCAROM_BUILD_TESTS=OFF -DCAROM_BUILD_EXAMPLES=OFF)
expect_hint(Catch2 catch2 -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug
  -DCAROM_BUILD_TESTS=ON -DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON)
expect_hint(CLI11 libcli11-dev -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug
  -DCAROM_BUILD_TESTS=OFF -DCAROM_BUILD_PROGRAM=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON)
expect_hint(nlohmann_json nlohmann-json3-dev -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug
  -DCAROM_BUILD_TESTS=OFF -DCAROM_BUILD_PROGRAM=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
expect_hint(benchmark libbenchmark-dev -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug
  ${library_only} -DCAROM_BUILD_BENCHMARKS=ON -DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON)
expect_hint(Eigen libeigen3-dev -DCMAKE_CXX_COMPILER=${CXX} ${library_only}
  -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON)
expect_hint(clang clang ${library_only} -DCMAKE_CXX_COMPILER=clang++-that-is-not-there)

# expect_left_out(<option> <argument...>): the configuration ends well, and the option is off.
function(expect_left_out option)
  configure(without_${option} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug ${ARGN})
  file(STRINGS ${WORK_DIR}/without_${option}/CMakeCache.txt line REGEX "^${option}:")
  if(NOT status EQUAL 0 OR NOT line MATCHES "=OFF$")
    message(FATAL_ERROR "expected ${option} to be off, got '${line}'; ended with ${status}:\n${text}")
  endif()
endfunction()
expect_left_out(CAROM_BUILD_TESTS -DCMAKE_DISABLE_FIND_PACKAGE_Catch2=ON)
expect_left_out(CAROM_BUILD_PROGRAM -DCAROM_BUILD_TESTS=OFF -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON)

# expect_notice(<TRUE|FALSE> <name> <argument...>)
function(expect_notice expected name)
  configure(${name} -DCMAKE_CXX_COMPILER=${CXX} -DCAROM_SOURCE_DIR=${CAROM_SOURCE_DIR} ${ARGN})
  string(FIND "${text}" "CMAKE_BUILD_TYPE is empty" place)
  if(NOT status EQUAL 0 OR (expected AND place EQUAL -1) OR (NOT expected AND NOT place EQUAL -1))
    message(FATAL_ERROR "${name}: expected the notice ${expected}; ended with ${status}:\n${text}")
  endif()
endfunction()

expect_notice(FALSE install ${library_only})  # nothing is compiled
set(source ${CAROM_SOURCE_DIR}/tests/consumers/add_subdirectory)
if(NOT GENERATOR MATCHES "Multi-Config")
  expect_notice(TRUE no_build_type)
  expect_notice(FALSE quiet -DCAROM_QUIET=ON)
  expect_notice(FALSE flags -DCMAKE_CXX_FLAGS=-O1)
endif()
expect_notice(FALSE release -DCMAKE_BUILD_TYPE=Release)
