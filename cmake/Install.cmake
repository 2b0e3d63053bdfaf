# `cmake --install`: library, public headers, tool, and the files behind find_package(sinter).
include(CMakePackageConfigHelpers)
set(SINTER_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/sinter)

install(TARGETS sinter EXPORT sinter-targets)
install(DIRECTORY include/sinter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET sinter_cli)
  install(TARGETS sinter_cli)
endif()

install(EXPORT sinter-targets NAMESPACE sinter:: DESTINATION ${SINTER_PACKAGE_DIR})
configure_package_config_file(cmake/sinter-config.cmake.in
  ${PROJECT_BINARY_DIR}/sinter-config.cmake INSTALL_DESTINATION ${SINTER_PACKAGE_DIR})
# Before 1.0 a minor version may break the API.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sinter-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sinter-config.cmake
  ${PROJECT_BINARY_DIR}/sinter-config-version.cmake DESTINATION ${SINTER_PACKAGE_DIR})
