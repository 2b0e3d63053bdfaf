// NameScope: names a part of a program. explain() and profiles show it with the operations that
// were called while it lived:
//
//   sn::NameScope scope("encoder");
//   y = sn::layer_norm(x, weight, bias);   // "encoder/layer_norm"
//
// Scopes nest, each thread has its own, and they cost nothing at run time: only tracing looks at
// them, and no kernel depends on them.
#pragma once

#include <cstddef>
#include <string_view>

namespace sinter {

class NameScope {
 public:
  explicit NameScope(std::string_view name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

 private:
  std::size_t outer_length_;
};

}  // namespace sinter
