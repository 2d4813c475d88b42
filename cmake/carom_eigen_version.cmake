# SPDX-License-Identifier: BSD-3-Clause
# Eigen's version is compared here rather than by find_package: Eigen 3.4.0 refuses every request
# that reaches into major version 5, Eigen 5 refuses a request for 3.4.

# Sets `result` to the reason why the Eigen that find_package(Eigen3) found does not fit, or to "".
function(carom_check_eigen_version result)
  set(version "${Eigen3_VERSION}")
  if(version STREQUAL "")
    set(version "${EIGEN3_VERSION_STRING}")
  endif()
  set(accepted FALSE)
  foreach(range IN ITEMS "3.4;4" "5;6")
    list(GET range 0 first)
    list(GET range 1 beyond)
    if(version VERSION_GREATER_EQUAL first AND version VERSION_LESS beyond)
      set(accepted TRUE)
    endif()
  endforeach()
  if(accepted)
    set(${result} "" PARENT_SCOPE)
  else()
    set(${result} "carom needs Eigen 3.4 or later of major version 3, or Eigen 5; found version \
'${version}' in '${Eigen3_DIR}'" PARENT_SCOPE)
  endif()
endfunction()
