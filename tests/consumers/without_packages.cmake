# cmake -D SOURCE=stowage -D BINARY=folder -D OPTIONS=-Da=b;... -D INSTALLED=prefix -P without_packages.cmake
# Configures stowage where no package is to be had, and installs it: the same files as in INSTALLED.
file(REMOVE_RECURSE ${BINARY})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} ${OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BINARY} --prefix ${BINARY}/prefix COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE here LIST_DIRECTORIES FALSE RELATIVE ${BINARY}/prefix ${BINARY}/prefix/*)
file(GLOB_RECURSE there LIST_DIRECTORIES FALSE RELATIVE ${INSTALLED} ${INSTALLED}/*)
if(NOT here STREQUAL there)
  message(FATAL_ERROR "installed without packages: ${here}\n\ninstalled with packages: ${there}")
endif()
