// The CPU's arithmetic peak: f32 multiply-adds on registers alone, on all threads.
// In: a kernel compiled from peak_flops_kernel(). Out: operations a second, the roofline's roof.
#pragma once

#include <cstdint>
#include <span>

#include "src/codegen/cpu/renderer.h"
#include "src/runtime/device.h"

namespace sinter {

// Takes one buffer, f32, and one scalar, the number of rounds. Program i reads its first values
// from element i and leaves their sum there, so that none of the work can be left out.
KernelSource peak_flops_kernel(int vector_bytes);

// Of one round of one program: a multiply-add is two.
std::int64_t flops_of_round(int vector_bytes);

// The best of several runs, about 0.1 s in all.
double measure_peak_flops(const CompiledKernel& kernel, int threads, int vector_bytes);

}  // namespace sinter
