# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` brings: headers, the CMake package with the sources of carom::compiled and
# carom::files beside it, the pkg-config file, and with CAROM_SINGLE_HEADER carom_all.hpp. No path of the build machine is
# written into any of them, so the folder may be moved. cmake/carom_deb.cmake makes a Debian package of it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/carom)
install(TARGETS carom carom_reproducible EXPORT carom-targets FILE_SET HEADERS)
install(EXPORT carom-targets NAMESPACE carom:: DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/carom-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(DIRECTORY src DESTINATION ${package_dir} FILES_MATCHING PATTERN "*.cpp")
install(DIRECTORY apps/io DESTINATION ${package_dir}/files FILES_MATCHING PATTERN "*.cpp" PATTERN "*.hpp")
install(FILES cmake/carom-config.cmake cmake/carom_build_type.cmake cmake/carom_compiled.cmake
  cmake/carom_eigen_version.cmake cmake/carom_files.cmake
  ${PROJECT_BINARY_DIR}/carom-config-version.cmake DESTINATION ${package_dir})

set(pc_dir ${CMAKE_INSTALL_DATADIR}/pkgconfig)
set(carom_pc_prefix ${CMAKE_INSTALL_PREFIX})
set(carom_pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
if(NOT IS_ABSOLUTE "${pc_dir}")
  file(RELATIVE_PATH up /${pc_dir} /)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(carom_pc_prefix "\${pcfiledir}/${up}")
endif()
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(carom_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/carom.pc.in ${PROJECT_BINARY_DIR}/carom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/carom.pc DESTINATION ${pc_dir})

if(TARGET carom_cli)
  install(TARGETS carom_cli)
  carom_install_resources(share)
endif()

if(CAROM_SINGLE_HEADER)
  install(FILES ${CAROM_SINGLE_HEADER_FILE} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(PROJECT_IS_TOP_LEVEL)
  include(cmake/carom_deb.cmake)
endif()
