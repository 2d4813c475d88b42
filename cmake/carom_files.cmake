# SPDX-License-Identifier: BSD-3-Clause
# carom::files, the readers and writers of problems in files (docs/file_formats.md): headers and
# sources in io/. FCLIB's format needs HDF5 in C (Debian: libhdf5-dev); without it its
# functions throw, and say so. Compiled only if something links it.

# carom_add_files(<folder that holds io/> [<target with warnings>])
function(carom_add_files folder)
  if(TARGET carom_files OR NOT EXISTS ${folder}/io)
    return()
  endif()
  find_path(CAROM_HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
  find_library(CAROM_HDF5_LIBRARY NAMES hdf5_serial hdf5)
  mark_as_advanced(CAROM_HDF5_INCLUDE_DIR CAROM_HDF5_LIBRARY)

  add_library(carom_files STATIC EXCLUDE_FROM_ALL
    ${folder}/io/fclib_reader.cpp ${folder}/io/fclib_writer.cpp ${folder}/io/friction_dual.cpp)
  add_library(carom::files ALIAS carom_files)
  target_include_directories(carom_files PUBLIC ${folder})
  target_link_libraries(carom_files PUBLIC carom::carom PRIVATE ${ARGN})
  if(CAROM_HDF5_INCLUDE_DIR AND CAROM_HDF5_LIBRARY)
    target_compile_definitions(carom_files PUBLIC CAROM_WITH_HDF5)
    target_include_directories(carom_files SYSTEM PRIVATE ${CAROM_HDF5_INCLUDE_DIR})
    target_link_libraries(carom_files PRIVATE ${CAROM_HDF5_LIBRARY})
  elseif(PROJECT_IS_TOP_LEVEL OR NOT carom_SOURCE_DIR)
    message(STATUS "HDF5 was not found, so FCLIB files cannot be read (Debian: libhdf5-dev)")
  endif()
endfunction()
