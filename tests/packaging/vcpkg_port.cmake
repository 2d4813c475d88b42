# SPDX-License-Identifier: BSD-3-Clause
# Runs the port without vcpkg: the functions of vcpkg that it calls are stood in for by what their
# documentation says they do to a port of headers, on a real install. Then a consumer is configured.
# What this cannot see: vcpkg's own checks after a build, and its Eigen.
#   cmake -D WORK_DIR= -D CAROM_SOURCE_DIR= -D EIGEN_DIR= -D CXX= -D GENERATOR= -P vcpkg_port.cmake
cmake_minimum_required(VERSION 3.24)
set(PORT carom)
set(CURRENT_PACKAGES_DIR ${WORK_DIR}/packages)
set(port_dir ${CAROM_SOURCE_DIR}/packaging/vcpkg/ports/carom)
set(calls)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()

macro(record)
  list(APPEND calls ${CMAKE_CURRENT_FUNCTION})
  set(calls "${calls}" PARENT_SCOPE)
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${CMAKE_CURRENT_FUNCTION} knows no ${ARG_UNPARSED_ARGUMENTS}")
  endif()
endmacro()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "SOURCE_PATH" "OPTIONS")
  record()
  run(${CMAKE_COMMAND} -S ${ARG_SOURCE_PATH} -B ${WORK_DIR}/build -G ${GENERATOR} ${ARG_OPTIONS}
    -DCMAKE_CXX_COMPILER=${CXX} -DEigen3_DIR=${EIGEN_DIR} -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR})
endfunction()

function(vcpkg_cmake_install)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "" "")
  record()
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --target install)
endfunction()

# Moves the folder to share/<port> and takes _IMPORT_PREFIX two folders up from there.
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "CONFIG_PATH" "")
  record()
  set(target ${CURRENT_PACKAGES_DIR}/share/${PORT})
  file(RENAME ${CURRENT_PACKAGES_DIR}/${ARG_CONFIG_PATH} ${target})
  get_filename_component(parent ${CURRENT_PACKAGES_DIR}/${ARG_CONFIG_PATH} DIRECTORY)
  file(REMOVE_RECURSE ${parent})
  file(READ ${target}/carom-targets.cmake text)
  set(one_up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
  string(REGEX REPLACE "get_filename_component\\(_IMPORT_PREFIX \"\\\${CMAKE_CURRENT_LIST_FILE}\" PATH\\)\n(get_filename_component\\(_IMPORT_PREFIX \"\\\${_IMPORT_PREFIX}\" PATH\\)\n)*"
    "get_filename_component(_IMPORT_PREFIX \"\${CMAKE_CURRENT_LIST_FILE}\" PATH)\n${one_up}${one_up}" text "${text}")
  file(WRITE ${target}/carom-targets.cmake "${text}")
endfunction()

function(vcpkg_fixup_pkgconfig)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "" "")
  record()
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "" "FILE_LIST")
  record()
  configure_file(${ARG_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright COPYONLY)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
include(${port_dir}/portfile.cmake)

file(READ ${port_dir}/vcpkg.json manifest)
string(JSON name GET "${manifest}" name)
string(JSON license GET "${manifest}" license)
set(hosts)
set(needs)
string(JSON count LENGTH "${manifest}" dependencies)
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON type TYPE "${manifest}" dependencies ${i})
  if(type STREQUAL "STRING")
    string(JSON need GET "${manifest}" dependencies ${i})
  else()
    string(JSON need GET "${manifest}" dependencies ${i} name)
  endif()
  list(APPEND needs ${need})
endforeach()
if(NOT name STREQUAL "carom" OR NOT license STREQUAL "BSD-3-Clause" OR NOT needs STREQUAL
   "eigen3;vcpkg-cmake;vcpkg-cmake-config")
  message(FATAL_ERROR "vcpkg.json: ${name}, ${license}, ${needs}")
endif()
set(expected vcpkg_cmake_configure vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig
  vcpkg_install_copyright)
if(NOT calls STREQUAL expected)
  message(FATAL_ERROR "the port calls ${calls}")
endif()
foreach(file IN ITEMS include/carom/carom.hpp share/carom/carom-config.cmake share/carom/copyright
    share/carom/usage share/carom/src/convex.cpp share/pkgconfig/carom.pc)
  if(NOT EXISTS ${CURRENT_PACKAGES_DIR}/${file})
    message(FATAL_ERROR "the port leaves no ${file}")
  endif()
endforeach()
file(GLOB folders RELATIVE ${CURRENT_PACKAGES_DIR} ${CURRENT_PACKAGES_DIR}/* ${CURRENT_PACKAGES_DIR}/share/*)
list(SORT folders)
if(NOT folders STREQUAL "include;share;share/carom;share/pkgconfig")
  message(FATAL_ERROR "the port leaves ${folders}")
endif()
run(${CMAKE_COMMAND} -S ${CAROM_SOURCE_DIR}/tests/consumers/find_package -B ${WORK_DIR}/consumer
  -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX} -Dcarom_DIR=${CURRENT_PACKAGES_DIR}/share/carom
  -DEigen3_DIR=${EIGEN_DIR})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/consumer)
run(${WORK_DIR}/consumer/consumer)
