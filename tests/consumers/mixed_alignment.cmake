# SPDX-License-Identifier: BSD-3-Clause
# Two units that Eigen aligns differently must not share carom's objects: the program does not link,
# and the linker names the alignments. With equal settings the same two units link.
#   cmake -D WORK_DIR= -D CXX= -D INCLUDES=<folder;...> -P mixed_alignment.cmake
set(sources ${CMAKE_CURRENT_LIST_DIR}/mixed_alignment)
list(TRANSFORM INCLUDES PREPEND -I OUTPUT_VARIABLE include_flags)

# compile(<object> <source> <flags...>)
function(compile object source)
  execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${CXX} -std=c++20 -O0 ${ARGN} ${include_flags}
    -c ${sources}/${source} -o ${WORK_DIR}/${object})
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
compile(giver.o giver.cpp -msse2 -mno-avx)
compile(taker.o taker.cpp -msse2 -mno-avx)
compile(taker_avx.o taker.cpp -mavx2)
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND ${CXX} ${WORK_DIR}/giver.o ${WORK_DIR}/taker.o -o ${WORK_DIR}/equal)
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${WORK_DIR}/equal)
execute_process(COMMAND ${CXX} ${WORK_DIR}/giver.o ${WORK_DIR}/taker_avx.o -o ${WORK_DIR}/mixed
  RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(status EQUAL 0 OR NOT text MATCHES "undefined reference to .*bodies_of.*align16")
  message(FATAL_ERROR "expected a linker error that names the alignment, got status ${status}:\n${text}")
endif()
