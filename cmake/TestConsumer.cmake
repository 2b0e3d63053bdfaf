# The test consumer.find_package: install Sinter into a scratch prefix, then configure, build and
# run tests/consumer against it. In: BUILD_DIR SOURCE_DIR WORK_DIR GENERATOR CXX SANITIZE VERSION.
file(REMOVE_RECURSE ${WORK_DIR})
set(flags "")
if(SANITIZE)
  set(flags -DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE})
endif()

# Each step's output is shown by ctest when the test fails.
function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGV})
    message(FATAL_ERROR "exit status ${result}: ${command}")
  endif()
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
step(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/consumer -B ${WORK_DIR}/build -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DSINTER_EXPECT=${VERSION}
  ${flags})
step(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
step(${WORK_DIR}/build/consumer)
