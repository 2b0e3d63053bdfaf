// A reduction is recognised by its shape: it has fewer elements than its operand.
#include "src/suite/report/plan_work.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "src/graph/op.h"
#include "src/suite/cases/case.h"

namespace sinter::suite {
namespace {

// Parses "f32 (128, 64)"; 1 if there is no shape.
std::int64_t elements_of(std::string_view detail) {
  std::int64_t elements = 1;
  std::size_t at = detail.find('(');
  while (at < detail.size()) {
    std::int64_t size = 0;
    const char* const end = detail.data() + detail.size();
    const auto [stop, error] = std::from_chars(detail.data() + at, end, size);
    if (error == std::errc()) elements *= size;
    at = error == std::errc() ? static_cast<std::size_t>(stop - detail.data()) : at + 1;
  }
  return elements;
}

// 0 if it is not in the op table.
int cost_of(std::string_view name) {
  for (int op = static_cast<int>(Op::copy); op < static_cast<int>(Op::cast); ++op)
    if (info(static_cast<Op>(op)).name == name) return info(static_cast<Op>(op)).cost;
  return 0;
}

// Nodes by id, with their edges.
class PlanWalk {
 public:
  explicit PlanWalk(const PlanInfo& plan) : plan_(plan) {
    for (const PlanNode& node : plan.nodes) {
      elements_[node.id] = elements_of(node.detail);
      most_ = std::max(most_, elements_[node.id]);
      kernels_[node.id] = node.kernel;
    }
  }

  bool is_full(const PlanNode& node) const { return elements_.at(node.id) == most_; }
  std::int64_t most() const { return most_; }

  bool is_reduction(const PlanNode& node) const {
    return node.kernel >= 0 &&
           std::any_of(plan_.edges.begin(), plan_.edges.end(), [&](const PlanEdge& edge) {
             return edge.to == node.id && has(edge.from) &&
                    elements_.at(edge.from) > elements_.at(node.id);
           });
  }

  // The number of reductions of the same kernel each node depends on. Nodes are in topological
  // order.
  std::map<int, int> depths() const {
    std::map<int, int> depths;
    for (const PlanNode& node : plan_.nodes) {
      int& depth = depths[node.id];
      for (const PlanEdge& edge : plan_.edges)
        if (edge.to == node.id && has(edge.from) && kernels_.at(edge.from) == node.kernel)
          depth = std::max(depth, depths[edge.from]);
      depth += is_reduction(node) ? 1 : 0;
    }
    return depths;
  }

 private:
  bool has(int id) const { return elements_.contains(id); }

  const PlanInfo& plan_;
  std::map<int, std::int64_t> elements_;
  std::map<int, int> kernels_;
  std::int64_t most_ = 1;
};

// The number after `words`; `otherwise` if they are missing.
int number_after(std::string_view text, std::string_view words, int otherwise) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return otherwise;
  int number = otherwise;
  const char* const end = text.data() + text.size();
  std::from_chars(text.data() + at + words.size(), end, number);
  return number;
}

}  // namespace

PlanWork work_of(const CasePlan& each) {
  PlanWork work;
  const PlanWalk walk(each.plan);
  const std::map<int, int> depths = walk.depths();
  for (const PlanNode& node : each.plan.nodes) {
    if (node.kernel < 0) continue;
    work.reduces |= walk.is_reduction(node);
    if (!walk.is_full(node)) continue;
    work.reductions_in_turn = std::max(work.reductions_in_turn, depths.at(node.id));
    const int cost = cost_of(node.op);
    if (cost < kHeavyCost) continue;
    ++work.heavy[node.op];
    work.heavy_cost += cost;
  }
  double operations = 0;
  double read = 0;
  double written = 0;
  for (const PlanKernel& kernel : each.plan.kernels) {
    operations += static_cast<double>(kernel.flops);
    read += static_cast<double>(kernel.bytes_read);
    written += static_cast<double>(kernel.bytes_written);
  }
  work.operations = operations / static_cast<double>(walk.most());
  work.all_operations = operations;
  work.written_share = read + written > 0 ? written / (read + written) : 0;
  return work;
}

TileFacts facts_of(const std::vector<std::string>& tiles) {
  TileFacts facts;
  for (const std::string& text : tiles) {
    facts.cluster = std::max(facts.cluster, number_after(text, "clusters of ", 1));
    facts.passes = std::max(facts.passes, number_after(text, "that read ", 1));
  }
  return facts;
}

}  // namespace sinter::suite
