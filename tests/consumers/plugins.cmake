# SPDX-License-Identifier: BSD-3-Clause
# Two versions of carom in one process: two shared libraries from one source, the second with headers
# that call themselves 9.9.9 and without checks, opened by a program side by side.
#   cmake -D WORK_DIR= -D CAROM_SOURCE_DIR= -D CXX= -D EIGEN_INCLUDE= -P plugins.cmake
file(REMOVE_RECURSE ${WORK_DIR})
file(COPY ${CAROM_SOURCE_DIR}/include/carom DESTINATION ${WORK_DIR}/later)
set(version ${WORK_DIR}/later/carom/core/version.hpp)
file(READ ${version} text)
foreach(part IN ITEMS MAJOR MINOR PATCH)
  string(REGEX REPLACE "(define CAROM_VERSION_${part}) [0-9]+" "\\1 9" text "${text}")
endforeach()
file(WRITE ${version} "${text}")

# compile(<output> <flags...>)
function(compile output)
  execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${CXX} -std=c++20 -O1 -fPIC
    -isystem ${EIGEN_INCLUDE} ${ARGN} -o ${WORK_DIR}/${output})
endfunction()
set(source ${CMAKE_CURRENT_LIST_DIR}/plugins)
compile(first.so -shared -I${CAROM_SOURCE_DIR}/include -DCAROM_PLUGIN_FRICTION=0.25 ${source}/plugin.cpp)
compile(second.so -shared -I${WORK_DIR}/later -DCAROM_PLUGIN_FRICTION=0.5 -DNDEBUG ${source}/plugin.cpp)
compile(host ${source}/host.cpp -pthread -ldl)
execute_process(COMMAND ${WORK_DIR}/host ${WORK_DIR}/first.so ${WORK_DIR}/second.so COMMAND_ERROR_IS_FATAL ANY)
