# cmake -D SOURCE=folder -D BINARY=folder -D OPTIONS=-Da=b;... -P build.cmake
# Configures a consumer in a fresh folder and builds it, which runs its programs.
file(REMOVE_RECURSE ${BINARY})
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} ${OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY} COMMAND_ERROR_IS_FATAL ANY)
