// Node by node in the graph's order; the elements of a node in parallel. Values are freed after
// their last use.
#include "src/suite/reference/graph_reference.h"

#include <cmath>

#include "src/base/check.h"
#include "src/suite/reference/node_reads.h"

namespace sinter::suite {
namespace {

using bounded::Bounded;
using bounded::Rounding;

template <typename T>
Bounded element_as(const void* data, std::int64_t position) {
  const T value = static_cast<const T*>(data)[position];
  if constexpr (std::is_integral_v<T>)
    return Bounded::whole(static_cast<std::int64_t>(value));
  else if constexpr (std::is_same_v<T, double>)
    return Bounded::real(value);
  else
    return Bounded::real(static_cast<double>(static_cast<float>(value)));
}

Bounded element_of(const Scalar& scalar, DType dtype) {
  return is_floating(dtype) ? Bounded::real(scalar.real) : Bounded::whole(scalar.integer);
}

Bounded iota_element(const Node& node, std::int64_t position) {
  if (!is_floating(node.dtype)) {
    const Scalar value = Scalar::of(node.value.integer + node.step.integer * position);
    return Bounded::whole(value.as(node.dtype).integer);
  }
  const double distance = node.step.real * static_cast<double>(position);
  const double error = bounded::precision_of(node.dtype).unit * std::fabs(distance);
  return rounded(node.value.real + distance, position == 0 ? 0 : error, node.dtype, Rounding::once);
}

// Rounded as in memory.
Bounded stored_as(DType dtype, const Bounded& element) {
  if (!element.known() || compute_dtype(dtype) == dtype) return element;
  return rounded(element.value, element.error, dtype, Rounding::once);
}

class Evaluation {
 public:
  Evaluation(const Graph& graph, const Sample& sample, std::span<const Tensor> inputs,
             const ReferenceOptions& options)
      : graph_(graph),
        sample_(sample),
        options_(options),
        inputs_(graph.nodes.size(), nullptr),
        values_(graph.nodes.size()),
        users_(count_uses(graph)),
        is_output_(graph.nodes.size(), 0) {
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs_[graph.inputs[i]] = inputs[i].data();
    for (const Operand& output : graph.outputs) is_output_[output.node] = 1;
  }

  void run(ThreadPool& threads) {
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (sample_.needed[id].count() > 0 && graph_[id].op != Op::input) compute(id, threads);
      for (const Operand& operand : graph_[id].operands)
        if (--users_[operand.node] == 0) values_[operand.node] = {};
    }
  }

  Bounded value(NodeId id, std::int64_t position) const {
    const Node& node = graph_[id];
    switch (node.op) {
      case Op::input:
        return element_at(inputs_[id], node.dtype, position);
      case Op::constant:
        return element_of(node.value, node.dtype);
      case Op::number:
        return element_of(graph_.numbers.traced_value(node.number), node.dtype);
      default:
        return values_[id][sample_.needed[id].number_of(position)];
    }
  }

 private:
  void compute(NodeId id, ThreadPool& threads) {
    const ElementSet& needed = sample_.needed[id];
    const NodeReads reads(graph_[id]);
    std::vector<Bounded>& values = values_[id];
    values.resize(static_cast<std::size_t>(needed.count()));
    threads.parallel_for(needed.blocks(), 0, [&](std::int64_t first, std::int64_t last, char*) {
      std::vector<Bounded> read;
      for (std::int64_t block = first; block < last; ++block)
        needed.visit_block(block, [&](std::int64_t position) {
          read.clear();
          reads.for_each(position, [&](const Operand& from, std::int64_t at) {
            read.push_back(at == kFillPosition
                               ? element_of(from.view.window->fill, graph_.dtype(from))
                               : value(from.node, at));
          });
          values[needed.number_of(position)] = stored(id, element(graph_[id], position, read));
        });
    });
  }

  Bounded element(const Node& node, std::int64_t position, std::span<const Bounded> read) const {
    const DType from = node.operands.empty() ? node.dtype : graph_.dtype(node.operands.back());
    switch (node.op) {
      case Op::iota:
        return iota_element(node, position);
      case Op::cast:
        return bounded::cast(read[0], from, node.dtype);
      case Op::reduce:
        return reduce(node.reduce_kind, computed(from), computed(node.dtype), read,
                      bounded::SumBound::typical);
      case Op::contract:
        return contracted(compute_dtype(from), computed(node.dtype), read);
      case Op::concat:
        return read[0];
      default:
        return pointwise(node.op, computed(from), computed(node.dtype), read, options_.kernels);
    }
  }

  // `read` has all elements of the first operand, then those of the second.
  Bounded contracted(DType dtype, DType result, std::span<const Bounded> read) const {
    const std::size_t count = read.size() / 2;
    std::vector<Bounded> products;
    products.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::array<Bounded, 2> factors{read[i], read[count + i]};
      products.push_back(pointwise(Op::mul, dtype, dtype, factors, options_.kernels));
    }
    return reduce(ReduceKind::sum, dtype, result, products, bounded::SumBound::typical);
  }

  // The precision in which a value of the dtype passes from one operation to the next.
  DType computed(DType dtype) const {
    return options_.roundings == Roundings::outputs ? compute_dtype(dtype) : dtype;
  }

  // An output is rounded in memory; operations that read it may see it before or after that. The
  // parts of a concat are stored, too.
  Bounded stored(NodeId id, const Bounded& element) const {
    const Node& node = graph_[id];
    const bool is_rounded_before = options_.roundings == Roundings::each_value;
    const bool is_stored = is_output_[id] || node.op == Op::concat;
    return is_stored && !is_rounded_before ? stored_as(node.dtype, element) : element;
  }

  const Graph& graph_;
  const Sample& sample_;
  const ReferenceOptions& options_;
  ById<NodeId, const void*> inputs_;
  ById<NodeId, std::vector<Bounded>> values_;
  ById<NodeId, int> users_;  // readers still to come; an output is never freed
  ById<NodeId, char> is_output_;
};

}  // namespace

Bounded element_at(const void* data, DType dtype, std::int64_t position) {
  switch (dtype) {
    case DType::f32:
      return element_as<float>(data, position);
    case DType::f16:
      return element_as<Half>(data, position);
    case DType::bf16:
      return element_as<BFloat16>(data, position);
    case DType::f64:
      return element_as<double>(data, position);
    case DType::i32:
      return element_as<std::int32_t>(data, position);
    case DType::i64:
      return element_as<std::int64_t>(data, position);
    case DType::boolean:
      break;
  }
  return element_as<bool>(data, position);
}

std::vector<std::vector<Bounded>> evaluate_graph(const Graph& graph, const Sample& sample,
                                                 std::span<const Tensor> inputs,
                                                 const ReferenceOptions& options,
                                                 ThreadPool& threads) {
  Evaluation evaluation(graph, sample, inputs, options);
  evaluation.run(threads);
  std::vector<std::vector<Bounded>> results;
  for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
    const Operand& output = graph.outputs[k];
    const Node& node = graph[output.node];
    std::vector<Bounded> elements;
    for (std::int64_t i = 0; i < sample.outputs[k].count(); ++i) {
      const std::int64_t position = offset_at(output.view, sample.outputs[k].position(i));
      const Bounded element = evaluation.value(output.node, position);
      // Beside other operands, numbers have more digits than a 16-bit type.
      elements.push_back(is_scalar(node.op) ? stored_as(node.dtype, element) : element);
    }
    results.push_back(std::move(elements));
  }
  return results;
}

}  // namespace sinter::suite
