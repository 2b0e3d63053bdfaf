// Checks that a candidate's kernel computes the same as the heuristic's, on samples of every output
// buffer: up to 4 MiB at its beginning, middle and end.
#pragma once

#include <sinter/dtype.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "src/runtime/device.h"

namespace sinter {

struct WrittenBuffer {
  tile::BufferBinding binding;
  DType dtype = DType::f32;
};

// Equal up to the effect of a different summation order. NaN equals NaN.
bool nearly_equal(std::span<const std::byte> a, std::span<const std::byte> b, DType dtype);

class ResultCheck {
 public:
  ResultCheck(Device& device, std::span<const WrittenBuffer> written, bool same_bits);

  // Records what `run` writes as the expected result.
  void set_reference(const std::function<void()>& run);
  // Runs it on buffers filled with garbage.
  bool is_right(const std::function<void()>& run);
  // Restores the previous contents: parts of a buffer may belong to another kernel.
  void restore();

 private:
  using Bytes = std::vector<std::byte>;
  struct Piece {
    std::byte* at = nullptr;
    DType dtype = DType::f32;
    Bytes original;
    Bytes reference;
  };

  void add_pieces(const WrittenBuffer& written);
  void spoil();
  Bytes read(const Piece& piece);

  Device& device_;
  bool same_bits_;
  std::vector<Piece> pieces_;
};

}  // namespace sinter
