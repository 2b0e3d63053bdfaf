// Fields: a struct lists its fields once, in fields_of(), and its hash, equality and printed form
// follow from that list. So no key can forget a field: static_assert(kListsEveryField<T>) fails to
// compile if one is missing.
//
//   struct Point { int x = 0; int y = 0; std::string label; };
//   constexpr auto fields_of(const Point*) {
//     return std::tuple{key_field("x", &Point::x), key_field("y", &Point::y),
//                       note_field("label", &Point::label)};
//   }
//
// Note fields are for display only (names, origins): they are printed but not part of the key.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "src/base/hash.h"

namespace sinter {

enum class FieldUse : std::uint8_t { key, note };

template <typename Class, typename Member, FieldUse use>
struct Field {
  static constexpr FieldUse kUse = use;
  std::string_view name;
  Member Class::*member;
};

template <typename Class, typename Member>
constexpr Field<Class, Member, FieldUse::key> key_field(std::string_view name,
                                                        Member Class::*member) {
  return {name, member};
}
template <typename Class, typename Member>
constexpr Field<Class, Member, FieldUse::note> note_field(std::string_view name,
                                                          Member Class::*member) {
  return {name, member};
}

template <typename T>
concept HasFields = requires {
  fields_of(static_cast<const T*>(nullptr));
};

// Calls visit(field) for each field of T; `value.*field.member` is the field of a value.
template <HasFields T, typename Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); },
             fields_of(static_cast<const T*>(nullptr)));
}

// --- every field is listed
// ------------------------------------------------------------------------

namespace fields_detail {

template <typename T>
inline constexpr bool kIsSpan = false;
template <typename T, std::size_t kExtent>
inline constexpr bool kIsSpan<std::span<T, kExtent>> = true;

// Stands for a value of any type; never converted in fact. Not to spans, which other types (Shape)
// convert from.
struct AnyField {
  template <typename T>
  requires(!kIsSpan<T>) operator T() const;  // NOLINT: meant to convert
};

template <typename T, typename... Given>
consteval std::size_t count_members() {
  if constexpr (requires { T{Given{}..., AnyField{}}; })
    return count_members<T, Given..., AnyField>();
  else
    return sizeof...(Given);
}

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsOptional<std::shared_ptr<T>> = true;

}  // namespace fields_detail

template <HasFields T>
inline constexpr bool kListsEveryField =
    std::tuple_size_v<decltype(fields_of(static_cast<const T*>(nullptr)))> ==
    fields_detail::count_members<T>();

// --- keys
// -----------------------------------------------------------------------------------------

// Adds the key fields of `value` to `sink`, which has add(std::uint64_t) and add(std::string_view):
// a Hasher, or a list of words. Floats count by their bits, so NaN equals itself and -0 is not 0.
// A type with private fields has a function add_words(sink, value) instead of fields_of().
template <typename Sink, typename T>
void add_key(Sink& sink, const T& value) {
  if constexpr (requires { add_words(sink, value); }) {
    add_words(sink, value);
  } else if constexpr (HasFields<T>) {
    for_each_field<T>([&](const auto& field) {
      if constexpr (std::decay_t<decltype(field)>::kUse == FieldUse::key)
        add_key(sink, value.*(field.member));
    });
  } else if constexpr (std::is_floating_point_v<T>) {
    sink.add(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    sink.add(static_cast<std::uint64_t>(value));
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    sink.add(std::string_view(value));
  } else if constexpr (fields_detail::kIsOptional<T>) {
    sink.add(std::uint64_t{value ? 1u : 0u});
    if (value) add_key(sink, *value);
  } else {
    sink.add(static_cast<std::uint64_t>(value.end() - value.begin()));
    for (const auto& each : value) add_key(sink, each);
  }
}

template <typename T>
Hash128 key_of(const T& value) {
  Hasher hasher;
  add_key(hasher, value);
  return hasher.finish();
}

// A sink that keeps the words of a key: two keys are equal if their words are.
class KeyWords {
 public:
  void add(std::uint64_t word) { words_.push_back(word); }
  void add(std::string_view text) {
    add(text.size());
    for (std::size_t i = 0; i < text.size(); i += 8) {
      std::uint64_t word = 0;
      for (std::size_t k = i; k < text.size() && k < i + 8; ++k)
        word = word << 8 | static_cast<unsigned char>(text[k]);
      add(word);
    }
  }
  const std::vector<std::uint64_t>& words() const { return words_; }
  friend bool operator==(const KeyWords&, const KeyWords&) = default;

 private:
  std::vector<std::uint64_t> words_;
};

// Whether two values have the same key, compared in full.
template <typename T>
bool same_key(const T& a, const T& b) {
  if constexpr (requires(KeyWords & sink) { add_words(sink, a); }) {
    KeyWords words_of_a;
    KeyWords words_of_b;
    add_words(words_of_a, a);
    add_words(words_of_b, b);
    return words_of_a == words_of_b;
  } else if constexpr (HasFields<T>) {
    bool same = true;
    for_each_field<T>([&](const auto& field) {
      if constexpr (std::decay_t<decltype(field)>::kUse == FieldUse::key)
        same = same && same_key(a.*(field.member), b.*(field.member));
    });
    return same;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(a)) ==
           std::bit_cast<std::uint64_t>(static_cast<double>(b));
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return a == b;
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    return std::string_view(a) == std::string_view(b);
  } else if constexpr (fields_detail::kIsOptional<T>) {
    return !a == !b && (!a || same_key(*a, *b));
  } else {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return same_key(x, y); });
  }
}

}  // namespace sinter
