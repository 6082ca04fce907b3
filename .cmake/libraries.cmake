# The library: stowage::stowage needs nothing but the standard library; what needs a package is a target of
# its own, with its own headers. Every target exists everywhere, so that an installed tree is whole even
# where a package was missing; whoever links such a target must have the package.

find_package(Threads REQUIRED)
find_package(nlohmann_json 3.10 QUIET)
find_package(ZLIB QUIET)
find_package(Boost 1.74 QUIET)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_package(GLPK QUIET)
find_package(Cbc QUIET)
find_package(CUDAToolkit QUIET)
# Where no toolkit is: a folder with cuda_runtime_api.h is enough to compile, and to run the tests on a fake.
set(STOWAGE_CUDA_INCLUDE "" CACHE PATH "Folder with cuda_runtime_api.h; empty: that of the CUDA toolkit, if there is one")
set(cuda_include ${STOWAGE_CUDA_INCLUDE})
if(NOT cuda_include AND CUDAToolkit_FOUND)
  set(cuda_include ${CUDAToolkit_INCLUDE_DIRS})
endif()

file(GLOB_RECURSE core_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/stowage/*.hpp)
set(json_headers ${core_headers})
list(FILTER json_headers INCLUDE REGEX "/include/stowage/io(/|\\.hpp$)")
set(boost_graph_headers ${core_headers})
list(FILTER boost_graph_headers INCLUDE REGEX "/include/stowage/interop(/|\\.hpp$)")
set(glpk_headers ${core_headers})
list(FILTER glpk_headers INCLUDE REGEX "/include/stowage/solver/(detail/)?glpk")
set(cbc_headers ${core_headers})
list(FILTER cbc_headers INCLUDE REGEX "/include/stowage/solver/(detail/)?cbc")
set(cuda_headers ${core_headers})
list(FILTER cuda_headers INCLUDE REGEX "/include/stowage/exec/(detail/)?cuda")
list(REMOVE_ITEM core_headers ${json_headers} ${boost_graph_headers} ${glpk_headers} ${cbc_headers} ${cuda_headers})

# stowage_add_library(NAME HEADERS header... LINK target... [FOUND condition])
# Adds the interface target stowage::NAME. Its headers, but for the internals in detail/, are checked to stand alone by
# the target all_verify_interface_header_sets, unless FOUND says that a package is missing.
function(stowage_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;LINK;FOUND")
  if(name STREQUAL "stowage")
    set(target stowage)
  else()
    set(target stowage_${name})
  endif()
  add_library(${target} INTERFACE)
  add_library(stowage::${name} ALIAS ${target})
  target_compile_features(${target} INTERFACE cxx_std_20)
  set(internals ${arg_HEADERS})
  list(FILTER internals INCLUDE REGEX "/detail/")
  list(FILTER arg_HEADERS EXCLUDE REGEX "/detail/")
  target_sources(
    ${target}
    INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${arg_HEADERS}
              FILE_SET internals TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${internals})
  target_link_libraries(${target} INTERFACE ${arg_LINK})
  set(available TRUE)
  if(arg_FOUND AND NOT (${arg_FOUND}))
    set(available FALSE)
    message(STATUS "stowage::${name}: its packages are missing; what needs it is skipped")
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ${available}
                                             INTERFACE_HEADER_SETS_TO_VERIFY HEADERS
                                             STOWAGE_AVAILABLE ${available})
  set_property(GLOBAL APPEND PROPERTY STOWAGE_LIBRARIES ${target})
endfunction()

stowage_add_library(stowage HEADERS ${core_headers} LINK Threads::Threads)
stowage_add_library(
  json
  HEADERS ${json_headers}
  LINK stowage nlohmann_json::nlohmann_json ZLIB::ZLIB
  FOUND nlohmann_json_FOUND AND ZLIB_FOUND)
stowage_add_library(boost_graph HEADERS ${boost_graph_headers} LINK stowage Boost::headers FOUND Boost_FOUND)
# GLPK is licensed GPL-3 or later: a program that links stowage::glpk must be distributed on its terms.
stowage_add_library(glpk HEADERS ${glpk_headers} LINK stowage GLPK::GLPK FOUND GLPK_FOUND)
# Cbc is licensed EPL-2.0: the solver for programs that can take no GPL.
stowage_add_library(cbc HEADERS ${cbc_headers} LINK stowage Cbc::Cbc FOUND Cbc_FOUND)
# CUDA's headers alone, for programs that bring another runtime (the tests' fake).
add_library(stowage_cuda_headers INTERFACE)
set_target_properties(stowage_cuda_headers PROPERTIES STOWAGE_AVAILABLE FALSE)
if(cuda_include)
  set_target_properties(stowage_cuda_headers PROPERTIES STOWAGE_AVAILABLE TRUE)
  target_include_directories(stowage_cuda_headers SYSTEM INTERFACE $<BUILD_INTERFACE:${cuda_include}>)
endif()
# cuBLAS's beside them, for the example that is tested on a fake of it.
add_library(stowage_cublas_headers INTERFACE)
set_target_properties(stowage_cublas_headers PROPERTIES STOWAGE_AVAILABLE FALSE)
foreach(folder IN LISTS cuda_include)
  if(EXISTS ${folder}/cublas_v2.h)
    set_target_properties(stowage_cublas_headers PROPERTIES STOWAGE_AVAILABLE TRUE)
  endif()
endforeach()
target_link_libraries(stowage_cublas_headers INTERFACE stowage_cuda_headers)
stowage_add_library(cuda HEADERS ${cuda_headers} LINK stowage FOUND cuda_include)
# Whoever links stowage::cuda gets CUDA's runtime with it where the toolkit is.
if(cuda_include)
  target_include_directories(stowage_cuda SYSTEM INTERFACE $<BUILD_INTERFACE:${cuda_include}>)
endif()
if(CUDAToolkit_FOUND)
  target_link_libraries(stowage_cuda INTERFACE $<BUILD_INTERFACE:CUDA::cudart>)
endif()
target_link_libraries(stowage_cuda INTERFACE $<INSTALL_INTERFACE:CUDA::cudart>)
