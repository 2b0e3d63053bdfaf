# Chart.js, which draws the report's charts: optional, at build time only.
# In: SINTER_CHART_JS, a path or OFF; looked for where it is not set. Out: SINTER_CHART_LIBRARY, a
# copy of it under the name chart.js, or empty.
set(SINTER_CHART_LIBRARY "")
if(NOT "${SINTER_CHART_JS}" STREQUAL "OFF")
  find_file(SINTER_CHART_JS NAMES chart.min.js chart.umd.js
    DOC "Chart.js 3 or later (UMD) for reports, or OFF"
    PATHS /usr /usr/local /opt/homebrew
    PATH_SUFFIXES share/javascript/chart.js share/nodejs/chart.js/dist
      lib/node_modules/chart.js/dist)
  if(NOT SINTER_CHART_JS)
    message(STATUS "No Chart.js: reports will have no charts. Debian: apt install libjs-chart.js; "
      "elsewhere: -DSINTER_CHART_JS=PATH")
  elseif(NOT EXISTS ${SINTER_CHART_JS})
    message(FATAL_ERROR "SINTER_CHART_JS is ${SINTER_CHART_JS}, which is not there")
  else()
    # Every release begins with a comment that names it.
    file(READ ${SINTER_CHART_JS} banner LIMIT 200)
    if(banner MATCHES "Chart\\.js v([0-9]+)[0-9.]*" AND CMAKE_MATCH_1 GREATER_EQUAL 3)
      message(STATUS "Found ${CMAKE_MATCH_0}: ${SINTER_CHART_JS}")
      set(SINTER_CHART_LIBRARY ${PROJECT_BINARY_DIR}/generated/assets/chart.js)
      configure_file(${SINTER_CHART_JS} ${SINTER_CHART_LIBRARY} COPYONLY)
    else()
      message(STATUS "No charts in reports: ${SINTER_CHART_JS} is not Chart.js 3 or later")
    endif()
  endif()
endif()
