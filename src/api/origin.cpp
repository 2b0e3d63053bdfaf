// Names are thread-local, like traces.
#include "src/api/origin.h"

#include <sinter/scope.h>

namespace sinter {
namespace {

struct CurrentNames {
  std::string scope;           // of all NameScopes, joined by '/'
  std::string_view operation;  // the outermost one's name; empty: none
  std::uint64_t call = 0;      // counts the calls of outermost operations
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
  ++t_names.call;
}
OperationName::~OperationName() {
  if (is_outermost_) t_names.operation = {};
}

OriginId record_origin(Trace& trace, std::string_view primitive) {
  const auto add = [&](std::string_view operation) {
    return trace.graph.origins.push_back({std::string(operation), t_names.scope});
  };
  if (t_names.operation.empty()) return add(primitive);
  if (trace.latest_operation.call != t_names.call)
    trace.latest_operation = {t_names.call, add(t_names.operation)};
  return trace.latest_operation.origin;
}

}  // namespace sinter
