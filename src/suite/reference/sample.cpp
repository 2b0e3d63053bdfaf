// Follows the operands from the outputs back to the inputs. Abandons a sample as soon as it takes
// too much work, and tries one with half as many slices.
#include "src/suite/reference/sample.h"

#include <algorithm>
#include <bit>

#include "src/suite/reference/node_reads.h"

namespace sinter::suite {
namespace {

constexpr int kEveryAxis = -1;

// 1 / 2^halvings of the indices along `axis`, and all of the others.
Shape kept_of(const Shape& shape, int axis, int halvings) {
  Shape kept = shape;
  for (int i = 0; i < shape.rank(); ++i)
    if (axis == kEveryAxis || axis == i)
      kept[i] = shape[i] == 0 ? 0 : std::max<std::int64_t>(shape[i] >> halvings, 1);
  return kept;
}

std::vector<OutputSample> outputs_of(const Graph& graph, int axis, int halvings) {
  std::vector<OutputSample> outputs;
  for (const Operand& output : graph.outputs)
    outputs.emplace_back(output.view.shape, kept_of(output.view.shape, axis, halvings));
  return outputs;
}

std::int64_t elements_of(const std::vector<OutputSample>& outputs) {
  std::int64_t count = 0;
  for (const OutputSample& output : outputs) count += output.count();
  return count;
}

// Adds the elements that one node's needed elements depend on. False: too much work.
bool add_reads(const Graph& graph, NodeId id, std::int64_t most, Sample& sample) {
  const ElementSet& needed = sample.needed[id];
  const NodeReads reads(graph[id]);
  const std::int64_t cost =
      is_reduction(graph[id].op) ? std::max<std::int64_t>(reads.count(), 1) : 1;
  if (needed.count() > (most - sample.work) / cost) return false;
  sample.work += needed.count() * cost;
  for (std::int64_t block = 0; block < needed.blocks(); ++block)
    needed.visit_block(block, [&](std::int64_t position) {
      reads.for_each(position, [&](const Operand& from, std::int64_t at) {
        if (at != kFillPosition && !is_scalar(graph[from.node].op))
          sample.needed[from.node].insert(at);
      });
    });
  return true;
}

std::optional<Sample> try_sample(const Graph& graph, std::vector<OutputSample> outputs,
                                 std::int64_t most) {
  if (elements_of(outputs) > most) return std::nullopt;
  Sample sample;
  sample.outputs = std::move(outputs);
  sample.needed = ById<NodeId, ElementSet>(graph.nodes.size());
  for (NodeId id = 0; id < graph.size(); ++id)
    if (!is_scalar(graph[id].op)) sample.needed[id] = ElementSet(graph[id].shape.numel());
  for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
    const Operand& output = graph.outputs[k];
    if (is_scalar(graph[output.node].op)) continue;
    for (std::int64_t i = 0; i < sample.outputs[k].count(); ++i)
      sample.needed[output.node].insert(offset_at(output.view, sample.outputs[k].position(i)));
  }
  for (NodeId id = graph.size() - 1; id >= 0; --id)
    if (sample.needed[id].count() > 0 && graph[id].op != Op::input &&
        !add_reads(graph, id, most, sample))
      return std::nullopt;
  for (ElementSet& set : sample.needed) set.number();
  return sample;
}

// With as few halvings as possible: fewer slices never take more work.
std::optional<Sample> sample_along(const Graph& graph, int axis, std::int64_t most) {
  std::int64_t longest = 1;
  for (const Operand& output : graph.outputs)
    for (int i = 0; i < output.view.shape.rank(); ++i)
      if (axis == kEveryAxis || axis == i) longest = std::max(longest, output.view.shape[i]);
  std::optional<Sample> best;
  int low = 0;
  int high = std::bit_width(static_cast<std::uint64_t>(longest)) - 1;
  while (low <= high) {
    const int middle = (low + high) / 2;
    if (auto found = try_sample(graph, outputs_of(graph, axis, middle), most)) {
      best = std::move(found);
      high = middle - 1;
    } else {
      low = middle + 1;
    }
  }
  return best;
}

}  // namespace

std::int64_t OutputSample::position(std::int64_t i) const {
  std::int64_t position = 0;
  std::int64_t stride = 1;
  for (int axis = shape_.rank() - 1; axis >= 0; --axis) {
    const std::int64_t index = i % kept_[axis];
    if (kept_[axis] > 1) position += index * (shape_[axis] - 1) / (kept_[axis] - 1) * stride;
    i /= kept_[axis];
    stride *= shape_[axis];
  }
  return position;
}

std::optional<Sample> choose_sample(const Graph& graph, std::int64_t work) {
  if (auto all = try_sample(graph, outputs_of(graph, kEveryAxis, 0), work)) return all;
  int rank = 0;
  for (const Operand& output : graph.outputs) rank = std::max(rank, output.view.shape.rank());
  std::optional<Sample> best;
  for (int axis = 0; axis < rank; ++axis) {
    std::optional<Sample> found = sample_along(graph, axis, work);
    if (found && (!best || elements_of(found->outputs) > elements_of(best->outputs)))
      best = std::move(found);
  }
  return best ? std::move(best) : sample_along(graph, kEveryAxis, work);
}

}  // namespace sinter::suite
