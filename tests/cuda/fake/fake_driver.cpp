// libfake_cuda.so: the functions of src/cuda/driver.def with a simulated clock, for tests without a
// GPU. In: FakeCuda, set by the test. Out: codes, and FakeCuda's records. With
// SINTER_FAKE_BY_SYMBOL there is no cuGetProcAddress, as in drivers before CUDA 11.3.
#include "tests/cuda/fake/fake_driver.h"

#include <cstdio>
#include <cstring>

#include "tests/cuda/fake/fake_state.h"

namespace fake_cuda {

FakeCuda g_fake;
std::recursive_mutex g_mutex;

// Counts the call; returns whether it should fail.
CUresult entered(const char* call) {
  int count = 0;
  {
    const std::lock_guard lock(g_mutex);
    count = ++g_fake.calls[call];
  }
  if (g_fake.on_call) g_fake.on_call(call);  // which may wait for another thread
  return g_fake.failing_call == call && count >= g_fake.failing_from ? g_fake.failing_code : 0;
}

// As in the driver, calls that need a context fail without one.
CUresult entered_context(const char* call) {
  if (const CUresult code = entered(call)) return code;
  return g_fake.current ? 0 : kInvalidContext;
}

void log_on_stream(const std::string& what, CUstream stream) {
  g_fake.stream_log.push_back(what);
  g_fake.streams.push_back(stream);
}

}  // namespace fake_cuda

using namespace fake_cuda;  // NOLINT

extern "C" {

FakeCuda* fake_cuda_state() { return &g_fake; }

CUresult cuDriverGetVersion(int* version) {
  *version = g_fake.version;
  return entered("cuDriverGetVersion");
}

CUresult cuInit(unsigned) { return entered("cuInit"); }

CUresult cuGetErrorName(CUresult code, const char** name) {
  if (code > 999) return kInvalidValue;
  *name = code == kCudaNoDevice      ? "CUDA_ERROR_NO_DEVICE"
          : code == kCudaOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
                                     : "CUDA_ERROR_FAKE";
  return 0;
}

CUresult cuGetErrorString(CUresult code, const char** text) {
  *text = code == kCudaNoDevice ? "no CUDA-capable device is detected" : "as the test wanted";
  return 0;
}

CUresult cuDeviceGetCount(int* count) {
  *count = g_fake.devices;
  return entered("cuDeviceGetCount");
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  SINTER_FAKE_ENTER(entered("cuDeviceGet"));
  *device = ordinal;
  return ordinal < g_fake.devices ? 0 : kInvalidValue;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU %d", device);
  return entered("cuDeviceGetName");
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  SINTER_FAKE_ENTER(entered("cuDeviceGetAttribute"));
  switch (attribute) {
    case kCudaAttributeSmCount:
      *value = kFakeMultiprocessors;
      return 0;
    case kCudaAttributeL2Bytes:
      *value = g_fake.l2_bytes;
      return 0;
    case kCudaAttributeComputeMajor:
      *value = g_fake.compute_major;
      return 0;
    case kCudaAttributeComputeMinor:
      *value = device;
      return 0;
    case kCudaAttributeThreadsPerSm:
      *value = 1536;
      return 0;
    case kCudaAttributeBlocksPerSm:
      *value = 24;
      return 0;
    case kCudaAttributeSharedBytesPerSm:
      *value = kFakeSharedBytes;
      return 0;
    case kCudaAttributeRegistersPerSm:
      *value = 32768;
      return 0;
    case kCudaAttributeClockKhz:
      *value = 1'980'000;
      return 0;
    default:
      return kInvalidValue;
  }
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  *bytes = std::size_t{140} << 30;
  return entered("cuDeviceTotalMem");
}

CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = g_fake.primary_holds > 0;
  return entered("cuDevicePrimaryCtxGetState");
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  SINTER_FAKE_ENTER(entered("cuDevicePrimaryCtxRetain"));
  ++g_fake.primary_holds;
  *context = static_cast<CUcontext>(g_fake.primary);
  return 0;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  --g_fake.primary_holds;
  return entered("cuDevicePrimaryCtxRelease");
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = static_cast<CUcontext>(g_fake.current);
  return entered("cuCtxGetCurrent");
}

CUresult cuCtxSetCurrent(CUcontext context) {
  SINTER_FAKE_ENTER(entered("cuCtxSetCurrent"));
  g_fake.current = context;
  return 0;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return entered_context("cuCtxGetDevice");
}

CUresult cuCtxResetPersistingL2Cache() {
  SINTER_FAKE_ENTER(entered_context("cuCtxResetPersistingL2Cache"));
  g_fake.stream_log.emplace_back("reset");
  return 0;
}

CUresult cuCtxSynchronize() {
  SINTER_FAKE_ENTER(entered_context("cuCtxSynchronize"));
  g_fake.stream_log.emplace_back("wait for all");
  return 0;
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  SINTER_FAKE_ENTER(entered_context("cuEventCreate"));
  if (flags != 0 && flags != kCudaEventWithoutTiming) return kInvalidValue;
  *event = reinterpret_cast<CUevent>(static_cast<std::uintptr_t>(g_fake.calls["cuEventCreate"]));
  g_fake.events[*event] = -1;
  return 0;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  SINTER_FAKE_ENTER(entered_context("cuEventRecord"));
  if (!g_fake.events.contains(event)) return kInvalidValue;
  g_fake.events[event] = g_fake.now_us;
  log_on_stream("record " + std::to_string(reinterpret_cast<std::uintptr_t>(event)), stream);
  return 0;
}

CUresult cuEventQuery(CUevent event) {
  SINTER_FAKE_ENTER(entered_context("cuEventQuery"));
  if (!g_fake.events.contains(event)) return kInvalidValue;
  return g_fake.events_pass ? 0 : kCudaNotReady;
}

CUresult cuEventSynchronize(CUevent event) {
  SINTER_FAKE_ENTER(entered_context("cuEventSynchronize"));
  return g_fake.events.contains(event) ? 0 : kInvalidValue;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  SINTER_FAKE_ENTER(entered("cuEventElapsedTime"));
  if (g_fake.events.at(start) < 0 || g_fake.events.at(end) < 0) return kInvalidValue;
  *milliseconds = static_cast<float>((g_fake.events.at(end) - g_fake.events.at(start)) / 1e3);
  return 0;
}

CUresult cuEventDestroy_v2(CUevent event) {
  SINTER_FAKE_ENTER(entered_context("cuEventDestroy"));
  return g_fake.events.erase(event) == 1 ? 0 : kInvalidValue;
}

#ifndef SINTER_FAKE_BY_SYMBOL
CUresult cuGetProcAddress_v2(const char* name, void** function, int version, std::uint64_t flags,
                             int* status) {
  g_fake.asked_versions.insert(version);
  g_fake.asked_flags.insert(flags);
  *function = nullptr;
#define SINTER_CUDA_CALL(member, called, symbol, ...) \
  if (std::strcmp(name, #called) == 0) *function = reinterpret_cast<void*>(&symbol);
#include "src/cuda/driver.def"
#undef SINTER_CUDA_CALL
  // Reports a hidden function as drivers do: no pointer, a status, and a code by their version.
  if (g_fake.hidden == name) *function = nullptr;
  *status = *function ? 0 : 1;
  return *function ? 0 : kNotFound;
}
#endif

}  // extern "C"
