# cmake -D CASE=file.cpp -D COMPILER=... -D FAMILY=GNU|Clang -D FLAGS=a;b -P check.cmake
# A case must compile with -DPASS (so that its error is the one that it is about), must not compile without,
# and the messages must match each of its lines `// expect: regex` (`// expect-GNU:`, `// expect-Clang:` for
# one compiler only).

function(compile result messages)
  execute_process(COMMAND ${COMPILER} -std=c++20 ${FLAGS} ${ARGN} -fsyntax-only ${CASE}
                  RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${result} ${status} PARENT_SCOPE)
  set(${messages} "${text}" PARENT_SCOPE)
endfunction()

file(STRINGS ${CASE} expectations REGEX "^// expect(-${FAMILY})?: .")
if(NOT expectations)
  message(FATAL_ERROR "no expectation: ${CASE} says nothing of its message")
endif()
compile(status messages -DPASS)
if(NOT status STREQUAL "0")
  message(FATAL_ERROR "the passing twin does not compile:\n${messages}")
endif()
compile(status messages)
if(status STREQUAL "0")
  message(FATAL_ERROR "compiles, but must not")
endif()
foreach(line IN LISTS expectations)
  string(REGEX REPLACE "^// expect[^:]*: " "" pattern "${line}")
  if(NOT messages MATCHES "${pattern}")
    message(FATAL_ERROR "wrong message: none matches '${pattern}' in\n${messages}")
  endif()
endforeach()
message(STATUS "fails as expected")
