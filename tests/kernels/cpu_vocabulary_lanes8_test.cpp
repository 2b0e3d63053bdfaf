// The tests of cpu_vocabulary_test.cpp for vectors of 8 lanes.

#define SN_LANES 8
#include "tests/kernels/cpu_vocabulary_test.cpp"
