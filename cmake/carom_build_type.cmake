# SPDX-License-Identifier: BSD-3-Clause
# Warns a user whose build does not optimise. Without a build type CMake gives the compiler no -O flag,
# and carom, whose small matrices are all templates, then runs 13 to 53 times slower (docs/guides/fast_code.md).
# Silent where a build type or a flag was chosen, with -DCAROM_QUIET=ON, and for find_package(carom QUIET).
get_property(carom_has_configurations GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT carom_has_configurations AND NOT CAROM_QUIET AND NOT carom_FIND_QUIETLY AND "${CMAKE_BUILD_TYPE}" STREQUAL ""
   AND NOT "$ENV{CXXFLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "(^| )-O")
  get_property(carom_has_told GLOBAL PROPERTY CAROM_BUILD_TYPE_NOTICE)
  if(NOT carom_has_told)
    set_property(GLOBAL PROPERTY CAROM_BUILD_TYPE_NOTICE TRUE)
    message(NOTICE "carom: CMAKE_BUILD_TYPE is empty, so nothing is optimised and solves take 13 to \
53 times as long. Configure with -DCMAKE_BUILD_TYPE=Release, or with -DCAROM_QUIET=ON to keep it so.")
  endif()
endif()
