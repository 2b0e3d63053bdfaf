// Visitors over the fields of a JSON object: a type lists its fields once, in a visit function, and
// JsonWriter and JsonReader both use that list.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::suite {

using Json = nlohmann::ordered_json;

// A field that is missing, has the wrong type, or makes no sense.
class BadField : public std::runtime_error {
 public:
  explicit BadField(const std::string& what) : std::runtime_error(what) {}
  BadField(const std::string& name, const std::string& what)
      : std::runtime_error(fmt::format("{} is {}", name, what)) {}
};

class JsonWriter {
 public:
  template <typename T>
  void operator()(const char* name, const T& value) {
    json[name] = value;
  }
  template <typename T>
  void operator()(const char* name, const std::optional<T>& value) {
    json[name] = value ? Json(*value) : Json(nullptr);
  }
  // Rounded to nanoseconds: the rest is noise.
  void time(const char* name, const std::optional<double>& us) {
    json[name] = us ? Json(std::round(*us * 1e3) / 1e3) : Json(nullptr);
  }
  // JSON has no NaN.
  void error(const char* name, const std::optional<double>& value) {
    (*this)(name, value);
    if (value && !std::isfinite(*value)) json[name] = std::isnan(*value) ? "nan" : "inf";
  }
  // A field that older files do not have.
  void newer(const char* name, const std::optional<std::int64_t>& value) { (*this)(name, value); }
  // Omitted if empty.
  void list_if_any(const char* name, const std::vector<std::string>& list) {
    if (!list.empty()) json[name] = list;
  }
  void text_if_any(const char* name, const std::string& text) {
    if (!text.empty()) json[name] = text;
  }

  Json json = Json::object();
};

inline const Json& field_of(const Json& json, const char* name) {
  if (!json.is_object()) throw BadField(fmt::format("expected an object with {}", name));
  const auto it = json.find(name);
  if (it == json.end()) throw BadField(name, "missing");
  return *it;
}

inline const Json& list_of(const Json& json, const char* name) {
  const Json& list = field_of(json, name);
  if (!list.is_array()) throw BadField(name, "not a list");
  return list;
}

// The parser holds numbers beyond 63 bits as unsigned: a plain conversion would change them.
template <typename T>
T integer_of(const char* name, const Json& json) {
  if (!json.is_number_integer()) throw BadField(name, "not an integer");
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                              : std::in_range<T>(json.get<std::int64_t>());
  if (!fits) throw BadField(name, "too large");
  return json.get<T>();
}

// Throws BadField.
class JsonReader {
 public:
  explicit JsonReader(const Json& json) : json_(json) {}

  template <typename T>
  void operator()(const char* name, T& value) {
    read(name, field_of(json_, name), value);
  }
  template <typename T>
  void operator()(const char* name, std::optional<T>& value) {
    const Json& json = field_of(json_, name);
    value.reset();
    if (!json.is_null()) read(name, json, value.emplace());
  }
  void time(const char* name, std::optional<double>& value) {
    (*this)(name, value);
    if (value && !(std::isfinite(*value) && *value >= 0)) throw BadField(name, "not a time");
  }
  void error(const char* name, std::optional<double>& value) {
    const Json& json = field_of(json_, name);
    if (!json.is_string()) return (*this)(name, value);
    using Limits = std::numeric_limits<double>;
    if (json != "nan" && json != "inf") throw BadField(name, "not a number");
    value = json == "nan" ? Limits::quiet_NaN() : Limits::infinity();
  }
  void newer(const char* name, std::optional<std::int64_t>& value) {
    if (json_.contains(name)) (*this)(name, value);
  }
  void list_if_any(const char* name, std::vector<std::string>& list) {
    if (json_.contains(name)) (*this)(name, list);
  }
  void text_if_any(const char* name, std::string& text) {
    if (json_.contains(name)) (*this)(name, text);
  }

 private:
  template <typename T>
  static constexpr const char* kExpected =
      std::is_same_v<T, bool>                       ? "true or false"
      : std::is_same_v<T, std::string>              ? "a string"
      : std::is_floating_point_v<T>                 ? "a number"
      : std::is_same_v<T, std::vector<std::string>> ? "a list of strings"
                                                    : "an object of strings";

  template <typename T>
  static void read(const char* name, const Json& json, T& value) {
    // 1e300 is a number too, but not an int.
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      value = integer_of<T>(name, json);
    } else {
      try {
        json.get_to(value);
      } catch (const Json::exception&) {
        throw BadField(name, fmt::format("not {}", kExpected<T>));
      }
    }
  }

  const Json& json_;
};

}  // namespace sinter::suite
