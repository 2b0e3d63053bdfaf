# Headers that nearly every file includes are parsed once for all targets of one kind.
# This only saves compile time. Every file still includes what it uses: scripts/lint parses the files
# without precompiled headers and fails where an include is missing.
set(SINTER_COMMON_HEADERS <algorithm> <array> <cstdint> <functional> <map> <memory> <mutex>
  <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <vector> <fmt/format.h>)

# sinter_precompile(TARGET FIRST HEADERS..): TARGET gets the common headers and HEADERS, made for
# FIRST, a target of the same flags that may be TARGET itself.
function(sinter_precompile target first)
  if(NOT SINTER_PRECOMPILE_HEADERS)
    return()
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${SINTER_COMMON_HEADERS} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
  # What ccache needs to see through them.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
