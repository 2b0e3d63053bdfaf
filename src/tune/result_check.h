// Whether a candidate's kernel computes what the heuristic's does, looked at in pieces of every
// buffer that it writes: its beginning, middle and end, 4 MiB each at most.
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

// Equal, or as near as another order of additions may bring it. NaN equals NaN.
bool nearly_equal(std::span<const std::byte> a, std::span<const std::byte> b, DType dtype);

class ResultCheck {
 public:
  ResultCheck(Device& device, std::span<const WrittenBuffer> written, bool same_bits);

  // What `run` writes is what others have to write.
  void set_reference(const std::function<void()>& run);
  // Runs it over buffers that hold nonsense.
  bool is_right(const std::function<void()>& run);
  // What lay there before: parts of a buffer may be another kernel's.
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
