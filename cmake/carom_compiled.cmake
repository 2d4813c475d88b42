# SPDX-License-Identifier: BSD-3-Clause
# carom::compiled, the solvers compiled once for double, and carom::compiled_float, the same for float
# (include/carom/compiled.hpp). Each is compiled only if something links it. They are targets of the
# build that links them, never binaries that are installed: checks and alignment are part of every name
# (CAROM_ABI), so only a library built with a program's own settings fits it.

# carom_add_compiled(<folder of the sources> [<target with warnings>])
function(carom_add_compiled folder)
  carom_add_compiled_for(double carom_compiled CAROM_COMPILED ${folder} ${ARGN})
  carom_add_compiled_for(float carom_compiled_float CAROM_COMPILED_FLOAT ${folder} ${ARGN})
endfunction()

# carom_add_compiled_for(<scalar> <target> <macro that tells units of it> <folder> [<warnings>])
function(carom_add_compiled_for scalar target macro folder)
  if(TARGET ${target})
    return()
  endif()
  add_library(${target} STATIC EXCLUDE_FROM_ALL
    ${folder}/contact.cpp ${folder}/convex.cpp ${folder}/coulomb.cpp ${folder}/derivatives.cpp
    ${folder}/factors.cpp ${folder}/infeasibility.cpp ${folder}/interior_point.cpp
    ${folder}/viscoelastic.cpp)
  string(REPLACE "carom_" "carom::" alias ${target})
  add_library(${alias} ALIAS ${target})
  target_link_libraries(${target} PUBLIC carom::carom PRIVATE ${ARGN})
  target_compile_definitions(${target} PUBLIC ${macro} PRIVATE CAROM_COMPILED_SCALAR=${scalar})
  # Proofs that there is no answer are looked for rarely, after a solver has failed, so their unit is
  # optimised a little only: g++ 12 compiles it so in 21 s where -O3 takes 38 s.
  set_source_files_properties(${folder}/infeasibility.cpp TARGET_DIRECTORY ${target} PROPERTIES
    COMPILE_OPTIONS "$<$<AND:$<NOT:$<CONFIG:Debug>>,$<CXX_COMPILER_ID:GNU,Clang,AppleClang>>:-O1>")
endfunction()
