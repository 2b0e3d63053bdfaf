// Each field of a node, edge and kernel is named once, in its visit function.
#include "src/suite/results/plan_json.h"

#include "src/suite/results/json_fields.h"

namespace sinter::suite {
namespace {

template <typename Visitor, typename Node>
void visit_node(Visitor& at, Node& node, std::optional<int>& kernel) {
  at("id", node.id);
  at("op", node.op);
  at("detail", node.detail);
  at("kernel", kernel);
  at("output", node.is_output);
}

template <typename Visitor, typename Edge>
void visit_edge(Visitor& at, Edge& edge) {
  at("from", edge.from);
  at("to", edge.to);
  at("fused", edge.fused);
  at("reason", edge.reason);
  at("bytes", edge.bytes);
}

template <typename Visitor, typename Kernel>
void visit_kernel(Visitor& at, Kernel& kernel) {
  at("name", kernel.name);
  at("tiles", kernel.tiles);
  at("bytes_read", kernel.bytes_read);
  at("bytes_written", kernel.bytes_written);
  at("flops", kernel.flops);
  at("predicted_us", kernel.predicted_us);
}

}  // namespace

Json plan_to_json(const PlanInfo& plan) {
  Json json = Json::object();
  for (const char* list : {"nodes", "edges", "kernels"}) json[list] = Json::array();
  for (const PlanNode& node : plan.nodes) {
    JsonWriter writer;
    std::optional<int> kernel;
    if (node.kernel >= 0) kernel = node.kernel;
    visit_node(writer, node, kernel);
    json["nodes"].push_back(std::move(writer.json));
  }
  for (const PlanEdge& edge : plan.edges) {
    JsonWriter writer;
    visit_edge(writer, edge);
    json["edges"].push_back(std::move(writer.json));
  }
  for (const PlanKernel& kernel : plan.kernels) {
    JsonWriter writer;
    visit_kernel(writer, kernel);
    json["kernels"].push_back(std::move(writer.json));
  }
  return json;
}

Json case_plan_to_json(const CasePlan& each) {
  Json json{{"case", each.case_name}, {"dtype", each.dtype}, {"shapes", each.shapes}};
  json.update(plan_to_json(each.plan));
  return json;
}

CasePlan case_plan_from_json(const Json& json) {
  CasePlan each;
  JsonReader fields(json);
  fields("case", each.case_name);
  fields("dtype", each.dtype);
  fields("shapes", each.shapes);
  for (const Json& node : list_of(json, "nodes")) {
    JsonReader reader(node);
    std::optional<int> kernel;
    visit_node(reader, each.plan.nodes.emplace_back(), kernel);
    each.plan.nodes.back().kernel = kernel.value_or(-1);
  }
  for (const Json& edge : list_of(json, "edges")) {
    JsonReader reader(edge);
    visit_edge(reader, each.plan.edges.emplace_back());
  }
  for (const Json& kernel : list_of(json, "kernels")) {
    JsonReader reader(kernel);
    visit_kernel(reader, each.plan.kernels.emplace_back());
  }
  return each;
}

}  // namespace sinter::suite
