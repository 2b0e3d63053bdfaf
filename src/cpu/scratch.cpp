// The arena is freed when its thread ends.
#include "src/cpu/scratch.h"

#include <fmt/format.h>
#include <sinter/error.h>

#include <cerrno>
#include <cstdlib>

namespace sinter {
namespace {

constexpr std::size_t kAlignment = 64;

char* allocate(std::size_t bytes) {
  void* data = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (!data)
    throw DeviceError(fmt::format("[cpu] out of memory: a kernel needs {} bytes of scratch", bytes),
                      "aligned_alloc", ENOMEM);
  return static_cast<char*>(data);
}

struct Arena {
  char* data = nullptr;
  std::size_t bytes = 0;
  bool borrowed = false;

  ~Arena() { std::free(data); }

  void grow(std::size_t wanted) {
    if (wanted <= bytes) return;
    char* larger = allocate(wanted);
    std::free(data);  // scratch contents need not survive
    data = larger;
    bytes = wanted;
  }
};

thread_local Arena t_arena;

}  // namespace

ScratchLease::ScratchLease(std::size_t bytes) {
  if (bytes == 0) return;
  if (t_arena.borrowed) {
    data_ = allocate(bytes);
    return;
  }
  t_arena.grow(bytes);
  t_arena.borrowed = from_arena_ = true;
  data_ = t_arena.data;
}

ScratchLease::~ScratchLease() {
  if (from_arena_)
    t_arena.borrowed = false;
  else
    std::free(data_);
}

}  // namespace sinter
