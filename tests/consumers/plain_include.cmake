# cmake -D INCLUDE=prefix/include -D BINARY=folder -D COMPILER=... -D HEADERS=stowage/a.hpp;... -P plain_include.cmake
# All core headers of an installed tree in one source, with -I and nothing else; the compiler's list of what it
# read must not name a header of any package.
set(lines "")
foreach(header IN LISTS HEADERS)
  string(APPEND lines "#include <${header}>\n")
endforeach()
file(WRITE ${BINARY}/core.cpp "${lines}int main() {}\n")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -MD -MF ${BINARY}/core.d -I${INCLUDE} ${BINARY}/core.cpp
                COMMAND_ERROR_IS_FATAL ANY)
file(READ ${BINARY}/core.d read)
if(read MATCHES "[^ ]*/(boost|nlohmann|CLI|doctest|benchmark)/[^ ]*|[^ ]*/(zlib|glpk|cuda_runtime[a-z_]*)\\.h")
  message(FATAL_ERROR "the core includes ${CMAKE_MATCH_0}")
endif()
