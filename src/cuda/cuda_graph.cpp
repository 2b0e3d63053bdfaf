// Capturing runs nothing, so it needs no buffers; launch() sets the parameters that changed since
// the last call. A graph that is still running keeps the parameters it was launched with.
#include "src/cuda/cuda_graph.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "src/base/check.h"

namespace sinter {
namespace {

constexpr int kProgrammaticCaptureVersion = 12030;  // driver version

struct Node {
  std::shared_ptr<const CudaKernel> kernel;
  std::size_t buffers = 0;
  std::vector<std::int64_t> scalars;
  std::int64_t grid = 0;
  CUgraphNode handle = nullptr;
  // As currently set in the graph.
  const CudaVariant* variant = nullptr;
  std::vector<std::uint64_t> words;
};

class CudaGraph final : public LaunchGraph {
 public:
  CudaGraph(CudaContextPtr primary, std::shared_ptr<CudaStreams> streams,
            std::span<const GraphStep> steps);
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void launch(std::span<const tile::BufferBinding> buffers,
              std::span<const std::int64_t> scalars) override;

 private:
  CUresult capture(bool programmatic);
  CUresult capture_nodes(CUstream stream, bool programmatic);
  void rebind(Node& node, std::span<const tile::BufferBinding> buffers,
              std::span<const std::int64_t> scalars);

  CudaContextPtr primary_;
  std::shared_ptr<CudaStreams> streams_;
  std::mutex mutex_;  // held from setting parameters until launch
  std::vector<Node> nodes_;
  CUgraph graph_ = nullptr;
  CUgraphExec exec_ = nullptr;
};

CudaGraph::CudaGraph(CudaContextPtr primary, std::shared_ptr<CudaStreams> streams,
                     std::span<const GraphStep> steps)
    : primary_(std::move(primary)), streams_(std::move(streams)) {
  bool programmatic = primary_->driver().version() >= kProgrammaticCaptureVersion;
  for (const GraphStep& step : steps) {
    auto kernel = std::dynamic_pointer_cast<const CudaKernel>(step.kernel);
    SINTER_ASSERT(kernel != nullptr, "a graph of another device's kernel");
    programmatic = programmatic && kernel->can_overlap();
    kernel->variant_for({}).blocks(step.grid);  // throws before capturing begins
    nodes_.push_back({std::move(kernel),
                      step.buffers,
                      {step.scalars.begin(), step.scalars.end()},
                      step.grid,
                      nullptr,
                      nullptr,
                      {}});
  }
  const ContextScope scope(*primary_);
  CUresult code = capture(programmatic);
  // Where programmatic launches cannot be captured, plain ones can.
  if (code != 0 && programmatic) code = capture(false);
  if (code != 0) primary_->driver().fail("cuStreamBeginCapture", code);
  if (const CUresult failed = primary_->driver().graph_instantiate.code(&exec_, graph_, 0)) {
    primary_->driver().graph_destroy.code(graph_);
    primary_->driver().fail("cuGraphInstantiate", failed);
  }
}

CudaGraph::~CudaGraph() {
  CUresult code = 0;
  const ContextScope scope(*primary_, code);
  if (code != 0) return;
  primary_->driver().graph_exec_destroy.code(exec_);
  primary_->driver().graph_destroy.code(graph_);
}

CUresult CudaGraph::capture(bool programmatic) {
  const CudaDriver& driver = primary_->driver();
  CUstream stream = nullptr;
  if (const CUresult code = driver.stream_create.code(&stream, kCudaStreamNonBlocking)) return code;
  CUresult code = driver.stream_begin_capture.code(stream, kCudaCaptureThreadLocal);
  if (code == 0) {
    code = capture_nodes(stream, programmatic);
    CUgraph graph = nullptr;
    const CUresult end = driver.stream_end_capture.code(stream, &graph);
    if (code == 0) code = end;
    if (code == 0)
      graph_ = graph;
    else if (graph)
      driver.graph_destroy.code(graph);
  }
  driver.stream_destroy.code(stream);
  return code;
}

CUresult CudaGraph::capture_nodes(CUstream stream, bool programmatic) {
  for (Node& node : nodes_) {
    if (node.grid <= 0) continue;
    const std::vector<tile::BufferBinding> nowhere(node.buffers);
    node.variant = &node.kernel->variant_for(nowhere);
    GpuWords words;  // NOLINT: unwritten words are not read
    const std::size_t count =
        pack_gpu_words(nowhere, node.scalars, node.grid, node.variant->divisors, words);
    node.words.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count));
    try {
      node.kernel->launch_on(stream, *node.variant, words, node.grid, programmatic);
    } catch (const DeviceError& error) {
      return error.code();
    }
    // The last node of the stream is the launch just captured.
    int status = 0;
    const CUgraphNode* last = nullptr;
    std::size_t count_of_last = 0;
    if (const CUresult code = primary_->driver().stream_get_capture_info.code(
            stream, &status, nullptr, nullptr, &last, &count_of_last))
      return code;
    SINTER_ASSERT(count_of_last == 1, "a launch left {} nodes", count_of_last);
    node.handle = last[0];
  }
  return 0;
}

void CudaGraph::rebind(Node& node, std::span<const tile::BufferBinding> buffers,
                       std::span<const std::int64_t> scalars) {
  const CudaVariant* variant = &node.kernel->variant_for(buffers);
  GpuWords words;  // NOLINT: unwritten words are not read
  const std::size_t count = pack_gpu_words(buffers, scalars, node.grid, variant->divisors, words);
  if (variant == node.variant && std::equal(node.words.begin(), node.words.end(), words.begin()))
    return;
  CudaKernelNodeParams params;
  params.function = variant->function->handle();
  params.grid_x = variant->blocks(node.grid);
  params.shared_bytes = static_cast<unsigned>(variant->fetch_bytes);
  params.block_x = static_cast<unsigned>(variant->mapping.threads);
  void* argument[] = {words.data()};
  params.kernel_params = argument;
  node.variant = nullptr;  // unknown if the call fails
  primary_->driver().graph_exec_kernel_node_set_params(exec_, node.handle, &params);
  std::copy_n(words.begin(), count, node.words.begin());
  node.variant = variant;
}

void CudaGraph::launch(std::span<const tile::BufferBinding> buffers,
                       std::span<const std::int64_t> scalars) {
  const ContextScope scope(*primary_);
  const std::lock_guard lock(mutex_);
  std::size_t first = 0;
  std::size_t first_scalar = 0;
  for (Node& node : nodes_) {
    const std::span<const std::int64_t> given =
        scalars.empty() ? node.scalars : scalars.subspan(first_scalar, node.scalars.size());
    if (node.grid > 0) rebind(node, buffers.subspan(first, node.buffers), given);
    first += node.buffers;
    first_scalar += node.scalars.size();
  }
  primary_->driver().graph_launch(exec_, streams_->current());
}

}  // namespace

std::unique_ptr<LaunchGraph> make_cuda_graph(CudaContextPtr primary,
                                             std::shared_ptr<CudaStreams> streams,
                                             std::span<const GraphStep> steps) {
  return std::make_unique<CudaGraph>(std::move(primary), std::move(streams), steps);
}

}  // namespace sinter
