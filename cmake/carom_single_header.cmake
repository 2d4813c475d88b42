# SPDX-License-Identifier: BSD-3-Clause
# carom_all.hpp, all headers in one file for those who want to copy one: made by the target
# carom_single_header where Python is installed and carom is no part of another project, and by every build with CAROM_SINGLE_HEADER.
set(in_all)
set(CAROM_SINGLE_HEADER_FILE ${PROJECT_BINARY_DIR}/single_header/carom_all.hpp)
if(CAROM_SINGLE_HEADER)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(in_all ALL)
elseif(PROJECT_IS_TOP_LEVEL)
  find_package(Python3 QUIET COMPONENTS Interpreter)
endif()
if(Python3_Interpreter_FOUND AND (CAROM_SINGLE_HEADER OR PROJECT_IS_TOP_LEVEL))
  list(TRANSFORM CAROM_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE headers)
  add_custom_command(OUTPUT ${CAROM_SINGLE_HEADER_FILE}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/single_header.py ${CAROM_SINGLE_HEADER_FILE}
    DEPENDS ${headers} ${PROJECT_SOURCE_DIR}/scripts/single_header.py ${PROJECT_SOURCE_DIR}/LICENSE
    VERBATIM)
  add_custom_target(carom_single_header ${in_all} DEPENDS ${CAROM_SINGLE_HEADER_FILE})
endif()
