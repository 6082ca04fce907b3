# cmake -D PROGRAM=clang-format-14 -D ROOT=folder -P format.cmake
file(GLOB_RECURSE files ${ROOT}/include/*.hpp ${ROOT}/tests/*.[ch]pp ${ROOT}/examples/*.[ch]pp ${ROOT}/bench/*.[ch]pp)
execute_process(COMMAND ${PROGRAM} --dry-run -Werror ${files} COMMAND_ERROR_IS_FATAL ANY)
