# SPDX-License-Identifier: BSD-3-Clause
# A unit that hands an object of carom to a unit with other flags: the program must not link. With
# the same flags it must, and run, or the refusal would show nothing.
#   cmake -D CXX= -D INCLUDES=<folder;...> -D FLAGS=<what one of the units has> -D WORK_DIR= -P ...
file(MAKE_DIRECTORY ${WORK_DIR})
list(TRANSFORM INCLUDES PREPEND -I)

function(compile unit object)
  execute_process(COMMAND ${CXX} -std=c++20 -O0 ${INCLUDES} ${ARGN} -c
    ${CMAKE_CURRENT_LIST_DIR}/${unit}.cpp -o ${WORK_DIR}/${object} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(link status_name text_name)
  list(TRANSFORM ARGN PREPEND ${WORK_DIR}/)
  execute_process(COMMAND ${CXX} ${ARGN} -o ${WORK_DIR}/program
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${status_name} ${status} PARENT_SCOPE)
  set(${text_name} ${text} PARENT_SCOPE)
endfunction()

compile(giver giver.o)
compile(taker taker.o)
compile(taker taker_other.o ${FLAGS})
link(status text giver.o taker.o)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "units with the same flags do not link:\n${text}")
endif()
execute_process(COMMAND ${WORK_DIR}/program COMMAND_ERROR_IS_FATAL ANY)
link(status text giver.o taker_other.o)
if(status EQUAL 0 OR NOT text MATCHES "count_contacts")
  message(FATAL_ERROR "expected no count_contacts to be found; the linker ended with ${status}:\n${text}")
endif()
message(STATUS "refused: a unit with ${FLAGS} and one without")
