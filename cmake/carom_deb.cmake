# SPDX-License-Identifier: BSD-3-Clause
# A Debian package, libcarom-dev, of what is installed: `cpack` in the build folder makes it, for all
# architectures. Who distributes it gives an address: -DCPACK_DEBIAN_PACKAGE_MAINTAINER="Name <address>".
set(CPACK_PACKAGE_NAME carom)
set(CPACK_PACKAGE_VENDOR "the carom authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_NAME libcarom-dev)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake (>= 3.24), pkgconf | pkg-config")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"carom takes masses, Jacobians and contact points and returns impulses and
velocities, with a bound on how far they are from the exact answer. It is a
C++20 library of headers on Eigen: friction cones, compliant and rigid
frictional contact, simultaneous impacts, variational time steps, stiff
viscoelastic contact. The package has files for CMake and pkg-config.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
if(NOT CPACK_DEBIAN_PACKAGE_MAINTAINER)
  set(CPACK_DEBIAN_PACKAGE_MAINTAINER "the carom authors <carom@example.invalid>")
endif()

# Debian's own documents are part of the package alone; gzip without names and dates, so that equal
# texts give equal files.
find_program(CAROM_GZIP gzip)
mark_as_advanced(CAROM_GZIP)
if(CAROM_GZIP)
  set(documents ${PROJECT_BINARY_DIR}/debian)
  string(TIMESTAMP carom_deb_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  configure_file(packaging/debian/changelog.in ${documents}/changelog.Debian @ONLY)
  configure_file(CHANGELOG.md ${documents}/changelog COPYONLY)
  foreach(document IN ITEMS changelog changelog.Debian)
    execute_process(COMMAND ${CAROM_GZIP} -9nc ${documents}/${document}
      OUTPUT_FILE ${documents}/${document}.gz COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  install(FILES packaging/debian/copyright ${documents}/changelog.gz ${documents}/changelog.Debian.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libcarom-dev COMPONENT debian EXCLUDE_FROM_ALL)
endif()
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};carom;ALL;/")
if(CAROM_GZIP)
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};carom;debian;/")
endif()
include(CPack)
