// change(x): changes a value of any type that keys consist of.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "src/base/by_id.h"
#include "src/base/fields.h"
#include "src/graph/graph.h"

namespace sinter::testing_support {

template <typename T>
requires std::is_arithmetic_v<T>
void change(T& value) {
  if constexpr (std::is_same_v<T, bool>)
    value = !value;
  else
    ++value;
}
template <typename T>
requires std::is_enum_v<T>
void change(T& value) { value = static_cast<T>(static_cast<int>(value) + 1); }
inline void change(std::string& value) { value += "x"; }
inline void change(Shape& value) { value.push_back(3); }
template <typename T>
void change(std::vector<T>& value) {
  if constexpr (std::is_default_constructible_v<T>)
    value.emplace_back();
  else
    value.emplace_back(1);
}
template <typename Id, typename T>
void change(ById<Id, T>& value) {
  value.push_back(T{});
}
template <typename T>
void change(std::optional<T>& value) {
  value = value ? std::nullopt : std::optional(T{});
}
template <typename T>
void change(std::shared_ptr<T>& value) {
  if constexpr (std::is_default_constructible_v<T>)
    value = value ? nullptr : std::make_shared<T>();
  else
    value = std::shared_ptr<T>(std::shared_ptr<int>(new int(0)), nullptr);
}
// Changes the first field.
template <HasFields T>
void change(T& value) {
  const auto fields = fields_of(static_cast<const T*>(nullptr));
  change(value.*(std::get<0>(fields).member));
}

}  // namespace sinter::testing_support
