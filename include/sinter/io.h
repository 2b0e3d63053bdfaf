// Data in and out: NumPy's .npy files and DLPack.
#pragma once

#include <sinter/tensor.h>

#include <string>

struct DLManagedTensor;  // as the DLPack standard defines it (version 0.8, unversioned)

namespace sinter {

// Versions 1 to 3 of the format, little-endian, C or Fortran order; f2 f4 f8 i4 i8 b1. A file that
// is damaged, too short or of another type is a UserError that says so.
// To the device of that name, else to the default device.
Tensor load_npy(const std::string& path, const std::string& device = "");
// Written to a temporary name and renamed: the file is whole or not there. bf16 has no NumPy type.
// A full or failing disk is an IoError, here and in load_npy().
void save_npy(const std::string& path, const Tensor& tensor);

// Host memory becomes a tensor of "cpu", a GPU's one of "cuda" or "cuda:1"; on a GPU, what writes
// it is on the legacy default stream or has finished. Takes the tensor over: its deleter is called
// when no Sinter tensor uses the memory any more.
Tensor from_dlpack(DLManagedTensor* managed);
// The caller owns the result and calls its deleter. Waits for what computes the elements.
DLManagedTensor* to_dlpack(const Tensor& tensor);

}  // namespace sinter
