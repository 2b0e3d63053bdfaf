// A kernel begins with `struct Binding` (C++) or SN_KERNEL (CUDA) and ends with the next line that
// is just `}`.
#include "cli/kernel_text.h"

#include <fmt/format.h>

namespace sinter::cli {

std::string without_headers(std::string_view sources) {
  std::string text;
  std::size_t headers = 0;  // lines omitted since the last kernel
  bool inside = false;
  bool is_first = true;  // the line that says how the kernel is launched
  while (!sources.empty()) {
    const std::size_t length = std::min(sources.find('\n'), sources.size() - 1) + 1;
    const std::string_view line = sources.substr(0, length);
    sources.remove_prefix(length);
    const bool begins = is_first && line != "\n";
    if (begins) is_first = false;
    if (begins && line.starts_with("// ")) {
      text += line;
      continue;
    }
    if (!inside && (line.starts_with("struct Binding") || line.starts_with("SN_KERNEL("))) {
      inside = true;
      text += fmt::format("// {} lines of headers left out: see them with --full\n", headers);
      headers = 0;
    }
    if (!inside) {
      ++headers;
      continue;
    }
    text += line;
    if (line == "}\n" || line == "}") {
      inside = false;
      is_first = true;
      text += "\n";
    }
  }
  return text;
}

}  // namespace sinter::cli
