# SPDX-License-Identifier: BSD-3-Clause
# Compiles headers of carom as C++17: the answer is one sentence, and no error of a line that needs C++20.
#   cmake -D CXX= -D INCLUDES=<folder;folder> -D SOURCE=cxx17.cpp -P old_standard.cmake
list(TRANSFORM INCLUDES PREPEND -I)
foreach(header IN ITEMS carom/carom.hpp carom/cones/friction_cone.hpp carom/solvers/sap.hpp
    carom/contact/contact_problem.hpp carom/impact/resolve.hpp carom/variational/stepper.hpp carom/compiled.hpp)
  execute_process(COMMAND ${CXX} -std=c++17 -fsyntax-only ${INCLUDES} -DCAROM_HEADER=<${header}> ${SOURCE}
    RESULT_VARIABLE status ERROR_VARIABLE text)
  string(REGEX MATCHALL "error: " errors "${text}")
  list(LENGTH errors count)
  if(status EQUAL 0 OR NOT text MATCHES "error: [^\n]*carom needs C\\+\\+20: compile with -std=c\\+\\+20" OR count GREATER 2)
    message(FATAL_ERROR "${header} as C++17: status ${status}, ${count} errors:\n${text}")
  endif()
endforeach()
