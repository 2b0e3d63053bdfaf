// The tests of cpu_vocabulary_test.cpp for vectors of 2 lanes.

#define SN_LANES 2
#include "tests/kernels/cpu_vocabulary_test.cpp"
