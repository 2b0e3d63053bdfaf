// The tests of cpu_vocabulary_test.cpp for vectors of 4 lanes.

#define SN_LANES 4
#include "tests/kernels/cpu_vocabulary_test.cpp"
