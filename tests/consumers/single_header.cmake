# SPDX-License-Identifier: BSD-3-Clause
# carom_all.hpp: made twice it is the same text, it compiles without warnings though it is no system
# header, programs print the same numbers with it as with the headers it is made of, two units link.
# The programs stay as they are: a <carom/carom.hpp> that includes the one header stands in for the other.
#   cmake -D WORK_DIR= -D CAROM_SOURCE_DIR= -D CXX= -D EIGEN_INCLUDE= -D PYTHON= -P single_header.cmake
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR}/elsewhere)

# make(<folder to run in> <output>)
function(make folder output)
  execute_process(COMMAND_ERROR_IS_FATAL ANY WORKING_DIRECTORY ${folder}
    COMMAND ${PYTHON} ${CAROM_SOURCE_DIR}/scripts/single_header.py ${output})
endfunction()

# compile(<program> <include folder> <sources...>)
function(compile program include)
  execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${CXX} -std=c++20 -O0 -Wall -Wextra -Wpedantic
    -Wconversion -Wshadow -Werror -I${include} -isystem ${EIGEN_INCLUDE} ${ARGN} -o ${WORK_DIR}/${program})
endfunction()

set(one ${WORK_DIR}/one)
make(${WORK_DIR} ${one}/carom_all.hpp)
make(${WORK_DIR}/elsewhere ../again.hpp)
file(READ ${one}/carom_all.hpp first)
file(READ ${WORK_DIR}/again.hpp second)
if(NOT first STREQUAL second)
  message(FATAL_ERROR "two runs of single_header.py give different texts")
endif()
foreach(once IN ITEMS "SPDX-License-Identifier" "#pragma once" "#include <Eigen/Core>")
  string(REGEX MATCHALL "${once}" found "${first}")
  list(LENGTH found count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "carom_all.hpp has '${once}' ${count} times")
  endif()
endforeach()
if(first MATCHES "#include \"carom/" OR NOT first MATCHES "Redistributions in binary form")
  message(FATAL_ERROR "carom_all.hpp includes another header of carom, or lacks the licence")
endif()

file(WRITE ${one}/carom/carom.hpp "#include \"../carom_all.hpp\"\n")
set(bits ${CMAKE_CURRENT_LIST_DIR}/../bits)
set(numbers ${bits}/main.cpp ${bits}/cones.cpp ${bits}/impacts.cpp)
compile(many_headers ${CAROM_SOURCE_DIR}/include ${numbers})
compile(one_header ${one} ${numbers})
execute_process(COMMAND ${WORK_DIR}/many_headers OUTPUT_VARIABLE expected COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK_DIR}/one_header OUTPUT_VARIABLE got COMMAND_ERROR_IS_FATAL ANY)
if(NOT got STREQUAL expected OR NOT expected MATCHES "impact_chains [0-9a-f]+")
  message(FATAL_ERROR "the numbers differ:\n${expected}\n${got}")
endif()
set(units ${CMAKE_CURRENT_LIST_DIR}/two_units)
compile(two_units ${one} ${units}/first.cpp ${units}/second.cpp)
execute_process(COMMAND ${WORK_DIR}/two_units COMMAND_ERROR_IS_FATAL ANY)
