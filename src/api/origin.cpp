// Names are kept by thread, like traces.
#include "src/api/origin.h"

#include <sinter/scope.h>

namespace sinter {
namespace {

struct CurrentNames {
  std::string scope;           // of all NameScopes, joined by '/'
  std::string_view operation;  // the outermost one's name; empty: none
  // Where the operation's calls were recorded.
  const Graph* graph = nullptr;
  OriginId origin = kNoOrigin;
};
thread_local CurrentNames t_names;

}  // namespace

NameScope::NameScope(std::string_view name) : outer_length_(t_names.scope.size()) {
  if (outer_length_ > 0) t_names.scope += '/';
  t_names.scope += name;
}
NameScope::~NameScope() { t_names.scope.resize(outer_length_); }

OperationName::OperationName(std::string_view name) : is_outermost_(t_names.operation.empty()) {
  if (!is_outermost_) return;
  t_names.operation = name;
  t_names.graph = nullptr;
}
OperationName::~OperationName() {
  if (is_outermost_) t_names.operation = {};
}

OriginId record_origin(Graph& graph, std::string_view primitive) {
  if (t_names.operation.empty())
    return graph.origins.push_back({std::string(primitive), t_names.scope});
  if (t_names.graph != &graph) {
    t_names.graph = &graph;
    t_names.origin = graph.origins.push_back({std::string(t_names.operation), t_names.scope});
  }
  return t_names.origin;
}

}  // namespace sinter
