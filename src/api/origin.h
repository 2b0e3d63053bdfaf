// Which operation of the user's program, in which scope, is being recorded.
// In: the names of API functions and NameScopes. Out: an Origin for the nodes of a trace.
#pragma once

#include <string_view>

#include "src/api/trace.h"

namespace sinter {

// During its lifetime, recorded operations belong to this one: softmax() calls max(), sub(), exp().
// The outermost name wins. `name` must outlive it.
class OperationName {
 public:
  explicit OperationName(std::string_view name);
  ~OperationName();
  OperationName(const OperationName&) = delete;
  OperationName& operator=(const OperationName&) = delete;

 private:
  bool is_outermost_;
};

// The origin of nodes that `primitive` records in the trace now. A call of an operation has one
// origin, no matter how many nodes it records.
OriginId record_origin(Trace& trace, std::string_view primitive);

}  // namespace sinter
