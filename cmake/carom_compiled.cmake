# SPDX-License-Identifier: BSD-3-Clause
# carom::compiled, the solvers compiled once (include/carom/compiled.hpp). It is a target of the build
# that links it, never a binary that is installed: checks and alignment are part of every name
# (CAROM_ABI), so only a library built with a program's own settings fits it.

# carom_add_compiled(<folder of the sources> [<target with warnings>])
function(carom_add_compiled folder)
  if(TARGET carom_compiled)
    return()
  endif()
  foreach(scalar IN ITEMS float double)
    add_library(carom_compiled_${scalar} OBJECT EXCLUDE_FROM_ALL
      ${folder}/contact.cpp ${folder}/convex.cpp ${folder}/coulomb.cpp ${folder}/viscoelastic.cpp)
    target_link_libraries(carom_compiled_${scalar} PRIVATE carom::carom ${ARGN})
    target_compile_definitions(carom_compiled_${scalar} PRIVATE CAROM_COMPILED_SCALAR=${scalar})
  endforeach()
  add_library(carom_compiled STATIC EXCLUDE_FROM_ALL
    $<TARGET_OBJECTS:carom_compiled_float> $<TARGET_OBJECTS:carom_compiled_double>)
  add_library(carom::compiled ALIAS carom_compiled)
  target_link_libraries(carom_compiled PUBLIC carom::carom)
  target_compile_definitions(carom_compiled INTERFACE CAROM_COMPILED)
endfunction()
