# cmake -D BUILD=folder -D PREFIX=folder -P install.cmake
# Installs into an empty folder, so that nothing of an earlier run can stand in for what is missing.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
