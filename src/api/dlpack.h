// DLPack's C structs as laid out by version 0.8 of the standard (the unversioned managed tensor).
// io.h declares DLManagedTensor; programs that exchange tensors include dlpack/dlpack.h instead. Do
// not include both: they define the same types.
#pragma once

#include <cstddef>
#include <cstdint>

struct DLDevice {
  std::int32_t device_type;  // kDlpackCpu, ...
  std::int32_t device_id;
};

struct DLDataType {
  std::uint8_t code;  // kDlpackInt, ...
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);  // may be null
};

namespace sinter {

inline constexpr std::int32_t kDlpackCpu = 1;
inline constexpr std::int32_t kDlpackCuda = 2;
inline constexpr std::int32_t kDlpackCudaHost = 3;  // pinned host memory

inline constexpr std::uint8_t kDlpackInt = 0;
inline constexpr std::uint8_t kDlpackUInt = 1;
inline constexpr std::uint8_t kDlpackFloat = 2;
inline constexpr std::uint8_t kDlpackBfloat = 4;
inline constexpr std::uint8_t kDlpackComplex = 5;
inline constexpr std::uint8_t kDlpackBool = 6;

// Other libraries pass these by pointer: the layout is the interface.
static_assert(sizeof(DLDevice) == 8 && sizeof(DLDataType) == 4);
static_assert(sizeof(void*) != 8 || (sizeof(DLTensor) == 48 && sizeof(DLManagedTensor) == 64));
static_assert(sizeof(void*) != 8 ||
              (offsetof(DLTensor, ndim) == 16 && offsetof(DLTensor, shape) == 24 &&
               offsetof(DLTensor, byte_offset) == 40));

}  // namespace sinter
