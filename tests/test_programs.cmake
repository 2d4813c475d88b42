# SPDX-License-Identifier: BSD-3-Clause
# Any version is asked for and the number checked here: a request for 2.13 is refused by Catch2 3.
carom_find(Catch2 catch2)
if(Catch2_VERSION VERSION_LESS 2.13 OR Catch2_VERSION VERSION_GREATER_EQUAL 4)
  message(FATAL_ERROR "The tests need Catch2 2.13 or 3, found '${Catch2_VERSION}' in ${Catch2_DIR}")
endif()

# Oracles compute in fifty digits.
find_path(CAROM_BOOST_INCLUDE_DIR boost/multiprecision/cpp_bin_float.hpp)
mark_as_advanced(CAROM_BOOST_INCLUDE_DIR)
if(NOT CAROM_BOOST_INCLUDE_DIR)
  carom_missing(Boost.Multiprecision libboost-dev)
endif()

find_package(Threads REQUIRED)
add_library(carom_test_support INTERFACE)
target_include_directories(carom_test_support INTERFACE
  ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/examples ${PROJECT_SOURCE_DIR}/apps
  ${PROJECT_SOURCE_DIR}/benchmarks)
target_include_directories(carom_test_support SYSTEM INTERFACE ${CAROM_BOOST_INCLUDE_DIR})
# Where tests find data files: CAROM_SOURCE_DIR "/examples/data/..."
target_compile_definitions(carom_test_support INTERFACE CAROM_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(carom_test_support INTERFACE
  carom::carom carom_warnings Catch2::Catch2WithMain Threads::Threads)
# The solvers are compiled as the build type says. What the tests themselves instantiate runs in
# seconds either way and compiles a quarter faster so. A program that counts allocations is not
# optimised at all (the property CAROM_COUNTS_ALLOCATIONS), as compilers may leave some out.
set(counts $<BOOL:$<TARGET_PROPERTY:CAROM_COUNTS_ALLOCATIONS>>)
target_compile_options(carom_test_support INTERFACE $<$<CONFIG:Release>:$<IF:${counts},-O0,-O1>>)

# <Eigen/Dense> and Catch2 cost seconds per file, so all test programs share one precompiled header;
# the solvers come from the compiled library.
set(compiled carom::compiled carom::compiled_float carom_files)
add_library(carom_test_precompiled OBJECT support/precompiled.cpp)
target_link_libraries(carom_test_precompiled PRIVATE carom_test_support ${compiled})
target_precompile_headers(carom_test_precompiled PRIVATE support/precompiled.hpp)
# clang++ can also compile the code of a precompiled header once, for all units that read it: the
# templates that support/shared_code.hpp uses are then compiled in no other unit.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(carom_test_support INTERFACE CAROM_TEST_SHARED_CODE)
  target_compile_options(carom_test_precompiled PRIVATE "SHELL:-Xclang -fmodules-codegen")
  set(header ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/carom_test_precompiled.dir/cmake_pch.hxx.pch)
  set(code ${CMAKE_CURRENT_BINARY_DIR}/precompiled_code.o)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_DEBUG}")
  add_custom_command(OUTPUT ${code}
    COMMAND ${CMAKE_CXX_COMPILER} ${flags} -c ${header} -o ${code}
    DEPENDS carom_test_precompiled $<TARGET_OBJECTS:carom_test_precompiled> VERBATIM)
  add_library(carom_test_code STATIC ${code})
  set_target_properties(carom_test_code PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(carom_test_code PUBLIC ${compiled})
  list(PREPEND compiled carom_test_code)
endif()

# Neighbours of a room share a unit, and with it the templates of Eigen and carom that they
# instantiate, which saves half of the time; each file is in a namespace named after it. The units
# of rooms that instantiate much are smaller, so that none takes longer than 45 s to compile.
set(files_per_unit 12)
set(files_per_unit_linalg 6)
set(files_per_unit_cones 6)
set(files_per_unit_contact 8)
set(files_per_unit_solvers 6)
set(files_per_unit_batch 2)
set(files_per_unit_scenes 8)
set(files_per_unit_variational 6)
set(files_per_unit_viscoelastic 8)

# One program per room, because starting a sanitized process for every test case would cost more
# than the tests. Rooms that take minutes have one ctest entry per file, so that the files run side
# by side; the tag of a file is its name, as Catch2's option -# makes it.
set(no_tests_fail "")  # Catch2 3 fails by itself where no test matches
if(Catch2_VERSION VERSION_LESS 3)
  set(no_tests_fail -w NoTests)
endif()
set(rooms core linalg cones contact solvers batch impact viscoelastic variational scenes io cli ensemble
  stress real_time)
if(CAROM_TEST_ROOMS)
  foreach(room IN LISTS CAROM_TEST_ROOMS)
    if(NOT room IN_LIST rooms)
      message(FATAL_ERROR "CAROM_TEST_ROOMS names '${room}'; there are ${rooms}")
    endif()
  endforeach()
  set(rooms ${CAROM_TEST_ROOMS})
endif()
set(builds_real_time FALSE)
if(real_time IN_LIST rooms)
  set(builds_real_time TRUE)
  list(REMOVE_ITEM rooms real_time)
endif()
set(rooms_by_file contact solvers batch impact viscoelastic variational scenes)
foreach(room IN LISTS rooms)
  file(GLOB sources CONFIGURE_DEPENDS ${room}/*_test.cpp)
  if(CAROM_TEST_DETAIL OR NOT sources)  # linalg has pieces alone
    file(GLOB details CONFIGURE_DEPENDS ${room}/*/*_test.cpp)
    list(APPEND sources ${details})
  endif()
  if(sources)
    if(NOT DEFINED files_per_unit_${room})
      set(files_per_unit_${room} ${files_per_unit})
    endif()
    add_executable(carom_${room}_tests ${sources})
    target_link_libraries(carom_${room}_tests PRIVATE carom_test_support ${compiled})
    target_precompile_headers(carom_${room}_tests REUSE_FROM carom_test_precompiled)
    set_target_properties(carom_${room}_tests PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files_per_unit_${room}})
    if(room IN_LIST rooms_by_file)
      foreach(source IN LISTS sources)
        get_filename_component(file ${source} NAME_WE)
        string(REGEX REPLACE "_test$" "" name ${file})
        add_test(NAME ${room}.${name} COMMAND carom_${room}_tests ${no_tests_fail} -\# "[#${file}]~[.]~[slow]")
      endforeach()
    else()
      add_test(NAME ${room} COMMAND carom_${room}_tests)
    endif()
    # Long sweeps are hidden from a plain run; optimised code does them in seconds.
    if(CAROM_TEST_SLOW AND room MATCHES "^(batch|cones|scenes|solvers|variational)$")
      add_test(NAME ${room}.slow COMMAND carom_${room}_tests "[slow]")
    endif()
  endif()
endforeach()

# A part of the carom program that is no header.
if(TARGET carom_cli_tests)
  target_sources(carom_cli_tests PRIVATE ${PROJECT_SOURCE_DIR}/apps/cli/heap_run.cpp)
endif()

# Files of frictional contact problems; FCLIB's own library, where it is installed, is the judge of
# what is written.
if(TARGET carom_io_tests)
  find_path(CAROM_FCLIB_INCLUDE_DIR fclib.h)
  find_library(CAROM_FCLIB_LIBRARY fclib)
  mark_as_advanced(CAROM_FCLIB_INCLUDE_DIR CAROM_FCLIB_LIBRARY)
  get_target_property(files_definitions carom_files COMPILE_DEFINITIONS)
  if(CAROM_FCLIB_INCLUDE_DIR AND CAROM_FCLIB_LIBRARY AND files_definitions MATCHES "CAROM_WITH_HDF5")
    target_compile_definitions(carom_io_tests PRIVATE CAROM_WITH_FCLIB)
    target_include_directories(carom_io_tests SYSTEM PRIVATE ${CAROM_FCLIB_INCLUDE_DIR})
    target_link_libraries(carom_io_tests PRIVATE ${CAROM_FCLIB_LIBRARY})
  endif()
endif()

# The allocation guard is an eigen_assert, so these files keep NDEBUG out in every build type. Other
# targets have the guard in unoptimised builds alone (CMakeLists.txt); elsewhere these files compile the
# solvers themselves.
if(builds_real_time)
  file(GLOB sources CONFIGURE_DEPENDS real_time_test.cpp real_time/*_test.cpp)
  add_executable(carom_real_time_tests ${sources})
  target_link_libraries(carom_real_time_tests PRIVATE carom_test_support carom_files)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_link_libraries(carom_real_time_tests PRIVATE ${compiled})
    target_precompile_headers(carom_real_time_tests REUSE_FROM carom_test_precompiled)
  else()
    target_compile_definitions(carom_real_time_tests PRIVATE EIGEN_RUNTIME_NO_MALLOC)
    target_compile_options(carom_real_time_tests PRIVATE -UNDEBUG)
  endif()
  set_target_properties(carom_real_time_tests PROPERTIES CAROM_COUNTS_ALLOCATIONS ON
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
  add_test(NAME real_time COMMAND carom_real_time_tests)
endif()

# Golden numbers repeat to the last digit only without fused multiply-add, a flag that the shared
# precompiled header does not carry.
file(GLOB sources CONFIGURE_DEPENDS regressions/*_test.cpp)
if(sources)
  add_executable(carom_regressions_tests ${sources})
  target_link_libraries(carom_regressions_tests PRIVATE carom_test_support)
  target_compile_options(carom_regressions_tests PRIVATE -ffp-contract=off)
  add_test(NAME regressions COMMAND carom_regressions_tests)
endif()
