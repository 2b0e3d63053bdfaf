// The header of a .npy file: a Python dict as text.
// In: the dict, or a tensor's dtype and shape. Out: an NpyHeader, or all bytes before the elements.
#pragma once

#include <sinter/dtype.h>
#include <sinter/shape.h>

#include <string>
#include <string_view>

namespace sinter {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyHeader {
  DType dtype = DType::f32;
  bool fortran_order = false;
  Shape shape;
};

// UserError if the text is damaged or describes elements Sinter has no dtype for.
NpyHeader parse_npy_header(const std::string& path, std::string_view text);

// Magic, version, length and dict, padded with spaces so that the elements are aligned. UserError
// if NumPy has no such dtype.
std::string npy_header_text(const std::string& path, DType dtype, const Shape& shape);

}  // namespace sinter
