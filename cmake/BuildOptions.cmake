# sinter_build_options: what every target of this repository is compiled with. Never installed.
# In: the SINTER_* options. Out: an interface target with warnings, include roots, private libraries.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)

add_library(sinter_build_options INTERFACE)
target_compile_features(sinter_build_options INTERFACE cxx_std_20)
target_compile_definitions(sinter_build_options INTERFACE SINTER_VERSION="${PROJECT_VERSION}")
target_compile_options(sinter_build_options INTERFACE
  -Wall -Wextra -Wshadow $<$<BOOL:${SINTER_WERROR}>:-Werror>
  # GCC 12 and 13 take copies inside std::string and std::vector for overlapping ones or too long
  # ones (GCC bugs 105651, 105329).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
# Everything is included from the root: "src/fuse/plan.h", <sinter/tensor.h>.
target_include_directories(sinter_build_options INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)

# The libraries libsinter itself links, kept apart because the installed package repeats them.
set(SINTER_LINK_LIBRARIES Threads::Threads ${CMAKE_DL_LIBS})
if(SINTER_FMT_HEADER_ONLY)
  target_link_libraries(sinter_build_options INTERFACE fmt::fmt-header-only)
else()
  target_link_libraries(sinter_build_options INTERFACE fmt::fmt)
  list(APPEND SINTER_LINK_LIBRARIES fmt::fmt)
endif()
target_link_libraries(sinter_build_options INTERFACE nlohmann_json::nlohmann_json)

# Sanitizers must reach every file and every link, so they are not part of a target.
if(SINTER_SANITIZE)
  add_compile_options(-fsanitize=${SINTER_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SINTER_SANITIZE})
endif()
