// The fake driver's modules, launches and graphs: nothing runs, all is recorded.
// In: calls. Out: codes, and FakeLaunches.
#include <cstdint>
#include <string_view>

#include "tests/cuda/fake/fake_state.h"

using namespace fake_cuda;  // NOLINT

namespace {

// Nodes are identified by their index in FakeCuda::graph_nodes, from 1.
CUgraphNode node_handle(std::size_t index) { return reinterpret_cast<CUgraphNode>(index + 1); }

std::vector<std::uint64_t> words_at(void** params) {
  const auto* words = static_cast<const std::uint64_t*>(params[0]);
  return {words, words + g_fake.argument_words};
}

FakeLaunch launch_of(const CudaLaunchConfig& config, const FakeFunction& function, void** params) {
  FakeLaunch launch;
  launch.function = function.name;
  launch.image = function.image;
  launch.blocks = config.grid_x * config.grid_y * config.grid_z;
  launch.threads = config.block_x * config.block_y * config.block_z;
  launch.shared_bytes = config.shared_bytes;
  launch.stream = config.stream;
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const CudaLaunchAttribute& attribute = config.attributes[i];
    if (attribute.id == kCudaLaunchClusterDimension) launch.cluster = attribute.cluster.x;
    if (attribute.id == kCudaLaunchProgrammaticSerialization)
      launch.programmatic = attribute.programmatic_serialization == 1;
  }
  launch.words = words_at(params);
  return launch;
}

}  // namespace

extern "C" {

// Images are plain text here.
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  SINTER_FAKE_ENTER(entered_context("cuModuleLoadData"));
  const std::string_view text(static_cast<const char*>(image));
  if (text.starts_with("damaged")) return kInvalidImage;
  auto* function = new FakeFunction{"", std::string(text), {}};
  *module = reinterpret_cast<CUmodule>(function);
  g_fake.modules[*module] = function;
  return 0;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  SINTER_FAKE_ENTER(entered_context("cuModuleGetFunction"));
  if (!g_fake.modules.contains(module)) return kInvalidValue;
  g_fake.modules[module]->name = name;
  *function = reinterpret_cast<CUfunction>(g_fake.modules[module]);
  return 0;
}

CUresult cuModuleUnload(CUmodule module) {
  SINTER_FAKE_ENTER(entered_context("cuModuleUnload"));
  if (!g_fake.modules.contains(module)) return kInvalidValue;
  delete g_fake.modules[module];
  g_fake.modules.erase(module);
  return 0;
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  SINTER_FAKE_ENTER(entered_context("cuFuncSetAttribute"));
  reinterpret_cast<FakeFunction*>(function)->attributes[attribute] = value;
  return 0;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* count, CUfunction, int threads,
                                                     std::size_t dynamic_bytes) {
  SINTER_FAKE_ENTER(entered_context("cuOccupancyMaxActiveBlocksPerMultiprocessor"));
  const std::size_t by_bytes = kFakeSharedBytes / (dynamic_bytes + 1024);
  *count = static_cast<int>(std::min<std::size_t>(2048 / static_cast<unsigned>(threads), by_bytes));
  return 0;
}

CUresult cuOccupancyMaxActiveClusters(int* count, CUfunction, const CudaLaunchConfig* config) {
  SINTER_FAKE_ENTER(entered_context("cuOccupancyMaxActiveClusters"));
  *count = static_cast<int>(kFakeMultiprocessors / config->attributes[0].cluster.x);
  return 0;
}

CUresult cuLaunchKernelEx(const CudaLaunchConfig* config, CUfunction function, void** params,
                          void**) {
  SINTER_FAKE_ENTER(entered_context("cuLaunchKernelEx"));
  const auto& called = *reinterpret_cast<const FakeFunction*>(function);
  if (config->grid_x == 0) return kInvalidValue;
  const FakeLaunch launch = launch_of(*config, called, params);
  const auto asked = called.attributes.find(kCudaFunctionDynamicSharedBytes);
  const int granted = asked == called.attributes.end() ? 48 << 10 : asked->second;
  if (launch.shared_bytes > static_cast<unsigned>(granted)) return kInvalidValue;
  if (g_fake.capturing && g_fake.capturing == config->stream) {
    if (launch.programmatic && !g_fake.captures_programmatic) return 900;
    g_fake.graph_nodes.push_back(launch);
  } else {
    g_fake.launches.push_back(launch);
    log_on_stream("launch " + called.name, config->stream);
  }
  return 0;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  SINTER_FAKE_ENTER(entered_context("cuStreamBeginCapture"));
  if (mode != kCudaCaptureThreadLocal || g_fake.capturing) return kInvalidValue;
  g_fake.capturing = stream;
  return 0;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int* status, std::uint64_t*, CUgraph*,
                                   const CUgraphNode** dependencies, std::size_t* count) {
  SINTER_FAKE_ENTER(entered_context("cuStreamGetCaptureInfo"));
  static thread_local CUgraphNode last;
  *status = g_fake.capturing == stream ? 1 : 0;
  *count = g_fake.graph_nodes.empty() ? 0 : 1;
  if (*count > 0) last = node_handle(g_fake.graph_nodes.size() - 1);
  *dependencies = &last;
  return 0;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  SINTER_FAKE_ENTER(entered_context("cuStreamEndCapture"));
  if (g_fake.capturing != stream) return kInvalidValue;
  g_fake.capturing = nullptr;
  *graph = reinterpret_cast<CUgraph>(new char);
  g_fake.graphs.insert(*graph);
  return 0;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  SINTER_FAKE_ENTER(entered_context("cuGraphInstantiate"));
  if (!g_fake.graphs.contains(graph)) return kInvalidValue;
  *exec = reinterpret_cast<CUgraphExec>(new char);
  g_fake.graphs.insert(*exec);
  return 0;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CudaKernelNodeParams* params) {
  SINTER_FAKE_ENTER(entered_context("cuGraphExecKernelNodeSetParams"));
  const std::size_t index = reinterpret_cast<std::uintptr_t>(node) - 1;
  if (!g_fake.graphs.contains(exec) || index >= g_fake.graph_nodes.size()) return kInvalidValue;
  FakeLaunch& launch = g_fake.graph_nodes[index];
  const auto& called = *reinterpret_cast<const FakeFunction*>(params->function);
  launch.function = called.name;
  launch.image = called.image;
  launch.blocks = params->grid_x;
  launch.threads = params->block_x;
  launch.words = words_at(params->kernel_params);
  g_fake.nodes_set.push_back(index);
  return 0;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  SINTER_FAKE_ENTER(entered_context("cuGraphLaunch"));
  if (!g_fake.graphs.contains(exec)) return kInvalidValue;
  g_fake.graph_launches.push_back(stream);
  return 0;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  SINTER_FAKE_ENTER(entered_context("cuGraphExecDestroy"));
  if (g_fake.graphs.erase(exec) == 0) return kInvalidValue;
  delete reinterpret_cast<char*>(exec);
  return 0;
}

CUresult cuGraphDestroy(CUgraph graph) {
  SINTER_FAKE_ENTER(entered_context("cuGraphDestroy"));
  if (g_fake.graphs.erase(graph) == 0) return kInvalidValue;
  delete reinterpret_cast<char*>(graph);
  return 0;
}

}  // extern "C"
