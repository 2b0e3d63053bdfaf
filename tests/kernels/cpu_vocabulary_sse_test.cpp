// The tests of cpu_vocabulary_test.cpp for vectors of 4 lanes without AVX and FMA.

#define SN_LANES 4
#define SN_SUITE CpuVocabulary4WithoutAvx
#include "tests/kernels/cpu_vocabulary_test.cpp"
