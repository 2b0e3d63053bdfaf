// The tests of cpu_vocabulary_test.cpp for vectors of 8 lanes without AVX-512.

#define SN_LANES 8
#define SN_SUITE CpuVocabulary8WithoutAvx512
#include "tests/kernels/cpu_vocabulary_test.cpp"
