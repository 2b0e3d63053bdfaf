// CWriter: writes lines of C text, indented by block depth.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace sinter {

class CWriter {
 public:
  explicit CWriter(int depth = 0) : depth_(depth) {}

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += "\n";
  }
  // Opens a block, after a header such as "for (...)" or on its own.
  template <typename... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    line("{} {{", fmt::format(format, std::forward<Args>(args)...));
    ++depth_;
  }
  void open() {
    line("{{");
    ++depth_;
  }
  void close(std::string_view after = "") {
    --depth_;
    line("}}{}", after);
  }
  // Appends another writer's lines as they are.
  void append(const CWriter& lines) { text_ += lines.text_; }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_;
};

}  // namespace sinter
