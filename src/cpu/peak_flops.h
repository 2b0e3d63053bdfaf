// Peak f32 throughput of the CPU: register-only multiply-adds on all threads. In: a kernel compiled
// from peak_flops_kernel(). Out: operations per second, for the roofline.
#pragma once

#include <cstdint>
#include <span>

#include "src/codegen/kernel_source.h"
#include "src/runtime/device.h"

namespace sinter {

// Takes one f32 buffer and one scalar, the number of rounds. Program i reads its start values from
// element i and stores their sum there, so that the compiler cannot drop the work.
KernelSource peak_flops_kernel(int vector_bytes);

// Operations in one round of one program; a multiply-add counts as two.
std::int64_t flops_of_round(int vector_bytes);

// The best of several runs, about 0.1 s in total.
double measure_peak_flops(const CompiledKernel& kernel, int threads, int vector_bytes);

}  // namespace sinter
