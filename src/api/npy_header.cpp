// Parsing and writing the dict. Nothing in a file is trusted.
#include "src/api/npy_header.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "src/api/npy_errors.h"
#include "src/base/printable.h"

namespace sinter {
namespace {

constexpr std::size_t kHeaderAlignment = 64;  // of the first element in the file

struct NpyType {
  std::string_view name;  // as in descr, after the byte order
  DType dtype;
};
constexpr NpyType kTypes[] = {{"f4", DType::f32}, {"f2", DType::f16}, {"f8", DType::f64},
                              {"i4", DType::i32}, {"i8", DType::i64}, {"b1", DType::boolean}};
constexpr std::string_view kTypeNames = "f2 f4 f8 i4 i8 b1";
constexpr std::string_view kByteOrders = "<>=|";

std::string quoted(std::string_view text) { return "'" + printable(text, 40) + "'"; }

// Accepts {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } as Python would: keys in any
// order, any spacing, either quote.
class HeaderParser {
 public:
  HeaderParser(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (accept('}')) break;
      expect(',');
    }
    skip_space();
    if (at_ < text_.size()) fail("the end");
    require(descr_.has_value(), "descr");
    require(fortran_order_.has_value(), "fortran_order");
    require(shape_.has_value(), "shape");
    return {dtype_of_descr(*descr_), *fortran_order_, *shape_};
  }

 private:
  void parse_entry() {
    const std::string_view key = parse_string();
    expect(':');
    if (key == "descr")
      put(descr_, key, parse_descr());
    else if (key == "fortran_order")
      put(fortran_order_, key, parse_bool());
    else if (key == "shape")
      put(shape_, key, parse_shape());
    else
      fail_load(path_, "the header has an unknown key {}", quoted(key));
  }

  template <typename T>
  void put(std::optional<T>& slot, std::string_view key, T value) {
    if (slot) fail_load(path_, "the header has '{}' twice", key);
    slot = std::move(value);
  }

  void require(bool there, std::string_view key) const {
    if (!there) fail_load(path_, "the header has no '{}'", key);
  }

  std::string_view parse_descr() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[')
      fail_load(path_, "its elements are records (a structured dtype), Sinter loads {}",
                kTypeNames);
    return parse_string();
  }

  DType dtype_of_descr(std::string_view descr) const {
    std::string_view name = descr;
    const bool has_order = !name.empty() && kByteOrders.find(name[0]) != std::string_view::npos;
    if (has_order) name.remove_prefix(1);
    for (const NpyType& type : kTypes) {
      if (name != type.name) continue;
      if (descr[0] == '>' && size_of(type.dtype) > 1)
        fail_load(path_, "its elements are big-endian ({}); convert it in NumPy with astype('<{}')",
                  quoted(descr), type.name);
      return type.dtype;
    }
    fail_load(path_, "there is no Sinter type for descr {}, it loads {}", quoted(descr),
              kTypeNames);
  }

  bool parse_bool() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    fail("True or False");
  }

  Shape parse_shape() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      const std::int64_t size = parse_size();
      if (shape.rank() == kMaxRank)
        fail_load(path_, "it has more than {} dimensions, the most a tensor can have", kMaxRank);
      shape.push_back(size);
      if (accept(')')) break;
      expect(',');
    }
    return shape;
  }

  std::int64_t parse_size() {
    skip_space();
    std::int64_t size = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
    if (error == std::errc::invalid_argument) fail("a size");
    if (error == std::errc::result_out_of_range)
      fail_load(path_, "a size in its shape is too large: {}",
                quoted({begin, static_cast<std::size_t>(end - begin)}));
    if (size < 0) fail_load(path_, "a size in its shape is negative: {}", size);
    at_ += static_cast<std::size_t>(end - begin);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote 3L
    return size;
  }

  // Escapes are not supported: no key or type needs one.
  std::string_view parse_string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string that ends");
    const std::string_view result = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return result;
  }

  void skip_space() {
    const std::size_t next = text_.find_first_not_of(" \t\r\n\f\v", at_);
    at_ = next == std::string_view::npos ? text_.size() : next;
  }

  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(std::string("'") + c + "'");
  }

  [[noreturn]] void fail(std::string_view wanted) const {
    fail_load(path_, "the header is damaged: expected {} at its byte {}, found {}", wanted, at_,
              at_ < text_.size() ? quoted(text_.substr(at_)) : "its end");
  }

  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string_view> descr_;
  std::optional<bool> fortran_order_;
  std::optional<Shape> shape_;
};

std::string descr_of(DType dtype, const std::string& path) {
  for (const NpyType& type : kTypes)
    if (type.dtype == dtype) return fmt::format("{}{}", size_of(dtype) > 1 ? '<' : '|', type.name);
  fail_save(path, "NumPy has no type for {}; cast the tensor to f32 first", name_of(dtype));
}

}  // namespace

NpyHeader parse_npy_header(const std::string& path, std::string_view text) {
  return HeaderParser(path, text).parse();
}

std::string npy_header_text(const std::string& path, DType dtype, const Shape& shape) {
  const std::string descr = descr_of(dtype, path);
  std::string sizes;
  for (int i = 0; i < shape.rank(); ++i) sizes += fmt::format("{}{}", i ? ", " : "", shape[i]);
  if (shape.rank() == 1) sizes += ",";  // Python's tuple of one
  std::string dict =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, sizes);
  const std::size_t before = kNpyMagic.size() + 4;  // version 1.0 and a length of two bytes
  const std::size_t used = before + dict.size() + 1;
  dict.append((kHeaderAlignment - used % kHeaderAlignment) % kHeaderAlignment, ' ');
  dict += '\n';
  const auto length = static_cast<std::uint16_t>(dict.size());
  std::string text(kNpyMagic);
  text += {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return text + dict;
}

}  // namespace sinter
