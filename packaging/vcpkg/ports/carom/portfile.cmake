# SPDX-License-Identifier: BSD-3-Clause
# An overlay port: it packs the tree that it stands in (vcpkg install carom --overlay-ports=packaging/vcpkg/ports).
# In a registry, vcpkg_from_github or vcpkg_from_git sets SOURCE_PATH instead.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)

set(VCPKG_BUILD_TYPE release)  # headers and sources are the same for every build type
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DCAROM_BUILD_TESTS=OFF
    -DCAROM_BUILD_EXAMPLES=OFF
    -DCAROM_INSTALL=ON
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/carom)
vcpkg_fixup_pkgconfig()

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
