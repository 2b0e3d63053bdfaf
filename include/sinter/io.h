// Data in and out: NumPy's .npy files and DLPack.
#pragma once

#include <sinter/tensor.h>

#include <string>

struct DLManagedTensor;  // as the DLPack standard defines it (version 0.8, unversioned)

namespace sinter {

// Versions 1 to 3 of the format, little-endian, C or Fortran order; f2 f4 f8 i4 i8 b1. A file that
// is damaged, too short or of another type is a UserError that says so.
Tensor load_npy(const std::string& path);
// Written to a temporary name and renamed: the file is whole or not there. bf16 has no NumPy type.
void save_npy(const std::string& path, const Tensor& tensor);

// Takes the tensor over: its deleter is called when no Sinter tensor uses the memory any more.
Tensor from_dlpack(DLManagedTensor* managed);
// The caller owns the result and calls its deleter.
DLManagedTensor* to_dlpack(const Tensor& tensor);

}  // namespace sinter
