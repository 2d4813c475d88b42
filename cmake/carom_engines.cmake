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
carom_find_engine(mujoco mujoco/mujoco.h "" mujoco)
