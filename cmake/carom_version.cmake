# SPDX-License-Identifier: BSD-3-Clause
# The version is written once, in include/carom/core/version.hpp; everything else reads it or is
# compared with it by tests/structure/check_versions.py.

# Sets `result` to the version that the header of the folder `source` states.
function(carom_read_version source result)
  file(READ ${source}/include/carom/core/version.hpp text)
  set(numbers)
  foreach(part IN ITEMS MAJOR MINOR PATCH)
    if(NOT text MATCHES "#define CAROM_VERSION_${part} ([0-9]+)")
      message(FATAL_ERROR "${source}/include/carom/core/version.hpp defines no CAROM_VERSION_${part}")
    endif()
    list(APPEND numbers ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN numbers "." version)
  set(${result} ${version} PARENT_SCOPE)
endfunction()
