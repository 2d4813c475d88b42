# SPDX-License-Identifier: BSD-3-Clause
# carom_engine_<name>: an interface target for each engine that is installed, its headers as system
# headers. Debian: scripts/packages.txt, group `engines`.

# carom_find_engine(<name> <header> <folder of the header> <library...>)
function(carom_find_engine name header folder)
  find_path(include_dir ${header} PATH_SUFFIXES ${folder} NO_CACHE)
  set(libraries)
  foreach(library_name IN LISTS ARGN)
    find_library(${library_name}_library ${library_name} NO_CACHE)
    list(APPEND libraries ${${library_name}_library})
  endforeach()
  if("${include_dir};${libraries}" MATCHES "NOTFOUND")
    message(STATUS "${name} is not installed: its adapter is not tested")
    return()
  endif()
  add_library(carom_engine_${name} INTERFACE)
  target_include_directories(carom_engine_${name} SYSTEM INTERFACE ${include_dir})
  target_link_libraries(carom_engine_${name} INTERFACE ${libraries})
endfunction()

carom_find_engine(bullet btBulletDynamicsCommon.h bullet BulletDynamics BulletCollision LinearMath)

# MuJoCo comes as Debian packs it, or with headers and library in its wheel, which goes before.
set(CAROM_PEERS_DIR "" CACHE PATH "Virtual environment of benchmarks/board/install_peers.py, where MuJoCo and Pinocchio may be")
file(GLOB mujoco_wheel ${CAROM_PEERS_DIR}/lib/python3*/site-packages/mujoco/libmujoco.so.*)
if(CAROM_PEERS_DIR AND mujoco_wheel)
  cmake_path(GET mujoco_wheel PARENT_PATH mujoco_dir)
  add_library(carom_engine_mujoco INTERFACE)
  target_include_directories(carom_engine_mujoco SYSTEM INTERFACE ${mujoco_dir}/include)
  target_link_libraries(carom_engine_mujoco INTERFACE ${mujoco_wheel})
else()
  carom_find_engine(mujoco mujoco/mujoco.h "" mujoco)
endif()

# DART's headers include those of two of its externals, packages of their own on Debian. Debian builds
# DART without NDEBUG; its classes then have virtual functions that units with NDEBUG lack.
find_path(ikfast_dir dart/external/ikfast/ikfast.h NO_CACHE)
find_path(odelcpsolver_dir dart/external/odelcpsolver/lcp.h NO_CACHE)
if(ikfast_dir AND odelcpsolver_dir)
  carom_find_engine(dart dart/dart.hpp "" dart dart-external-odelcpsolver)
else()
  message(STATUS "dart is not installed: its adapter is not tested")
endif()
# DART returns Eigen's objects, aligned as its packages were built, whatever -march a unit has.
if(TARGET carom_engine_dart)
  target_compile_options(carom_engine_dart INTERFACE -UNDEBUG)
  target_compile_definitions(carom_engine_dart INTERFACE EIGEN_MAX_ALIGN_BYTES=16)
endif()

# Gazebo's physics library, of the release that Debian 12 packs, and the plugin whose worlds are DART's.
find_package(PkgConfig QUIET)
if(TARGET carom_engine_dart AND PKG_CONFIG_FOUND)
  pkg_check_modules(gazebo QUIET ignition-physics5-dartsim ignition-physics5-sdf ignition-plugin1-loader sdformat12)
  find_library(gazebo_dartsim ignition-physics5-dartsim-plugin NO_CACHE)
  if(gazebo_FOUND AND gazebo_dartsim)
    add_library(carom_engine_gazebo INTERFACE)  # without its flags, which ask for C++17
    target_include_directories(carom_engine_gazebo SYSTEM INTERFACE ${gazebo_INCLUDE_DIRS})
    target_link_libraries(carom_engine_gazebo INTERFACE ${gazebo_LINK_LIBRARIES} carom_engine_dart)
    target_compile_definitions(carom_engine_gazebo INTERFACE CAROM_DARTSIM_PLUGIN="${gazebo_dartsim}")
  endif()
endif()
if(NOT TARGET carom_engine_gazebo)
  message(STATUS "gazebo is not installed: its demonstration is not built")
endif()

# Pinocchio 4 has no Debian package; it comes as a wheel (benchmarks/board/install_peers.py) with its
# headers and libraries, Boost among them. It is looked for in CMAKE_PREFIX_PATH and in CAROM_PEERS_DIR.
# Its own CMake files need packages that the wheel leaves out, so they are not asked.
function(carom_find_pinocchio)
  if(CAROM_PEERS_DIR)
    file(GLOB prefix ${CAROM_PEERS_DIR}/lib/python3*/site-packages/cmeel.prefix)
    list(APPEND CMAKE_PREFIX_PATH ${prefix})
  endif()
  carom_find_engine(pinocchio pinocchio/multibody.hpp "" pinocchio_default)
  if(TARGET carom_engine_pinocchio)
    # As its own targets have it; and its library holds Eigen's objects, aligned as the wheel was built,
    # whatever -march a unit has.
    target_compile_definitions(carom_engine_pinocchio INTERFACE
      BOOST_MPL_LIMIT_LIST_SIZE=30 BOOST_MPL_LIMIT_VECTOR_SIZE=30 BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS
      BOOST_FUSION_INVOKE_MAX_ARITY=12 PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION EIGEN_MAX_ALIGN_BYTES=16)
  endif()
endfunction()
carom_find_pinocchio()
