// Data in and out: NumPy's .npy files and DLPack.
#pragma once

#include <sinter/tensor.h>

#include <string>

struct DLManagedTensor;  // defined by the DLPack standard (version 0.8, unversioned)

namespace sinter {

// Reads format versions 1 to 3, little-endian, C or Fortran order; f2 f4 f8 i4 i8 b1. A file that
// is damaged, truncated or of another type is a UserError. The tensor goes to `device`, or to the
// default device.
Tensor load_npy(const std::string& path, const std::string& device = "");
// Writes to a temporary name and renames, so a partial file never appears. bf16 has no NumPy type.
// A full or failing disk is an IoError, here and in load_npy().
void save_npy(const std::string& path, const Tensor& tensor);

// Host memory becomes a "cpu" tensor, GPU memory a "cuda" or "cuda:1" one; GPU data must be written
// on the legacy default stream or complete. Takes ownership: calls the deleter when no Sinter
// tensor uses the memory any more.
Tensor from_dlpack(DLManagedTensor* managed);
// The caller owns the result and must call its deleter. Waits until the elements are computed.
DLManagedTensor* to_dlpack(const Tensor& tensor);

}  // namespace sinter
