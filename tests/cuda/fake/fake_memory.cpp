// The fake driver's memory and streams: allocations are the host's own, copies are done at once.
// In: calls. Out: codes, and FakeCuda's records.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/cuda/fake/fake_state.h"

using namespace fake_cuda;  // NOLINT

namespace {

std::size_t allocated() {
  std::size_t sum = 0;
  for (const auto& [address, bytes] : g_fake.allocations) sum += bytes;
  return sum;
}

// Whether the bytes lie in one allocation.
bool is_ours(CUdeviceptr address, std::size_t bytes) {
  const auto after = g_fake.allocations.upper_bound(address);
  if (after == g_fake.allocations.begin()) return false;
  const auto& [begin, size] = *std::prev(after);
  return address + bytes <= begin + size;
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  SINTER_FAKE_ENTER(entered_context("cuMemAlloc"));
  if (allocated() + bytes > g_fake.memory_bytes) return kCudaOutOfMemory;
  *address = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  g_fake.allocations[*address] = bytes;
  return 0;
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  SINTER_FAKE_ENTER(entered_context("cuMemFree"));
  if (g_fake.allocations.erase(address) != 1) return kInvalidValue;
  std::free(reinterpret_cast<void*>(address));
  return 0;
}

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  SINTER_FAKE_ENTER(entered_context("cuMemGetInfo"));
  *free = g_fake.memory_bytes - allocated();
  *total = g_fake.memory_bytes;
  return 0;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                              CUstream stream) {
  SINTER_FAKE_ENTER(entered_context("cuMemcpyHtoDAsync"));
  if (!is_ours(to, bytes)) return kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  log_on_stream("copy in", stream);
  return 0;
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  SINTER_FAKE_ENTER(entered_context("cuMemcpyDtoHAsync"));
  if (!is_ours(from, bytes)) return kInvalidValue;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  log_on_stream("copy out", stream);
  return 0;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                              CUstream stream) {
  SINTER_FAKE_ENTER(entered_context("cuMemcpyDtoDAsync"));
  if (!is_ours(to, bytes) || !is_ours(from, bytes)) return kInvalidValue;
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  log_on_stream("copy", stream);
  g_fake.now_us += static_cast<double>(bytes) / kFakeCopyBytesPerUs;
  return 0;
}

CUresult cuMemsetD32Async(CUdeviceptr address, unsigned, std::size_t count, CUstream stream) {
  SINTER_FAKE_ENTER(entered_context("cuMemsetD32Async"));
  if (!is_ours(address, count * 4)) return kInvalidValue;
  g_fake.memset_bytes.push_back(count * 4);
  log_on_stream("flush", stream);
  g_fake.now_us += kFakeFlushUs;
  return 0;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  SINTER_FAKE_ENTER(entered_context("cuStreamCreate"));
  *stream =
      reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(16 * g_fake.calls["cuStreamCreate"]));
  return 0;
}

CUresult cuStreamSynchronize(CUstream stream) {
  SINTER_FAKE_ENTER(entered_context("cuStreamSynchronize"));
  log_on_stream("wait", stream);
  return 0;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  SINTER_FAKE_ENTER(entered_context("cuStreamWaitEvent"));
  if (!g_fake.events.contains(event)) return kInvalidValue;
  log_on_stream("wait for " + std::to_string(reinterpret_cast<std::uintptr_t>(event)), stream);
  return 0;
}

CUresult cuStreamDestroy_v2(CUstream) { return entered_context("cuStreamDestroy"); }

}  // extern "C"
