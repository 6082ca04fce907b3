# Headers, one export file a target, and the package files: find_package(stowage 0.1 COMPONENTS json).

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stowage)
get_property(libraries GLOBAL PROPERTY STOWAGE_LIBRARIES)
foreach(library IN LISTS libraries)
  get_target_property(name ${library} EXPORT_NAME)
  install(
    TARGETS ${library}
    EXPORT stowage-${name}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILE_SET internals DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(
    EXPORT stowage-${name}
    FILE stowage-${name}-targets.cmake
    NAMESPACE stowage::
    DESTINATION ${package_dir})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/stowage-config.cmake.in
                              ${PROJECT_BINARY_DIR}/package/stowage-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/stowage-config-version.cmake
                                 COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/package/stowage-config.cmake
              ${PROJECT_BINARY_DIR}/package/stowage-config-version.cmake ${CMAKE_CURRENT_LIST_DIR}/FindGLPK.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindCbc.cmake
        DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
