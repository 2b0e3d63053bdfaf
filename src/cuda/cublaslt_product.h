// A matrix product prepared for cuBLASLt: its descriptor, layouts and algorithms. In: the library,
// a LibraryMatmul. Out: a CublasLtProduct, or why the library refuses the product.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "src/cuda/cublaslt.h"
#include "src/tile/kernel_body.h"

namespace sinter {

// Buffers that start at multiples of this many bytes get the library's fastest algorithms.
inline constexpr std::uintptr_t kCublasLtAlignment = 16;

struct CublasLtDeleter {
  CublasStatus (*destroy)(void* object) = nullptr;
  void operator()(void* object) const { destroy(object); }
};
using CublasLtObject = std::unique_ptr<void, CublasLtDeleter>;

struct CublasLtProduct {
  CublasLtObject desc;
  CublasLtObject a;
  CublasLtObject b;
  CublasLtObject c;
  CublasLtAlgorithm aligned;                   // for multiples of kCublasLtAlignment
  std::optional<CublasLtAlgorithm> unaligned;  // for buffers at any element, if there is one
};

struct PreparedProduct {
  std::optional<CublasLtProduct> product;
  std::string refusal;  // why there is none
};

PreparedProduct prepare_product(const CublasLt& library, const LibraryMatmul& call);

// Size of a matrix operand or result in memory, from its first element to its last: `rows` x `cols`
// for each product of the batch.
std::int64_t elements_of(const LibraryMatrix& matrix, std::int64_t rows, std::int64_t cols,
                         std::int64_t batch);

}  // namespace sinter
