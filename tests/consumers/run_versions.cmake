# SPDX-License-Identifier: BSD-3-Clause
# Installs carom and lets tests/consumers/versions ask for versions and components.
#   cmake -D WORK_DIR= -D CAROM_SOURCE_DIR= -D CAROM_BINARY_DIR= -D EIGEN_DIR= -P run_versions.cmake
file(REMOVE_RECURSE ${WORK_DIR})
execute_process(COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET
  COMMAND ${CMAKE_COMMAND} --install ${CAROM_BINARY_DIR} --prefix ${WORK_DIR}/prefix)
execute_process(COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET
  COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/versions -B ${WORK_DIR}/build
    -Dcarom_ROOT=${WORK_DIR}/prefix -DCAROM_SOURCE_DIR=${CAROM_SOURCE_DIR} -DEigen3_DIR=${EIGEN_DIR})
