# SPDX-License-Identifier: BSD-3-Clause
# Offers carom make-believe Eigen packages of several versions, once to the source tree and once to
# the installed package, and compares what each accepts with what is promised.
#   cmake -D WORK_DIR= -D CAROM_SOURCE_DIR= -D CXX= -D GENERATOR= -P eigen_versions.cmake

set(accept_versions 3.4.0 3.4.1 5.0.0 5.0.1)
set(refuse_versions 3.3.9 6.0.0)
set(message "carom needs Eigen 3.4")

# 3.4.1 comes without a version file, as an old package does: the version is then a variable.
function(write_eigen_package folder version)
  file(WRITE ${folder}/Eigen3Config.cmake
    "set(EIGEN3_VERSION_STRING ${version})\n"
    "if(NOT TARGET Eigen3::Eigen)\n  add_library(Eigen3::Eigen INTERFACE IMPORTED)\nendif()\n")
  if(NOT version STREQUAL "3.4.1")
    file(WRITE ${folder}/Eigen3ConfigVersion.cmake
      "set(PACKAGE_VERSION ${version})\n"
      "if(PACKAGE_FIND_VERSION)\n  set(PACKAGE_VERSION_COMPATIBLE FALSE)\nendif()\n")
  endif()
endfunction()

function(expect outcome what version)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " flat "${text}")
  if(outcome STREQUAL "accept" AND NOT status EQUAL 0)
    message(FATAL_ERROR "${what} refuses Eigen ${version}:\n${text}")
  elseif(outcome STREQUAL "refuse" AND (status EQUAL 0 OR NOT flat MATCHES "${message}"))
    message(FATAL_ERROR "${what} does not refuse Eigen ${version} clearly:\n${text}")
  endif()
  message(STATUS "${what}: Eigen ${version}: ${outcome}")
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(WRITE ${WORK_DIR}/user/CMakeLists.txt
  "cmake_minimum_required(VERSION 3.24)\nproject(user LANGUAGES NONE)\n"
  "find_package(carom 0.2 REQUIRED)\n")
set(quick -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX} -DCAROM_BUILD_TESTS=OFF
  -DCAROM_BUILD_EXAMPLES=OFF)
foreach(outcome IN ITEMS accept refuse)
  foreach(version IN LISTS ${outcome}_versions)
    set(eigen ${WORK_DIR}/eigen-${version})
    write_eigen_package(${eigen} ${version})
    expect(${outcome} "source tree" ${version} ${CMAKE_COMMAND} ${quick} -DEigen3_DIR=${eigen}
      -S ${CAROM_SOURCE_DIR} -B ${WORK_DIR}/source-${version})
    if(NOT EXISTS ${WORK_DIR}/prefix)
      expect(accept "install" ${version} ${CMAKE_COMMAND} --install ${WORK_DIR}/source-${version}
        --prefix ${WORK_DIR}/prefix)
    endif()
    expect(${outcome} "installed package" ${version} ${CMAKE_COMMAND} -G ${GENERATOR}
      -DEigen3_DIR=${eigen} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix
      -S ${WORK_DIR}/user -B ${WORK_DIR}/installed-${version})
  endforeach()
endforeach()
