# SPDX-License-Identifier: BSD-3-Clause
# carom_example_files: the parts of apps/io that are no headers. FCLIB's files need HDF5 in C
# (Debian: libhdf5-dev); without it the functions say so.
find_path(CAROM_HDF5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(CAROM_HDF5_LIBRARY NAMES hdf5_serial hdf5)
mark_as_advanced(CAROM_HDF5_INCLUDE_DIR CAROM_HDF5_LIBRARY)

add_library(carom_example_files STATIC EXCLUDE_FROM_ALL
  ${PROJECT_SOURCE_DIR}/apps/io/fclib_reader.cpp
  ${PROJECT_SOURCE_DIR}/apps/io/fclib_writer.cpp)
target_include_directories(carom_example_files PUBLIC ${PROJECT_SOURCE_DIR}/examples ${PROJECT_SOURCE_DIR}/apps)
target_link_libraries(carom_example_files PUBLIC carom::carom PRIVATE carom_warnings)
if(CAROM_HDF5_INCLUDE_DIR AND CAROM_HDF5_LIBRARY)
  target_compile_definitions(carom_example_files PUBLIC CAROM_WITH_HDF5)
  target_include_directories(carom_example_files SYSTEM PRIVATE ${CAROM_HDF5_INCLUDE_DIR})
  target_link_libraries(carom_example_files PRIVATE ${CAROM_HDF5_LIBRARY})
else()
  message(STATUS "HDF5 not found: the programs cannot read FCLIB files")
endif()
