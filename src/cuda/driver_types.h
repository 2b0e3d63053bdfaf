// The CUDA driver's handles, codes and structs in its ABI layout: Sinter is built without the
// toolkit's headers. Out: types for src/cuda/driver.def.
#pragma once

#include <cstddef>
#include <cstdint>

// Declared as in cuda.h, so that the types agree if both are included.
struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUmod_st;
struct CUfunc_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;

namespace sinter {

using CUresult = int;  // 0 is success
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = ::CUctx_st*;
using CUstream = ::CUstream_st*;
using CUevent = ::CUevent_st*;
using CUmodule = ::CUmod_st*;
using CUfunction = ::CUfunc_st*;
using CUgraph = ::CUgraph_st*;
using CUgraphNode = ::CUgraphNode_st*;
using CUgraphExec = ::CUgraphExec_st*;

inline constexpr CUresult kCudaOutOfMemory = 2;
inline constexpr CUresult kCudaNoDevice = 100;
inline constexpr CUresult kCudaNotReady = 600;

// Does not synchronize with the default stream.
inline constexpr unsigned kCudaStreamNonBlocking = 1;
inline constexpr unsigned kCudaEventWithoutTiming = 2;  // cheaper

inline constexpr int kCudaAttributeClockKhz = 13;
inline constexpr int kCudaAttributeSmCount = 16;
inline constexpr int kCudaAttributeL2Bytes = 38;
inline constexpr int kCudaAttributeThreadsPerSm = 39;
inline constexpr int kCudaAttributeComputeMajor = 75;
inline constexpr int kCudaAttributeComputeMinor = 76;
inline constexpr int kCudaAttributeSharedBytesPerSm = 81;
inline constexpr int kCudaAttributeRegistersPerSm = 82;
inline constexpr int kCudaAttributeBlocksPerSm = 106;

// Function attribute: clusters of more than 8 blocks, which not every GPU supports.
inline constexpr int kCudaFunctionLargeClusters = 14;
// Dynamic shared memory; more than 48 KiB must be requested.
inline constexpr int kCudaFunctionDynamicSharedBytes = 8;

// Other threads may keep making calls that cannot be captured.
inline constexpr int kCudaCaptureThreadLocal = 1;

inline constexpr unsigned kCudaLaunchClusterDimension = 4;
inline constexpr unsigned kCudaLaunchProgrammaticSerialization = 6;

struct CudaLaunchAttribute {
  unsigned id = 0;
  unsigned padding = 0;
  union {
    char bytes[64] = {};
    struct {
      unsigned x, y, z;
    } cluster;
    int programmatic_serialization;
  };
};
static_assert(sizeof(CudaLaunchAttribute) == 72 && offsetof(CudaLaunchAttribute, bytes) == 8);

struct CudaLaunchConfig {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  CudaLaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(CudaLaunchConfig) == 56 && offsetof(CudaLaunchConfig, stream) == 32);

// CUDA_KERNEL_NODE_PARAMS of CUDA 12.
struct CudaKernelNodeParams {
  CUfunction function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  void** kernel_params = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;
  CUcontext context = nullptr;
};
static_assert(sizeof(CudaKernelNodeParams) == 72 &&
              offsetof(CudaKernelNodeParams, kernel_params) == 40);

}  // namespace sinter
